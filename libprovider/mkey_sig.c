// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Signatures of mkeys: from the attributes of direct verbs to those of the device. */
#include <errno.h>
#include <stdbool.h>

#include "mkey_conf.h"

static bool siro_seed_is_valid(uint64_t seed, uint64_t ones)
{
	return !seed || seed == ones;
}

static int siro_sig_set_dif(struct siro_mkey_sig_domain *domain,
			    const struct siroccodv_sig_t10dif *dif)
{
	const uint32_t app = SIROCCODV_SIG_T10DIF_FLAG_APP_ESCAPE;
	const uint32_t app_ref = SIROCCODV_SIG_T10DIF_FLAG_APP_REF_ESCAPE;
	const uint32_t remap = SIROCCODV_SIG_T10DIF_FLAG_REF_REMAP;

	if (dif->flags & ~(remap | app | app_ref))
		return EOPNOTSUPP;
	if (dif->bg_type > SIROCCODV_SIG_T10DIF_CSUM ||
	    !siro_seed_is_valid(dif->bg, 0xffff) ||
	    (dif->flags & (app | app_ref)) == (app | app_ref))
		return EINVAL;
	domain->format = dif->bg_type == SIROCCODV_SIG_T10DIF_CRC ?
				 SIRO_SIG_T10_CRC :
				 SIRO_SIG_T10_CSUM;
	domain->seed = dif->bg;
	domain->app_tag = dif->app_tag;
	domain->ref_tag = dif->ref_tag;
	if (dif->flags & remap)
		domain->flags |= SIRO_SIG_REF_REMAP;
	if (dif->flags & (app | app_ref))
		domain->flags |= SIRO_SIG_APP_ESCAPE;
	if (dif->flags & app_ref)
		domain->flags |= SIRO_SIG_REF_ESCAPE;
	return 0;
}

static int siro_sig_set_crc(struct siro_mkey_sig_domain *domain,
			    const struct siroccodv_sig_crc *crc)
{
	static const struct {
		uint64_t ones;
		uint16_t format;
	} types[] = {
		[SIROCCODV_SIG_CRC_TYPE_CRC32] = { UINT32_MAX, SIRO_SIG_CRC32 },
		[SIROCCODV_SIG_CRC_TYPE_CRC32C] = { UINT32_MAX,
						    SIRO_SIG_CRC32C },
		[SIROCCODV_SIG_CRC_TYPE_CRC64_XP10] = { UINT64_MAX,
							SIRO_SIG_CRC64 },
	};

	if (crc->type >= sizeof(types) / sizeof(types[0]) || crc->reserved ||
	    !siro_seed_is_valid(crc->seed, types[crc->type].ones))
		return EINVAL;
	domain->format = types[crc->type].format;
	domain->seed = crc->seed;
	return 0;
}

static int siro_sig_set_domain(struct siro_mkey_sig_domain *domain,
			       const struct siroccodv_sig_block_domain *from)
{
	*domain = (struct siro_mkey_sig_domain){ .format = SIRO_SIG_NONE };
	if (!from)
		return 0;
	if (from->comp_mask)
		return EOPNOTSUPP;
	if (!from->block_size || from->block_size % SIRO_BLOCK_SIZE_STEP ||
	    from->block_size > SIRO_MAX_BLOCK_SIZE)
		return EINVAL;
	domain->interval = from->block_size;
	switch (from->sig_type) {
	case SIROCCODV_SIG_TYPE_T10DIF:
		return siro_sig_set_dif(domain, from->dif);
	case SIROCCODV_SIG_TYPE_CRC:
		return siro_sig_set_crc(domain, from->crc);
	default:
		return EINVAL;
	}
}

/* What of a field may be copied into one of the other format. */
static uint32_t siro_sig_structure(uint16_t format)
{
	switch (format) {
	case SIRO_SIG_T10_CRC:
	case SIRO_SIG_T10_CSUM:
		return SIRO_SIG_T10_CRC;
	case SIRO_SIG_CRC32:
	case SIRO_SIG_CRC32C:
		return SIRO_SIG_CRC32;
	default:
		return format;
	}
}

static bool siro_sig_may_copy(const struct siro_mkey_sig *sig)
{
	const struct siro_mkey_sig_domain *a = &sig->memory, *b = &sig->wire;

	return a->interval == b->interval &&
	       siro_sig_structure(a->format) == siro_sig_structure(b->format);
}

static int siro_sig_set(struct siro_mkey_sig *sig,
			const struct siroccodv_sig_block_attr *attr)
{
	int ret;

	if (attr->comp_mask ||
	    attr->flags & ~(uint32_t)SIROCCODV_SIG_BLOCK_ATTR_FLAG_COPY_MASK)
		return EOPNOTSUPP;
	if (!attr->mem && !attr->wire)
		return EINVAL;
	*sig = (struct siro_mkey_sig){ .check_mask = attr->check_mask };
	ret = siro_sig_set_domain(&sig->memory, attr->mem);
	if (!ret)
		ret = siro_sig_set_domain(&sig->wire, attr->wire);
	if (ret || !(attr->flags & SIROCCODV_SIG_BLOCK_ATTR_FLAG_COPY_MASK))
		return ret;
	if (!siro_sig_may_copy(sig))
		return EINVAL;
	sig->flags = SIRO_MKEY_SIG_COPY_MASK;
	sig->copy_mask = attr->copy_mask;
	return 0;
}

int siro_conf_set_signature(struct siro_mkey_conf *conf,
			    struct siro_mkey_sig *sig,
			    const struct siroccodv_sig_block_attr *attr)
{
	int ret;

	if (conf->set & SIRO_MKEY_SIGNATURE)
		return EINVAL;
	ret = siro_sig_set(sig, attr);
	if (!ret)
		conf->set |= SIRO_MKEY_SIGNATURE;
	return ret;
}
