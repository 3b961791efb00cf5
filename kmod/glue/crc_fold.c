// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * CRC-32 by carry-less multiplication. An object with vector instructions:
 * nothing here may run, or be inlined, outside a section that owns the registers.
 *
 * 16 bytes of data are a polynomial R of degree 127 with the first bit in front:
 * bit i of the register is the coefficient of x^(127 - i). Its low half H therefore
 * has the high powers: R = H x^64 + L. Halves are read alike, as degree 63.
 *
 * The product of two halves has 127 bits, aligned to bit 0 where the reading wants
 * bit 127, so it reads as the product times x. Hence to move R forward by d bits,
 *	R x^d = H x^(64 + d) + L x^d,
 * H is multiplied with x^(63 + d) mod P and L with x^(d - 1) mod P: a fold. The sum
 * is congruent mod P and has a degree of 63 + 31 + 1 = 95 at most.
 *
 * The CRC of data M is M x^32 mod P; the state so far is added to the first 32 bits.
 */
#include "crc_fold.h"
#include "crc_vector.h"

typedef __u32 siro_vec_u32 __attribute__((vector_size(16)));

static const struct siro_powers siro_powers = {
	.by_512 = { SIRO_CRC_X575, SIRO_CRC_X511 },
	.by_384 = { SIRO_CRC_X447, SIRO_CRC_X383 },
	.by_256 = { SIRO_CRC_X319, SIRO_CRC_X255 },
	.by_128 = { SIRO_CRC_X191, SIRO_CRC_X127 },
};
static const siro_vec siro_by_32 = { SIRO_CRC_X95, SIRO_CRC_X31 };
static const siro_vec siro_quotient = { SIRO_CRC_QUOTIENT, SIRO_CRC_P_X31 };

/*
 * T = R x^32 mod P. A fold by 32 bits makes it A x^32 + B with a degree of 95. The
 * quotient of T and P is that of A Q and x^63, where Q is that of x^95 and P; as a
 * product reads, this is its low half. The remainder is B less the low 32 bits of
 * quotient times P, which P x^31 puts into the third word, where B is.
 */
static inline __u32 siro_reduce(siro_vec x)
{
	siro_vec t, product;

	t = siro_shuffle(siro_fold(x, siro_by_32), siro_bytes(siro_shift + 16 + 4));
	product = siro_multiply(t, siro_quotient, 0x00);
	product = siro_multiply(product, siro_quotient, 0x10);
	return ((siro_vec_u32)(t ^ product))[2];
}

__u32 siro_crc_fold(__u32 crc, const void *data, __u64 length)
{
	const __u8 *p = data;
	siro_vec x = siro_bytes(p) ^ (siro_vec){ crc, 0 };

	return siro_reduce(siro_fold_data(x, p + 16, length, &siro_powers, siro_bytes, 1));
}
