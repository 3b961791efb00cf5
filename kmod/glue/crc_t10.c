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

typedef __u64 siro_vec __attribute__((vector_size(16)));
typedef __u8 siro_vec_u8 __attribute__((vector_size(16)));

/* As the compilers' builtin functions want them. */
typedef long long siro_vec_di __attribute__((vector_size(16)));
typedef char siro_vec_qi __attribute__((vector_size(16)));
typedef signed char siro_vec_signed __attribute__((vector_size(16)));

static const siro_vec siro_by_512 = { SIRO_T10_X512, SIRO_T10_X576 };
static const siro_vec siro_by_384 = { SIRO_T10_X384, SIRO_T10_X448 };
static const siro_vec siro_by_256 = { SIRO_T10_X256, SIRO_T10_X320 };
static const siro_vec siro_by_128 = { SIRO_T10_X128, SIRO_T10_X192 };
static const siro_vec siro_by_16 = { SIRO_T10_X16, SIRO_T10_X80 };
static const siro_vec siro_by_64 = { SIRO_T10_X64, 0 };
static const siro_vec siro_quotient = { SIRO_T10_QUOTIENT, SIRO_T10_P };

static const siro_vec_u8 siro_reverse = { 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0 };

/*
 * Bytes for pshufb, which writes 0 for an index with the top bit. The 16 bytes at
 * 16 - n shift a register up by n bytes, those at n shift it down by n - 16.
 */
#define SIRO_NONE 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80
static const __u8 siro_shift[48] = {
	SIRO_NONE, SIRO_NONE,
	0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
	SIRO_NONE, SIRO_NONE,
};

static inline siro_vec siro_shuffle(siro_vec x, siro_vec from)
{
	return (siro_vec)__builtin_ia32_pshufb128((siro_vec_qi)x, (siro_vec_qi)from);
}

static inline siro_vec siro_indices(const __u8 *p)
{
	siro_vec x;

	__builtin_memcpy(&x, p, sizeof(x));
	return x;
}

static inline siro_vec siro_load(const __u8 *p)
{
	return siro_shuffle(siro_indices(p), (siro_vec)siro_reverse);
}

/* The halves that are multiplied: bit 0 chooses that of a, bit 4 that of b. */
#define siro_multiply(a, b, halves) \
	((siro_vec)__builtin_ia32_pclmulqdq128((siro_vec_di)(a), (siro_vec_di)(b), halves))

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
	siro_vec up = siro_indices(siro_shift + 16 - left);
	siro_vec front = siro_shuffle(x, siro_indices(siro_shift + 32 - left));
	siro_vec back = siro_shuffle(x, up);

	/* Where up has the top bit, back is 0. Not pblendvb: see crc_fold.c. */
	back |= siro_load(end - 16) & (siro_vec)((siro_vec_signed)up < 0);
	return siro_fold(front, siro_by_128) ^ back;
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
	const __u8 *end = p + length;
	siro_vec x = siro_load(p) ^ (siro_vec){ 0, (__u64)crc << 48 };

	p += 16;
	if (length >= 64)
		x = siro_fold_lanes(x, &p, end);
	for (; end - p >= 16; p += 16)
		x = siro_fold(x, siro_by_128) ^ siro_load(p);
	if (p != end)
		x = siro_fold_tail(x, end, end - p);
	return siro_reduce(x);
}
