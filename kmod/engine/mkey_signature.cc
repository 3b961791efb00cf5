// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "mkey_signature.h"

#include "signature_config.h"
#include "signature_field.h"

namespace sirocco {

namespace {

siro_sig_domain to_domain(const siro_mkey_sig_domain &from)
{
	siro_sig_domain to{};

	to.seed = from.seed;
	to.interval = from.interval;
	to.ref_tag = from.ref_tag;
	to.app_tag = from.app_tag;
	to.app_mask = is_t10(from.format) ? 0xffff : 0;
	to.format = from.format;
	to.flags = static_cast<u16>(from.flags);
	return to;
}

bool has_no_tags(const siro_mkey_sig_domain &domain)
{
	return !domain.app_tag && !domain.ref_tag && !domain.flags;
}

bool has_valid_tags(const siro_mkey_sig_domain &domain)
{
	constexpr u32 known = SIRO_SIG_REF_REMAP | SIRO_SIG_APP_ESCAPE | SIRO_SIG_REF_ESCAPE;

	if (!is_t10(domain.format))
		return has_no_tags(domain);
	if (domain.flags & SIRO_SIG_REF_ESCAPE && !(domain.flags & SIRO_SIG_APP_ESCAPE))
		return false;
	return !(domain.flags & ~known);
}

bool is_good(const siro_mkey_sig_domain &domain)
{
	if (domain.reserved || !has_valid_tags(domain))
		return false;
	if (domain.format == SIRO_SIG_NONE)
		return !domain.seed && !domain.interval;
	return is_valid(to_domain(domain), true);
}

} // namespace

bool is_valid_mkey_sig(const siro_mkey_sig &sig)
{
	bool copies = sig.flags & SIRO_MKEY_SIG_COPY_MASK;

	if (sig.reserved || sig.flags & ~u32{SIRO_MKEY_SIG_COPY_MASK} || (!copies && sig.copy_mask))
		return false;
	if (!is_good(sig.memory) || !is_good(sig.wire))
		return false;
	if (copies)
		return have_same_structure(to_domain(sig.memory), to_domain(sig.wire));
	return sig.memory.format != SIRO_SIG_NONE || sig.wire.format != SIRO_SIG_NONE;
}

void set_attributes(siro_signature &signature, const siro_mkey_sig &sig)
{
	signature.memory = to_domain(sig.memory);
	signature.wire = to_domain(sig.wire);
	signature.check_mask = sig.check_mask;
	signature.copy_mask = sig.copy_mask;
	signature.flags = SIRO_SIG_USER;
	if (sig.flags & SIRO_MKEY_SIG_COPY_MASK)
		signature.flags |= SIRO_SIG_COPY_MASK;
}

void reset_attributes(siro_signature &signature)
{
	signature.memory = {};
	signature.wire = {};
}

} // namespace sirocco
