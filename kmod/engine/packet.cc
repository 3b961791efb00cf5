// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "packet.h"

#include "icrc.h"
#include "siro_port.h"
#include "wire.h"

namespace sirocco {

namespace {

constexpr u32 bth_bytes = sizeof(wire::Bth);

/* What follows the headers is for who understands it; others go by the headers. */
bool is_extended(u16 props, u32 bytes, const wire::Bth &bth)
{
	return props & wire::extensible && !bth.pad() && bytes <= wire::max_extension;
}

/* Fills the out fields; false if the packet is not what its opcode asks for. */
bool parse_headers(siro_packet &p)
{
	if (p.length < bth_bytes + wire::icrc_bytes || p.length % 4)
		return false;

	PacketReader reader(p);

	reader.copy(p.header, bth_bytes);

	auto bth = load<wire::Bth>(p.header);
	u16 props = wire::properties(bth.opcode);

	if (!(props & wire::known) || bth.version())
		return false;

	u32 headers = wire::header_bytes(props);

	if (p.length < headers + bth.pad() + wire::icrc_bytes)
		return false;

	u32 payload = p.length - headers - bth.pad() - wire::icrc_bytes;

	if (payload > wire::max_payload)
		return false;
	if (!(props & wire::payload) && (payload || bth.pad()) && !is_extended(props, payload, bth))
		return false;

	reader.copy(p.header + bth_bytes, headers - bth_bytes);
	p.opcode = bth.opcode;
	p.response = props & wire::response ? 1 : 0;
	p.header_length = static_cast<u8>(headers);
	p.payload_length = static_cast<u16>(payload);
	p.qpn = bth.dest_qpn;
	p.psn = bth.psn;
	return true;
}

/* The headers are checked in the private copy that is used later. */
bool icrc_good(const siro_packet &p, u32 family, const u8 *ip_header, const u8 *udp_header)
{
	u32 state = icrc::after_headers(family, ip_header, udp_header, p.ip_id, p.length);
	u32 left = p.length - p.header_length - wire::icrc_bytes;
	PacketReader reader(p);
	u8 sent[wire::icrc_bytes];

	state = icrc::after_bth(state, p.header);
	state = siro_port_crc32(state, p.header + bth_bytes, p.header_length - bth_bytes);
	reader.skip(p.header_length);
	while (left) {
		auto piece = reader.next(left);

		state = siro_port_crc32(state, piece.data(), piece.size());
		left -= static_cast<u32>(piece.size());
	}
	reader.copy(sent, sizeof(sent));

	u32 value = icrc::finish(state);

	for (u32 i = 0; i < wire::icrc_bytes; i++)
		if (sent[i] != static_cast<u8>(value >> (8 * i)))
			return false;
	return true;
}

static_assert(SIRO_MAX_HEADER >= sizeof(wire::Bth) + sizeof(wire::AtomicEth));

} // namespace

bool flow_matches(const siro_flow &flow, const siro_batch &batch)
{
	u32 bytes = batch.family == 4 ? 4 : 16;
	const u8 *saddr = batch.ip_header + (batch.family == 4 ? 12 : 8);

	return flow.family == batch.family && memory_equal(flow.daddr, saddr, bytes) &&
	       memory_equal(flow.saddr, saddr + bytes, bytes);
}

} // namespace sirocco

extern "C" int siro_packet_parse(siro_packet *packet, __u32 family, const __u8 *ip_header,
				 const __u8 *udp_header)
{
	if (!sirocco::parse_headers(*packet))
		return SIRO_CNT_MALFORMED_PKTS;
	if (!sirocco::icrc_good(*packet, family, ip_header, udp_header))
		return SIRO_CNT_ICRC_ERRORS;
	return -1;
}
