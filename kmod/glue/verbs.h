/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the files of the verbs offer each other. */
#ifndef SIRO_VERBS_H
#define SIRO_VERBS_H

#include <linux/bottom_half.h>

#include <rdma/sirocco.h>

#include "siro.h"
#include "siro_compat_verbs.h"

/* ---- udata.c ---- */
/**
 * siro_copy_request() - copy driver data of a call in
 * Return: 0, -EINVAL: too short, -EOPNOTSUPP: longer and not zero, -EFAULT.
 */
int siro_copy_request(struct ib_udata *udata, void *req, size_t size);

/* Only zeroes may come where there is no driver data. */
int siro_check_no_request(struct ib_udata *udata);

/* Copy as much of a response as the caller has room for. */
int siro_copy_response(struct ib_udata *udata, const void *resp, size_t size);

/* ---- ring_mem.c ---- */
/**
 * siro_ring_create() - memory for a ring, and the kernel's view of it
 * @limit: entries that the owner of the queue may use
 * @entries: false for a header only
 */
int siro_ring_create(struct siro_ring *ring, struct siro_ring_mem **mem, u32 limit, u32 stride,
		     bool user, bool entries);
struct siro_ring_mem *siro_ring_mem_alloc(size_t size, bool user);
void siro_ring_mem_get(struct siro_ring_mem *mem);
void siro_ring_mem_put(struct siro_ring_mem *mem);

static inline u8 *siro_ring_entry(const struct siro_ring *ring, u32 index)
{
	return ring->entries + (size_t)(index & (ring->slots - 1)) * ring->stride;
}

static inline u32 siro_recv_stride(u32 max_sge)
{
	return sizeof(struct siro_recv_wqe) + max_sge * sizeof(struct siro_sge);
}

/* ---- mmap.c ---- */
int siro_mmap(struct ib_ucontext *ibuc, struct vm_area_struct *vma);
void siro_mmap_free(struct rdma_user_mmap_entry *rdma);

/* Let the owner of @uc map memory that was allocated for a user. */
int siro_mmap_expose(struct siro_ucontext *uc, struct siro_ring_mem *mem, bool read_only,
		     struct siro_mmap_entry **entry);

/**
 * siro_ring_expose() - let the owner of @udata map a ring
 * @mem: NULL: there is no ring, all fields of @info become 0
 */
int siro_ring_expose(struct ib_udata *udata, struct siro_ring_mem *mem,
		     const struct siro_ring *ring, struct siro_mmap_entry **entry,
		     struct siro_ring_info *info);
/* Ends new mappings; those that exist keep their pages. @entry may be NULL. */
void siro_mmap_hide(struct siro_mmap_entry *entry);

/* ---- ah.c ---- */
int siro_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init, struct ib_udata *udata);
int siro_modify_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr);
int siro_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr);
int siro_destroy_ah(struct ib_ah *ibah, u32 flags);

/* ---- cq.c, cq_poll.c, cq_resize.c ---- */
int siro_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr, siro_create_cq_arg *arg);
int siro_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata);
int siro_resize_cq(struct ib_cq *ibcq, int cqe, struct ib_udata *udata);
int siro_poll_cq(struct ib_cq *ibcq, int count, struct ib_wc *wc);
int siro_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags);
void siro_cq_push(struct siro_cq *cq, struct siro_context *ctx, const struct siro_cqe *cqe);
/* Drop the completions of a QP from a CQ of the kernel. */
void siro_cq_purge(struct siro_cq *cq, const struct siro_qp *qp);

/* ---- srq.c, srq_modify.c ---- */
int siro_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *init, struct ib_udata *udata);
int siro_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr, enum ib_srq_attr_mask mask,
		    struct ib_udata *udata);
int siro_query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr);
int siro_destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata);
int siro_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
		       const struct ib_recv_wr **bad_wr);
int siro_srq_take(struct siro_srq *srq, struct siro_context *ctx, struct siro_recv_wqe *wqe,
		  struct siro_sge *sges);

/* ---- mr.c, mr_user.c, mr_fast.c ---- */
int siro_mr_init(void);
void siro_mr_exit(void);
struct siro_mr_obj *siro_mr_alloc(struct ib_pd *ibpd);
int siro_mr_insert(struct siro_mr_obj *obj);
void siro_mr_free(struct siro_mr_obj *obj);
/* Nobody finds or uses it any more. May wait for users, which never wait for the caller. */
void siro_mr_end(struct siro_mr_obj *obj);
void siro_mr_set_state(struct siro_mr *mr, u32 state);
void siro_mr_wait_unused(struct siro_mr *mr);
struct ib_mr *siro_get_dma_mr(struct ib_pd *ibpd, int access);
int siro_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata);
struct ib_mr *siro_reg_user_mr(struct ib_pd *ibpd, u64 start, u64 length, u64 iova, int access,
			       struct ib_udata *udata);
/* Count and trace. */
void siro_mr_registered(struct siro_mr_obj *obj);
void siro_mr_invalidated(struct siro_mr_obj *obj);
/* VALID or FREE becomes FREE. Return: -EINVAL if somebody else is at it. */
int siro_mr_invalidate(struct siro_mr_obj *obj);
struct ib_mr *siro_alloc_mr(struct ib_pd *ibpd, enum ib_mr_type type, u32 max_num_sg);
int siro_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int nents, unsigned int *offset);

/* ---- mr_list.c ---- */
struct siro_mr_list *siro_mr_list_alloc(u32 capacity);
struct siro_mr_list *siro_mr_list_take(struct siro_mr_list **spare, u32 capacity);
void siro_mr_list_give(struct siro_mr_list **spare, struct siro_mr_list *list);
/* A list of all entries: of the spare one if that is large enough. */
struct siro_mr_list *siro_mr_list_map(struct siro_mr_list **spare, struct scatterlist *sg,
				      int nents, unsigned int offset);
int siro_map_gaps(struct siro_mr_obj *obj, struct scatterlist *sg, int nents, unsigned int *offset);
bool siro_mr_list_go_live(struct siro_mr_obj *obj, struct siro_mr_list *list,
			  const struct siro_send_wqe *wqe);

/* ---- mr_indirect.c ---- */
/**
 * siro_fill_reg_indir() - check a registration and copy its list into the WQE
 * Return: 0, -EINVAL, -ENOMEM. On success the WQE owns a list.
 */
int siro_fill_reg_indir(struct siro_dev *dev, u32 pd, struct siro_send_wqe *wqe,
			const struct ib_indir_reg_wr *reg);
/* Most entries of a list behind one key. */
#define SIRO_MAX_LIST 4096u

/* ---- mr_signature.c ---- */
/* The region's signature, made at the first call. NULL: no memory. Any context. */
struct siro_signature *siro_mr_signature_get(struct siro_mr_obj *obj, gfp_t gfp);
void siro_mr_signature_free(struct siro_mr_obj *obj);
/**
 * siro_signature_fill() - take over a request
 * @named: where the entries of lists go that are in the request; two
 * Return: 0, -EINVAL: nothing is mapped, or the lists wrap.
 */
int siro_signature_fill(struct siro_signature *signature, const struct siro_sig_conf *conf,
			const struct siro_mr_obj *obj, struct siro_extent *named);
bool siro_mr_signature_go_live(struct siro_mr_obj *obj, const struct siro_send_wqe *wqe);

/* ---- mr_integrity.c ---- */
/* Most entries of data, and as many of metadata */
#define SIRO_MAX_PI_LIST 2048u
struct ib_mr *siro_alloc_mr_integrity(struct ib_pd *ibpd, u32 max_num_data_sg,
				      u32 max_num_meta_sg);
int siro_map_mr_sg_pi(struct ib_mr *ibmr, struct scatterlist *data_sg, int data_nents,
		      unsigned int *data_offset, struct scatterlist *meta_sg, int meta_nents,
		      unsigned int *meta_offset);
int siro_check_mr_status(struct ib_mr *ibmr, u32 check_mask, struct ib_mr_status *status);
/* Check a registration and copy it into the WQE. */
int siro_fill_reg_integrity(struct siro_qp *qp, struct siro_send_wqe *wqe,
			    const struct ib_reg_wr *reg);
int siro_fill_reg_sig(struct siro_qp *qp, struct siro_send_wqe *wqe,
		      const struct ib_sig_handover_wr *reg);

/* ---- mkey_status.c ---- */
void siro_status_init(struct siro_ucontext *uc);
void siro_status_exit(struct siro_ucontext *uc);
int siro_status_add(struct siro_ucontext *uc, struct siro_status_slot *slot);
/* Nobody writes any more. */
void siro_status_remove(struct siro_status_slot *slot);
/* Tell user space where it is. */
void siro_status_describe(const struct siro_status_slot *slot, struct siro_mkey_create_resp *resp);
/* NULL: there is no error. */
void siro_status_write(struct siro_status_slot *slot, const struct siro_sig_error *error);

/* ---- mkey.c ---- */
/* -ENOMEM: the mkeys of the context would have too much. */
int siro_mkey_charge(struct siro_ucontext *uc, u32 bytes);
void siro_mkey_uncharge(struct siro_ucontext *uc, u32 bytes);

/* ---- qp_table.c ---- */
int siro_qpn_alloc(struct siro_qp *qp);
/* Packets may find the QP from now on. */
int siro_qp_publish(struct siro_qp *qp);
/* Nobody finds it any more, the number is free. */
void siro_qp_unpublish(struct siro_qp *qp);

/* ---- qp.c ---- */
int siro_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init, struct ib_udata *udata);
int siro_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata);

/* ---- ooo.c ---- */
void siro_paths_free(struct siro_route *paths, u32 count);
int siro_fill_res_qp(struct sk_buff *msg, struct ib_qp *ibqp);

/* ---- qp_modify.c ---- */
int siro_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask, struct ib_udata *udata);
int siro_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		  struct ib_qp_init_attr *init);

/* ---- qp_engine.c ---- */
void siro_half_setup(struct siro_half *half, enum hrtimer_restart (*timer)(struct hrtimer *),
		     work_func_t work);
/* Stop the half's timer and worker for good. May sleep. */
void siro_half_stop(struct siro_half *half);

/**
 * siro_half_enter() - lock a half and prepare a call into the engine
 * Bottom halves stay off until siro_half_leave(). Not with interrupts off.
 * Return: false, and nothing is locked, if the QP is being destroyed.
 */
bool siro_half_enter(struct siro_qp *qp, struct siro_half *half, struct siro_context *ctx);

/**
 * siro_half_leave() - arm timers, unlock, then notify and spread errors
 */
void siro_half_leave(struct siro_qp *qp, struct siro_half *half, struct siro_context *ctx);

enum hrtimer_restart siro_requester_timer(struct hrtimer *timer);
enum hrtimer_restart siro_responder_timer(struct hrtimer *timer);
void siro_requester_work(struct work_struct *work);
void siro_responder_work(struct work_struct *work);
/**
 * siro_qp_fail() - both halves enter ERR and are flushed
 * @qp: in any state; one in RESET stays there
 *
 * Context: any but interrupts off. No half's lock is held.
 */
void siro_qp_fail(struct siro_qp *qp);
void siro_qp_event_work(struct work_struct *work);

/* Run a half here if the context allows it, else in its worker. */
void siro_requester_kick(struct siro_qp *qp);
void siro_responder_kick(struct siro_qp *qp);

/* ---- post.c ---- */
int siro_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		   const struct ib_send_wr **bad_wr);
int siro_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		   const struct ib_recv_wr **bad_wr);
/* Append one receive; the poster's lock is held. */
int siro_post_one_recv(struct siro_ring *ring, u32 max_sge, const struct ib_recv_wr *wr);

#endif /* SIRO_VERBS_H */
