// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "signature_fault.h"

#include "signature_layout.h"
#include "t10_tuple.h"

namespace sirocco {

namespace {

struct Place {
	u32 offset;
	u32 length;
};

/* In the field of a block; empty: it has no such part. */
Place place_in_field(u32 format, u32 target)
{
	switch (target) {
	case SIRO_SIG_GUARD:
		return {0, guard_bytes(format)};
	case SIRO_SIG_APP:
		return {2, is_t10(format) ? 2u : 0u};
	case SIRO_SIG_REF:
		return {4, is_t10(format) ? 4u : 0u};
	default:
		return {};
	}
}

/* One of the times that it may still be done. */
bool take_one(siro_sig_injection &injection)
{
	u32 left = load_relaxed(injection.count);

	while (left && !__atomic_compare_exchange_n(&injection.count, &left, left - 1, false,
						    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	return left;
}

} // namespace

SignatureFault::SignatureFault(void *port, const siro_signature &signature, u32 side)
	: injection_(siro_port_signature_injection(port))
{
	constexpr u32 data_bytes = 8;

	if (!injection_ || injection_->side != side)
		return;

	const siro_sig_domain &wire = signature.wire;
	u32 field = field_bytes(wire.format);
	u32 interval = field ? wire.interval : signature.memory.interval;
	u64 block = injection_->block * (u64{interval} + field);

	if (injection_->target == SIRO_SIG_DATA) {
		begin_ = block;
		length_ = min(interval, data_bytes);
		return;
	}

	Place place = place_in_field(wire.format, injection_->target);

	begin_ = block + interval + place.offset;
	length_ = place.length;
}

SignatureFault::Hit SignatureFault::hit(u64 offset, u32 length) const
{
	u64 begin = max(begin_, offset);
	u64 end = min(begin_ + length_, offset + length);

	if (begin >= end || !load_relaxed(injection_->count))
		return {};
	return {static_cast<u32>(begin - offset), static_cast<u32>(end - begin)};
}

void SignatureFault::spoil(u64 offset, u8 *bytes, u32 length)
{
	/* A hit in two packets counts for the second one. */
	if (!length || (offset + length == begin_ + length_ && !take_one(*injection_)))
		return;
	for (u32 i = 0; i < length; i++) {
		u64 from_end = begin_ + length_ - 1 - (offset + i);

		bytes[i] = static_cast<u8>(bytes[i] ^ injection_->mask >> (8 * from_end));
	}
}

} // namespace sirocco
