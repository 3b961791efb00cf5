// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Keys, regions, rings and whole processes that change under traffic. */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <rdma/sirocco-abi.h>

#include "layout.h"
#include "scenarios.h"

#define ROUNDS 30
#define RING_SECONDS 8

static void set_up_works(void)
{
	struct key ka = new_key(random_list(&a, 20, 1, 3000), ALL_RIGHTS,
				BY_REQUEST);
	struct key kb = new_key(random_list(&b, 20, 1, 3000), ALL_RIGHTS,
				BY_CALL);

	exercise(&ka, &kb);
}

/* What memory holds now is what it should: traffic was cut off anywhere. */
static void accept_memory(void)
{
	memcpy(a.image, a.memory, MEMORY);
	memcpy(b.image, b.memory, MEMORY);
}

/* ---- under traffic ---- */

/**
 * struct victim - what is taken away while a writes through it
 * @key: at b
 * @child: region of all entries of @key
 */
struct victim {
	struct key key;
	struct ibv_mr *child;
};

static void make_victim(struct victim *v)
{
	struct layout *l = random_list(&b, 64, 1000, 16000);
	uint32_t i;

	v->child = ibv_reg_mr(b.pd, b.memory, MEMORY, ALL_RIGHTS);
	CHECK(v->child);
	for (i = 0; i < l->count; i++)
		l->sge[i].lkey = v->child->lkey;
	v->key = (struct key){ make_mkey(&b, l->count, 0), NULL, 0 };
	configure(&v->key, l, ALL_RIGHTS, BY_CALL);
}

static void post_traffic(const struct victim *v)
{
	struct ibv_sge sge = plain_sge(&a, v->key.layout->length);
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.wr.rdma.rkey = v->key.mkey->rkey,
	};
	int i;

	for (i = 0; i < 4; i++) {
		wr.opcode = i % 2 ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE;
		CHECK(!post(&a, &wr));
	}
}

/* Each request went well or found the access gone; none stays. */
static bool take_traffic(void)
{
	bool failed = false;
	int i;

	for (i = 0; i < 4; i++) {
		const enum ibv_wc_status status = completion(&a).status;

		CHECK(status == (failed ? IBV_WC_WR_FLUSH_ERR :
					  IBV_WC_SUCCESS) ||
		      (!failed && status == IBV_WC_REM_ACCESS_ERR));
		failed = status != IBV_WC_SUCCESS;
	}
	return failed;
}

static void under_traffic(void (*take_away)(struct victim *v))
{
	struct victim v;
	bool cut;
	int i;

	set_up();
	for (i = 0; i < ROUNDS; i++) {
		make_victim(&v);
		post_traffic(&v);
		usleep(random_between(0, 20000));
		take_away(&v);
		cut = take_traffic();
		CHECK_IS(transfer(IBV_WR_RDMA_WRITE, plain_sge(&a, 1),
				  v.key.mkey->rkey, 0),
			 cut ? IBV_WC_WR_FLUSH_ERR : IBV_WC_REM_ACCESS_ERR);
		reconnect();
		free(v.key.layout->offset);
		free(v.key.layout);
	}
	accept_memory();
	set_up_works();
}

static void deregister(struct victim *v)
{
	CHECK(!ibv_dereg_mr(v->child));
}

static void invalidate(struct victim *v)
{
	CHECK_IS(siroccodv_mkey_invalidate(v->key.mkey), 0);
}

static void destroy(struct victim *v)
{
	static struct siroccodv_mkey gone;

	gone = *v->key.mkey;
	CHECK_IS(siroccodv_destroy_mkey(v->key.mkey), 0);
	v->key.mkey = &gone;
}

static void child__deregistered_under_traffic(void)
{
	under_traffic(deregister);
}

static void mkey__invalidated_under_traffic(void)
{
	under_traffic(invalidate);
}

static void mkey__destroyed_under_traffic(void)
{
	under_traffic(destroy);
}

/* Requests see the old layout, the new one or none. */
static void mkey__reconfigured_under_traffic(void)
{
	struct siroccodv_mkey_config config = {
		.comp_mask = SIROCCODV_MKEY_CONFIG_LIST,
		.num_entries = 64,
	};
	struct layout *other;
	struct victim v;
	uint32_t i;

	set_up();
	make_victim(&v);
	other = random_list(&b, 64, 16000, 16000);
	for (i = 0; i < ROUNDS; i++) {
		post_traffic(&v);
		usleep(random_between(0, 10000));
		config.sge_list = i % 2 ? v.key.layout->sge : other->sge;
		CHECK_IS(siroccodv_mkey_configure(v.key.mkey, &config), 0);
		if (take_traffic())
			reconnect();
	}
	accept_memory();
	set_up_works();
}

/* ---- threads on one mkey ---- */

static bool stopping;

static void *configure_all_the_time(void *arg)
{
	struct key *key = arg;
	struct siroccodv_mkey_config config = {
		.comp_mask = SIROCCODV_MKEY_CONFIG_LIST |
			     SIROCCODV_MKEY_CONFIG_ACCESS,
		.access_flags = ALL_RIGHTS,
		.num_entries = key->layout->count,
		.sge_list = key->layout->sge,
	};
	int ret;

	while (!__atomic_load_n(&stopping, __ATOMIC_RELAXED)) {
		ret = siroccodv_mkey_configure(key->mkey, &config);
		CHECK(!ret || ret == EBUSY);
		ret = siroccodv_mkey_invalidate(key->mkey);
		CHECK(!ret || ret == EBUSY || ret == EINVAL);
	}
	return NULL;
}

static void mkey__changed_by_threads_and_requests(void)
{
	pthread_t thread[2];
	struct key kb;
	int i;

	set_up();
	kb = new_key(random_list(&b, 32, 1, 9000), ALL_RIGHTS, BY_REQUEST);
	for (i = 0; i < 2; i++)
		CHECK(!pthread_create(&thread[i], NULL, configure_all_the_time,
				      &kb));
	b.qp_ex->wr_flags = IBV_SEND_SIGNALED;
	for (i = 0; i < 300; i++) {
		CHECK_IS(siroccodv_post_reg_indir(b.dv_qp, kb.mkey, ALL_RIGHTS,
						  0, 32, kb.layout->sge), 0);
		if (completion(&b).status) {
			reconnect();
			b.qp_ex->wr_flags = IBV_SEND_SIGNALED;
		}
	}
	__atomic_store_n(&stopping, true, __ATOMIC_RELAXED);
	for (i = 0; i < 2; i++)
		CHECK(!pthread_join(thread[i], NULL));
	configure(&kb, kb.layout, ALL_RIGHTS, BY_REQUEST);
	exercise(NULL, &kb);
}

/* ---- work requests rewritten while posted ---- */

/* Where this process has mapped the send queue of a. */
static uint8_t *send_ring(size_t *size)
{
	struct ibv_sge sge = plain_sge(&a, 0);
	struct ibv_send_wr wr = { .wr_id = 0x5e9d5e9d5e9d5e9d,
				  .sg_list = &sge, .num_sge = 0,
				  .opcode = IBV_WR_RDMA_WRITE };
	FILE *maps = fopen("/proc/self/maps", "r");
	uint8_t *found = NULL;
	char line[512];

	CHECK(maps);
	CHECK_IS(execute(&wr), IBV_WC_SUCCESS);
	while (!found && fgets(line, sizeof(line), maps)) {
		unsigned long from, to;
		uint64_t first;

		if (!strstr(line, "/uverbs") ||
		    sscanf(line, "%lx-%lx", &from, &to) != 2)
			continue;
		memcpy(&first, (uint8_t *)from + sizeof(struct siro_ring_header),
		       8);
		if (first == wr.wr_id) {
			found = (uint8_t *)from;
			*size = to - from;
		}
	}
	fclose(maps);
	CHECK(found);
	return found;
}

static struct {
	uint8_t *entries;
	uint32_t stride;
	uint32_t keys[4];
} ring;

/* One field of one entry gets a value that is likely to matter. */
static void rewrite_something(void)
{
	struct siro_send_wqe *wqe =
		(void *)(ring.entries + random_between(0, DEPTH - 1) * ring.stride);
	struct siro_mkey_piece *piece = (void *)(wqe + 1);
	const uint32_t key = ring.keys[random_between(0, 3)];

	switch (random_between(0, 9)) {
	case 0:
		wqe->opcode = random_between(0, 14);
		break;
	case 1:
		wqe->flags = random_between(0, 15);
		break;
	case 2:
		wqe->mkey.count = random_number() >> random_between(0, 31);
		break;
	case 3:
		wqe->mkey.set = random_between(0, 63);
		break;
	case 4:
		wqe->mkey.table = (uintptr_t)a.memory + random_number();
		wqe->imm = key;
		break;
	case 5:
		wqe->mkey.repeat = random_number() >> random_between(0, 31);
		break;
	case 6:
		wqe->rkey = key;
		break;
	case 7:
		piece[random_between(0, 3)].lkey = key;
		break;
	case 8:
		piece[random_between(0, 3)].length = random_number();
		break;
	default:
		wqe->num_sge = random_number() >> random_between(0, 31);
	}
}

static void *rewrite_all_the_time(void *unused)
{
	(void)unused;
	while (!__atomic_load_n(&stopping, __ATOMIC_RELAXED))
		rewrite_something();
	return NULL;
}

/*
 * Two requests that are rewritten while they are fetched and executed; the
 * library may stumble over what it finds in the ring, too.
 */
static void post_rewritten(struct key *key)
{
	const struct siroccodv_mkey_conf_attr attr = {};
	struct layout *l = key->layout;

	ibv_wr_start(a.qp_ex);
	a.qp_ex->wr_flags = IBV_SEND_SIGNALED;
	siroccodv_wr_mkey_configure(a.dv_qp, key->mkey, 2, &attr);
	siroccodv_wr_set_mkey_access_flags(a.dv_qp, ALL_RIGHTS);
	siroccodv_wr_set_mkey_layout_list(a.dv_qp, l->count, l->sge);
	ibv_wr_rdma_write(a.qp_ex, b.mr->rkey, plain_va(&b));
	ibv_wr_set_sge(a.qp_ex, key->mkey->lkey, 0, l->length);
	ibv_wr_complete(a.qp_ex);
}

/*
 * The kernel may refuse or execute what it finds, but completions and the
 * end of the queue pair must come all the same. The thread would write to an
 * unmapped ring, so it stops before each reconnection.
 */
static void request__rewritten_while_posted(void)
{
	const time_t end = time(NULL) + RING_SECONDS;
	pthread_t thread;
	struct key key;
	size_t size;
	int i;

	set_up();
	key = (struct key){ make_mkey(&a, 32, 0), random_list(&a, 8, 1, 900), 0 };
	ring.stride = sizeof(struct siro_send_wqe) + INLINE;
	ring.keys[0] = a.mr->lkey;
	ring.keys[1] = key.mkey->lkey;
	ring.keys[2] = 0;
	while (time(NULL) < end) {
		ring.entries = send_ring(&size) + sizeof(struct siro_ring_header);
		CHECK(sizeof(struct siro_ring_header) + DEPTH * ring.stride <=
		      size);
		ring.keys[3] = random_number();
		stopping = false;
		CHECK(!pthread_create(&thread, NULL, rewrite_all_the_time, NULL));
		for (i = 0; i < 20; i++) {
			struct ibv_wc wc;

			post_rewritten(&key);
			while (ibv_poll_cq(a.cq, 1, &wc) > 0)
				;
		}
		__atomic_store_n(&stopping, true, __ATOMIC_RELAXED);
		CHECK(!pthread_join(thread, NULL));
		reconnect();
	}
	accept_memory();
	set_up_works();
}

/* ---- processes ---- */

static void traffic_for_ever(int ready)
{
	struct key ka, kb;

	set_up();
	ka = new_key(random_list(&a, 20, 1, 9000), ALL_RIGHTS, BY_REQUEST);
	kb = new_key(random_list(&b, 20, 1, 9000), ALL_RIGHTS, BY_TABLE);
	accept_memory();
	CHECK(write(ready, "r", 1) == 1);
	for (;;)
		exercise(&ka, &kb);
}

static void process__killed(void)
{
	int i, ready[2], status;
	char byte;
	pid_t pid;

	for (i = 0; i < 6; i++) {
		CHECK(!pipe(ready));
		pid = fork();
		CHECK(pid >= 0);
		if (!pid)
			traffic_for_ever(ready[1]);
		close(ready[1]);
		CHECK(read(ready[0], &byte, 1) == 1);
		close(ready[0]);
		usleep(random_between(0, 300000));
		CHECK(!kill(pid, SIGKILL));
		CHECK(waitpid(pid, &status, 0) == pid);
		CHECK(WIFSIGNALED(status));
	}
	set_up();
	set_up_works();
}

/* Objects may be left in any order; the context takes them along. */
static void context__closed_with_mkeys(void)
{
	int i;

	for (i = 0; i < 3; i++) {
		set_up();
		new_key(random_list(&a, 4096, 1, 10), ALL_RIGHTS, BY_TABLE);
		new_key(random_list(&b, 100, 1, 10), ALL_RIGHTS, BY_CALL);
		make_mkey(&a, 100, 0);
		CHECK_IS(ibv_dealloc_pd(a.pd), EBUSY);
		CHECK(!ibv_close_device(a.context));
		CHECK(!ibv_close_device(b.context));
	}
	set_up();
	set_up_works();
}

const struct scenario lifetime_scenarios[] = {
	SCENARIO(child__deregistered_under_traffic),
	SCENARIO(mkey__invalidated_under_traffic),
	SCENARIO(mkey__destroyed_under_traffic),
	SCENARIO(mkey__reconfigured_under_traffic),
	SCENARIO(mkey__changed_by_threads_and_requests),
	SCENARIO(request__rewritten_while_posted),
	SCENARIO(process__killed),
	SCENARIO(context__closed_with_mkeys),
	{},
};
