// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Where data and fields are in the bytes of one domain. */
#pragma once

#include "base/base.h"

#include "signature_field.h"

namespace sirocco {

/* Blocks of data, each with its field behind it; or data only. */
class SignatureLayout {
public:
	explicit SignatureLayout(const siro_sig_domain &domain)
		: interval_(domain.interval), field_(field_bytes(domain.format))
	{
	}

	/* Bytes that belong to one thing: data, or the field of a block. */
	struct Part {
		bool is_field;
		u32 within; /* the field */
		u64 block; /* 0 if there are no fields */
		u64 data; /* offset of the first byte of data that is here or comes next */
		u64 length;
	};

	/* What is at @offset, at most @most bytes. */
	Part part(u64 offset, u64 most) const;

	/* What follows a part that reached to its end. */
	Part after(const Part &part, u64 most) const
	{
		if (part.is_field)
			return {false, 0, part.block + 1, part.data, min(most, u64{interval_})};
		return {true, 0, part.block, part.data + part.length, min(most, u64{field_})};
	}

	/* Where a byte of data is. */
	u64 offset_of(u64 data) const;

private:
	u32 interval_;
	u32 field_;
};

} // namespace sirocco
