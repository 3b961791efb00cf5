// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The CRCs of signature regions, bit by bit. */
#include "siro_signature.h"

extern "C" {

__u16 siro_port_crc_t10(__u16 crc, const void *data, __u64 length)
{
	for (const __u8 *p = static_cast<const __u8 *>(data); length; length--) {
		crc = static_cast<__u16>(crc ^ *p++ << 8);
		for (int bit = 0; bit < 8; bit++)
			crc = static_cast<__u16>(crc << 1 ^ (crc & 0x8000 ? 0x8bb7 : 0));
	}
	return crc;
}

__u32 siro_port_crc32c(__u32 crc, const void *data, __u64 length)
{
	for (const __u8 *p = static_cast<const __u8 *>(data); length; length--) {
		crc ^= *p++;
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
	}
	return crc;
}

} // extern "C"
