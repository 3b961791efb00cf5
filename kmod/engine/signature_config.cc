// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What follows from a signature region's attributes. */
#include "signature_config.h"

#include "signature_field.h"
#include "signature_latch.h"
#include "t10_tuple.h"

namespace sirocco {

bool is_valid(const siro_sig_domain &domain, bool user)
{
	if (domain.format == SIRO_SIG_NONE)
		return true;
	if (domain.format > SIRO_SIG_CRC64 || !domain.interval || domain.interval % 8 ||
	    domain.interval > SIRO_SIG_MAX_INTERVAL)
		return false;

	u64 ones = ~u64{0} >> (64 - 8 * guard_bytes(domain.format));

	return domain.seed <= ones && (!user || !domain.seed || domain.seed == ones);
}

bool have_same_structure(const siro_sig_domain &a, const siro_sig_domain &b)
{
	return a.format != SIRO_SIG_NONE && b.format != SIRO_SIG_NONE && a.interval == b.interval &&
	       is_t10(a.format) == is_t10(b.format) &&
	       field_bytes(a.format) == field_bytes(b.format);
}

namespace {

bool divides(const siro_sig_domain &domain, u64 data_length)
{
	return domain.format == SIRO_SIG_NONE || !(data_length % domain.interval);
}

/* 0 if the lists do not hold whole blocks. */
u64 data_length(const siro_signature &s)
{
	u64 mapped = s.data.row_length * s.data.repeat;
	u32 field = field_bytes(s.memory.format);

	if (!field)
		return mapped;
	if (s.metadata.count) {
		u64 fields = s.metadata.row_length * s.metadata.repeat / field;

		return fields < mapped / s.memory.interval ? 0 : mapped;
	}

	u32 stride = s.memory.interval + field;

	return mapped % stride ? 0 : mapped / stride * s.memory.interval;
}

bool has_wire_length(siro_signature &s)
{
	u32 field = field_bytes(s.wire.format);
	u64 fields = field ? s.data_length / s.wire.interval * field : 0;

	return !__builtin_add_overflow(s.data_length, fields, &s.wire_length);
}

/* Bytes of the field that mean the same in both domains. */
u8 common_bytes(const siro_signature &s)
{
	const siro_sig_domain &a = s.memory, &b = s.wire;
	u8 mask = 0;

	if (a.format == b.format && (a.seed == b.seed || !(s.flags & SIRO_SIG_USER)))
		mask |= first_bytes(guard_bytes(a.format));
	if (is_t10(a.format) && a.app_tag == b.app_tag)
		mask |= t10::app_bytes;
	if (is_t10(a.format) && a.ref_tag == b.ref_tag)
		mask |= t10::ref_bytes;
	return mask;
}

bool settle_copying(siro_signature &s)
{
	bool both = s.memory.format != SIRO_SIG_NONE && s.wire.format != SIRO_SIG_NONE;
	bool same = have_same_structure(s.memory, s.wire);

	if (s.flags & SIRO_SIG_COPY_MASK ? !same : s.flags & SIRO_SIG_POISON && both && !same)
		return false;
	if (!(s.flags & SIRO_SIG_COPY_MASK))
		s.copy_mask = same ? common_bytes(s) : 0;
	return true;
}

} // namespace

} // namespace sirocco

using namespace sirocco;

extern "C" int siro_signature_prepare(siro_signature *signature)
{
	siro_signature &s = *signature;
	bool user = s.flags & SIRO_SIG_USER;

	if (!is_valid(s.memory, user) || !is_valid(s.wire, user))
		return einval;
	if (user && s.memory.format == SIRO_SIG_NONE && s.wire.format == SIRO_SIG_NONE)
		return einval;
	s.data_length = data_length(s);
	if (!s.data_length || !divides(s.memory, s.data_length) ||
	    !divides(s.wire, s.data_length) || !has_wire_length(s) || !settle_copying(s))
		return einval;
	s.generation++;
	s.blocks.count = 0;
	SignatureLatch(s.latch).reset();
	return 0;
}
