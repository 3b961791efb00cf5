/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The glue's objects and the functions its files offer each other.
 *
 * Lock order: requester half, then nothing of the same QP's responder half;
 * inside a half: SRQ, then CQ. Routes, keys and address handles are read under
 * RCU. CQ handlers and events run after the half's lock is dropped.
 */
#ifndef SIRO_GLUE_H
#define SIRO_GLUE_H

#include <linux/hrtimer.h>
#include <linux/kref.h>
#include <linux/netdevice.h>
#include <linux/refcount.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <net/net_namespace.h>
#include <rdma/ib_umem.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>

#include "siro_engine.h"
#include "siro_port.h"
#include "siro_signature.h"

#define SIRO_VERSION "0.1.0"
#define SIRO_UDP_PORT 4791
#define SIRO_ENGINE_BUDGET 128 /* packets per call before a worker takes over */

struct siro_counters {
	u64 value[SIRO_CNT_COUNT];
};

#define SIRO_LANES 16

/**
 * struct siro_lane - flows whose packets one CPU at a time handles, in order
 * @queue: super-packets that came while another CPU was at work
 * @work: goes on when the softirq's budget is spent
 * @busy: bit 0: a CPU is at work
 * @net: owner
 */
struct siro_lane {
	struct sk_buff_head queue;
	struct work_struct work;
	unsigned long busy;
	struct siro_net *net;
};

/**
 * struct siro_net - a network namespace; lives as long as the namespace
 * @net: the namespace, not counted: the links die before it
 * @users: links; under siro_dev_mutex. The sockets are open while it is not 0.
 * @sk4: UDP 4791
 * @sk6: NULL if IPv6 is disabled
 * @order: taking packets from the sockets and putting them into lanes
 * @lanes: by flow
 */
struct siro_net {
	struct net *net;
	unsigned int users;
	struct socket *sk4;
	struct socket *sk6;
	spinlock_t order;
	struct siro_lane lanes[SIRO_LANES];
};

struct siro_dev {
	struct ib_device ibdev;
	struct net_device *ndev; /* the link's; held */
	struct siro_net *net;
	struct socket *tx4; /* what is on its way is charged to these; they are bound to no port */
	struct socket *tx6; /* NULL if IPv6 is disabled */
	struct siro_counters __percpu *counters;
	struct ib_qp *gsi; /* RCU; set by create_qp of IB_QPT_GSI */
	struct xarray mrs; /* index -> struct siro_mr_obj; freed by RCU */
	struct xarray ahs; /* number -> struct siro_route; freed by RCU */
	u32 mr_next;
	u32 ah_next;
	atomic_t cqn_next;
	atomic_t srqn_next;
	struct siro_sig_fault __rcu *sig_fault; /* NULL: none is injected */
	struct dentry *debugfs;
	atomic_t held_bytes; /* in packets that came before their turn */
	struct list_head list; /* of all devices, under siro_dev_mutex */
	bool ooo_kernel; /* kernel QPs agree to out-of-order placement unless told otherwise */
	bool ooo_mark; /* peers are told of the agreement */
	u8 ooo_paths; /* of a queue pair */
	bool active; /* port state that was last reported; under RTNL */
};

struct siro_ucontext {
	struct ib_ucontext ibuc;
	atomic_t mkey_bytes; /* of all its mkeys */
	struct mutex status_lock; /* of the following */
	struct list_head status_pages; /* for mkeys with a signature */
};

struct siro_pd {
	struct ib_pd ibpd;
	u32 number;
};

/**
 * struct siro_route - a path with its cached route
 * @flow: addresses, the engine's part
 * @rcu: for address handles
 * @dst: cached; checked with dst_check() at every burst
 * @pd: owner's protection domain number, for address handles
 * @oif: netdev that owns the source address
 * @split: the hardware behind @dst may segment bursts and spoil their IP ids
 */
struct siro_route {
	struct siro_flow flow;
	struct rcu_head rcu;
	struct dst_entry __rcu *dst;
	u32 dst_cookie;
	u32 pd;
	int oif;
	bool split;
	struct siro_dev *dev;
};

struct siro_ah {
	struct ib_ah ibah;
	struct siro_route *route;
	struct rdma_ah_attr attr;
	u32 number;
};

/**
 * struct siro_ring_mem - memory of a ring, perhaps mapped by user space
 * Counted: the queue and each mmap entry hold one reference.
 */
struct siro_ring_mem {
	struct kref ref;
	void *addr; /* vmalloc_user(), or kvzalloc() for kernel queues */
	size_t size;
	bool user;
};

struct siro_mmap_entry {
	struct rdma_user_mmap_entry rdma;
	struct siro_ring_mem *mem;
	bool read_only;
};

struct siro_cq {
	struct ib_cq ibcq;
	spinlock_t lock;
	struct siro_ring ring;
	struct siro_ring_mem *mem;
	struct siro_mmap_entry *mmap;
	struct mutex resize_lock;
	u32 number;
	u8 armed; /* enum ib_cq_notify_flags, 0: not armed */
	bool overflow;
	bool user;
};

struct siro_srq {
	struct ib_srq ibsrq;
	spinlock_t lock; /* taking */
	spinlock_t post_lock; /* posting by the kernel */
	struct siro_ring ring;
	struct siro_ring_mem *mem;
	struct siro_mmap_entry *mmap;
	struct mutex modify_lock;
	u32 number;
	u32 limit; /* 0: not armed */
	u32 max_sge;
	bool user;
};

/* One half of a QP: lock, timer, worker, route. */
struct siro_half {
	spinlock_t lock;
	struct hrtimer timer; /* HRTIMER_MODE_ABS_SOFT */
	u64 timer_at; /* what the timer is armed for, 0: not armed; under lock */
	u32 epoch; /* resets so far; under lock */
	bool blocked; /* the timer also means: there may be room to transmit */
	struct work_struct work;
	struct siro_route route;
	struct siro_route *paths; /* besides @route, or NULL */
	u32 path_count; /* of @paths */
	bool dead; /* destroyed: timers and workers do nothing; under lock */
};

/* What the owner of a QP said of out-of-order placement before RTR. */
enum siro_ooo_wish {
	SIRO_OOO_DEFAULT,
	SIRO_OOO_OFF,
	SIRO_OOO_ON,
};

struct siro_qp {
	struct ib_qp ibqp;
	struct siro_dev *dev;
	u32 qpn;
	u32 type; /* SIRO_QPT_* */
	u32 pd;
	bool user;
	bool sig_pipelining; /* see struct siro_requester_config */

	struct siro_half sq; /* requester */
	struct siro_requester requester;
	struct siro_requester_attr requester_attr; /* under sq.lock */
	struct siro_half rq; /* responder */
	struct siro_responder responder;
	struct siro_responder_attr responder_attr; /* under rq.lock */

	spinlock_t post_send_lock; /* kernel producer; inside sq.lock */
	spinlock_t post_recv_lock; /* kernel producer; inside rq.lock */
	struct siro_ring rq_ring;
	struct siro_ring_mem *sq_mem;
	struct siro_ring_mem *rq_mem;
	struct siro_mmap_entry *sq_mmap;
	struct siro_mmap_entry *rq_mmap;
	void *shadow;
	void *resources;
	void **held; /* RC: SIRO_RX_WINDOW slots of the requester, as many of the responder */
	u32 *stamps; /* RC: SIRO_RX_WINDOW */

	struct siro_cq *send_cq;
	struct siro_cq *recv_cq;
	struct siro_srq *srq;

	refcount_t ref;
	struct completion unused;

	/* what query_qp returns; under modify_lock */
	struct mutex modify_lock;
	struct ib_qp_attr attr; /* qp_state: what modify_qp set last */
	enum siro_ooo_wish ooo_wish;
	u8 ooo; /* SIRO_OOO_*, from RTR on */
	u8 paths_wish; /* 0: as the device */
	struct ib_qp_init_attr init;

	/* events of the QP are raised in process context */
	atomic_t events;
	struct work_struct event_work;
};

enum siro_mr_kind {
	SIRO_MR_PLAIN, /* valid from birth to death: DMA, user memory */
	SIRO_MR_FAST, /* IB_MR_TYPE_MEM_REG */
	SIRO_MR_GAPS, /* IB_MR_TYPE_SG_GAPS */
	SIRO_MR_LISTED, /* SIRO_MR_TYPE_INDIRECT */
	SIRO_MR_MKEY, /* configured by user space */
	SIRO_MR_INTEGRITY, /* IB_MR_TYPE_INTEGRITY */
};

/* A list of extents with its memory. */
struct siro_mr_list {
	struct siro_extents extents;
	u32 room; /* of @storage */
	struct siro_extent storage[];
};

/**
 * struct siro_status_slot - where an mkey's user reads whether it has an error
 * @lock: of what is written
 * @uc: of the mkey
 * @status: mapped by the user; NULL: there is no slot
 */
struct siro_status_slot {
	spinlock_t lock;
	struct siro_ucontext *uc;
	struct siro_mkey_status *status;
	struct siro_status_page *page;
	u32 index;
};

/**
 * struct siro_mr_signature - state of a signature region
 * @engine: what mr.signature points to
 * @lock: of the open blocks
 * @obj: its region
 * @slot: of an mkey
 * @named: of lists with one entry that names a region
 */
struct siro_mr_signature {
	struct siro_signature engine;
	spinlock_t lock;
	struct siro_mr_obj *obj;
	struct siro_status_slot slot;
	struct siro_extent named[2];
};

/**
 * struct siro_sig_conf - request of a REG_MR_INTEGRITY, behind its WQE
 * @memory: blocks in memory
 * @wire: blocks on the wire
 * @check_mask: see struct siro_signature
 * @flags: SIRO_SIG_KERNEL_LISTS: the staged lists, else @data and @metadata
 * @data: of the region that it names
 * @metadata: same, no bytes if there is none
 */
struct siro_sig_conf {
	struct siro_sig_domain memory;
	struct siro_sig_domain wire;
	u8 check_mask;
	u16 flags;
	struct siro_sge data;
	struct siro_sge metadata;
};

/* A memory region. siro_mr first: the engine sees that part. */
struct siro_mr_obj {
	struct siro_mr mr;
	struct ib_mr ibmr;
	struct rcu_head rcu;
	struct ib_umem *umem;
	spinlock_t lock; /* state changes and the lists of a fast registration MR */
	u64 *live; /* pages that mr.pages points to */
	u64 *staged; /* fast registration: filled by map_mr_sg() */
	u32 staged_count;
	u32 staged_capacity;
	u32 live_capacity;
	u32 max_entries; /* pages, or entries of a list */
	u32 max_meta_entries;
	u32 staged_shift;
	u32 staged_offset;
	u64 staged_length;
	enum siro_mr_kind kind;
	bool remote_invalidate; /* mkey: the peer may invalidate it */
	bool has_signature; /* mkey: it is charged for one */
	bool configuring; /* mkey: a list is being staged; under lock */
	bool retired; /* INVALID for good; under lock */
	/* lists: in use, filled by map_mr_sg(), kept for the next registration */
	struct siro_mr_list *live_list;
	struct siro_mr_list *staged_list;
	struct siro_mr_list *live_meta;
	struct siro_mr_list *staged_meta;
	struct siro_mr_list *spare; /* exchanged atomically */
	struct siro_mr_list *spare_meta;
};

static inline struct siro_dev *to_siro_dev(struct ib_device *ibdev)
{
	return container_of(ibdev, struct siro_dev, ibdev);
}

static inline struct siro_ucontext *to_siro_ucontext(struct ib_ucontext *ibuc)
{
	return container_of(ibuc, struct siro_ucontext, ibuc);
}

static inline struct siro_pd *to_siro_pd(struct ib_pd *ibpd)
{
	return container_of(ibpd, struct siro_pd, ibpd);
}

static inline struct siro_ah *to_siro_ah(struct ib_ah *ibah)
{
	return container_of(ibah, struct siro_ah, ibah);
}

static inline struct siro_cq *to_siro_cq(struct ib_cq *ibcq)
{
	return container_of(ibcq, struct siro_cq, ibcq);
}

static inline struct siro_srq *to_siro_srq(struct ib_srq *ibsrq)
{
	return container_of(ibsrq, struct siro_srq, ibsrq);
}

static inline struct siro_qp *to_siro_qp(struct ib_qp *ibqp)
{
	return container_of(ibqp, struct siro_qp, ibqp);
}

static inline struct siro_mr_signature *to_siro_mr_signature(struct siro_signature *signature)
{
	return container_of(signature, struct siro_mr_signature, engine);
}

static inline struct siro_mr_obj *to_siro_mr(struct ib_mr *ibmr)
{
	return container_of(ibmr, struct siro_mr_obj, ibmr);
}

/* Of any device that a consumer may hand in. */
static inline struct siro_dev *siro_dev_if_ours(struct ib_device *device)
{
	return device->ops.owner == THIS_MODULE ? to_siro_dev(device) : NULL;
}

/* ---- main.c ---- */
extern struct workqueue_struct *siro_wq; /* WQ_HIGHPRI | WQ_MEM_RECLAIM, bound */

/* ---- device.c ---- */
extern struct mutex siro_dev_mutex; /* list of devices, users of namespaces */
extern const struct uapi_definition siro_mkey_uapi[]; /* mkey.c: an object of our own */
extern const struct uapi_definition siro_qp_uapi[]; /* qp_cancel.c: a method of our own */
extern const struct ib_device_ops siro_verbs_ops; /* verbs.c: ucontext, pd, ah, cq, qp, srq, mr ops */

int siro_dev_add(const char *name, struct net_device *ndev);
/* Removes all links of a namespace; returns when they are gone. */
void siro_dev_remove_all(struct siro_net *net);
/* Reports a change of the port state. Under RTNL. */
void siro_dev_update_port(struct siro_dev *dev);
/* VLAN id of the packets of a link, 0xffff if they are untagged */
u16 siro_dev_vlan(struct siro_dev *dev);

/* ---- sysfs.c ---- */
extern const struct attribute_group siro_device_group;

/* ---- counters.c ---- */
struct rdma_hw_stats *siro_alloc_stats(struct ib_device *ibdev, u32 port);
int siro_get_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats, u32 port, int index);

u64 siro_counter(struct siro_dev *dev, unsigned int counter);
const char *siro_counter_name(unsigned int counter);

static inline void siro_count(struct siro_dev *dev, unsigned int counter, u64 n)
{
	this_cpu_add(dev->counters->value[counter], n);
}

static inline u64 *siro_counters_here(struct siro_dev *dev)
{
	return this_cpu_ptr(dev->counters)->value; /* BH off: no torn updates */
}

/* ---- sig_fault.c ---- */
void siro_debugfs_init(void);
void siro_debugfs_exit(void);
void siro_debugfs_add(struct siro_dev *dev);
void siro_debugfs_remove(struct siro_dev *dev);

/* ---- netdev.c ---- */
int siro_netdev_init(void);
void siro_netdev_exit(void);
/* The namespace with open sockets. Under siro_dev_mutex. */
struct siro_net *siro_net_get(struct net *net);
void siro_net_put(struct siro_net *net);

/* ---- gid.c ---- */
int siro_add_gid(const struct ib_gid_attr *attr, void **context);
int siro_del_gid(const struct ib_gid_attr *attr, void **context);
/* The device of a namespace that owns an address; under RCU. */
struct siro_dev *siro_dev_by_address(struct siro_net *net, u32 family, const u8 *daddr);

/* ---- udp_rx.c ---- */
int siro_rx_init(void);
void siro_rx_exit(void);
void siro_rx_setup(struct siro_net *net);
int siro_rx_open(struct siro_net *net);
void siro_rx_close(struct siro_net *net);

/* ---- udp_rx.c -> qp_table.c, qp_engine.c ---- */
/**
 * siro_qp_get() - look a QP up by number and take a reference
 * QPNs are unique in the module. @dev decides for numbers 0 and 1 (GSI).
 */
struct siro_qp *siro_qp_get(struct siro_net *net, u32 qpn);
struct siro_qp *siro_qp_get_gsi(struct siro_dev *dev);
void siro_qp_put(struct siro_qp *qp);
/* All queue pairs of the device but the GSI's enter ERR and are flushed. */
void siro_qp_fail_all(struct siro_dev *dev);

/**
 * siro_qp_receive() - hand a batch to the half that it is for
 * Locks the half, calls the engine, arms timers, and afterwards runs CQ handlers
 * and events. Context: softirq or BH off.
 */
void siro_qp_receive(struct siro_qp *qp, const struct siro_batch *batch);

/* ---- udp_tx.c, route.c ---- */
/**
 * siro_route_init() - fill a route's flow from an address handle attribute
 * @route: dst is looked up at once so that errors are seen early, but an
 *	unreachable peer is not an error: bursts are lost until there is a route
 * @attr: of type ROCE, with sgid_attr
 * @qpn: hashed into the UDP source port if @attr has no flow label
 * May be called in atomic context.
 * Return: 0, -EINVAL, -ENETUNREACH never.
 */
int siro_route_init(struct siro_route *route, struct siro_dev *dev, const struct rdma_ah_attr *attr,
		    u32 qpn);
/* Makes a copy of a path another one: of path @index source port and flow label. */
void siro_route_diverge(struct siro_route *route, u32 index);
void siro_route_release(struct siro_route *route);

/* Current route of a path; under RCU and valid only there. NULL: unreachable. */
struct dst_entry *siro_route_dst(struct siro_route *route);

int siro_tx_open(struct siro_dev *dev);
void siro_tx_close(struct siro_dev *dev);
/* siro_port_tx_begin(), siro_port_tx_commit(): udp_tx.c */

#endif /* SIRO_GLUE_H */
