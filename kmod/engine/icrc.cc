// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "icrc.h"

#include "siro_port.h"
#include "wire.h"

namespace sirocco::icrc {

namespace {

constexpr u32 seed = 0xdebb20e3; /* after eight bytes of ones: the masked LRH */
constexpr u16 udp_port = 4791;
constexpr u32 udp_bytes = 8;

struct Ipv4 {
	u8 version;
	u8 tos;
	be16 total_length;
	be16 id;
	be16 fragment;
	u8 ttl;
	u8 protocol;
	be16 checksum;
	u8 saddr[4];
	u8 daddr[4];
};

struct Ipv6 {
	u8 version[4]; /* with traffic class and flow label */
	be16 payload_length;
	u8 next_header;
	u8 hop_limit;
	u8 saddr[16];
	u8 daddr[16];
};

struct Udp {
	be16 source;
	be16 dest;
	be16 length;
	be16 checksum;
};

template <typename Ip>
struct Masked {
	Ip ip;
	Udp udp;
};

static_assert(sizeof(Masked<Ipv4>) == 28 && sizeof(Masked<Ipv6>) == 48);

template <typename Ip>
u32 run(Masked<Ip> &h, u32 length)
{
	h.udp.length = static_cast<u16>(udp_bytes + length);
	h.udp.checksum = 0xffff;
	return siro_port_crc32(seed, &h, sizeof(h));
}

u32 run_ipv4(Masked<Ipv4> &h, u16 ip_id, u32 length)
{
	h.ip.tos = 0xff;
	h.ip.total_length = static_cast<u16>(sizeof(Masked<Ipv4>) + length);
	h.ip.id = ip_id;
	h.ip.ttl = 0xff;
	h.ip.checksum = 0xffff;
	return run(h, length);
}

u32 run_ipv6(Masked<Ipv6> &h, u32 length)
{
	h.ip.version[0] = 0x6f;
	memory_set(h.ip.version + 1, 0xff, 3);
	h.ip.payload_length = static_cast<u16>(udp_bytes + length);
	h.ip.hop_limit = 0xff;
	return run(h, length);
}

} // namespace

u32 after_headers(const siro_flow &flow, u16 ip_id, u32 length)
{
	if (flow.family == 4) {
		Masked<Ipv4> h;

		h.ip.version = 0x45;
		h.ip.fragment = 0x4000; /* don't fragment */
		h.ip.protocol = 17;
		memory_copy(h.ip.saddr, flow.saddr, 4);
		memory_copy(h.ip.daddr, flow.daddr, 4);
		h.udp.source = flow.source_port;
		h.udp.dest = udp_port;
		return run_ipv4(h, ip_id, length);
	}
	Masked<Ipv6> h;

	h.ip.next_header = 17;
	memory_copy(h.ip.saddr, flow.saddr, 16);
	memory_copy(h.ip.daddr, flow.daddr, 16);
	h.udp.source = flow.source_port;
	h.udp.dest = udp_port;
	return run_ipv6(h, length);
}

u32 after_headers(u32 family, const u8 *ip_header, const u8 *udp_header, u16 ip_id, u32 length)
{
	if (family == 4) {
		Masked<Ipv4> h;

		memory_copy(&h.ip, ip_header, sizeof(h.ip));
		memory_copy(&h.udp, udp_header, sizeof(h.udp));
		return run_ipv4(h, ip_id, length);
	}
	Masked<Ipv6> h;

	memory_copy(&h.ip, ip_header, sizeof(h.ip));
	memory_copy(&h.udp, udp_header, sizeof(h.udp));
	return run_ipv6(h, length);
}

u32 after_bth(u32 state, const u8 *bth)
{
	u8 masked[sizeof(wire::Bth)];

	memory_copy(masked, bth, sizeof(masked));
	masked[4] = 0xff;
	return siro_port_crc32(state, masked, sizeof(masked));
}

void seal(u8 *packet, u32 length, const siro_flow &flow, u16 ip_id)
{
	constexpr u32 bth_bytes = sizeof(wire::Bth);
	u32 state = after_bth(after_headers(flow, ip_id, length), packet);
	u32 end = length - wire::icrc_bytes;
	u32 value;

	state = siro_port_crc32(state, packet + bth_bytes, end - bth_bytes);
	value = finish(state);
	for (u32 i = 0; i < wire::icrc_bytes; i++)
		packet[end + i] = static_cast<u8>(value >> (8 * i));
}

} // namespace sirocco::icrc
