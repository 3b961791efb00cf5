// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Memory regions as one engine call uses them. */
#pragma once

#include "base/base.h"

#include "siro_port.h"

namespace sirocco {

/*
 * The regions that a call has looked up, pinned until release(): consecutive
 * packets and entries mostly name the same few keys. Nothing may be held when a
 * region is invalidated.
 */
class Regions {
public:
	Regions(void *port, u32 pd) : port_(port), pd_(pd) {}

	~Regions()
	{
		release();
	}

	Regions(const Regions &) = delete;
	Regions &operator=(const Regions &) = delete;

	/*
	 * The valid region of @key if it is in our protection domain, grants
	 * @access and holds @length bytes from @va on; else nullptr.
	 */
	siro_mr *find(u32 key, u64 va, u64 length, u32 access);

	void release();

private:
	siro_mr *pinned(u32 key);

	static constexpr u32 places = 4;

	void *port_;
	u32 pd_;
	u32 count_ = 0;
	siro_mr *pinned_[places];
	u32 keys_[places];
};

/* Contiguous bytes at @va of a region, at most @most: data() and size(). */
span<u8> region_bytes(const siro_mr &mr, u64 va, u64 most);

/* Both want a range that find() has checked. */
void copy_from_region(const siro_mr &mr, u64 va, u8 *to, u32 length);
void copy_to_region(const siro_mr &mr, u64 va, const u8 *from, u32 length);

/* A scatter/gather list addressed by byte offset. */
class SgeList {
public:
	SgeList(const siro_sge *sges, u32 count) : sges_(sges), count_(count) {}

	u64 length() const;

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
