// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The send queue in kernel memory: private copies of the work requests. */
#pragma once

#include "base/base.h"

#include "psn.h"
#include "siro_engine.h"

namespace sirocco {

/* A send work request with its place on the wire. */
struct SendEntry {
	Psn first_psn; /* valid once started */
	u32 packets; /* PSNs that it takes; 0 for local operations */
	u32 length; /* bytes of the message */
	u32 received; /* READ: response packets placed, atomic: 1 when done */
	u32 status; /* SIRO_WC_* found before it was sent, 0 if none */
	u32 single; /* 1: a WRITE whose packets are messages of their own */
	u32 reserved[10];
	siro_send_wqe wqe;

	Psn end_psn() const
	{
		return first_psn + packets;
	}

	const siro_sge *sges() const
	{
		return reinterpret_cast<const siro_sge *>(&wqe + 1);
	}

	const u8 *inline_data() const
	{
		return reinterpret_cast<const u8 *>(&wqe + 1);
	}

	/* Only the completion is left of it. */
	void become_nop()
	{
		wqe.opcode = SIRO_WR_NOP;
		wqe.flags &= SIRO_SEND_SIGNALED;
		wqe.num_sge = 0;
		status = 0;
	}

	bool is_inline() const
	{
		return wqe.flags & SIRO_SEND_INLINE;
	}
};

static_assert(sizeof(SendEntry) == SIRO_SQ_EXTRA + sizeof(siro_send_wqe));

/*
 * Entries [completed, started) are on the wire or executed, [started, posted)
 * wait. The poster side (reserve, commit) of a kernel queue runs under a lock of
 * its own beside everything else, as one producer beside one consumer.
 */
class SendQueue {
public:
	explicit SendQueue(const siro_requester_config &config);

	SendEntry &entry(u32 index)
	{
		u64 bytes = u64{ring_.stride} + SIRO_SQ_EXTRA;

		return *reinterpret_cast<SendEntry *>(shadow_ +
						      (index & (ring_.slots - 1)) * bytes);
	}

	u32 completed() const
	{
		return completed_;
	}

	u32 started() const
	{
		return started_;
	}

	u32 posted() const
	{
		return load_acquire(posted_);
	}

	bool has_started() const
	{
		return completed_ != started_;
	}

	bool is_kernel() const
	{
		return !user_;
	}

	bool is_empty() const
	{
		return completed_ == posted();
	}

	SendEntry &oldest()
	{
		return entry(completed_);
	}

	void start()
	{
		started_++;
	}

	/* The started entry that @psn is of; it is of one. */
	SendEntry &find(Psn psn);

	/* The oldest entry is done, started or not. */
	void retire();

	/* Forgets everything that is posted. */
	void clear();

	siro_send_wqe *reserve();
	[[nodiscard]] bool commit();

	/* Takes over what user space has posted; nothing to do for the kernel's. */
	void fetch();

private:
	bool is_valid(const siro_send_wqe &wqe) const;
	void copy_in(SendEntry &e, const u8 *from);

	siro_ring ring_;
	u8 *shadow_;
	u32 type_;
	u32 max_sge_;
	u32 max_inline_;
	bool user_;
	u32 completed_ = 0;
	u32 started_ = 0;
	u32 posted_ = 0;
};

} // namespace sirocco
