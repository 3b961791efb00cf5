// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Faults for tests: bits of blocks on the wire are turned over. */
#pragma once

#include "base/base.h"

#include "siro_signature.h"

namespace sirocco {

/* What a transfer is to spoil. Costs a look at a pointer if that is nothing. */
class SignatureFault {
public:
	SignatureFault(void *port, const siro_signature &signature, u32 side);

	/* Bytes that the fault hits of @length at @offset of the wire. */
	struct Hit {
		u32 begin;
		u32 length;
	};

	Hit hit(u64 offset, u32 length) const;

	/* @bytes: @length that are at @offset of the wire, all of them hit. */
	void spoil(u64 offset, u8 *bytes, u32 length);

private:
	siro_sig_injection *injection_; /* nullptr: none */
	u64 begin_ = 0;
	u32 length_ = 0;
};

} // namespace sirocco
