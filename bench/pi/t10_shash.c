// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Sirocco's CRC-16/T10-DIF as the crypto API's "crct10dif", which the block layer uses. */
#include <crypto/algapi.h>
#include <crypto/internal/hash.h>
#include <linux/crc-t10dif.h>
#include <linux/module.h>

#include "siro_signature.h"

/* Of the crypto API, in none of its public headers. */
int crypto_probing_notify(unsigned long val, void *v);

static int t10_init(struct shash_desc *desc)
{
	u16 *state = shash_desc_ctx(desc);

	*state = 0;
	return 0;
}

static int t10_update(struct shash_desc *desc, const u8 *data, unsigned int length)
{
	u16 *state = shash_desc_ctx(desc);

	*state = siro_port_crc_t10(*state, data, length);
	return 0;
}

static int t10_final(struct shash_desc *desc, u8 *digest)
{
	u16 *state = shash_desc_ctx(desc);

	memcpy(digest, state, sizeof(*state));
	return 0;
}

static struct shash_alg t10_fold = {
	.init = t10_init,
	.update = t10_update,
	.final = t10_final,
	.descsize = sizeof(u16),
	.digestsize = CRC_T10DIF_DIGEST_SIZE,
	.base = {
		.cra_name = CRC_T10DIF_STRING,
		.cra_driver_name = "crct10dif-fold",
		.cra_priority = 300,
		.cra_blocksize = CRC_T10DIF_BLOCK_SIZE,
		.cra_module = THIS_MODULE,
	},
};

/* The block layer's library looks again for the best "crct10dif". */
static int __init t10_shash_init(void)
{
	int err = crypto_register_shash(&t10_fold);

	/* Without the manager of crypto algorithms nobody else tells. */
	if (!err)
		crypto_probing_notify(CRYPTO_MSG_ALG_LOADED, &t10_fold.base);
	return err;
}

static void __exit t10_shash_exit(void)
{
	crypto_unregister_shash(&t10_fold);
}

module_init(t10_shash_init);
module_exit(t10_shash_exit);

MODULE_ALIAS_CRYPTO("crct10dif");
MODULE_DESCRIPTION("CRC-16/T10-DIF by carry-less multiplication for the crypto API");
MODULE_LICENSE("Dual BSD/GPL");
