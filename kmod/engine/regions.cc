// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "regions.h"

namespace sirocco {

siro_mr *Regions::pinned(u32 key)
{
	for (u32 i = 0; i < count_; i++)
		if (keys_[i] == key)
			return pinned_[i];
	if (count_ == places)
		release();

	siro_mr *mr = siro_port_mr_get(port_, key);

	if (mr) {
		pinned_[count_] = mr;
		keys_[count_] = key;
		count_++;
	}
	return mr;
}

siro_mr *Regions::find(u32 key, u64 va, u64 length, u32 access)
{
	siro_mr *mr = pinned(key);

	if (!mr || mr->pd != pd_ || (mr->access & access) != access)
		return nullptr;
	if (va < mr->iova || length > mr->length || va - mr->iova > mr->length - length)
		return nullptr;
	return mr;
}

void Regions::release()
{
	while (count_)
		siro_port_mr_put(port_, pinned_[--count_]);
}

span<u8> region_bytes(const siro_mr &mr, u64 va, u64 most)
{
	if (mr.layout == SIRO_MR_DMA)
		return {reinterpret_cast<u8 *>(static_cast<uptr>(va)), most};

	u64 offset = va - mr.iova + mr.first_offset;
	u64 page = offset >> mr.page_shift;
	u64 within = offset & ((u64{1} << mr.page_shift) - 1);

	if (page >= mr.page_count)
		return {};

	u8 *start = reinterpret_cast<u8 *>(static_cast<uptr>(mr.pages[page])) + within;

	return {start, min(most, (u64{1} << mr.page_shift) - within)};
}

void copy_from_region(const siro_mr &mr, u64 va, u8 *to, u32 length)
{
	while (length) {
		auto bytes = region_bytes(mr, va, length);
		u32 n = static_cast<u32>(bytes.size());

		if (!n)
			return;
		memory_copy(to, bytes.data(), n);
		to += n;
		va += n;
		length -= n;
	}
}

void copy_to_region(const siro_mr &mr, u64 va, const u8 *from, u32 length)
{
	while (length) {
		auto bytes = region_bytes(mr, va, length);
		u32 n = static_cast<u32>(bytes.size());

		if (!n)
			return;
		memory_copy(bytes.data(), from, n);
		from += n;
		va += n;
		length -= n;
	}
}

u64 SgeList::length() const
{
	u64 sum = 0;

	for (u32 i = 0; i < count_; i++)
		sum += sges_[i].length;
	return sum;
}

template <typename Copy>
bool SgeList::walk(Regions &regions, u64 offset, u32 length, u32 access, Copy copy) const
{
	for (u32 i = 0; i < count_ && length; i++) {
		const siro_sge &sge = sges_[i];

		if (offset >= sge.length) {
			offset -= sge.length;
			continue;
		}

		u32 n = min(length, sge.length - static_cast<u32>(offset));
		siro_mr *mr = regions.find(sge.lkey, sge.addr, sge.length, access);

		if (!mr)
			return false;
		copy(*mr, sge.addr + offset, n);
		offset = 0;
		length -= n;
	}
	return !length;
}

bool SgeList::gather(Regions &regions, u64 offset, u8 *to, u32 length) const
{
	return walk(regions, offset, length, 0, [&to](const siro_mr &mr, u64 va, u32 n) {
		copy_from_region(mr, va, to, n);
		to += n;
	});
}

bool SgeList::scatter(Regions &regions, u64 offset, const u8 *from, u32 length) const
{
	return walk(regions, offset, length, SIRO_ACCESS_LOCAL_WRITE,
		    [&from](const siro_mr &mr, u64 va, u32 n) {
			    copy_to_region(mr, va, from, n);
			    from += n;
		    });
}

} // namespace sirocco
