/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* CRC-16/T10-DIF by carry-less multiplication, and the constants that it multiplies with. */
#ifndef SIRO_CRC_T10_H
#define SIRO_CRC_T10_H

#include "siro_types.h"

#define SIRO_CRC_T10_MIN 16

/* x^n mod P, P = x^16 + 0x8bb7; bit i is the coefficient of x^i. */
#define SIRO_T10_X16 0x10000ULL /* as it is */
#define SIRO_T10_X64 0xf249ULL
#define SIRO_T10_X80 0x2d56ULL
#define SIRO_T10_X128 0xa010ULL
#define SIRO_T10_X192 0x1faaULL
#define SIRO_T10_X256 0x857dULL
#define SIRO_T10_X320 0x7accULL
#define SIRO_T10_X384 0x84daULL
#define SIRO_T10_X448 0x4a84ULL
#define SIRO_T10_X512 0x1069ULL
#define SIRO_T10_X576 0xdd31ULL

/* P, and the quotient of x^63 and P times x. */
#define SIRO_T10_P 0x18bb7ULL
#define SIRO_T10_QUOTIENT 0x1f65a57f81d32ULL

SIRO_BEGIN_DECLS

/**
 * siro_crc_t10() - CRC-16/T10-DIF as siro_port_crc_t10() defines it
 * @length: at least SIRO_CRC_T10_MIN
 *
 * Needs a CPU with PCLMULQDQ and SSE4.1, whose vector registers the caller may use.
 */
__u16 siro_crc_t10(__u16 crc, const void *data, __u64 length);

SIRO_END_DECLS

#endif /* SIRO_CRC_T10_H */
