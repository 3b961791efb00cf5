// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What a transfer does with blocks of one size. */
#pragma once

#include "base/base.h"

#include "signature_field.h"

namespace sirocco {

/*
 * Guards are computed over the data of a block, the field of the input is checked,
 * that of the output is made. All that happens in siro_sig_block, which knows nothing
 * of where the bytes come from.
 */
class Track {
public:
	Track() = default;
	Track(u32 number, const siro_signature &signature, const siro_sig_domain *input,
	      const siro_sig_domain *output);

	const siro_sig_domain *input() const
	{
		return input_;
	}

	bool has_output() const
	{
		return output_;
	}

	u32 interval() const
	{
		return interval_;
	}

	/* Bytes of the input that make up a block. */
	u32 stride() const
	{
		return interval_ + (input_ ? field_bytes(input_->format) : 0);
	}

	u32 number() const
	{
		return number_;
	}

	/* A block that nothing is known of yet. */
	void begin(siro_sig_block &block, u64 index) const;

	/* Data of the block; the first byte is its byte @offset. */
	void add(siro_sig_block &block, u32 offset, const u8 *data, u32 length) const;

	/* Some of that data is in the latest run already. */
	static bool repeats(const siro_sig_block &block, u32 offset, u32 length)
	{
		return offset < block.end && block.begin < offset + length;
	}

	/* A complete block of an input that is exempt from checks. */
	bool is_escaped(const siro_sig_block &block) const;

	bool has_checks() const
	{
		return check_mask_;
	}

	/* False if the field of a complete block is wrong. */
	[[nodiscard]] bool check(const siro_sig_block &block, siro_sig_error &error) const;

	/* The output's field of a complete block. */
	void make(const siro_sig_block &block, u8 *field) const;

private:
	u64 input_guard(const siro_sig_block &block) const;
	u64 output_guard(const siro_sig_block &block) const;

	const siro_sig_domain *input_ = nullptr;
	const siro_sig_domain *output_ = nullptr;
	u32 interval_ = 0;
	u32 number_ = 0;
	u64 checked_bits_ = 0; /* of a T10 field as a number in big endian */
	u8 check_mask_ = 0;
	u8 copy_mask_ = 0;
	bool sums_input_ = false;
	bool sums_output_ = false;
	bool poisons_ = false;
	bool copies_all_ = false;
};

/* The tracks of a transfer: two if blocks in memory and on the wire differ in size. */
class Tracks {
public:
	Tracks(const siro_signature &signature, u32 input_domain, siro_context *ctx);

	const Track *begin() const
	{
		return tracks_;
	}

	const Track *end() const
	{
		return tracks_ + count_;
	}

	/* Only if the input has fields. */
	const Track &of_input() const
	{
		return tracks_[0];
	}

	/* Only if the output has fields. */
	const Track &of_output() const
	{
		return tracks_[count_ - 1];
	}

	/* Counts a block that is complete, latches and reports what is wrong with it. */
	void finish(const Track &track, const siro_sig_block &block,
		    siro_signature &signature) const;

private:
	void count(u32 counter) const;
	bool is_checked(const Track &track, const siro_sig_block &block) const;
	[[gnu::noinline]] void report(const siro_sig_error &error, siro_signature &signature) const;

	Track tracks_[2];
	u32 count_ = 0;
	u32 operation_ = 0; /* what a block is counted as */
	u16 input_domain_;
	siro_context *ctx_;
};

} // namespace sirocco
