// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Headers of RoCEv2 packets: BTH and extension headers (IBTA 9.2 to 9.5). */
#pragma once

#include "base/base.h"

#include "psn.h"
#include "siro_engine.h"

namespace sirocco::wire {

enum Opcode : u8 {
	rc_send_first = 0x00,
	rc_send_middle = 0x01,
	rc_send_last = 0x02,
	rc_send_last_imm = 0x03,
	rc_send_only = 0x04,
	rc_send_only_imm = 0x05,
	rc_write_first = 0x06,
	rc_write_middle = 0x07,
	rc_write_last = 0x08,
	rc_write_last_imm = 0x09,
	rc_write_only = 0x0a,
	rc_write_only_imm = 0x0b,
	rc_read_request = 0x0c,
	rc_read_response_first = 0x0d,
	rc_read_response_middle = 0x0e,
	rc_read_response_last = 0x0f,
	rc_read_response_only = 0x10,
	rc_acknowledge = 0x11,
	rc_atomic_acknowledge = 0x12,
	rc_compare_swap = 0x13,
	rc_fetch_add = 0x14,
	rc_send_last_inv = 0x16,
	rc_send_only_inv = 0x17,
	ud_send_only = 0x64,
	ud_send_only_imm = 0x65,
};

/* What an opcode says about its packet. Length rules test these, never numbers. */
enum Property : u16 {
	known = 1 << 0,
	response = 1 << 1, /* taken by the requester */
	first = 1 << 2, /* begins a message */
	last = 1 << 3, /* ends a message */
	payload = 1 << 4, /* may carry payload */
	send = 1 << 5,
	write = 1 << 6,
	has_reth = 1 << 7,
	has_atomic_eth = 1 << 8,
	has_aeth = 1 << 9,
	has_atomic_ack_eth = 1 << 10,
	has_imm = 1 << 11,
	has_ieth = 1 << 12,
	has_deth = 1 << 13,
	extensible = 1 << 14, /* an extension may follow the headers */
};

u16 properties(u8 opcode);

/* BTH and extension headers of an opcode with @props, in bytes. */
u32 header_bytes(u16 props);

struct Bth {
	u8 opcode;
	u8 flags; /* SE, M, pad count, version */
	be16 pkey;
	u8 congestion; /* FECN, BECN; masked in the ICRC */
	be24 dest_qpn;
	u8 ack_request; /* bit 7, and the marker */
	be24 psn;

	static constexpr u8 ack_request_bit = 0x80;
	static constexpr u8 marker =
		0x40; /* reserved by IBTA: the sender agrees to OOO placement */
	static constexpr u8 solicited = 0x80;
	static constexpr u8 migrated = 0x40;

	u32 pad() const
	{
		return (flags >> 4) & 3;
	}

	u32 version() const
	{
		return flags & 0xf;
	}
};

struct Reth {
	be64 va;
	be32 rkey;
	be32 length;
};

struct AtomicEth {
	be64 va;
	be32 rkey;
	be64 swap_add;
	be64 compare;
};

struct Aeth {
	u8 syndrome;
	be24 msn;
};

struct AtomicAckEth {
	be64 original;
};

struct Deth {
	be32 qkey;
	u8 reserved;
	be24 src_qpn;
};

static_assert(sizeof(Bth) == 12 && sizeof(Reth) == 16 && sizeof(AtomicEth) == 28);
static_assert(sizeof(Aeth) == 4 && sizeof(AtomicAckEth) == 8 && sizeof(Deth) == 8);

constexpr u32 icrc_bytes = 4;
constexpr u32 imm_bytes = 4;
constexpr u32 max_payload = 4096;
constexpr u32 max_extension = 64; /* of an ACK */

/* AETH syndromes: two bits of kind, five of value (IBTA 9.7.5.2.1). */
enum AethKind : u8 { aeth_ack = 0, aeth_rnr = 1, aeth_nak = 3 };
enum NakCode : u8 {
	nak_psn_sequence = 0,
	nak_invalid_request = 1,
	nak_remote_access = 2,
	nak_remote_operation = 3,
};
constexpr u8 credits_unlimited = 31;

constexpr u8 syndrome(AethKind kind, u32 value)
{
	return static_cast<u8>((kind << 5) | (value & 0x1f));
}

/* Credit code for @count posted receives, rounded down; and back. */
u8 credit_code(u32 count);
u32 credit_count(u8 code);

/* RNR timer code to nanoseconds (IBTA table 45). */
u64 rnr_nanoseconds(u8 code);

/* Bytes that make a payload a multiple of four. */
constexpr u32 pad_of(u32 payload)
{
	return -payload & 3;
}

/* What a BTH says that differs from packet to packet. */
struct BthFields {
	u8 opcode;
	u32 dest_qpn;
	Psn psn;
	u32 pad = 0;
	bool ask = false; /* for an acknowledgement */
	bool solicited = false;
	bool marked = false;
};

/* Writes a BTH; returns where the next header goes. */
u8 *put_bth(u8 *to, const BthFields &fields);

/* The headers of a parsed packet; nothing else of it is ever read again. */
class Headers {
public:
	explicit Headers(const siro_packet &packet)
		: bytes_(packet.header), props_(properties(packet.opcode))
	{
	}

	u16 props() const
	{
		return props_;
	}

	bool is(u16 wanted) const
	{
		return props_ & wanted;
	}

	Bth bth() const
	{
		return load<Bth>(bytes_);
	}

	/* The default partition, whichever end is a full member. */
	bool in_partition() const
	{
		constexpr u16 full_member = 0x8000;

		return (bth().pkey | full_member) == (SIRO_DEFAULT_PKEY | full_member);
	}

	bool solicited() const
	{
		return bth().flags & Bth::solicited;
	}

	bool ack_requested() const
	{
		return bth().ack_request & Bth::ack_request_bit;
	}

	bool marked() const
	{
		return bth().ack_request & Bth::marker;
	}

	/* Each only if the opcode has it. */
	Reth reth() const
	{
		return load<Reth>(bytes_ + sizeof(Bth));
	}

	AtomicEth atomic_eth() const
	{
		return load<AtomicEth>(bytes_ + sizeof(Bth));
	}

	Aeth aeth() const
	{
		return load<Aeth>(bytes_ + sizeof(Bth));
	}

	u64 atomic_original() const
	{
		return load<AtomicAckEth>(bytes_ + sizeof(Bth) + sizeof(Aeth)).original;
	}

	Deth deth() const
	{
		return load<Deth>(bytes_ + sizeof(Bth));
	}

	/* In wire order, as completions carry it. */
	u32 imm() const
	{
		return load<u32>(bytes_ + last_word());
	}

	u32 invalidate_key() const
	{
		return load<be32>(bytes_ + last_word());
	}

private:
	/* Immediate and IETH are always the last extension header. */
	u32 last_word() const
	{
		return header_bytes(props_) - imm_bytes;
	}

	const u8 *bytes_;
	u16 props_;
};

} // namespace sirocco::wire
