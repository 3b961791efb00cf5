// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "workload.h"

#include <algorithm>
#include <cstring>

namespace sim {

namespace {

constexpr uint32_t source_bytes = 48 * 1024;
constexpr uint32_t target_bytes = 32 * 1024;
constexpr uint32_t window_bytes = 8 * 1024;
constexpr uint32_t fast_bytes = 8 * 1024;
constexpr uint32_t sink_bytes = 192 * 1024;
constexpr uint32_t receive_bytes = 192 * 1024;
constexpr uint32_t backing_bytes = 9 * 1024; /* below a window that is a list */
constexpr uint32_t signed_bytes = 12 * 1024;
constexpr uint32_t table_bytes = 8 * 1024;
constexpr uint32_t dead_bytes = 100; /* of each piece of a dead list */
constexpr uint32_t most_entries = 32; /* of any list */

host::bytes random_bytes(random &r, size_t n)
{
	host::bytes out(n);

	for (auto &b : out)
		b = static_cast<uint8_t>(r.next());
	return out;
}

host::region &random_region(host::device &dev, random &r, uint32_t length, uint32_t access,
			    bool dma = false)
{
	host::region::options o;

	o.length = length;
	o.access = access;
	o.page_shift = r.pick({12u, 12u, 16u});
	o.first_offset = 8 * r.below((1u << o.page_shift) / 8);
	o.iova = (uint64_t{r.between(1, 0x7fffffff)} << 16) + o.first_offset;
	o.dma = dma;

	host::region &region = dev.add_region(o);

	region.write(0, random_bytes(r, length));
	return region;
}

bool overlap(uint64_t a, uint64_t a_length, uint64_t b, uint64_t b_length)
{
	return a < b + b_length && b < a + a_length;
}

constexpr uint32_t remote_all =
	SIRO_ACCESS_REMOTE_WRITE | SIRO_ACCESS_REMOTE_READ | SIRO_ACCESS_REMOTE_ATOMIC;

/* What the peer may invalidate: a region or a list of pieces. */
view make_window(host::device &dev, random &r, bool user)
{
	constexpr uint32_t access = SIRO_ACCESS_LOCAL_WRITE | remote_all;

	if (r.chance(500)) {
		host::region &plain = random_region(dev, r, window_bytes, access);

		plain.fast = true;
		return plain;
	}

	host::region &backing = random_region(dev, r, backing_bytes, SIRO_ACCESS_LOCAL_WRITE);
	view list(list_key(dev, user, most_entries), scattered(backing, window_bytes, r));

	list.go_live(r, access);
	return list;
}

/* Blocks with fields, in pieces of a region. */
view make_blocks(host::device &dev, random &r, bool user, blocks &to)
{
	host::region &backing = random_region(dev, r, signed_bytes, SIRO_ACCESS_LOCAL_WRITE);
	host::region &key = list_key(dev, user, most_entries);

	to = blocks(key, r, signed_bytes);

	view list(key, scattered(backing, to.memory_length(), r));

	list.stage();
	to.go_live(r, SIRO_ACCESS_REMOTE_WRITE | SIRO_ACCESS_REMOTE_READ);
	return list;
}

/* 100 bytes of @alive, then as many of a region that is taken away. */
view dead_list(host::device &dev, random &r, host::region &alive, bool user)
{
	host::region &gone = random_region(dev, r, dead_bytes, SIRO_ACCESS_LOCAL_WRITE);
	view list(list_key(dev, user, most_entries),
		  {{&alive, 0, dead_bytes}, {&gone, 0, dead_bytes}});

	list.go_live(r, SIRO_ACCESS_LOCAL_WRITE | remote_all);
	dev.remove_region(gone);
	return list;
}

} // namespace

workload::workload(const config &c, int from, random &r, host::device &here, host::device &there)
	: c_(c), side_(c.sides[from]), peer_(c.sides[1 - from]), next_id_(r.next())
{
	bool dma = !side_.user && r.chance(500);

	source_ = &random_region(here, r, source_bytes, 0, dma);
	constant_ = &random_region(here, r, 4096, 0);
	sink = &random_region(here, r, sink_bytes, SIRO_ACCESS_LOCAL_WRITE);
	remote[target] =
		random_region(there, r, target_bytes, SIRO_ACCESS_LOCAL_WRITE | remote_all);
	remote[read_only] = random_region(there, r, 4096, SIRO_ACCESS_REMOTE_READ);
	remote[signed_blocks] = make_blocks(there, r, peer_.user, blocks_);
	for (int i = 0; i < windows; i++)
		remote[first_window + i] = make_window(there, r, peer_.user);
	receive_buffer = &random_region(there, r, receive_bytes, SIRO_ACCESS_LOCAL_WRITE);
	list_region_ = &list_key(here, side_.user, most_entries);
	table_ = &random_region(here, r, table_bytes, 0);
	sink_list_ = {list_key(here, side_.user, most_entries), in_pieces(*sink, r)};
	sink_list_.go_live(r, SIRO_ACCESS_LOCAL_WRITE);
	receive_list_ = {list_key(there, peer_.user, most_entries), in_pieces(*receive_buffer, r)};
	receive_list_.go_live(r, SIRO_ACCESS_LOCAL_WRITE);
	dead_[0] = dead_list(here, r, *source_, side_.user);
	dead_[1] = dead_list(there, r, random_region(there, r, 4096, SIRO_ACCESS_LOCAL_WRITE),
			     peer_.user);
	for (auto &f : fast_) {
		host::region::options o;

		o.length = fast_bytes;
		o.first_offset = 8 * r.below(512);
		o.fast = true;
		f = &here.add_region(o);
		f->write(0, random_bytes(r, fast_bytes));
	}
	for (int i = 0; i < places; i++)
		now_[i] = initial[i] = remote[i].read(0, remote[i].length());

	while (list.size() < side_.work) {
		size_t before = list.size();

		if (c.wrong == from && list.size() == c.wrong_at)
			add_mistake(r);
		else
			add(r);
		if (list.size() == before)
			make_send(r);
	}
	if (!list.empty()) {
		list.back().wr.wqe.flags |= SIRO_SEND_SIGNALED;
		list.back().signaled = true;
	}
	for (uint32_t i = 0; i < peer_.spare_receives; i++)
		add_receive(r.below(100), r);
}

void workload::add(random &r)
{
	switch (r.below(16)) {
	case 0:
	case 1:
	case 2:
	case 3:
		return make_send(r);
	case 4:
	case 5:
	case 6:
		return make_write(r);
	case 7:
		return r.chance(500) ? write_blocks(r) : make_write(r);
	case 8:
	case 9:
		return make_read(r);
	case 10:
		return r.chance(500) ? read_blocks(r) : make_read(r);
	case 11:
	case 12:
	case 13:
		return make_atomic(r);
	default:
		return make_local(r);
	}
}

work *workload::start(uint8_t opcode, random &r)
{
	work &w = list.emplace_back();

	w.wr.wqe.wr_id = next_id_++;
	w.wr.wqe.opcode = opcode;
	w.signaled = side_.signal_all || r.chance(600);
	if (w.signaled && (!side_.signal_all || r.chance(500)))
		w.wr.wqe.flags |= SIRO_SEND_SIGNALED;
	if (r.chance(100)) {
		w.wr.wqe.flags |= SIRO_SEND_FENCE;
		fenced();
	}
	return &w;
}

uint32_t workload::pick_length(random &r)
{
	switch (r.below(8)) {
	case 0:
		return 0;
	case 1:
	case 2:
		return r.between(1, 64);
	case 3:
	case 4:
		return c_.mtu * r.between(1, 4) + r.below(3) - 1;
	case 5:
		return r.between(1, c_.mtu);
	case 6:
		return r.between(1, 8 * c_.mtu);
	default:
		return r.between(1, std::min(32 * c_.mtu, source_bytes - 1));
	}
}

void workload::set_source(work &w, uint32_t length, random &r, host::bytes &payload)
{
	if (length <= side_.max_inline && r.chance(300)) {
		w.wr.wqe.flags |= SIRO_SEND_INLINE;
		w.wr.wqe.inline_length = length;
		w.wr.inline_data = payload = random_bytes(r, length);
		return;
	}
	if (!fetched_.empty() && r.chance(150)) {
		/* What an earlier READ brings: only right behind a fence. */
		auto &f = fetched_[r.below(fetched_.size())];

		if (length <= f.data.size()) {
			uint32_t at = r.below(f.data.size() - length + 1);

			w.wr.wqe.flags |= SIRO_SEND_FENCE;
			fenced();
			w.wr.sges = {sink_sge(f.offset + at, length, r)};
			w.wr.wqe.num_sge = 1;
			payload.assign(f.data.begin() + at, f.data.begin() + at + length);
			return;
		}
	}

	uint32_t count =
		length ? r.between(1, side_.max_send_sge) : r.below(side_.max_send_sge + 1);

	if (!count)
		return;
	for (uint32_t n : cut(r, length, count)) {
		if (list_valid_ && n <= list_.length() && r.chance(400)) {
			uint64_t at = r.below(list_.length() - n + 1);
			host::bytes data = list_.read(at, n);

			w.wr.sges.push_back({list_iova_ + at, n, list_key_});
			payload.insert(payload.end(), data.begin(), data.end());
			continue;
		}

		bool fast = fast_valid_ && n <= fast_bytes && r.chance(500);
		host::region *from = fast ? fast_[fast_next_] : source_;
		uint64_t at = r.below(from->length() - n + 1);
		host::bytes data = from->read(at, n);

		w.wr.sges.push_back(from->sge(at, n));
		if (fast) {
			w.wr.sges.back().addr = 0x123456000 + at;
			w.wr.sges.back().lkey = fast_key_;
		}
		payload.insert(payload.end(), data.begin(), data.end());
	}
	w.wr.wqe.num_sge = static_cast<uint16_t>(w.wr.sges.size());
}

void workload::add_receive(uint32_t length, random &r)
{
	receive v;
	uint64_t at = receive_next_;

	if (at + length > receive_bytes)
		length = 0;
	v.wr_id = next_id_++ ^ 0x5555;
	for (uint32_t n : cut(r, length, r.between(1, peer_.max_recv_sge))) {
		v.sges.push_back(r.chance(300) ? receive_list_.sge(at, n)
					       : receive_buffer->sge(at, n));
		at += n;
	}
	receive_next_ = at;
	if (v.sges.size() > 1 && r.chance(300))
		std::swap(v.sges.front(), v.sges.back());
	if (!length && r.chance(500))
		v.sges.clear();
	v.before = received(v.sges);
	receives.push_back(v);
}

void workload::take_receive(work &w, uint32_t length, const host::bytes &payload, uint8_t opcode)
{
	message m = {};

	w.receive = static_cast<int>(messages.size());
	m.payload = payload;
	m.byte_len = length;
	m.opcode = opcode;
	m.flags = w.wr.wqe.flags & SIRO_SEND_SOLICITED ? SIRO_WC_SOLICITED : 0;
	m.imm = w.wr.wqe.imm;
	messages.push_back(m);
}

void workload::make_send(random &r)
{
	uint32_t length = pick_length(r);
	host::bytes payload;

	if (receive_next_ + length + 200 > receive_bytes)
		length = r.below(4);

	uint8_t opcode =
		r.pick({SIRO_WR_SEND, SIRO_WR_SEND, SIRO_WR_SEND_WITH_IMM, SIRO_WR_SEND_WITH_INV});
	int window = static_cast<int>(r.below(windows));

	if (opcode == SIRO_WR_SEND_WITH_INV && window_dead_[window])
		opcode = SIRO_WR_SEND;

	work &w = *start(opcode, r);

	w.cqe_opcode = SIRO_WC_SEND;
	if (r.chance(200))
		w.wr.wqe.flags |= SIRO_SEND_SOLICITED;
	if (opcode != SIRO_WR_SEND)
		w.wr.wqe.imm = static_cast<uint32_t>(r.next());
	if (opcode == SIRO_WR_SEND_WITH_INV) {
		int place = first_window + window;

		w.wr.wqe.imm = w.remote_invalidate = remote[place].key();
		window_dead_[window] = true;
		if (touches(reading_, place, 0, window_bytes)) {
			w.wr.wqe.flags |= SIRO_SEND_FENCE;
			fenced();
		}
	}
	set_source(w, length, r, payload);
	take_receive(w, length, payload, SIRO_WC_RECV);
	if (opcode == SIRO_WR_SEND_WITH_IMM)
		messages.back().flags |= SIRO_WC_WITH_IMM;
	if (opcode == SIRO_WR_SEND_WITH_INV)
		messages.back().flags |= SIRO_WC_WITH_INVALIDATE;
	add_receive(length + r.below(100), r);
}

void workload::fenced()
{
	reading_.clear();
	writing_.clear();
}

bool workload::touches(const std::vector<range> &list, int place, uint64_t offset, uint64_t length)
{
	for (auto &g : list)
		if (g.place == place && overlap(g.offset, g.length, offset, length))
			return true;
	return false;
}

void workload::note_read(int place, uint64_t offset, uint64_t length)
{
	reading_.push_back({place, offset, length});
}

void workload::write_target(work &w, int place, uint64_t offset, const host::bytes &data)
{
	w.patches.push_back({place, offset, data});
	std::copy(data.begin(), data.end(), now_[place].begin() + static_cast<ptrdiff_t>(offset));
}

void workload::make_write(random &r)
{
	bool imm = r.chance(250);
	int window = static_cast<int>(r.below(windows));
	int place = r.chance(300) && !window_dead_[window] ? first_window + window : target;
	uint64_t size = remote[place].length();
	uint32_t length = static_cast<uint32_t>(std::min<uint64_t>(pick_length(r), size));
	uint64_t offset = r.chance(500) ? r.below(std::min<uint64_t>(size - length + 1, 64))
					: r.below(size - length + 1);
	host::bytes payload;
	work &w = *start(imm ? SIRO_WR_RDMA_WRITE_WITH_IMM : SIRO_WR_RDMA_WRITE, r);

	w.cqe_opcode = SIRO_WC_RDMA_WRITE;
	if (length && (touches(reading_, place, offset, length) ||
		       touches(writing_, place, offset, length))) {
		w.wr.wqe.flags |= SIRO_SEND_FENCE;
		fenced();
	}
	set_source(w, length, r, payload);
	w.wr.wqe.rdma.remote_addr = address(place, offset);
	w.wr.wqe.rkey = remote[place].key();
	if (!length && r.chance(500)) { /* H35: nobody looks at them */
		w.wr.wqe.rdma.remote_addr = r.next();
		w.wr.wqe.rkey = static_cast<uint32_t>(r.next());
	}
	write_target(w, place, offset, payload);
	if (side_.ooo)
		writing_.push_back({place, offset, length});
	if (imm) {
		if (r.chance(300))
			w.wr.wqe.flags |= SIRO_SEND_SOLICITED;
		w.wr.wqe.imm = static_cast<uint32_t>(r.next());
		take_receive(w, length, {}, SIRO_WC_RECV_RDMA_WITH_IMM);
		messages.back().flags |= SIRO_WC_WITH_IMM;
		add_receive(r.below(20), r);
	}
}

siro_sge workload::sink_sge(uint64_t offset, uint32_t length, random &r) const
{
	return r.chance(300) ? sink_list_.sge(offset, length) : sink->sge(offset, length);
}

void workload::set_sink(work &w, uint32_t length, random &r)
{
	uint32_t count = length ? r.between(1, side_.max_send_sge) : r.below(2);

	w.fetches = true;
	w.sink = sink;
	sink_next_ += r.below(16);
	if (!count)
		return;
	for (uint32_t n : cut(r, length, count)) {
		w.pieces.emplace_back(sink_next_, n);
		sink_next_ += n;
	}
	if (count > 1 && r.chance(300))
		std::swap(w.pieces.front(), w.pieces.back());
	for (auto [at, n] : w.pieces)
		w.wr.sges.push_back(sink_sge(at, n, r));
	w.wr.wqe.num_sge = static_cast<uint16_t>(w.wr.sges.size());
}

void workload::make_read(random &r)
{
	int window = static_cast<int>(r.below(windows));
	int place = r.chance(300)          ? static_cast<int>(read_only)
		    : window_dead_[window] ? static_cast<int>(target)
					   : first_window + window;

	if (r.chance(500))
		place = target;

	uint64_t size = remote[place].length();
	uint32_t length = static_cast<uint32_t>(std::min<uint64_t>(pick_length(r), size));
	uint64_t offset = r.chance(500) ? r.below(std::min<uint64_t>(size - length + 1, 64))
					: r.below(size - length + 1);

	if (sink_next_ + length + 32 > sink_bytes || !side_.max_rd_atomic)
		return;

	work &w = *start(SIRO_WR_RDMA_READ, r);
	auto from = now_[place].begin() + static_cast<ptrdiff_t>(offset);

	w.cqe_opcode = SIRO_WC_RDMA_READ;
	w.fetched.assign(from, from + length);
	w.wr.wqe.rdma.remote_addr = address(place, offset);
	w.wr.wqe.rkey = remote[place].key();
	if (!length && r.chance(500)) {
		w.wr.wqe.rdma.remote_addr = r.next();
		w.wr.wqe.rkey = static_cast<uint32_t>(r.next());
	}
	note_read(place, offset, length);
	if (fast_valid_ && length && length <= fast_bytes && r.chance(300)) {
		w.wr.wqe.opcode = SIRO_WR_RDMA_READ_WITH_INV;
		w.wr.wqe.imm = fast_key_;
		w.fetches = true;
		w.sink = fast_[fast_next_];
		w.pieces = {{0, length}};
		w.wr.sges = {{0x123456000, length, fast_key_}};
		w.wr.wqe.num_sge = 1;
		fast_valid_ = false;
		fast_next_++;
		return;
	}
	set_sink(w, length, r);
	if (w.pieces.size() == 1)
		fetched_.push_back({w.pieces[0].first, w.fetched});
}

/* All of them, right or not: fields of blocks that come in part would stay as they are. */
void workload::write_blocks(random &r)
{
	uint32_t length = blocks_.wire_length();
	host::bytes payload;
	work &w = *start(SIRO_WR_RDMA_WRITE, r);

	w.cqe_opcode = SIRO_WC_RDMA_WRITE;
	if (touches(reading_, signed_blocks, 0, length) ||
	    touches(writing_, signed_blocks, 0, length)) {
		w.wr.wqe.flags |= SIRO_SEND_FENCE;
		fenced();
	}
	set_source(w, length, r, payload);
	w.wr.wqe.rdma.remote_addr = address(signed_blocks, 0);
	w.wr.wqe.rkey = remote[signed_blocks].key();
	write_target(w, signed_blocks, 0, blocks_.memory(payload));
	if (side_.ooo)
		writing_.push_back({signed_blocks, 0, length});
}

void workload::read_blocks(random &r)
{
	host::bytes wire = blocks_.wire(now_[signed_blocks]);
	uint32_t length = r.chance(300) ? blocks_.wire_length()
					: std::min(pick_length(r), blocks_.wire_length());
	uint32_t offset = r.below(blocks_.wire_length() - length + 1);

	if (sink_next_ + length + 32 > sink_bytes || !side_.max_rd_atomic)
		return;

	work &w = *start(SIRO_WR_RDMA_READ, r);

	w.cqe_opcode = SIRO_WC_RDMA_READ;
	w.fetched.assign(wire.begin() + offset, wire.begin() + offset + length);
	w.wr.wqe.rdma.remote_addr = address(signed_blocks, offset);
	w.wr.wqe.rkey = remote[signed_blocks].key();
	note_read(signed_blocks, 0, blocks_.wire_length());
	set_sink(w, length, r);
}

void workload::make_atomic(random &r)
{
	uint64_t offset = 8 * (r.chance(500) ? r.below(4) : r.below(target_bytes / 8));
	bool swap = r.chance(500);
	uint64_t old, next;

	if (sink_next_ + 64 > sink_bytes)
		return;
	memcpy(&old, now_[target].data() + offset, 8);

	work &w = *start(swap ? SIRO_WR_ATOMIC_CMP_AND_SWP : SIRO_WR_ATOMIC_FETCH_AND_ADD, r);

	if (touches(reading_, target, offset, 8)) {
		w.wr.wqe.flags |= SIRO_SEND_FENCE;
		fenced();
	}
	w.cqe_opcode = swap ? SIRO_WC_COMP_SWAP : SIRO_WC_FETCH_ADD;
	w.wr.wqe.atomic.remote_addr = address(target, offset);
	w.wr.wqe.rkey = remote[target].key();
	if (swap) {
		w.wr.wqe.atomic.compare_add = r.chance(700) ? old : r.next();
		w.wr.wqe.atomic.swap = r.next();
		next = w.wr.wqe.atomic.compare_add == old ? w.wr.wqe.atomic.swap : old;
	} else {
		w.wr.wqe.atomic.compare_add = r.next();
		next = old + w.wr.wqe.atomic.compare_add;
	}
	w.fetched.resize(8);
	memcpy(w.fetched.data(), &old, 8);
	w.fetches = true;
	w.sink = sink;
	sink_next_ += r.below(16);
	w.pieces = {{sink_next_, 8}};
	w.wr.sges = {sink_sge(sink_next_, 8, r)};
	w.wr.wqe.num_sge = 1;
	sink_next_ += 8;

	host::bytes data(8);

	memcpy(data.data(), &next, 8);
	write_target(w, target, offset, data);
	if (side_.ooo)
		writing_.push_back({target, offset, 8});
}

void workload::make_local(random &r)
{
	if (side_.user || r.chance(600))
		register_list(r);
	else
		register_pages(r);
}

void workload::invalidate_local(uint32_t key, random &r)
{
	work &w = *start(SIRO_WR_LOCAL_INV, r);

	w.cqe_opcode = SIRO_WC_LOCAL_INV;
	w.wr.wqe.imm = key;
}

void workload::register_pages(random &r)
{
	if (fast_valid_) {
		invalidate_local(fast_key_, r);
		fast_valid_ = false;
		fast_next_++;
		return;
	}
	if (fast_next_ == sizeof(fast_) / sizeof(fast_[0]))
		return;

	work &w = *start(SIRO_WR_REG_MR, r);

	fast_key_ = host::device::next_key(fast_[fast_next_]->key());
	fast_valid_ = true;
	w.cqe_opcode = SIRO_WC_REG_MR;
	w.wr.wqe.reg.mr = reinterpret_cast<uintptr_t>(&fast_[fast_next_]->mr);
	w.wr.wqe.reg.iova = 0x123456000;
	w.wr.wqe.reg.length = fast_bytes;
	w.wr.wqe.reg.key = fast_key_;
	w.wr.wqe.reg.access = SIRO_ACCESS_LOCAL_WRITE;
}

/* The same key again and again, each time for another list. */
void workload::register_list(random &r)
{
	/* A kernel region must be free; an mkey may be configured while it is in use. */
	if (list_valid_ && (!side_.user || r.chance(300))) {
		invalidate_local(list_key_, r);
		list_valid_ = false;
		return;
	}

	if (side_.user && table_next_ + most_entries * sizeof(siro_sge) > table_bytes)
		return;
	list_ = {*list_region_, scattered(*source_, r.between(1, source_bytes / 2), r)};

	work &w = *start(side_.user ? SIRO_WR_MKEY_CONF : SIRO_WR_REG_INDIR_MR, r);

	list_iova_ = r.next() >> 1;
	list_valid_ = true;
	if (side_.user) {
		list_key_ = list_region_->key();
		configure_mkey(w, list_iova_);
		return;
	}
	list_key_ = host::device::next_key(list_key_ ? list_key_ : list_region_->key());
	w.cqe_opcode = SIRO_WC_REG_INDIR_MR;
	w.list = list_.entries();
	w.wr.wqe.reg.iova = list_iova_;
	w.wr.wqe.reg.length = list_.length();
	w.wr.wqe.reg.key = list_key_;
}

void workload::configure_mkey(work &w, uint64_t iova)
{
	auto entries = list_.entries();
	siro_mkey_conf &conf = w.wr.wqe.mkey;
	size_t room = std::max<size_t>(side_.max_send_sge * sizeof(siro_sge), side_.max_inline);

	w.cqe_opcode = SIRO_WC_MKEY_CONF;
	w.wr.wqe.rkey = list_key_;
	conf.set = SIRO_MKEY_LIST | SIRO_MKEY_IOVA;
	conf.iova = iova;
	conf.count = static_cast<uint32_t>(entries.size());

	host::bytes raw(entries.size() * sizeof(siro_sge));

	memcpy(raw.data(), entries.data(), raw.size());
	if (raw.size() <= room) {
		w.wr.inline_data = raw;
		return;
	}
	table_->write(table_next_, raw);
	conf.set |= SIRO_MKEY_TABLE;
	conf.table = table_->mr.iova + table_next_;
	w.wr.wqe.imm = table_->key();
	table_next_ += raw.size();
}

void workload::add_mistake(random &r)
{
	host::bytes payload;
	mistake kind = c_.kind;

	if (kind == mistake::long_send) {
		uint32_t length = r.between(2, 6 * c_.mtu);

		if (receive_next_ + length > receive_bytes)
			length = 2;

		work &w = *start(SIRO_WR_SEND, r);

		w.bad_status = SIRO_WC_REM_INV_REQ_ERR;
		set_source(w, length, r, payload);
		take_receive(w, length, payload, SIRO_WC_RECV);
		messages.back().status = SIRO_WC_LOC_LEN_ERR;
		add_receive(r.below(length), r);
		return;
	}
	if (kind == mistake::misaligned_atomic) {
		work &w = *start(SIRO_WR_ATOMIC_FETCH_AND_ADD, r);

		w.bad_status = SIRO_WC_REM_INV_REQ_ERR;
		w.wr.sges = {sink->sge(0, 8)};
		w.wr.wqe.num_sge = 1;
		w.wr.wqe.atomic.remote_addr = address(target, 8) + r.between(1, 7);
		w.wr.wqe.rkey = remote[target].key();
		return;
	}
	if (kind == mistake::local_access) {
		work &w = *start(SIRO_WR_RDMA_READ, r);

		w.bad_status = SIRO_WC_LOC_PROT_ERR;
		w.wr.sges = {constant_->sge(100, 50)};
		w.wr.wqe.num_sge = 1;
		w.wr.wqe.rdma.remote_addr = address(target, 0);
		w.wr.wqe.rkey = remote[target].key();
		return;
	}

	uint32_t length = r.between(1, 3 * c_.mtu);

	if (kind == mistake::remote_piece || kind == mistake::local_piece)
		length = r.between(dead_bytes + 1, 2 * dead_bytes);

	work &w = *start(SIRO_WR_RDMA_WRITE, r);

	w.wr.wqe.rdma.remote_addr = address(target, 64);
	w.wr.wqe.rkey = remote[target].key();
	set_source(w, length, r, payload);
	w.bad_status = SIRO_WC_REM_ACCESS_ERR;
	switch (kind) {
	case mistake::remote_key:
		w.wr.wqe.rkey ^= r.pick({1u, 0x80u, 0x100000u});
		break;
	case mistake::remote_range:
		w.wr.wqe.rdma.remote_addr =
			r.pick({address(target, target_bytes - length + 1), address(target, 0) - 1,
				uint64_t{0}, ~uint64_t{0} - length / 2});
		/* Packet by packet, those within the region are good. */
		if (side_.ooo && !payload.empty()) {
			w.wr.wqe.flags |= SIRO_SEND_FENCE; /* not before what comes before */
			w.patches.push_back({target,
					     target_bytes - length + 1,
					     {payload.begin(), payload.end() - 1}});
			w.patches.push_back({target, 0, {payload.begin() + 1, payload.end()}});
		}
		break;
	case mistake::remote_access:
		w.wr.wqe.rdma.remote_addr = address(read_only, 0);
		w.wr.wqe.rkey = remote[read_only].key();
		break;
	case mistake::remote_piece:
		w.wr.wqe.rdma.remote_addr = dead_[1].address(0);
		w.wr.wqe.rkey = dead_[1].key();
		break;
	case mistake::bad_opcode:
		w.wr.wqe.opcode = r.pick({8, 12, 13, 100, 255, int{SIRO_WR_REG_MR}});
		w.bad_status = SIRO_WC_LOC_QP_OP_ERR;
		break;
	default: /* local_key, local_range, local_piece */
		w.wr.wqe.flags &= static_cast<uint8_t>(~SIRO_SEND_INLINE);
		w.wr.inline_data.clear();
		w.wr.wqe.inline_length = 0;
		w.wr.sges = {source_->sge(0, length)};
		w.wr.wqe.num_sge = 1;
		payload = source_->read(0, length);
		if (kind == mistake::local_piece)
			w.wr.sges = {dead_[0].sge(0, length)};
		else if (kind == mistake::local_key)
			w.wr.sges[0].lkey ^= r.pick({1u, 0x80u, 0x100000u});
		else
			w.wr.sges[0].addr += source_->mr.length - length + 1;
		w.bad_status = SIRO_WC_LOC_PROT_ERR;
		w.patches.push_back({target, 64, payload}); /* its first packets may leave */
	}
}

host::bytes workload::image(int place, size_t count) const
{
	host::bytes out = initial[place];

	for (size_t i = 0; i < count; i++)
		for (auto &p : list[i].patches)
			if (p.place == place)
				std::copy(p.data.begin(), p.data.end(),
					  out.begin() + static_cast<ptrdiff_t>(p.offset));
	return out;
}

bool workload::may_become(int place, uint64_t offset, uint8_t value, size_t first) const
{
	for (size_t i = first; i < list.size(); i++)
		for (auto &p : list[i].patches)
			if (p.place == place && offset >= p.offset &&
			    offset < p.offset + p.data.size() && p.data[offset - p.offset] == value)
				return true;
	return false;
}

host::bytes workload::received(const std::vector<siro_sge> &sges) const
{
	host::bytes out;

	for (auto &s : sges) {
		uint64_t start = s.lkey == receive_list_.key() ? receive_list_.address(0)
							       : receive_buffer->mr.iova;
		auto part = receive_buffer->read(s.addr - start, s.length);

		out.insert(out.end(), part.begin(), part.end());
	}
	return out;
}

} // namespace sim
