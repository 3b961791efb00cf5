// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Signature handover written down plainly: whole streams, one byte after the other. */
#pragma once

#include "siro_signature.h"
#include "wire_packet.h"

#include <map>

namespace signature_model {

using host::bytes;

uint32_t field_length(uint16_t format);
uint64_t guard_of(const siro_sig_domain &domain, const bytes &block);

/* What has to be in a field. */
bytes field_of(const siro_sig_domain &domain, const bytes &block, uint64_t index);

/* Data and the fields of a domain, one after the other. */
struct content {
	bytes data, fields;
};

/* Data with right fields. */
content make_content(const siro_sig_domain &domain, const bytes &data);

/* Block, field, block, field; and back. */
bytes join(const siro_sig_domain &domain, const content &c);
content part(const siro_sig_domain &domain, const bytes &stream);

struct outcome {
	content output;
	std::map<uint64_t, siro_sig_error> errors; /* by block of the input; without key */
};

/* @domain: SIRO_SIG_IN_MEMORY or SIRO_SIG_ON_WIRE, where @input is. */
outcome transfer(const siro_signature &signature, uint16_t domain, const content &input);

} // namespace signature_model
