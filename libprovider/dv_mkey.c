// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Mkeys: life cycle and what is done with them without a queue pair. */
#include <stdlib.h>

#include <infiniband/cmd_ioctl.h>

#include "mkey_conf.h"
#include "sirocco.h"

_Static_assert((int)SIROCCODV_MKEY_INDIRECT == SIRO_MKEY_INDIRECT &&
		       (int)SIROCCODV_MKEY_REMOTE_INVALIDATE ==
			       SIRO_MKEY_REMOTE_INVALIDATE &&
		       (int)SIROCCODV_MKEY_BLOCK_SIGNATURE ==
			       SIRO_MKEY_BLOCK_SIGNATURE,
	       "creation flags are not translated");

/* A method that takes the mkey and nothing else. */
static int siro_cmd_mkey(const struct siro_mkey *mkey, uint16_t method,
			 uint16_t handle_attr)
{
	DECLARE_COMMAND_BUFFER(cmd, SIROCCO_OBJECT_MKEY, method, 1);

	fill_attr_in_obj(cmd, handle_attr, mkey->handle);
	return execute_ioctl(mkey->pd->context, cmd);
}

static int siro_cmd_destroy_mkey(const struct siro_mkey *mkey)
{
	return siro_cmd_mkey(mkey, SIROCCO_METHOD_MKEY_DESTROY,
			     SIROCCO_ATTR_MKEY_DESTROY_HANDLE);
}

static int siro_cmd_create_mkey(struct siro_mkey *mkey,
				const struct siro_mkey_create_req *req,
				struct siro_mkey_create_resp *resp)
{
	struct ib_uverbs_attr *handle;
	int ret;

	DECLARE_COMMAND_BUFFER(cmd, SIROCCO_OBJECT_MKEY,
			       SIROCCO_METHOD_MKEY_CREATE, 4);

	handle = fill_attr_out_obj(cmd, SIROCCO_ATTR_MKEY_CREATE_HANDLE);
	fill_attr_in_obj(cmd, SIROCCO_ATTR_MKEY_CREATE_PD, mkey->pd->handle);
	fill_attr_in_ptr(cmd, SIROCCO_ATTR_MKEY_CREATE_REQ, req);
	fill_attr_out_ptr(cmd, SIROCCO_ATTR_MKEY_CREATE_RESP, resp);
	ret = execute_ioctl(mkey->pd->context, cmd);
	if (ret)
		return ret;

	mkey->handle = read_attr_obj(SIROCCO_ATTR_MKEY_CREATE_HANDLE, handle);
	mkey->max_entries = resp->max_entries;
	mkey->dv.lkey = resp->key;
	mkey->dv.rkey = resp->key;
	return 0;
}

static int siro_new_mkey(struct siro_mkey *mkey,
			 const struct siro_mkey_create_req *req)
{
	struct siro_mkey_create_resp resp = {};
	int ret;

	ret = siro_cmd_create_mkey(mkey, req, &resp);
	if (ret || !(req->flags & SIRO_MKEY_BLOCK_SIGNATURE))
		return ret;
	mkey->status =
		siro_status_map(to_siro_context(mkey->pd->context), &resp);
	if (mkey->status)
		return 0;
	ret = errno;
	siro_cmd_destroy_mkey(mkey);
	return ret;
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
	ret = siro_new_mkey(mkey, &req);
	if (ret) {
		free(mkey);
		errno = ret;
		return NULL;
	}
	attr->max_entries = mkey->max_entries;
	return &mkey->dv;
}

int siroccodv_destroy_mkey(struct siroccodv_mkey *dv)
{
	struct siro_mkey *mkey = to_siro_mkey(dv);
	int ret;

	ret = siro_cmd_destroy_mkey(mkey);
	/* It went with its device. */
	if (ret == EIO)
		ret = 0;
	if (!ret)
		free(mkey);
	return ret;
}

int siroccodv_mkey_invalidate(struct siroccodv_mkey *dv)
{
	return siro_cmd_mkey(to_siro_mkey(dv), SIROCCO_METHOD_MKEY_INVALIDATE,
			     SIROCCO_ATTR_MKEY_INVALIDATE_HANDLE);
}

/* ---- check ---- */

static int siro_cmd_check_mkey(const struct siro_mkey *mkey,
			       struct siro_mkey_error *error)
{
	DECLARE_COMMAND_BUFFER(cmd, SIROCCO_OBJECT_MKEY,
			       SIROCCO_METHOD_MKEY_CHECK, 2);

	fill_attr_in_obj(cmd, SIROCCO_ATTR_MKEY_CHECK_HANDLE, mkey->handle);
	fill_attr_out_ptr(cmd, SIROCCO_ATTR_MKEY_CHECK_ERROR, error);
	return execute_ioctl(mkey->pd->context, cmd);
}

static uint32_t siro_err_type(const struct siro_mkey_error *error)
{
	switch (error->type) {
	case SIRO_SIG_BAD_REFTAG:
		return SIROCCODV_MKEY_SIG_BLOCK_BAD_REFTAG;
	case SIRO_SIG_BAD_APPTAG:
		return SIROCCODV_MKEY_SIG_BLOCK_BAD_APPTAG;
	default:
		return SIROCCODV_MKEY_SIG_BLOCK_BAD_GUARD;
	}
}

int siroccodv_mkey_check(struct siroccodv_mkey *dv,
			 struct siroccodv_mkey_err *err_info)
{
	const struct siro_mkey *mkey = to_siro_mkey(dv);
	struct siro_mkey_error error = {};
	int ret;

	if (!mkey->status)
		return EINVAL;
	*err_info = (struct siroccodv_mkey_err){ SIROCCODV_MKEY_NO_ERR };
	if (!siro_status_is_error(mkey->status))
		return 0;
	ret = siro_cmd_check_mkey(mkey, &error);
	if (ret || !error.found)
		return ret;
	err_info->err_type = siro_err_type(&error);
	err_info->err.sig = (struct siroccodv_sig_err){
		.actual_value = error.actual,
		.expected_value = error.expected,
		.offset = error.offset,
		.side = error.domain == SIRO_SIG_ON_WIRE ?
				SIROCCODV_SIG_ON_WIRE :
				SIROCCODV_SIG_IN_MEMORY,
	};
	return 0;
}

/* ---- configuration ---- */

static int siro_mkey_config_to_conf(const struct siro_mkey *mkey,
				    const struct siroccodv_mkey_config *config,
				    struct siro_mkey_conf *conf,
				    struct siro_mkey_sig *sig)
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
	if (mask & SIROCCODV_MKEY_CONFIG_RESET_SIG_ATTR)
		conf->set |= SIRO_MKEY_RESET_SIGNATURE;
	if (!ret && mask & SIROCCODV_MKEY_CONFIG_SIG_BLOCK)
		ret = siro_conf_set_signature(conf, sig, config->sig_block);
	return ret;
}

static int siro_mkey_config_check(const struct siro_mkey *mkey,
				  const struct siroccodv_mkey_config *config)
{
	const uint64_t signature = SIROCCODV_MKEY_CONFIG_SIG_BLOCK |
				   SIROCCODV_MKEY_CONFIG_RESET_SIG_ATTR;
	const uint64_t known = SIROCCODV_MKEY_CONFIG_ACCESS |
			       SIROCCODV_MKEY_CONFIG_LIST |
			       SIROCCODV_MKEY_CONFIG_INTERLEAVED |
			       SIROCCODV_MKEY_CONFIG_IOVA | signature;

	if (config->comp_mask & ~known)
		return EOPNOTSUPP;
	if (config->reserved ||
	    (config->comp_mask & signature && !mkey->status))
		return EINVAL;
	return 0;
}

int siroccodv_mkey_configure(struct siroccodv_mkey *dv,
			     const struct siroccodv_mkey_config *config)
{
	const struct siro_mkey *mkey = to_siro_mkey(dv);
	struct siro_mkey_conf conf = {};
	struct siro_mkey_sig sig;
	int ret;

	DECLARE_COMMAND_BUFFER(cmd, SIROCCO_OBJECT_MKEY,
			       SIROCCO_METHOD_MKEY_CONFIGURE, 3);

	ret = siro_mkey_config_check(mkey, config);
	if (!ret)
		ret = siro_mkey_config_to_conf(mkey, config, &conf, &sig);
	if (ret)
		return ret;
	fill_attr_in_obj(cmd, SIROCCO_ATTR_MKEY_CONFIGURE_HANDLE, mkey->handle);
	fill_attr_in_ptr(cmd, SIROCCO_ATTR_MKEY_CONFIGURE_CONF, &conf);
	if (conf.set & SIRO_MKEY_SIGNATURE)
		fill_attr_in_ptr(cmd, SIROCCO_ATTR_MKEY_CONFIGURE_SIGNATURE,
				 &sig);
	return execute_ioctl(mkey->pd->context, cmd);
}
