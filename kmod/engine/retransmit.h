// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* When to retransmit and when to give up. */
#pragma once

#include "base/base.h"

#include "psn.h"
#include "round_trip.h"

namespace sirocco {

/*
 * The retransmission timeout follows the round trip time (RFC 6298). The
 * consumer's ACK timeout and retry count bound the whole: a packet that is not
 * acknowledged for (retry count + 1) timeouts ends the QP.
 */
class RetransmitTimer {
public:
	static constexpr u64 us = 1000;
	static constexpr u64 min_rto = 4000 * us;
	static constexpr u64 first_rto = 20000 * us;
	static constexpr u64 max_rto = 1000000 * us;

	/* @timeout: 4.096 us * 2^timeout, 0 is forever. */
	void configure(u8 timeout, u8 retry_count)
	{
		u64 interval = u64{4096} << timeout;

		patience_ = timeout ? interval * (retry_count + 1u) : 0;
	}

	void reset()
	{
		running_ = false;
		sampling_ = false;
		trip_ = {};
		backoff_ = 0;
	}

	/* Something was sent; counts as the start if nothing was outstanding. */
	void sent(u64 now)
	{
		if (running_)
			return;
		running_ = true;
		since_ = now;
		arm(now);
	}

	/* The oldest packet was acknowledged; @outstanding: others are not. */
	void acknowledged(u64 now, bool outstanding)
	{
		backoff_ = 0;
		running_ = outstanding;
		since_ = now;
		arm(now);
	}

	/* Something arrived, though not the oldest packet: the peer is there. */
	void heard(u64 now)
	{
		if (running_)
			arm(now);
	}

	/* How often it expired since the last progress. */
	u32 backoffs() const
	{
		return backoff_;
	}

	/* The peer asked for silence until @until. */
	void hold(u64 until)
	{
		running_ = false;
		since_ = until;
	}

	void sample(u64 now, Psn psn)
	{
		if (sampling_)
			return;
		sampling_ = true;
		sample_psn_ = psn;
		sample_time_ = now;
	}

	/* @una: everything before it is acknowledged. */
	void sampled(u64 now, Psn una)
	{
		if (!sampling_ || una <= sample_psn_)
			return;
		sampling_ = false;
		trip_.measure(now - sample_time_);
	}

	/* A retransmitted packet's round trip says nothing (Karn). */
	void retransmitted()
	{
		sampling_ = false;
	}

	u64 deadline() const
	{
		return running_ ? deadline_ : 0;
	}

	bool expired(u64 now) const
	{
		return running_ && now >= deadline_;
	}

	bool exhausted(u64 now) const
	{
		return patience_ && now - since_ >= patience_;
	}

	void back_off(u64 now)
	{
		if (backoff_ < 10)
			backoff_++;
		running_ = true;
		arm(now);
	}

private:
	u64 rto() const
	{
		u64 base = first_rto;

		if (trip_.is_known())
			base = max(trip_.smoothed() + 4 * trip_.variation(), u64{min_rto});

		return min(base << backoff_, u64{max_rto});
	}

	void arm(u64 now)
	{
		deadline_ = now + rto();
		if (patience_)
			deadline_ = min(deadline_, since_ + patience_);
	}

	u64 patience_ = 0;
	u64 since_ = 0; /* last progress */
	u64 deadline_ = 0;
	RoundTrip trip_;
	u64 sample_time_ = 0;
	Psn sample_psn_;
	u32 backoff_ = 0;
	bool running_ = false;
	bool sampling_ = false;
};

} // namespace sirocco
