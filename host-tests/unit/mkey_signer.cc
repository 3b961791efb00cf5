// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "mkey_signer.h"

#include <cstring>

using namespace host;

namespace {

region &add_mkey(lone_qp &q)
{
	region::options o;

	o.mkey_entries = 8;
	o.mkey_signature = true;
	return q.dev.add_region(o);
}

template <typename T>
void append(bytes &to, const T &value)
{
	auto *from = reinterpret_cast<const uint8_t *>(&value);

	to.insert(to.end(), from, from + sizeof(value));
}

} // namespace

endpoint::options mkey_signer::wide(bool pipelining)
{
	auto o = lone_qp::rc_user();

	o.max_inline = 256;
	o.sig_pipelining = pipelining;
	return o;
}

mkey_signer::mkey_signer(const endpoint::options &o) : q(o), mkey(add_mkey(q)) {}

siro_mkey_sig mkey_signer::in_memory(uint16_t format)
{
	siro_mkey_sig sig = {};

	sig.check_mask = 0xff;
	sig.memory.format = format;
	sig.memory.interval = interval;
	return sig;
}

siro_mkey_sig mkey_signer::on_wire(uint16_t format)
{
	siro_mkey_sig sig = {};

	sig.check_mask = 0xff;
	sig.wire.format = format;
	sig.wire.interval = interval;
	return sig;
}

send_wr mkey_signer::configuration(const siro_mkey_sig *sig, const std::vector<siro_sge> &list,
				   uint32_t set)
{
	send_wr wr;

	wr.wqe.wr_id = 1;
	wr.wqe.opcode = SIRO_WR_MKEY_CONF;
	wr.wqe.flags = SIRO_SEND_SIGNALED;
	wr.wqe.rkey = mkey.key();
	wr.wqe.mkey.set = set;
	if (set & SIRO_MKEY_ACCESS)
		wr.wqe.mkey.access = SIRO_ACCESS_LOCAL_WRITE | SIRO_ACCESS_REMOTE_WRITE |
				     SIRO_ACCESS_REMOTE_READ;
	if (sig) {
		wr.wqe.mkey.set |= SIRO_MKEY_SIGNATURE;
		append(wr.inline_data, *sig);
	}
	if (!list.empty()) {
		wr.wqe.mkey.set |= SIRO_MKEY_LIST;
		wr.wqe.mkey.count = static_cast<uint32_t>(list.size());
	}
	for (auto &sge : list)
		append(wr.inline_data, sge);
	return wr;
}

int mkey_signer::execute(const send_wr &wr)
{
	q.post({wr});

	auto completions = q.send_completions();

	return completions.size() == 1 ? completions[0].status : 99;
}

bytes mkey_signer::sent()
{
	bytes out;

	q.post({make_send(2, {all()}, 0)});
	for (auto &p : q.take_sent()) {
		out.insert(out.end(), p.payload.begin(), p.payload.end());
		q.hand(acknowledge(p.psn));
	}
	return out;
}

bool mkey_signer::has_error()
{
	siro_sig_error error = {};

	return siro_signature_check(&mkey.signature, mkey.key(), &error);
}
