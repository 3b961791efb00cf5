/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The configuration of an mkey as the kernel wants it, made of checked parts.
 * Each function returns 0 or an errno and is called at most once for each
 * configuration; that of the layout comes after the iova is set.
 */
#ifndef SIROCCO_MKEY_CONF_H
#define SIROCCO_MKEY_CONF_H

#include <stdint.h>

#include <infiniband/verbs.h>
#include <rdma/sirocco-abi.h>

#include "siroccodv.h"

/* Data bytes of a block with a signature. */
#define SIRO_BLOCK_SIZE_STEP 8
#define SIRO_MAX_BLOCK_SIZE 65528

int siro_conf_set_access(struct siro_mkey_conf *conf, uint32_t access);
void siro_conf_set_iova(struct siro_mkey_conf *conf, uint64_t iova);
int siro_conf_set_list(struct siro_mkey_conf *conf, uint32_t max_entries,
		       uint32_t count, const struct ibv_sge *sge);
int siro_conf_set_interleaved(struct siro_mkey_conf *conf, uint32_t max_entries,
			      uint32_t repeat, uint32_t count,
			      const struct siroccodv_mr_interleaved *pieces);
/* The entries stay where they are: nothing can be said about them. */
int siro_conf_set_table(struct siro_mkey_conf *conf, uint32_t max_entries,
			const struct siroccodv_mkey_table *table);
/* @sig: filled in */
int siro_conf_set_signature(struct siro_mkey_conf *conf,
			    struct siro_mkey_sig *sig,
			    const struct siroccodv_sig_block_attr *attr);
/* Bytes before the entries that follow a work request. */
static inline uint32_t siro_conf_sig_bytes(const struct siro_mkey_conf *conf)
{
	return conf->set & SIRO_MKEY_SIGNATURE ? sizeof(struct siro_mkey_sig) :
						 0;
}

#endif /* SIROCCO_MKEY_CONF_H */
