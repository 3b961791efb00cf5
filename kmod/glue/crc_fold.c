// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * CRC-32 by carry-less multiplication. The only object with vector instructions:
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

typedef __u64 siro_vec __attribute__((vector_size(16)));
typedef __u32 siro_vec_u32 __attribute__((vector_size(16)));

/* As the compilers' builtin functions want them. */
typedef long long siro_vec_di __attribute__((vector_size(16)));
typedef char siro_vec_qi __attribute__((vector_size(16)));
typedef signed char siro_vec_signed __attribute__((vector_size(16)));

static const siro_vec siro_by_512 = { SIRO_CRC_X575, SIRO_CRC_X511 };
static const siro_vec siro_by_384 = { SIRO_CRC_X447, SIRO_CRC_X383 };
static const siro_vec siro_by_256 = { SIRO_CRC_X319, SIRO_CRC_X255 };
static const siro_vec siro_by_128 = { SIRO_CRC_X191, SIRO_CRC_X127 };
static const siro_vec siro_by_32 = { SIRO_CRC_X95, SIRO_CRC_X31 };
static const siro_vec siro_quotient = { SIRO_CRC_QUOTIENT, SIRO_CRC_P_X31 };

/*
 * Bytes for pshufb, which writes 0 for an index with the top bit. The 16 bytes at
 * n shift a register up by 16 - n bytes, those at 16 + n shift it down by n.
 */
#define SIRO_NONE 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80
static const __u8 siro_shift[48] = {
	SIRO_NONE, SIRO_NONE,
	0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
	SIRO_NONE, SIRO_NONE,
};

static inline siro_vec siro_load(const __u8 *p)
{
	siro_vec x;

	__builtin_memcpy(&x, p, sizeof(x));
	return x;
}

/* The halves that are multiplied: bit 0 chooses that of a, bit 4 that of b. */
#define siro_multiply(a, b, halves) \
	((siro_vec)__builtin_ia32_pclmulqdq128((siro_vec_di)(a), (siro_vec_di)(b), halves))

static inline siro_vec siro_shuffle(siro_vec x, siro_vec from)
{
	return (siro_vec)__builtin_ia32_pshufb128((siro_vec_qi)x, (siro_vec_qi)from);
}

static inline siro_vec siro_fold(siro_vec x, siro_vec by)
{
	return siro_multiply(x, by, 0x00) ^ siro_multiply(x, by, 0x11);
}

/* Four registers side by side, so that no product waits for the one before it. */
static inline siro_vec siro_fold_lanes(siro_vec x0, const __u8 **pos, const __u8 *end)
{
	const __u8 *p = *pos;
	siro_vec x1 = siro_load(p);
	siro_vec x2 = siro_load(p + 16);
	siro_vec x3 = siro_load(p + 32);

	for (p += 48; end - p >= 64; p += 64) {
		x0 = siro_fold(x0, siro_by_512) ^ siro_load(p);
		x1 = siro_fold(x1, siro_by_512) ^ siro_load(p + 16);
		x2 = siro_fold(x2, siro_by_512) ^ siro_load(p + 32);
		x3 = siro_fold(x3, siro_by_512) ^ siro_load(p + 48);
	}
	*pos = p;
	return siro_fold(x0, siro_by_384) ^ siro_fold(x1, siro_by_256) ^
	       siro_fold(x2, siro_by_128) ^ x3;
}

/*
 * The last 1 to 15 bytes: the register and they are parted anew, into a front that
 * is as short as they are and 16 bytes behind it.
 */
static inline siro_vec siro_fold_tail(siro_vec x, const __u8 *end, __u64 left)
{
	siro_vec down = siro_load(siro_shift + 16 + left);
	siro_vec front = siro_shuffle(x, siro_load(siro_shift + left));
	siro_vec back = siro_shuffle(x, down);

	/*
	 * Where down has the top bit, back is 0. Not pblendvb: gcc 12 compares its mask
	 * as plain char, which newer kernels make unsigned.
	 */
	back |= siro_load(end - 16) & (siro_vec)((siro_vec_signed)down < 0);
	return siro_fold(front, siro_by_128) ^ back;
}

/*
 * T = R x^32 mod P. A fold by 32 bits makes it A x^32 + B with a degree of 95. The
 * quotient of T and P is that of A Q and x^63, where Q is that of x^95 and P; as a
 * product reads, this is its low half. The remainder is B less the low 32 bits of
 * quotient times P, which P x^31 puts into the third word, where B is.
 */
static inline __u32 siro_reduce(siro_vec x)
{
	siro_vec t, product;

	t = siro_shuffle(siro_fold(x, siro_by_32), siro_load(siro_shift + 16 + 4));
	product = siro_multiply(t, siro_quotient, 0x00);
	product = siro_multiply(product, siro_quotient, 0x10);
	return ((siro_vec_u32)(t ^ product))[2];
}

__u32 siro_crc_fold(__u32 crc, const void *data, __u64 length)
{
	const __u8 *p = data;
	const __u8 *end = p + length;
	siro_vec x = siro_load(p) ^ (siro_vec){ crc, 0 };

	p += 16;
	if (length >= 64)
		x = siro_fold_lanes(x, &p, end);
	for (; end - p >= 16; p += 16)
		x = siro_fold(x, siro_by_128) ^ siro_load(p);
	if (p != end)
		x = siro_fold_tail(x, end, end - p);
	return siro_reduce(x);
}
