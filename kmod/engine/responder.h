// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The receive queue half of a QP (IBTA 9.7.3, 9.7.4, 9.8.3, 9.9.3). */
#pragma once

#include "base/base.h"

#include "burst.h"
#include "held_packets.h"
#include "path_choice.h"
#include "psn.h"
#include "psn_window.h"
#include "read_resource.h"
#include "regions.h"
#include "reorder_window.h"
#include "repeat_queue.h"
#include "siro_port.h"
#include "wire.h"

namespace sirocco {

class Responder {
public:
	explicit Responder(const siro_responder_config &config);

	void modify(siro_context &ctx, u32 state, const siro_responder_attr &attr);
	void receive(siro_context &ctx, const siro_batch &batch);
	void run(siro_context &ctx);

	void discard(void *port);

	u32 state() const
	{
		return state_;
	}

	Psn psn() const
	{
		return expected_;
	}

	/* The peer has said that it may place out of order. */
	bool has_agreed() const
	{
		return agreed_;
	}

private:
	/* What one call from the glue works with. */
	struct Call {
		Call(siro_context &context, u32 pd, siro_sig_cursor &cursor)
			: ctx(context), regions(context, pd, cursor), burst(context, true)
		{
		}

		siro_context &ctx;
		Regions regions;
		Burst burst;
	};

	/* What kind of multi-packet request is under way. */
	enum class Message : u8 { none, send, write };
	enum class Reply : u8 { none, ack, nak };
	enum class Recv { ready, none, bad };
	enum class Answer { sent, waits, refused };

	/* responder.cc: states, sequence, receive WQEs, completion */
	void finish(Call &call);
	void take(Call &call, const siro_packet &packet, const siro_batch &batch);
	void take_marker(const siro_packet &packet);
	void take_early(Call &call, const siro_packet &packet);
	bool opens_hole(Psn psn) const;
	void take_in_sequence(Call &call, const siro_packet &packet);
	void take_placed(Call &call);
	void begin_sequence(Call &call);
	void forget_early(Psn from, Psn to);
	void count_duplicate(siro_context &ctx);
	void gap_opened(siro_context &ctx);
	void take_held(Call &call);
	bool has_next() const
	{
		return early_.has(expected_);
	}

	void wait_for_gap(u64 now);
	void note_duplicate(Psn psn);
	void nak_gap(Call &call);
	void age(Call &call);
	void discard_held(void *port);
	void take_duplicate(Call &call, const siro_packet &packet);
	void take_datagram(Call &call, const siro_packet &packet, const siro_batch &batch);
	Recv acquire(Call &call);
	void complete_recv(Call &call, siro_cqe &cqe, u32 status);
	void fail(Call &call, u8 nak_code, u32 status);
	void not_ready(Call &call);
	void drop_for_memory(Call &call);
	void flush(Call &call);
	bool has_room_in_recv(Call &call, const siro_packet &packet, u64 offset);
	bool place_recv(Call &call, const siro_packet &packet, u64 offset);

	/* responder_execute.cc */
	void execute(Call &call, const siro_packet &packet);
	void execute_send(Call &call, const siro_packet &packet);
	void execute_write(Call &call, const siro_packet &packet);
	bool place_early(Call &call, const siro_packet &packet);
	void spoil(Psn psn);
	void execute_read(Call &call, const siro_packet &packet);
	void execute_atomic(Call &call, const siro_packet &packet);
	bool length_fits(const siro_packet &packet) const;
	bool need_recv(Call &call);
	void accept_last(Call &call, const siro_packet &packet);
	void accepted(const siro_packet &packet);

	/* respond.cc */
	void respond(Call &call);
	bool answer(Call &call, ReadResource &r);
	bool answer_read(Call &call, ReadResource &r);
	bool answer_again(Call &call, Repeat &again);
	Answer send_response(Call &call, const ReadResource &r, u32 index, bool is_first, u32 left);
	void cancel_answers();
	bool refuse_read(Call &call, ReadResource &r);
	bool answer_atomic(Call &call, ReadResource &r);
	bool send_reply(Call &call);
	void reply_nak(u8 syndrome);
	u8 ack_syndrome(Call &call) const;
	u32 put_sack(Call &call, u8 *to);

	siro_flow *flow_;
	u64 cookie_;
	u32 qpn_;
	u32 pd_;
	u32 type_;
	bool srq_;

	u32 state_ = SIRO_QPS_RESET;
	siro_responder_attr attr_{};

	Psn expected_;
	u32 msn_ = 0;
	bool established_ = false; /* COMM_EST was raised */
	bool last_wqe_ = false; /* LAST_WQE_REACHED was raised */
	bool silent_ = false; /* a NAK for expected_ is out: later packets are dropped */
	bool ack_due_ = false;
	u64 gap_until_ = 0; /* when what is missing counts as lost, 0: nothing is missing */
	u64 gap_since_ = 0;
	ReorderWindow reorder_window_;
	Psn asked_; /* the last that a NAK asked for */
	bool is_asked_ = false; /* for that a NAK is out, or it came once since */
	HeldPackets held_;
	PsnWindow early_; /* what came before its turn: those not held are placed */
	Psn highest_; /* of them */
	Psn spoiled_; /* its data could not be placed: a NAK in its turn */
	bool has_spoiled_ = false;
	bool agreed_ = false; /* the peer marks its requests */
	bool news_ = false; /* for the peer: a gap has opened or closed, or it asks */
	PathChoice path_choice_;
	u64 age_at_ = 0; /* when held packets have waited too long, 0: none are held */
	u32 duplicates_ = 0; /* requests that came twice */
	u32 sack_base_ = 0; /* distance that the next SACK begins at */

	Reply reply_ = Reply::none;
	u8 reply_syndrome_ = 0;
	Psn reply_psn_;

	Message message_ = Message::none;
	bool has_recv_ = false;
	u32 placed_ = 0; /* bytes of the message so far */
	u32 write_length_ = 0;
	u32 write_key_ = 0;
	u64 write_va_ = 0;

	ReadResources resources_;
	RepeatQueue repeats_;
	siro_sig_cursor sig_cursor_{}; /* of READ responses */

	siro_recv_wqe recv_{};
	siro_sge sges_[SIRO_MAX_SGE];
};

} // namespace sirocco
