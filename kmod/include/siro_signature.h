/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Signature regions: blocks of data with an integrity field each, in memory, on
 * the wire, or in both. The field is made, checked, dropped or passed on while
 * the data moves. T10-DIF fields are tuples of a guard, an application tag and a
 * reference tag; the others are a CRC. All are big-endian.
 */
#ifndef SIRO_SIGNATURE_H
#define SIRO_SIGNATURE_H

#include "siro_engine.h"

SIRO_BEGIN_DECLS

#define SIRO_MR_SIGNATURE 4 /* struct siro_mr.layout: has a struct siro_signature */

/**
 * struct siro_sig_domain - what the blocks of one side look like
 * @seed: initial value of the guard
 * @interval: data bytes of a block, a multiple of 8 up to SIRO_SIG_MAX_INTERVAL
 * @ref_tag: of block 0
 * @app_tag: of all blocks
 * @app_mask: bits of the application tag that are checked
 * @format: SIRO_SIG_NONE to SIRO_SIG_CRC64
 * @flags: SIRO_SIG_REF_REMAP and so on
 */
struct siro_sig_domain {
	__u64 seed;
	__u32 interval;
	__u32 ref_tag;
	__u16 app_tag;
	__u16 app_mask;
	__u16 format;
	__u16 flags;
};

#define SIRO_SIG_MAX_INTERVAL 65528u
#define SIRO_SIG_MAX_FIELD 8u

/**
 * struct siro_sig_error - the first bad field since registration
 * @expected: the value that was found in the field
 * @actual: the value that the device computed
 * @offset: of the block, in a stream of blocks with their fields
 * @key: of the region at that time
 * @type: SIRO_SIG_BAD_*
 * @domain: where the field was
 */
struct siro_sig_error {
	__u64 expected;
	__u64 actual;
	__u64 offset;
	__u32 key;
	__u16 type;
	__u16 domain;
};

/**
 * struct siro_sig_latch - holds one error until it is asked for
 * @error: valid if @state says so
 * @state: of the engine; atomic, for several queue pairs may use one region
 */
struct siro_sig_latch {
	struct siro_sig_error error;
	__u32 state;
	__u32 reserved;
};

/**
 * struct siro_sig_sum - a guard in the making
 * @run: state after the latest pieces, which lie together
 * @others: what all other pieces add
 */
struct siro_sig_sum {
	__u64 run;
	__u64 others;
};

/**
 * struct siro_sig_block - a block that was seen in part; of the engine
 * @index: number of the block
 * @input: guard as the input's domain computes it
 * @output: guard as the output's domain computes it
 * @field: of the input
 * @missing: bytes that have not come
 * @begin: where the run of the sums begins
 * @end: where it ends
 * @track: which blocks, if those of the domains differ
 * @below: if it is open for reception, places of two others, from 1 on; 0: none
 */
struct siro_sig_block {
	__u64 index;
	struct siro_sig_sum input;
	struct siro_sig_sum output;
	__u8 field[SIRO_SIG_MAX_FIELD];
	__u32 missing;
	__u16 begin;
	__u16 end;
	__u16 track;
	__u16 below[2];
	__u16 reserved;
};

#define SIRO_SIG_OWN_BLOCKS 2
#define SIRO_SIG_MOST_SPILL 65000u /* places fit 16 bits */

/**
 * struct siro_sig_blocks - the blocks that are open for reception
 * @own: enough for transfers in order
 * @spill: more of them, memory of the owner. To enlarge it, copy it.
 * @spill_count: blocks at @spill, at most SIRO_SIG_MOST_SPILL
 * @count: open ones, in @own first
 */
struct siro_sig_blocks {
	struct siro_sig_block own[SIRO_SIG_OWN_BLOCKS];
	struct siro_sig_block *spill;
	__u32 spill_count;
	__u32 count;
};

/**
 * struct siro_sig_cursor - where a transmission goes on
 *
 * One for each stream of packets that leave in order; zero it when a message
 * begins. Packets that do not follow the last one are right too, but then the
 * engine reads the beginning of their block again.
 */
struct siro_sig_cursor {
	__u64 next;
	__u32 key;
	__u32 generation;
	__u32 live;
	__u32 reserved;
	struct siro_sig_block blocks[2];
};

/* struct siro_signature.flags */
#define SIRO_SIG_COPY_MASK 0x1 /* @copy_mask is given, else it follows from the domains */
#define SIRO_SIG_POISON 0x2 /* a guard that is made anew is as wrong as that of the input */
#define SIRO_SIG_USER 0x4 /* stricter rules: a side has fields, seeds are all zeros or ones */
#define SIRO_SIG_KERNEL_LISTS 0x8 /* pieces are kernel memory; else each is of the region of its key */

/**
 * struct siro_signature - attributes and state of a signature region
 * @memory: blocks in memory
 * @wire: blocks on the wire. Addresses of the region count its bytes.
 * @data: the bytes in memory, with the fields of @memory in between if @metadata
 *	is empty
 * @metadata: the fields of @memory, one after the other; not used without
 * @data_length: (out) bytes of data
 * @wire_length: (out) bytes on the wire: what an access is checked against
 * @key: of the region
 * @generation: (out) changes with each configuration, which the key need not
 * @check_mask: bytes of an input's field that are checked, the first in bit 7
 * @copy_mask: bytes of an output's field that are the input's
 * @flags: SIRO_SIG_COPY_MASK and so on
 * @latch: first error
 * @blocks: open blocks; used between siro_port_signature_lock() and unlock
 */
struct siro_signature {
	struct siro_sig_domain memory;
	struct siro_sig_domain wire;
	struct siro_extents data;
	struct siro_extents metadata;
	__u64 data_length;
	__u64 wire_length;
	__u32 key;
	__u32 generation;
	__u8 check_mask;
	__u8 copy_mask;
	__u16 flags;
	__u32 reserved;
	struct siro_sig_latch latch;
	struct siro_sig_blocks blocks;
};

/**
 * siro_signature_prepare() - check and complete a configuration, forget the state
 * @signature: filled in but for what is marked (out); lists are finished
 *
 * For a registration, before the region becomes valid.
 * Return: 0, -EINVAL (-22): the domains contradict each other or the lists.
 */
int siro_signature_prepare(struct siro_signature *signature);

/**
 * siro_signature_check() - report the latched error, forget it
 * @key: current key of the region. An error of another key is reported as a bad
 *	guard at offset 0.
 * @error: (out) valid if there is one
 *
 * Context: any, no lock.
 * Return: 1 if there was an error, else 0.
 */
int siro_signature_check(struct siro_signature *signature, __u32 key,
			 struct siro_sig_error *error);

/* struct siro_sig_injection.side */
#define SIRO_SIG_SENT 0 /* what leaves, before the packet is built */
#define SIRO_SIG_RECEIVED 1 /* what has come, after the packet was found to be good */

/* struct siro_sig_injection.target */
#define SIRO_SIG_GUARD 0
#define SIRO_SIG_APP 1
#define SIRO_SIG_REF 2
#define SIRO_SIG_DATA 3 /* the first bytes of the block */

/**
 * struct siro_sig_injection - a fault for the next blocks on the wire
 * @mask: bits to be turned over, as a number in big endian; what it has too many
 *	for the target is ignored
 * @block: number in its region
 * @side: SIRO_SIG_SENT or SIRO_SIG_RECEIVED
 * @target: SIRO_SIG_GUARD and so on
 * @count: how many times; atomic
 */
struct siro_sig_injection {
	__u64 mask;
	__u64 block;
	__u32 side;
	__u32 target;
	__u32 count;
	__u32 reserved;
};

/*
 * Port functions, see siro_port.h. @signature is of a region that the caller has
 * pinned.
 */

/**
 * siro_port_signature_lock() - begin a use of @signature->blocks
 *
 * Never while another one is locked. Nothing waits in between.
 */
void siro_port_signature_lock(void *port, struct siro_signature *signature);

/** siro_port_signature_unlock() - end of it */
void siro_port_signature_unlock(void *port, struct siro_signature *signature);

/**
 * siro_port_signature_grow() - more room for open blocks
 *
 * Enlarges @signature->blocks.spill and keeps what is in it. The caller holds the
 * lock.
 * Return: 0, -ENOMEM (-12): there is no memory, or no more is allowed.
 */
int siro_port_signature_grow(void *port, struct siro_signature *signature);

/**
 * siro_port_signature_error() - a field was found to be bad
 * @latched: 1: it is the first one, the latch holds it now
 *
 * The caller may hold the lock.
 */
void siro_port_signature_error(void *port, struct siro_signature *signature,
			       const struct siro_sig_error *error, __u32 latched);

/**
 * siro_port_signature_injection() - the fault to inject into transfers of this queue
 * pair
 *
 * Valid until the end of the engine call.
 * Return: NULL if there is none, as almost always.
 */
struct siro_sig_injection *siro_port_signature_injection(void *port);

/**
 * siro_port_crc_t10() - CRC-16/T10-DIF (polynomial 0x8bb7, not reflected)
 * @crc: state so far
 */
__u16 siro_port_crc_t10(__u16 crc, const void *data, __u64 length);

/**
 * siro_port_crc32c() - CRC-32C (polynomial 0x82f63b78, reflected), not inverted
 * @crc: state so far
 */
__u32 siro_port_crc32c(__u32 crc, const void *data, __u64 length);

SIRO_END_DECLS

#endif /* SIRO_SIGNATURE_H */
