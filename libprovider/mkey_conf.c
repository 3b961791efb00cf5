// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#include "mkey_conf.h"

#define LAYOUTS (SIRO_MKEY_LIST | SIRO_MKEY_INTERLEAVED)

_Static_assert(sizeof(struct siroccodv_mr_interleaved) ==
			       sizeof(struct siro_mkey_piece) &&
		       offsetof(struct siroccodv_mr_interleaved, reserved) ==
			       offsetof(struct siro_mkey_piece, reserved),
	       "pieces are copied as a block");

int siro_conf_set_access(struct siro_mkey_conf *conf, uint32_t access)
{
	const uint32_t remote_change =
		IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
	const uint32_t known = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
			       remote_change;

	if (conf->set & SIRO_MKEY_ACCESS || access & ~known)
		return EINVAL;
	if (access & remote_change && !(access & IBV_ACCESS_LOCAL_WRITE))
		return EINVAL;
	conf->access = access;
	conf->set |= SIRO_MKEY_ACCESS;
	return 0;
}

void siro_conf_set_iova(struct siro_mkey_conf *conf, uint64_t iova)
{
	conf->iova = iova;
	conf->set |= SIRO_MKEY_IOVA;
}

static bool siro_add_overflows(uint64_t a, uint64_t b)
{
	return a + b < a;
}

static bool siro_conf_has_room(const struct siro_mkey_conf *conf,
			       uint32_t max_entries, uint32_t count)
{
	return !(conf->set & LAYOUTS) && count && count <= max_entries;
}

static int siro_conf_set_layout(struct siro_mkey_conf *conf, uint32_t layout,
				uint32_t count, uint64_t length)
{
	if (!length || siro_add_overflows(conf->iova, length))
		return EINVAL;
	conf->count = count;
	conf->set |= layout;
	return 0;
}

int siro_conf_set_list(struct siro_mkey_conf *conf, uint32_t max_entries,
		       uint32_t count, const struct ibv_sge *sge)
{
	uint64_t length = 0;
	uint32_t i;

	if (!siro_conf_has_room(conf, max_entries, count))
		return EINVAL;
	for (i = 0; i < count; i++) {
		if (siro_add_overflows(sge[i].addr, sge[i].length))
			return EINVAL;
		length += sge[i].length;
	}
	return siro_conf_set_layout(conf, SIRO_MKEY_LIST, count, length);
}

/* Whether the address behind the last row of the piece is one. */
static bool siro_piece_fits(const struct siroccodv_mr_interleaved *piece,
			    uint32_t repeat)
{
	const uint64_t step = (uint64_t)piece->bytes_count + piece->bytes_skip;
	uint64_t travel;

	if (piece->reserved)
		return false;
	if (!piece->bytes_count)
		return true;
	return !__builtin_mul_overflow(step, (uint64_t)repeat - 1, &travel) &&
	       !siro_add_overflows(piece->addr, travel) &&
	       !siro_add_overflows(piece->addr + travel, piece->bytes_count);
}

int siro_conf_set_interleaved(struct siro_mkey_conf *conf, uint32_t max_entries,
			      uint32_t repeat, uint32_t count,
			      const struct siroccodv_mr_interleaved *pieces)
{
	uint64_t row = 0, length;
	uint32_t i;
	int ret;

	if (!siro_conf_has_room(conf, max_entries, count) || !repeat)
		return EINVAL;
	for (i = 0; i < count; i++) {
		if (!siro_piece_fits(&pieces[i], repeat))
			return EINVAL;
		row += pieces[i].bytes_count;
	}
	if (__builtin_mul_overflow(row, (uint64_t)repeat, &length))
		return EINVAL;
	ret = siro_conf_set_layout(conf, SIRO_MKEY_INTERLEAVED, count, length);
	if (!ret)
		conf->repeat = repeat;
	return ret;
}

int siro_conf_set_table(struct siro_mkey_conf *conf, uint32_t max_entries,
			const struct siroccodv_mkey_table *table)
{
	const bool rows = table->layout == SIROCCODV_MKEY_LAYOUT_INTERLEAVED;

	if (!rows && table->layout != SIROCCODV_MKEY_LAYOUT_LIST)
		return EINVAL;
	if (rows != (table->repeat_count > 0) ||
	    !siro_conf_has_room(conf, max_entries, table->num_entries))
		return EINVAL;
	conf->table = table->addr;
	conf->repeat = table->repeat_count;
	conf->count = table->num_entries;
	conf->set |= SIRO_MKEY_TABLE |
		     (rows ? SIRO_MKEY_INTERLEAVED : SIRO_MKEY_LIST);
	return 0;
}
