// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The eight steps of the proposal, by the example of the documentation. */
#include <linux/random.h>

#include "indirect_ulp.h"
#include "peers.h"
#include "require.h"
#include "scenarios.h"
#include "variant.h"

#define BUFFERS 256
#define ROUNDS 3

static const struct layout scattered = { TRANSFER_BYTES / BUFFERS, LAYOUT_GAP };

static int write_buffers(struct peers *peers, struct variant *sink, u8 *memory)
{
	const struct ulp_target target = { sink->iova, sink->mr->rkey };
	struct rc_end *near = &peers->connection.near;
	static struct ulp_buffer buffers[BUFFERS];
	u32 i;

	get_random_bytes(memory, LAYOUT_BYTES);
	layout_gather(&scattered, peers->local, memory);
	memset(sink->memory, 0, LAYOUT_BYTES);
	for (i = 0; i < BUFFERS; i++)
		buffers[i] = (struct ulp_buffer){ memory + layout_start(&scattered, i),
						  layout_length(&scattered, i) };
	REQUIRE(indirect_ulp_write(near->qp, near->cq, buffers, BUFFERS, &target) == 0);
	REQUIRE(layout_holds(&sink->layout, sink->memory, peers->local, 0));
	return 0;
}

static int write_often(struct peers *peers, struct variant *sink)
{
	u8 *memory = (u8 *)__get_free_pages(GFP_KERNEL, get_order(LAYOUT_BYTES));
	int i, err = 0;

	if (!memory)
		return -ENOMEM;
	for (i = 0; i < ROUNDS && !err; i++)
		err = write_buffers(peers, sink, memory);
	free_pages((unsigned long)memory, get_order(LAYOUT_BYTES));
	return err;
}

int eight_steps__example_ulp(void)
{
	struct variant sink = { .layout = { PAGE_SIZE }, .type = IB_MR_TYPE_MEM_REG };
	struct peers *peers = kzalloc(sizeof(*peers), GFP_KERNEL);
	int err;

	if (!peers)
		return -ENOMEM;
	err = peers_open(peers) ?: variant_open(&sink, &peers->connection.far) ?:
	      variant_register(&sink, &peers->connection.far) ?: peers_poll_near(peers) ?:
	      write_often(peers, &sink);
	variant_close(&sink);
	peers_close(peers);
	kfree(peers);
	return err;
}
