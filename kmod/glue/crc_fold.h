/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* CRC-32 by carry-less multiplication, and the constants that it multiplies with. */
#ifndef SIRO_CRC_FOLD_H
#define SIRO_CRC_FOLD_H

#include "siro_types.h"

#define SIRO_CRC_FOLD_MIN 16

/*
 * x^n mod P, P = x^32 + 0x04c11db7 (reflected: 0xedb88320), as 64 reflected bits:
 * bit i is the coefficient of x^(63 - i). Such a remainder fills the upper half.
 */
#define SIRO_CRC_X31 0x0000000100000000ULL
#define SIRO_CRC_X95 0xccaa009e00000000ULL
#define SIRO_CRC_X127 0x9ba54c6f00000000ULL
#define SIRO_CRC_X191 0x65673b4600000000ULL
#define SIRO_CRC_X255 0x01b5fd1d00000000ULL
#define SIRO_CRC_X319 0x9570d49500000000ULL
#define SIRO_CRC_X383 0x2a28386200000000ULL
#define SIRO_CRC_X447 0x69ccfc0d00000000ULL
#define SIRO_CRC_X511 0xcad38e8f00000000ULL
#define SIRO_CRC_X575 0x653d982200000000ULL

/* The quotient of x^95 and P, and P x^31, in the same form. */
#define SIRO_CRC_QUOTIENT 0xb4e5b025f7011641ULL
#define SIRO_CRC_P_X31 0x00000001db710641ULL

SIRO_BEGIN_DECLS

/**
 * siro_crc_fold() - CRC-32 as siro_port_crc32() defines it
 * @length: at least SIRO_CRC_FOLD_MIN
 *
 * Needs a CPU with PCLMULQDQ and SSE4.1, whose vector registers the caller may use.
 */
__u32 siro_crc_fold(__u32 crc, const void *data, __u64 length);

SIRO_END_DECLS

#endif /* SIRO_CRC_FOLD_H */
