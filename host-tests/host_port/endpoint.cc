// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "endpoint.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace host {

namespace {

constexpr int eagain = -11, einval = -22, enomem = -12;
constexpr uint8_t garbage = 0xa5; /* what fresh memory holds */

failure_handler handler;

} // namespace

void set_failure_handler(failure_handler h)
{
	handler = h;
}

void fail(const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (handler)
		return handler(text);
	fprintf(stderr, "boundary: %s\n", text);
	abort();
}

/* ---- regions ---- */

void region::page_free::operator()(uint8_t *p) const
{
	free(p);
}

region::region(uint32_t key, const options &o)
	: mr{}, fast(o.fast), indirect(o.indirect), mkey(o.mkey_entries),
	  remote_invalidate(o.remote_invalidate), length_(o.length), first_offset_(o.first_offset),
	  page_shift_(o.page_shift)
{
	uint64_t page = uint64_t{1} << o.page_shift;
	uint64_t count = o.dma ? 1 : (o.first_offset + o.length + page - 1) >> o.page_shift;
	uint64_t size = o.dma ? std::max<uint64_t>((o.length + 63) & ~uint64_t{63}, 64) : page;

	for (uint64_t i = 0; i < count; i++) {
		uint64_t alignment = o.dma ? 64 : std::min<uint64_t>(page, 4096);
		auto *p = static_cast<uint8_t *>(aligned_alloc(alignment, size));

		memset(p, garbage, size);
		pages_.emplace_back(p);
		addresses_.push_back(reinterpret_cast<uintptr_t>(p));
	}
	mr.pd = o.pd;
	mr.key = key;
	if (o.fast || indirect || mkey) {
		mr.layout = o.fast ? SIRO_MR_PAGES : SIRO_MR_INDIRECT;
		mr.state = SIRO_MR_FREE;
		staging.resize(o.mkey_entries);
		staged.extents = staging.data();
		staged.capacity = o.mkey_entries;
		if (o.mkey_signature)
			mr.signature = &signature;
		return;
	}
	mr.iova = o.dma ? addresses_[0] : o.iova;
	mr.length = o.length;
	mr.pages = o.dma ? nullptr : addresses_.data();
	mr.page_count = o.dma ? 0 : count;
	mr.first_offset = o.first_offset;
	mr.page_shift = o.page_shift;
	mr.access = o.access;
	mr.layout = o.dma ? SIRO_MR_DMA : SIRO_MR_PAGES;
	mr.state = SIRO_MR_VALID;
}

uint8_t &region::at(uint64_t offset)
{
	uint64_t o = offset + first_offset_;

	if (offset >= length_)
		abort();
	if (mr.layout == SIRO_MR_DMA)
		return pages_[0].get()[offset];
	return pages_[o >> page_shift_].get()[o & ((uint64_t{1} << page_shift_) - 1)];
}

bytes region::read(uint64_t offset, uint64_t length)
{
	bytes out(length);

	for (uint64_t i = 0; i < length; i++)
		out[i] = at(offset + i);
	return out;
}

void region::write(uint64_t offset, const bytes &data)
{
	for (uint64_t i = 0; i < data.size(); i++)
		at(offset + i) = data[i];
}

void region::fill(uint8_t value)
{
	for (uint64_t i = 0; i < length_; i++)
		at(i) = value;
}

void region::invalidate()
{
	if (mkey)
		siro_mkey_clear(&mr);
	__atomic_store_n(&mr.state, SIRO_MR_FREE, __ATOMIC_SEQ_CST);
}

/* What was staged is in use, and what was in use may be filled. */
void region::exchange_lists()
{
	live.swap(staging);
	staging.resize(live.size());
	staged.extents = staging.data();
	staged.capacity = static_cast<uint32_t>(staging.size());
}

void region::go_live(uint64_t iova, uint64_t length, uint32_t access)
{
	mr.iova = iova;
	mr.length = length;
	mr.access = access;
	mr.extents = staged;
	exchange_lists();
	mr.extents.extents = live.data();
	__atomic_store_n(&mr.state, SIRO_MR_VALID, __ATOMIC_SEQ_CST);
}

int region::configure(const siro_mkey_conf &conf, const siro_mkey_sig *sig)
{
	siro_mr next = mr;
	siro_signature trial = signature;

	if (next.signature)
		next.signature = &trial;
	if (siro_mkey_change(&next, &staged, &conf, sig))
		return einval;
	if (siro_mkey_change(&mr, &staged, &conf, sig))
		fail("an mkey's configuration fails that was good on a copy");
	if (conf.set & (SIRO_MKEY_LIST | SIRO_MKEY_INTERLEAVED))
		exchange_lists();
	__atomic_store_n(&mr.state, mr.length ? SIRO_MR_VALID : SIRO_MR_FREE, __ATOMIC_SEQ_CST);
	return 0;
}

int indirect_list::alive;

indirect_list::indirect_list(const std::vector<siro_sge> &sges) : storage(sges.size())
{
	alive++;
	extents.extents = storage.data();
	extents.capacity = static_cast<uint32_t>(storage.size());
	siro_extents_reset(&extents, 0);
	for (const siro_sge &sge : sges)
		if (siro_extents_add(&extents, sge.addr, sge.length, 0, sge.lkey))
			fail("a list that does not fit");
	siro_extents_finish(&extents, 1);
}

/* ---- device ---- */

device::device() = default;

region &device::add_region(const region::options &options)
{
	uint32_t index = next_index_++;
	uint32_t key = index << 8 | (index * 37 & 0xff);
	auto [at, inserted] = regions_.emplace(index, std::make_unique<region>(key, options));

	return *at->second;
}

void device::remove_region(region &r)
{
	regions_.erase(r.key() >> 8);
}

region *device::find(uint32_t key)
{
	auto at = regions_.find(key >> 8);

	return at == regions_.end() ? nullptr : at->second.get();
}

uint32_t device::add_flow(const siro_flow &flow, uint32_t pd)
{
	handles_[next_handle_] = {flow, pd};
	return next_handle_++;
}

/* ---- rings ---- */

ring_memory::ring_memory(uint32_t slots, uint32_t stride, uint32_t limit)
	: header_(new siro_ring_header{}), entries_(new uint64_t[size_t{slots} * stride / 8])
{
	memset(entries_.get(), garbage, size_t{slots} * stride);
	ring.header = header_.get();
	ring.entries = reinterpret_cast<uint8_t *>(entries_.get());
	ring.slots = slots;
	ring.stride = stride;
	ring.limit = limit;
}

/* ---- endpoint ---- */

struct endpoint::call {
	bool requester;
	siro_context ctx;
	std::map<siro_mr *, uint32_t> pins;
	siro_tx_burst open = {};
	std::unique_ptr<uint8_t[]> buffer;
	bool burst_open = false;
	bool refused = false;
	uint32_t packets = 0;
	bool send_notify = false;
};

namespace {

uint32_t send_stride(const endpoint::options &o)
{
	uint32_t tail = std::max<uint32_t>(o.max_send_sge * sizeof(siro_sge), o.max_inline);

	return (static_cast<uint32_t>(sizeof(siro_send_wqe)) + tail + 15) & ~15u;
}

} // namespace

endpoint::endpoint(device &d, const options &o)
	: dev(d), opt(o), sq(o.sq_slots, send_stride(o), o.sq_limit ? o.sq_limit : o.sq_slots),
	  rq(o.rq_slots, sizeof(siro_recv_wqe) + o.max_recv_sge * sizeof(siro_sge), o.rq_slots),
	  send_cq(o.cq_slots, sizeof(siro_cqe), o.cq_slots),
	  recv_cq(o.cq_slots, sizeof(siro_cqe), o.cq_slots), requester_flow(o.flow),
	  responder_flow(o.flow)
{
	size_t shadow = size_t{o.sq_slots} * (sq.ring.stride + SIRO_SQ_EXTRA);

	memset(&requester, garbage, sizeof(requester));
	memset(&responder, garbage, sizeof(responder));
	shadow_.reset(new uint64_t[shadow / 8]());

	for (auto &slots : held_)
		if (o.hold)
			slots.reset(new uint64_t[SIRO_RX_WINDOW]());

	for (uint16_t i = 0; i < SIRO_MAX_PATHS; i++)
		for (auto &paths : more_paths) {
			paths[i] = o.flow;
			paths[i].source_port = static_cast<uint16_t>(0xc000 + i);
		}

	siro_requester_config rc = {};

	if (o.hold)
		stamps_.reset(new uint32_t[SIRO_RX_WINDOW]());
	rc.held = held_[0].get();
	rc.stamps = stamps_.get();
	rc.ring = sq.ring;
	rc.shadow = shadow_.get();
	rc.flow = &requester_flow;
	rc.qpn = o.qpn;
	rc.pd = o.pd;
	rc.cookie = o.cookie;
	rc.type = o.type;
	rc.max_sge = o.max_send_sge;
	rc.max_inline = o.max_inline;
	rc.signal_all = o.signal_all;
	rc.sig_pipelining = o.sig_pipelining;
	rc.user = o.user;
	if (!o.user)
		rc.ring.entries = nullptr;
	siro_requester_init(&requester, &rc);

	siro_responder_config sc = {};

	sc.held = held_[1].get();
	sc.flow = &responder_flow;
	sc.qpn = o.qpn;
	sc.pd = o.pd;
	sc.cookie = o.cookie;
	sc.type = o.type;
	sc.srq = o.srq;
	siro_responder_init(&responder, &sc);

	req_attr.mtu = res_attr.mtu = 1024;
	req_attr.max_rd_atomic = 4;
	req_attr.timeout = 8; /* about a millisecond */
	req_attr.retry_count = 7;
	req_attr.rnr_retry = 7;
	res_attr.access =
		SIRO_ACCESS_REMOTE_WRITE | SIRO_ACCESS_REMOTE_READ | SIRO_ACCESS_REMOTE_ATOMIC;
	res_attr.min_rnr_timer = 1;
	set_resources(4);
}

endpoint::~endpoint()
{
	siro_requester_discard(&requester, this);
	siro_responder_discard(&responder, this);
	if (holding)
		fail("%d packets are still held", holding);
}

void endpoint::set_resources(uint32_t count)
{
	resources_.emplace_back(new uint64_t[count * SIRO_RESOURCE_BYTES / 8 + 1]());
	res_attr.resources = resources_.back().get();
	res_attr.max_dest_rd_atomic = count;
}

template <typename Function>
call_result endpoint::enter(bool is_requester, Function &&function)
{
	const char *half = is_requester ? "requester" : "responder";
	call c;

	if (call_)
		fail("call into the %s from a port function", half);
	c.requester = is_requester;
	c.ctx = {};
	c.ctx.now = dev.now;
	c.ctx.counters = reinterpret_cast<__u64 *>(dev.counters);
	c.ctx.port = this;
	c.ctx.budget = budget;
	call_ = &c;
	function(&c.ctx);
	call_ = nullptr;

	for (auto &[mr, pins] : c.pins)
		if (pins)
			fail("%s left %u pins of key %#x", half, pins, mr->key);
	if (c.burst_open)
		fail("%s left a burst open", half);
	if (c.packets > budget)
		fail("%s sent %u packets of a budget of %u", half, c.packets, budget);
	if (c.packets + c.ctx.budget > budget)
		fail("%s sent %u packets, budget %u to %u", half, c.packets, budget, c.ctx.budget);
	if (c.refused != !!(c.ctx.outcome & SIRO_OUT_BLOCKED))
		fail("%s: transmit %s refused, outcome %#x", half, c.refused ? "was" : "was not",
		     c.ctx.outcome);
	if (c.send_notify != !!(c.ctx.outcome & SIRO_OUT_NOTIFY_CQ))
		fail("%s lost or made up a notification", half);

	call_result r = {c.ctx.outcome, c.ctx.events, c.ctx.deadline, c.ctx.budget};

	sticky_outcome[is_requester ? 0 : 1] |= r.outcome;
	sticky_events |= r.events;
	if (is_requester) {
		last_requester = r;
		deadline = r.deadline;
	} else {
		last_responder = r;
	}
	return r;
}

call_result endpoint::modify_requester(uint32_t state)
{
	return enter(true, [&](siro_context *ctx) {
		siro_requester_modify(&requester, ctx, state, &req_attr);
	});
}

call_result endpoint::modify_responder(uint32_t state)
{
	return enter(false, [&](siro_context *ctx) {
		siro_responder_modify(&responder, ctx, state, &res_attr);
	});
}

void endpoint::modify(uint32_t state)
{
	modify_requester(state);
	modify_responder(state);
}

void endpoint::to_rts()
{
	modify(SIRO_QPS_INIT);
	modify(SIRO_QPS_RTR);
	modify(SIRO_QPS_RTS);
}

call_result endpoint::run_requester()
{
	return enter(true, [&](siro_context *ctx) { siro_requester_run(&requester, ctx); });
}

call_result endpoint::run_responder()
{
	return enter(false, [&](siro_context *ctx) { siro_responder_run(&responder, ctx); });
}

call_result endpoint::timeout()
{
	return enter(true, [&](siro_context *ctx) { siro_requester_timeout(&requester, ctx); });
}

call_result endpoint::call_as(bool is_requester,
			      const std::function<void(siro_context *)> &function)
{
	return enter(is_requester, function);
}

call_result endpoint::receive_batch(bool to_requester, std::vector<siro_packet> &batch,
				    const super_packet &packets)
{
	size_t length = 0;

	for (auto &p : packets.packets)
		length += p.size();

	bytes ip = ip_header(packets.flow, packets.first_id, length);
	bytes udp = udp_header(packets.flow, length);
	siro_batch b = {};

	b.packets = batch.data();
	b.count = static_cast<uint32_t>(batch.size());
	b.family = packets.flow.family;
	b.ip_header = ip.data();
	b.udp_header = udp.data();
	return enter(to_requester, [&](siro_context *ctx) {
		if (to_requester)
			siro_requester_receive(&requester, ctx, &b);
		else
			siro_responder_receive(&responder, ctx, &b);
	});
}

void endpoint::receive(const super_packet &in)
{
	/* Exact copies, so that a sanitizer sees a read past an end. */
	std::vector<std::unique_ptr<uint8_t[]>> memory;
	std::vector<std::vector<siro_frag>> frags(in.packets.size());
	std::vector<siro_packet> batch;
	bool requester_half = false;
	bytes ip = ip_header(in.flow, in.first_id, in.packets[0].size());
	bytes udp = udp_header(in.flow, in.packets[0].size());
	auto flush = [&] {
		if (!batch.empty())
			receive_batch(requester_half, batch, in);
		batch.clear();
	};

	for (size_t i = 0; i < in.packets.size(); i++) {
		const bytes &ib = in.packets[i];
		siro_packet p = {};

		for (size_t at = 0; at < ib.size() || frags[i].empty();) {
			uint32_t left = static_cast<uint32_t>(ib.size() - at);
			uint32_t want = frag_bytes ? frag_bytes(left) : 0;
			uint32_t n = want ? std::min(want, left) : left;

			memory.emplace_back(new uint8_t[n]);
			if (n)
				memcpy(memory.back().get(), ib.data() + at, n);
			frags[i].push_back({memory.back().get(), n, 0});
			at += n;
		}
		memset(&p, garbage, sizeof(p));
		p.frags = frags[i].data();
		p.offset = 0;
		p.length = static_cast<uint32_t>(ib.size());
		p.ip_id = static_cast<uint16_t>(in.first_id + i);
		p.ecn = in.flow.tos & 3;

		int bad = siro_packet_parse(&p, in.flow.family, ip.data(), udp.data());

		if (bad >= 0) {
			dev.counters[bad]++;
			continue;
		}
		if (p.qpn != opt.qpn) {
			dev.counters[SIRO_CNT_UNKNOWN_QP]++;
			continue;
		}
		if (!batch.empty() && requester_half != (p.response == 1))
			flush();
		requester_half = p.response == 1;
		batch.push_back(p);
	}
	flush();
}

void endpoint::settle()
{
	for (int i = 0; i < 10000; i++) {
		bool again = false;

		if (last_requester.has(SIRO_OUT_MORE | SIRO_OUT_BLOCKED)) {
			run_requester();
			again = true;
		}
		if (last_responder.has(SIRO_OUT_MORE | SIRO_OUT_BLOCKED)) {
			run_responder();
			again = true;
		}
		if (!again)
			return;
	}
	fail("a half asks for more without end");
}

bool endpoint::post_send(const send_wr &wr)
{
	uint32_t producer = sq.ring.header->producer;

	if (producer - sq.ring.header->consumer >= sq.ring.limit)
		return false;

	uint8_t *to = sq.entry(producer);
	size_t room = sq.ring.stride - sizeof(siro_send_wqe);

	memset(to, garbage, sq.ring.stride);
	memcpy(to, &wr.wqe, sizeof(wr.wqe));
	if (!wr.inline_data.empty())
		memcpy(to + sizeof(wr.wqe), wr.inline_data.data(),
		       std::min(room, wr.inline_data.size()));
	else if (!wr.sges.empty())
		memcpy(to + sizeof(wr.wqe), wr.sges.data(),
		       std::min(room, wr.sges.size() * sizeof(siro_sge)));
	__atomic_store_n(&sq.ring.header->producer, producer + 1, __ATOMIC_RELEASE);
	return true;
}

int endpoint::post_send_kernel(const send_wr &wr)
{
	siro_send_wqe *to = siro_requester_reserve(&requester);
	auto *tail = reinterpret_cast<uint8_t *>(to + 1);
	size_t room = sq.ring.stride - sizeof(siro_send_wqe);

	if (!to)
		return enomem;
	for (size_t i = 0; i < sizeof(*to); i++)
		if (reinterpret_cast<uint8_t *>(to)[i])
			fail("a reserved WQE is not zeroed");
	memset(tail, garbage, room);
	*to = wr.wqe;
	if (!wr.inline_data.empty())
		memcpy(tail, wr.inline_data.data(), std::min(room, wr.inline_data.size()));
	else if (!wr.sges.empty())
		memcpy(tail, wr.sges.data(), std::min(room, wr.sges.size() * sizeof(siro_sge)));
	return siro_requester_commit(&requester);
}

bool endpoint::post_recv(uint64_t wr_id, const std::vector<siro_sge> &sges)
{
	siro_recv_wqe wqe = {};

	wqe.wr_id = wr_id;
	siro_sge none = {};

	wqe.num_sge = static_cast<uint32_t>(sges.size());
	return siro_recv_ring_put(&rq.ring, &wqe, sges.empty() ? &none : sges.data()) == 0;
}

namespace {

bool poll(ring_memory &cq, siro_cqe &cqe)
{
	siro_ring_header *h = cq.ring.header;

	if (__atomic_load_n(&h->producer, __ATOMIC_ACQUIRE) == h->consumer)
		return false;
	memcpy(&cqe, cq.entry(h->consumer), sizeof(cqe));
	__atomic_store_n(&h->consumer, h->consumer + 1, __ATOMIC_RELEASE);
	return true;
}

} // namespace

bool endpoint::poll_send(siro_cqe &cqe)
{
	return poll(send_cq, cqe);
}

bool endpoint::poll_recv(siro_cqe &cqe)
{
	return poll(recv_cq, cqe);
}

std::vector<packet> endpoint::take_sent()
{
	std::vector<packet> out;

	for (auto &burst : sent)
		for (auto &ib : burst.packets) {
			packet p;

			if (!decode(ib, p))
				fail("sent an undecodable packet");
			out.push_back(p);
		}
	sent.clear();
	return out;
}

bool endpoint::is_path(const siro_flow *flow, bool from_responder) const
{
	uint32_t paths = from_responder ? res_attr.paths : req_attr.paths;

	for (uint32_t i = 1; i < paths; i++)
		if (flow == &more_paths[from_responder][i])
			return true;
	return flow == (from_responder ? &responder_flow : &requester_flow);
}

void endpoint::check_burst(const siro_tx_burst &b, const siro_flow &flow, bool from_responder)
{
	super_packet out;
	uint32_t at = 0;

	if (b.length > b.capacity || b.length > SIRO_MAX_BURST_BYTES)
		return fail("burst of %u bytes in %u", b.length, b.capacity);
	if (b.packets > SIRO_MAX_BURST_PACKETS)
		return fail("burst of %u packets", b.packets);
	if (uint64_t{b.packets - 1} * b.stride >= b.length ||
	    b.length > uint64_t{b.packets} * b.stride)
		return fail("burst: %u packets, stride %u, length %u", b.packets, b.stride,
			    b.length);

	out.flow = flow;
	out.first_id = b.first_id;
	out.from_responder = from_responder;
	for (uint32_t i = 0; i < b.packets; i++) {
		uint32_t n = std::min(b.stride, b.length - at);
		bytes ib(b.data + at, b.data + at + n);
		packet p;

		at += n;
		if (!decode(ib, p))
			return fail("sent a malformed packet of opcode %#x, %u bytes", ib[0], n);
		if (encode_without_icrc(p) != bytes(ib.begin(), ib.end() - 4))
			return fail("%s: reserved bits or pad are not zero", opcode_name(p.opcode));
		if (!icrc_matches(ib, flow, static_cast<uint16_t>(b.first_id + i)))
			return fail("%s: wrong ICRC", opcode_name(p.opcode));
		out.packets.push_back(std::move(ib));
	}
	sent.push_back(std::move(out));
}

send_wr make_send(uint64_t wr_id, const std::vector<siro_sge> &sges, uint8_t flags)
{
	send_wr wr;

	wr.wqe.wr_id = wr_id;
	wr.wqe.opcode = SIRO_WR_SEND;
	wr.wqe.flags = flags;
	wr.wqe.num_sge = static_cast<uint16_t>(sges.size());
	wr.sges = sges;
	return wr;
}

send_wr make_rdma(uint8_t opcode, uint64_t wr_id, const std::vector<siro_sge> &sges, uint64_t raddr,
		  uint32_t rkey, uint8_t flags)
{
	send_wr wr = make_send(wr_id, sges, flags);

	wr.wqe.opcode = opcode;
	wr.wqe.rdma.remote_addr = raddr;
	wr.wqe.rkey = rkey;
	return wr;
}

send_wr make_atomic(uint8_t opcode, uint64_t wr_id, const siro_sge &sge, uint64_t raddr,
		    uint32_t rkey, uint64_t compare_add, uint64_t swap)
{
	send_wr wr = make_send(wr_id, {sge});

	wr.wqe.opcode = opcode;
	wr.wqe.atomic.remote_addr = raddr;
	wr.wqe.atomic.compare_add = compare_add;
	wr.wqe.atomic.swap = swap;
	wr.wqe.rkey = rkey;
	return wr;
}

/* ---- port functions ---- */

struct port {
	static endpoint &self(void *p)
	{
		auto &e = *static_cast<endpoint *>(p);

		if (!e.call_)
			fail("port function without a call");
		return e;
	}

	static siro_mr *mr_get(endpoint &e, uint32_t key)
	{
		region *r = e.dev.find(key);

		if (!r || r->mr.key != key || r->mr.state != SIRO_MR_VALID)
			return nullptr;
		r->mr.users++;
		e.call_->pins[&r->mr]++;
		return &r->mr;
	}

	static void mr_put(endpoint &e, siro_mr *mr)
	{
		if (!e.call_->pins[mr])
			return fail("put of a region that is not held");
		e.call_->pins[mr]--;
		mr->users--;
	}

	/* A copy in one piece, and nothing beyond it: a sanitizer sees a wrong step. */
	struct held_packet {
		siro_packet packet;
		siro_frag frag;
		bytes data;
	};

	static siro_packet *hold(endpoint &e, const siro_packet *packet)
	{
		if (e.refuse && e.refuse())
			return nullptr;

		auto *h = new held_packet{*packet, {}, {}};
		uint32_t offset = packet->offset, left = packet->length;

		for (const siro_frag *f = packet->frags; left; f++, offset = 0) {
			uint32_t n = std::min(f->length - offset, left);

			h->data.insert(h->data.end(), f->data + offset, f->data + offset + n);
			left -= n;
		}
		h->frag = {h->data.data(), packet->length, 0};
		h->packet.frags = &h->frag;
		h->packet.offset = 0;
		e.holding++;
		return &h->packet;
	}

	static void release(endpoint &e, siro_packet *packet)
	{
		e.holding--;
		delete reinterpret_cast<held_packet *>(packet);
	}

	static void signature_lock(endpoint &e, siro_signature *signature)
	{
		if (e.dev.locked_)
			fail("two signature regions are locked");
		e.dev.locked_ = signature;
	}

	static void signature_unlock(endpoint &e, siro_signature *signature)
	{
		if (e.dev.locked_ != signature)
			fail("unlock of a signature region that is not locked");
		e.dev.locked_ = nullptr;
	}

	/* By one: a sanitizer sees a block too many. */
	static int signature_grow(endpoint &e, siro_signature *signature)
	{
		auto &spill = e.dev.spills_[signature];

		if (e.dev.locked_ != signature)
			fail("a signature region grows without its lock");
		if (e.refuse && e.refuse())
			return enomem;

		std::vector<siro_sig_block> larger(spill);

		larger.resize(spill.size() + 1);
		spill = std::move(larger);
		signature->blocks.spill = spill.data();
		signature->blocks.spill_count = static_cast<uint32_t>(spill.size());
		return 0;
	}

	static void signature_error(endpoint &e, const siro_sig_error *error, bool latched)
	{
		e.dev.signature_errors.emplace_back(*error, latched);
	}

	static void need_no_pins(endpoint &e, const char *what)
	{
		for (auto &[mr, pins] : e.call_->pins)
			if (pins)
				fail("%s while key %#x is held", what, mr->key);
	}

	static int mr_register(endpoint &e, const siro_send_wqe *wqe)
	{
		auto *mr = reinterpret_cast<siro_mr *>(static_cast<uintptr_t>(wqe->reg.mr));
		region *r = e.dev.find(mr->key);

		need_no_pins(e, "REG_MR");
		if (!e.call_->requester || e.opt.user)
			fail("REG_MR of a user or by a responder");
		if (!r || !r->fast || r->mr.pd != e.opt.pd || r->mr.state != SIRO_MR_FREE ||
		    wqe->reg.key >> 8 != r->mr.key >> 8)
			return einval;
		mr->iova = wqe->reg.iova;
		mr->length = wqe->reg.length;
		mr->key = wqe->reg.key;
		mr->access = wqe->reg.access;
		mr->pages = r->addresses_.data();
		mr->page_count = r->addresses_.size();
		mr->page_shift = r->page_shift_;
		mr->first_offset = r->first_offset_;
		mr->state = SIRO_MR_VALID;
		return 0;
	}

	static void abandon_list(uint64_t list)
	{
		delete reinterpret_cast<indirect_list *>(static_cast<uintptr_t>(list));
		indirect_list::alive--;
	}

	static int mr_register_list(endpoint &e, const siro_send_wqe *wqe)
	{
		auto *list = reinterpret_cast<indirect_list *>(static_cast<uintptr_t>(wqe->reg.mr));
		region *r = e.dev.find(wqe->reg.key);

		need_no_pins(e, "REG_INDIR_MR");
		if (!e.call_->requester || e.opt.user)
			fail("REG_INDIR_MR of a user or by a responder");

		bool good = r && r->indirect && r->mr.pd == e.opt.pd &&
			    r->mr.state == SIRO_MR_FREE &&
			    wqe->reg.length <= list->extents.row_length;

		if (good) {
			r->mr.key = wqe->reg.key;
			r->staging = list->storage;
			r->staged = list->extents;
			r->go_live(wqe->reg.iova, wqe->reg.length, wqe->reg.access);
		}
		abandon_list(wqe->reg.mr);
		return good ? 0 : einval;
	}

	static siro_mr *mkey_begin(endpoint &e, uint32_t key, uint32_t pd, siro_extents **staged)
	{
		region *r = e.dev.find(key);

		if (!e.call_->requester || !e.opt.user)
			fail("an mkey configured by the kernel or by a responder");
		if (!r || !r->mkey || r->mr.key != key || r->mr.pd != pd)
			return nullptr;
		siro_extents_reset(&r->staged, 0);
		*staged = &r->staged;
		return &r->mr;
	}

	static int mkey_end(endpoint &e, siro_mr *mr, const siro_mkey_conf *conf,
			    const siro_mkey_sig *sig)
	{
		if (!conf)
			return 0;
		need_no_pins(e, "configuration of an mkey");
		return e.dev.find(mr->key)->configure(*conf, sig);
	}

	static int mr_invalidate(endpoint &e, uint32_t key, uint32_t pd, bool remote)
	{
		region *r = e.dev.find(key);

		need_no_pins(e, "invalidation");
		if (!r || !(r->fast || r->indirect || r->mkey) || r->mr.key != key ||
		    r->mr.pd != pd || r->mr.state != SIRO_MR_VALID ||
		    (remote && !r->remote_invalidate))
			return einval;
		if (r->mr.users)
			fail("invalidation would wait for ever: key %#x has users", key);
		r->invalidate();
		return 0;
	}

	static int take_recv(endpoint &e, siro_context *ctx, siro_recv_wqe *wqe, siro_sge *sges)
	{
		if (e.call_->requester)
			fail("the requester takes a receive");

		int ret = siro_recv_ring_take(&e.rq.ring, wqe, sges);

		if (ret && e.srq_limit && siro_ring_pending(&e.rq.ring) < e.srq_limit) {
			e.srq_limit = 0;
			ctx->events |= SIRO_EVENT_SRQ_LIMIT;
		}
		return ret;
	}

	static void complete(endpoint &e, siro_context *ctx, const siro_cqe *cqe, ring_memory &cq)
	{
		if (&cq == &e.send_cq ? !e.call_->requester : e.call_->requester)
			fail("a half completes to the other's CQ");
		if (cqe->reserved || cqe->timestamp)
			fail("reserved fields of a CQE are not zero");
		if (cqe->cookie != e.opt.cookie || cqe->qp_num != e.opt.qpn)
			fail("CQE of the wrong QP");
		if (siro_cq_ring_push(&cq.ring, cqe)) {
			ctx->events |= SIRO_EVENT_CQ_ERR;
			return;
		}
		if (e.armed) {
			ctx->outcome |= SIRO_OUT_NOTIFY_CQ;
			e.call_->send_notify = true;
		}
	}

	static siro_flow *flow(endpoint &e, uint32_t ah)
	{
		auto at = e.dev.handles_.find(ah);

		if (at == e.dev.handles_.end() || at->second.pd != e.opt.pd)
			return nullptr;
		return &at->second.flow;
	}

	static int tx_begin(endpoint &e, siro_tx_burst *burst, uint32_t wish)
	{
		auto &c = *e.call_;

		if (c.burst_open)
			fail("two bursts at once");
		if (!wish || wish > SIRO_MAX_BURST_BYTES)
			fail("burst of %u bytes wanted", wish);
		if (e.refuse_bursts || (e.refuse && e.refuse())) {
			e.refuse_bursts -= e.refuse_bursts ? 1 : 0;
			c.refused = true;
			return eagain;
		}

		uint32_t least = std::min<uint32_t>(wish, 4160);
		uint32_t capacity = std::clamp(e.max_burst_bytes, least, wish);

		c.buffer.reset(new uint8_t[capacity]);
		memset(c.buffer.get(), garbage, capacity);
		*burst = {};
		burst->data = c.buffer.get();
		burst->capacity = capacity;
		burst->cookie = &c;
		c.open = *burst;
		c.burst_open = true;
		return 0;
	}

	static void tx_commit(endpoint &e, siro_tx_burst *burst, const siro_flow *flow,
			      bool responder)
	{
		auto &c = *e.call_;

		if (!c.burst_open || burst->cookie != &c || burst->data != c.buffer.get() ||
		    burst->capacity != c.open.capacity)
			return fail("commit of a burst that is not open");
		if (responder == c.requester)
			fail("the wrong half commits");
		if (e.opt.type == SIRO_QPT_RC && burst->packets && !e.is_path(flow, responder))
			fail("the wrong flow");
		c.burst_open = false;
		c.packets += burst->packets;
		if (burst->packets)
			e.check_burst(*burst, *flow, responder);
		c.buffer.reset();
	}
};

} // namespace host

using host::port;

extern "C" {

siro_mr *siro_port_mr_get(void *p, __u32 key)
{
	return port::mr_get(port::self(p), key);
}

void siro_port_mr_put(void *p, siro_mr *mr)
{
	port::mr_put(port::self(p), mr);
}

int siro_port_mr_register(void *p, const siro_send_wqe *wqe)
{
	return port::mr_register(port::self(p), wqe);
}

int siro_port_mr_register_list(void *p, const siro_send_wqe *wqe)
{
	return port::mr_register_list(port::self(p), wqe);
}

void siro_port_mr_abandon_list(void *, __u64 list)
{
	port::abandon_list(list);
}

siro_mr *siro_port_mkey_begin(void *p, __u32 key, __u32 pd, siro_extents **staged)
{
	return port::mkey_begin(port::self(p), key, pd, staged);
}

int siro_port_mkey_end(void *p, siro_mr *mkey, const siro_mkey_conf *conf, const siro_mkey_sig *sig)
{
	return port::mkey_end(port::self(p), mkey, conf, sig);
}

int siro_port_mr_invalidate(void *p, __u32 key, __u32 pd, __u32 remote)
{
	return port::mr_invalidate(port::self(p), key, pd, remote);
}

int siro_port_take_recv(void *p, siro_context *ctx, siro_recv_wqe *wqe, siro_sge *sges)
{
	return port::take_recv(port::self(p), ctx, wqe, sges);
}

__u32 siro_port_recv_count(void *p)
{
	auto &e = port::self(p);

	return e.opt.srq ? ~0u : siro_ring_pending(&e.rq.ring);
}

void siro_port_set_kick(void *p, __u32 on)
{
	auto &e = port::self(p);

	e.kick = on;
	e.rq.ring.header->flags = on ? SIRO_RING_KICK : 0;
}

void siro_port_complete_send(void *p, siro_context *ctx, const siro_cqe *cqe)
{
	auto &e = port::self(p);

	port::complete(e, ctx, cqe, e.send_cq);
}

void siro_port_complete_recv(void *p, siro_context *ctx, const siro_cqe *cqe)
{
	auto &e = port::self(p);

	port::complete(e, ctx, cqe, e.recv_cq);
}

siro_flow *siro_port_flow(void *p, __u32 ah)
{
	return port::flow(port::self(p), ah);
}

void siro_port_signature_lock(void *p, siro_signature *signature)
{
	port::signature_lock(port::self(p), signature);
}

void siro_port_signature_unlock(void *p, siro_signature *signature)
{
	port::signature_unlock(port::self(p), signature);
}

int siro_port_signature_grow(void *p, siro_signature *signature)
{
	return port::signature_grow(port::self(p), signature);
}

void siro_port_signature_error(void *p, siro_signature *, const siro_sig_error *error,
			       __u32 latched)
{
	port::signature_error(port::self(p), error, latched);
}

siro_sig_injection *siro_port_signature_injection(void *p)
{
	return port::self(p).dev.injection;
}

siro_flow *siro_port_path(void *p, __u32 responder, __u32 index)
{
	if (!index || index >= SIRO_MAX_PATHS)
		host::fail("path %u", index);
	return &port::self(p).more_paths[responder ? 1 : 0][index];
}

siro_packet *siro_port_hold(void *p, const siro_packet *packet)
{
	return port::hold(port::self(p), packet);
}

void siro_port_release(void *p, siro_packet *held)
{
	port::release(*static_cast<host::endpoint *>(p), held); /* also when a queue pair ends */
}

int siro_port_tx_begin(void *p, siro_tx_burst *burst, __u32 wish)
{
	return port::tx_begin(port::self(p), burst, wish);
}

void siro_port_tx_commit(void *p, siro_tx_burst *burst, const siro_flow *flow, __u32 responder)
{
	port::tx_commit(port::self(p), burst, flow, responder);
}

__u32 siro_port_crc32(__u32 crc, const void *data, __u64 length)
{
	return host::crc32_table(crc, static_cast<const uint8_t *>(data), length);
}

} // extern "C"
