/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What blocks and their fields ought to be, computed bit by bit. */
#ifndef MODEL_H
#define MODEL_H

#include <stdint.h>

enum format { NONE, T10_CRC, T10_CSUM, CRC32, CRC32C, CRC64, FORMATS };

/**
 * struct side - blocks in memory or on the wire
 * @seed: of the guard; all ones if not 0
 * @flags: enum siroccodv_sig_t10dif_flags
 */
struct side {
	enum format format;
	uint32_t block;
	uint64_t seed;
	uint16_t app;
	uint32_t ref;
	uint32_t flags;
};

uint32_t field_bytes(enum format format);
/* Bytes of @length bytes of data with their fields. */
uint32_t stream_length(const struct side *side, uint32_t length);
/* The field of a block. */
void make_field(const struct side *side, uint32_t block, const uint8_t *data,
		uint8_t *field);
void make_stream(const struct side *side, const uint8_t *data, uint32_t length,
		 uint8_t *stream);
/* As a number, from the beginning of a field. */
uint64_t guard_of(const struct side *side, const uint8_t *data);

#endif /* MODEL_H */
