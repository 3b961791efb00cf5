// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The kernel's allocation functions, counted. bench/run renames what sirocco.ko
 * calls, so that its allocations and nobody else's come here.
 */
#include <linux/module.h>
#include <linux/skbuff.h>
#include <linux/slab.h>

#include "alloc_count.h"

unsigned long siro_bench_allocations;
EXPORT_SYMBOL_GPL(siro_bench_allocations);

void *siro_bench_kmalloc(size_t size, gfp_t flags);
void *siro_bench_kmalloc(size_t size, gfp_t flags)
{
	siro_bench_allocations++;
	return __kmalloc(size, flags);
}
EXPORT_SYMBOL_GPL(siro_bench_kmalloc);

void *siro_bench_kmalloc_trace(struct kmem_cache *cache, gfp_t flags, size_t size);
void *siro_bench_kmalloc_trace(struct kmem_cache *cache, gfp_t flags, size_t size)
{
	siro_bench_allocations++;
	return kmalloc_trace(cache, flags, size);
}
EXPORT_SYMBOL_GPL(siro_bench_kmalloc_trace);

void *siro_bench_kvmalloc_node(size_t size, gfp_t flags, int node);
void *siro_bench_kvmalloc_node(size_t size, gfp_t flags, int node)
{
	siro_bench_allocations++;
	return kvmalloc_node(size, flags, node);
}
EXPORT_SYMBOL_GPL(siro_bench_kvmalloc_node);

struct page *siro_bench_alloc_pages(gfp_t flags, unsigned int order, int node, nodemask_t *nodes);
struct page *siro_bench_alloc_pages(gfp_t flags, unsigned int order, int node, nodemask_t *nodes)
{
	siro_bench_allocations++;
	return __alloc_pages(flags, order, node, nodes);
}
EXPORT_SYMBOL_GPL(siro_bench_alloc_pages);

struct sk_buff *siro_bench_alloc_skb(unsigned int size, gfp_t priority, int flags, int node);
struct sk_buff *siro_bench_alloc_skb(unsigned int size, gfp_t priority, int flags, int node)
{
	siro_bench_allocations++;
	return __alloc_skb(size, priority, flags, node);
}
EXPORT_SYMBOL_GPL(siro_bench_alloc_skb);

MODULE_DESCRIPTION("Counts the allocations of sirocco");
MODULE_LICENSE("Dual BSD/GPL");
