/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Entry points of the protocol engine, called by the glue.
 *
 * The engine never allocates, locks, sleeps, logs or reads a clock. Every
 * function may be called in softirq context. Objects are plain storage that
 * the caller owns; "held" below names the lock that the caller must hold.
 *
 * A queue pair has two halves with a lock each: the requester (send queue) and
 * the responder (receive queue). No engine call needs both.
 */
#ifndef SIRO_ENGINE_H
#define SIRO_ENGINE_H

#include "siro_types.h"
#include "../../uapi/rdma/sirocco-abi.h"

SIRO_BEGIN_DECLS

#define SIRO_PSN_MASK 0xffffffu
#define SIRO_QPN_MASK 0xffffffu
#define SIRO_DEFAULT_PKEY 0xffffu
/* A packet is 12 bytes of BTH, extension headers, payload, pad, 4 of ICRC. */
#define SIRO_MAX_HEADER 48u
#define SIRO_GRH_BYTES 40u
#define SIRO_MAX_MESSAGE 0x80000000u
#define SIRO_MAX_RD_ATOMIC 128u
/* Bytes after UDP in one burst; IPv4 and IPv6 length fields bound it. */
#define SIRO_MAX_BURST_BYTES 65000u
#define SIRO_MAX_BURST_PACKETS 64u
/* Packets that may come before their turn and are kept, a power of two. */
#define SIRO_RX_WINDOW 1024u
#define SIRO_MAX_PATHS 16u

/* QP types, states */
#define SIRO_QPT_RC 0
#define SIRO_QPT_UD 1
#define SIRO_QPT_GSI 2

#define SIRO_QPS_RESET 0 /* same numbers as enum ib_qp_state */
#define SIRO_QPS_INIT 1
#define SIRO_QPS_RTR 2
#define SIRO_QPS_RTS 3
#define SIRO_QPS_SQD 4
#define SIRO_QPS_SQE 5
#define SIRO_QPS_ERR 6

/* MR and QP access rights; same numbers as enum ib_access_flags */
#define SIRO_ACCESS_LOCAL_WRITE 0x1
#define SIRO_ACCESS_REMOTE_WRITE 0x2
#define SIRO_ACCESS_REMOTE_READ 0x4
#define SIRO_ACCESS_REMOTE_ATOMIC 0x8

/* Completion status; same numbers as enum ib_wc_status */
#define SIRO_WC_SUCCESS 0
#define SIRO_WC_LOC_LEN_ERR 1
#define SIRO_WC_LOC_QP_OP_ERR 2
#define SIRO_WC_LOC_PROT_ERR 4
#define SIRO_WC_WR_FLUSH_ERR 5
#define SIRO_WC_MW_BIND_ERR 6 /* memory management operation error */
#define SIRO_WC_BAD_RESP_ERR 7
#define SIRO_WC_LOC_ACCESS_ERR 8
#define SIRO_WC_REM_INV_REQ_ERR 9
#define SIRO_WC_REM_ACCESS_ERR 10
#define SIRO_WC_REM_OP_ERR 11
#define SIRO_WC_RETRY_EXC_ERR 12
#define SIRO_WC_RNR_RETRY_EXC_ERR 13

/* Counters, indices into struct siro_context.counters. The glue names them. */
enum {
	SIRO_CNT_SENT_PKTS,
	SIRO_CNT_RCVD_PKTS,
	SIRO_CNT_DUPLICATE_REQUEST,
	SIRO_CNT_OUT_OF_SEQ_REQUEST,
	SIRO_CNT_RCVD_RNR_ERR,
	SIRO_CNT_SEND_RNR_ERR,
	SIRO_CNT_RCVD_SEQ_ERR,
	SIRO_CNT_ACK_DEFERRED,
	SIRO_CNT_RETRY_EXCEEDED_ERR,
	SIRO_CNT_RETRY_RNR_EXCEEDED_ERR,
	SIRO_CNT_COMPLETER_RETRY_ERR,
	SIRO_CNT_SEND_ERR,
	SIRO_CNT_LINK_DOWNED,
	SIRO_CNT_RDMA_SENDS,
	SIRO_CNT_RDMA_RECVS,
	/* more than rdma_rxe has */
	SIRO_CNT_SENT_BYTES,
	SIRO_CNT_RCVD_BYTES,
	SIRO_CNT_SENT_BURSTS,
	SIRO_CNT_RCVD_BATCHES,
	SIRO_CNT_RX_WRITE_REQUESTS,
	SIRO_CNT_RX_READ_REQUESTS,
	SIRO_CNT_RX_ATOMIC_REQUESTS,
	SIRO_CNT_OUT_OF_BUFFER,
	SIRO_CNT_LOCAL_ACK_TIMEOUT_ERR,
	SIRO_CNT_IMPLIED_NAK_SEQ_ERR,
	SIRO_CNT_SENT_NAKS,
	SIRO_CNT_REQ_CQE_ERROR,
	SIRO_CNT_RESP_CQE_ERROR,
	SIRO_CNT_REQ_CQE_FLUSH_ERROR,
	SIRO_CNT_RESP_CQE_FLUSH_ERROR,
	SIRO_CNT_MALFORMED_PKTS,
	SIRO_CNT_ICRC_ERRORS,
	SIRO_CNT_UNKNOWN_QP,
	SIRO_CNT_BAD_PKEY,
	SIRO_CNT_BAD_QKEY,
	SIRO_CNT_BAD_ADDRESS,
	SIRO_CNT_WRONG_STATE,
	SIRO_CNT_STALE_RESPONSES,
	SIRO_CNT_RX_OVERFLOW,
	SIRO_CNT_OOO_HELD,
	SIRO_CNT_OOO_DROPPED,
	SIRO_CNT_OOO_PLACED,
	SIRO_CNT_OOO_AGED,
	SIRO_CNT_GAPS,
	SIRO_CNT_SACK_SENT,
	SIRO_CNT_SACK_RECEIVED,
	SIRO_CNT_SACK_INVALID,
	SIRO_CNT_RETRANSMITTED_PKTS,
	SIRO_CNT_SPURIOUS_RETRANSMITS,
	SIRO_CNT_TAIL_PROBES,
	SIRO_CNT_QP_OOO_ACTIVE, /* queue pairs that place out of order now */
	SIRO_CNT_REGISTRATIONS,
	SIRO_CNT_GAPS_REGISTRATIONS,
	SIRO_CNT_INDIRECT_REGISTRATIONS,
	SIRO_CNT_INVALIDATIONS,
	SIRO_CNT_SIG_REGISTRATIONS,
	SIRO_CNT_SIG_INSERTED,
	SIRO_CNT_SIG_STRIPPED,
	SIRO_CNT_SIG_PASSED,
	SIRO_CNT_SIG_CHECKED,
	SIRO_CNT_SIG_ESCAPED,
	SIRO_CNT_SIG_GUARD_ERRORS,
	SIRO_CNT_SIG_APP_ERRORS,
	SIRO_CNT_SIG_REF_ERRORS,
	SIRO_CNT_SIG_DROPPED,
	SIRO_CNT_COUNT
};

/* struct siro_context.outcome */
#define SIRO_OUT_MORE 0x1 /* budget spent: call the half's run function again soon */
#define SIRO_OUT_BLOCKED 0x2 /* siro_port_tx_begin() refused: call again when there is room */
#define SIRO_OUT_NOTIFY_CQ 0x4 /* the half's CQ is armed and has news: call its handler */
#define SIRO_OUT_QP_ERROR 0x8 /* this half entered ERR: move the other half and the QP too */
#define SIRO_OUT_SQ_ERROR 0x10 /* a UD send queue entered SQE: note it in the QP */
#define SIRO_OUT_SIG_ERROR 0x20 /* a signature was bad in data that the call moved */

/* struct siro_context.events: raise after the lock is dropped */
#define SIRO_EVENT_QP_FATAL 0x1
#define SIRO_EVENT_QP_REQ_ERR 0x2
#define SIRO_EVENT_QP_ACCESS_ERR 0x4
#define SIRO_EVENT_COMM_EST 0x8
#define SIRO_EVENT_SQ_DRAINED 0x10
#define SIRO_EVENT_LAST_WQE_REACHED 0x20
#define SIRO_EVENT_SRQ_LIMIT 0x40 /* set by glue in siro_port_take_recv() */
#define SIRO_EVENT_CQ_ERR 0x80 /* set by glue when the half's CQ overflowed */

/**
 * struct siro_context - one call into the engine
 * @now: monotonic time in nanoseconds
 * @counters: SIRO_CNT_COUNT counters of this CPU and device
 * @port: passed to every port function of this call; the glue's QP
 * @budget: packets that the call may send, decremented
 * @outcome: SIRO_OUT_*, set by the callee (caller clears)
 * @events: SIRO_EVENT_*, set by the callee (caller clears)
 * @deadline: when the half's timeout function wants to be called, in the clock
 *	of @now; 0 is never. An earlier or a spurious call does no harm.
 */
struct siro_context {
	__u64 now;
	__u64 *counters;
	void *port;
	__u32 budget;
	__u32 outcome;
	__u32 events;
	__u32 reserved;
	__u64 deadline;
};

/**
 * struct siro_flow - addresses of one direction of a path, with its IP id
 * @family: 4 or 6
 * @tos: IPv4 type of service, IPv6 traffic class
 * @ttl: time to live, hop limit
 * @source_port: UDP source port, host order; the destination is 4791
 * @next_id: IPv4 identification of the next packet, advanced by the engine
 * @saddr: source address, network order, IPv4 in the first four bytes
 * @daddr: destination address
 * @flow_label: IPv6 flow label, host order
 *
 * Owned by the glue, changed only with the half's lock held.
 */
struct siro_flow {
	__u8 family;
	__u8 tos;
	__u8 ttl;
	__u8 reserved;
	__u16 source_port;
	__u16 next_id;
	__u8 saddr[16];
	__u8 daddr[16];
	__u32 flow_label;
};

/**
 * struct siro_tx_burst - packets of one flow, back to back in one buffer
 * @data: where the engine writes; every packet is BTH to ICRC
 * @capacity: bytes at @data
 * @length: bytes written
 * @packets: packets written; all are @stride bytes but the last, which may be
 *	shorter
 * @stride: bytes of the first packet
 * @first_id: IPv4 id of packet 0; packet i has first_id + i modulo 2^16. The
 *	ICRC of each packet covers it.
 * @cookie: of the glue
 */
struct siro_tx_burst {
	__u8 *data;
	__u32 capacity;
	__u32 length;
	__u32 packets;
	__u32 stride;
	__u16 first_id;
	__u16 reserved0;
	__u32 reserved1;
	void *cookie;
};

struct siro_frag {
	const __u8 *data;
	__u32 length;
	__u32 reserved;
};

/**
 * struct siro_packet - a received packet
 * @frags: (in) pieces that hold it; never written
 * @offset: (in) where the packet begins in frags[0]
 * @length: (in) bytes from the BTH to the ICRC, both included; the pieces hold
 *	at least that much
 * @ip_id: (in) IPv4 identification of this packet, host order
 * @ecn: (in) the two ECN bits of its IP header
 * @qpn: (out) destination queue pair
 * @psn: (out)
 * @opcode: (out) BTH opcode
 * @response: (out) 1 if the requester half takes it, else the responder half
 * @header_length: (out) BTH and extension headers
 * @payload_length: (out) without the pad
 * @header: (out) private copy of the headers
 */
struct siro_packet {
	const struct siro_frag *frags;
	__u32 offset;
	__u32 length;
	__u16 ip_id;
	__u8 ecn;
	__u8 opcode;
	__u8 response;
	__u8 header_length;
	__u16 payload_length;
	__u32 qpn;
	__u32 psn;
	__u8 header[SIRO_MAX_HEADER];
};

/**
 * struct siro_batch - packets of one super-packet for one half of one QP
 * @packets: parsed and verified by siro_packet_parse()
 * @count: at least 1
 * @family: 4 or 6
 * @ip_header: 20 or 40 bytes of the IP header of the super-packet, no options
 * @udp_header: 8 bytes
 */
struct siro_batch {
	struct siro_packet *packets;
	__u32 count;
	__u32 family;
	const __u8 *ip_header;
	const __u8 *udp_header;
};

/**
 * siro_packet_parse() - parse and verify one packet before any QP is looked up
 * @packet: in and out fields as documented; on failure the out fields are void
 * @family: 4 or 6
 * @ip_header: of the (super-)packet: the lengths and the id in it are not used
 * @udp_header: same
 *
 * Checks opcode, lengths, pad and ICRC (IBTA 9.2, 9.6, A17).
 * Context: any, no lock.
 * Return: -1 if the packet is good, else the SIRO_CNT_* to count it under.
 */
int siro_packet_parse(struct siro_packet *packet, __u32 family, const __u8 *ip_header,
		      const __u8 *udp_header);

/* ---- Rings ---- */

/**
 * struct siro_ring - the kernel's view of a ring
 * @header: shared with user space if the ring is mapped
 * @entries: likewise
 * @slots: entries, a power of two; the kernel's own copy
 * @stride: bytes per entry
 * @index: the kernel's own index: next to consume of a work queue, next to
 *	produce of a CQ
 * @limit: most work requests outstanding; at most @slots
 */
struct siro_ring {
	struct siro_ring_header *header;
	__u8 *entries;
	__u32 slots;
	__u32 stride;
	__u32 index;
	__u32 limit;
};

/**
 * siro_ring_pending() - entries that the producer has stored and nobody took
 * Return: 0 to @slots. A producer index that no honest producer can have reached
 * counts as none: it must not buy its writer 2^32 entries of work.
 */
__u32 siro_ring_pending(const struct siro_ring *ring);

/**
 * siro_recv_ring_take() - copy out the oldest receive WQE
 * @ring: RQ or SRQ. Held: the responder's lock or the SRQ's.
 * @wqe: room for the WQE header
 * @sges: room for SIRO_MAX_SGE entries
 * Return: 1, or 0 if the ring is empty, or -EINVAL (-22) if the entry is
 * malformed (it is consumed, @wqe->wr_id is valid).
 */
int siro_recv_ring_take(struct siro_ring *ring, struct siro_recv_wqe *wqe, struct siro_sge *sges);

/**
 * siro_recv_ring_put() - append a receive WQE to a ring in kernel memory
 * @ring: RQ or SRQ whose producer is the kernel. Held: the poster's lock.
 * @wqe: num_sge is checked against the stride
 * @sges: num_sge entries
 * Return: 0, -ENOMEM (-12) if the ring is full, -EINVAL (-22).
 */
int siro_recv_ring_put(struct siro_ring *ring, const struct siro_recv_wqe *wqe,
		       const struct siro_sge *sges);

/**
 * siro_cq_ring_push() - append a completion
 * @ring: CQ. Held: the CQ's lock.
 * Return: 0, or -ENOSPC (-28) on overflow.
 */
int siro_cq_ring_push(struct siro_ring *ring, const struct siro_cqe *cqe);

/* ---- Memory regions ---- */

/* struct siro_mr.layout */
#define SIRO_MR_DMA 0 /* addresses are kernel virtual addresses */
#define SIRO_MR_PAGES 1 /* an array of pages of equal size */
#define SIRO_MR_EXTENTS 2 /* pieces of kernel memory, each of any length */
#define SIRO_MR_INDIRECT 3 /* pieces of other regions, perhaps in rows */

/* struct siro_mr.state */
#define SIRO_MR_INVALID 0
#define SIRO_MR_FREE 1 /* fast-registration MR: REG_MR may make it valid */
#define SIRO_MR_VALID 2

/**
 * struct siro_extent - one piece of a byte-granular list
 * @start: bytes of the row before it
 * @address: kernel virtual address, or an address in the region of @lkey
 * @skip: bytes between its place in one row and its place in the next
 * @lkey: 0 for kernel memory
 *
 * It ends where the next one starts; the last one ends with the row.
 */
struct siro_extent {
	__u64 start;
	__u64 address;
	__u32 skip;
	__u32 lkey;
};

/**
 * struct siro_extents - a list of extents
 * @extents: @capacity of them, memory of the owner
 * @row_length: bytes of all extents
 * @capacity: entries that may be added
 * @count: extents in use
 * @entries: entries that were added, empty and merged ones included
 * @repeat: rows, at least 1
 * @shift: if not 0, all extents but the first and the last are 2^shift bytes
 *	and the last is not longer: a byte is found without a search
 * @merge: 1: entries that touch become one extent
 */
struct siro_extents {
	struct siro_extent *extents;
	__u64 row_length;
	__u32 capacity;
	__u32 count;
	__u32 entries;
	__u32 repeat;
	__u32 shift;
	__u32 merge;
};

/**
 * siro_extents_reset() - make a list empty
 * @list: extents and capacity stay
 * @merge: see struct siro_extents; only for lists without rows
 */
void siro_extents_reset(struct siro_extents *list, __u32 merge);

/**
 * siro_extents_add() - append an entry
 * @length: bytes; an empty entry only counts
 * Return: 0, -ENOSPC (-28) if the list is full, -EINVAL (-22) if a sum wraps.
 */
int siro_extents_add(struct siro_extents *list, __u64 address, __u64 length, __u32 skip,
		     __u32 lkey);

/**
 * siro_extents_finish() - the list is complete
 * @repeat: rows
 * Return: 0, -EINVAL (-22) if there is no byte in it or an address or a length
 * wraps.
 */
int siro_extents_finish(struct siro_extents *list, __u32 repeat);

struct siro_signature;

/**
 * struct siro_mr - the engine's view of a memory region
 * @iova: first address that a work request may use
 * @length: bytes
 * @pages: kernel virtual address of each page; NULL for SIRO_MR_DMA
 * @page_count: entries of @pages
 * @first_offset: where @iova lies in pages[0]
 * @page_shift: log2 of the page size
 * @key: the whole 32-bit lkey and rkey
 * @pd: number of the protection domain
 * @access: SIRO_ACCESS_*
 * @layout: SIRO_MR_DMA to SIRO_MR_INDIRECT, or SIRO_MR_SIGNATURE
 * @extents: for SIRO_MR_EXTENTS and SIRO_MR_INDIRECT: byte 0 of the list is
 *	byte @iova of the region
 * @signature: for SIRO_MR_SIGNATURE: attributes and state, see siro_signature.h.
 *	@iova and @length are of the wire.
 * @state: SIRO_MR_*; read and written atomically
 * @users: engine calls that use the region now; atomic. siro_port_mr_get()
 *	increments it before it reads @state, so that who makes a region invalid
 *	can wait until nobody uses it.
 */
struct siro_mr {
	__u64 iova;
	__u64 length;
	const __u64 *pages;
	__u64 page_count;
	__u32 first_offset;
	__u32 page_shift;
	__u32 key;
	__u32 pd;
	__u32 access;
	__u32 layout;
	__u32 state;
	__u32 users;
	struct siro_extents extents;
	struct siro_signature *signature;
};

/* ---- Mkeys: keys that user space configures ---- */

/**
 * siro_mkey_stage() - check a configuration, fill a list from its entries
 * @staged: empty
 * @conf: checked here; without SIRO_MKEY_TABLE
 * @sig: checked here if @conf has SIRO_MKEY_SIGNATURE
 * @entries: conf->count entries in kernel memory
 * Return: 0, -EINVAL (-22).
 */
int siro_mkey_stage(struct siro_extents *staged, const struct siro_mkey_conf *conf,
		    const struct siro_mkey_sig *sig, const void *entries);

/**
 * siro_mkey_change() - what a configuration makes of an mkey
 * @mkey: changed, and its signature if it has one; nobody uses them
 * @staged: the list of a configuration with a layout
 * @conf: checked
 * @sig: checked; used if @conf has SIRO_MKEY_SIGNATURE
 *
 * The length of the mkey is 0 if it has no layout, or one that is not of whole blocks.
 * A signature error is forgotten. Tried on copies it tells whether it would succeed;
 * when it fails, @mkey is not to be used.
 * Return: 0, -EINVAL (-22): iova plus length would wrap, or a signature for an mkey
 * without one.
 */
int siro_mkey_change(struct siro_mr *mkey, const struct siro_extents *staged,
		     const struct siro_mkey_conf *conf, const struct siro_mkey_sig *sig);

/** siro_mkey_clear() - forget the configuration, but not a signature error */
void siro_mkey_clear(struct siro_mr *mkey);

/* ---- Requester ---- */

/* struct siro_requester_attr.ooo, struct siro_responder_attr.ooo */
#define SIRO_OOO_CONSENT 0x1 /* data may be placed out of order */
#define SIRO_OOO_MARK 0x2 /* the peer is told so, by the marker bit of the BTH */

#define SIRO_REQUESTER_WORDS 176
struct siro_requester {
	__u64 opaque[SIRO_REQUESTER_WORDS];
};

/* Bytes of kernel memory behind each send queue entry besides its stride. */
#define SIRO_SQ_EXTRA 64

/**
 * struct siro_requester_config - what never changes in a requester's life
 * @ring: the send ring; entries are in user memory if @user, else unused (the
 *	kernel posts straight into @shadow). slots, stride and limit are valid in
 *	both cases. The header's consumer index is updated in both.
 * @shadow: slots * (stride + SIRO_SQ_EXTRA) bytes of zeroed kernel memory, 8-aligned
 * @held: SIRO_RX_WINDOW zeroed pointers to keep early responses; NULL: none are kept
 * @stamps: SIRO_RX_WINDOW zeroed __u32 to note when packets left; NULL: what is lost
 *	takes all that follows along
 * @flow: RC only: path to the peer; its contents are valid from RTR on
 * @qpn: own number
 * @pd: protection domain number
 * @cookie: stored in every CQE
 * @type: SIRO_QPT_*
 * @max_sge: of a send WQE
 * @max_inline: bytes
 * @signal_all: 1: every send WQE completes with a CQE
 * @user: 1 if the ring is written by user space
 * @sig_pipelining: 1: after a signature error in data that it moved, the queue enters
 *	SQD before the next fenced WQE, and reports SQ_DRAINED
 */
struct siro_requester_config {
	struct siro_ring ring;
	void *shadow;
	void *held;
	void *stamps;
	struct siro_flow *flow;
	__u64 cookie;
	__u32 qpn;
	__u32 pd;
	__u32 type;
	__u32 max_sge;
	__u32 max_inline;
	__u8 signal_all;
	__u8 user;
	__u8 sig_pipelining;
	__u8 reserved;
};

/**
 * struct siro_requester_attr - what modify_qp changes; set as a whole
 * @mtu: path MTU, 256 to 4096 bytes
 * @dest_qpn: RC
 * @sq_psn: first PSN; taken when the state leaves RTR for RTS
 * @max_rd_atomic: READs and atomics that may be outstanding; 0 to 128
 * @timeout: local ACK timeout: 4.096 us * 2^timeout; 0 is infinite
 * @retry_count: 0 to 7
 * @rnr_retry: 0 to 7, 7 is infinite
 * @qkey: UD
 * @sqd_event: 1: report SQ_DRAINED when the send queue has drained in SQD
 * @ooo: SIRO_OOO_*; not changed after RTR
 * @paths: RC: that WRITEs are spread over by agreement, see siro_port_path()
 */
struct siro_requester_attr {
	__u32 mtu;
	__u32 dest_qpn;
	__u32 sq_psn;
	__u32 qkey;
	__u32 max_rd_atomic;
	__u8 timeout;
	__u8 retry_count;
	__u8 rnr_retry;
	__u8 sqd_event;
	__u8 ooo;
	__u8 paths;
	__u8 reserved[2];
};

/** siro_requester_init() - construct; state RESET. No lock. */
void siro_requester_init(struct siro_requester *req, const struct siro_requester_config *config);

/**
 * siro_requester_modify() - change state and attributes
 * @state: SIRO_QPS_*. The glue has checked the transition. RESET empties the
 *	queue without completions; ERR (and SQE) flush it within @ctx->budget,
 *	SIRO_OUT_MORE asks for siro_requester_run().
 * @attr: all attributes, changed or not
 * Held: the requester's lock.
 */
void siro_requester_modify(struct siro_requester *req, struct siro_context *ctx, __u32 state,
			   const struct siro_requester_attr *attr);

/** siro_requester_state() - SIRO_QPS_* of this half. Held: its lock. */
__u32 siro_requester_state(const struct siro_requester *req);

/** siro_requester_psn() - next PSN (query_qp sq_psn). Held: its lock. */
__u32 siro_requester_psn(const struct siro_requester *req);

/** siro_requester_agreed() - 1 if the peer places out of order. Held: its lock. */
__u32 siro_requester_agreed(const struct siro_requester *req);

/** siro_requester_draining() - 1 while work is outstanding in SQD. Held: its lock. */
__u32 siro_requester_draining(const struct siro_requester *req);

/**
 * siro_requester_reserve() - where the kernel poster builds its next WQE
 * Held: the requester's lock. Kernel QPs only. Nothing is visible before
 * siro_requester_commit().
 * Return: stride bytes, header zeroed; NULL if the queue is full (-ENOMEM).
 */
struct siro_send_wqe *siro_requester_reserve(struct siro_requester *req);

/**
 * siro_requester_commit() - validate and append the reserved WQE
 * Return: 0, or -EINVAL (-22): bad opcode for the type, too many SGEs, inline
 * too long, misuse of flags. In state RESET, INIT or RTR: -EINVAL. In ERR it is
 * taken and will be flushed by siro_requester_run().
 */
int siro_requester_commit(struct siro_requester *req);

/**
 * siro_requester_run() - the doorbell: fetch, send, flush
 * Held: the requester's lock.
 */
void siro_requester_run(struct siro_requester *req, struct siro_context *ctx);

/**
 * siro_requester_receive() - take ACKs, NAKs, READ and atomic responses, then
 * send what the window allows now
 * Held: the requester's lock.
 */
void siro_requester_receive(struct siro_requester *req, struct siro_context *ctx,
			    const struct siro_batch *batch);

/**
 * siro_requester_cancel() - make posted work requests do nothing
 * @wr_id: of those that have not started; they complete in their turn
 * @count: how many more there are is added
 *
 * Held: requester. In state SQD only.
 * Return: 0, 1: call it again to look at more, -EINVAL (-22): wrong state.
 */
int siro_requester_cancel(struct siro_requester *req, __u64 wr_id, __u32 *count);

/**
 * siro_requester_discard() - forget all posted work requests, without completions
 * @port: for siro_port_mr_abandon_list()
 *
 * Held: requester. For a queue pair that is being destroyed.
 */
void siro_requester_discard(struct siro_requester *req, void *port);

/** siro_requester_timeout() - @ctx->deadline of an earlier call has come. Held: its lock. */
void siro_requester_timeout(struct siro_requester *req, struct siro_context *ctx);

/* ---- Responder ---- */

#define SIRO_RESPONDER_WORDS 208
struct siro_responder {
	__u64 opaque[SIRO_RESPONDER_WORDS];
};

/* Bytes per READ or atomic resource, see struct siro_responder_attr. */
#define SIRO_RESOURCE_BYTES 64

/**
 * struct siro_responder_config - what never changes in a responder's life
 * @held: SIRO_RX_WINDOW zeroed pointers to keep early requests; NULL: none are kept
 * @flow: RC only: path to the peer, not the requester's
 * @qpn: own number
 * @pd: protection domain number
 * @cookie: stored in every CQE
 * @type: SIRO_QPT_*
 * @srq: 1 if receives come from an SRQ
 */
struct siro_responder_config {
	void *held;
	struct siro_flow *flow;
	__u64 cookie;
	__u32 qpn;
	__u32 pd;
	__u32 type;
	__u32 srq;
};

/**
 * struct siro_responder_attr - what modify_qp changes; set as a whole
 * @resources: max_dest_rd_atomic * SIRO_RESOURCE_BYTES of zeroed kernel memory
 *	(8-aligned); must be new memory, or the same as before with the same count
 * @max_dest_rd_atomic: 0 to 128
 * @mtu: path MTU, 256 to 4096 bytes
 * @dest_qpn: RC: the peer's number, put into replies
 * @rq_psn: first expected PSN; taken when the state leaves INIT for RTR
 * @access: SIRO_ACCESS_* granted by the QP
 * @qkey: UD
 * @min_rnr_timer: 5-bit code sent in RNR NAKs
 * @ooo: SIRO_OOO_*; not changed after RTR
 * @paths: RC: that READ responses are spread over by agreement
 */
struct siro_responder_attr {
	void *resources;
	__u32 max_dest_rd_atomic;
	__u32 mtu;
	__u32 dest_qpn;
	__u32 rq_psn;
	__u32 access;
	__u32 qkey;
	__u32 min_rnr_timer;
	__u8 ooo;
	__u8 paths;
	__u8 reserved[2];
};

/** siro_responder_init() - construct; state RESET. No lock. */
void siro_responder_init(struct siro_responder *res, const struct siro_responder_config *config);

/**
 * siro_responder_modify() - change state and attributes
 * ERR flushes the receive queue within @ctx->budget; SIRO_OUT_MORE asks for
 * siro_responder_run(). Held: the responder's lock.
 */
void siro_responder_modify(struct siro_responder *res, struct siro_context *ctx, __u32 state,
			   const struct siro_responder_attr *attr);

/** siro_responder_state() - SIRO_QPS_* of this half. Held: its lock. */
__u32 siro_responder_state(const struct siro_responder *res);

/** siro_responder_psn() - next expected PSN (query_qp rq_psn). Held: its lock. */
__u32 siro_responder_psn(const struct siro_responder *res);

/** siro_responder_agreed() - 1 if the peer marks its requests. Held: its lock. */
__u32 siro_responder_agreed(const struct siro_responder *res);

/**
 * siro_responder_receive() - execute requests; one ACK for the batch
 * Held: the responder's lock.
 */
void siro_responder_receive(struct siro_responder *res, struct siro_context *ctx,
			    const struct siro_batch *batch);

/**
 * siro_responder_run() - go on with READ responses and with flushing; also the
 * doorbell of a receive queue in the error state
 * Held: the responder's lock.
 */
void siro_responder_run(struct siro_responder *res, struct siro_context *ctx);

/**
 * siro_responder_discard() - give up everything that @res holds (a receive WQE
 * in use, early packets) without a completion, before the QP is destroyed or reset
 * @port: for siro_port_release()
 * Held: the responder's lock.
 */
void siro_responder_discard(struct siro_responder *res, void *port);

SIRO_END_DECLS

#endif /* SIRO_ENGINE_H */
