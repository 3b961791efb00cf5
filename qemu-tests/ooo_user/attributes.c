// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Where the attribute is taken, and where not. */
#include <errno.h>

#include "ends.h"

#define OOO IBV_QP_OOO_RW_DATA_PLACEMENT

static void renew(struct end *e, enum ibv_qp_type type)
{
	if (e->qp)
		CHECK_IS(ibv_destroy_qp(e->qp), 0);
	make_qp(e, type, 4);
}

static void capabilities(struct end *a)
{
	struct siroccodv_device_attr attr = {
		.comp_mask = SIROCCODV_DEVICE_ATTR_OOO,
	};

	CHECK_IS(siroccodv_query_device(a->context, &attr), 0);
	CHECK_IS(attr.comp_mask, SIROCCODV_DEVICE_ATTR_OOO);
	CHECK_IS(attr.ooo_caps.rc_caps, IB_OOO_RW_DATA_PLACEMENT);
	CHECK_IS(attr.ooo_caps.xrc_caps | attr.ooo_caps.ud_caps |
			 attr.ooo_caps.uc_caps, 0);
	attr.comp_mask = 1 << 30;
	CHECK_IS(siroccodv_query_device(a->context, &attr), EOPNOTSUPP);
}

static void transitions(struct end *a, struct end *b)
{
	struct ibv_qp_attr attr = { .min_rnr_timer = 2 };

	renew(a, IBV_QPT_RC);
	renew(b, IBV_QPT_RC);
	CHECK_IS(to_init(a, OOO), EINVAL);
	CHECK_IS(to_init(a, 0), 0);
	CHECK_IS(to_init(a, OOO), EINVAL);
	CHECK_IS(to_rtr(a, b, OOO), 0);
	CHECK_IS(to_rts(a, OOO), EINVAL);
	CHECK_IS(to_rts(a, 0), 0);
	CHECK_IS(to_rts(a, OOO), EINVAL);
	CHECK_IS(ibv_modify_qp(a->qp, &attr, IBV_QP_MIN_RNR_TIMER | OOO),
		 EINVAL);
	/* A refused call has changed nothing. */
	CHECK_IS(ibv_modify_qp(a->qp, &attr, IBV_QP_MIN_RNR_TIMER), 0);
	set_state(a, IBV_QPS_RESET);
	CHECK_IS(to_rtr(a, b, OOO), EINVAL);
}

static void other_types(struct end *a, struct end *b)
{
	renew(a, IBV_QPT_UD);
	CHECK_IS(to_init(a, OOO), EINVAL);
	CHECK_IS(to_init(a, 0), 0);
	CHECK_IS(to_rtr(a, b, OOO), EINVAL);
	CHECK_IS(to_rtr(a, b, 0), 0);
	CHECK_IS(siroccodv_qp_set_ooo(a->qp, true), EINVAL);
}

static void setter(struct end *a, struct end *b)
{
	renew(a, IBV_QPT_RC);
	CHECK_IS(siroccodv_qp_set_ooo(a->qp, true), 0);
	CHECK_IS(to_init(a, 0), 0);
	CHECK_IS(siroccodv_qp_set_ooo(a->qp, false), 0);
	CHECK_IS(siroccodv_qp_set_ooo(a->qp, true), 0);
	CHECK_IS(to_rtr(a, b, 0), 0);
	CHECK_IS(siroccodv_qp_set_ooo(a->qp, false), EINVAL);
	CHECK_IS(to_rts(a, 0), 0);
	CHECK_IS(siroccodv_qp_set_ooo(a->qp, true), EINVAL);
}

int check_attributes(struct end *a, struct end *b)
{
	capabilities(a);
	transitions(a, b);
	other_types(a, b);
	setter(a, b);
	CHECK_IS(ibv_query_qp_data_in_order(a->qp, IBV_WR_RDMA_WRITE, 0), 0);
	return 0;
}
