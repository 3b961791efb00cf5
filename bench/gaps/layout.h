/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Where the entries of a list lie in their memory. */
#ifndef LAYOUT_H
#define LAYOUT_H

#include <linux/types.h>

#define TRANSFER_BYTES (1024u * 1024)

/* @gap: between entries, 0 or enough to make starts and lengths odd. */
struct layout {
	u32 entry_bytes;
	u32 gap;
};

#define LAYOUT_GAP 64u

/* Of memory that holds any layout: 2048 entries of 512 bytes with their gaps. */
#define LAYOUT_BYTES (2 * TRANSFER_BYTES)

u32 layout_entries(const struct layout *layout);
u32 layout_start(const struct layout *layout, u32 entry);
u32 layout_length(const struct layout *layout, u32 entry);

/* Copies between the entries in @memory and their bytes one after the other. */
void layout_gather(const struct layout *layout, u8 *to, const u8 *memory);
void layout_scatter(const struct layout *layout, u8 *memory, const u8 *from);

/* Whether the entries hold @expected and all other bytes of @memory are @filler. */
bool layout_holds(const struct layout *layout, const u8 *memory, const u8 *expected, u8 filler);

#endif /* LAYOUT_H */
