// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "signature_layout.h"

namespace sirocco {

SignatureLayout::Part SignatureLayout::part(u64 offset, u64 most) const
{
	if (!field_)
		return {false, 0, 0, offset, most};

	u32 stride = interval_ + field_;
	u64 block = offset / stride;
	u32 within = static_cast<u32>(offset % stride);

	if (within < interval_)
		return {false, 0, block, block * interval_ + within,
			min(most, u64{interval_ - within})};
	return {true, within - interval_, block, (block + 1) * interval_,
		min(most, u64{stride - within})};
}

u64 SignatureLayout::offset_of(u64 data) const
{
	return field_ ? data + data / interval_ * field_ : data;
}

} // namespace sirocco
