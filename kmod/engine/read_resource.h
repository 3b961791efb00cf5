// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What a responder remembers of READs and atomics (IBTA 9.7.5.1, 9.4.5). */
#pragma once

#include "base/base.h"

#include "psn.h"
#include "siro_engine.h"

namespace sirocco {

/* One READ or atomic request: to answer it, and to answer a duplicate of it. */
struct ReadResource {
	u64 va;
	u64 original; /* atomic: value before */
	u32 rkey;
	u32 length;
	Psn first_psn;
	u32 packets;
	u32 begin; /* first packet of the answer in progress */
	u32 next; /* next packet to send */
	u32 end; /* one after the last packet of the answer in progress */
	u32 msn;
	bool used;
	bool atomic;
	bool answered; /* fully, once: more is for duplicates */

	bool pending() const
	{
		return next < end;
	}

	bool covers(Psn psn) const
	{
		return used && psn.since(first_psn) < packets;
	}
};

static_assert(sizeof(ReadResource) <= SIRO_RESOURCE_BYTES);

/* The last requests, as many as may be outstanding; the oldest is overwritten. */
class ReadResources {
public:
	void assign(void *storage, u32 count)
	{
		if (storage == storage_ && count == count_)
			return;
		storage_ = static_cast<u8 *>(storage);
		count_ = count;
		clear();
	}

	void clear()
	{
		for (u32 i = 0; i < count_; i++)
			at(i) = {};
		head_ = 0;
		pending_ = 0;
	}

	/*
	 * Where the next request goes; nullptr if too many are unanswered. Who sends
	 * a new request has what was answered: repeating it has become pointless.
	 */
	ReadResource *add(Psn psn, u32 packets)
	{
		if (!count_ || (at(head_).pending() && !at(head_).answered))
			return nullptr;

		ReadResource &r = at(head_);

		if (r.pending())
			drop(r);
		head_ = (head_ + 1) % count_;
		r = {};
		r.used = true;
		r.first_psn = psn;
		r.packets = r.end = packets;
		pending_++;
		return &r;
	}

	/* The newest, as PSNs come round again. */
	ReadResource *find(Psn psn)
	{
		for (u32 i = count_; i; i--) {
			ReadResource &r = at((head_ + i - 1) % count_);

			if (r.covers(psn))
				return &r;
		}
		return nullptr;
	}

	/* The READ that asked for all of @packets from @psn on: meanwhile they may be another's. */
	const ReadResource *find_read(Psn psn, u32 packets)
	{
		const ReadResource *r = find(psn);

		if (!r || r->atomic || packets > r->packets - psn.since(r->first_psn))
			return nullptr;
		return r;
	}

	/* Answer packets @begin up to @end of @r again, and what is due of it anyway. */
	void repeat(ReadResource &r, u32 begin, u32 end)
	{
		if (!r.pending()) {
			pending_++;
			r.end = end;
		} else if (r.next <= begin) {
			begin = r.next;
		}
		r.end = max(r.end, end);
		r.begin = r.next = begin;
	}

	/* One more packet of the answer is on its way. */
	void advance(ReadResource &r)
	{
		r.next++;
		if (r.pending())
			return;
		r.answered = true;
		pending_--;
	}

	/* The rest of the answer is not given. */
	void drop(ReadResource &r)
	{
		r.next = r.end;
		pending_--;
	}

	/* No answer that is due will be given. */
	void cancel()
	{
		for (u32 i = 0; i < count_; i++)
			at(i).next = at(i).end;
		pending_ = 0;
	}

	/* The oldest that is not fully answered. */
	ReadResource *first_pending()
	{
		for (u32 i = 0; pending_ && i < count_; i++) {
			ReadResource &r = at((head_ + i) % count_);

			if (r.pending())
				return &r;
		}
		return nullptr;
	}

private:
	ReadResource &at(u32 i)
	{
		return *reinterpret_cast<ReadResource *>(storage_ + u64{i} * SIRO_RESOURCE_BYTES);
	}

	u8 *storage_ = nullptr;
	u32 count_ = 0;
	u32 head_ = 0; /* the oldest, the next to be overwritten */
	u32 pending_ = 0;
};

} // namespace sirocco
