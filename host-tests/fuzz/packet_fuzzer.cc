// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Packets of a hostile peer, into both halves of a queue pair with work. */
#include "peer.h"
#include "user.h"

namespace {

class attack {
public:
	attack(input &in, victim &v) : in_(in), v_(v), peer_(in, v), user_(in, v)
	{
		v_.choose_attributes(in);
		v_.to_rts();
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
			peer_.send_requests();
			break;
		case 3:
		case 4:
			peer_.send_message();
			break;
		case 5:
		case 6:
		case 7:
			peer_.send_responses();
			break;
		case 8:
			peer_.repeat_request();
			break;
		case 9:
			peer_.send_noise();
			break;
		case 10:
			user_.post_receives();
			break;
		case 11:
			user_.post_sends();
			break;
		case 12:
			pass_time();
			break;
		case 13:
			v_.register_fast(*v_.regions[5]);
			break;
		case 14:
			change_glue();
			break;
		default:
			change_state();
		}
		v_.run_who_asked();
		v_.poll_all();
	}

private:
	void pass_time()
	{
		v_.dev.now += in_.below(2) ? in_.below(256) * host::millisecond
					   : in_.below(256) * 10 * host::microsecond;
		v_.timeout();
	}

	/* How much the glue lets pass. */
	void change_glue()
	{
		v_.qp.budget = 128 - in_.below(128);
		v_.qp.refuse_bursts = in_.below(4);
		v_.qp.max_burst_bytes = in_.once_in(2) ? 1 : SIRO_MAX_BURST_BYTES;
		v_.qp.armed = in_.below(2);
		v_.qp.srq_limit = in_.below(8);
	}

	void change_state()
	{
		uint8_t to = in_.below(16);

		switch (to) {
		case SIRO_QPS_RESET:
			v_.modify(SIRO_QPS_RESET);
			v_.choose_attributes(in_);
			v_.to_rts();
			break;
		case SIRO_QPS_INIT:
		case SIRO_QPS_RTR:
			v_.modify(SIRO_QPS_RESET);
			v_.modify(SIRO_QPS_INIT);
			v_.modify(to);
			break;
		default:
			v_.modify(to % 8 < SIRO_QPS_ERR + 1 ? to % 8 : SIRO_QPS_RTS);
		}
	}

	input &in_;
	victim &v_;
	peer peer_;
	user user_;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	constexpr uint32_t most_steps = 64;
	input in(data, size);
	victim v(victim::options::choose(in));
	attack a(in, v);

	for (uint32_t i = 0; !in.empty() && i < most_steps; i++)
		a.step();
	v.finish();
	return 0;
}
