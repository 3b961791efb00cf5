// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The way in as kmod/glue/udp_rx.c goes it: a super-packet in pieces of any size
 * is cut at its stride, each packet parsed, and runs for one half of the QP are
 * handed over together. A parser of this file says which packets are good.
 */
#pragma once

#include "endpoint.h"

/* A super-packet as the network stack has it. */
struct skb {
	siro_flow flow = {};
	uint16_t first_id = 0;
	uint32_t stride = 0;
	host::bytes data;
	std::vector<uint32_t> pieces; /* lengths; one more piece takes the rest */
};

/* What siro_packet_parse() has to return for @ib. */
inline int expected_verdict(const host::bytes &ib, const siro_flow &flow, uint16_t id)
{
	constexpr size_t max_payload = 4096;

	if (ib.size() < 16 || ib.size() % 4)
		return SIRO_CNT_MALFORMED_PKTS;

	host::properties has = host::properties_of(ib[0]);
	uint32_t pad = ib[1] >> 4 & 3;

	if (!has.known || ib[1] & 15 || ib.size() < has.header_bytes() + pad + 4)
		return SIRO_CNT_MALFORMED_PKTS;

	size_t payload = ib.size() - has.header_bytes() - pad - 4;

	/* An ACK may have an extension. */
	bool fits = has.payload || (!payload && !pad) ||
		    (ib[0] == host::ACKNOWLEDGE && !pad && payload <= 64);

	if (payload > max_payload || !fits)
		return SIRO_CNT_MALFORMED_PKTS;
	return host::icrc_matches(ib, flow, id) ? -1 : int{SIRO_CNT_ICRC_ERRORS};
}

class receiver {
public:
	using handover = std::function<void(bool requester, std::vector<siro_packet> &batch,
					    const host::super_packet &origin)>;

	/* @deliver takes what is good and for @qpn. */
	receiver(host::device &dev, uint32_t qpn, handover deliver)
		: dev_(dev), qpn_(qpn), deliver_(std::move(deliver))
	{
	}

	void take(const skb &s)
	{
		constexpr size_t max_pieces = 256; /* SIRO_RX_FRAGS */
		cut c(s);

		if (s.data.empty() || c.frags.size() > max_pieces) {
			dev_.counters[SIRO_CNT_MALFORMED_PKTS]++;
			return;
		}
		while (c.left) {
			std::vector<siro_packet> good;

			while (c.left && good.size() < SIRO_MAX_BURST_PACKETS)
				next(c, good);
			hand_over_runs(c, good);
		}
	}

private:
	/* A super-packet being cut; its pieces are exact copies for the sanitizer. */
	struct cut {
		explicit cut(const skb &skb)
			: s(skb), left(static_cast<uint32_t>(skb.data.size())),
			  ip(host::ip_header(skb.flow, skb.first_id, left)),
			  udp(host::udp_header(skb.flow, left))
		{
			uint32_t begin = 0;

			for (uint32_t n : s.pieces)
				begin += add(begin, std::min(n, left - begin));
			add(begin, left - begin);
			frag = frags.data();
			origin.flow = s.flow;
			origin.first_id = s.first_id;
			origin.packets.push_back(s.data);
		}

		uint32_t add(uint32_t begin, uint32_t n)
		{
			if (!n)
				return 0;
			memory.emplace_back(new uint8_t[n]);
			memcpy(memory.back().get(), s.data.data() + begin, n);
			frags.push_back({memory.back().get(), n, 0});
			return n;
		}

		void advance(uint32_t bytes)
		{
			left -= bytes;
			at += bytes;
			offset += bytes;
			while (left && offset >= frag->length)
				offset -= frag++->length;
		}

		const skb &s;
		uint32_t left;
		host::bytes ip, udp;
		host::super_packet origin;
		std::vector<std::unique_ptr<uint8_t[]>> memory;
		std::vector<siro_frag> frags;
		const siro_frag *frag = nullptr;
		uint32_t offset = 0, at = 0, index = 0;
		bool fixed_id = false;
	};

	void next(cut &c, std::vector<siro_packet> &good)
	{
		constexpr uint8_t garbage = 0xa5;
		siro_packet p;

		memset(&p, garbage, sizeof(p));
		p.frags = c.frag;
		p.offset = c.offset;
		p.length = std::min(c.s.stride, c.left);
		p.ecn = c.s.flow.tos & 3;

		int counter = parse(c, p);

		c.advance(p.length);
		c.index++;
		if (counter >= 0)
			dev_.counters[counter]++;
		else if (p.qpn != qpn_)
			dev_.counters[SIRO_CNT_UNKNOWN_QP]++;
		else
			good.push_back(p);
	}

	/* GRO merges packets whose ids count up and packets with equal ids. */
	int parse(cut &c, siro_packet &p)
	{
		int counter = parse_as(c, p, c.fixed_id);

		if (counter != SIRO_CNT_ICRC_ERRORS || c.s.flow.family != 4 || !c.index)
			return counter;
		counter = parse_as(c, p, !c.fixed_id);
		if (counter < 0)
			c.fixed_id = !c.fixed_id;
		return counter;
	}

	int parse_as(cut &c, siro_packet &p, bool fixed_id)
	{
		const uint8_t *from = c.s.data.data() + c.at;
		host::bytes ib(from, from + p.length);

		p.ip_id = static_cast<uint16_t>(c.s.first_id + (fixed_id ? 0 : c.index));

		int counter = siro_packet_parse(&p, c.s.flow.family, c.ip.data(), c.udp.data());

		if (counter != expected_verdict(ib, c.s.flow, p.ip_id))
			host::fail("verdict %d on %s, %u bytes", counter, host::opcode_name(ib[0]),
				   p.length);
		if (counter < 0)
			compare(p, ib);
		return counter;
	}

	static void compare(const siro_packet &p, const host::bytes &ib)
	{
		host::properties has = host::properties_of(ib[0]);
		host::packet want;

		if (!host::decode(ib, want))
			host::fail("a packet was accepted that can't be decoded");
		if (p.opcode != want.opcode || p.qpn != want.qpn || p.psn != want.psn ||
		    p.response != !has.request || p.header_length != has.header_bytes() ||
		    p.payload_length != want.payload.size() ||
		    memcmp(p.header, ib.data(), p.header_length))
			host::fail("%s was parsed as something else",
				   host::opcode_name(want.opcode));
	}

	void hand_over_runs(cut &c, std::vector<siro_packet> &good)
	{
		for (size_t first = 0, end; first < good.size(); first = end) {
			end = first + 1;
			while (end < good.size() && good[end].response == good[first].response)
				end++;

			std::vector<siro_packet> run(&good[first], &good[first] + (end - first));

			deliver_(run[0].response, run, c.origin);
		}
	}

	host::device &dev_;
	uint32_t qpn_;
	handover deliver_;
};
