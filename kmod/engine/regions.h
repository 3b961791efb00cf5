// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Memory regions as one engine call uses them. */
#pragma once

#include "base/base.h"

#include "siro_port.h"
#include "siro_signature.h"

namespace sirocco {

/*
 * The regions that a call has looked up, pinned until release() or until as many
 * others were looked up: consecutive packets and entries mostly name the same
 * few keys.
 */
class PinnedRegions {
public:
	struct Place {
		siro_mr *mr;
		u32 key;
		u32 hint; /* for Extents::at() */
	};

	explicit PinnedRegions(void *port) : port_(port) {}

	~PinnedRegions()
	{
		release();
	}

	PinnedRegions(const PinnedRegions &) = delete;
	PinnedRegions &operator=(const PinnedRegions &) = delete;

	/* nullptr: there is no valid region of this key. */
	siro_mr *find(u32 key);

	/* @mr: found by this object. */
	u32 &hint(const siro_mr &mr);

	void release();

private:
	static constexpr u32 places = 4;

	void *port_;
	u32 count_ = 0;
	u32 oldest_ = 0;
	Place places_[places];
};

/* Access to memory by key; nothing may be held when a region is invalidated. */
class Regions {
public:
	/*
	 * Many small pieces use the budget of @ctx up as packets do. @cursor: of the
	 * half's stream of packets.
	 */
	Regions(siro_context &ctx, u32 pd, siro_sig_cursor &cursor)
		: named_(ctx.port), below_(ctx.port), pd_(pd), ctx_(&ctx), cursor_(&cursor)
	{
	}

	Regions(void *port, u32 pd) : named_(port), below_(port), pd_(pd) {}

	/*
	 * The valid region of @key if it is in our protection domain, grants
	 * @access and holds @length bytes from @va on; else nullptr. Three more
	 * calls leave it pinned.
	 */
	siro_mr *find(u32 key, u64 va, u64 length, u32 access);

	/*
	 * The rest wants a range of what find() has returned. A range of an
	 * indirect region fails where an entry's key is no good; is_reachable()
	 * tells before a byte is touched. What has_room() refuses may be written
	 * later, when there is memory again.
	 */
	[[nodiscard]] bool is_reachable(const siro_mr &mr, u64 va, u64 length, bool write);
	[[nodiscard]] bool has_room(const siro_mr &mr, u64 va, u32 length);
	[[nodiscard]] bool read(const siro_mr &mr, u64 va, u8 *to, u32 length);
	[[nodiscard]] bool write(const siro_mr &mr, u64 va, const u8 *from, u32 length);

	/* At most @most bytes that lie together in memory; none if a key is no good. */
	span<u8> contiguous(const siro_mr &mr, u64 va, u64 most, bool write);

	/* The same of a piece whose key names another region; not one of pieces. */
	[[gnu::noinline]] span<u8> piece_bytes(u64 address, u64 length, u32 lkey, bool write);

	/* So do bytes that are read, but not sent. */
	void charge_bytes(u64 count);

	/* What is read next is the beginning of a message. */
	void begin_message()
	{
		cursor_->live = 0;
	}

	void release();

private:
	template <typename Use>
	bool walk(const siro_mr &mr, u64 va, u64 length, bool write, Use use);
	siro_mr *resolve(u32 key, u64 va, u64 length, u32 access);
	bool send_blocks(const siro_mr &mr, u64 va, u8 *to, u32 length);
	bool receive_blocks(const siro_mr &mr, u64 va, const u8 *from, u32 length);
	void charge_piece();

	static constexpr u32 pieces_per_packet = 64; /* that cost as much as one */
	static constexpr u32 bytes_per_packet = 4096;

	PinnedRegions named_;
	PinnedRegions below_; /* what the entries of indirect regions name */
	u32 pd_;
	siro_context *ctx_ = nullptr;
	siro_sig_cursor *cursor_ = nullptr;
	u32 pieces_ = 0;
	u64 bytes_ = 0;
};

/*
 * Bytes that lie together in memory at @va of a region that does not name others,
 * at most @most. @hint is for Extents::at().
 */
span<u8> region_bytes(const siro_mr &mr, u64 va, u64 most, u32 &hint);

/* A scatter/gather list addressed by byte offset. */
class SgeList {
public:
	SgeList(const siro_sge *sges, u32 count) : sges_(sges), count_(count) {}

	u64 length() const;

	/* Tells whether scatter() may begin. */
	[[nodiscard]] bool has_room(Regions &regions, u64 offset, u32 length) const;

	/* The range must lie within the list. False if an entry's key is no good. */
	[[nodiscard]] bool gather(Regions &regions, u64 offset, u8 *to, u32 length) const;
	[[nodiscard]] bool scatter(Regions &regions, u64 offset, const u8 *from, u32 length) const;

private:
	template <typename Copy>
	bool walk(Regions &regions, u64 offset, u32 length, u32 access, Copy copy) const;

	const siro_sge *sges_;
	u32 count_;
};

} // namespace sirocco
