/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* An RC queue pair of a kernel client and how it is connected to another one. */
#ifndef RC_END_H
#define RC_END_H

#include <linux/if_ether.h>
#include <rdma/ib_verbs.h>

/* One side: everything hangs on its own PD. */
struct rc_end {
	struct ib_device *dev;
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_qp *qp;
	u8 *buffer; /* that both may use, or NULL */
	u64 addr;
	enum ib_mtu mtu; /* of its path */
	union ib_gid gid;
	int gid_index;
	u8 mac[ETH_ALEN];
	bool integrity; /* its queue pair has IB_QP_CREATE_INTEGRITY_EN and MRs for rdma_rw_*() */
};

/* Finds an address of the device that RoCE v2 may use over IPv4. */
int rc_end_find_gid(struct rc_end *end);

/* One direction; a connection takes two calls. The PSN wraps after 16 packets. */
int rc_connect(struct rc_end *from, struct rc_end *to);

/* Single steps of that; @more: further bits of the mask. */
int rc_to_reset(struct rc_end *end);
int rc_to_init(struct rc_end *end, int more);
int rc_to_rtr(struct rc_end *end, struct rc_end *peer, int more);
int rc_to_rts(struct rc_end *end, int more);

#endif /* RC_END_H */
