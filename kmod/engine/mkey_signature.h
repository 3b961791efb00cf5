// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Signatures of mkeys, whose attributes come from user space. */
#pragma once

#include "base/base.h"

#include "siro_signature.h"

namespace sirocco {

/* All that can be said without the layout. */
bool is_valid_mkey_sig(const siro_mkey_sig &sig);

/* The attributes of @sig, which is valid, replace those of @signature. */
void set_attributes(siro_signature &signature, const siro_mkey_sig &sig);

/* Makes a signature one without attributes. */
void reset_attributes(siro_signature &signature);

inline bool has_attributes(const siro_signature &signature)
{
	return signature.memory.format != SIRO_SIG_NONE || signature.wire.format != SIRO_SIG_NONE;
}

} // namespace sirocco
