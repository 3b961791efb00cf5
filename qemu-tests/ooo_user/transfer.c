// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Moves data, checks every byte, says how fast it was. */
#include "ends.h"

#include "completion.h"

static int compare(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;

	return (a > b) - (a < b);
}

struct job {
	enum ibv_wr_opcode opcode;
	bool notify; /* a SEND follows each, and its receive is the end */
	uint32_t size, depth;
	double seconds; /* at least */
	double *times, *begun;
	size_t most, posted, done;
};

static void post(struct job *j, struct end *a, struct end *b)
{
	uint64_t at = (uint64_t)(j->posted % j->depth) * j->size;
	struct ibv_sge sge = { (uintptr_t)a->memory + at, j->size, a->mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = j->posted,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = j->opcode,
		.send_flags = j->notify ? 0 : IBV_SEND_SIGNALED,
		.wr.rdma = { (uintptr_t)b->memory + at, b->mr->rkey },
	};
	struct ibv_send_wr tail = {
		.wr_id = j->posted,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	}, *bad;

	if (j->notify)
		wr.next = &tail;
	j->begun[j->posted % j->depth] = now();
	CHECK_IS(ibv_post_send(a->qp, &wr, &bad), 0);
	j->posted++;
}

static void post_recv(struct end *b)
{
	struct ibv_recv_wr wr = {}, *bad;

	CHECK_IS(ibv_post_recv(b->qp, &wr, &bad), 0);
}

static void finish_one(struct job *j, struct end *a, struct end *b)
{
	if (j->notify) {
		completion(b);
		post_recv(b);
	} else {
		CHECK_IS(completion(a).wr_id, j->done);
	}
	if (j->done < j->most)
		j->times[j->done] = now() - j->begun[j->done % j->depth];
	if (j->notify)
		completion(a);
	j->done++;
}

static double run(struct job *j, struct end *a, struct end *b)
{
	const double begin = now();
	uint32_t i;

	j->posted = j->done = 0;
	for (i = 0; j->notify && i < 2 * j->depth; i++)
		post_recv(b);
	while (now() - begin < j->seconds || j->done < j->depth) {
		while (j->posted - j->done < j->depth)
			post(j, a, b);
		finish_one(j, a, b);
	}
	while (j->done < j->posted)
		finish_one(j, a, b);
	return now() - begin;
}

/* transfer OP SIZE DEPTH SECONDS CONSENT CONSENT [FLOW-LABEL TIMEOUT] */
int transfer(struct end *a, struct end *b, int argc, char **argv)
{
	struct job j = { .most = 1 << 20 };
	size_t bytes, n;
	double took;

	CHECK(argc == 6 || argc == 8);
	j.opcode = !strcmp(argv[0], "read") ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE;
	j.notify = !strcmp(argv[0], "notify");
	j.size = strtoul(argv[1], NULL, 0);
	j.depth = strtoul(argv[2], NULL, 0);
	j.seconds = atof(argv[3]);
	a->consents = atoi(argv[4]);
	b->consents = atoi(argv[5]);
	if (argc == 8) {
		a->flow_label = b->flow_label = atoi(argv[6]);
		a->timeout = b->timeout = atoi(argv[7]);
	}
	bytes = (size_t)j.size * j.depth;
	j.times = calloc(j.most, sizeof(*j.times));
	j.begun = calloc(j.depth, sizeof(*j.begun));
	CHECK(j.times && j.begun);

	open_end(a, bytes);
	open_end(b, bytes);
	memset(j.opcode == IBV_WR_RDMA_READ ? a->memory : b->memory, 0, bytes);
	connect_ends(a, b, 4 * j.depth);
	printf("begin\n");
	took = run(&j, a, b);
	CHECK_IS(memcmp(a->memory, b->memory, bytes), 0);

	n = j.done < j.most ? j.done : j.most;
	qsort(j.times, n, sizeof(*j.times), compare);
	printf("%s size %u depth %u consent %d %d: %.1f MB/s, p50 %.0f us, p99 %.0f us, %zu requests\n",
	       argv[0], j.size, j.depth, a->consents, b->consents,
	       (double)j.done * j.size / took / 1e6, j.times[n / 2] * 1e6,
	       j.times[n * 99 / 100] * 1e6, j.done);
	return 0;
}
