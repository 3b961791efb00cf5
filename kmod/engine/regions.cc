// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "regions.h"

#include "extents.h"
#include "signature_memory.h"

namespace sirocco {

siro_mr *PinnedRegions::find(u32 key)
{
	for (u32 i = 0; i < count_; i++)
		if (places_[i].key == key)
			return places_[i].mr;

	siro_mr *mr = siro_port_mr_get(port_, key);

	if (!mr)
		return nullptr;
	if (count_ < places) {
		places_[count_++] = {mr, key, 0};
		return mr;
	}

	Place &place = places_[oldest_];

	oldest_ = (oldest_ + 1) % places;
	siro_port_mr_put(port_, place.mr);
	place = {mr, key, 0};
	return mr;
}

u32 &PinnedRegions::hint(const siro_mr &mr)
{
	u32 i = 0;

	while (i + 1 < count_ && places_[i].mr != &mr)
		i++;
	return places_[i].hint;
}

void PinnedRegions::release()
{
	while (count_)
		siro_port_mr_put(port_, places_[--count_].mr);
	oldest_ = 0;
}

namespace {

bool contains(const siro_mr &mr, u64 va, u64 length)
{
	return va >= mr.iova && length <= mr.length && va - mr.iova <= mr.length - length;
}

span<u8> kernel_bytes(u64 address, u64 length)
{
	return {reinterpret_cast<u8 *>(static_cast<uptr>(address)), length};
}

} // namespace

siro_mr *Regions::find(u32 key, u64 va, u64 length, u32 access)
{
	siro_mr *mr = named_.find(key);

	if (!mr || mr->pd != pd_ || (mr->access & access) != access || !contains(*mr, va, length))
		return nullptr;
	return mr;
}

/* An entry of another region's list: one level, same domain (no kernel key is in a user's). */
siro_mr *Regions::resolve(u32 key, u64 va, u64 length, u32 access)
{
	siro_mr *mr = below_.find(key);

	if (!mr || mr->layout >= SIRO_MR_INDIRECT || mr->pd != pd_ ||
	    (mr->access & access) != access || !contains(*mr, va, length))
		return nullptr;
	return mr;
}

/* A user decides how small the pieces are: it must not buy seconds of work with it. */
void Regions::charge_piece()
{
	if (++pieces_ % pieces_per_packet == 0 && ctx_ && ctx_->budget)
		ctx_->budget--;
}

void Regions::charge_bytes(u64 count)
{
	bytes_ += count;
	if (ctx_)
		ctx_->budget -= min(ctx_->budget, static_cast<u32>(bytes_ / bytes_per_packet));
	bytes_ %= bytes_per_packet;
}

void Regions::release()
{
	named_.release();
	below_.release();
}

span<u8> region_bytes(const siro_mr &mr, u64 va, u64 most, u32 &hint)
{
	if (mr.layout == SIRO_MR_DMA)
		return kernel_bytes(va, most);
	if (mr.layout == SIRO_MR_EXTENTS) {
		Extents::Piece piece = Extents(mr.extents).at(va - mr.iova, hint);

		return kernel_bytes(piece.address, min(most, piece.length));
	}

	u64 offset = va - mr.iova + mr.first_offset;
	u64 page = offset >> mr.page_shift;
	u64 within = offset & ((u64{1} << mr.page_shift) - 1);

	if (page >= mr.page_count)
		return {};
	return kernel_bytes(mr.pages[page] + within, min(most, (u64{1} << mr.page_shift) - within));
}

span<u8> Regions::contiguous(const siro_mr &mr, u64 va, u64 most, bool write)
{
	u32 &hint = named_.hint(mr);

	if (mr.layout == SIRO_MR_SIGNATURE)
		return {};
	if (mr.layout != SIRO_MR_INDIRECT)
		return region_bytes(mr, va, most, hint);

	Extents::Piece piece = Extents(mr.extents).at(va - mr.iova, hint);

	return piece_bytes(piece.address, min(most, piece.length), piece.lkey, write);
}

span<u8> Regions::piece_bytes(u64 address, u64 length, u32 lkey, bool write)
{
	charge_piece();

	siro_mr *below = resolve(lkey, address, length, write ? u32{SIRO_ACCESS_LOCAL_WRITE} : 0);

	if (!below)
		return {};
	return region_bytes(*below, address, length, below_.hint(*below));
}

/* Calls use() with contiguous bytes, in order. */
template <typename Use>
bool Regions::walk(const siro_mr &mr, u64 va, u64 length, bool write, Use use)
{
	while (length) {
		span<u8> bytes = contiguous(mr, va, length, write);

		if (!bytes.size())
			return false;
		use(bytes);
		va += bytes.size();
		length -= bytes.size();
	}
	return true;
}

bool Regions::is_reachable(const siro_mr &mr, u64 va, u64 length, bool write)
{
	if (mr.layout == SIRO_MR_SIGNATURE)
		return SignatureMemory(*mr.signature, *this)
			.is_wire_reachable(va - mr.iova, length, write);
	return mr.layout != SIRO_MR_INDIRECT || walk(mr, va, length, write, [](span<u8>) {});
}

bool Regions::read(const siro_mr &mr, u64 va, u8 *to, u32 length)
{
	if (mr.layout == SIRO_MR_SIGNATURE)
		return send_blocks(mr, va, to, length);
	return walk(mr, va, length, false, [&to](span<u8> bytes) {
		memory_copy(to, bytes.data(), bytes.size());
		to += bytes.size();
	});
}

bool Regions::write(const siro_mr &mr, u64 va, const u8 *from, u32 length)
{
	if (mr.layout == SIRO_MR_SIGNATURE)
		return receive_blocks(mr, va, from, length);
	return walk(mr, va, length, true, [&from](span<u8> bytes) {
		memory_copy(bytes.data(), from, bytes.size());
		from += bytes.size();
	});
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

		if (!mr || !copy(*mr, sge.addr + offset, n))
			return false;
		offset = 0;
		length -= n;
	}
	return !length;
}

/* A bad key is found when the bytes are placed. */
bool SgeList::has_room(Regions &regions, u64 offset, u32 length) const
{
	bool room = true;

	static_cast<void>(walk(regions, offset, length, SIRO_ACCESS_LOCAL_WRITE,
			       [&](const siro_mr &mr, u64 va, u32 n) {
				       room = regions.has_room(mr, va, n);
				       return room;
			       }));
	return room;
}

bool SgeList::gather(Regions &regions, u64 offset, u8 *to, u32 length) const
{
	return walk(regions, offset, length, 0, [&](const siro_mr &mr, u64 va, u32 n) {
		u8 *here = to;

		to += n;
		return regions.read(mr, va, here, n);
	});
}

bool SgeList::scatter(Regions &regions, u64 offset, const u8 *from, u32 length) const
{
	return walk(regions, offset, length, SIRO_ACCESS_LOCAL_WRITE,
		    [&](const siro_mr &mr, u64 va, u32 n) {
			    const u8 *here = from;

			    from += n;
			    return regions.write(mr, va, here, n);
		    });
}

} // namespace sirocco
