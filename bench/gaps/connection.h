/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Two connected RC queue pairs on the two links that the guest script made. */
#ifndef CONNECTION_H
#define CONNECTION_H

#include <linux/if_ether.h>
#include <rdma/ib_verbs.h>

struct end {
	struct ib_device *dev;
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_qp *qp;
	union ib_gid gid;
	int gid_index;
	u8 mac[ETH_ALEN];
};

/* @near asks for the transfers, @far has the memory that is registered. */
struct connection {
	struct end near, far;
};

/* @connection: zeroed; to be closed even if this fails. */
int connection_open(struct connection *connection);
void connection_close(struct connection *connection);

/* Posts one work request, signaled, and waits for its completion. */
int end_run(struct end *end, struct ib_send_wr *wr);

#endif /* CONNECTION_H */
