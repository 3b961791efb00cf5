// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Mkeys: life cycle and what is done with them without a queue pair. */
#include <stdlib.h>

#include <infiniband/cmd_ioctl.h>

#include "mkey_conf.h"
#include "sirocco.h"

_Static_assert((int)SIROCCODV_MKEY_INDIRECT == SIRO_MKEY_INDIRECT &&
		       (int)SIROCCODV_MKEY_REMOTE_INVALIDATE ==
			       SIRO_MKEY_REMOTE_INVALIDATE,
	       "creation flags are not translated");

static int siro_cmd_create_mkey(struct siro_mkey *mkey,
				const struct siro_mkey_create_req *req)
{
	struct siro_mkey_create_resp resp = {};
	struct ib_uverbs_attr *handle;
	int ret;

	DECLARE_COMMAND_BUFFER(cmd, SIROCCO_OBJECT_MKEY,
			       SIROCCO_METHOD_MKEY_CREATE, 4);

	handle = fill_attr_out_obj(cmd, SIROCCO_ATTR_MKEY_CREATE_HANDLE);
	fill_attr_in_obj(cmd, SIROCCO_ATTR_MKEY_CREATE_PD, mkey->pd->handle);
	fill_attr_in_ptr(cmd, SIROCCO_ATTR_MKEY_CREATE_REQ, req);
	fill_attr_out_ptr(cmd, SIROCCO_ATTR_MKEY_CREATE_RESP, &resp);
	ret = execute_ioctl(mkey->pd->context, cmd);
	if (ret)
		return ret;

	mkey->handle = read_attr_obj(SIROCCO_ATTR_MKEY_CREATE_HANDLE, handle);
	mkey->max_entries = resp.max_entries;
	mkey->dv.lkey = resp.key;
	mkey->dv.rkey = resp.key;
	return 0;
}

static int siro_mkey_attr_check(const struct siroccodv_mkey_init_attr *attr)
{
	const struct siro_context *ctx;

	if (!siroccodv_is_supported(attr->pd->context->device) ||
	    attr->comp_mask)
		return EOPNOTSUPP;
	ctx = to_siro_context(attr->pd->context);
	return ctx->max_mkey_entries ? 0 : EOPNOTSUPP;
}

struct siroccodv_mkey *
siroccodv_create_mkey(struct siroccodv_mkey_init_attr *attr)
{
	const struct siro_mkey_create_req req = {
		.flags = attr->create_flags,
		.max_entries = attr->max_entries,
	};
	struct siro_mkey *mkey;
	int ret;

	ret = siro_mkey_attr_check(attr);
	if (ret) {
		errno = ret;
		return NULL;
	}
	mkey = calloc(1, sizeof(*mkey));
	if (!mkey)
		return NULL;
	mkey->pd = attr->pd;
	ret = siro_cmd_create_mkey(mkey, &req);
	if (ret) {
		free(mkey);
		errno = ret;
		return NULL;
	}
	attr->max_entries = mkey->max_entries;
	return &mkey->dv;
}

/* A method that takes the mkey and nothing else. */
static int siro_cmd_mkey(const struct siro_mkey *mkey, uint16_t method,
			 uint16_t handle_attr)
{
	DECLARE_COMMAND_BUFFER(cmd, SIROCCO_OBJECT_MKEY, method, 1);

	fill_attr_in_obj(cmd, handle_attr, mkey->handle);
	return execute_ioctl(mkey->pd->context, cmd);
}

int siroccodv_destroy_mkey(struct siroccodv_mkey *dv)
{
	struct siro_mkey *mkey = to_siro_mkey(dv);
	int ret;

	ret = siro_cmd_mkey(mkey, SIROCCO_METHOD_MKEY_DESTROY,
			    SIROCCO_ATTR_MKEY_DESTROY_HANDLE);
	if (!ret)
		free(mkey);
	return ret;
}

int siroccodv_mkey_invalidate(struct siroccodv_mkey *dv)
{
	return siro_cmd_mkey(to_siro_mkey(dv), SIROCCO_METHOD_MKEY_INVALIDATE,
			     SIROCCO_ATTR_MKEY_INVALIDATE_HANDLE);
}

/* ---- configuration ---- */

static int siro_mkey_config_to_conf(const struct siro_mkey *mkey,
				    const struct siroccodv_mkey_config *config,
				    struct siro_mkey_conf *conf)
{
	const uint64_t mask = config->comp_mask;
	int ret = 0;

	if (mask & SIROCCODV_MKEY_CONFIG_IOVA)
		siro_conf_set_iova(conf, config->iova);
	if (mask & SIROCCODV_MKEY_CONFIG_ACCESS)
		ret = siro_conf_set_access(conf, config->access_flags);
	if (!ret && mask & SIROCCODV_MKEY_CONFIG_LIST) {
		ret = siro_conf_set_list(conf, mkey->max_entries,
					 config->num_entries, config->sge_list);
		conf->table = (uintptr_t)config->sge_list;
	}
	if (!ret && mask & SIROCCODV_MKEY_CONFIG_INTERLEAVED) {
		ret = siro_conf_set_interleaved(conf, mkey->max_entries,
						config->repeat_count,
						config->num_entries,
						config->interleaved);
		conf->table = (uintptr_t)config->interleaved;
	}
	return ret;
}

int siroccodv_mkey_configure(struct siroccodv_mkey *dv,
			     const struct siroccodv_mkey_config *config)
{
	const uint64_t known = SIROCCODV_MKEY_CONFIG_ACCESS |
			       SIROCCODV_MKEY_CONFIG_LIST |
			       SIROCCODV_MKEY_CONFIG_INTERLEAVED |
			       SIROCCODV_MKEY_CONFIG_IOVA;
	const struct siro_mkey *mkey = to_siro_mkey(dv);
	struct siro_mkey_conf conf = {};
	int ret;

	DECLARE_COMMAND_BUFFER(cmd, SIROCCO_OBJECT_MKEY,
			       SIROCCO_METHOD_MKEY_CONFIGURE, 2);

	if (config->comp_mask & ~known)
		return EOPNOTSUPP;
	if (config->reserved)
		return EINVAL;
	ret = siro_mkey_config_to_conf(mkey, config, &conf);
	if (ret)
		return ret;
	fill_attr_in_obj(cmd, SIROCCO_ATTR_MKEY_CONFIGURE_HANDLE, mkey->handle);
	fill_attr_in_ptr(cmd, SIROCCO_ATTR_MKEY_CONFIGURE_CONF, &conf);
	return execute_ioctl(mkey->pd->context, cmd);
}
