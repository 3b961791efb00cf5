// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "model.h"

#include <stdbool.h>
#include <string.h>

#include <infiniband/siroccodv.h>

static uint64_t reflected_crc(uint64_t polynomial, uint64_t crc,
			      const uint8_t *data, uint32_t length)
{
	uint32_t i, bit;

	for (i = 0; i < length; i++) {
		crc ^= data[i];
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? polynomial : 0);
	}
	return ~crc;
}

static uint16_t t10_crc(uint16_t crc, const uint8_t *data, uint32_t length)
{
	uint32_t i, bit;

	for (i = 0; i < length; i++) {
		crc ^= data[i] << 8;
		for (bit = 0; bit < 8; bit++)
			crc = crc << 1 ^ (crc & 0x8000 ? 0x8bb7 : 0);
	}
	return crc;
}

static uint16_t checksum(uint32_t sum, const uint8_t *data, uint32_t length)
{
	uint32_t i;

	for (i = 0; i < length; i += 2) {
		sum += data[i] << 8 | data[i + 1];
		sum = (sum & 0xffff) + (sum >> 16);
	}
	return ~sum;
}

uint32_t field_bytes(enum format format)
{
	static const uint32_t bytes[] = { 0, 8, 8, 4, 4, 8 };

	return bytes[format];
}

uint32_t stream_length(const struct side *side, uint32_t length)
{
	if (side->format == NONE)
		return length;
	return length + length / side->block * field_bytes(side->format);
}

uint64_t guard_of(const struct side *side, const uint8_t *data)
{
	const uint32_t length = side->block;

	switch (side->format) {
	case T10_CRC:
		return t10_crc(side->seed, data, length);
	case T10_CSUM:
		return checksum(side->seed, data, length);
	case CRC32:
		return (uint32_t)reflected_crc(0xedb88320, side->seed, data,
					       length);
	case CRC32C:
		return (uint32_t)reflected_crc(0x82f63b78, side->seed, data,
					       length);
	default:
		return reflected_crc(0x9a6c9329ac4bc9b5, side->seed, data,
				     length);
	}
}

static void put_big(uint8_t *to, uint64_t value, uint32_t bytes)
{
	uint32_t i;

	for (i = 0; i < bytes; i++)
		to[i] = value >> 8 * (bytes - 1 - i);
}

void make_field(const struct side *side, uint32_t block, const uint8_t *data,
		uint8_t *field)
{
	const bool tuple = side->format == T10_CRC || side->format == T10_CSUM;
	const bool remap = side->flags & SIROCCODV_SIG_T10DIF_FLAG_REF_REMAP;

	put_big(field, guard_of(side, data),
		tuple ? 2 : field_bytes(side->format));
	if (!tuple)
		return;
	put_big(field + 2, side->app, 2);
	put_big(field + 4, side->ref + (remap ? block : 0), 4);
}

void make_stream(const struct side *side, const uint8_t *data, uint32_t length,
		 uint8_t *stream)
{
	const uint32_t field = field_bytes(side->format);
	uint32_t i;

	if (side->format == NONE) {
		memcpy(stream, data, length);
		return;
	}
	for (i = 0; i < length / side->block; i++) {
		memcpy(stream, data + i * side->block, side->block);
		make_field(side, i, data + i * side->block,
			   stream + side->block);
		stream += side->block + field;
	}
}
