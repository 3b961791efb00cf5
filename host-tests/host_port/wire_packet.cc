// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "wire_packet.h"

#include <array>
#include <cstring>

namespace host {

namespace {

void put(bytes &out, uint64_t value, unsigned int count)
{
	for (unsigned int i = count; i-- > 0;)
		out.push_back(static_cast<uint8_t>(value >> (8 * i)));
}

class reader {
public:
	explicit reader(const bytes &in) : in_(in) {}

	uint64_t get(unsigned int count)
	{
		uint64_t value = 0;

		for (unsigned int i = 0; i < count; i++)
			value = value << 8 | in_.at(at_++);
		return value;
	}

	void copy(void *to, unsigned int count)
	{
		for (unsigned int i = 0; i < count; i++)
			static_cast<uint8_t *>(to)[i] = in_.at(at_++);
	}

	size_t position() const
	{
		return at_;
	}

private:
	const bytes &in_;
	size_t at_ = 0;
};

} // namespace

uint32_t properties::header_bytes() const
{
	return 12 + 8 * deth + 16 * reth + 28 * atomic + 4 * aeth + 8 * atomic_ack + 4 * imm +
	       4 * inv;
}

properties properties_of(uint8_t op)
{
	properties p = {};

	p.known = true;
	p.request = true;
	switch (op) {
	case SEND_FIRST:
	case WRITE_FIRST:
		p.first = p.payload = true;
		p.reth = op == WRITE_FIRST;
		break;
	case SEND_MIDDLE:
	case WRITE_MIDDLE:
		p.middle = p.payload = true;
		break;
	case SEND_LAST:
	case SEND_LAST_IMM:
	case SEND_LAST_INV:
	case WRITE_LAST:
	case WRITE_LAST_IMM:
		p.last = p.payload = true;
		break;
	case SEND_ONLY:
	case SEND_ONLY_IMM:
	case SEND_ONLY_INV:
	case WRITE_ONLY:
	case WRITE_ONLY_IMM:
	case UD_SEND_ONLY:
	case UD_SEND_ONLY_IMM:
		p.only = p.payload = true;
		p.reth = op == WRITE_ONLY || op == WRITE_ONLY_IMM;
		p.deth = op == UD_SEND_ONLY || op == UD_SEND_ONLY_IMM;
		break;
	case READ_REQUEST:
		p.only = p.reth = true;
		break;
	case COMPARE_SWAP:
	case FETCH_ADD:
		p.only = p.atomic = true;
		break;
	case READ_RESPONSE_FIRST:
		p.first = p.payload = p.aeth = true;
		p.request = false;
		break;
	case READ_RESPONSE_MIDDLE:
		p.middle = p.payload = true;
		p.request = false;
		break;
	case READ_RESPONSE_LAST:
		p.last = p.payload = p.aeth = true;
		p.request = false;
		break;
	case READ_RESPONSE_ONLY:
		p.only = p.payload = p.aeth = true;
		p.request = false;
		break;
	case ACKNOWLEDGE:
		p.only = p.aeth = true;
		p.request = false;
		break;
	case ATOMIC_ACKNOWLEDGE:
		p.only = p.aeth = p.atomic_ack = true;
		p.request = false;
		break;
	default:
		return {};
	}
	p.imm = op == SEND_LAST_IMM || op == SEND_ONLY_IMM || op == WRITE_LAST_IMM ||
		op == WRITE_ONLY_IMM || op == UD_SEND_ONLY_IMM;
	p.inv = op == SEND_LAST_INV || op == SEND_ONLY_INV;
	return p;
}

const char *opcode_name(uint8_t op)
{
	static const char *const rc[] = {
		"SEND_FIRST",
		"SEND_MIDDLE",
		"SEND_LAST",
		"SEND_LAST_IMM",
		"SEND_ONLY",
		"SEND_ONLY_IMM",
		"WRITE_FIRST",
		"WRITE_MIDDLE",
		"WRITE_LAST",
		"WRITE_LAST_IMM",
		"WRITE_ONLY",
		"WRITE_ONLY_IMM",
		"READ_REQUEST",
		"READ_RESPONSE_FIRST",
		"READ_RESPONSE_MIDDLE",
		"READ_RESPONSE_LAST",
		"READ_RESPONSE_ONLY",
		"ACKNOWLEDGE",
		"ATOMIC_ACKNOWLEDGE",
		"COMPARE_SWAP",
		"FETCH_ADD",
		"?",
		"SEND_LAST_INV",
		"SEND_ONLY_INV",
	};

	if (op < sizeof(rc) / sizeof(rc[0]))
		return rc[op];
	return op == UD_SEND_ONLY ? "UD_SEND_ONLY" : op == UD_SEND_ONLY_IMM ? "UD_SEND_IMM" : "?";
}

bytes encode_without_icrc(const packet &p)
{
	properties has = properties_of(p.opcode);
	uint8_t pad = static_cast<uint8_t>(-p.payload.size() & 3);
	bytes out;

	put(out, p.opcode, 1);
	put(out, p.solicited << 7 | p.migreq << 6 | pad << 4 | p.version, 1);
	put(out, p.pkey, 2);
	put(out, p.reserved8a, 1);
	put(out, p.qpn, 3);
	put(out, p.ackreq << 7 | p.marked << 6, 1);
	put(out, p.psn, 3);
	if (has.deth) {
		put(out, p.qkey, 4);
		put(out, p.src_qpn, 4);
	}
	if (has.reth || has.atomic) {
		put(out, p.va, 8);
		put(out, p.rkey, 4);
	}
	if (has.reth)
		put(out, p.dma_length, 4);
	if (has.atomic) {
		put(out, p.swap_add, 8);
		put(out, p.compare, 8);
	}
	if (has.aeth) {
		put(out, p.syndrome, 1);
		put(out, p.msn, 3);
	}
	if (has.atomic_ack)
		put(out, p.original, 8);
	if (has.imm) {
		const uint8_t *imm = reinterpret_cast<const uint8_t *>(&p.imm);

		out.insert(out.end(), imm, imm + 4);
	}
	if (has.inv)
		put(out, p.inv_key, 4);
	out.insert(out.end(), p.payload.begin(), p.payload.end());
	out.insert(out.end(), pad, 0);
	return out;
}

bytes encode(const packet &p, const siro_flow &flow, uint16_t id)
{
	bytes out = encode_without_icrc(p);

	append_icrc(out, flow, id);
	return out;
}

bool decode(const bytes &ib, packet &p)
{
	if (ib.size() < 16)
		return false;

	properties has = properties_of(ib[0]);
	uint8_t pad = ib[1] >> 4 & 3;

	if (!has.known || ib.size() < has.header_bytes() + pad + 4 || ib.size() % 4)
		return false;

	reader in(ib);
	uint64_t word;

	p = {};
	p.opcode = static_cast<uint8_t>(in.get(1));
	word = in.get(1);
	p.solicited = word >> 7;
	p.migreq = word >> 6 & 1;
	p.pad = pad;
	p.version = word & 15;
	p.pkey = static_cast<uint16_t>(in.get(2));
	p.reserved8a = static_cast<uint8_t>(in.get(1));
	p.qpn = static_cast<uint32_t>(in.get(3));
	word = in.get(1);
	p.ackreq = word >> 7;
	p.marked = word >> 6 & 1;
	p.psn = static_cast<uint32_t>(in.get(3));
	if (has.deth) {
		p.qkey = static_cast<uint32_t>(in.get(4));
		p.src_qpn = static_cast<uint32_t>(in.get(4));
	}
	if (has.reth || has.atomic) {
		p.va = in.get(8);
		p.rkey = static_cast<uint32_t>(in.get(4));
	}
	if (has.reth)
		p.dma_length = static_cast<uint32_t>(in.get(4));
	if (has.atomic) {
		p.swap_add = in.get(8);
		p.compare = in.get(8);
	}
	if (has.aeth) {
		p.syndrome = static_cast<uint8_t>(in.get(1));
		p.msn = static_cast<uint32_t>(in.get(3));
	}
	if (has.atomic_ack)
		p.original = in.get(8);
	if (has.imm)
		in.copy(&p.imm, 4);
	if (has.inv)
		p.inv_key = static_cast<uint32_t>(in.get(4));
	p.payload.assign(ib.begin() + static_cast<ptrdiff_t>(in.position()), ib.end() - 4 - pad);
	return true;
}

bytes ip_header(const siro_flow &flow, uint16_t id, size_t ib_length)
{
	bytes out;

	if (flow.family == 4) {
		put(out, 0x45, 1);
		put(out, flow.tos, 1);
		put(out, 28 + ib_length, 2);
		put(out, id, 2);
		put(out, 0x4000, 2); /* don't fragment */
		put(out, flow.ttl, 1);
		put(out, 17, 1);
		put(out, 0xbeef, 2); /* checksum: nobody below IP looks at it */
		out.insert(out.end(), flow.saddr, flow.saddr + 4);
		out.insert(out.end(), flow.daddr, flow.daddr + 4);
	} else {
		put(out, 6u << 28 | uint32_t{flow.tos} << 20 | flow.flow_label, 4);
		put(out, 8 + ib_length, 2);
		put(out, 17, 1);
		put(out, flow.ttl, 1);
		out.insert(out.end(), flow.saddr, flow.saddr + 16);
		out.insert(out.end(), flow.daddr, flow.daddr + 16);
	}
	return out;
}

bytes udp_header(const siro_flow &flow, size_t ib_length)
{
	bytes out;

	put(out, flow.source_port, 2);
	put(out, 4791, 2);
	put(out, 8 + ib_length, 2);
	put(out, 0xcafe, 2);
	return out;
}

uint32_t crc32_bitwise(uint32_t crc, const uint8_t *data, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		crc ^= data[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	return crc;
}

uint32_t crc32_table(uint32_t crc, const uint8_t *data, size_t length)
{
	static const std::array<uint32_t, 256> table = [] {
		std::array<uint32_t, 256> t;

		for (uint32_t i = 0; i < 256; i++) {
			uint8_t byte = static_cast<uint8_t>(i);

			t[i] = crc32_bitwise(0, &byte, 1);
		}
		return t;
	}();

	for (size_t i = 0; i < length; i++)
		crc = crc >> 8 ^ table[(crc ^ data[i]) & 0xff];
	return crc;
}

uint32_t icrc(const siro_flow &flow, uint16_t id, const uint8_t *ib, size_t length)
{
	bytes pseudo(8, 0xff);
	bytes ip = ip_header(flow, id, length + 4);
	bytes udp = udp_header(flow, length + 4);
	uint8_t bth[12];

	if (flow.family == 4) {
		ip[1] = 0xff; /* type of service */
		ip[8] = 0xff; /* time to live */
		ip[10] = ip[11] = 0xff; /* checksum */
	} else {
		ip[0] |= 0x0f; /* traffic class, flow label */
		ip[1] = ip[2] = ip[3] = 0xff;
		ip[7] = 0xff; /* hop limit */
	}
	udp[6] = udp[7] = 0xff;
	memcpy(bth, ib, 12);
	bth[4] = 0xff;
	pseudo.insert(pseudo.end(), ip.begin(), ip.end());
	pseudo.insert(pseudo.end(), udp.begin(), udp.end());
	pseudo.insert(pseudo.end(), bth, bth + 12);

	uint32_t crc = crc32_table(0xffffffff, pseudo.data(), pseudo.size());

	return ~crc32_table(crc, ib + 12, length - 12);
}

void append_icrc(bytes &ib, const siro_flow &flow, uint16_t id)
{
	uint32_t crc = icrc(flow, id, ib.data(), ib.size());

	/* The first bit sent is the highest coefficient: the low byte goes first. */
	for (int i = 0; i < 4; i++)
		ib.push_back(static_cast<uint8_t>(crc >> (8 * i)));
}

bool icrc_matches(const bytes &ib, const siro_flow &flow, uint16_t id)
{
	bytes copy(ib.begin(), ib.end() - 4);

	append_icrc(copy, flow, id);
	return copy == ib;
}

siro_flow flow_ipv4(uint32_t saddr, uint32_t daddr, uint16_t source_port)
{
	siro_flow flow = {};

	flow.family = 4;
	flow.tos = 0x5a;
	flow.ttl = 63;
	flow.source_port = source_port;
	flow.next_id = 0xfff0;
	for (int i = 0; i < 4; i++) {
		flow.saddr[i] = static_cast<uint8_t>(saddr >> (24 - 8 * i));
		flow.daddr[i] = static_cast<uint8_t>(daddr >> (24 - 8 * i));
	}
	return flow;
}

siro_flow flow_ipv6(uint8_t last_saddr, uint8_t last_daddr, uint16_t source_port)
{
	siro_flow flow = {};

	flow.family = 6;
	flow.tos = 0xa6;
	flow.ttl = 64;
	flow.source_port = source_port;
	flow.flow_label = 0x9abcd;
	flow.saddr[0] = flow.daddr[0] = 0xfd;
	flow.saddr[15] = last_saddr;
	flow.daddr[15] = last_daddr;
	return flow;
}

} // namespace host
