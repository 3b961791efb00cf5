/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* An mkey without a device, and a queue pair that configures it. */
#ifndef SIROCCO_TESTS_MAKER_H
#define SIROCCO_TESTS_MAKER_H

#include "bench.h"

#define KEY 0x4711
#define ENTRIES 10

struct maker {
	struct bench b;
	struct ibv_pd pd;
	struct siro_mkey mkey;
	struct ibv_qp_ex *qp;
	struct siroccodv_qp_ex *dv;
};

static const struct siroccodv_mkey_conf_attr no_attr;

static void maker_setup(struct maker *m)
{
	memset(m, 0, sizeof(*m));
	setup(&m->b, IBV_QPT_RC);
	m->b.qp.vqp.qp.pd = &m->pd;
	m->b.qp.may_configure = true;
	m->mkey.dv.lkey = KEY;
	m->mkey.dv.rkey = KEY;
	m->mkey.pd = &m->pd;
	m->mkey.max_entries = ENTRIES;
	m->qp = &m->b.qp.vqp.qp_ex;
	m->dv = siroccodv_qp_ex_from_ibv_qp_ex(m->qp);
	CHECK(m->dv);
}

/* A request begins; the tests add setters. */
static void start(struct maker *m, uint8_t setters)
{
	ibv_wr_start(m->qp);
	siroccodv_wr_mkey_configure(m->dv, &m->mkey.dv, setters, &no_attr);
}

static void refused(struct maker *m, int error)
{
	ibv_wr_send_imm(m->qp, 0);
	CHECK(ibv_wr_complete(m->qp) == error);
	CHECK(produced(&m->b.qp.sq.ring) == 0);
	CHECK(doorbells(&m->b, IB_USER_VERBS_CMD_POST_SEND) == 0);
}

#endif /* SIROCCO_TESTS_MAKER_H */
