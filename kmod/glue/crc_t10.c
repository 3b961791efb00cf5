// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * CRC-16/T10-DIF by carry-less multiplication. An object with vector instructions:
 * nothing here may run, or be inlined, outside a section that owns the registers.
 *
 * 16 bytes of data are a polynomial R of degree 127 with the first bit in front. The
 * CRC is not reflected, so bytes are reversed when they are loaded and bit i of the
 * register is the coefficient of x^i. Its halves are H and L: R = H x^64 + L. To
 * move R forward by d bits,
 *	R x^d = H x^(64 + d) + L x^d,
 * H is multiplied with x^(64 + d) mod P and L with x^d mod P: a fold. The sum is
 * congruent mod P and has a degree of 63 + 15 = 78 at most.
 *
 * The CRC of data M is M x^16 mod P; the state so far is added to the first 16 bits.
 */
#include "crc_t10.h"
#include "crc_vector.h"

typedef __u8 siro_vec_u8 __attribute__((vector_size(16)));

static const struct siro_powers siro_powers = {
	.by_512 = { SIRO_T10_X512, SIRO_T10_X576 },
	.by_384 = { SIRO_T10_X384, SIRO_T10_X448 },
	.by_256 = { SIRO_T10_X256, SIRO_T10_X320 },
	.by_128 = { SIRO_T10_X128, SIRO_T10_X192 },
};
static const siro_vec siro_by_16 = { SIRO_T10_X16, SIRO_T10_X80 };
static const siro_vec siro_by_64 = { SIRO_T10_X64, 0 };
static const siro_vec siro_quotient = { SIRO_T10_QUOTIENT, SIRO_T10_P };

static const siro_vec_u8 siro_reverse = { 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0 };

static inline siro_vec siro_load(const __u8 *p)
{
	return siro_shuffle(siro_bytes(p), (siro_vec)siro_reverse);
}

/*
 * T = R x^16 mod P. A fold by 16 bits, then one of the upper half only, leave 64
 * bits V. The quotient of V and P is the upper half of V times that of x^63 and P,
 * shifted by one; times P it is what V has to lose.
 */
static inline __u16 siro_reduce(siro_vec x)
{
	siro_vec v, product;

	x = siro_fold(x, siro_by_16);
	v = x ^ siro_multiply(x, siro_by_64, 0x01);
	product = siro_multiply(v, siro_quotient, 0x00);
	product = siro_multiply(product, siro_quotient, 0x11);
	return (__u16)(v ^ product)[0];
}

__u16 siro_crc_t10(__u16 crc, const void *data, __u64 length)
{
	const __u8 *p = data;
	siro_vec x = siro_load(p) ^ (siro_vec){ 0, (__u64)crc << 48 };

	return siro_reduce(siro_fold_data(x, p + 16, length, &siro_powers, siro_load, 0));
}
