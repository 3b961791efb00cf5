// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "signature_field.h"

namespace sirocco {

namespace {

/* Bytes @first to @first + @count of @mask as bits of a number in big endian. */
u64 value_mask(u8 mask, u32 first, u32 count)
{
	u64 value = 0;

	for (u32 i = first; i < first + count; i++)
		value = value << 8 | (mask & (0x80 >> i) ? 0xff : 0);
	return value;
}

} // namespace

void Field::make(u64 index, u64 guard, u8 *field) const
{
	switch (guard_bytes(domain_.format)) {
	case 2:
		store(field, t10::Tuple{static_cast<u16>(guard), domain_.app_tag,
					t10::ref_tag(domain_, index)});
		break;
	case 4:
		store(field, be32(static_cast<u32>(guard)));
		break;
	case 8:
		store(field, be64(guard));
		break;
	}
}

u64 Field::guard_in(const u8 *field) const
{
	switch (guard_bytes(domain_.format)) {
	case 2:
		return load<be16>(field);
	case 4:
		return load<be32>(field);
	default:
		return load<be64>(field);
	}
}

u64 Field::checked_bits(u8 check_mask) const
{
	if (!is_t10(domain_.format))
		return 0;
	return value_mask(check_mask, 0, 8) & ~(u64{static_cast<u16>(~domain_.app_mask)} << 32);
}

u64 Field::guard_difference(const u8 *field, u64 guard, u8 check_mask) const
{
	u64 difference = guard_in(field) ^ guard;

	if (is_escaped(field) ||
	    !(difference & value_mask(check_mask, 0, guard_bytes(domain_.format))))
		return 0;
	return difference;
}

bool Field::check(u64 index, const u8 *field, u64 guard, u8 check_mask, siro_sig_error &error) const
{
	u32 stride = domain_.interval + field_bytes(domain_.format);

	error.offset = index * stride;
	if (guard_difference(field, guard, check_mask)) {
		error.type = SIRO_SIG_BAD_GUARD;
		error.expected = guard_in(field);
		error.actual = guard;
		return false;
	}
	if (!is_t10(domain_.format) || is_escaped(field))
		return true;

	t10::Tuple tuple = load<t10::Tuple>(field);
	u32 ref_tag = t10::ref_tag(domain_, index);

	if ((tuple.app_tag ^ domain_.app_tag) & domain_.app_mask & value_mask(check_mask, 2, 2)) {
		error.type = SIRO_SIG_BAD_APPTAG;
		error.expected = tuple.app_tag;
		error.actual = domain_.app_tag;
		return false;
	}
	if ((tuple.ref_tag ^ ref_tag) & value_mask(check_mask, 4, 4)) {
		error.type = SIRO_SIG_BAD_REFTAG;
		error.expected = tuple.ref_tag;
		error.actual = ref_tag;
		return false;
	}
	return true;
}

} // namespace sirocco
