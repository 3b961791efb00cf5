// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* A signature region over memory in pieces, and what travels to and from it. */
#pragma once

#include "pieces.h"
#include "signature_model.h"
#include "signature_transfer.h"

#include <random>

/* What a region is made of. */
struct signature_attributes {
	siro_sig_domain memory = {}, wire = {};
	uint64_t data_length = 0;
	uint8_t check_mask = 0xff;
	uint8_t copy_mask = 0;
	uint16_t flags = 0;
	bool interleaved = false; /* if there are fields in memory */
	uint32_t longest_piece = 0; /* 0: one piece for each list */
};

siro_sig_domain signature_domain(uint16_t format, uint32_t interval = 512);

class signature_region {
public:
	explicit signature_region(const signature_attributes &attributes, unsigned seed = 1);

	siro_signature sig = {};
	int prepared; /* siro_signature_prepare() */

	signature_model::content read();
	void write(const signature_model::content &content);

	/* Bytes of the wire. */
	host::bytes produce(uint64_t offset, uint32_t length);
	bool has_room(uint64_t offset, uint32_t length);
	sirocco::SignatureStatus place(uint64_t offset, const host::bytes &from);
	siro_sig_cursor cursor = {};

	/* Room for @count more open blocks; exactly that. */
	void spill(uint32_t count);

	static constexpr uint32_t key = 0x4711;

private:
	void allocate(siro_extents &list, std::vector<siro_extent> &extents, uint64_t length,
		      uint32_t longest, std::mt19937 &random);
	host::bytes read(const siro_extents &list);
	void write(const siro_extents &list, const host::bytes &from);

	std::vector<std::unique_ptr<uint8_t[]>> storage_;
	std::vector<siro_extent> data_, metadata_;
	std::vector<siro_sig_block> spill_;
	bool interleaved_;
};

/* Bytes that no shift leaves as they are. */
host::bytes signature_noise(size_t length, unsigned seed = 1);

/* Of @whole, lengths of 1 to @longest. */
std::vector<std::pair<uint64_t, uint32_t>> signature_packets(uint64_t whole, uint32_t longest,
							     std::mt19937 &random);

void expect_error(siro_signature &sig, const siro_sig_error &want);
void expect_no_error(siro_signature &sig);
