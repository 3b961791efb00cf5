/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Keys with signatures, and streams of blocks through them. */
#ifndef SIGNER_H
#define SIGNER_H

#include "layout.h"
#include "model.h"

#define ALL_BYTES 0xff
#define LONGEST (256u << 10) /* bytes of a stream */

/**
 * struct signer - a key with a signature
 * @data: what its blocks hold, without fields
 * @length: of that
 * @l: where the bytes of memory's stream are
 */
struct signer {
	struct end *end;
	struct siroccodv_mkey *mkey;
	struct side memory;
	struct side wire;
	uint8_t check_mask;
	uint8_t *data;
	uint32_t length;
	struct layout *l;
};

extern const struct side no_fields;
/* A side of that format with other values than the defaults. */
struct side side_of(enum format format, uint32_t block);

/* The attributes that a setter takes; they stay until the next call. */
const struct siroccodv_sig_block_attr *sig_attr(const struct side *memory,
						const struct side *wire,
						uint8_t check_mask);

/* @blocks: of the larger block size; @pieces of memory */
struct signer new_signer(struct end *e, struct side memory, struct side wire,
			 uint32_t blocks, uint32_t pieces, enum way way);
void configure_signer(struct signer *s, enum way way);
uint32_t wire_length(const struct signer *s);

/* Blocks of new data, with good fields, in the signer's memory. */
void fill_memory(struct signer *s);
/* The same in the other end's plain memory, as they are on the wire. */
void fill_wire(struct signer *s);
/* One byte of them, changed. */
void spoil_memory(struct signer *s, uint32_t offset, uint8_t bits);
void spoil_wire(struct signer *s, uint32_t offset, uint8_t bits);

/* Data moves out of the signer's memory, or in. */
enum ibv_wc_status send_out(struct signer *s, enum ibv_wr_opcode opcode);
enum ibv_wc_status take_in(struct signer *s, enum ibv_wr_opcode opcode);
/* What is where then, if all fields were good. */
void expect_on_wire(struct signer *s);
void expect_in_memory(struct signer *s);

void expect_no_error(const struct signer *s);
void expect_error(const struct signer *s, struct siroccodv_sig_err want,
		  uint32_t type);

#endif /* SIGNER_H */
