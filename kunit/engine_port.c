// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The port functions of a packet test: a checksum, and nothing to send or
 * complete, for no queue pair exists. Each of the others fails the running test.
 */
#include <kunit/test.h>
#include <linux/crc32.h>

#include "siro_port.h"
#include "siro_signature.h"

static void unexpected(const char *name)
{
	if (current->kunit_test)
		KUNIT_FAIL(current->kunit_test, "the engine called %s", name);
}

struct siro_mr *siro_port_mr_get(void *port, __u32 key)
{
	unexpected(__func__);
	return NULL;
}

void siro_port_mr_put(void *port, struct siro_mr *mr)
{
	unexpected(__func__);
}

int siro_port_mr_register(void *port, const struct siro_send_wqe *wqe)
{
	unexpected(__func__);
	return -EINVAL;
}

int siro_port_mr_register_list(void *port, const struct siro_send_wqe *wqe)
{
	unexpected(__func__);
	return -EINVAL;
}

void siro_port_mr_abandon_list(void *port, __u64 list)
{
	unexpected(__func__);
}

struct siro_mr *siro_port_mkey_begin(void *port, __u32 key, __u32 pd, struct siro_extents **staged)
{
	unexpected(__func__);
	return NULL;
}

int siro_port_mkey_end(void *port, struct siro_mr *mkey, const struct siro_mkey_conf *conf,
		       const struct siro_mkey_sig *sig)
{
	unexpected(__func__);
	return -EINVAL;
}

int siro_port_mr_invalidate(void *port, __u32 key, __u32 pd, __u32 remote)
{
	unexpected(__func__);
	return -EINVAL;
}

int siro_port_take_recv(void *port, struct siro_context *ctx, struct siro_recv_wqe *wqe,
			struct siro_sge *sges)
{
	unexpected(__func__);
	return 0;
}

__u32 siro_port_recv_count(void *port)
{
	unexpected(__func__);
	return 0;
}

void siro_port_set_kick(void *port, __u32 on)
{
	unexpected(__func__);
}

void siro_port_complete_send(void *port, struct siro_context *ctx, const struct siro_cqe *cqe)
{
	unexpected(__func__);
}

void siro_port_complete_recv(void *port, struct siro_context *ctx, const struct siro_cqe *cqe)
{
	unexpected(__func__);
}

struct siro_flow *siro_port_flow(void *port, __u32 ah)
{
	unexpected(__func__);
	return NULL;
}

struct siro_flow *siro_port_path(void *port, __u32 responder, __u32 index)
{
	unexpected(__func__);
	return NULL;
}

struct siro_packet *siro_port_hold(void *port, const struct siro_packet *packet)
{
	unexpected(__func__);
	return NULL;
}

void siro_port_release(void *port, struct siro_packet *held)
{
	unexpected(__func__);
}

int siro_port_tx_begin(void *port, struct siro_tx_burst *burst, __u32 bytes)
{
	unexpected(__func__);
	return -ENOMEM;
}

void siro_port_tx_commit(void *port, struct siro_tx_burst *burst, const struct siro_flow *flow,
			 __u32 responder)
{
	unexpected(__func__);
}

__u16 siro_port_crc_t10(__u16 crc, const void *data, __u64 length)
{
	unexpected(__func__);
	return 0;
}

__u32 siro_port_crc32c(__u32 crc, const void *data, __u64 length)
{
	unexpected(__func__);
	return 0;
}

__u32 siro_port_crc32(__u32 crc, const void *data, __u64 length)
{
	return crc32_le(crc, data, length);
}

void siro_port_signature_lock(void *port, struct siro_signature *signature)
{
	unexpected(__func__);
}

void siro_port_signature_unlock(void *port, struct siro_signature *signature)
{
	unexpected(__func__);
}

int siro_port_signature_grow(void *port, struct siro_signature *signature)
{
	unexpected(__func__);
	return -ENOMEM;
}

void siro_port_signature_error(void *port, struct siro_signature *signature,
			       const struct siro_sig_error *error, __u32 latched)
{
	unexpected(__func__);
}

struct siro_sig_injection *siro_port_signature_injection(void *port)
{
	unexpected(__func__);
	return NULL;
}
