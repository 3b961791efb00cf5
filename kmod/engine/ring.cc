// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Rings shared with user space: work queues and completion queues. */
#include "base/base.h"

#include "siro_engine.h"

namespace sirocco {

namespace {

u8 *slot(const siro_ring &ring, u32 index)
{
	return ring.entries + u64{index & (ring.slots - 1)} * ring.stride;
}

u32 sges_that_fit(const siro_ring &ring)
{
	return (ring.stride - sizeof(siro_recv_wqe)) / sizeof(siro_sge);
}

} // namespace

} // namespace sirocco

using namespace sirocco;

extern "C" __u32 siro_ring_pending(const siro_ring *ring)
{
	u32 pending = load_acquire(ring->header->producer) - ring->index;

	return pending <= ring->slots ? pending : 0;
}

extern "C" int siro_recv_ring_take(siro_ring *ring, siro_recv_wqe *wqe, siro_sge *sges)
{
	if (!siro_ring_pending(ring))
		return 0;

	const u8 *from = slot(*ring, ring->index);
	int ret = 1;

	/* The entry may change under us: only the copy is looked at. */
	memory_copy(wqe, from, sizeof(*wqe));
	if (wqe->num_sge > min(sges_that_fit(*ring), u32{SIRO_MAX_SGE}))
		ret = einval;
	else
		memory_copy(sges, from + sizeof(*wqe), wqe->num_sge * sizeof(*sges));
	ring->index++;
	store_release(ring->header->consumer, ring->index);
	return ret;
}

extern "C" int siro_recv_ring_put(siro_ring *ring, const siro_recv_wqe *wqe, const siro_sge *sges)
{
	u32 producer = ring->header->producer;

	if (producer - load_acquire(ring->header->consumer) >= ring->limit)
		return enomem;
	if (wqe->num_sge > min(sges_that_fit(*ring), u32{SIRO_MAX_SGE}))
		return einval;

	u8 *to = slot(*ring, producer);

	memory_copy(to, wqe, sizeof(*wqe));
	if (wqe->num_sge)
		memory_copy(to + sizeof(*wqe), sges, wqe->num_sge * sizeof(*sges));
	store_release(ring->header->producer, producer + 1);
	return 0;
}

extern "C" int siro_cq_ring_push(siro_ring *ring, const siro_cqe *cqe)
{
	u32 used = ring->index - load_acquire(ring->header->consumer);

	/* A consumer index from the future counts as full, too. */
	if (used >= ring->limit)
		return enospc;
	memory_copy(slot(*ring, ring->index), cqe, sizeof(*cqe));
	ring->index++;
	store_release(ring->header->producer, ring->index);
	return 0;
}
