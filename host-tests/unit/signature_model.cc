// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "signature_model.h"

namespace signature_model {

namespace {

bool is_t10(const siro_sig_domain &domain)
{
	return domain.format == SIRO_SIG_T10_CRC || domain.format == SIRO_SIG_T10_CSUM;
}

uint32_t guard_length(const siro_sig_domain &domain)
{
	return is_t10(domain) ? 2 : field_length(domain.format);
}

uint64_t number(const bytes &from, size_t at, size_t length)
{
	uint64_t value = 0;

	for (size_t i = 0; i < length; i++)
		value = value * 256 + from[at + i];
	return value;
}

void put_number(bytes &to, uint64_t value, size_t length)
{
	for (size_t i = length; i--;)
		to.push_back(static_cast<uint8_t>(value >> 8 * i));
}

uint64_t reflected_crc(uint64_t state, uint64_t polynomial, const bytes &block)
{
	for (uint8_t byte : block)
		for (int bit = 0; bit < 8; bit++) {
			bool out = (state ^ byte >> bit) & 1;

			state = state >> 1 ^ (out ? polynomial : 0);
		}
	return state;
}

uint64_t t10_crc(uint64_t state, const bytes &block)
{
	for (uint8_t byte : block)
		for (int bit = 7; bit >= 0; bit--) {
			bool out = (state >> 15 ^ byte >> bit) & 1;

			state = (state << 1 & 0xffff) ^ (out ? 0x8bb7 : 0);
		}
	return state;
}

uint64_t ip_checksum(uint64_t sum, const bytes &block)
{
	for (size_t i = 0; i < block.size(); i += 2) {
		sum += block[i] * 256u + (i + 1 < block.size() ? block[i + 1] : 0);
		if (sum > 0xffff)
			sum -= 0xffff;
	}
	return sum ^ 0xffff;
}

bytes slice(const bytes &from, size_t at, size_t length)
{
	return bytes(from.begin() + static_cast<long>(at),
		     from.begin() + static_cast<long>(at + length));
}

uint32_t ref_tag(const siro_sig_domain &domain, uint64_t index)
{
	return static_cast<uint32_t>(domain.ref_tag +
				     (domain.flags & SIRO_SIG_REF_REMAP ? index : 0));
}

bool is_escaped(const siro_sig_domain &domain, const bytes &field)
{
	if (!is_t10(domain))
		return false;
	if (!(domain.flags & SIRO_SIG_APP_ESCAPE))
		return false;
	if (domain.flags & SIRO_SIG_REF_ESCAPE)
		return number(field, 2, 6) == 0xffffffffffff;
	return number(field, 2, 2) == 0xffff;
}

bool is_checked(const siro_signature &s, size_t byte)
{
	return s.check_mask >> (7 - byte) & 1;
}

/* Whether one of the bytes is checked and wrong; @bits: which of their bits count. */
bool is_wrong(const siro_signature &s, const bytes &found, const bytes &right, size_t first,
	      size_t length, uint64_t bits = ~0ull)
{
	for (size_t i = first; i < first + length; i++) {
		uint8_t care = static_cast<uint8_t>(bits >> 8 * (first + length - 1 - i));

		if (is_checked(s, i) && (found[i] ^ right[i]) & care)
			return true;
	}
	return false;
}

/* 0, or which check failed with 1 added */
int check(const siro_signature &s, const siro_sig_domain &domain, const bytes &found,
	  const bytes &right)
{
	if (is_escaped(domain, found))
		return 0;
	if (is_wrong(s, found, right, 0, guard_length(domain)))
		return 1 + SIRO_SIG_BAD_GUARD;
	if (!is_t10(domain))
		return 0;
	if (is_wrong(s, found, right, 2, 2, domain.app_mask))
		return 1 + SIRO_SIG_BAD_APPTAG;
	if (is_wrong(s, found, right, 4, 4))
		return 1 + SIRO_SIG_BAD_REFTAG;
	return 0;
}

siro_sig_error record(const siro_sig_domain &domain, int type, const bytes &found,
		      const bytes &right, uint64_t index)
{
	siro_sig_error error = {};
	size_t at = type == SIRO_SIG_BAD_GUARD ? 0 : type == SIRO_SIG_BAD_APPTAG ? 2 : 4;
	size_t length = type == SIRO_SIG_BAD_GUARD ? guard_length(domain) : at;

	error.type = static_cast<uint16_t>(type);
	error.expected = number(found, at, length);
	error.actual = number(right, at, length);
	error.offset = index * (domain.interval + field_length(domain.format));
	return error;
}

/* Which bytes of the output's field are the input's. */
uint8_t copied(const siro_signature &s)
{
	const siro_sig_domain &m = s.memory, &w = s.wire;
	uint8_t mask = 0;

	if (!m.format || !w.format || m.interval != w.interval || is_t10(m) != is_t10(w))
		return 0;
	if (s.flags & SIRO_SIG_COPY_MASK)
		return s.copy_mask;
	if (m.format == w.format && (!(s.flags & SIRO_SIG_USER) || m.seed == w.seed))
		mask |= is_t10(m) ? 0xc0 : 0xff;
	if (is_t10(m) && m.app_tag == w.app_tag)
		mask |= 0x30;
	if (is_t10(m) && m.ref_tag == w.ref_tag)
		mask |= 0x0f;
	return mask;
}

bytes field_at(const siro_sig_domain &domain, const bytes &fields, uint64_t index)
{
	uint32_t length = field_length(domain.format);

	return slice(fields, index * length, length);
}

} // namespace

uint32_t field_length(uint16_t format)
{
	static const uint32_t lengths[] = {0, 8, 8, 4, 4, 8};

	return lengths[format];
}

uint64_t guard_of(const siro_sig_domain &domain, const bytes &block)
{
	switch (domain.format) {
	case SIRO_SIG_T10_CRC:
		return t10_crc(domain.seed, block);
	case SIRO_SIG_T10_CSUM:
		return ip_checksum(domain.seed, block);
	case SIRO_SIG_CRC32:
		return reflected_crc(domain.seed, 0xedb88320, block) ^ 0xffffffff;
	case SIRO_SIG_CRC32C:
		return reflected_crc(domain.seed, 0x82f63b78, block) ^ 0xffffffff;
	default:
		return ~reflected_crc(domain.seed, 0x9a6c9329ac4bc9b5, block);
	}
}

bytes field_of(const siro_sig_domain &domain, const bytes &block, uint64_t index)
{
	bytes field;

	put_number(field, guard_of(domain, block), guard_length(domain));
	if (is_t10(domain)) {
		put_number(field, domain.app_tag, 2);
		put_number(field, ref_tag(domain, index), 4);
	}
	return field;
}

content make_content(const siro_sig_domain &domain, const bytes &data)
{
	content c = {data, {}};

	if (domain.format)
		for (uint64_t i = 0; i * domain.interval < data.size(); i++) {
			bytes block = slice(data, i * domain.interval, domain.interval);
			bytes field = field_of(domain, block, i);

			c.fields.insert(c.fields.end(), field.begin(), field.end());
		}
	return c;
}

bytes join(const siro_sig_domain &domain, const content &c)
{
	uint32_t length = field_length(domain.format);
	bytes stream;

	for (size_t i = 0; i < c.data.size(); i++) {
		stream.push_back(c.data[i]);
		if (length && (i + 1) % domain.interval == 0) {
			bytes field = field_at(domain, c.fields, i / domain.interval);

			stream.insert(stream.end(), field.begin(), field.end());
		}
	}
	return stream;
}

content part(const siro_sig_domain &domain, const bytes &stream)
{
	uint32_t length = field_length(domain.format);
	content c;

	for (size_t i = 0; i < stream.size(); i++) {
		bool data = !length || i % (domain.interval + length) < domain.interval;

		(data ? c.data : c.fields).push_back(stream[i]);
	}
	return c;
}

outcome transfer(const siro_signature &s, uint16_t where, const content &input)
{
	const siro_sig_domain &in = where == SIRO_SIG_ON_WIRE ? s.wire : s.memory;
	const siro_sig_domain &out = where == SIRO_SIG_ON_WIRE ? s.memory : s.wire;
	content right = make_content(in, input.data);
	outcome o = {make_content(out, input.data), {}};
	uint8_t mask = copied(s);

	for (uint64_t i = 0; in.format && i * in.interval < input.data.size(); i++) {
		bytes found = field_at(in, input.fields, i), wanted = field_at(in, right.fields, i);
		int bad = check(s, in, found, wanted);

		if (bad) {
			o.errors[i] = record(in, bad - 1, found, wanted, i);
			o.errors[i].domain = where;
		}
		if (!out.format || in.interval != out.interval)
			continue;

		uint8_t *field = &o.output.fields[i * field_length(out.format)];

		if (s.flags & SIRO_SIG_POISON && bad == 1 + SIRO_SIG_BAD_GUARD)
			for (size_t k = 0; k < guard_length(in); k++)
				field[k] ^= found[k] ^ wanted[k];
		for (size_t k = 0; k < field_length(out.format); k++)
			if (mask >> (7 - k) & 1)
				field[k] = found[k];
	}
	return o;
}

} // namespace signature_model
