/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The mapped rings: entries, indices and the locked queues made of them. */
#ifndef SIROCCO_RING_H
#define SIROCCO_RING_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rdma/sirocco-abi.h>

/**
 * struct siro_ring - a mapped ring
 * @index: our own index: next to produce of a work queue, next to consume of a CQ
 */
struct siro_ring {
	struct siro_ring_header *header;
	uint8_t *entries;
	size_t mapped;
	uint32_t slots;
	uint32_t stride;
	uint32_t index;
};

/**
 * struct siro_queue - a work queue: SQ, RQ or SRQ
 * @limit: most work requests outstanding
 */
struct siro_queue {
	struct siro_ring ring;
	pthread_spinlock_t lock;
	uint32_t limit;
	uint32_t max_sge;
};

/*
 * siro_ring_map() - map what the kernel described
 * @entry_size: smallest stride that holds an entry
 * Return: 0 or an errno; @ring is changed on success only.
 */
int siro_ring_map(struct siro_ring *ring, int cmd_fd,
		  const struct siro_ring_info *info, size_t entry_size);
void siro_ring_unmap(struct siro_ring *ring);

static inline void *siro_ring_entry(const struct siro_ring *ring,
				    uint32_t index)
{
	return ring->entries +
	       (size_t)(index & (ring->slots - 1)) * ring->stride;
}

static inline uint32_t siro_ring_producer(const struct siro_ring *ring)
{
	return __atomic_load_n(&ring->header->producer, __ATOMIC_ACQUIRE);
}

static inline uint32_t siro_ring_consumer(const struct siro_ring *ring)
{
	return __atomic_load_n(&ring->header->consumer, __ATOMIC_ACQUIRE);
}

/* Hands everything below our index to the kernel. */
static inline void siro_ring_produce(struct siro_ring *ring)
{
	__atomic_store_n(&ring->header->producer, ring->index,
			 __ATOMIC_RELEASE);
}

/* Gives everything below our index back to the kernel. */
static inline void siro_ring_consume(struct siro_ring *ring)
{
	__atomic_store_n(&ring->header->consumer, ring->index,
			 __ATOMIC_RELEASE);
}

/*
 * Whether the kernel wants a doorbell for what was just produced. The fence
 * pairs with the kernel's between setting the flag and reading the producer.
 */
static inline bool siro_ring_wants_kick(const struct siro_ring *ring)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return __atomic_load_n(&ring->header->flags, __ATOMIC_RELAXED) &
	       SIRO_RING_KICK;
}

static inline bool siro_queue_full(const struct siro_queue *queue)
{
	return queue->ring.index - siro_ring_consumer(&queue->ring) >=
	       queue->limit;
}

#endif /* SIROCCO_RING_H */
