// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* A signature region with attributes of all kinds, and what goes through it as a whole. */
#pragma once

#include "endpoint.h"
#include "random.h"

namespace sim {

class blocks {
public:
	blocks() = default;
	/* Attributes for at most @most bytes on either side. */
	blocks(host::region &key, random &r, uint32_t most);

	uint32_t memory_length() const;
	uint32_t wire_length() const;

	/* Now that the region has its list of memory_length() bytes. */
	void go_live(random &r, uint32_t access);

	/* What a READ of all brings from memory like this, what a WRITE of all makes. */
	host::bytes wire(const host::bytes &memory) const;
	host::bytes memory(const host::bytes &wire) const;

private:
	host::bytes pass(const siro_sig_domain &from, const siro_sig_domain &to, uint16_t domain,
			 const host::bytes &stream) const;

	host::region *key_ = nullptr;
	uint32_t data_length_ = 0;
};

} // namespace sim
