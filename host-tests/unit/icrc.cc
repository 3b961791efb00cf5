// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "icrc.h"
#include "wire_packet.h"

#include <gtest/gtest.h>

using namespace host;

namespace {

/* The whole masked packet behind eight bytes of ones, bit by bit. */
uint32_t slow_icrc(const siro_flow &flow, uint16_t id, const bytes &ib)
{
	bytes all(8, 0xff), ip = ip_header(flow, id, ib.size()), udp = udp_header(flow, ib.size());

	if (flow.family == 4) {
		ip[1] = ip[8] = ip[10] = ip[11] = 0xff;
	} else {
		ip[0] |= 0x0f;
		ip[1] = ip[2] = ip[3] = ip[7] = 0xff;
	}
	udp[6] = udp[7] = 0xff;
	all.insert(all.end(), ip.begin(), ip.end());
	all.insert(all.end(), udp.begin(), udp.end());
	all.insert(all.end(), ib.begin(), ib.end() - 4);
	all[8 + ip.size() + 8 + 4] = 0xff;

	uint32_t crc = ~0u;

	for (uint8_t byte : all) {
		crc ^= byte;
		for (int i = 0; i < 8; i++)
			crc = crc & 1 ? crc >> 1 ^ 0xedb88320 : crc >> 1;
	}
	return ~crc;
}

void check_seal(const siro_flow &flow)
{
	for (uint32_t length = 16; length < 400; length += 4) {
		bytes ib(length);

		for (uint32_t i = 0; i < length; i++)
			ib[i] = static_cast<uint8_t>(i * 37 + length);

		auto id = static_cast<uint16_t>(0xff00 + length);
		uint32_t want = slow_icrc(flow, id, ib);

		sirocco::icrc::seal(ib.data(), length, flow, id);
		for (uint32_t i = 0; i < 4; i++)
			ASSERT_EQ(ib[length - 4 + i], want >> (8 * i) & 0xff) << length;
	}
}

} // namespace

TEST(icrc, seal__ipv4_against_bitwise_reference)
{
	check_seal(flow_ipv4(0x0a000001, 0x0a000002, 50000));
}

TEST(icrc, seal__ipv6_against_bitwise_reference)
{
	check_seal(flow_ipv6(1, 2, 49153));
}
