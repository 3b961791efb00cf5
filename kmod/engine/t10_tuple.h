// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The integrity field of T10-DIF, the same in memory and on the wire. */
#pragma once

#include "base/base.h"

#include "siro_signature.h"

namespace sirocco::t10 {

struct Tuple {
	be16 guard;
	be16 app_tag;
	be32 ref_tag;
};

static_assert(sizeof(Tuple) == 8 && alignof(Tuple) == 1);

/* Bytes of a check mask or a copy mask. */
constexpr u8 app_bytes = 0x30;
constexpr u8 ref_bytes = 0x0f;

/* Modulo 2^32, as the field is. */
inline u32 ref_tag(const siro_sig_domain &domain, u64 block)
{
	u64 step = domain.flags & SIRO_SIG_REF_REMAP ? block : 0;

	return static_cast<u32>(domain.ref_tag + step);
}

/* The block is not to be checked. */
inline bool is_escaped(const siro_sig_domain &domain, const Tuple &tuple)
{
	if (!(domain.flags & SIRO_SIG_APP_ESCAPE) || tuple.app_tag != 0xffff)
		return false;
	return !(domain.flags & SIRO_SIG_REF_ESCAPE) || tuple.ref_tag == 0xffffffff;
}

} // namespace sirocco::t10
