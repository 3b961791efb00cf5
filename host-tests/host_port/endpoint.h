// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What the glue is to the engine, for one queue pair on the host: rings, memory
 * regions, address handles, a clock, and packets that are caught instead of
 * sent. Every promise of siro_engine.h and siro_port.h that can be checked at
 * the boundary is checked here, in all tests: pins are given back, bursts are
 * well-formed, packets have the right ICRC, the budget is kept.
 */
#pragma once

#include "siro_engine.h"
#include "siro_port.h"
#include "siro_signature.h"
#include "wire_packet.h"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace host {

/* Reports a broken promise of the engine. Aborts unless a handler is set. */
using failure_handler = void (*)(const std::string &);
void set_failure_handler(failure_handler handler);
[[gnu::format(printf, 1, 2)]] void fail(const char *format, ...);

constexpr uint64_t microsecond = 1000, millisecond = 1000000, second = 1000000000;

/*
 * Memory of one region. Its pages are separate allocations, so that a sanitizer
 * sees an access that leaves a page.
 */
class region {
public:
	struct options {
		uint64_t length = 4096;
		uint32_t access = SIRO_ACCESS_LOCAL_WRITE | SIRO_ACCESS_REMOTE_WRITE |
				  SIRO_ACCESS_REMOTE_READ | SIRO_ACCESS_REMOTE_ATOMIC;
		uint32_t pd = 1;
		uint32_t page_shift = 12;
		uint64_t iova = 0x7f0000001000;
		uint32_t first_offset = 0;
		bool dma = false; /* iova is the address of the only page */
		bool fast = false; /* pages are staged, state FREE */
		bool indirect = false; /* kernel: lists come with REG_INDIR_MR, state FREE */
		uint32_t mkey_entries = 0; /* user space: configured by WQEs, state FREE */
		bool mkey_signature = false; /* which may have a signature */
		bool remote_invalidate = true;
	};

	region(uint32_t key, const options &o);

	siro_mr mr;
	bool fast;
	const bool indirect, mkey, remote_invalidate;

	uint32_t key() const
	{
		return mr.key;
	}

	/* Byte @offset from the start; not checked against keys or rights. */
	uint8_t &at(uint64_t offset);
	bytes read(uint64_t offset, uint64_t length);
	void write(uint64_t offset, const bytes &data);
	void fill(uint8_t value);
	uint64_t length() const
	{
		return length_;
	}
	siro_sge sge(uint64_t offset, uint32_t length) const
	{
		return {mr.iova + offset, length, mr.key};
	}
	void invalidate();

	/* What an mkey's configuration fills, and what is in use. */
	std::vector<siro_extent> live, staging;
	siro_extents staged = {};
	void go_live(uint64_t iova, uint64_t length, uint32_t access);
	siro_signature signature = {};
	/* A configuration of an mkey; -EINVAL, and nothing has happened. */
	int configure(const siro_mkey_conf &conf, const siro_mkey_sig *sig);

private:
	struct page_free {
		void operator()(uint8_t *p) const;
	};
	std::vector<std::unique_ptr<uint8_t, page_free>> pages_;
	void exchange_lists();
	std::vector<__u64> addresses_;
	uint64_t length_;
	uint32_t first_offset_;
	uint32_t page_shift_;

	friend struct port;
};

/* The list that a kernel poster leaves in a REG_INDIR_MR. */
struct indirect_list {
	explicit indirect_list(const std::vector<siro_sge> &sges);
	siro_extents extents = {};
	std::vector<siro_extent> storage;
	static int alive; /* lists that the engine has not given back */
};

/* What the objects of one ib_device share. */
class device {
public:
	device();
	region &add_region(const region::options &options);
	void remove_region(region &r);
	region *find(uint32_t key);
	uint32_t add_flow(const siro_flow &flow, uint32_t pd = 1);
	/* The next key of a fast region: same index, next low byte. */
	static uint32_t next_key(uint32_t key)
	{
		return (key & ~0xffu) | ((key + 1) & 0xff);
	}

	uint64_t counters[SIRO_CNT_COUNT] = {};
	uint64_t now = second;
	siro_sig_injection *injection = nullptr;
	/* What the engine told of signature regions, and whether it was latched. */
	std::vector<std::pair<siro_sig_error, bool>> signature_errors;

private:
	friend struct port;
	struct handle {
		siro_flow flow;
		uint32_t pd;
	};
	std::map<uint32_t, std::unique_ptr<region>> regions_; /* by key >> 8 */
	std::map<uint32_t, handle> handles_;
	std::map<siro_signature *, std::vector<siro_sig_block>> spills_;
	siro_signature *locked_ = nullptr;
	uint32_t next_index_ = 1;
	uint32_t next_handle_ = 1;
};

/* A ring and who writes it: the user of the ring, from outside the engine. */
class ring_memory {
public:
	ring_memory() = default;
	ring_memory(uint32_t slots, uint32_t stride, uint32_t limit);

	siro_ring ring = {};

	uint8_t *entry(uint32_t index)
	{
		return ring.entries + size_t{index & (ring.slots - 1)} * ring.stride;
	}

private:
	std::unique_ptr<siro_ring_header> header_;
	std::unique_ptr<uint64_t[]> entries_;
};

/* A send work request in the making. */
struct send_wr {
	siro_send_wqe wqe = {};
	std::vector<siro_sge> sges;
	bytes inline_data;
};

/* What a call into the engine asked for. */
struct call_result {
	uint32_t outcome = 0;
	uint32_t events = 0;
	uint64_t deadline = 0;
	uint32_t budget_left = 0;
	bool has(uint32_t bit) const
	{
		return outcome & bit;
	}
};

class endpoint {
public:
	struct options {
		uint32_t qpn = 0x11;
		uint32_t pd = 1;
		uint32_t type = SIRO_QPT_RC;
		bool user = true;
		bool srq = false;
		bool signal_all = false;
		bool sig_pipelining = false;
		uint32_t sq_slots = 64;
		uint32_t sq_limit = 0; /* 0: slots */
		uint32_t rq_slots = 64;
		uint32_t cq_slots = 256;
		uint32_t max_send_sge = 4;
		uint32_t max_recv_sge = 4;
		uint32_t max_inline = 64;
		uint64_t cookie = 0;
		bool hold = false; /* packets that come before their turn */
		siro_flow flow = {};
	};

	endpoint(device &dev, const options &options);
	~endpoint();
	endpoint(const endpoint &) = delete;

	device &dev;
	const options opt;

	/* Posting, as a user does it. False if the queue is full. */
	bool post_send(const send_wr &wr);
	bool post_recv(uint64_t wr_id, const std::vector<siro_sge> &sges);
	/* As the kernel does it; -ENOMEM, -EINVAL or 0. */
	int post_send_kernel(const send_wr &wr);

	/* Entries of the CQs that the test has not taken yet. */
	bool poll_send(siro_cqe &cqe);
	bool poll_recv(siro_cqe &cqe);

	/* State changes of both halves; the attributes are members below. */
	void modify(uint32_t state);
	void to_rts();
	siro_requester_attr req_attr = {};
	siro_responder_attr res_attr = {};
	void set_resources(uint32_t max_dest_rd_atomic);

	/* Calls into the engine */
	call_result modify_requester(uint32_t state);
	call_result modify_responder(uint32_t state);
	call_result run_requester();
	call_result run_responder();
	call_result timeout();
	/* As if @function were code of the half that is called. */
	call_result call_as(bool requester, const std::function<void(siro_context *)> &function);
	/* Takes what siro_packet_parse() accepts and this QPN gets. */
	void receive(const super_packet &packets);
	call_result receive_batch(bool requester, std::vector<siro_packet> &batch,
				  const super_packet &packets);

	/* Runs until neither half asks for more. */
	void settle();

	/* How the glue behaves, for the tests to vary. */
	uint32_t budget = 128;
	uint32_t max_burst_bytes = SIRO_MAX_BURST_BYTES;
	uint32_t refuse_bursts = 0; /* so many tx_begin() calls fail */
	std::function<bool()> refuse; /* or these */
	std::function<uint32_t(uint32_t)> frag_bytes; /* split a packet; 0: whole */
	uint32_t srq_limit = 0;
	bool armed = false; /* both CQs, any completion */

	/* What came out */
	std::deque<super_packet> sent;
	call_result last_requester, last_responder;
	uint64_t deadline = 0; /* of the requester */
	uint32_t sticky_outcome[2] = {}; /* requester, responder; tests clear it */
	uint32_t sticky_events = 0;
	uint32_t kick = 0;
	int holding = 0; /* packets kept now */

	/* For a look into the objects */
	ring_memory sq, rq, send_cq, recv_cq;
	siro_requester requester;
	siro_responder responder;
	siro_flow requester_flow, responder_flow;
	siro_flow more_paths[2][SIRO_MAX_PATHS]; /* path 1 and up of both */

	/* All packets sent so far, decoded; empties @sent. */
	std::vector<packet> take_sent();

private:
	friend struct port;
	struct call;
	template <typename Function>
	call_result enter(bool requester, Function &&function);
	bool is_path(const siro_flow *flow, bool from_responder) const;
	void check_burst(const siro_tx_burst &burst, const siro_flow &flow, bool responder);

	std::unique_ptr<uint64_t[]> shadow_;
	std::unique_ptr<uint64_t[]> held_[2]; /* requester's, responder's slots */
	std::unique_ptr<uint32_t[]> stamps_;
	std::vector<std::unique_ptr<uint64_t[]>> resources_;
	call *call_ = nullptr;
};

/* Common shapes of work requests */
send_wr make_send(uint64_t wr_id, const std::vector<siro_sge> &sges,
		  uint8_t flags = SIRO_SEND_SIGNALED);
send_wr make_rdma(uint8_t opcode, uint64_t wr_id, const std::vector<siro_sge> &sges, uint64_t raddr,
		  uint32_t rkey, uint8_t flags = SIRO_SEND_SIGNALED);
send_wr make_atomic(uint8_t opcode, uint64_t wr_id, const siro_sge &sge, uint64_t raddr,
		    uint32_t rkey, uint64_t compare_add, uint64_t swap = 0);

} // namespace host
