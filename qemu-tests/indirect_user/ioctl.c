// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The methods of mkeys without the library in between, and its synchronous calls. */
#include "command.h"
#include "layout.h"
#include "scenarios.h"

#define UNKNOWN 0x1077

/* ---- creation ---- */

struct creation {
	struct command command;
	struct siro_mkey_create_req req[2]; /* the second is what is too much */
	struct siro_mkey_create_resp resp;
};

enum { HANDLE, PD, REQ, RESP };

static void creation(struct creation *c)
{
	*c = (struct creation){
		.command = command(SIROCCO_METHOD_MKEY_CREATE),
		.req[0] = { .flags = SIRO_MKEY_INDIRECT, .max_entries = 10 },
	};
	add(&c->command, SIROCCO_ATTR_MKEY_CREATE_HANDLE, 0, 0);
	add(&c->command, SIROCCO_ATTR_MKEY_CREATE_PD, 0, a.pd->handle);
	/* Up to eight bytes are in the attribute itself. */
	add(&c->command, SIROCCO_ATTR_MKEY_CREATE_REQ, sizeof(c->req[0]), 0);
	memcpy((void *)&c->command.attr[REQ].data, c->req, sizeof(c->req[0]));
	add(&c->command, SIROCCO_ATTR_MKEY_CREATE_RESP, sizeof(c->resp),
	    (uintptr_t)&c->resp);
}

static uint32_t create(void)
{
	struct creation c;

	creation(&c);
	CHECK_IS(run(&c.command), 0);
	CHECK(c.resp.key && c.resp.max_entries >= 10);
	return c.command.attr[HANDLE].data;
}

static int destroy(uint32_t handle)
{
	struct command c = command(SIROCCO_METHOD_MKEY_DESTROY);

	add(&c, SIROCCO_ATTR_MKEY_DESTROY_HANDLE, 0, handle);
	return run(&c);
}

static void create__bad_attributes(void)
{
	struct creation c;

	set_up();
	creation(&c);
	c.command.attr[REQ].len = 4;
	CHECK_IS(run(&c.command), EINVAL);
	creation(&c);
	c.command.attr[RESP].len = 4;
	CHECK_IS(run(&c.command), EINVAL);
	creation(&c);
	c.command.attr[RESP].data = 8;
	CHECK_IS(run(&c.command), EFAULT);

	/* Longer than known: good if the rest is zero. */
	creation(&c);
	c.command.attr[REQ].len = sizeof(c.req);
	c.command.attr[REQ].data = (uintptr_t)c.req;
	CHECK_IS(run(&c.command), 0);
	CHECK_IS(destroy(c.command.attr[HANDLE].data), 0);
	creation(&c);
	c.command.attr[REQ].len = sizeof(c.req);
	c.command.attr[REQ].data = (uintptr_t)c.req;
	c.req[1].max_entries = 1;
	CHECK_IS(run(&c.command), EOPNOTSUPP);

	creation(&c);
	c.command.attr[PD].data = 0xffffff;
	CHECK_IS(run(&c.command), ENOENT);
	creation(&c);
	c.command.hdr.num_attrs = RESP; /* none */
	CHECK_IS(run(&c.command), EINVAL);
	creation(&c);
	add(&c.command, UNKNOWN, 0, 0);
	CHECK_IS(run(&c.command), EPROTONOSUPPORT);
	creation(&c);
	add(&c.command, UNKNOWN, 0, 0)->flags = 0; /* may be ignored */
	CHECK_IS(run(&c.command), 0);
	CHECK_IS(destroy(c.command.attr[HANDLE].data), 0);
	creation(&c);
	add(&c.command, SIROCCO_ATTR_MKEY_CREATE_PD, 0, a.pd->handle);
	CHECK_IS(run(&c.command), EINVAL);
}

static void create__bad_header(void)
{
	struct creation c;

	set_up();
	creation(&c);
	c.command.hdr.method_id = UNKNOWN;
	CHECK_IS(run(&c.command), EPROTONOSUPPORT);
	creation(&c);
	c.command.hdr.object_id = UNKNOWN;
	CHECK_IS(run(&c.command), EPROTONOSUPPORT);
	creation(&c);
	c.command.hdr.driver_id = 1;
	CHECK_IS(run(&c.command), EINVAL);
}

/* ---- configuration ---- */

static int configure_raw(uint32_t handle, const struct siro_mkey_conf *conf)
{
	struct command c = command(SIROCCO_METHOD_MKEY_CONFIGURE);

	add(&c, SIROCCO_ATTR_MKEY_CONFIGURE_HANDLE, 0, handle);
	add(&c, SIROCCO_ATTR_MKEY_CONFIGURE_CONF, sizeof(*conf),
	    (uintptr_t)conf);
	return run(&c);
}

static struct siro_mkey_conf good_list(uint32_t count)
{
	static struct siro_sge sge[11];
	int i;

	for (i = 0; i < 11; i++)
		sge[i] = (struct siro_sge){ (uintptr_t)a.memory, 16,
					    a.mr->lkey };
	return (struct siro_mkey_conf){
		.table = (uintptr_t)sge,
		.count = count,
		.set = SIRO_MKEY_LIST,
	};
}

static struct siro_mkey_conf good_rows(uint32_t repeat)
{
	static struct siro_mkey_piece piece;

	piece = (struct siro_mkey_piece){ .addr = (uintptr_t)a.memory,
					  .length = 16, .skip = 16,
					  .lkey = a.mr->lkey };
	return (struct siro_mkey_conf){
		.table = (uintptr_t)&piece,
		.count = 1,
		.repeat = repeat,
		.set = SIRO_MKEY_INTERLEAVED,
	};
}

#define REFUSED(error, changed, ...)                              \
	do {                                                      \
		struct siro_mkey_conf conf = changed;             \
		__VA_ARGS__;                                      \
		CHECK_IS(configure_raw(handle, &conf), error);    \
	} while (0)

static void configure__bad_values(void)
{
	uint32_t handle;

	set_up();
	handle = create();
	REFUSED(0, good_list(10));
	REFUSED(0, good_rows(3));
	REFUSED(EINVAL, good_list(11));
	REFUSED(EINVAL, good_list(0));
	REFUSED(EINVAL, good_list(4097));
	REFUSED(EINVAL, good_list(-1u));
	REFUSED(EFAULT, good_list(1), conf.table = 8);
	REFUSED(EFAULT, good_list(1), conf.table = -4096ull);
	REFUSED(EINVAL, good_list(1), conf.set |= 0x20);
	REFUSED(EINVAL, good_list(1), conf.set |= SIRO_MKEY_TABLE);
	REFUSED(EINVAL, good_list(1), conf.set |= SIRO_MKEY_INTERLEAVED);
	REFUSED(EINVAL, good_list(1), conf.repeat = 1);
	REFUSED(EINVAL, good_list(1), conf.access = 1);
	REFUSED(EINVAL, good_list(1), conf.iova = 1);
	REFUSED(EINVAL, good_list(1), conf.access = IBV_ACCESS_REMOTE_WRITE;
		conf.set |= SIRO_MKEY_ACCESS);
	REFUSED(EINVAL, good_list(1), conf.access = 0x10;
		conf.set |= SIRO_MKEY_ACCESS);
	REFUSED(EINVAL, good_list(1), conf.iova = -16ull;
		conf.set |= SIRO_MKEY_IOVA);
	REFUSED(0, good_list(1), conf.iova = -17ull; conf.set |= SIRO_MKEY_IOVA);
	REFUSED(EINVAL, good_list(1), conf.set = 0);
	REFUSED(EINVAL, good_rows(0));
	REFUSED(EINVAL, good_rows(1),
		((struct siro_mkey_piece *)(uintptr_t)conf.table)->reserved = 1);
	REFUSED(EINVAL, good_rows(-1u),
		((struct siro_mkey_piece *)(uintptr_t)conf.table)->addr = -1ull << 36);
	REFUSED(EINVAL, good_rows(1), conf.set |= SIRO_MKEY_TABLE);
}

static void configure__bad_attributes(void)
{
	struct siro_mkey_conf conf[2] = {};
	struct command c;
	uint32_t handle;

	set_up();
	handle = create();
	conf[0] = good_list(1);
	c = command(SIROCCO_METHOD_MKEY_CONFIGURE);
	add(&c, SIROCCO_ATTR_MKEY_CONFIGURE_HANDLE, 0, handle);
	CHECK_IS(run(&c), EINVAL);
	add(&c, SIROCCO_ATTR_MKEY_CONFIGURE_CONF, sizeof(conf[0]) - 1,
	    (uintptr_t)conf);
	CHECK_IS(run(&c), EINVAL);
	c.attr[1].len = sizeof(conf);
	CHECK_IS(run(&c), 0);
	conf[1].count = 1;
	CHECK_IS(run(&c), EOPNOTSUPP);
	c.attr[1].len = sizeof(conf[0]);
	c.attr[1].data = 8;
	CHECK_IS(run(&c), EFAULT);
	c.attr[1].data = (uintptr_t)conf;
	c.attr[0].data = 0xffffff;
	CHECK_IS(run(&c), ENOENT);
	c.attr[0].data = a.pd->handle; /* not an mkey */
	CHECK_IS(run(&c), EINVAL);
	c.attr[0].data = handle;
	add(&c, UNKNOWN, 0, 0);
	CHECK_IS(run(&c), EPROTONOSUPPORT);
	CHECK_IS(destroy(handle), 0);
	CHECK_IS(destroy(handle), ENOENT);
	CHECK_IS(configure_raw(handle, conf), ENOENT);
}

static void invalidate__bad_attributes(void)
{
	struct command c;
	uint32_t handle;

	set_up();
	handle = create();
	c = command(SIROCCO_METHOD_MKEY_INVALIDATE);
	CHECK_IS(run(&c), EINVAL);
	add(&c, SIROCCO_ATTR_MKEY_INVALIDATE_HANDLE, 0, handle);
	CHECK_IS(run(&c), 0);
	CHECK_IS(run(&c), 0);
	c.attr[0].data = a.pd->handle;
	CHECK_IS(run(&c), EINVAL);
	c.attr[0].data = 0xffffff;
	CHECK_IS(run(&c), ENOENT);
}

/* ---- the library's calls ---- */

static void mkey_configure__bad_config(void)
{
	struct ibv_sge sge[3] = {};
	struct siroccodv_mkey_config good, config;
	struct siroccodv_mr_interleaved piece = {};
	struct siroccodv_mkey *mkey;

	set_up();
	mkey = make_mkey(&a, 2, 0);
	sge[0] = plain_sge(&a, 8);
	good = (struct siroccodv_mkey_config){
		.comp_mask = SIROCCODV_MKEY_CONFIG_LIST,
		.num_entries = 1,
		.sge_list = sge,
	};
	CHECK_IS(siroccodv_mkey_configure(mkey, &good), 0);
	config = good;
	config.comp_mask |= 0x40;
	CHECK_IS(siroccodv_mkey_configure(mkey, &config), EOPNOTSUPP);
	config = good;
	config.reserved = 1;
	CHECK_IS(siroccodv_mkey_configure(mkey, &config), EINVAL);
	config = good;
	config.num_entries = 3;
	CHECK_IS(siroccodv_mkey_configure(mkey, &config), EINVAL);
	config.num_entries = 0;
	CHECK_IS(siroccodv_mkey_configure(mkey, &config), EINVAL);
	config = good;
	config.comp_mask |= SIROCCODV_MKEY_CONFIG_INTERLEAVED;
	config.repeat_count = 1;
	CHECK_IS(siroccodv_mkey_configure(mkey, &config), EINVAL);
	config = good;
	config.comp_mask |= SIROCCODV_MKEY_CONFIG_IOVA;
	config.iova = -8ull;
	CHECK_IS(siroccodv_mkey_configure(mkey, &config), EINVAL);
	/* The layout in force decides if there is none in the call. */
	config.comp_mask = SIROCCODV_MKEY_CONFIG_IOVA;
	CHECK_IS(siroccodv_mkey_configure(mkey, &config), EINVAL);
	config.iova = -9ull;
	CHECK_IS(siroccodv_mkey_configure(mkey, &config), 0);
	config = good;
	config.comp_mask = SIROCCODV_MKEY_CONFIG_INTERLEAVED;
	config.interleaved = &piece;
	config.repeat_count = 1;
	CHECK_IS(siroccodv_mkey_configure(mkey, &config), EINVAL);
	config.comp_mask = 0;
	CHECK_IS(siroccodv_mkey_configure(mkey, &config), 0);
}

/* Configuration, invalidation and destruction want no working QP. */
static void mkey_configure__with_the_qp_in_error(void)
{
	struct key ka = {}, kb = {};

	set_up();
	ka.mkey = make_mkey(&a, 20, 0);
	kb.mkey = make_mkey(&b, 20, 0);
	set_state(&a, IBV_QPS_ERR);
	set_state(&b, IBV_QPS_ERR);
	configure(&ka, random_list(&a, 20, 1, 5000), ALL_RIGHTS, BY_CALL);
	configure(&kb, random_list(&b, 20, 1, 5000), ALL_RIGHTS, BY_CALL);
	reconnect();
	exercise(&ka, &kb);

	set_state(&b, IBV_QPS_ERR);
	CHECK_IS(siroccodv_mkey_invalidate(kb.mkey), 0);
	reconnect();
	CHECK_IS(transfer(IBV_WR_RDMA_WRITE, plain_sge(&a, 1), kb.mkey->rkey, 0),
		 IBV_WC_REM_ACCESS_ERR);
	configure(&kb, random_list(&b, 20, 1, 5000), ALL_RIGHTS, BY_CALL);
	CHECK_IS(siroccodv_destroy_mkey(ka.mkey), 0);
	reconnect();
	exercise(NULL, &kb);
}

const struct scenario ioctl_scenarios[] = {
	SCENARIO(create__bad_attributes),
	SCENARIO(create__bad_header),
	SCENARIO(configure__bad_values),
	SCENARIO(configure__bad_attributes),
	SCENARIO(invalidate__bad_attributes),
	SCENARIO(mkey_configure__bad_config),
	SCENARIO(mkey_configure__with_the_qp_in_error),
	{},
};
