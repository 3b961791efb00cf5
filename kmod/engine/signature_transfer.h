// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Bytes of a signature region between memory and packets, any part at any time. */
#pragma once

#include "base/base.h"

#include "signature_blocks.h"
#include "signature_memory.h"
#include "signature_track.h"

namespace sirocco {

enum class SignatureStatus : u32 {
	done,
	bad_memory, /* an entry of a list names a key that is no good */
	no_room, /* for another open block */
};

/* The bounds of a region are those of its wire bytes. */
inline bool holds_wire_range(const siro_signature &signature, u64 offset, u64 length)
{
	return offset <= signature.wire_length && length <= signature.wire_length - offset;
}

/* Memory to wire: the ranges are repeated at will, those in order are faster. */
class SignatureSender {
public:
	/* @ctx: to count and report; nullptr: neither */
	SignatureSender(siro_signature &signature, SignatureMemory &memory, siro_sig_cursor &cursor,
			siro_context *ctx = nullptr);

	/*
	 * Bytes @offset to @offset + @length of the wire. An input's block is checked
	 * when its last byte of data is sent.
	 */
	[[nodiscard]] SignatureStatus produce(u64 offset, u8 *to, u32 length);

private:
	bool is_at(u64 offset) const;
	bool rewind(u64 offset);
	bool resume(const Track &track, u64 index, u32 length);
	bool send(u64 offset, u8 *to, u32 length);
	bool send_data(u64 data, u8 *to, u32 length);
	bool advance(const Track &track, u64 data, const u8 *bytes, u32 length);
	void send_field(const SignatureLayout::Part &part, u8 *to);

	siro_signature &signature_;
	SignatureMemory &memory_;
	siro_sig_cursor &cursor_;
	SignatureLayout wire_;
	Tracks tracks_;
};

/*
 * Wire to memory: every byte once, in any order. A block is checked, and its field
 * written, when its last byte has come.
 */
class SignatureReceiver {
public:
	SignatureReceiver(siro_signature &signature, SignatureMemory &memory,
			  siro_context *ctx = nullptr);

	/*
	 * For the open blocks of a packet that place() gets in one piece, or in
	 * pieces from first to last.
	 */
	[[nodiscard]] bool has_room(u64 offset, u32 length);

	/* Nothing has happened if there is no room, unless bytes come twice. */
	[[nodiscard]] SignatureStatus place(u64 offset, const u8 *from, u32 length);

private:
	u64 first_block(const Track &track, const SignatureLayout::Part &part) const;
	u64 last_block(const Track &track, const SignatureLayout::Part &part) const;
	u32 rest_of_block(const Track &track, const SignatureLayout::Part &part) const;
	u32 room_wanted(const Track &track, u64 offset, u32 length);
	siro_sig_block *open(const Track &track, u64 index, u32 length);
	SignatureStatus place_data(u64 data, const u8 *from, u32 length);
	SignatureStatus add(const Track &track, u64 data, const u8 *from, u32 length);
	SignatureStatus place_field(const SignatureLayout::Part &part, const u8 *from);
	SignatureStatus retire(const Track &track, siro_sig_block &block, u32 length);

	siro_signature &signature_;
	SignatureMemory &memory_;
	OpenBlocks blocks_;
	SignatureLayout wire_;
	Tracks tracks_;
};

} // namespace sirocco
