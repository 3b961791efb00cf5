// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "signature_region.h"

#include <algorithm>
#include <gtest/gtest.h>

using host::bytes;
using namespace signature_model;

siro_sig_domain signature_domain(uint16_t format, uint32_t interval)
{
	siro_sig_domain d = {};

	d.format = format;
	d.interval = interval;
	d.app_mask = 0xffff;
	return d;
}

signature_region::signature_region(const signature_attributes &a, unsigned seed)
	: interleaved_(a.interleaved && a.memory.format)
{
	std::mt19937 random(seed);
	uint64_t fields =
		a.memory.format ? a.data_length / a.memory.interval * field_length(a.memory.format)
				: 0;

	sig.memory = a.memory;
	sig.wire = a.wire;
	sig.check_mask = a.check_mask;
	sig.copy_mask = a.copy_mask;
	sig.flags = a.flags | SIRO_SIG_KERNEL_LISTS;
	sig.key = key;
	allocate(sig.data, data_, a.data_length + (interleaved_ ? fields : 0), a.longest_piece,
		 random);
	if (fields && !interleaved_)
		allocate(sig.metadata, metadata_, fields, a.longest_piece, random);
	prepared = siro_signature_prepare(&sig);
}

/* Each piece in an allocation of its own, so that ASan sees one byte too many. */
void signature_region::allocate(siro_extents &list, std::vector<siro_extent> &extents,
				uint64_t length, uint32_t longest, std::mt19937 &random)
{
	std::vector<uint64_t> lengths;

	for (uint64_t left = length; left; left -= lengths.back())
		lengths.push_back(longest ? std::min<uint64_t>(left, 1 + random() % longest)
					  : left);
	extents.resize(lengths.size());
	list.extents = extents.data();
	list.capacity = static_cast<uint32_t>(lengths.size());
	siro_extents_reset(&list, 0);
	for (uint64_t n : lengths) {
		storage_.push_back(std::make_unique<uint8_t[]>(n));

		auto address = reinterpret_cast<uintptr_t>(storage_.back().get());

		ASSERT_EQ(siro_extents_add(&list, address, n, 0, 0), 0);
	}
	ASSERT_EQ(siro_extents_finish(&list, 1), 0);
}

bytes signature_region::read(const siro_extents &list)
{
	bytes out;

	for (uint32_t i = 0; i < list.count; i++) {
		uint64_t end = i + 1 < list.count ? list.extents[i + 1].start : list.row_length;
		auto from = reinterpret_cast<const uint8_t *>(list.extents[i].address);

		out.insert(out.end(), from, from + (end - list.extents[i].start));
	}
	return out;
}

void signature_region::write(const siro_extents &list, const bytes &from)
{
	ASSERT_EQ(from.size(), list.row_length);
	for (uint32_t i = 0; i < list.count; i++) {
		uint64_t start = list.extents[i].start;
		uint64_t end = i + 1 < list.count ? list.extents[i + 1].start : list.row_length;

		std::copy(from.begin() + static_cast<long>(start),
			  from.begin() + static_cast<long>(end),
			  reinterpret_cast<uint8_t *>(list.extents[i].address));
	}
}

content signature_region::read()
{
	if (interleaved_)
		return part(sig.memory, read(sig.data));
	return {read(sig.data), read(sig.metadata)};
}

void signature_region::write(const content &content)
{
	if (interleaved_) {
		write(sig.data, join(sig.memory, content));
		return;
	}
	write(sig.data, content.data);
	if (sig.metadata.count)
		write(sig.metadata, content.fields);
}

bytes signature_region::produce(uint64_t offset, uint32_t length)
{
	sirocco::Regions below(nullptr, 0);
	sirocco::SignatureMemory memory(sig, below);
	std::unique_ptr<uint8_t[]> exact(new uint8_t[length]);

	EXPECT_TRUE(sirocco::holds_wire_range(sig, offset, length));
	EXPECT_EQ(
		sirocco::SignatureSender(sig, memory, cursor).produce(offset, exact.get(), length),
		sirocco::SignatureStatus::done);
	return bytes(exact.get(), exact.get() + length);
}

bool signature_region::has_room(uint64_t offset, uint32_t length)
{
	sirocco::Regions below(nullptr, 0);
	sirocco::SignatureMemory memory(sig, below);

	return sirocco::SignatureReceiver(sig, memory).has_room(offset, length);
}

sirocco::SignatureStatus signature_region::place(uint64_t offset, const bytes &from)
{
	sirocco::Regions below(nullptr, 0);
	sirocco::SignatureMemory memory(sig, below);
	std::unique_ptr<uint8_t[]> exact(new uint8_t[from.size()]);

	std::copy(from.begin(), from.end(), exact.get());
	EXPECT_TRUE(sirocco::holds_wire_range(sig, offset, from.size()));
	return sirocco::SignatureReceiver(sig, memory)
		.place(offset, exact.get(), static_cast<uint32_t>(from.size()));
}

void signature_region::spill(uint32_t count)
{
	std::vector<siro_sig_block> larger(count);

	std::copy(spill_.begin(), spill_.end(), larger.begin());
	spill_ = std::move(larger);
	sig.blocks.spill = spill_.data();
	sig.blocks.spill_count = count;
}

bytes signature_noise(size_t length, unsigned seed)
{
	std::mt19937 random(seed);
	bytes out(length);

	for (uint8_t &byte : out)
		byte = static_cast<uint8_t>(random());
	return out;
}

std::vector<std::pair<uint64_t, uint32_t>> signature_packets(uint64_t whole, uint32_t longest,
							     std::mt19937 &random)
{
	std::vector<std::pair<uint64_t, uint32_t>> out;

	for (uint64_t at = 0; at < whole; at += out.back().second)
		out.emplace_back(at, std::min<uint64_t>(whole - at, 1 + random() % longest));
	return out;
}

void expect_error(siro_signature &sig, const siro_sig_error &want)
{
	siro_sig_error got = {};

	ASSERT_EQ(siro_signature_check(&sig, signature_region::key, &got), 1);
	EXPECT_EQ(got.type, want.type);
	EXPECT_EQ(got.domain, want.domain);
	EXPECT_EQ(got.expected, want.expected);
	EXPECT_EQ(got.actual, want.actual);
	EXPECT_EQ(got.offset, want.offset);
	EXPECT_EQ(got.key, signature_region::key);
}

void expect_no_error(siro_signature &sig)
{
	siro_sig_error got = {};

	EXPECT_EQ(siro_signature_check(&sig, signature_region::key, &got), 0)
		<< "type " << got.type << ", offset " << got.offset << ", expected " << got.expected
		<< ", actual " << got.actual;
}
