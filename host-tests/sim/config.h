// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What a seed stands for. */
#pragma once

#include <cstdint>
#include <string>

namespace sim {

/* One deliberate mistake in a work list. */
enum class mistake {
	none,
	remote_key, /* no such key */
	remote_range, /* beyond the region */
	remote_access, /* a right the region does not give */
	remote_piece, /* a list with an entry whose region is gone */
	misaligned_atomic,
	local_key,
	local_range,
	local_access, /* READ into read-only memory */
	local_piece, /* a list with an entry whose region is gone */
	long_send, /* does not fit the receive buffer */
	bad_opcode, /* user rings only */
	count
};

struct side {
	bool user;
	bool srq;
	bool signal_all;
	uint32_t sq_slots, sq_limit, rq_slots;
	uint32_t max_send_sge, max_recv_sge, max_inline;
	uint32_t first_psn; /* of its requester */
	uint32_t max_rd_atomic, max_dest_rd_atomic;
	uint32_t timeout, retry_count, rnr_retry, min_rnr_timer;
	uint32_t budget, max_burst_bytes;
	uint32_t refuse; /* permille of bursts */
	uint32_t work; /* WRs to post */
	uint32_t spare_receives;
	bool hold; /* packets that come before their turn */
	uint8_t ooo; /* SIRO_OOO_* */
	uint8_t paths;
};

struct config {
	explicit config(uint64_t seed);

	uint64_t seed;
	side sides[2];
	bool ipv6;
	uint32_t mtu;
	uint32_t latency; /* ns */
	uint32_t skew; /* ns that each path takes longer than the one before it */
	/* permille of packets */
	uint32_t loss, duplicate, reorder, corrupt;
	uint32_t reorder_delay; /* ns */
	uint32_t split; /* permille: where a super-packet breaks */
	bool fragments; /* packets arrive in pieces */
	bool late_receives;
	uint32_t receive_delay; /* ns */
	int kill; /* side whose QP is moved to ERR, or -1 */
	uint32_t kill_step; /* after so many engine calls */
	int wrong; /* side that makes a mistake, or -1 */
	uint32_t wrong_at;
	mistake kind;

	bool lossless() const
	{
		return !loss && !corrupt && !reorder && !duplicate;
	}
	std::string describe() const;
};

const char *mistake_name(mistake m);

} // namespace sim
