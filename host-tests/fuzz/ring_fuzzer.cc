// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Rings in user memory: every word of them is hostile and changes at any time,
 * while packets come and timers fire.
 */
#include "peer.h"
#include "user.h"

namespace {

class attack {
public:
	attack(input &in, victim &v) : in_(in), v_(v), peer_(in, v), user_(in, v)
	{
		v_.choose_attributes(in);
		v_.to_rts();
		v_.qp.refuse = [this] {
			return tamper_during_call();
		};
		user_.post_receives();
		user_.post_sends();
	}

	void step()
	{
		if (v_.revive(in_))
			user_.post_receives();
		switch (in_.below(16)) {
		case 0:
		case 1:
		case 2:
			tamper();
			break;
		case 3:
			plans_ = 1 + in_.below(8);
			break;
		case 4:
			user_.post_receives();
			break;
		case 5:
			user_.post_sends();
			break;
		case 6:
		case 7:
			v_.run_requester();
			break;
		case 8:
			v_.run_responder();
			break;
		case 9:
			peer_.send_requests();
			break;
		case 10:
			peer_.send_message();
			break;
		case 11:
		case 12:
			peer_.send_responses();
			break;
		case 13:
			v_.dev.now += in_.below(256) * host::millisecond;
			v_.timeout();
			break;
		case 14:
			v_.poll_all();
			v_.qp.budget = 128 - in_.below(128);
			break;
		default:
			change_state();
		}
		v_.run_who_asked();
	}

private:
	/* Anything that user space can write, by one store. */
	void tamper()
	{
		host::endpoint &qp = v_.qp;

		v_.checks.disturbed = true;
		switch (in_.below(8)) {
		case 0:
			write_entry(qp.sq);
			break;
		case 1:
			write_entry(qp.rq);
			break;
		case 2:
			move(qp.sq.ring.header->producer);
			break;
		case 3:
			move(qp.rq.ring.header->producer);
			break;
		case 4:
			move(qp.send_cq.ring.header->consumer);
			break;
		case 5:
			move(qp.recv_cq.ring.header->consumer);
			break;
		case 6:
			move(in_.below(2) ? qp.sq.ring.header->consumer
					  : qp.rq.ring.header->consumer);
			break;
		default:
			move(in_.below(2) ? qp.send_cq.ring.header->producer
					  : qp.recv_cq.ring.header->producer);
		}
	}

	/* The engine asks for room in the middle of a call; another CPU writes then. */
	bool tamper_during_call()
	{
		if (plans_) {
			plans_--;
			tamper();
		}
		return false;
	}

	/* A field of the header, an SGE or any bytes, at a place near the indices. */
	void write_entry(host::ring_memory &ring)
	{
		constexpr uint32_t unit = 4;
		uint32_t units = ring.ring.stride / unit;
		uint32_t index = ring.ring.header->producer - in_.below(ring.ring.slots);
		uint32_t at = in_.below(2) ? in_.below(units) : in_.below(8);
		uint32_t words = std::min(1 + in_.below(4), units - at);

		for (uint32_t i = 0; i < words; i++) {
			uint32_t word = in_.once_in(2) ? in_.take<uint32_t>() : in_.below(33);

			memcpy(ring.entry(index) + (at + i) * unit, &word, sizeof(word));
		}
	}

	void move(__u32 &index)
	{
		switch (in_.below(8)) {
		case 5:
			index = in_.take<uint32_t>();
			break;
		case 6:
			index -= in_.take<uint8_t>();
			break;
		case 7:
			index ^= 1u << in_.below(32);
			break;
		default:
			index += 1 + in_.below(24);
		}
	}

	void change_state()
	{
		uint8_t to = in_.below(16);

		if (to <= SIRO_QPS_ERR && v_.may_become(to) && to != SIRO_QPS_RESET) {
			v_.modify(to);
			return;
		}
		v_.modify(SIRO_QPS_RESET);
		v_.choose_attributes(in_);
		v_.to_rts();
	}

	input &in_;
	victim &v_;
	peer peer_;
	user user_;
	uint32_t plans_ = 0; /* writes to come during calls */
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	constexpr uint32_t most_steps = 128;
	input in(data, size);
	victim::options o = victim::options::choose(in);

	o.user = true;
	o.honest = false;
	o.slots = 8;
	o.max_sge = 8; /* room for a signature */

	victim v(o);
	attack a(in, v);

	for (uint32_t i = 0; !in.empty() && i < most_steps; i++)
		a.step();
	v.finish();
	return 0;
}
