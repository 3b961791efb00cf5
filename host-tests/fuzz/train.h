// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Packets that travel together as far as the stack would let them. */
#pragma once

#include "victim.h"

class train {
public:
	train(input &in, victim &v) : in_(in), v_(v)
	{
		uint8_t bits = in.take<uint8_t>();

		merge_ = !(bits & 1);
		fixed_id_ = bits & 2;
		cutting_ = bits >> 2 & 7;
		mixed_ = bits | 1;
		skb_.flow = v.from_peer;
		skb_.flow.tos = bits;
		if (in.once_in(32))
			skb_.flow.saddr[3] ^= 1;
		first_id_ = in.take<uint16_t>();
	}

	train(const train &) = delete;

	~train()
	{
		send();
	}

	/* @ib: without ICRC. It gets one, good or, if the input says so, bad. */
	void add(host::bytes ib)
	{
		constexpr size_t most = 60000;
		size_t bytes = ib.size() + 4;

		if (count_ && (!merge_ || ended_ || bytes > skb_.stride || skb_.data.size() > most))
			send();
		if (!count_)
			skb_.stride = static_cast<uint32_t>(bytes);
		ended_ = bytes < skb_.stride;
		seal(ib);
		skb_.data.insert(skb_.data.end(), ib.begin(), ib.end());
		count_++;
	}

	/* As the peer never would: cut at any @stride. */
	void add_raw(const host::bytes &data, uint32_t stride)
	{
		send();
		skb_.data = data;
		skb_.stride = stride ? stride : 1;
		send();
	}

	void send()
	{
		skb_.first_id = first_id_;
		first_id_ = static_cast<uint16_t>(first_id_ + count_);
		cut_into_pieces();
		if (!skb_.data.empty())
			v_.wire.take(skb_);
		skb_.data.clear();
		count_ = 0;
	}

private:
	void seal(host::bytes &ib)
	{
		constexpr size_t bth = 12;
		uint16_t id = static_cast<uint16_t>(first_id_ + (fixed_id_ ? 0 : count_));

		if (ib.size() >= bth)
			host::append_icrc(ib, skb_.flow, id);
		if (!ib.empty() && in_.once_in(24))
			ib[in_.below(16) ? ib.size() - 1 - in_.below(4) % ib.size()
					 : in_.take<uint16_t>() % ib.size()] ^= 1 << in_.below(8);
	}

	uint32_t random(uint32_t limit)
	{
		mixed_ = mixed_ * 1664525 + 1013904223;
		return (mixed_ >> 8) % limit;
	}

	void cut_into_pieces()
	{
		constexpr size_t most = 255;
		size_t left = skb_.data.size();

		skb_.pieces.clear();
		while (left && skb_.pieces.size() < most) {
			uint32_t n = piece(left);

			skb_.pieces.push_back(n);
			left -= n < left ? n : left;
		}
	}

	/* Heads alone, single bytes, pages of a driver, anything. */
	uint32_t piece(size_t left)
	{
		constexpr uint32_t head = 12;

		switch (cutting_) {
		case 1:
			return 1;
		case 2:
			return skb_.pieces.size() % 2 ? skb_.stride - head : head;
		case 3:
			return 1 + random(8);
		case 4:
			return 1 + random(2 * skb_.stride);
		case 5:
			return skb_.stride;
		case 6:
			return skb_.pieces.size() < 60 ? 1 : 700;
		case 7:
			return random(2) ? 0 : 1 + random(600);
		default:
			return static_cast<uint32_t>(left);
		}
	}

	input &in_;
	victim &v_;
	skb skb_;
	bool merge_, fixed_id_, ended_ = false;
	uint8_t cutting_;
	uint32_t mixed_;
	uint16_t first_id_;
	uint32_t count_ = 0;
};
