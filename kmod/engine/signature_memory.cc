// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "signature_memory.h"

#include "extents.h"

namespace sirocco {

namespace {

bool is_interleaved(const siro_signature &s)
{
	return s.memory.format != SIRO_SIG_NONE && !s.metadata.count;
}

siro_sig_domain domain_of_list(const siro_signature &s)
{
	siro_sig_domain domain = s.memory;

	if (!is_interleaved(s))
		domain.format = SIRO_SIG_NONE;
	return domain;
}

} // namespace

SignatureMemory::SignatureMemory(const siro_signature &signature, Regions &below)
	: below_(below), wire_(signature.wire), layout_(domain_of_list(signature)),
	  data_(signature.data), fields_(signature.metadata), interval_(signature.memory.interval),
	  field_(field_bytes(signature.memory.format)), interleaved_(is_interleaved(signature)),
	  is_kernel_(signature.flags & SIRO_SIG_KERNEL_LISTS)
{
}

span<u8> SignatureMemory::kernel_bytes(List &list, u64 offset, u64 most)
{
	if (offset - list.begin >= list.piece.size()) {
		Extents::Piece piece = Extents(list.extents).at(offset, list.hint);

		list.begin = offset;
		list.piece = {reinterpret_cast<u8 *>(static_cast<uptr>(piece.address)),
			      piece.length};
	}

	u64 skip = offset - list.begin;

	return {list.piece.data() + skip, min(most, list.piece.size() - skip)};
}

span<u8> SignatureMemory::bytes(List &list, u64 offset, u64 most, bool write)
{
	if (is_kernel_)
		return kernel_bytes(list, offset, most);

	Extents::Piece piece = Extents(list.extents).at(offset, list.hint);

	return below_.piece_bytes(piece.address, min(most, piece.length), piece.lkey, write);
}

template <typename Use>
bool SignatureMemory::walk(List &list, u64 offset, u64 length, bool write, Use use)
{
	while (length) {
		span<u8> here = bytes(list, offset, length, write);

		if (here.empty())
			return false;
		use(here);
		offset += here.size();
		length -= here.size();
	}
	return true;
}

template <typename Use>
bool SignatureMemory::walk_data(u64 data, u64 length, bool write, Use use)
{
	while (length) {
		u64 offset = layout_.offset_of(data);
		u64 here = layout_.part(offset, length).length;

		if (!walk(data_, offset, here, write, use))
			return false;
		data += here;
		length -= here;
	}
	return true;
}

template <typename Use>
bool SignatureMemory::walk_field(u64 block, bool write, Use use)
{
	if (interleaved_)
		return walk(data_, block * (interval_ + field_) + interval_, field_, write, use);
	return walk(fields_, block * field_, field_, write, use);
}

bool SignatureMemory::read(u64 data, u8 *to, u32 length)
{
	return walk_data(data, length, false, [&to](span<u8> bytes) {
		memory_copy(to, bytes.data(), bytes.size());
		to += bytes.size();
	});
}

bool SignatureMemory::write(u64 data, const u8 *from, u32 length)
{
	return walk_data(data, length, true, [&from](span<u8> bytes) {
		memory_copy(bytes.data(), from, bytes.size());
		from += bytes.size();
	});
}

bool SignatureMemory::read_field(u64 block, u8 *to)
{
	return walk_field(block, false, [&to](span<u8> bytes) {
		copy_field(to, bytes.data(), bytes.size());
		to += bytes.size();
	});
}

bool SignatureMemory::write_field(u64 block, const u8 *from)
{
	return walk_field(block, true, [&from](span<u8> bytes) {
		copy_field(bytes.data(), from, bytes.size());
		from += bytes.size();
	});
}

span<const u8> SignatureMemory::contiguous(u64 data, u64 most)
{
	u64 offset = layout_.offset_of(data);

	span<u8> here = bytes(data_, offset, layout_.part(offset, most).length, false);

	below_.charge_bytes(here.size());
	return here;
}

bool SignatureMemory::is_reachable(u64 data, u64 length, bool write)
{
	auto nothing = [](span<u8>) {
	};

	if (!walk_data(data, length, write, nothing))
		return false;
	if (!field_ || !length)
		return true;
	for (u64 block = data / interval_; block <= (data + length - 1) / interval_; block++)
		if (!walk_field(block, write, nothing))
			return false;
	return true;
}

bool SignatureMemory::is_wire_reachable(u64 offset, u64 length, bool write)
{
	if (is_kernel_ || !length)
		return true;

	u64 begin = wire_.part(offset, 1).data;
	SignatureLayout::Part last = wire_.part(offset + length - 1, 1);

	return is_reachable(begin, last.data + !last.is_field - begin, write);
}

} // namespace sirocco
