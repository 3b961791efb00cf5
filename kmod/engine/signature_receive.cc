// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "signature_transfer.h"

namespace sirocco {

SignatureReceiver::SignatureReceiver(siro_signature &signature, SignatureMemory &memory,
				     siro_context *ctx)
	: signature_(signature), memory_(memory), blocks_(signature.blocks), wire_(signature.wire),
	  tracks_(signature, SIRO_SIG_ON_WIRE, ctx)
{
}

/* The block that the first byte of wire range counts for; fields count for inputs only. */
u64 SignatureReceiver::first_block(const Track &track, const SignatureLayout::Part &part) const
{
	return part.is_field && track.input() ? part.block : part.data / track.interval();
}

/* The same of the last byte of the range. */
u64 SignatureReceiver::last_block(const Track &track, const SignatureLayout::Part &part) const
{
	return part.is_field && !track.input() ? (part.data - 1) / track.interval()
					       : first_block(track, part);
}

/* Bytes that count for the first block from the beginning of the range on. */
u32 SignatureReceiver::rest_of_block(const Track &track, const SignatureLayout::Part &part) const
{
	if (part.is_field && track.input())
		return track.stride() - track.interval() - part.within;
	return track.stride() - static_cast<u32>(part.data % track.interval());
}

/*
 * Blocks in the middle come and go one by one, the first and the last may stay. The
 * first one makes room for the others if it becomes complete.
 */
u32 SignatureReceiver::room_wanted(const Track &track, u64 offset, u32 length)
{
	SignatureLayout::Part from = wire_.part(offset, 1);
	u64 first = first_block(track, from);
	u64 last = last_block(track, wire_.part(offset + length - 1, 1));

	if (first > last)
		return 0;

	const siro_sig_block *begun = blocks_.find(track.number(), first);

	if (first == last)
		return !begun;

	u32 missing = begun ? begun->missing : track.stride();
	bool completes = rest_of_block(track, from) == missing;
	bool others = last - first > 1 || !blocks_.find(track.number(), last);

	return !begun + (!completes && others);
}

bool SignatureReceiver::has_room(u64 offset, u32 length)
{
	u32 wanted = 0;

	if (length)
		for (const Track &track : tracks_)
			wanted += room_wanted(track, offset, length);
	return wanted <= blocks_.room();
}

/* As SignatureSender::send(). */
[[gnu::flatten]] SignatureStatus SignatureReceiver::place(u64 offset, const u8 *from, u32 length)
{
	if (!has_room(offset, length))
		return SignatureStatus::no_room;
	if (!length)
		return SignatureStatus::done;

	SignatureLayout::Part part = wire_.part(offset, length);

	for (;; part = wire_.after(part, length)) {
		u32 here = static_cast<u32>(part.length);
		SignatureStatus status =
			part.is_field ? place_field(part, from) : place_data(part.data, from, here);

		if (status != SignatureStatus::done)
			return status;
		from += here;
		length -= here;
		if (!length)
			return SignatureStatus::done;
	}
}

SignatureStatus SignatureReceiver::place_data(u64 data, const u8 *from, u32 length)
{
	if (!memory_.write(data, from, length))
		return SignatureStatus::bad_memory;
	for (const Track &track : tracks_) {
		SignatureStatus status = add(track, data, from, length);

		if (status != SignatureStatus::done)
			return status;
	}
	return SignatureStatus::done;
}

/*
 * @length: bytes that have come. If there are more than were missing, some came
 * twice: the block begins anew. Whoever does that may find no room any more.
 */
siro_sig_block *SignatureReceiver::open(const Track &track, u64 index, u32 length)
{
	siro_sig_block *block = blocks_.find(track.number(), index);

	if (block && length <= block->missing)
		return block;
	if (!block && !blocks_.room())
		return nullptr;
	if (!block)
		block = &blocks_.add(track.number(), index);
	track.begin(*block, index);
	return block;
}

SignatureStatus SignatureReceiver::add(const Track &track, u64 data, const u8 *from, u32 length)
{
	while (length) {
		u32 offset = static_cast<u32>(data % track.interval());
		u32 here = min(length, track.interval() - offset);
		siro_sig_block *block = open(track, data / track.interval(), here);

		if (!block)
			return SignatureStatus::no_room;
		/* The rest of an earlier transfer never came. */
		if (Track::repeats(*block, offset, here))
			track.begin(*block, block->index);
		track.add(*block, offset, from, here);

		SignatureStatus status = retire(track, *block, here);

		if (status != SignatureStatus::done)
			return status;
		data += here;
		from += here;
		length -= here;
	}
	return SignatureStatus::done;
}

SignatureStatus SignatureReceiver::place_field(const SignatureLayout::Part &part, const u8 *from)
{
	const Track &track = tracks_.of_input();
	u32 length = static_cast<u32>(part.length);
	siro_sig_block *block = open(track, part.block, length);

	if (!block)
		return SignatureStatus::no_room;
	memory_copy(block->field + part.within, from, length);
	return retire(track, *block, length);
}

/* @length more bytes of the block have come. */
SignatureStatus SignatureReceiver::retire(const Track &track, siro_sig_block &block, u32 length)
{
	block.missing -= length;
	if (block.missing)
		return SignatureStatus::done;

	bool written = true;

	tracks_.finish(track, block, signature_);
	if (track.has_output()) {
		u8 field[SIRO_SIG_MAX_FIELD];

		track.make(block, field);
		written = memory_.write_field(block.index, field);
	}
	blocks_.remove(block);
	return written ? SignatureStatus::done : SignatureStatus::bad_memory;
}

} // namespace sirocco
