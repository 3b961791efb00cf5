// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The reference model: a random list of work requests of one direction together
 * with what each of them must do, computed by executing the list in order.
 *
 * The list obeys what the specification asks of applications, so that there is
 * one right outcome: what a READ reads is not written by later requests without
 * a fence, and what a request sends is not changed before it completes.
 */
#pragma once

#include "blocks.h"
#include "config.h"
#include "endpoint.h"
#include "random.h"
#include "view.h"

#include <vector>

namespace sim {

struct patch {
	int place; /* memory of the peer */
	uint64_t offset;
	host::bytes data;
};

/* A work request and its effects. */
struct work {
	host::send_wr wr;
	uint8_t cqe_opcode = 0;
	bool signaled = false;
	uint8_t bad_status = SIRO_WC_SUCCESS; /* else the status it must get */
	uint8_t bad_receive = SIRO_WC_SUCCESS; /* status of the receive it takes */
	int receive = -1; /* which message of the direction it is */
	/* at the peer, in order */
	std::vector<patch> patches;
	uint32_t remote_invalidate = 0;
	/* here, when it completes */
	bool fetches = false;
	host::region *sink = nullptr;
	std::vector<std::pair<uint64_t, uint32_t>> pieces;
	host::bytes fetched;
	std::vector<siro_sge> list; /* of REG_INDIR_MR; each post makes a copy */
};

/* What arrives with a receive completion. */
struct message {
	host::bytes payload; /* in the receive's buffer; empty for WRITE_WITH_IMM */
	uint32_t byte_len;
	uint8_t opcode, flags;
	uint32_t imm;
	uint8_t status;
};

struct receive {
	uint64_t wr_id;
	std::vector<siro_sge> sges;
	host::bytes before; /* whole buffer, linear */
};

class workload {
public:
	workload(const config &c, int from, random &r, host::device &here, host::device &there);

	std::vector<work> list;
	std::vector<message> messages;
	std::vector<receive> receives; /* the peer posts them */

	/* Memory of the peer that the direction may change, and how it looked. */
	enum {
		target,
		read_only,
		signed_blocks,
		first_window,
		windows = 3,
		places = first_window + windows
	};
	view remote[places];
	host::bytes initial[places];

	host::region *sink, *receive_buffer;

	/* How the byte-wise image of a place looks after the first @count WRs. */
	host::bytes image(int place, size_t count) const;
	/* Whether a WR from @first on may have written @value there. */
	bool may_become(int place, uint64_t offset, uint8_t value, size_t first) const;
	/* What is in the buffer of a receive, linear. */
	host::bytes received(const std::vector<siro_sge> &sges) const;

private:
	void add(random &r);
	void add_mistake(random &r);
	work *start(uint8_t opcode, random &r);
	void make_send(random &r);
	void make_write(random &r);
	void make_read(random &r);
	void write_blocks(random &r);
	void read_blocks(random &r);
	void make_atomic(random &r);
	void make_local(random &r);
	void register_pages(random &r);
	void register_list(random &r);
	void configure_mkey(work &w, uint64_t iova);
	void invalidate_local(uint32_t key, random &r);
	siro_sge sink_sge(uint64_t offset, uint32_t length, random &r) const;
	void set_source(work &w, uint32_t length, random &r, host::bytes &payload);
	void set_sink(work &w, uint32_t length, random &r);
	void take_receive(work &w, uint32_t length, const host::bytes &payload, uint8_t opcode);
	void add_receive(uint32_t length, random &r);
	uint32_t pick_length(random &r);
	void write_target(work &w, int place, uint64_t offset, const host::bytes &data);
	void fenced();
	void note_read(int place, uint64_t offset, uint64_t length);
	uint64_t address(int place, uint64_t offset) const
	{
		return remote[place].address(offset);
	}

	const config &c_;
	const side &side_, &peer_;
	uint64_t next_id_;
	host::region *source_, *constant_; /* constant_: no local write */
	host::region *fast_[4];
	int fast_next_ = 0;
	bool fast_valid_ = false;
	uint32_t fast_key_ = 0;
	/* A list over source_ that is registered again and again. */
	host::region *list_region_;
	view list_;
	bool list_valid_ = false;
	uint32_t list_key_ = 0;
	uint64_t list_iova_ = 0;
	host::region *table_; /* entries of mkeys, each used once */
	uint64_t table_next_ = 0;
	view sink_list_, receive_list_; /* all of sink, of receive_buffer */
	view dead_[2]; /* of this end, of the peer: their last piece is gone */
	bool window_dead_[windows] = {};
	blocks blocks_; /* of the peer; its memory is a place */
	host::bytes now_[places];
	uint64_t sink_next_ = 0, receive_next_ = 0;
	struct range {
		int place;
		uint64_t offset, length;
	};
	static bool touches(const std::vector<range> &list, int place, uint64_t offset,
			    uint64_t length);
	std::vector<range> reading_; /* by READs since the last fence */
	std::vector<range> writing_; /* by what later WRITEs may overtake */
	struct fetched_range {
		uint64_t offset;
		host::bytes data;
	};
	std::vector<fetched_range> fetched_;
};

} // namespace sim
