// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "signature_guard.h"

#include "signature_checksum.h"
#include "signature_crc64.h"
#include "signature_shift.h"
#include "siro_port.h"

namespace sirocco {

namespace {

constexpr u16 reverse_bits(u16 v)
{
	v = static_cast<u16>((v & 0x5555) << 1 | (v >> 1 & 0x5555));
	v = static_cast<u16>((v & 0x3333) << 2 | (v >> 2 & 0x3333));
	v = static_cast<u16>((v & 0x0f0f) << 4 | (v >> 4 & 0x0f0f));
	return byteswap(v);
}

using ShiftT10 = Shift<u16, reverse_bits(0x8bb7)>;
using ShiftCrc32 = Shift<u32, 0xedb88320>;
using ShiftCrc32c = Shift<u32, 0x82f63b78>;
using ShiftCrc64 = Shift<u64, crc64::polynomial>;

} // namespace

u64 Guard::update(u64 state, const u8 *data, u32 length) const
{
	switch (domain_.format) {
	case SIRO_SIG_T10_CRC:
		return siro_port_crc_t10(static_cast<u16>(state), data, length);
	case SIRO_SIG_CRC32:
		return siro_port_crc32(static_cast<u32>(state), data, length);
	case SIRO_SIG_CRC32C:
		return siro_port_crc32c(static_cast<u32>(state), data, length);
	default:
		return crc64::update(state, data, length);
	}
}

/* Over what follows @end in the block. */
u64 Guard::shift_to_end(u64 state, u32 end) const
{
	u16 bytes = static_cast<u16>(domain_.interval - end);

	switch (domain_.format) {
	case SIRO_SIG_T10_CRC:
		return reverse_bits(ShiftT10::by(reverse_bits(static_cast<u16>(state)), bytes));
	case SIRO_SIG_CRC32:
		return ShiftCrc32::by(static_cast<u32>(state), bytes);
	case SIRO_SIG_CRC32C:
		return ShiftCrc32c::by(static_cast<u32>(state), bytes);
	default:
		return ShiftCrc64::by(state, bytes);
	}
}

siro_sig_sum Guard::begin() const
{
	if (is_checksum())
		return {byteswap(static_cast<u16>(domain_.seed)), 0};
	return {domain_.seed, 0};
}

void Guard::add(siro_sig_sum &sum, u32 end, u32 offset, const u8 *data, u32 length) const
{
	if (is_checksum()) {
		u16 words = checksum::sum(data, length);

		sum.run += offset & 1 ? byteswap(words) : words;
		return;
	}
	if (offset != end) {
		sum.others ^= shift_to_end(sum.run, end);
		sum.run = 0;
	}
	sum.run = update(sum.run, data, length);
}

u64 Guard::finish(const siro_sig_sum &sum, u32 end) const
{
	if (is_checksum())
		return static_cast<u16>(~byteswap(checksum::fold(sum.run)));

	u64 run = end < domain_.interval ? shift_to_end(sum.run, end) : sum.run;
	u64 crc = sum.others ^ run;

	switch (domain_.format) {
	case SIRO_SIG_T10_CRC:
		return crc;
	case SIRO_SIG_CRC64:
		return ~crc;
	default:
		return static_cast<u32>(~crc);
	}
}

} // namespace sirocco
