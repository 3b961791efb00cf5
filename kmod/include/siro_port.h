/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Functions that the engine calls; the glue (or a host test) implements them.
 *
 * @port is struct siro_context.port, the glue's QP. All are called with the
 * lock of one half held, in process context with bottom halves off or in
 * softirq context: none may sleep, and none may call back into the same half.
 */
#ifndef SIRO_PORT_H
#define SIRO_PORT_H

#include "siro_engine.h"

SIRO_BEGIN_DECLS

/**
 * siro_port_mr_get() - look a key up and pin the region for this call
 * @key: lkey or rkey
 *
 * Looks up by key >> 8 under RCU, increments users, then checks that the whole
 * key matches and that the state is SIRO_MR_VALID. PD and access are checked by
 * the engine.
 * Return: NULL if there is no such valid region.
 */
struct siro_mr *siro_port_mr_get(void *port, __u32 key);

/** siro_port_mr_put() - end of use. */
void siro_port_mr_put(void *port, struct siro_mr *mr);

/**
 * siro_port_mr_register() - execute REG_MR
 * @wqe: reg.mr is the region the poster named; its staged page list becomes
 *	live with iova, length, key and access of the WQE.
 * Return: 0, or -EINVAL (-22): the region belongs to another PD, is not FREE, or
 * nothing is mapped.
 */
int siro_port_mr_register(void *port, const struct siro_send_wqe *wqe);

/**
 * siro_port_mr_register_list() - execute REG_INDIR_MR
 * @wqe: reg.mr is the list that the poster left; it belongs to the region, or
 *	is freed, when the call returns, whatever it returns.
 * Return: 0, or -EINVAL (-22): reg.key names no indirect region of this PD that
 * is FREE, or iova and length do not fit the list.
 */
int siro_port_mr_register_list(void *port, const struct siro_send_wqe *wqe);

/** siro_port_mr_abandon_list() - a list (reg.mr) whose REG_INDIR_MR never ran */
void siro_port_mr_abandon_list(void *port, __u64 list);

/**
 * siro_port_mkey_begin() - get ready to configure an mkey
 * @key: current key
 * @staged: (out) a list to fill, empty; the old one stays in use
 * Return: the mkey, until siro_port_mkey_end(); NULL: no mkey of this PD, or it is
 * being configured now.
 */
struct siro_mr *siro_port_mkey_begin(void *port, __u32 key, __u32 pd,
				     struct siro_extents **staged);

/**
 * siro_port_mkey_end() - put a configuration into effect, or drop it
 * @conf: for siro_mkey_change(); NULL: the key stays as it was. With a layout the
 *	staged list is finished and becomes the live one.
 * @sig: for siro_mkey_change()
 *
 * The caller holds no region. Accesses under the old configuration have ended
 * when it returns.
 * Return: 0, -EINVAL (-22): siro_mkey_change() fails, -EBUSY (-16): it is being
 * invalidated.
 */
int siro_port_mkey_end(void *port, struct siro_mr *mkey, const struct siro_mkey_conf *conf,
		       const struct siro_mkey_sig *sig);

/**
 * siro_port_mr_invalidate() - execute LOCAL_INV or a remote invalidation
 * @key: current key of a fast-registration MR
 * @pd: protection domain number of the QP
 * @remote: 1: asked for by the peer; some keys do not allow that
 *
 * The caller holds no region. Returns after all users are gone: later accesses
 * with the key fail, none is under way.
 * Return: 0, or -EINVAL (-22): unknown key, wrong PD, a region that cannot be
 * invalidated.
 */
int siro_port_mr_invalidate(void *port, __u32 key, __u32 pd, __u32 remote);

/**
 * siro_port_take_recv() - next receive WQE of the QP's RQ or SRQ
 * @ctx: for the SRQ limit event
 * Return: as siro_recv_ring_take().
 */
int siro_port_take_recv(void *port, struct siro_context *ctx, struct siro_recv_wqe *wqe,
			struct siro_sge *sges);

/**
 * siro_port_recv_count() - receive WQEs that are posted now, for the credits of
 * an ACK; 0xffffffff for an SRQ
 */
__u32 siro_port_recv_count(void *port);

/**
 * siro_port_set_kick() - the QP's RQ entered (1) or left (0) the error state:
 * set or clear SIRO_RING_KICK in its header
 */
void siro_port_set_kick(void *port, __u32 on);

/**
 * siro_port_complete_send() - push a CQE to the send CQ
 * @ctx: SIRO_OUT_NOTIFY_CQ is set if the CQ is armed for this CQE,
 *	SIRO_EVENT_CQ_ERR if it overflowed
 */
void siro_port_complete_send(void *port, struct siro_context *ctx, const struct siro_cqe *cqe);

/** siro_port_complete_recv() - push a CQE to the receive CQ. */
void siro_port_complete_recv(void *port, struct siro_context *ctx, const struct siro_cqe *cqe);

/**
 * siro_port_flow() - the path of an address handle (UD)
 * @ah: number of the handle
 *
 * The result is valid until the end of the engine call (RCU).
 * Return: NULL if the number is unknown or of another PD.
 */
struct siro_flow *siro_port_flow(void *port, __u32 ah);

/**
 * siro_port_path() - another path of an RC queue pair
 * @responder: 1: of the responder half
 * @index: 1 to attr.paths - 1; path 0 is the flow of the half's configuration
 *
 * Return: NULL: there are not so many.
 */
struct siro_flow *siro_port_path(void *port, __u32 responder, __u32 index);

/**
 * siro_port_hold() - keep a packet until its turn comes
 * Return: a copy whose frags hold all of it, NULL if there is no memory for it.
 */
struct siro_packet *siro_port_hold(void *port, const struct siro_packet *packet);

/** siro_port_release() - end of a held packet. */
void siro_port_release(void *port, struct siro_packet *held);

/**
 * siro_port_tx_begin() - get room for a burst
 * @burst: data, capacity and cookie are filled in
 * @bytes: wish, at most SIRO_MAX_BURST_BYTES; the capacity may be smaller but
 *	holds at least one packet of 4160 bytes, or @bytes if that is less
 * Return: 0, -EAGAIN (-11) if the transmit memory is used up (SIRO_OUT_BLOCKED
 * will be reported), -ENOMEM (-12) likewise.
 */
int siro_port_tx_begin(void *port, struct siro_tx_burst *burst, __u32 bytes);

/**
 * siro_port_tx_commit() - send a burst, or free it if it has no packets
 * @responder: 1 if the responder half sends it, so that the glue uses that half's
 *	cached route
 * @flow: the path; RC: the half's own, UD: from siro_port_flow()
 *
 * An error of the network is a lost packet; it is not reported.
 */
void siro_port_tx_commit(void *port, struct siro_tx_burst *burst, const struct siro_flow *flow,
			 __u32 responder);

/**
 * siro_port_crc32() - CRC-32 (polynomial 0xedb88320, reflected), not inverted
 * @crc: state so far
 */
__u32 siro_port_crc32(__u32 crc, const void *data, __u64 length);

SIRO_END_DECLS

#endif /* SIRO_PORT_H */
