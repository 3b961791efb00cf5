// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/etherdevice.h>
#include <net/ipv6.h>
#include <rdma/ib_cache.h>

#include "rc_end.h"

#define FIRST_PSN 0xfffff0

/* The kernel posts with resolved addresses, so the link layer address is up to us. */
int rc_end_find_gid(struct rc_end *end)
{
	const struct ib_gid_attr *attr;
	struct net_device *ndev;
	int i, found = -ENOENT;

	for (i = 0; i < end->dev->port_data[1].immutable.gid_tbl_len && found < 0; i++) {
		attr = rdma_get_gid_attr(end->dev, 1, i);
		if (IS_ERR(attr))
			continue;
		rcu_read_lock();
		ndev = rdma_read_gid_attr_ndev_rcu(attr);
		if (attr->gid_type == IB_GID_TYPE_ROCE_UDP_ENCAP && !IS_ERR(ndev) &&
		    ipv6_addr_v4mapped((struct in6_addr *)&attr->gid)) {
			end->gid = attr->gid;
			end->gid_index = i;
			ether_addr_copy(end->mac, ndev->dev_addr);
			found = 0;
		}
		rcu_read_unlock();
		rdma_put_gid_attr(attr);
	}
	return found;
}

int rc_to_reset(struct rc_end *end)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RESET };

	return ib_modify_qp(end->qp, &attr, IB_QP_STATE);
}

int rc_to_init(struct rc_end *end, int more)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ |
				   IB_ACCESS_REMOTE_ATOMIC,
	};

	return ib_modify_qp(end->qp, &attr,
			    IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_ACCESS_FLAGS |
				    more);
}

int rc_to_rtr(struct rc_end *end, struct rc_end *peer, int more)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTR,
		.path_mtu = end->mtu,
		.dest_qp_num = peer->qp->qp_num,
		.rq_psn = FIRST_PSN,
		.max_dest_rd_atomic = 16,
		.min_rnr_timer = 1,
	};

	attr.ah_attr.type = RDMA_AH_ATTR_TYPE_ROCE;
	rdma_ah_set_port_num(&attr.ah_attr, 1);
	rdma_ah_set_grh(&attr.ah_attr, &peer->gid, 0, end->gid_index, 64, 0);
	ether_addr_copy(attr.ah_attr.roce.dmac, peer->mac);
	return ib_modify_qp(end->qp, &attr,
			    IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN |
				    IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER | more);
}

int rc_to_rts(struct rc_end *end, int more)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTS,
		.sq_psn = FIRST_PSN,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 16,
	};

	return ib_modify_qp(end->qp, &attr,
			    IB_QP_STATE | IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY |
				    IB_QP_SQ_PSN | IB_QP_MAX_QP_RD_ATOMIC | more);
}

int rc_connect(struct rc_end *from, struct rc_end *to)
{
	int err;

	err = rc_to_init(from, 0);
	if (!err)
		err = rc_to_rtr(from, to, 0);
	if (!err)
		err = rc_to_rts(from, 0);
	return err;
}
