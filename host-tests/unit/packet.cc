// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "wire_packet.h"

#include <cstring>
#include <gtest/gtest.h>
#include <memory>

using namespace host;

namespace {

/* Parses @ib from memory that ends where it ends; @sealed: with a good ICRC. */
int parse(bytes ib, siro_packet &p, bool sealed, const siro_flow &flow)
{
	if (sealed) {
		ib.resize(ib.size() - 4);
		append_icrc(ib, flow, 7);
	}

	std::unique_ptr<uint8_t[]> exact(new uint8_t[ib.size()]);
	bytes ip = ip_header(flow, 7, ib.size()), udp = udp_header(flow, ib.size());

	if (!ib.empty())
		memcpy(exact.get(), ib.data(), ib.size());

	siro_frag frag = {exact.get(), static_cast<uint32_t>(ib.size()), 0};

	p = {};
	p.frags = &frag;
	p.length = frag.length;
	p.ip_id = 7;
	return siro_packet_parse(&p, flow.family, ip.data(), udp.data());
}

bytes raw(unsigned opcode, unsigned pad, size_t length)
{
	bytes ib(length);

	if (length > 0)
		ib[0] = static_cast<uint8_t>(opcode);
	if (length > 1)
		ib[1] = static_cast<uint8_t>(pad << 4);
	return ib;
}

void all_shapes(const siro_flow &flow)
{
	for (unsigned op = 0; op < 256; op++)
		for (unsigned pad = 0; pad < 4; pad++)
			for (size_t n = 0; n <= 96; n++) {
				auto props = properties_of(static_cast<uint8_t>(op));
				size_t least = props.known ? props.header_bytes() + pad + 4 : 0;
				bool good = props.known && n % 4 == 0 && n >= least &&
					    (props.payload || (n == least && !pad) ||
					     (op == ACKNOWLEDGE && !pad && n <= least + 64));
				siro_packet p;
				int ret = parse(raw(op, pad, n), p, n >= 16, flow);

				ASSERT_EQ(ret, good ? -1 : int{SIRO_CNT_MALFORMED_PKTS})
					<< "opcode " << op << " pad " << pad << " length " << n;
				if (good) {
					ASSERT_EQ(p.payload_length, n - least);
				}
			}
}

} // namespace

/* H1, H2 */
TEST(packet_parse, all_opcodes_pads_and_lengths__ipv4)
{
	all_shapes(flow_ipv4(0x0a000001, 0x0a000002, 50000));
}

/* H1, H2 */
TEST(packet_parse, all_opcodes_pads_and_lengths__ipv6)
{
	all_shapes(flow_ipv6(1, 2, 50000));
}

TEST(packet_parse, any_flipped_bit__is_an_icrc_error_or_masked)
{
	siro_flow flow = flow_ipv4(0x0a000001, 0x0a000002, 50000);
	packet in;
	siro_packet p;

	in.qpn = 0x123456;
	in.psn = 0xfffffe;
	in.payload = bytes(8, 0x5a);

	bytes good = encode(in, flow, 7);

	ASSERT_EQ(parse(good, p, false, flow), -1);
	EXPECT_EQ(p.qpn, 0x123456u);
	EXPECT_EQ(p.psn, 0xfffffeu);
	for (size_t bit = 16; bit < good.size() * 8; bit++) {
		bytes bad = good;

		bad[bit / 8] = static_cast<uint8_t>(bad[bit / 8] ^ 1 << bit % 8);
		EXPECT_EQ(parse(bad, p, false, flow), bit / 8 == 4 ? -1 : int{SIRO_CNT_ICRC_ERRORS})
			<< bit;
	}
}

/* H2 */
TEST(packet_parse, payload_above_4096__is_malformed)
{
	siro_flow flow = flow_ipv4(0x0a000001, 0x0a000002, 50000);
	siro_packet p;

	EXPECT_EQ(parse(raw(SEND_ONLY, 0, 12 + 4096 + 4), p, true, flow), -1);
	EXPECT_EQ(parse(raw(SEND_ONLY, 0, 12 + 4100 + 4), p, true, flow),
		  int{SIRO_CNT_MALFORMED_PKTS});
}
