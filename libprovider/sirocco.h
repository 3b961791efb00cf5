/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The provider's objects and what its files offer each other. */
#ifndef SIROCCO_H
#define SIROCCO_H

#include <infiniband/driver.h>

#include "ring.h"
#include "siroccodv.h"

struct siro_device {
	struct verbs_device vdev;
};

/**
 * struct siro_context - an open device
 * @max_mkey_entries: of one mkey; 0 if the module has no mkeys
 * @features: SIRO_FEATURE_*
 * @status_lock: of @status_pages
 * @status_pages: where states of mkeys are mapped
 */
struct siro_context {
	struct verbs_context vctx;
	uint32_t max_mkey_entries;
	uint32_t features;
	pthread_mutex_t status_lock;
	struct siro_status_page *status_pages;
};

/**
 * struct siro_cq - a completion queue
 * @limit: completions below it are known to be there
 * @cqe: the completion that the read functions of ibv_cq_ex look at
 */
struct siro_cq {
	struct verbs_cq vcq;
	struct siro_ring ring;
	pthread_spinlock_t lock;
	bool single_threaded;
	uint32_t limit;
	const struct siro_cqe *cqe;
};

struct siro_srq {
	struct verbs_srq vsrq;
	struct siro_queue queue;
	uint32_t number;
};

/* An empty post command, which makes the kernel look at a ring. */
struct siro_doorbell {
	union {
		struct ibv_post_send send;
		struct ibv_post_recv recv;
	};
	union {
		struct ib_uverbs_post_send_resp send_resp;
		struct ib_uverbs_post_recv_resp recv_resp;
	};
};

/**
 * struct siro_qp - a queue pair
 * @wqe: what the setters of ibv_qp_ex work on; NULL outside a work request
 * @wr_first: our index at ibv_wr_start()
 * @wr_error: first error since ibv_wr_start()
 * @may_configure: it was created for work requests that configure mkeys
 * @mkey: what @wqe configures
 * @setters: how many setters @wqe waits for
 * @entry_bytes: bytes of entries in @wqe
 */
struct siro_qp {
	struct verbs_qp vqp;
	struct siro_queue sq;
	struct siro_queue rq;
	uint32_t max_inline;
	struct siro_doorbell sq_doorbell;
	struct siro_doorbell rq_doorbell;
	struct siro_send_wqe *wqe;
	uint32_t wr_first;
	int wr_error;
	bool may_configure;
	uint8_t paths; /* 0: as the device's setting */
	bool ooo; /* asked for by siroccodv_qp_set_ooo() */
	const struct siro_mkey *mkey;
	uint32_t setters;
	uint32_t entry_bytes;
};

struct siro_ah {
	struct ibv_ah ibah;
	uint32_t number;
};

/**
 * struct siro_mkey - an mkey
 * @status: written by the kernel; NULL if it may not have a signature
 */
struct siro_mkey {
	struct siroccodv_mkey dv;
	struct ibv_pd *pd;
	uint32_t handle;
	uint32_t max_entries;
	const struct siro_mkey_status *status;
};

static inline struct siro_context *to_siro_context(struct ibv_context *ibctx)
{
	return container_of(ibctx, struct siro_context, vctx.context);
}

static inline struct siro_mkey *to_siro_mkey(struct siroccodv_mkey *dv)
{
	return container_of(dv, struct siro_mkey, dv);
}

static inline struct siro_cq *to_siro_cq(struct ibv_cq *ibcq)
{
	return container_of(ibcq, struct siro_cq, vcq.cq);
}

static inline struct siro_srq *to_siro_srq(struct ibv_srq *ibsrq)
{
	return container_of(ibsrq, struct siro_srq, vsrq.srq);
}

static inline struct siro_qp *to_siro_qp(struct ibv_qp *ibqp)
{
	return container_of(ibqp, struct siro_qp, vqp.qp);
}

static inline struct siro_ah *to_siro_ah(struct ibv_ah *ibah)
{
	return container_of(ibah, struct siro_ah, ibah);
}

/* verbs.c: device, port, protection domain, memory region, address handle */
int siro_query_device_ex(struct ibv_context *context,
			 const struct ibv_query_device_ex_input *input,
			 struct ibv_device_attr_ex *attr, size_t attr_size);
int siro_query_port(struct ibv_context *context, uint8_t port,
		    struct ibv_port_attr *attr);
struct ibv_pd *siro_alloc_pd(struct ibv_context *context);
int siro_dealloc_pd(struct ibv_pd *pd);
struct ibv_mr *siro_reg_mr(struct ibv_pd *pd, void *addr, size_t length,
			   uint64_t iova, int access);
int siro_dereg_mr(struct verbs_mr *vmr);
struct ibv_ah *siro_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr);
int siro_destroy_ah(struct ibv_ah *ibah);

/* cq.c */
struct ibv_cq *siro_create_cq(struct ibv_context *context, int cqe,
			      struct ibv_comp_channel *channel,
			      int comp_vector);
struct ibv_cq_ex *siro_create_cq_ex(struct ibv_context *context,
				    struct ibv_cq_init_attr_ex *attr);
int siro_resize_cq(struct ibv_cq *ibcq, int cqe);
int siro_destroy_cq(struct ibv_cq *ibcq);
int siro_poll_cq(struct ibv_cq *ibcq, int count, struct ibv_wc *wc);
void siro_cq_set_poll_functions(struct siro_cq *cq, uint64_t wc_flags);
/* Removes the completions of a QP that is gone. */
void siro_cq_purge(struct siro_cq *cq, uint32_t qp_num);

/* srq.c */
struct ibv_srq *siro_create_srq(struct ibv_pd *pd,
				struct ibv_srq_init_attr *attr);
struct ibv_srq *siro_create_srq_ex(struct ibv_context *context,
				   struct ibv_srq_init_attr_ex *attr);
int siro_get_srq_num(struct ibv_srq *ibsrq, uint32_t *srq_num);
int siro_modify_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr, int mask);
int siro_query_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr);
int siro_destroy_srq(struct ibv_srq *ibsrq);
int siro_post_srq_recv(struct ibv_srq *ibsrq, struct ibv_recv_wr *wr,
		       struct ibv_recv_wr **bad_wr);

/* qp.c */
struct ibv_qp *siro_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
struct ibv_qp *siro_create_qp_ex(struct ibv_context *context,
				 struct ibv_qp_init_attr_ex *attr);
int siro_query_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask,
		  struct ibv_qp_init_attr *init_attr);
int siro_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask);
int siro_destroy_qp(struct ibv_qp *ibqp);

/* post.c */
int siro_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr,
		   struct ibv_send_wr **bad_wr);
int siro_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr,
		   struct ibv_recv_wr **bad_wr);
/* Stores as many of the receives as it can; the lock must be held. */
int siro_queue_recvs(struct siro_queue *queue, struct ibv_recv_wr *wr,
		     struct ibv_recv_wr **bad_wr);
/* Whether work may be posted in the state that the QP was last known in. */
bool siro_can_send(const struct siro_qp *qp);
/* Opcode and flags of a send are fit for the QP. */
bool siro_send_is_legal(const struct siro_qp *qp, unsigned int opcode,
			unsigned int flags);
void siro_doorbells_init(struct siro_qp *qp);
int siro_ring_sq(struct siro_qp *qp);

/* mkey_status.c */
void siro_status_init(struct siro_context *ctx);
void siro_status_exit(struct siro_context *ctx);
/* What @resp says where it is, or NULL with errno. It stays until the context is closed. */
const struct siro_mkey_status *
siro_status_map(struct siro_context *ctx,
		const struct siro_mkey_create_resp *resp);
bool siro_status_is_error(const struct siro_mkey_status *status);

/* wr_api.c */
int siro_set_send_ops(struct siro_qp *qp, enum ibv_qp_type type, uint64_t ops);
/* Begins a work request; NULL after any error since ibv_wr_start(). */
struct siro_send_wqe *siro_wr_begin(struct ibv_qp_ex *qp_ex, uint8_t opcode);
/* The batch will not be posted; ibv_wr_complete() returns the first error. */
void siro_wr_fail(struct siro_qp *qp, int error);

#endif /* SIROCCO_H */
