// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "signature_transfer.h"

namespace sirocco {

SignatureSender::SignatureSender(siro_signature &signature, SignatureMemory &memory,
				 siro_sig_cursor &cursor, siro_context *ctx)
	: signature_(signature), memory_(memory), cursor_(cursor), wire_(signature.wire),
	  tracks_(signature, SIRO_SIG_IN_MEMORY, ctx)
{
}

bool SignatureSender::is_at(u64 offset) const
{
	return cursor_.live && cursor_.key == signature_.key &&
	       cursor_.generation == signature_.generation && cursor_.next == offset;
}

SignatureStatus SignatureSender::produce(u64 offset, u8 *to, u32 length)
{
	if (!is_at(offset) && !rewind(offset))
		return SignatureStatus::bad_memory;
	cursor_.live = 0;
	if (!send(offset, to, length))
		return SignatureStatus::bad_memory;
	cursor_.next = offset + length;
	cursor_.key = signature_.key;
	cursor_.generation = signature_.generation;
	cursor_.live = 1;
	return SignatureStatus::done;
}

/* Brings the open blocks to what they are when all before @offset has been sent. */
bool SignatureSender::rewind(u64 offset)
{
	SignatureLayout::Part part = wire_.part(offset, 1);

	for (const Track &track : tracks_) {
		u64 index = part.data / track.interval();
		u32 length = static_cast<u32>(part.data % track.interval());

		if (part.is_field && track.has_output()) {
			index = part.block;
			length = track.interval();
		}
		if (!resume(track, index, length))
			return false;
	}
	return true;
}

bool SignatureSender::resume(const Track &track, u64 index, u32 length)
{
	siro_sig_block &block = cursor_.blocks[track.number()];
	u64 start = index * track.interval();

	track.begin(block, index);
	while (block.end < length) {
		span<const u8> data = memory_.contiguous(start + block.end, length - block.end);

		if (data.empty())
			return false;
		track.add(block, block.end, data.data(), static_cast<u32>(data.size()));
	}
	return length < track.interval() || !track.input() ||
	       memory_.read_field(index, block.field);
}

/* Hundreds of blocks for each transfer: without calls it takes half the time. */
[[gnu::flatten]] bool SignatureSender::send(u64 offset, u8 *to, u32 length)
{
	SignatureLayout::Part part = wire_.part(offset, length);

	for (;; part = wire_.after(part, length)) {
		u32 here = static_cast<u32>(part.length);

		if (part.is_field)
			send_field(part, to);
		else if (!send_data(part.data, to, here))
			return false;
		to += here;
		length -= here;
		if (!length)
			return true;
	}
}

/* Guards are those of the bytes in the packet, whatever becomes of memory meanwhile. */
bool SignatureSender::send_data(u64 data, u8 *to, u32 length)
{
	if (!memory_.read(data, to, length))
		return false;
	for (const Track &track : tracks_)
		if (!advance(track, data, to, length))
			return false;
	return true;
}

bool SignatureSender::advance(const Track &track, u64 data, const u8 *bytes, u32 length)
{
	siro_sig_block &block = cursor_.blocks[track.number()];

	while (length) {
		u64 index = data / track.interval();
		u32 offset = static_cast<u32>(data % track.interval());
		u32 here = min(length, track.interval() - offset);

		if (!offset)
			track.begin(block, index);
		track.add(block, offset, bytes, here);
		if (block.end == track.interval()) {
			if (track.input() && !memory_.read_field(index, block.field))
				return false;
			tracks_.finish(track, block, signature_);
		}
		data += here;
		bytes += here;
		length -= here;
	}
	return true;
}

void SignatureSender::send_field(const SignatureLayout::Part &part, u8 *to)
{
	const Track &track = tracks_.of_output();
	u8 field[SIRO_SIG_MAX_FIELD];

	track.make(cursor_.blocks[track.number()], field);
	memory_copy(to, field + part.within, part.length);
}

} // namespace sirocco
