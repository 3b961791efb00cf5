// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "wire.h"

namespace sirocco::wire {

namespace {

struct OpcodeTable {
	u16 props[256];
};

constexpr OpcodeTable make_opcode_table()
{
	OpcodeTable t{};
	constexpr u16 s = known | send | payload;
	constexpr u16 w = known | write | payload;
	constexpr u16 r = known | response | payload;

	t.props[rc_send_first] = s | first;
	t.props[rc_send_middle] = s;
	t.props[rc_send_last] = s | last;
	t.props[rc_send_last_imm] = s | last | has_imm;
	t.props[rc_send_only] = s | first | last;
	t.props[rc_send_only_imm] = s | first | last | has_imm;
	t.props[rc_send_last_inv] = s | last | has_ieth;
	t.props[rc_send_only_inv] = s | first | last | has_ieth;
	t.props[rc_write_first] = w | first | has_reth;
	t.props[rc_write_middle] = w;
	t.props[rc_write_last] = w | last;
	t.props[rc_write_last_imm] = w | last | has_imm;
	t.props[rc_write_only] = w | first | last | has_reth;
	t.props[rc_write_only_imm] = w | first | last | has_reth | has_imm;
	t.props[rc_read_request] = known | first | last | has_reth;
	t.props[rc_compare_swap] = known | first | last | has_atomic_eth;
	t.props[rc_fetch_add] = known | first | last | has_atomic_eth;
	t.props[rc_read_response_first] = r | first | has_aeth;
	t.props[rc_read_response_middle] = r;
	t.props[rc_read_response_last] = r | last | has_aeth;
	t.props[rc_read_response_only] = r | first | last | has_aeth;
	t.props[rc_acknowledge] = known | response | first | last | has_aeth | extensible;
	t.props[rc_atomic_acknowledge] =
		known | response | first | last | has_aeth | has_atomic_ack_eth;
	t.props[ud_send_only] = s | first | last | has_deth;
	t.props[ud_send_only_imm] = s | first | last | has_deth | has_imm;
	return t;
}

constexpr OpcodeTable opcode_table = make_opcode_table();

/* IBTA table 46: number of credits of each code; 31 means "not limited". */
constexpr u16 credit_table[] = {
	0,    1,    2,    3,    4,    6,     8,     12,    16,    24,   32,
	48,   64,   96,   128,  192,  256,   384,   512,   768,   1024, 1536,
	2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768,
};

/* In units of 10 us. */
constexpr u16 rnr_table[32] = {
	0 /* 65536 */,
	1,
	2,
	3,
	4,
	6,
	8,
	12,
	16,
	24,
	32,
	48,
	64,
	96,
	128,
	192,
	256,
	384,
	512,
	768,
	1024,
	1536,
	2048,
	3072,
	4096,
	6144,
	8192,
	12288,
	16384,
	24576,
	32768,
	49152,
};

} // namespace

u16 properties(u8 opcode)
{
	return opcode_table.props[opcode];
}

u32 header_bytes(u16 props)
{
	u32 bytes = sizeof(Bth);

	if (props & has_reth)
		bytes += sizeof(Reth);
	if (props & has_atomic_eth)
		bytes += sizeof(AtomicEth);
	if (props & has_aeth)
		bytes += sizeof(Aeth);
	if (props & has_atomic_ack_eth)
		bytes += sizeof(AtomicAckEth);
	if (props & has_deth)
		bytes += sizeof(Deth);
	if (props & (has_imm | has_ieth))
		bytes += imm_bytes;
	return bytes;
}

u8 *put_bth(u8 *to, const BthFields &fields)
{
	Bth bth{};

	bth.opcode = fields.opcode;
	bth.flags = static_cast<u8>(Bth::migrated | (fields.pad << 4) |
				    (fields.solicited ? Bth::solicited : 0));
	bth.pkey = SIRO_DEFAULT_PKEY;
	bth.dest_qpn = fields.dest_qpn;
	bth.ack_request = static_cast<u8>((fields.ask ? Bth::ack_request_bit : 0) |
					  (fields.marked ? Bth::marker : 0));
	bth.psn = fields.psn.value();
	store(to, bth);
	return to + sizeof(bth);
}

u8 credit_code(u32 count)
{
	u8 code = 0;

	while (code + 1 < credits_unlimited && credit_table[code + 1] <= count)
		code++;
	return code;
}

u32 credit_count(u8 code)
{
	return code < credits_unlimited ? credit_table[code] : ~0u;
}

u64 rnr_nanoseconds(u8 code)
{
	u64 units = code & 0x1f ? rnr_table[code & 0x1f] : 65536;

	return units * 10000;
}

} // namespace sirocco::wire
