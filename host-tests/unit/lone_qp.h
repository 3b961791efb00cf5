// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A queue pair whose peer is the test: packets to it are made by hand, those from
 * it are looked at. A promise of the boundary that is broken is a failed test.
 */
#pragma once

#include "endpoint.h"

#include <gtest/gtest.h>

#include <functional>
#include <ostream>
#include <utility>

struct own_device {
	host::device device;
};

class lone_qp : private own_device, public host::endpoint {
public:
	static constexpr uint32_t mtu = 256;
	static constexpr uint32_t peer_qpn = 0x22;
	/* Both directions wrap after two packets. */
	static constexpr uint32_t first_psn = 0xfffffe;
	static constexpr uint32_t qkey = 0x1234567;
	/* Of an ACK: the peer counts no credits. */
	static constexpr uint8_t unlimited = 31;

	using prepare = std::function<void(lone_qp &)>;

	static options rc_user();
	static options rc_kernel();
	static options ud_user();

	/* In RTS, with what @before changes of the attributes. */
	explicit lone_qp(const options &o = rc_user(), const prepare &before = {});
	explicit lone_qp(const prepare &before) : lone_qp(rc_user(), before) {}

	/* 64 KiB of random bytes, all rights; entries of work requests point here. */
	host::region &memory;
	siro_sge piece(uint64_t offset, uint32_t length) const
	{
		return memory.sge(offset, length);
	}

	static uint32_t psn(uint32_t n)
	{
		return (first_psn + n) & SIRO_PSN_MASK;
	}

	/* One super-packet from the peer; packets are numbered by psn(). */
	void hand(std::vector<host::packet> packets);
	void hand(const host::packet &p)
	{
		hand(std::vector<host::packet>{p});
	}

	/* Lets time come, with the call that the glue would make. */
	host::call_result at(uint64_t time);

	/* Posts and rings the doorbell. */
	void post(const std::vector<host::send_wr> &list);

	std::vector<siro_cqe> send_completions();
	std::vector<siro_cqe> recv_completions();

	uint64_t count(int counter) const
	{
		return dev.counters[counter];
	}
};

/* How a request ended: its wr_id and status. */
using ends = std::vector<std::pair<uint64_t, unsigned>>;
ends ends_of(const std::vector<siro_cqe> &completions);

/* Of packets that were sent */
std::vector<unsigned> opcodes_of(const std::vector<host::packet> &packets);
std::vector<uint32_t> psns_of(const std::vector<host::packet> &packets);

/* The only packet that was sent is an ACK or NAK. */
void expect_reply(lone_qp &q, uint8_t syndrome, uint32_t psn);

/* Packets of the peer */
host::packet acknowledge(uint32_t psn, uint8_t syndrome = lone_qp::unlimited, uint32_t msn = 0);
host::packet read_response(uint32_t psn, uint8_t opcode, const host::bytes &payload);
host::packet atomic_response(uint32_t psn, uint64_t original);
host::packet request(uint32_t psn, uint8_t opcode, const host::bytes &payload = {},
		     bool ackreq = false);
host::packet rdma(uint32_t psn, uint8_t opcode, uint64_t va, uint32_t rkey, uint32_t length,
		  const host::bytes &payload = {}, bool ackreq = false);
host::packet atomic(uint32_t psn, uint8_t opcode, uint64_t va, uint32_t rkey, uint64_t swap_add,
		    uint64_t compare = 0);

/* Numbers that no work request has. */
constexpr bool is_unknown_opcode(unsigned opcode)
{
	return opcode == 8 || opcode > SIRO_WR_REG_MR_INTEGRITY;
}

host::bytes some_bytes(size_t length, unsigned seed = 1);
