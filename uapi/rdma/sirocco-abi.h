/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-2-Clause) */
/*
 * What the sirocco kernel module and its user-space provider share: the
 * device's identity, the layout of the mapped rings and of the work queue and
 * completion queue entries in them, and the driver data of the uverbs calls.
 *
 * All integers are in host byte order unless a comment says otherwise.
 */
#ifndef SIROCCO_ABI_H
#define SIROCCO_ABI_H

#ifndef SIRO_TYPES_H
#include <linux/types.h>
#endif

/* ops.driver_id; outside enum rdma_driver_id, see docs/hacking.md */
#define SIROCCO_DRIVER_ID 0x53495201
/* ops.uverbs_abi_ver; raised for incompatible changes only */
#define SIROCCO_ABI_VERSION 3

#define SIRO_MAX_SGE 32
#define SIRO_MAX_INLINE 512

/*
 * Rings
 *
 * A ring is one mapping: a struct siro_ring_header, then @slots entries of
 * @stride bytes each. Indices run freely modulo 2^32; the entry of index i is
 * slot i & (slots - 1). The producer stores an entry, then the new producer
 * index with release semantics; the consumer loads the producer index with
 * acquire semantics. The kernel trusts neither an index nor an entry that user
 * space can write.
 */
struct siro_ring_header {
	__u32 producer; /* SQ, RQ, SRQ: written by the poster; CQ: by the kernel */
	__u32 reserved0[15];
	__u32 consumer; /* SQ, RQ, SRQ: written by the kernel; CQ: by the poller */
	__u32 flags; /* SIRO_RING_*, written by the kernel */
	__u32 reserved1[14];
};

/*
 * Set in the header of a receive queue whose QP is in the error state: the
 * poster must ring the doorbell (an empty POST_RECV) after it stored the
 * producer index, so that the kernel flushes what it posted.
 */
#define SIRO_RING_KICK 0x1

struct siro_ring_info {
	__u64 mmap_offset; /* offset argument of mmap(), 0 if there is no ring */
	__u64 mmap_size; /* bytes to map */
	__u32 slots; /* entries, a power of two */
	__u32 stride; /* bytes of an entry, a multiple of 16 */
};

/* struct siro_send_wqe.opcode */
#define SIRO_WR_RDMA_WRITE 0
#define SIRO_WR_RDMA_WRITE_WITH_IMM 1
#define SIRO_WR_SEND 2
#define SIRO_WR_SEND_WITH_IMM 3
#define SIRO_WR_RDMA_READ 4
#define SIRO_WR_ATOMIC_CMP_AND_SWP 5
#define SIRO_WR_ATOMIC_FETCH_AND_ADD 6
#define SIRO_WR_LOCAL_INV 7
#define SIRO_WR_SEND_WITH_INV 9
#define SIRO_WR_RDMA_READ_WITH_INV 10 /* kernel only */
#define SIRO_WR_REG_MR 11 /* kernel only */

/* struct siro_send_wqe.flags */
#define SIRO_SEND_FENCE 0x1
#define SIRO_SEND_SIGNALED 0x2
#define SIRO_SEND_SOLICITED 0x4
#define SIRO_SEND_INLINE 0x8

struct siro_sge {
	__u64 addr;
	__u32 length;
	__u32 lkey;
};

/*
 * A send work request. It is followed by num_sge struct siro_sge, or with
 * SIRO_SEND_INLINE by inline_length bytes of payload (num_sge is 0 then).
 */
struct siro_send_wqe {
	__u64 wr_id;
	__u8 opcode; /* SIRO_WR_* */
	__u8 flags; /* SIRO_SEND_* */
	__u16 num_sge;
	__u32 inline_length;
	__u32 imm; /* immediate (big endian), or the key to invalidate */
	__u32 rkey; /* RDMA, atomic */
	union {
		struct {
			__u64 remote_addr;
			__u64 reserved[3];
		} rdma;
		struct {
			__u64 remote_addr;
			__u64 compare_add;
			__u64 swap;
			__u64 reserved;
		} atomic;
		struct {
			__u32 ah; /* from struct siro_create_ah_resp */
			__u32 remote_qpn;
			__u32 remote_qkey;
			__u32 reserved0;
			__u64 reserved[2];
		} ud;
		struct {
			__u64 mr; /* kernel only: struct siro_mr * */
			__u64 iova;
			__u64 length;
			__u32 key;
			__u32 access;
		} reg;
	};
	__u64 reserved;
};

/* A receive work request, followed by num_sge struct siro_sge. */
struct siro_recv_wqe {
	__u64 wr_id;
	__u32 num_sge;
	__u32 reserved;
};

/* struct siro_cqe.opcode */
#define SIRO_WC_SEND 0
#define SIRO_WC_RDMA_WRITE 1
#define SIRO_WC_RDMA_READ 2
#define SIRO_WC_COMP_SWAP 3
#define SIRO_WC_FETCH_ADD 4
#define SIRO_WC_LOCAL_INV 5
#define SIRO_WC_REG_MR 6
#define SIRO_WC_RECV 16
#define SIRO_WC_RECV_RDMA_WITH_IMM 17

/* struct siro_cqe.flags */
#define SIRO_WC_GRH 0x1
#define SIRO_WC_WITH_IMM 0x2
#define SIRO_WC_WITH_INVALIDATE 0x4
#define SIRO_WC_SOLICITED 0x8

/* struct siro_cqe.network_type */
#define SIRO_NETWORK_IPV4 1
#define SIRO_NETWORK_IPV6 2

struct siro_cqe {
	__u64 wr_id;
	__u64 cookie; /* kernel CQs: struct ib_qp *; user CQs: 0 */
	__u32 qp_num;
	__u32 src_qp; /* UD receive */
	__u32 byte_len;
	__u32 imm; /* immediate (big endian), or the invalidated key */
	__u8 status; /* enum ib_wc_status, which is enum ibv_wc_status */
	__u8 opcode; /* SIRO_WC_* */
	__u8 flags; /* SIRO_WC_* */
	__u8 network_type; /* UD receive: SIRO_NETWORK_* */
	__u32 vendor_err;
	__u64 timestamp; /* 0: not taken */
	__u64 reserved;
};

/*
 * Driver data of the uverbs calls. Reserved fields and unknown comp_mask bits
 * of a request must be 0 (-EINVAL / -EOPNOTSUPP otherwise).
 */
struct siro_alloc_ucontext_resp {
	__u32 comp_mask;
	__u32 abi_version; /* SIROCCO_ABI_VERSION of the module */
	__u32 max_send_sge;
	__u32 max_inline;
};

struct siro_create_cq_resp {
	struct siro_ring_info ring;
	__u32 cqn;
	__u32 comp_mask;
};

struct siro_resize_cq_resp {
	struct siro_ring_info ring;
};

struct siro_create_qp_req {
	__u32 comp_mask;
	__u32 flags;
};

struct siro_create_qp_resp {
	struct siro_ring_info sq;
	struct siro_ring_info rq; /* slots 0 with an SRQ */
	__u32 comp_mask;
	__u32 reserved;
};

struct siro_create_srq_resp {
	struct siro_ring_info ring;
	__u32 srqn;
	__u32 comp_mask;
};

/* Resize of a user SRQ: the new ring is written to @resp_addr. */
struct siro_modify_srq_req {
	__u64 resp_addr; /* user address of a struct siro_ring_info, or 0 */
	__u64 reserved;
};

struct siro_create_ah_resp {
	__u32 ah;
	__u32 reserved;
};

#endif /* SIROCCO_ABI_H */
