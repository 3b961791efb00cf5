// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* A received packet: scattered bytes that are read once. */
#pragma once

#include "base/base.h"

#include "siro_engine.h"

namespace sirocco {

/* Walks the pieces of a packet from its first byte on. */
class PacketReader {
public:
	explicit PacketReader(const siro_packet &packet)
		: frag_(packet.frags), offset_(packet.offset)
	{
	}

	/* The next piece of at most @most bytes; @most > 0 and within the packet. */
	span<const u8> next(u32 most)
	{
		while (offset_ >= frag_->length) {
			offset_ -= frag_->length;
			frag_++;
		}

		u32 n = min(most, frag_->length - offset_);
		const u8 *data = frag_->data + offset_;

		offset_ += n;
		return {data, n};
	}

	void skip(u32 bytes)
	{
		offset_ += bytes;
	}

	void copy(u8 *to, u32 bytes)
	{
		while (bytes) {
			auto piece = next(bytes);

			memory_copy(to, piece.data(), piece.size());
			to += piece.size();
			bytes -= static_cast<u32>(piece.size());
		}
	}

private:
	const siro_frag *frag_;
	u32 offset_;
};

/*
 * Hands the payload to @take(offset, data, bytes) piece by piece, until it
 * returns false: then so does this.
 */
template <typename Take>
bool for_each_payload(const siro_packet &packet, Take take)
{
	PacketReader reader(packet);
	u32 offset = 0;

	reader.skip(packet.header_length);
	while (offset < packet.payload_length) {
		auto piece = reader.next(packet.payload_length - offset);
		u32 n = static_cast<u32>(piece.size());

		if (!take(offset, piece.data(), n))
			return false;
		offset += n;
	}
	return true;
}

/* Did the batch travel our flow's path, in the other direction? */
bool flow_matches(const siro_flow &flow, const siro_batch &batch);

} // namespace sirocco
