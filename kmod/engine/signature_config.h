// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Checks of a signature region's attributes. */
#pragma once

#include "base/base.h"

#include "siro_signature.h"

namespace sirocco {

/* @user: the seed is all zeros or all ones. */
bool is_valid(const siro_sig_domain &domain, bool user);

/* A byte of the field of one may be a byte of the other's. */
bool have_same_structure(const siro_sig_domain &a, const siro_sig_domain &b);

} // namespace sirocco
