// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What the kernel says about signature errors in memory that it shares. */
#include <stdlib.h>
#include <sys/mman.h>

#include "sirocco.h"

struct siro_status_page {
	struct siro_status_page *next;
	uint64_t offset; /* names it */
	size_t size;
	void *address;
};

void siro_status_init(struct siro_context *ctx)
{
	pthread_mutex_init(&ctx->status_lock, NULL);
}

void siro_status_exit(struct siro_context *ctx)
{
	struct siro_status_page *page = ctx->status_pages, *next;

	for (; page; page = next) {
		next = page->next;
		munmap(page->address, page->size);
		free(page);
	}
	pthread_mutex_destroy(&ctx->status_lock);
}

static struct siro_status_page *siro_status_find(struct siro_context *ctx,
						 uint64_t offset)
{
	struct siro_status_page *page = ctx->status_pages;

	while (page && page->offset != offset)
		page = page->next;
	return page;
}

static struct siro_status_page *
siro_status_add(struct siro_context *ctx, uint64_t offset, size_t size)
{
	struct siro_status_page *page = calloc(1, sizeof(*page));

	if (!page)
		return NULL;
	page->address = mmap(NULL, size, PROT_READ, MAP_SHARED,
			     ctx->vctx.context.cmd_fd, offset);
	if (page->address == MAP_FAILED) {
		free(page);
		return NULL;
	}
	page->offset = offset;
	page->size = size;
	page->next = ctx->status_pages;
	ctx->status_pages = page;
	return page;
}

const struct siro_mkey_status *
siro_status_map(struct siro_context *ctx,
		const struct siro_mkey_create_resp *resp)
{
	const struct siro_mkey_status *first;
	struct siro_status_page *page;

	if (resp->status_index >=
	    resp->status_size / sizeof(struct siro_mkey_status)) {
		errno = EPROTO;
		return NULL;
	}
	pthread_mutex_lock(&ctx->status_lock);
	page = siro_status_find(ctx, resp->status_offset);
	if (!page)
		page = siro_status_add(ctx, resp->status_offset,
				       resp->status_size);
	pthread_mutex_unlock(&ctx->status_lock);
	if (!page)
		return NULL;
	first = page->address;
	return first + resp->status_index;
}

bool siro_status_is_error(const struct siro_mkey_status *status)
{
	uint32_t before, after;
	uint16_t type;

	do {
		before = __atomic_load_n(&status->seq, __ATOMIC_ACQUIRE);
		type = __atomic_load_n(&status->type, __ATOMIC_RELAXED);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		after = __atomic_load_n(&status->seq, __ATOMIC_RELAXED);
	} while (before & 1 || before != after);
	return type;
}
