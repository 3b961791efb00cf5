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
#define SIRO_WR_MKEY_CONF 12 /* user space only */
#define SIRO_WR_REG_INDIR_MR 13 /* kernel only */
#define SIRO_WR_REG_MR_INTEGRITY 14 /* kernel only */
#define SIRO_WR_NOP 15 /* what a cancelled work request becomes; nobody posts it */

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

/* What a configuration of an mkey sets; the rest keeps its value. */
#define SIRO_MKEY_ACCESS 0x1
#define SIRO_MKEY_LIST 0x2 /* entries are struct siro_sge */
#define SIRO_MKEY_INTERLEAVED 0x4 /* entries are struct siro_mkey_piece, repeated */
#define SIRO_MKEY_IOVA 0x8 /* address of byte 0; with a layout and without it: 0 */
#define SIRO_MKEY_TABLE 0x10 /* entries are in registered memory, not in the WQE */
#define SIRO_MKEY_SIGNATURE 0x20 /* a struct siro_mkey_sig is before the entries */
#define SIRO_MKEY_RESET_SIGNATURE 0x40 /* what was set before does not stay */
#define SIRO_MKEY_MASK 0x7f

#define SIRO_MKEY_MAX_ENTRIES 4096

/* Repetition r takes @length bytes at addr + r * (length + skip). */
struct siro_mkey_piece {
	__u64 addr;
	__u32 length;
	__u32 skip;
	__u32 lkey;
	__u32 reserved;
};

/* The configuration of an mkey. */
struct siro_mkey_conf {
	__u64 iova;
	__u64 table; /* SIRO_MKEY_TABLE: address; its lkey is in the WQE's imm */
	__u32 access; /* enum ib_access_flags: local write, remote rights */
	__u32 repeat; /* rows of SIRO_MKEY_INTERLEAVED */
	__u32 count; /* entries */
	__u32 set; /* SIRO_MKEY_* */
};

/* struct siro_mkey_sig_domain.format */
#define SIRO_SIG_NONE 0 /* data only */
#define SIRO_SIG_T10_CRC 1 /* tuple, guard CRC-16/T10-DIF */
#define SIRO_SIG_T10_CSUM 2 /* tuple, guard IP checksum */
#define SIRO_SIG_CRC32 3 /* 4 bytes */
#define SIRO_SIG_CRC32C 4 /* 4 bytes */
#define SIRO_SIG_CRC64 5 /* 8 bytes, the 64-bit guard of NVMe */

/* struct siro_mkey_sig_domain.flags */
#define SIRO_SIG_REF_REMAP 0x1 /* the reference tag grows by 1 from block to block */
#define SIRO_SIG_APP_ESCAPE 0x2 /* a block with application tag 0xffff is not checked */
#define SIRO_SIG_REF_ESCAPE 0x4 /* with the former: only if its reference tag is all ones */

/* What the blocks of one side look like. All is 0 if the format is SIRO_SIG_NONE. */
struct siro_mkey_sig_domain {
	__u64 seed; /* initial value of the guard: 0, or its bits all ones */
	__u32 interval; /* data bytes of a block, a multiple of 8 up to 65528 */
	__u32 ref_tag; /* T10: of block 0 */
	__u16 app_tag; /* T10 */
	__u16 format; /* SIRO_SIG_* */
	__u32 flags; /* T10: SIRO_SIG_REF_REMAP and so on */
	__u64 reserved;
};

#define SIRO_MKEY_SIG_COPY_MASK 0x1 /* copy_mask is given, else it follows from the domains */

/* The signature of an mkey; see struct siro_signature of the module. */
struct siro_mkey_sig {
	__u32 flags; /* SIRO_MKEY_SIG_* */
	__u8 check_mask; /* bytes of an input's field that are checked, the first in bit 7 */
	__u8 copy_mask; /* bytes of an output's field that are the input's */
	__u16 reserved;
	struct siro_mkey_sig_domain memory;
	struct siro_mkey_sig_domain wire;
};

/*
 * Whether an mkey has a signature error, readable without a system call. @seq is
 * odd while the kernel writes. What it says is a hint: the method CHECK knows.
 */
struct siro_mkey_status {
	__u32 seq;
	__u16 type; /* 0: no error, else 1 + type of struct siro_mkey_error */
	__u16 domain;
	__u64 expected;
	__u64 actual;
	__u64 offset;
	__u32 key;
	__u32 reserved[7];
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
			__u64 mr; /* kernel only: struct siro_mr *, or the list of an indirect one */
			__u64 iova;
			__u64 length;
			__u32 key;
			__u32 access;
		} reg;
		/* The mkey is in rkey. A signature follows, and entries unless in a table. */
		struct siro_mkey_conf mkey;
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
#define SIRO_WC_MKEY_CONF 7
#define SIRO_WC_REG_INDIR_MR 8
#define SIRO_WC_NOP 9
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
	__u32 max_mkey_entries; /* of one mkey */
	__u32 features; /* SIRO_FEATURE_* */
};

#define SIRO_FEATURE_SIGNATURE 0x1 /* SIRO_MKEY_BLOCK_SIGNATURE */
#define SIRO_FEATURE_SIG_PIPELINING 0x2 /* SIRO_QP_SIG_PIPELINING */

struct siro_create_cq_resp {
	struct siro_ring_info ring;
	__u32 cqn;
	__u32 comp_mask;
};

struct siro_resize_cq_resp {
	struct siro_ring_info ring;
};

/*
 * The send queue stops (SQD) before the next fenced work request if data that it
 * moved had a signature error. RC only.
 */
#define SIRO_QP_SIG_PIPELINING 0x1

struct siro_create_qp_req {
	__u32 comp_mask;
	__u32 flags; /* SIRO_QP_* */
};

struct siro_create_qp_resp {
	struct siro_ring_info sq;
	struct siro_ring_info rq; /* slots 0 with an SRQ */
	__u32 comp_mask;
	__u32 reserved;
};

/* struct siro_modify_qp_req.flags */
#define SIRO_MODIFY_QP_OOO 0x1 /* INIT to RTR: data may be placed out of order */

struct siro_modify_qp_req {
	__u32 comp_mask;
	__u32 flags;
	__u32 paths; /* INIT to RTR: 1 to 16, 0: as the device's setting */
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

/*
 * Objects and methods of the uverbs ioctl; numbers are in the driver's name
 * space (1 << UVERBS_ID_NS_SHIFT).
 */
enum siro_objects {
	SIROCCO_OBJECT_MKEY = 0x1000,
};

enum siro_mkey_methods {
	SIROCCO_METHOD_MKEY_CREATE = 0x1000,
	SIROCCO_METHOD_MKEY_DESTROY,
	SIROCCO_METHOD_MKEY_CONFIGURE,
	SIROCCO_METHOD_MKEY_INVALIDATE,
	SIROCCO_METHOD_MKEY_CHECK,
};

/* of UVERBS_OBJECT_QP */
enum siro_qp_methods {
	SIROCCO_METHOD_QP_CANCEL_SEND = 0x1000,
};

enum siro_mkey_create_attrs {
	SIROCCO_ATTR_MKEY_CREATE_HANDLE = 0x1000,
	SIROCCO_ATTR_MKEY_CREATE_PD,
	SIROCCO_ATTR_MKEY_CREATE_REQ,
	SIROCCO_ATTR_MKEY_CREATE_RESP,
};

enum siro_mkey_destroy_attrs {
	SIROCCO_ATTR_MKEY_DESTROY_HANDLE = 0x1000,
};

enum siro_mkey_configure_attrs {
	SIROCCO_ATTR_MKEY_CONFIGURE_HANDLE = 0x1000,
	SIROCCO_ATTR_MKEY_CONFIGURE_CONF, /* table: user address of the entries */
	SIROCCO_ATTR_MKEY_CONFIGURE_SIGNATURE, /* if conf.set has SIRO_MKEY_SIGNATURE */
};

enum siro_mkey_invalidate_attrs {
	SIROCCO_ATTR_MKEY_INVALIDATE_HANDLE = 0x1000,
};

enum siro_mkey_check_attrs {
	SIROCCO_ATTR_MKEY_CHECK_HANDLE = 0x1000,
	SIROCCO_ATTR_MKEY_CHECK_ERROR,
};

enum siro_qp_cancel_send_attrs {
	SIROCCO_ATTR_QP_CANCEL_SEND_HANDLE = 0x1000,
	SIROCCO_ATTR_QP_CANCEL_SEND_WR_ID,
	SIROCCO_ATTR_QP_CANCEL_SEND_COUNT, /* __u32 */
};

/* struct siro_mkey_create_req.flags */
#define SIRO_MKEY_INDIRECT 0x1 /* mandatory */
#define SIRO_MKEY_REMOTE_INVALIDATE 0x2
#define SIRO_MKEY_BLOCK_SIGNATURE 0x4

struct siro_mkey_create_req {
	__u32 flags;
	__u32 max_entries; /* 1 to siro_alloc_ucontext_resp.max_mkey_entries */
};

/* Of SIRO_MKEY_BLOCK_SIGNATURE: where its struct siro_mkey_status is. */
struct siro_mkey_create_resp {
	__u32 key; /* lkey and rkey */
	__u32 max_entries;
	__u64 status_offset; /* offset argument of mmap(), read-only; of several mkeys */
	__u32 status_size; /* bytes to map */
	__u32 status_index;
};

/* struct siro_mkey_error.type */
#define SIRO_SIG_BAD_GUARD 0 /* same numbers as enum ib_sig_err_type */
#define SIRO_SIG_BAD_REFTAG 1
#define SIRO_SIG_BAD_APPTAG 2

/* struct siro_mkey_error.domain */
#define SIRO_SIG_IN_MEMORY 0
#define SIRO_SIG_ON_WIRE 1

/* The first signature error of an mkey; asking for it clears it. */
struct siro_mkey_error {
	__u64 expected; /* the value that was found in the field */
	__u64 actual; /* the value that the device computed */
	__u64 offset; /* of the block, in a stream of blocks with their fields */
	__u32 found; /* 1: there is one, 0: all is 0 */
	__u16 type; /* SIRO_SIG_BAD_* */
	__u16 domain; /* SIRO_SIG_IN_MEMORY, SIRO_SIG_ON_WIRE */
};

#endif /* SIROCCO_ABI_H */
