// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The first signature error of a region, kept until it is asked for. */
#pragma once

#include "base/base.h"

#include "siro_signature.h"

namespace sirocco {

/* Errors may come from several queue pairs at a time; only the first is kept. */
class SignatureLatch {
public:
	explicit SignatureLatch(siro_sig_latch &latch) : latch_(latch) {}

	/* Whether it is the first. */
	bool put(const siro_sig_error &error);
	[[nodiscard]] bool take(siro_sig_error &error);
	void reset();

private:
	enum State : u32 { empty, filling, full };

	siro_sig_latch &latch_;
};

} // namespace sirocco
