// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * RoCEv2 packets as the tests see them: an encoder, a decoder and an ICRC that
 * share nothing with the engine.
 */
#pragma once

#include "siro_engine.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace host {

using bytes = std::vector<uint8_t>;

enum opcode : uint8_t {
	SEND_FIRST = 0x00,
	SEND_MIDDLE = 0x01,
	SEND_LAST = 0x02,
	SEND_LAST_IMM = 0x03,
	SEND_ONLY = 0x04,
	SEND_ONLY_IMM = 0x05,
	WRITE_FIRST = 0x06,
	WRITE_MIDDLE = 0x07,
	WRITE_LAST = 0x08,
	WRITE_LAST_IMM = 0x09,
	WRITE_ONLY = 0x0a,
	WRITE_ONLY_IMM = 0x0b,
	READ_REQUEST = 0x0c,
	READ_RESPONSE_FIRST = 0x0d,
	READ_RESPONSE_MIDDLE = 0x0e,
	READ_RESPONSE_LAST = 0x0f,
	READ_RESPONSE_ONLY = 0x10,
	ACKNOWLEDGE = 0x11,
	ATOMIC_ACKNOWLEDGE = 0x12,
	COMPARE_SWAP = 0x13,
	FETCH_ADD = 0x14,
	SEND_LAST_INV = 0x16,
	SEND_ONLY_INV = 0x17,
	UD_SEND_ONLY = 0x64,
	UD_SEND_ONLY_IMM = 0x65,
};

/* AETH syndromes */
constexpr uint8_t ACK = 0x00;
constexpr uint8_t RNR_NAK = 0x20;
constexpr uint8_t NAK_SEQUENCE = 0x60;
constexpr uint8_t NAK_INVALID_REQUEST = 0x61;
constexpr uint8_t NAK_REMOTE_ACCESS = 0x62;
constexpr uint8_t NAK_REMOTE_OPERATIONAL = 0x63;

constexpr bool is_ack(uint8_t syndrome)
{
	return (syndrome & 0x60) == 0;
}

constexpr bool is_rnr(uint8_t syndrome)
{
	return (syndrome & 0x60) == 0x20;
}

/* What an opcode carries, by the tables of IBTA 9.2 and 9.4. */
struct properties {
	bool known;
	bool request;
	bool deth, reth, atomic, aeth, atomic_ack, imm, inv;
	bool payload;
	bool first, middle, last, only; /* only: a message of one packet */
	uint32_t header_bytes() const;
};

properties properties_of(uint8_t opcode);
const char *opcode_name(uint8_t opcode);

struct packet {
	uint8_t opcode = SEND_ONLY;
	bool solicited = false;
	bool migreq = true;
	uint8_t pad = 0;
	uint8_t version = 0;
	uint16_t pkey = 0xffff;
	uint8_t reserved8a = 0; /* FECN, BECN and what the ICRC masks */
	uint32_t qpn = 0;
	bool ackreq = false;
	bool marked = false;
	uint32_t psn = 0;
	uint32_t qkey = 0, src_qpn = 0; /* DETH */
	uint64_t va = 0; /* RETH, AtomicETH */
	uint32_t rkey = 0, dma_length = 0;
	uint64_t swap_add = 0, compare = 0;
	uint8_t syndrome = 0; /* AETH */
	uint32_t msn = 0;
	uint64_t original = 0; /* AtomicAckETH */
	uint32_t imm = 0; /* as on the wire */
	uint32_t inv_key = 0;
	bytes payload; /* of an ACK: the extension */
};

/* The headers and the payload with a zero pad of the right length; no ICRC. */
bytes encode_without_icrc(const packet &p);
/* Same, with the ICRC for @flow and IP id @id. */
bytes encode(const packet &p, const siro_flow &flow, uint16_t id);
/* False if it is too short, of unknown opcode or has a bad pad. */
bool decode(const bytes &ib, packet &out);

/* The headers a super-packet of @ib_length bytes after UDP has on the wire. */
bytes ip_header(const siro_flow &flow, uint16_t id, size_t ib_length);
bytes udp_header(const siro_flow &flow, size_t ib_length);

/* ICRC as IBTA A17.3.3 says, bit by bit or by a table of this file. */
uint32_t icrc(const siro_flow &flow, uint16_t id, const uint8_t *ib, size_t length);
uint32_t crc32_bitwise(uint32_t crc, const uint8_t *data, size_t length);
uint32_t crc32_table(uint32_t crc, const uint8_t *data, size_t length);
void append_icrc(bytes &ib, const siro_flow &flow, uint16_t id);
bool icrc_matches(const bytes &ib, const siro_flow &flow, uint16_t id);

siro_flow flow_ipv4(uint32_t saddr, uint32_t daddr, uint16_t source_port);
siro_flow flow_ipv6(uint8_t last_saddr, uint8_t last_daddr, uint16_t source_port);

/* What a burst is on the wire: equal packets but the last, consecutive ids. */
struct super_packet {
	siro_flow flow = {};
	uint16_t first_id = 0;
	bool from_responder = false;
	std::vector<bytes> packets;
};

} // namespace host
