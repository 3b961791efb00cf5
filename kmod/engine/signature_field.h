// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The integrity field of one block: making it and checking it. */
#pragma once

#include "base/base.h"

#include "t10_tuple.h"

namespace sirocco {

constexpr bool is_t10(u32 format)
{
	return format == SIRO_SIG_T10_CRC || format == SIRO_SIG_T10_CSUM;
}

/* Bytes of a field; 0 without. */
constexpr u32 field_bytes(u32 format)
{
	switch (format) {
	case SIRO_SIG_NONE:
		return 0;
	case SIRO_SIG_CRC32:
	case SIRO_SIG_CRC32C:
		return 4;
	default:
		return 8;
	}
}

/* Bytes of the guard in it, at its beginning. */
constexpr u32 guard_bytes(u32 format)
{
	return is_t10(format) ? 2 : field_bytes(format);
}

/* The first @count bytes in a check mask or a copy mask. */
constexpr u8 first_bytes(u32 count)
{
	return static_cast<u8>(0xff00 >> count);
}

/* Of one thing that all copies of fields have in common: they are short. */
inline void copy_field(u8 *to, const u8 *from, u64 length)
{
	if (length == SIRO_SIG_MAX_FIELD)
		memory_copy(to, from, SIRO_SIG_MAX_FIELD);
	else
		memory_copy(to, from, length);
}

class Field {
public:
	explicit Field(const siro_sig_domain &domain) : domain_(domain) {}

	/* The tags say that nothing is to be checked. */
	bool is_escaped(const u8 *field) const
	{
		return is_t10(domain_.format) && t10::is_escaped(domain_, load<t10::Tuple>(field));
	}

	/* What the field of block @index ought to be. */
	void make(u64 index, u64 guard, u8 *field) const;

	/* Of a tuple as a number in big endian; none of another field. */
	u64 checked_bits(u8 check_mask) const;

	/*
	 * True only if a tuple is right in these bits, as most are: a faster check() of
	 * a block that is not escaped.
	 */
	bool is_as_made(u64 index, const u8 *field, u64 guard, u64 bits) const
	{
		return bits && !((load<be64>(field) ^ tuple(index, guard)) & bits);
	}

	/* Bits in which a field's guard differs from @guard; 0 if the block is escaped. */
	u64 guard_difference(const u8 *field, u64 guard, u8 check_mask) const;

	/* False if a byte of @check_mask is wrong; fills type, values and offset. */
	[[nodiscard, gnu::noinline]] bool check(u64 index, const u8 *field, u64 guard,
						u8 check_mask, siro_sig_error &error) const;

private:
	u64 tuple(u64 index, u64 guard) const
	{
		return guard << 48 | u64{domain_.app_tag} << 32 | t10::ref_tag(domain_, index);
	}

	u64 guard_in(const u8 *field) const;

	const siro_sig_domain &domain_;
};

} // namespace sirocco
