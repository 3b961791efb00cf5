// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "extents.h"

namespace sirocco {

u64 Extents::end(u32 index) const
{
	return index + 1 < list_.count ? list_.extents[index + 1].start : list_.row_length;
}

bool Extents::holds(u32 index, u64 offset) const
{
	return index < list_.count && list_.extents[index].start <= offset && offset < end(index);
}

u32 Extents::search(u64 offset) const
{
	u32 low = 0, high = list_.count;

	while (high - low > 1) {
		u32 middle = low + (high - low) / 2;

		if (list_.extents[middle].start <= offset)
			low = middle;
		else
			high = middle;
	}
	return low;
}

u32 Extents::find(u64 offset, u32 hint) const
{
	if (list_.shift) {
		u64 first = list_.extents[1].start;

		return offset < first ? 0 : 1 + static_cast<u32>((offset - first) >> list_.shift);
	}
	if (holds(hint, offset))
		return hint;
	if (holds(hint + 1, offset))
		return hint + 1;
	return search(offset);
}

Extents::Piece Extents::at(u64 offset, u32 &hint) const
{
	u64 row = 0;

	if (offset >= list_.row_length) {
		row = offset / list_.row_length;
		offset %= list_.row_length;
	}
	hint = find(offset, hint);

	const siro_extent &e = list_.extents[hint];
	u64 step = end(hint) - e.start + e.skip;

	return {e.address + row * step + (offset - e.start), end(hint) - offset, e.lkey};
}

namespace {

bool add_overflows(u64 a, u64 b)
{
	return a + b < a;
}

/* Pages in disguise: log2 of the length of all extents but the first and the last. */
u32 common_shift(const siro_extents &list)
{
	if (list.count < 3)
		return 0;

	const siro_extent *e = list.extents;
	u64 length = e[2].start - e[1].start;

	if (length < 2 || (length & (length - 1)))
		return 0;
	for (u32 i = 2; i + 1 < list.count; i++)
		if (e[i + 1].start - e[i].start != length)
			return 0;
	if (list.row_length - e[list.count - 1].start > length)
		return 0;
	return static_cast<u32>(__builtin_ctzll(length));
}

/* No address of any row may wrap. */
bool rows_fit(const siro_extents &list, u32 repeat)
{
	u64 total;

	if (__builtin_mul_overflow(list.row_length, u64{repeat}, &total))
		return false;
	for (u32 i = 0; i < list.count; i++) {
		const siro_extent &e = list.extents[i];
		u64 next = i + 1 < list.count ? list.extents[i + 1].start : list.row_length;
		u64 length = next - e.start;
		u64 travel, last;

		if (__builtin_mul_overflow(length + e.skip, u64{repeat} - 1, &travel) ||
		    __builtin_add_overflow(e.address, travel, &last) || add_overflows(last, length))
			return false;
	}
	return true;
}

} // namespace

} // namespace sirocco

using namespace sirocco;

extern "C" void siro_extents_reset(siro_extents *list, __u32 merge)
{
	list->count = 0;
	list->entries = 0;
	list->shift = 0;
	list->repeat = 1;
	list->row_length = 0;
	list->merge = merge;
}

extern "C" int siro_extents_add(siro_extents *list, __u64 address, __u64 length, __u32 skip,
				__u32 lkey)
{
	if (list->entries == list->capacity)
		return enospc;
	if (add_overflows(address, length) || add_overflows(list->row_length, length))
		return einval;
	list->entries++;
	if (!length)
		return 0;
	if (list->merge && list->count) {
		const siro_extent &last = list->extents[list->count - 1];

		if (last.address + (list->row_length - last.start) == address) {
			list->row_length += length;
			return 0;
		}
	}
	list->extents[list->count++] = {list->row_length, address, skip, lkey};
	list->row_length += length;
	return 0;
}

extern "C" int siro_extents_finish(siro_extents *list, __u32 repeat)
{
	if (!list->count || !repeat || !rows_fit(*list, repeat))
		return einval;
	list->repeat = repeat;
	list->shift = common_shift(*list);
	return 0;
}
