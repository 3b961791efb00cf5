// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Packets that came before their turn. */
#pragma once

#include "base/base.h"

#include "psn.h"
#include "siro_port.h"

namespace sirocco {

/*
 * One slot per PSN of the window that begins at the next expected PSN. A packet
 * is held as a copy that the glue made.
 */
class HeldPackets {
public:
	static constexpr u32 window = SIRO_RX_WINDOW;

	/* @slots: of SIRO_RX_WINDOW pointers, or nullptr: nothing is ever held. */
	explicit HeldPackets(void *slots) : slots_(static_cast<siro_packet **>(slots)) {}

	bool is_empty() const
	{
		return !count_;
	}

	u32 count() const
	{
		return count_;
	}

	enum class Verdict { held, already, refused };

	/* @ahead: its distance from the expected PSN, at least 1. */
	Verdict hold(void *port, const siro_packet &packet, u32 ahead)
	{
		if (!slots_ || ahead >= window)
			return Verdict::refused;

		siro_packet *&slot = at(Psn(packet.psn));

		if (slot)
			return Verdict::already;
		slot = siro_port_hold(port, &packet);
		if (!slot)
			return Verdict::refused;
		count_++;
		return Verdict::held;
	}

	/* The packet of @psn, now the caller's to release; nullptr if there is none. */
	siro_packet *take(Psn psn)
	{
		if (!count_)
			return nullptr;

		siro_packet *packet = exchange(at(psn), nullptr);

		if (packet)
			count_--;
		return packet;
	}

	/* The packet of @psn, which stays; nullptr if there is none. */
	const siro_packet *look(Psn psn)
	{
		return count_ ? at(psn) : nullptr;
	}

	/* The first packet of @from to @to, which stays; nullptr if there is none. */
	const siro_packet *first(Psn from, Psn to)
	{
		for (u32 n = count_ ? min(to.since(from), window) : 0; n; n--, from = from + 1)
			if (at(from))
				return at(from);
		return nullptr;
	}

	/* PSNs from @from up to @to are over: nothing more is expected for them. */
	void skip(void *port, Psn from, Psn to)
	{
		for (u32 n = min(to.since(from), window); count_ && n; n--, from = from + 1)
			if (siro_packet *packet = take(from))
				siro_port_release(port, packet);
	}

	void clear(void *port, Psn from)
	{
		skip(port, from, from + window);
	}

private:
	siro_packet *&at(Psn psn)
	{
		return slots_[psn.value() % window];
	}

	siro_packet **slots_;
	u32 count_ = 0;
};

static_assert((Psn::mask + 1) % HeldPackets::window == 0);

} // namespace sirocco
