/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Folding by carry-less multiplication, for the objects with vector instructions:
 * nothing here may run, or be inlined, outside a section that owns the registers.
 * How bits are read, and so what is multiplied with, is each CRC's own matter.
 */
#ifndef SIRO_CRC_VECTOR_H
#define SIRO_CRC_VECTOR_H

#include "siro_types.h"

typedef __u64 siro_vec __attribute__((vector_size(16)));

/* As the compilers' builtin functions want them. */
typedef long long siro_vec_di __attribute__((vector_size(16)));
typedef char siro_vec_qi __attribute__((vector_size(16)));
typedef signed char siro_vec_signed __attribute__((vector_size(16)));

/* What moves a register forward by so many bits; see siro_fold(). */
struct siro_powers {
	siro_vec by_512;
	siro_vec by_384;
	siro_vec by_256;
	siro_vec by_128;
};

/* 16 bytes of data as a register. */
typedef siro_vec siro_loader(const __u8 *p);

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

/* As they lie in memory. */
static inline siro_vec siro_bytes(const __u8 *p)
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
static inline siro_vec siro_fold_lanes(siro_vec x0, const __u8 **pos, const __u8 *end,
				      const struct siro_powers *powers, siro_loader *load)
{
	const __u8 *p = *pos;
	siro_vec x1 = load(p);
	siro_vec x2 = load(p + 16);
	siro_vec x3 = load(p + 32);

	for (p += 48; end - p >= 64; p += 64) {
		x0 = siro_fold(x0, powers->by_512) ^ load(p);
		x1 = siro_fold(x1, powers->by_512) ^ load(p + 16);
		x2 = siro_fold(x2, powers->by_512) ^ load(p + 32);
		x3 = siro_fold(x3, powers->by_512) ^ load(p + 48);
	}
	*pos = p;
	return siro_fold(x0, powers->by_384) ^ siro_fold(x1, powers->by_256) ^
	       siro_fold(x2, powers->by_128) ^ x3;
}

/*
 * The last 1 to 15 bytes: the register and they are parted anew, into a front that
 * is as short as they are and 16 bytes behind it. @front, @back: in siro_shift.
 */
static inline siro_vec siro_fold_tail(siro_vec x, siro_vec last, const __u8 *front,
				      const __u8 *back, siro_vec by_128)
{
	siro_vec from = siro_bytes(back);
	siro_vec rest = siro_shuffle(x, from);

	/*
	 * Where from has the top bit, rest is 0. Not pblendvb: gcc 12 compares its mask
	 * as plain char, which newer kernels make unsigned.
	 */
	rest |= last & (siro_vec)((siro_vec_signed)from < 0);
	return siro_fold(siro_shuffle(x, siro_bytes(front)), by_128) ^ rest;
}

/* @x: the first 16 bytes, with the state so far; @p: what follows, @length: of all. */
static inline siro_vec siro_fold_data(siro_vec x, const __u8 *p, __u64 length,
				     const struct siro_powers *powers, siro_loader *load,
				     int reflected)
{
	const __u8 *end = p + length - 16;
	__u64 left;

	if (length >= 64)
		x = siro_fold_lanes(x, &p, end, powers, load);
	for (; end - p >= 16; p += 16)
		x = siro_fold(x, powers->by_128) ^ load(p);
	left = end - p;
	if (!left)
		return x;
	return siro_fold_tail(x, load(end - 16), siro_shift + (reflected ? left : 32 - left),
			      siro_shift + (reflected ? 16 + left : 16 - left), powers->by_128);
}

#endif /* SIRO_CRC_VECTOR_H */
