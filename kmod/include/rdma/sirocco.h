/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Verbs of sirocco that ib_core does not have, for kernel users.
 *
 * A module that calls these functions needs sirocco.ko to load. Each function
 * may be called with any ib_device and refuses those that are not sirocco's.
 */
#ifndef RDMA_SIROCCO_H
#define RDMA_SIROCCO_H

#include <rdma/ib_verbs.h>

/* ---- Capabilities ---- */

/* struct siro_caps.device_cap_flags */
#define IB_DEVICE_SIGNATURE_HANDOVER (1ULL << 30)
#define IB_DEVICE_INDIR_REGISTRATION (1ULL << 32)

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
	u32 rc_caps;
	u32 xrc_caps;
	u32 ud_caps;
	u32 uc_caps;
};

/**
 * struct siro_caps - what the device offers beyond struct ib_device_attr
 * @device_cap_flags: IB_DEVICE_INDIR_REGISTRATION, IB_DEVICE_SIGNATURE_HANDOVER
 * @max_indir_reg_mr_list_len: most entries of an indirect MR
 * @ooo_caps: where IB_QP_OOO_RW_DATA_PLACEMENT works
 */
struct siro_caps {
	u64 device_cap_flags;
	u32 max_indir_reg_mr_list_len;
	struct ib_ooo_caps ooo_caps;
};

/**
 * siro_query_caps() - query the capabilities of a sirocco device
 * @device: any device
 * @caps: filled in on success
 *
 * Context: any.
 * Return: 0, -EOPNOTSUPP: not a sirocco device.
 */
int siro_query_caps(struct ib_device *device, struct siro_caps *caps);

/* ---- Out-of-order placement ---- */

/*
 * A bit of the mask of ib_modify_qp(), without a value: from INIT to RTR, of RC
 * QPs. The data of WRITEs to this QP, and of its READs, may be placed in any
 * order; docs/ordering.md says what a consumer may still depend on. Kernel QPs
 * agree to that without the bit, unless the device's setting ooo_kernel is off.
 */
#define IB_QP_OOO_RW_DATA_PLACEMENT (1 << 26)

/**
 * siro_qp_set_ooo() - agree to out-of-order placement, or keep strict order
 * @qp: an RC QP before RTR, for one that others move there (rdma_cm)
 * @on: as IB_QP_OOO_RW_DATA_PLACEMENT; false: not even by default
 *
 * Holds until the QP is reset.
 * Context: process, may sleep.
 * Return: 0, -EOPNOTSUPP: not a sirocco device, -EINVAL: another type or state.
 */
int siro_qp_set_ooo(struct ib_qp *qp, bool on);

/**
 * siro_qp_set_paths() - spread WRITEs and answers to READs over several paths
 * @qp: an RC QP before RTR
 * @paths: 1 to 16 UDP source ports (IPv6: and flow labels), instead of the device's
 *	setting ooo_paths; used once the peer has agreed to out-of-order placement
 *
 * Holds until the QP is reset.
 * Context: process, may sleep.
 * Return: 0, -EOPNOTSUPP: not a sirocco device, -EINVAL: another type or state, or
 * a bad number.
 */
int siro_qp_set_paths(struct ib_qp *qp, unsigned int paths);

/* ---- Indirect memory registration ---- */

/* For ib_alloc_mr(): an MR whose registration lists struct ib_sge. */
#define SIRO_MR_TYPE_INDIRECT ((enum ib_mr_type)0x40)

/* struct ib_mr_init_attr.flags */
#define IB_MR_SIGNATURE_EN 1
#define IB_MR_INDIRECT_REG 2

/**
 * struct ib_mr_init_attr - what ib_create_mr() makes
 * @max_reg_descriptors: most entries of a registration, at least 1
 * @flags: IB_MR_INDIRECT_REG or IB_MR_SIGNATURE_EN
 */
struct ib_mr_init_attr {
	int max_reg_descriptors;
	u32 flags;
};

/**
 * ib_create_mr() - allocate an MR for indirect registration, or a signature MR
 * @pd: protection domain
 * @attr: flags are one of the two
 *
 * A signature MR is one of ib_alloc_mr_integrity() with as many entries of data as
 * of metadata.
 * Free it with ib_dereg_mr().
 * Context: process, may sleep.
 * Return: the MR, or ERR_PTR: -EINVAL: bad flags or number of descriptors,
 * -EOPNOTSUPP: not a sirocco device, -ENOMEM.
 */
struct ib_mr *ib_create_mr(struct ib_pd *pd, const struct ib_mr_init_attr *attr);

/**
 * struct ib_indir_reg_list - buffers that a registration joins
 * @device: its device
 * @sg_list: entries of any address and length, each with the lkey of an MR of
 *	the same PD that is not indirect itself
 * @max_indir_list_len: entries that @sg_list has room for
 */
struct ib_indir_reg_list {
	struct ib_device *device;
	struct ib_sge *sg_list;
	unsigned int max_indir_list_len;
};

/**
 * ib_alloc_indir_reg_list() - allocate a list of buffers
 * @device: a sirocco device
 * @max_indir_list_len: 1 to max_indir_reg_mr_list_len entries
 *
 * Context: process, may sleep.
 * Return: the list, or ERR_PTR: -EOPNOTSUPP: not a sirocco device, -EINVAL,
 * -ENOMEM.
 */
struct ib_indir_reg_list *ib_alloc_indir_reg_list(struct ib_device *device,
						  unsigned int max_indir_list_len);

/**
 * ib_free_indir_reg_list() - free a list
 * @indir_list: posted work requests do not need it any more
 *
 * Context: process, may sleep.
 */
void ib_free_indir_reg_list(struct ib_indir_reg_list *indir_list);

/* ib_send_wr.opcode and ib_wc.opcode of an indirect registration */
#define IB_WR_REG_INDIR_MR IB_WR_RESERVED1
#define IB_WC_REG_INDIR_MR ((enum ib_wc_opcode)0x70)

/**
 * struct ib_indir_reg_wr - work request IB_WR_REG_INDIR_MR
 * @wr: num_sge is ignored
 * @iova_start: address of byte 0 of the list through the MR, any value
 * @indir_list: may be changed or freed as soon as ib_post_send() has returned
 * @indir_list_len: entries used, 1 to what the MR was created for
 * @length: bytes that the MR shall have, 1 to the sum of the entries
 * @access_flags: IB_ACCESS_LOCAL_WRITE, REMOTE_WRITE, REMOTE_READ, REMOTE_ATOMIC
 * @mkey: key of the MR from now on: its low 8 bits may differ from the MR's
 *
 * ib_post_send() returns -EINVAL for what can be seen to be wrong, -ENOMEM if
 * there is no memory for a copy of the list, and posts nothing from there on. If
 * the region is not free when the request executes, it completes with
 * IB_WC_MW_BIND_ERR.
 */
struct ib_indir_reg_wr {
	struct ib_send_wr wr;
	u64 iova_start;
	struct ib_indir_reg_list *indir_list;
	unsigned int indir_list_len;
	u64 length;
	u32 access_flags;
	u32 mkey;
};

static inline const struct ib_indir_reg_wr *indir_reg_wr(const struct ib_send_wr *wr)
{
	return container_of(wr, struct ib_indir_reg_wr, wr);
}

/**
 * siro_register_indir_mr() - register without a queue pair
 * @mr: an indirect MR that is not registered
 * @reg: as for IB_WR_REG_INDIR_MR; the embedded work request is ignored
 *
 * For MRs whose queue pair is gone, or not there yet. mr->lkey and mr->rkey
 * become @reg->mkey.
 * Context: any but hard interrupts.
 * Return: 0, -EOPNOTSUPP: not a sirocco device, -EINVAL: as above, or @mr is
 * registered, -ENOMEM.
 */
int siro_register_indir_mr(struct ib_mr *mr, const struct ib_indir_reg_wr *reg);

/**
 * siro_invalidate_mr() - take an MR out of use without a queue pair
 * @mr: an indirect MR, or one of ib_alloc_mr(); it may be out of use already, as
 *	after a flushed LOCAL_INV
 *
 * When it returns, no access through the key is under way and none succeeds.
 * Context: any but hard interrupts.
 * Return: 0, -EOPNOTSUPP: not a sirocco device, -EINVAL: another kind of MR.
 */
int siro_invalidate_mr(struct ib_mr *mr);

/* ---- Signature handover as it was in 2014 ---- */

/* struct ib_qp_init_attr.create_flags */
#define IB_QP_CREATE_SIGNATURE_EN IB_QP_CREATE_INTEGRITY_EN

/* ib_send_wr.opcode; it completes as IB_WC_REG_MR */
#define IB_WR_REG_SIG_MR IB_WR_RESERVED2

/**
 * struct ib_sig_handover_wr - work request IB_WR_REG_SIG_MR
 * @wr: sg_list[0], with its lkey, is the data; num_sge is 1
 * @sig_attrs: blocks in memory and on the wire; copied by ib_post_send()
 * @sig_mr: of ib_create_mr() or ib_alloc_mr_integrity(); its current rkey is the key
 *	from now on. Byte 0 of the wire has address 0.
 * @access_flags: IB_ACCESS_LOCAL_WRITE, REMOTE_WRITE, REMOTE_READ
 * @prot: the tuples, with their lkey; NULL: memory has none, or they are in the
 *	data, one behind each block
 *
 * As IB_WR_REG_MR_INTEGRITY, but data and tuples are registered already, in MRs of
 * the same PD. Only on queue pairs with IB_QP_CREATE_SIGNATURE_EN.
 * ib_post_send() returns -EINVAL for what can be seen to be wrong.
 */
struct ib_sig_handover_wr {
	struct ib_send_wr wr;
	struct ib_sig_attrs *sig_attrs;
	struct ib_mr *sig_mr;
	int access_flags;
	struct ib_sge *prot;
};

static inline const struct ib_sig_handover_wr *sig_handover_wr(const struct ib_send_wr *wr)
{
	return container_of(wr, struct ib_sig_handover_wr, wr);
}

#endif /* RDMA_SIROCCO_H */
