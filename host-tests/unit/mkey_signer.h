// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* A queue pair with an mkey that may have a signature. */
#pragma once

#include "lone_qp.h"
#include "signature_model.h"

/* Blocks are small, so that a stream of two fits a packet. */
class mkey_signer {
public:
	static constexpr uint32_t interval = 64, blocks = 2;

	static host::endpoint::options wide(bool pipelining = false);
	explicit mkey_signer(const host::endpoint::options &o = wide());

	lone_qp q;
	host::region &mkey;

	/* With that format on one side, no fields on the other. */
	static siro_mkey_sig in_memory(uint16_t format);
	static siro_mkey_sig on_wire(uint16_t format);

	/* A work request; @set besides what the parameters say. */
	host::send_wr configuration(const siro_mkey_sig *sig, const std::vector<siro_sge> &list,
				    uint32_t set = SIRO_MKEY_ACCESS);
	/* Its status */
	int execute(const host::send_wr &wr);

	/* What an SGE for all of the mkey's wire is. */
	siro_sge all() const
	{
		return {0, static_cast<uint32_t>(mkey.mr.length), mkey.key()};
	}

	/* Payload of a SEND of it; acknowledged. */
	host::bytes sent();

	bool has_error();
};
