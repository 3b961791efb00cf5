/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Direct verbs of Sirocco devices. siroccodv(7) is the overview; every function
 * has a page of its own.
 *
 * Functions that return int return 0 or an errno; those that return a pointer
 * return NULL and set errno. A structure with a comp_mask grows at its end: a
 * bit says that the caller knows the fields it stands for, and bits that the
 * library does not know are refused with EOPNOTSUPP.
 */
#ifndef INFINIBAND_SIROCCODV_H
#define INFINIBAND_SIROCCODV_H

#include <stdbool.h>
#include <stdint.h>

#include <infiniband/verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- device ---- */

/**
 * siroccodv_is_supported() - whether the functions here work with a device
 * @device: from ibv_get_device_list()
 */
bool siroccodv_is_supported(struct ibv_device *device);

enum siroccodv_device_attr_mask {
	SIROCCODV_DEVICE_ATTR_MKEY = 1 << 0, /* all fields named mkey */
	SIROCCODV_DEVICE_ATTR_OOO = 1 << 1, /* ooo_caps */
	SIROCCODV_DEVICE_ATTR_SIGNATURE = 1 << 2, /* all fields named sig */
};

/* struct ib_ooo_caps: data of WRITEs and READs may be placed out of order */
#define IB_OOO_RW_DATA_PLACEMENT (1 << 0)

/**
 * struct ib_ooo_caps - out-of-order placement by transport
 * @rc_caps: IB_OOO_RW_DATA_PLACEMENT
 * @xrc_caps: 0
 * @ud_caps: 0
 * @uc_caps: 0
 */
struct ib_ooo_caps {
	uint32_t rc_caps;
	uint32_t xrc_caps;
	uint32_t ud_caps;
	uint32_t uc_caps;
};

enum siroccodv_mkey_layouts {
	SIROCCODV_MKEY_LAYOUT_LIST = 1 << 0,
	SIROCCODV_MKEY_LAYOUT_INTERLEAVED = 1 << 1,
};

enum siroccodv_sig_prot_caps {
	SIROCCODV_SIG_PROT_CAP_T10DIF = 1 << 0, /* SIROCCODV_SIG_TYPE_T10DIF */
	SIROCCODV_SIG_PROT_CAP_CRC = 1 << 1, /* SIROCCODV_SIG_TYPE_CRC */
};

enum siroccodv_sig_t10dif_bg_caps {
	SIROCCODV_SIG_T10DIF_BG_CAP_CRC = 1 << 0,
	SIROCCODV_SIG_T10DIF_BG_CAP_CSUM = 1 << 1,
};

enum siroccodv_sig_crc_caps {
	SIROCCODV_SIG_CRC_CAP_CRC32 = 1 << 0,
	SIROCCODV_SIG_CRC_CAP_CRC32C = 1 << 1,
	SIROCCODV_SIG_CRC_CAP_CRC64_XP10 = 1 << 2,
};

enum siroccodv_sig_flags {
	SIROCCODV_SIG_CAP_PIPELINING = 1 << 0, /* SIROCCODV_QP_CREATE_SIG_PIPELINING */
};

/**
 * struct siroccodv_device_attr - what a device can do
 * @comp_mask: in: enum siroccodv_device_attr_mask, the fields wanted; out: those filled in
 * @mkey_create_flags: enum siroccodv_mkey_create_flags that are supported
 * @mkey_layouts: enum siroccodv_mkey_layouts that are supported
 * @max_mkey_entries: most entries of one mkey
 * @ooo_caps: where IBV_QP_OOO_RW_DATA_PLACEMENT works
 * @sig_flags: enum siroccodv_sig_flags
 * @sig_block_prot: enum siroccodv_sig_prot_caps
 * @sig_t10dif_bg: enum siroccodv_sig_t10dif_bg_caps
 * @sig_crc_types: enum siroccodv_sig_crc_caps
 * @sig_block_size_step: a block has a multiple of it as data bytes
 * @sig_max_block_size: and at most that many
 */
struct siroccodv_device_attr {
	uint64_t comp_mask;
	uint32_t mkey_create_flags;
	uint32_t mkey_layouts;
	uint32_t max_mkey_entries;
	uint32_t reserved;
	struct ib_ooo_caps ooo_caps;
	uint32_t sig_flags;
	uint32_t sig_block_prot;
	uint32_t sig_t10dif_bg;
	uint32_t sig_crc_types;
	uint32_t sig_block_size_step;
	uint32_t sig_max_block_size;
};

/**
 * siroccodv_query_device() - fill in what @attr->comp_mask asks for
 *
 * A module without mkeys clears SIROCCODV_DEVICE_ATTR_MKEY, one without signatures
 * SIROCCODV_DEVICE_ATTR_SIGNATURE.
 *
 * Return: 0; EOPNOTSUPP: not a Sirocco device, or an unknown bit of comp_mask.
 */
int siroccodv_query_device(struct ibv_context *context,
			   struct siroccodv_device_attr *attr);

/* ---- out-of-order placement ---- */

/*
 * A bit of the mask of ibv_modify_qp(), without a value: from INIT to RTR, of RC
 * QPs. Data of WRITEs to the QP and of its READs may then be placed in any order:
 * a program that polls memory for data must not ask for it. EINVAL elsewhere.
 */
#define IBV_QP_OOO_RW_DATA_PLACEMENT (1 << 26)

/**
 * siroccodv_qp_set_ooo() - as IBV_QP_OOO_RW_DATA_PLACEMENT, for others' calls
 * @qp: an RC QP before RTR, for one that librdmacm moves there
 * @on: false: no longer
 *
 * Holds until the QP is reset.
 *
 * Return: 0; EINVAL: another type or state; EOPNOTSUPP: not a Sirocco device.
 */
int siroccodv_qp_set_ooo(struct ibv_qp *qp, bool on);

#define SIROCCODV_MAX_PATHS 16

/**
 * siroccodv_qp_set_paths() - spread WRITEs and answers to READs over several paths
 * @qp: an RC QP before RTR
 * @paths: 1 to SIROCCODV_MAX_PATHS UDP source ports (IPv6: and flow labels), used
 *	once the peer has agreed to out-of-order placement
 *
 * Holds until the QP is reset.
 *
 * Return: 0; EINVAL: another type or state, or a bad number; EOPNOTSUPP: not a
 * Sirocco device.
 */
int siroccodv_qp_set_paths(struct ibv_qp *qp, unsigned int paths);

/* ---- mkeys ---- */

enum siroccodv_mkey_create_flags {
	SIROCCODV_MKEY_INDIRECT = 1 << 0, /* mandatory */
	SIROCCODV_MKEY_REMOTE_INVALIDATE = 1 << 1, /* a peer may invalidate it */
	SIROCCODV_MKEY_BLOCK_SIGNATURE = 1 << 2, /* it may have a signature */
};

/**
 * struct siroccodv_mkey_init_attr - a new mkey
 * @pd: domain of the key, and of every region its entries name
 * @comp_mask: 0
 * @create_flags: enum siroccodv_mkey_create_flags
 * @max_entries: in: 1 to max_mkey_entries; out: what it got, never less
 */
struct siroccodv_mkey_init_attr {
	struct ibv_pd *pd;
	uint64_t comp_mask;
	uint32_t create_flags;
	uint32_t max_entries;
};

/**
 * struct siroccodv_mkey - a key for a list of pieces of other regions
 * @lkey: for SGEs
 * @rkey: for peers; the same number
 */
struct siroccodv_mkey {
	uint32_t lkey;
	uint32_t rkey;
};

/**
 * siroccodv_create_mkey() - an mkey without a layout; no access succeeds yet
 *
 * Return: the mkey, or NULL with errno: EINVAL: SIROCCODV_MKEY_INDIRECT is
 * missing, or max_entries out of range; EOPNOTSUPP: not a Sirocco device, no
 * mkeys in this module, or an unknown flag or bit; ENOMEM: no memory, or all
 * mkeys of the context would need more than 48 MiB.
 */
struct siroccodv_mkey *
siroccodv_create_mkey(struct siroccodv_mkey_init_attr *attr);

/**
 * siroccodv_destroy_mkey() - accesses in flight end first
 *
 * Return: 0, even if the device is gone; EBUSY: another thread is in a call with
 * this mkey, which lives on.
 */
int siroccodv_destroy_mkey(struct siroccodv_mkey *mkey);

/**
 * struct siroccodv_mr_interleaved - entry of an interleaved layout
 * @addr: address in the region @lkey
 * @bytes_count: bytes taken from it in each row
 * @bytes_skip: bytes left out after them
 * @reserved: 0
 *
 * Row r takes @bytes_count bytes at @addr + r * (@bytes_count + @bytes_skip).
 */
struct siroccodv_mr_interleaved {
	uint64_t addr;
	uint32_t bytes_count;
	uint32_t bytes_skip;
	uint32_t lkey;
	uint32_t reserved;
};

/* ---- signatures ---- */

enum siroccodv_sig_type {
	SIROCCODV_SIG_TYPE_T10DIF,
	SIROCCODV_SIG_TYPE_CRC,
};

enum siroccodv_sig_t10dif_bg_type {
	SIROCCODV_SIG_T10DIF_CRC,
	SIROCCODV_SIG_T10DIF_CSUM,
};

enum siroccodv_sig_t10dif_flags {
	SIROCCODV_SIG_T10DIF_FLAG_REF_REMAP = 1 << 0,
	SIROCCODV_SIG_T10DIF_FLAG_APP_ESCAPE = 1 << 1,
	SIROCCODV_SIG_T10DIF_FLAG_APP_REF_ESCAPE = 1 << 2,
};

/**
 * struct siroccodv_sig_t10dif - a field of 8 bytes: guard, application tag, reference tag
 * @bg_type: enum siroccodv_sig_t10dif_bg_type, of the guard
 * @bg: its initial value, 0 or 0xffff
 * @app_tag: of all blocks
 * @ref_tag: of block 0, and of all without REF_REMAP; with it, each has one more
 * @flags: enum siroccodv_sig_t10dif_flags. APP_ESCAPE: a block with application tag
 *	0xffff is not checked; APP_REF_ESCAPE: nor is one with that and reference tag
 *	0xffffffff. Not both.
 */
struct siroccodv_sig_t10dif {
	uint32_t bg_type;
	uint16_t bg;
	uint16_t app_tag;
	uint32_t ref_tag;
	uint32_t flags;
};

enum siroccodv_sig_crc_type {
	SIROCCODV_SIG_CRC_TYPE_CRC32, /* 4 bytes */
	SIROCCODV_SIG_CRC_TYPE_CRC32C, /* 4 bytes */
	SIROCCODV_SIG_CRC_TYPE_CRC64_XP10, /* 8 bytes */
};

/**
 * struct siroccodv_sig_crc - a field that is a CRC, big-endian
 * @type: enum siroccodv_sig_crc_type
 * @reserved: 0
 * @seed: initial value, 0 or all bits of the CRC
 */
struct siroccodv_sig_crc {
	uint32_t type;
	uint32_t reserved;
	uint64_t seed;
};

/* Usual block sizes; every multiple of 8 up to sig_max_block_size is one. */
enum siroccodv_block_size {
	SIROCCODV_BLOCK_SIZE_512 = 512,
	SIROCCODV_BLOCK_SIZE_520 = 520,
	SIROCCODV_BLOCK_SIZE_4048 = 4048,
	SIROCCODV_BLOCK_SIZE_4096 = 4096,
	SIROCCODV_BLOCK_SIZE_4160 = 4160,
};

/**
 * struct siroccodv_sig_block_domain - blocks of data with a field behind each
 * @comp_mask: 0
 * @sig_type: enum siroccodv_sig_type
 * @block_size: data bytes of a block
 * @dif: of SIROCCODV_SIG_TYPE_T10DIF
 * @crc: of SIROCCODV_SIG_TYPE_CRC
 */
struct siroccodv_sig_block_domain {
	uint64_t comp_mask;
	uint32_t sig_type;
	uint32_t block_size;
	union {
		const struct siroccodv_sig_t10dif *dif;
		const struct siroccodv_sig_crc *crc;
	};
};

/* Bytes of a field in check_mask and copy_mask, the first in bit 7. */
enum siroccodv_sig_mask {
	SIROCCODV_SIG_MASK_T10DIF_GUARD = 0xc0,
	SIROCCODV_SIG_MASK_T10DIF_APPTAG = 0x30,
	SIROCCODV_SIG_MASK_T10DIF_REFTAG = 0x0f,
	SIROCCODV_SIG_MASK_CRC32 = 0xf0,
	SIROCCODV_SIG_MASK_CRC32C = 0xf0,
	SIROCCODV_SIG_MASK_CRC64_XP10 = 0xff,
};

enum siroccodv_sig_block_attr_flags {
	SIROCCODV_SIG_BLOCK_ATTR_FLAG_COPY_MASK = 1 << 0,
};

/**
 * struct siroccodv_sig_block_attr - the signature of an mkey
 * @comp_mask: 0
 * @mem: blocks in memory, NULL: data only
 * @wire: blocks on the wire, NULL: data only; not both
 * @flags: enum siroccodv_sig_block_attr_flags
 * @check_mask: bytes that are checked of the side that data comes from
 * @copy_mask: with COPY_MASK: bytes that go from one side to the other; the fields
 *	must have the same structure. Without: those that mean the same on both.
 */
struct siroccodv_sig_block_attr {
	uint64_t comp_mask;
	const struct siroccodv_sig_block_domain *mem;
	const struct siroccodv_sig_block_domain *wire;
	uint32_t flags;
	uint8_t check_mask;
	uint8_t copy_mask;
};

enum siroccodv_mkey_err_type {
	SIROCCODV_MKEY_NO_ERR,
	SIROCCODV_MKEY_SIG_BLOCK_BAD_GUARD,
	SIROCCODV_MKEY_SIG_BLOCK_BAD_REFTAG,
	SIROCCODV_MKEY_SIG_BLOCK_BAD_APPTAG,
};

enum siroccodv_sig_side {
	SIROCCODV_SIG_IN_MEMORY,
	SIROCCODV_SIG_ON_WIRE,
};

/**
 * struct siroccodv_sig_err - a field that is wrong
 * @actual_value: what the device computed
 * @expected_value: what was found in the field
 * @offset: where the block begins, fields included
 * @side: enum siroccodv_sig_side, where the field was
 */
struct siroccodv_sig_err {
	uint64_t actual_value;
	uint64_t expected_value;
	uint64_t offset;
	uint32_t side;
	uint32_t reserved;
};

/**
 * struct siroccodv_mkey_err - answer of siroccodv_mkey_check()
 * @err_type: enum siroccodv_mkey_err_type
 */
struct siroccodv_mkey_err {
	uint32_t err_type;
	uint32_t reserved;
	union {
		struct siroccodv_sig_err sig;
	} err;
};

/**
 * siroccodv_mkey_check() - the first signature error since the last check or configuration
 *
 * What a completed transfer found is there: for an mkey of one's own when its work
 * request has completed, for one that a peer used when a message has come that the
 * peer sent afterwards. An error is told once. If there is none, no system call is
 * made.
 *
 * Return: 0; EINVAL: not created with SIROCCODV_MKEY_BLOCK_SIGNATURE; EBUSY: there is
 * an error, and another thread is in a call with this mkey; EIO: there is an error,
 * and the device is gone.
 */
int siroccodv_mkey_check(struct siroccodv_mkey *mkey,
			 struct siroccodv_mkey_err *err_info);

/* ---- configuration without a work request ---- */

enum siroccodv_mkey_config_mask {
	SIROCCODV_MKEY_CONFIG_ACCESS = 1 << 0, /* access_flags */
	SIROCCODV_MKEY_CONFIG_LIST = 1 << 1, /* num_entries, sge_list */
	SIROCCODV_MKEY_CONFIG_INTERLEAVED = 1 << 2, /* those of interleaved and repeat_count */
	SIROCCODV_MKEY_CONFIG_IOVA = 1 << 3, /* iova */
	SIROCCODV_MKEY_CONFIG_SIG_BLOCK = 1 << 4, /* sig_block */
	SIROCCODV_MKEY_CONFIG_RESET_SIG_ATTR = 1 << 5, /* forget the signature it had */
};

/**
 * struct siroccodv_mkey_config - what siroccodv_mkey_configure() sets
 * @comp_mask: enum siroccodv_mkey_config_mask; at most one layout
 * @iova: address of byte 0; a layout without it begins at 0
 * @access_flags: as for siroccodv_wr_set_mkey_access_flags()
 * @repeat_count: rows, 1 or more
 * @num_entries: 1 to max_entries of the mkey
 * @sge_list: entries of SIROCCODV_MKEY_CONFIG_LIST
 * @interleaved: entries of SIROCCODV_MKEY_CONFIG_INTERLEAVED
 * @sig_block: as for siroccodv_wr_set_mkey_sig_block()
 */
struct siroccodv_mkey_config {
	uint64_t comp_mask;
	uint64_t iova;
	uint32_t access_flags;
	uint32_t repeat_count;
	uint32_t num_entries;
	uint32_t reserved;
	union {
		const struct ibv_sge *sge_list;
		const struct siroccodv_mr_interleaved *interleaved;
	};
	const struct siroccodv_sig_block_attr *sig_block;
};

/**
 * siroccodv_mkey_configure() - configure an mkey at once, without a QP
 *
 * On return the configuration is in force. What @config does not set keeps its
 * value; if it fails, all does. Accesses that have begun end with the old layout,
 * those that come while it is exchanged fail.
 *
 * Return: 0; EINVAL: two layouts, a layout that is empty, too long or wraps, an
 * iova that makes it wrap, bad access_flags, reserved not 0, a bad signature or one
 * for an mkey that may not have any; EOPNOTSUPP: an unknown flag or bit; EBUSY: another thread or a work request is changing
 * the mkey; ENOMEM: no memory for a copy of the entries; EIO: the device is gone.
 */
int siroccodv_mkey_configure(struct siroccodv_mkey *mkey,
			     const struct siroccodv_mkey_config *config);

/**
 * siroccodv_mkey_invalidate() - clear layout, signature, access and iova, without a QP
 *
 * On return no access to the old layout is under way or possible.
 *
 * Return: 0; EINVAL: it is being changed by a work request; EBUSY: another
 * thread is in a call with this mkey; EIO: the device is gone.
 */
int siroccodv_mkey_invalidate(struct siroccodv_mkey *mkey);

/* ---- work requests ---- */

enum siroccodv_qp_init_attr_mask {
	SIROCCODV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS = 1 << 0,
	SIROCCODV_QP_INIT_ATTR_MASK_CREATE_FLAGS = 1 << 1,
};

enum siroccodv_qp_create_send_ops_flags {
	SIROCCODV_QP_EX_WITH_MKEY_CONFIGURE = 1 << 0, /* RC only */
};

enum siroccodv_qp_create_flags {
	SIROCCODV_QP_CREATE_SIG_PIPELINING = 1 << 0, /* RC only */
};

/**
 * struct siroccodv_qp_init_attr - what a QP has beyond ibv_qp_init_attr_ex
 * @comp_mask: enum siroccodv_qp_init_attr_mask
 * @send_ops_flags: enum siroccodv_qp_create_send_ops_flags
 * @create_flags: enum siroccodv_qp_create_flags
 */
struct siroccodv_qp_init_attr {
	uint64_t comp_mask;
	uint64_t send_ops_flags;
	uint64_t create_flags;
};

/**
 * siroccodv_create_qp() - ibv_create_qp_ex() with more
 * @qp_attr: cap.max_inline_data is also the room for the entries of a layout:
 *	16 bytes each for a list, 24 bytes for an interleaved one, and for a signature,
 *	72 bytes; at most 512
 *
 * Return: the QP, or NULL with errno: as ibv_create_qp_ex(); EOPNOTSUPP: not a
 * Sirocco device, unknown bits or flags, or a flag that the QP type does not have.
 */
struct ibv_qp *siroccodv_create_qp(struct ibv_context *context,
				   struct ibv_qp_init_attr_ex *qp_attr,
				   struct siroccodv_qp_init_attr *attr);

struct siroccodv_qp_ex;

/**
 * siroccodv_qp_ex_from_ibv_qp_ex() - the same QP, for the functions below
 *
 * Return: NULL unless it was created with SIROCCODV_QP_EX_WITH_MKEY_CONFIGURE.
 */
struct siroccodv_qp_ex *siroccodv_qp_ex_from_ibv_qp_ex(struct ibv_qp_ex *qp);

/**
 * siroccodv_qp_cancel_posted_send_wrs() - make posted work requests do nothing
 * @qp: in state SQD. One of SIROCCODV_QP_CREATE_SIG_PIPELINING gets there by itself:
 *	when data that it moved had a signature error, it stops before the next work
 *	request with IBV_SEND_FENCE, and IBV_EVENT_SQ_DRAINED comes when those before
 *	it are done.
 * @wr_id: of the work requests; those that have begun go on
 *
 * They complete in their turn, successfully, with opcode IBV_WC_DRIVER2 if signaled,
 * or are flushed like others.
 *
 * Return: how many; -EINVAL: not in SQD; -EOPNOTSUPP: not supported by the module;
 * -EIO: the device is gone.
 */
int siroccodv_qp_cancel_posted_send_wrs(struct siroccodv_qp_ex *qp,
					uint64_t wr_id);

enum siroccodv_mkey_conf_attr_mask {
	SIROCCODV_MKEY_CONF_ATTR_IOVA = 1 << 0,
	SIROCCODV_MKEY_CONF_ATTR_FLAGS = 1 << 1,
};

enum siroccodv_mkey_conf_flags {
	SIROCCODV_MKEY_CONF_FLAG_RESET_SIG_ATTR = 1 << 0, /* forget the signature */
};

/**
 * struct siroccodv_mkey_conf_attr - properties that have no setter
 * @comp_mask: enum siroccodv_mkey_conf_attr_mask
 * @iova: address of byte 0; a layout without it begins at 0
 * @conf_flags: enum siroccodv_mkey_conf_flags
 */
struct siroccodv_mkey_conf_attr {
	uint64_t comp_mask;
	uint64_t iova;
	uint32_t conf_flags;
	uint32_t reserved;
};

/**
 * siroccodv_wr_mkey_configure() - begin a work request that configures an mkey
 * @qp: between ibv_wr_start() and ibv_wr_complete()
 * @num_setters: siroccodv_wr_set_mkey_*() calls that follow; 0 is legal
 * @attr: not NULL
 *
 * wr_id and wr_flags of the ibv_qp_ex apply; IBV_SEND_INLINE is accepted and
 * changes nothing. Work requests behind it see the new configuration; the
 * completion has opcode IBV_WC_DRIVER1.
 *
 * An error here or in a setter is returned by ibv_wr_complete(), which then
 * posts nothing: EINVAL: mkey of another domain, more or fewer setters than
 * announced, two of a kind, or a value out of range; ENOSPC: entries and signature
 * do not fit into the work request; EOPNOTSUPP: an unknown flag or bit of comp_mask;
 * ENOMEM: the send queue is full.
 *
 * What only the device can see fails when it executes, and the QP goes to
 * error: IBV_WC_MW_BIND_ERR.
 */
void siroccodv_wr_mkey_configure(struct siroccodv_qp_ex *qp,
				 struct siroccodv_mkey *mkey,
				 uint8_t num_setters,
				 const struct siroccodv_mkey_conf_attr *attr);

/**
 * siroccodv_wr_set_mkey_access_flags() - what may be done through the mkey
 * @access_flags: IBV_ACCESS_LOCAL_WRITE, _REMOTE_READ, _REMOTE_WRITE,
 *	_REMOTE_ATOMIC; the last two only with the first
 */
void siroccodv_wr_set_mkey_access_flags(struct siroccodv_qp_ex *qp,
					uint32_t access_flags);

/**
 * siroccodv_wr_set_mkey_layout_list() - the pieces, one after the other
 * @num_sges: 1 to max_entries of the mkey, and as many as fit
 * @sge: copied before the call returns; entries of length 0 are skipped
 */
void siroccodv_wr_set_mkey_layout_list(struct siroccodv_qp_ex *qp,
				       uint32_t num_sges,
				       const struct ibv_sge *sge);

/**
 * siroccodv_wr_set_mkey_layout_interleaved() - rows of pieces at a stride
 * @repeat_count: rows, 1 or more
 * @num_interleaved: 1 to max_entries of the mkey, and as many as fit
 * @data: copied before the call returns
 */
void siroccodv_wr_set_mkey_layout_interleaved(
	struct siroccodv_qp_ex *qp, uint32_t repeat_count,
	uint32_t num_interleaved, const struct siroccodv_mr_interleaved *data);

/**
 * struct siroccodv_mkey_table - a layout whose entries are in registered memory
 * @layout: one of enum siroccodv_mkey_layouts
 * @repeat_count: rows of an interleaved layout, 0 for a list
 * @num_entries: 1 to max_entries of the mkey
 * @lkey: region of the table, in the domain of the QP
 * @addr: array of struct ibv_sge or struct siroccodv_mr_interleaved, of any
 *	alignment; an address of the region @lkey
 */
struct siroccodv_mkey_table {
	uint32_t layout;
	uint32_t repeat_count;
	uint32_t num_entries;
	uint32_t lkey;
	uint64_t addr;
};

/**
 * siroccodv_wr_set_mkey_layout_table() - a layout of any length
 *
 * The table is read once, when the work request executes; it may be changed or
 * freed after the completion.
 */
void siroccodv_wr_set_mkey_layout_table(
	struct siroccodv_qp_ex *qp, const struct siroccodv_mkey_table *table);

/**
 * siroccodv_wr_set_mkey_sig_block() - the fields of blocks in memory and on the wire
 * @attr: copied before the call returns
 *
 * The signature stays when the layout is changed, until another one is set, the
 * mkey is invalidated, or SIROCCODV_MKEY_CONF_FLAG_RESET_SIG_ATTR. Addresses and
 * lengths of the mkey count bytes of the wire. A layout that does not hold whole
 * blocks of both sides is no error here: accesses fail.
 */
void siroccodv_wr_set_mkey_sig_block(
	struct siroccodv_qp_ex *qp, const struct siroccodv_sig_block_attr *attr);

/**
 * siroccodv_post_reg_indir() - access, iova and list of an mkey in one call
 * @qp: outside ibv_wr_start() and ibv_wr_complete(); its wr_id and wr_flags apply
 *
 * Return: 0, or what ibv_wr_complete() would return.
 */
int siroccodv_post_reg_indir(struct siroccodv_qp_ex *qp,
			     struct siroccodv_mkey *mkey, uint32_t access_flags,
			     uint64_t iova, uint32_t num_sges,
			     const struct ibv_sge *sge);

#ifdef __cplusplus
}
#endif

#endif /* INFINIBAND_SIROCCODV_H */
