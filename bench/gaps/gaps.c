// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What it costs to transfer 1 MiB to or from memory that is registered in several
 * ways. Loading runs it all; the result is in debugfs, siro_bench_gaps.csv, one
 * line per round, direction and variant, with the sums of its cycles. Round 0
 * is the first use of everything. Loading fails if data did not arrive.
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/vmalloc.h>

#include "alloc_count.h"
#include "stopwatch.h"
#include "variant.h"

#define FILLER 0xcc
#define LINE_BYTES 256
/* More than a CPU's own caches have. */
#define OTHER_BYTES (4u * 1024 * 1024)

static uint rounds = 15;
module_param(rounds, uint, 0444);
MODULE_PARM_DESC(rounds, "rounds that are measured");

static uint cycles = 16;
module_param(cycles, uint, 0444);
MODULE_PARM_DESC(cycles, "cycles of each variant in a round");

/* The first is what the others are compared with. */
static struct variant variants[] = {
	{ .name = "flat", .layout = { PAGE_SIZE }, .type = IB_MR_TYPE_MEM_REG },
	{ .name = "gaps-512", .layout = { 512, LAYOUT_GAP }, .type = IB_MR_TYPE_SG_GAPS },
	{ .name = "gaps-4k", .layout = { 4096, LAYOUT_GAP }, .type = IB_MR_TYPE_SG_GAPS },
	{ .name = "gaps-64k", .layout = { 65536, LAYOUT_GAP }, .type = IB_MR_TYPE_SG_GAPS },
	{ .name = "indirect-4k", .layout = { 4096, LAYOUT_GAP }, .type = SIRO_MR_TYPE_INDIRECT },
	{ .name = "bounce-4k", .layout = { 4096, LAYOUT_GAP }, .type = IB_MR_TYPE_MEM_REG,
	  .bounces = true },
	{ .name = "signature", .layout = { PAGE_SIZE }, .type = IB_MR_TYPE_INTEGRITY },
};

enum direction { WRITE_TO, READ_FROM, DIRECTIONS };

static const char *const direction_names[DIRECTIONS] = { "write", "read" };

static const enum ib_wr_opcode opcodes[DIRECTIONS] = { IB_WR_RDMA_WRITE, IB_WR_RDMA_READ };

enum phase { COPY, REGISTER, TRANSFER, INVALIDATE, PHASES };

struct cost {
	struct elapsed phase[PHASES];
	unsigned long allocations; /* of registrations */
};

struct round {
	struct cost costs[DIRECTIONS][ARRAY_SIZE(variants)];
};

static struct connection connection;
static u8 *local; /* the near end's memory */
static u8 *other; /* nobody's */
static struct debugfs_blob_wrapper result;
static size_t result_room;
static struct dentry *file;

static int transfer(const struct variant *variant, enum direction direction)
{
	struct ib_sge sge = {
		.addr = ib_dma_map_single(connection.near.dev, local, TRANSFER_BYTES,
					  DMA_BIDIRECTIONAL),
		.length = TRANSFER_BYTES,
		.lkey = connection.near.pd->local_dma_lkey,
	};
	struct ib_rdma_wr wr = {
		.wr = { .opcode = opcodes[direction], .sg_list = &sge, .num_sge = 1 },
		.remote_addr = variant->iova,
		.rkey = variant->mr->rkey,
	};
	int err;

	err = ib_dma_mapping_error(connection.near.dev, sge.addr);
	if (err)
		return err;
	err = end_run(&connection.near, &wr.wr);
	ib_dma_unmap_single(connection.near.dev, sge.addr, TRANSFER_BYTES, DMA_BIDIRECTIONAL);
	return err;
}

static int cycle(struct variant *variant, enum direction direction, struct cost *cost)
{
	unsigned long allocations;
	struct stopwatch watch;
	int err;

	stopwatch_start(&watch);
	if (variant->bounces && direction == READ_FROM) {
		layout_gather(&variant->layout, variant->bounce, variant->memory);
		stopwatch_lap(&watch, &cost->phase[COPY]);
	}

	allocations = siro_bench_allocations;
	err = variant_register(variant, &connection.far);
	if (err)
		return err;
	cost->allocations += siro_bench_allocations - allocations;
	stopwatch_lap(&watch, &cost->phase[REGISTER]);

	err = transfer(variant, direction);
	if (err)
		return err;
	stopwatch_lap(&watch, &cost->phase[TRANSFER]);

	err = variant_invalidate(variant, &connection.far);
	if (err)
		return err;
	stopwatch_lap(&watch, &cost->phase[INVALIDATE]);

	if (variant->bounces && direction == WRITE_TO) {
		layout_scatter(&variant->layout, variant->memory, variant->bounce);
		stopwatch_lap(&watch, &cost->phase[COPY]);
	}
	return 0;
}

/* One cycle that moves new bytes and finds all of them in their places. */
static int verify(struct variant *variant, enum direction direction, struct cost *cost)
{
	u8 *sent = vmalloc(TRANSFER_BYTES);
	bool same;
	int err;

	if (!sent)
		return -ENOMEM;
	get_random_bytes(sent, TRANSFER_BYTES);
	memset(variant->memory, FILLER, LAYOUT_BYTES);
	if (direction == WRITE_TO) {
		memcpy(local, sent, TRANSFER_BYTES);
	} else {
		memset(local, 0, TRANSFER_BYTES);
		layout_scatter(&variant->layout, variant->memory, sent);
	}

	err = cycle(variant, direction, cost);
	same = layout_holds(&variant->layout, variant->memory, sent, FILLER) &&
	       !memcmp(local, sent, TRANSFER_BYTES);
	vfree(sent);
	if (!err && !same) {
		pr_err("%s %s: bytes differ\n", direction_names[direction], variant->name);
		err = -EBADMSG;
	}
	return err;
}

static int verify_all(struct round *round)
{
	int direction, i, err;

	for (direction = 0; direction < DIRECTIONS; direction++) {
		for (i = 0; i < ARRAY_SIZE(variants); i++) {
			err = verify(&variants[i], direction, &round->costs[direction][i]);
			if (err)
				return err;
		}
	}
	return 0;
}

/* What ran before shall not matter: every cycle finds the caches full of this. */
static void fill_caches(void)
{
	unsigned long word = 0;
	u32 at;

	for (at = 0; at < OTHER_BYTES; at += SMP_CACHE_BYTES)
		word += READ_ONCE(*(unsigned long *)(other + at));
	WRITE_ONCE(*(unsigned long *)other, word);
}

/* The variants take turns, so that what disturbs the machine hits all of them. */
static int measure(struct round *round)
{
	unsigned int turn, i, place;
	int direction, err;

	for (direction = 0; direction < DIRECTIONS; direction++) {
		for (turn = 0; turn < cycles; turn++) {
			for (i = 0; i < ARRAY_SIZE(variants); i++) {
				place = (turn + i) % ARRAY_SIZE(variants);
				fill_caches();
				err = cycle(&variants[place], direction, &round->costs[direction][place]);
				if (err)
					return err;
			}
		}
	}
	return 0;
}

static __printf(1, 2) void print(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	result.size += vscnprintf(result.data + result.size, result_room - result.size, format, args);
	va_end(args);
}

static void print_round(unsigned int number, unsigned int count, const struct round *round)
{
	int direction, i, phase;

	for (direction = 0; direction < DIRECTIONS; direction++) {
		for (i = 0; i < ARRAY_SIZE(variants); i++) {
			const struct cost *cost = &round->costs[direction][i];

			print("%u,%s,%s,%u,%u,%lu", number, direction_names[direction],
			      variants[i].name, layout_entries(variants[i].registered), count,
			      cost->allocations);
			for (phase = 0; phase < PHASES; phase++)
				print(",%llu,%llu", cost->phase[phase].wall, cost->phase[phase].cpu);
			print("\n");
		}
	}
}

static int run(void)
{
	struct round round = {};
	unsigned int number;
	int err;

	print("round,direction,variant,entries,cycles,allocations,copy_wall,copy_cpu,register_wall,"
	      "register_cpu,transfer_wall,transfer_cpu,invalidate_wall,invalidate_cpu\n");
	err = verify_all(&round);
	print_round(0, 1, &round);
	for (number = 1; number <= rounds && !err; number++) {
		memset(&round, 0, sizeof(round));
		err = measure(&round);
		print_round(number, cycles, &round);
	}
	return err ?: verify_all(&round);
}

static void close_all(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(variants); i++)
		variant_close(&variants[i]);
	connection_close(&connection);
	free_pages((unsigned long)other, get_order(OTHER_BYTES));
	free_pages((unsigned long)local, get_order(TRANSFER_BYTES));
}

static int open_all(void)
{
	int i, err;

	local = (u8 *)__get_free_pages(GFP_KERNEL, get_order(TRANSFER_BYTES));
	other = (u8 *)__get_free_pages(GFP_KERNEL, get_order(OTHER_BYTES));
	if (!local || !other)
		return -ENOMEM;
	err = connection_open(&connection);
	for (i = 0; i < ARRAY_SIZE(variants) && !err; i++)
		err = variant_open(&variants[i], &connection.far);
	return err;
}

static int __init gaps_init(void)
{
	int err;

	result_room = (size_t)LINE_BYTES * (rounds + 2) * DIRECTIONS * ARRAY_SIZE(variants);
	result.data = vzalloc(result_room);
	if (!result.data)
		return -ENOMEM;
	err = open_all() ?: run();
	close_all();
	if (err) {
		vfree(result.data);
		return err;
	}
	file = debugfs_create_blob("siro_bench_gaps.csv", 0444, NULL, &result);
	return 0;
}

static void __exit gaps_exit(void)
{
	debugfs_remove(file);
	vfree(result.data);
}

module_init(gaps_init);
module_exit(gaps_exit);

MODULE_DESCRIPTION("Compares ways to register lists of buffers");
MODULE_LICENSE("Dual BSD/GPL");
