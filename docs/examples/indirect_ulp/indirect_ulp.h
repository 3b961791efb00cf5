/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * An example of a kernel user of indirect registration: buffers of any address
 * and length travel to a peer in one RDMA WRITE.
 */
#ifndef INDIRECT_ULP_H
#define INDIRECT_ULP_H

#include <rdma/sirocco.h>

/* Memory from kmalloc() or pages of the linear map. */
struct ulp_buffer {
	void *data;
	u32 length;
};

/* Where the peer wants the data: it told us, perhaps in a message. */
struct ulp_target {
	u64 addr;
	u32 rkey;
};

/**
 * indirect_ulp_write() - write @count buffers, one after the other, to the peer
 * @qp: connected; nothing else is posted to it meanwhile
 * @cq: its send CQ, IB_POLL_DIRECT
 *
 * Context: process, sleeps.
 * Return: 0 or an errno.
 */
int indirect_ulp_write(struct ib_qp *qp, struct ib_cq *cq, const struct ulp_buffer *buffers,
		       unsigned int count, const struct ulp_target *target);

#endif /* INDIRECT_ULP_H */
