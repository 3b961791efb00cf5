// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Data and fields of a signature region in memory. */
#pragma once

#include "base/base.h"

#include "regions.h"
#include "signature_layout.h"

namespace sirocco {

/* Each fails only where an entry of a list names a key that is no good. */
class SignatureMemory {
public:
	/* @below: for the keys in the lists */
	SignatureMemory(const siro_signature &signature, Regions &below);

	[[nodiscard]] bool read(u64 data, u8 *to, u32 length);
	[[nodiscard]] bool write(u64 data, const u8 *from, u32 length);

	[[nodiscard]] bool read_field(u64 block, u8 *to);
	[[nodiscard]] bool write_field(u64 block, const u8 *from);

	/* Data that lies together, at most @most bytes, to be looked at; none on failure. */
	span<const u8> contiguous(u64 data, u64 most);

	/* Tells of data and its fields before a byte of them is touched. */
	[[nodiscard]] bool is_reachable(u64 data, u64 length, bool write);

	/* The same of the data that bytes of the wire stand for. */
	[[nodiscard]] bool is_wire_reachable(u64 offset, u64 length, bool write);

private:
	/* With the piece of kernel memory that was used last: it serves many blocks. */
	struct List {
		explicit List(const siro_extents &e) : extents(e) {}

		const siro_extents &extents;
		u32 hint = 0;
		u64 begin = 0;
		span<u8> piece;
	};

	span<u8> kernel_bytes(List &list, u64 offset, u64 most);
	span<u8> bytes(List &list, u64 offset, u64 most, bool write);
	template <typename Use>
	bool walk(List &list, u64 offset, u64 length, bool write, Use use);
	template <typename Use>
	bool walk_data(u64 data, u64 length, bool write, Use use);
	template <typename Use>
	bool walk_field(u64 block, bool write, Use use);

	Regions &below_;
	SignatureLayout wire_;
	SignatureLayout layout_; /* of data_ */
	List data_;
	List fields_;
	u32 interval_;
	u32 field_;
	bool interleaved_;
	bool is_kernel_;
};

} // namespace sirocco
