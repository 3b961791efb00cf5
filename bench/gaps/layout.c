// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/string.h>

#include "layout.h"

u32 layout_entries(const struct layout *layout)
{
	return TRANSFER_BYTES / layout->entry_bytes;
}

u32 layout_start(const struct layout *layout, u32 entry)
{
	u32 start = entry * (layout->entry_bytes + layout->gap);

	return layout->gap ? start + 1 + 2 * (entry % 16) : start;
}

/* Neighbours make up for each other. */
u32 layout_length(const struct layout *layout, u32 entry)
{
	if (!layout->gap)
		return layout->entry_bytes;
	return entry % 2 ? layout->entry_bytes - 5 : layout->entry_bytes + 5;
}

void layout_gather(const struct layout *layout, u8 *to, const u8 *memory)
{
	u32 i, length;

	for (i = 0; i < layout_entries(layout); i++) {
		length = layout_length(layout, i);
		memcpy(to, memory + layout_start(layout, i), length);
		to += length;
	}
}

void layout_scatter(const struct layout *layout, u8 *memory, const u8 *from)
{
	u32 i, length;

	for (i = 0; i < layout_entries(layout); i++) {
		length = layout_length(layout, i);
		memcpy(memory + layout_start(layout, i), from, length);
		from += length;
	}
}

static bool all_are(const u8 *bytes, u32 count, u8 filler)
{
	return !memchr_inv(bytes, filler, count);
}

bool layout_holds(const struct layout *layout, const u8 *memory, const u8 *expected, u8 filler)
{
	u32 i, start, length, end = 0;

	for (i = 0; i < layout_entries(layout); i++) {
		start = layout_start(layout, i);
		length = layout_length(layout, i);
		if (!all_are(memory + end, start - end, filler) ||
		    memcmp(memory + start, expected, length))
			return false;
		expected += length;
		end = start + length;
	}
	return all_are(memory + end, LAYOUT_BYTES - end, filler);
}
