// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "blocks.h"

#include "../unit/signature_model.h"

#include <cstdlib>

namespace sim {

using signature_model::content;
using signature_model::field_length;

namespace {

siro_sig_domain random_domain(random &r, uint32_t unit)
{
	siro_sig_domain d = {};

	d.format = r.pick<uint16_t>({SIRO_SIG_NONE, SIRO_SIG_T10_CRC, SIRO_SIG_T10_CRC,
				     SIRO_SIG_T10_CSUM, SIRO_SIG_CRC32, SIRO_SIG_CRC32C,
				     SIRO_SIG_CRC64});
	if (d.format == SIRO_SIG_NONE)
		return d;
	d.interval = unit * r.between(1, 3);
	d.seed = r.pick<uint64_t>({0, 0, 0xffff});
	d.ref_tag = r.pick({0u, 7u, 0xfffffffeu, static_cast<uint32_t>(r.next())});
	d.app_tag = static_cast<uint16_t>(r.below(4));
	d.app_mask = r.pick<uint16_t>({0, 0xffff, 0xff});
	d.flags = static_cast<uint16_t>(r.below(8)); /* remap, both escapes */
	return d;
}

uint32_t stream_length(const siro_sig_domain &d, uint32_t data)
{
	return d.format == SIRO_SIG_NONE ? data : data + data / d.interval * field_length(d.format);
}

content content_of(const siro_sig_domain &d, const host::bytes &stream)
{
	return d.format == SIRO_SIG_NONE ? content{stream, {}} : signature_model::part(d, stream);
}

host::bytes stream_of(const siro_sig_domain &d, const content &c)
{
	return d.format == SIRO_SIG_NONE ? c.data : signature_model::join(d, c);
}

} // namespace

blocks::blocks(host::region &key, random &r, uint32_t most) : key_(&key)
{
	siro_signature &s = key.signature;
	uint32_t unit = r.pick({8u, 24u, 64u, 512u});
	uint32_t multiple = 6 * unit; /* of blocks of either side */

	s.memory = random_domain(r, unit);
	s.wire = r.chance(400) ? s.memory : random_domain(r, unit);
	s.check_mask = static_cast<uint8_t>(r.next());
	/* A field for 8 bytes doubles them. */
	data_length_ = multiple * r.between(1, most / 2 / multiple);
}

uint32_t blocks::memory_length() const
{
	return stream_length(key_->signature.memory, data_length_);
}

uint32_t blocks::wire_length() const
{
	return stream_length(key_->signature.wire, data_length_);
}

void blocks::go_live(random &r, uint32_t access)
{
	host::region &to = *key_;
	siro_signature &s = to.signature;

	to.go_live((r.next() >> 2) & ~uint64_t{7}, wire_length(), access);
	s.data = to.mr.extents;
	s.key = to.key();
	if (siro_signature_prepare(&s) || s.wire_length != wire_length())
		abort();
	to.mr.layout = SIRO_MR_SIGNATURE;
	to.mr.signature = &s;
}

host::bytes blocks::pass(const siro_sig_domain &from, const siro_sig_domain &to, uint16_t domain,
			 const host::bytes &stream) const
{
	auto input = content_of(from, stream);

	return stream_of(to, signature_model::transfer(key_->signature, domain, input).output);
}

host::bytes blocks::wire(const host::bytes &memory) const
{
	const siro_signature &s = key_->signature;

	return pass(s.memory, s.wire, SIRO_SIG_IN_MEMORY, memory);
}

host::bytes blocks::memory(const host::bytes &wire) const
{
	const siro_signature &s = key_->signature;

	return pass(s.wire, s.memory, SIRO_SIG_ON_WIRE, wire);
}

} // namespace sim
