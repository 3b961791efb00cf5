// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* CRC-32 by the fastest code that the kernel has. */
#include <crypto/hash.h>
#include <linux/crc32.h>
#include <linux/jump_label.h>

#include "siro.h"

/* Below this the accelerated drivers use tables, too. */
#define SIRO_CRC_SHORT 80

static struct crypto_shash *siro_crc_tfm;
static DEFINE_STATIC_KEY_FALSE(siro_crc_accelerated);

static u32 siro_crc_shash(u32 crc, const void *data, unsigned int length)
{
	SHASH_DESC_ON_STACK(desc, siro_crc_tfm);
	u32 *state = shash_desc_ctx(desc);

	desc->tfm = siro_crc_tfm;
	*state = crc;
	crypto_shash_update(desc, data, length);
	return *state;
}

__u32 siro_port_crc32(__u32 crc, const void *data, __u64 length)
{
	if (length >= SIRO_CRC_SHORT && static_branch_likely(&siro_crc_accelerated))
		return siro_crc_shash(crc, data, length);
	return crc32_le(crc, data, length);
}

/* A "crc32" that is not accelerated is crc32_le() with more calls around it. */
void siro_crc_init(void)
{
	struct crypto_shash *tfm;
	const char *driver;

	tfm = crypto_alloc_shash("crc32", 0, 0);
	if (IS_ERR(tfm))
		return;

	driver = crypto_tfm_alg_driver_name(crypto_shash_tfm(tfm));
	if (strstr(driver, "-generic") || crypto_shash_descsize(tfm) != sizeof(u32)) {
		crypto_free_shash(tfm);
		return;
	}
	siro_crc_tfm = tfm;
	static_branch_enable(&siro_crc_accelerated);
}

void siro_crc_exit(void)
{
	if (siro_crc_tfm)
		crypto_free_shash(siro_crc_tfm);
}
