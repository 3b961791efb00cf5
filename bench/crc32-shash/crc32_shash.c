// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Sirocco's CRC-32 as the crypto API's "crc32": the key is the state to begin with,
 * 0 if there is none; the digest is the last state, little-endian and not inverted.
 */
#include <crypto/internal/hash.h>
#include <linux/module.h>

#include "siro_port.h"

static int shash_set_key(struct crypto_shash *tfm, const u8 *key, unsigned int length)
{
	u32 *seed = crypto_shash_ctx(tfm);
	__le32 given;

	if (length != sizeof(given))
		return -EINVAL;
	memcpy(&given, key, sizeof(given));
	*seed = le32_to_cpu(given);
	return 0;
}

/* The context of a new tfm is zeroed. */
static int shash_init(struct shash_desc *desc)
{
	const u32 *seed = crypto_shash_ctx(desc->tfm);
	u32 *state = shash_desc_ctx(desc);

	*state = *seed;
	return 0;
}

static int shash_update(struct shash_desc *desc, const u8 *data, unsigned int length)
{
	u32 *state = shash_desc_ctx(desc);

	*state = siro_port_crc32(*state, data, length);
	return 0;
}

static int shash_final(struct shash_desc *desc, u8 *digest)
{
	const u32 *state = shash_desc_ctx(desc);
	__le32 last = cpu_to_le32(*state);

	memcpy(digest, &last, sizeof(last));
	return 0;
}

static struct shash_alg crc32_fold = {
	.setkey = shash_set_key,
	.init = shash_init,
	.update = shash_update,
	.final = shash_final,
	.descsize = sizeof(u32),
	.digestsize = sizeof(u32),
	.base = {
		.cra_name = "crc32",
		.cra_driver_name = "crc32-fold",
		.cra_priority = 300,
		.cra_flags = CRYPTO_ALG_OPTIONAL_KEY,
		.cra_blocksize = 1,
		.cra_ctxsize = sizeof(u32),
		.cra_module = THIS_MODULE,
	},
};

static int __init crc32_fold_init(void)
{
	return crypto_register_shash(&crc32_fold);
}

static void __exit crc32_fold_exit(void)
{
	crypto_unregister_shash(&crc32_fold);
}

module_init(crc32_fold_init);
module_exit(crc32_fold_exit);

MODULE_ALIAS_CRYPTO("crc32");
MODULE_ALIAS_CRYPTO("crc32-fold");
MODULE_DESCRIPTION("CRC-32 by carry-less multiplication for the crypto API");
MODULE_LICENSE("Dual BSD/GPL");
