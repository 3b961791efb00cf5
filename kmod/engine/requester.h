// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The send queue half of a QP (IBTA 9.7.2, 9.7.5, 9.9, 10.7). */
#pragma once

#include "base/base.h"

#include "burst.h"
#include "held_packets.h"
#include "path_choice.h"
#include "psn.h"
#include "regions.h"
#include "retransmit.h"
#include "sack.h"
#include "scoreboard.h"
#include "send_queue.h"
#include "siro_port.h"
#include "wire.h"

namespace sirocco {

class Requester {
public:
	explicit Requester(const siro_requester_config &config);

	void modify(siro_context &ctx, u32 state, const siro_requester_attr &attr);
	void run(siro_context &ctx);
	void discard(void *port);
	void receive(siro_context &ctx, const siro_batch &batch);
	void timeout(siro_context &ctx);

	/* See siro_requester_cancel(). */
	int cancel(u64 wr_id, u32 &count);

	/* The peer has said that it places out of order. */
	bool has_agreed() const
	{
		return agreed_;
	}

	/* Also read beside a change, by the poster. */
	u32 state() const
	{
		return load_relaxed(state_);
	}

	Psn psn() const
	{
		return next_psn_;
	}

	bool draining() const
	{
		return state_ == SIRO_QPS_SQD && queue_.has_started();
	}

	SendQueue &queue()
	{
		return queue_;
	}

private:
	/* What one call from the glue works with. */
	struct Call {
		Call(siro_context &context, u32 pd, siro_sig_cursor &cursor)
			: ctx(context), regions(context, pd, cursor), burst(context, false)
		{
		}

		siro_context &ctx;
		Regions regions;
		Burst burst;
	};

	enum class Step { done, wait };

	/* requester.cc: states, completion */
	void finish(Call &call);
	u64 next_deadline() const;
	void abandon(void *port, siro_send_wqe &wqe);
	void complete(Call &call, u32 status);
	void complete_oldest(Call &call);
	void retire_local(Call &call);
	void fail(Call &call, u32 status);
	void fail_oldest_if_bad(Call &call);
	void flush(Call &call);

	/* requester_send.cc */
	void transmit(Call &call);
	Step advance(Call &call);
	bool ask_before_bad();
	bool start(Call &call, SendEntry &e);
	bool may_start(const SendEntry &e) const;
	bool must_stop(const Call &call, const SendEntry &e) const;
	void stop();
	u32 plan(SendEntry &e) const;
	u32 execute_local(Call &call, SendEntry &e);
	Step send_message(Call &call, SendEntry &e);
	Step send_read(Call &call, SendEntry &e);
	Step send_atomic(Call &call, SendEntry &e);
	Step send_datagram(Call &call, SendEntry &e);
	bool send_segment(Call &call, SendEntry &e, u32 index, bool ask);
	bool send_read_request(Call &call, const SendEntry &e, u32 index, u32 end);
	bool send_atomic_request(Call &call, const SendEntry &e);
	bool wants_ack(const Call &call, const SendEntry &e);
	u32 follow_up_bytes(const SendEntry &e, u32 index, u32 bytes) const;
	bool fill(Call &call, const SendEntry &e, u64 offset, u8 *to, u32 bytes);
	void sent_packet(Call &call, Psn first, Psn last, bool asked);
	void entry_sent();
	u32 requests_of(const SendEntry &e) const;
	bool lacks_credit(const SendEntry &e) const;
	bool window_has(u32 packets, u32 most) const;
	u32 request_window() const;
	u32 response_window() const;
	Psn cursor() const;

	/* requester_receive.cc */
	void take(Call &call, const siro_packet &packet);
	void take_acknowledge(Call &call, const siro_packet &packet);
	void take_early_refusal(Call &call, const siro_packet &packet);
	void take_rnr(Call &call, u8 code);
	void take_nak(Call &call, u8 code);
	void take_read_response(Call &call, const siro_packet &packet);
	void take_atomic_response(Call &call, const siro_packet &packet);
	void take_credits(wire::Aeth aeth);
	SendEntry *answered(Call &call, const siro_packet &packet);
	void received_response(Call &call, SendEntry &e, Psn psn);
	bool place_early(Call &call, const siro_packet &packet);
	bool next_early(Psn &psn);
	bool acknowledge_until(Call &call, Psn end);
	void progress(Call &call, Psn una);
	void catch_up();
	void take_early(Call &call, const siro_packet &packet);
	void take_held(Call &call);
	void stale(Call &call, Psn psn);
	void discard_held(void *port);
	void loss(Call &call, Psn from);
	void implied_loss(Call &call, const siro_packet &packet);
	void rewind(Psn from);
	u32 asked_parts(const SendEntry &e, u32 end) const;
	bool place(Call &call, const SendEntry &e, u64 offset, const siro_packet &packet);

	/* requester_recover.cc */
	bool consents() const
	{
		return attr_.ooo & SIRO_OOO_CONSENT;
	}

	bool marks() const
	{
		return consents() && attr_.ooo & SIRO_OOO_MARK && board_.is_kept();
	}

	void set_agreed(siro_context &ctx, bool agreed);
	void take_agreement(Call &call, const siro_packet &packet);
	void take_sack(Call &call, const siro_packet &packet);
	void judge(Call &call);
	bool note_executed(u64 now, Psn end);
	bool note_taken(u64 now, Psn psn);
	void note_missing(u64 now, Psn psn);
	bool is_response(Psn psn);
	bool waits_for_response();
	void resume_after_timeout();
	void lose_run(Psn psn);
	void probe(Call &call);
	void arm_probe(u64 now);
	bool resend_lost(Call &call);
	bool resend(Call &call, SendEntry &e, u32 index);
	bool must_wait(const SendEntry &e, u32 index) const;
	u32 hole_end(const SendEntry &e, u32 index) const;

	/*
	 * Packets in flight: towards a peer that drops what comes before its turn, and
	 * if it takes them. A READ request asks for half of the former.
	 */
	static constexpr u32 window = 256;
	static constexpr u32 wide_window = SIRO_RX_WINDOW;
	static constexpr u32 chunk = window / 2;
	static constexpr u32 chunk_end(u32 index)
	{
		return (index / chunk + 1) * chunk;
	}
	static constexpr u32 ack_interval = 32;
	static constexpr u32 patient_backoffs = 4;

	HeldPackets held_;
	PsnWindow placed_; /* responses whose data is where it belongs, before their turn */
	Scoreboard board_;
	bool agreed_ = false;
	bool probed_ = false;
	u64 probe_at_ = 0; /* 0: no packet waits for a probe */
	u32 peer_window_ = wide_window;
	u16 peer_duplicates_ = 0; /* as the last SACK said */
	PathChoice path_choice_;
	SendQueue queue_;
	siro_flow *flow_;
	u64 cookie_;
	u32 qpn_;
	u32 pd_;
	u32 type_;
	bool signal_all_;
	bool sig_pipelining_;

	u32 state_ = SIRO_QPS_RESET;
	siro_requester_attr attr_{};

	/* The next packet to send is number packet_ of entry send_. */
	u32 send_ = 0;
	u32 packet_ = 0;

	Psn una_; /* oldest unacknowledged */
	Psn sent_; /* one after the newest ever sent */
	Psn next_psn_; /* of the next entry that starts */
	u32 rd_outstanding_ = 0; /* READ and atomic requests before the cursor */
	u32 unasked_ = 0; /* packets since the last AckReq */

	u32 ssn_ = 0; /* requests so far, as the peer's MSN counts them */
	u32 credit_limit_ = 0; /* the last SSN that the peer has a receive for */
	bool limited_ = false; /* the peer counts credits */

	bool rewound_ = false; /* a recovery has begun at rewound_to_ */
	Psn rewound_to_;
	bool drained_ = false; /* SQ_DRAINED was reported */
	siro_sig_cursor sig_cursor_{}; /* of SENDs and WRITEs */
	bool sig_error_ = false; /* in data that the queue moved */
	bool stopped_ = false; /* for it, in SQD */
	u8 rnr_left_ = 0;
	u64 rnr_until_ = 0;
	RetransmitTimer timer_;
};

} // namespace sirocco
