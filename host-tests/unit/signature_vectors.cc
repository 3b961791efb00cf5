// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* T1, T2: three blocks of every format, size and layout, computed by another program. */
#include "signature_region.h"

#include <gtest/gtest.h>
#include <numeric>

using host::bytes;
using sirocco::SignatureStatus;
using namespace signature_model;

namespace {

/* CRCs are those of zlib, over blocks and fields as they follow each other. */
struct vector {
	uint16_t memory, wire; /* formats */
	uint32_t memory_interval, wire_interval;
	bool interleaved;
	uint16_t where; /* the input is */
	bool variant;
	uint32_t bad; /* field of block 1: 0 none, 1 guard, 2 application tag, 3 reference tag */
	uint32_t input_crc, output_crc;
	int error;
	uint64_t expected, actual, offset;
};

const vector vectors[] = {
#include "../vectors/signature_vectors.inc"
};

uint32_t crc_of(const bytes &data)
{
	return ~host::crc32_bitwise(~0u, data.data(), data.size());
}

bytes pattern(uint64_t length)
{
	bytes out(length);

	for (uint64_t i = 0; i < length; i++)
		out[i] = static_cast<uint8_t>(i * 167 + (i >> 8) * 29 + (i >> 3) * i);
	return out;
}

siro_sig_domain domain_of(const vector &v, uint16_t where)
{
	bool wire = where == SIRO_SIG_ON_WIRE, other = v.variant && wire;
	siro_sig_domain d = signature_domain(wire ? v.wire : v.memory,
					     wire ? v.wire_interval : v.memory_interval);
	bool t10 = d.format == SIRO_SIG_T10_CRC || d.format == SIRO_SIG_T10_CSUM;

	if (v.variant && d.format)
		d.seed = t10 ? 0xffff : ~0ull >> (64 - 8 * field_length(d.format));
	d.app_tag = other ? 0x4321 : 0x1234;
	d.ref_tag = other ? 7 : 0xfffffffe;
	d.flags = SIRO_SIG_REF_REMAP;
	return d;
}

signature_attributes attributes_of(const vector &v)
{
	signature_attributes a;

	a.memory = domain_of(v, SIRO_SIG_IN_MEMORY);
	a.wire = domain_of(v, SIRO_SIG_ON_WIRE);
	a.data_length = 3 * std::lcm(v.memory_interval, v.wire_interval);
	a.interleaved = v.interleaved;
	a.longest_piece = 5000;
	return a;
}

content input_of(const vector &v, const signature_attributes &a)
{
	static const uint32_t bytes_of[] = {0, 0, 3, 7};
	const siro_sig_domain &d = v.where == SIRO_SIG_ON_WIRE ? a.wire : a.memory;
	content c = make_content(d, pattern(a.data_length));

	if (v.bad && d.format)
		c.fields[field_length(d.format) + bytes_of[v.bad]] ^= 1;
	return c;
}

constexpr uint32_t mtu = 4096;

bytes send(signature_region &r, const content &input)
{
	bytes out;

	r.write(input);
	for (uint64_t at = 0; at < r.sig.wire_length; at += mtu) {
		bytes packet = r.produce(
			at, static_cast<uint32_t>(std::min<uint64_t>(mtu, r.sig.wire_length - at)));

		out.insert(out.end(), packet.begin(), packet.end());
	}
	return out;
}

bytes receive(signature_region &r, const bytes &wire)
{
	for (size_t at = 0; at < wire.size(); at += mtu) {
		auto end =
			wire.begin() + static_cast<long>(std::min<size_t>(wire.size(), at + mtu));

		EXPECT_EQ(r.place(at, bytes(wire.begin() + static_cast<long>(at), end)),
			  SignatureStatus::done);
	}
	return join(r.sig.memory, r.read());
}

} // namespace

TEST(signature_vectors, each_transfer__has_the_known_output_and_verdict)
{
	for (size_t i = 0; i < std::size(vectors); i++) {
		const vector &v = vectors[i];
		bool from_wire = v.where == SIRO_SIG_ON_WIRE;
		signature_attributes a = attributes_of(v);
		content input = input_of(v, a);
		bytes stream = join(from_wire ? a.wire : a.memory, input);
		signature_region r(a);

		SCOPED_TRACE(i);
		ASSERT_EQ(r.prepared, 0);
		ASSERT_EQ(crc_of(stream), v.input_crc);
		EXPECT_EQ(crc_of(from_wire ? receive(r, stream) : send(r, input)), v.output_crc);
		if (v.error < 0)
			expect_no_error(r.sig);
		else
			expect_error(r.sig, {v.expected, v.actual, v.offset, 0,
					     static_cast<uint16_t>(v.error), v.where});
		ASSERT_FALSE(HasFailure());
	}
	EXPECT_GT(std::size(vectors), 500u);
}
