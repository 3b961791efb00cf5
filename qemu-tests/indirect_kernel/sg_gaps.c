// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* IB_MR_TYPE_SG_GAPS with as many entries as a region takes, at odd places. */
#include <linux/random.h>
#include <linux/vmalloc.h>

#include "peers.h"
#include "require.h"
#include "scenarios.h"
#include "variant.h"

#define ENTRIES 4096
#define FILLER 0x5a

static bool variant_holds(const struct variant *variant, const u8 *bytes)
{
	return layout_holds(&variant->layout, variant->memory, bytes, FILLER);
}

static void variant_fill(struct variant *variant, const u8 *bytes)
{
	memset(variant->memory, FILLER, LAYOUT_BYTES);
	if (bytes)
		layout_scatter(&variant->layout, variant->memory, bytes);
}

static int by_rdma(struct variant *variant, struct peers *peers, const u8 *bytes)
{
	const struct span span = { variant->iova, variant->mr->rkey, TRANSFER_BYTES };

	variant_fill(variant, NULL);
	memcpy(peers->local, bytes, TRANSFER_BYTES);
	REQUIRE(peers_write(peers, &span) == IB_WC_SUCCESS);
	REQUIRE(variant_holds(variant, bytes));

	memset(peers->local, 0, TRANSFER_BYTES);
	REQUIRE(peers_read(peers, &span) == IB_WC_SUCCESS);
	REQUIRE(!memcmp(peers->local, bytes, TRANSFER_BYTES));
	return 0;
}

static int by_send(struct variant *variant, struct peers *peers, const u8 *bytes)
{
	struct rc_end *near = &peers->connection.near, *far = &peers->connection.far;
	struct ib_sge gaps = { variant->iova, TRANSFER_BYTES, variant->mr->lkey };
	struct ib_sge flat = { peers->local_addr, TRANSFER_BYTES, near->pd->local_dma_lkey };

	variant_fill(variant, bytes);
	memset(peers->local, 0, TRANSFER_BYTES);
	REQUIRE(send_between(far, &gaps, near, &flat) == IB_WC_SUCCESS);
	REQUIRE(!memcmp(peers->local, bytes, TRANSFER_BYTES));

	variant_fill(variant, NULL);
	REQUIRE(send_between(near, &flat, far, &gaps) == IB_WC_SUCCESS);
	REQUIRE(variant_holds(variant, bytes));
	return 0;
}

static int by_all(struct variant *variant, struct peers *peers)
{
	u8 *bytes = vmalloc(TRANSFER_BYTES);
	int err;

	if (!bytes)
		return -ENOMEM;
	get_random_bytes(bytes, TRANSFER_BYTES);
	err = by_rdma(variant, peers, bytes) ?: by_send(variant, peers, bytes);
	vfree(bytes);
	return err;
}

int sg_gaps__4096_odd_entries(void)
{
	struct variant variant = {
		.layout = { TRANSFER_BYTES / ENTRIES, LAYOUT_GAP },
		.type = IB_MR_TYPE_SG_GAPS,
	};
	struct peers *peers = kzalloc(sizeof(*peers), GFP_KERNEL);
	struct rc_end *far;
	int err;

	if (!peers)
		return -ENOMEM;
	far = &peers->connection.far;
	err = peers_open(peers) ?: variant_open(&variant, far) ?: variant_register(&variant, far) ?:
	      by_all(&variant, peers) ?: variant_invalidate(&variant, far);
	variant_close(&variant);
	peers_close(peers);
	kfree(peers);
	return err;
}
