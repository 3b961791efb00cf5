// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "signature_track.h"

#include "signature_guard.h"
#include "signature_latch.h"

namespace sirocco {

Track::Track(u32 number, const siro_signature &signature, const siro_sig_domain *input,
	     const siro_sig_domain *output)
	: input_(input), output_(output), interval_(input ? input->interval : output->interval),
	  number_(number), check_mask_(signature.check_mask),
	  copy_mask_(input && output ? signature.copy_mask : u8{0}),
	  poisons_(input && output && signature.flags & SIRO_SIG_POISON)
{
	if (input) {
		sums_input_ = check_mask_ & first_bytes(guard_bytes(input->format));
		checked_bits_ = Field(*input).checked_bits(check_mask_);
	}
	if (output) {
		sums_output_ = first_bytes(guard_bytes(output->format)) & ~copy_mask_;
		copies_all_ = !(first_bytes(field_bytes(output->format)) & ~copy_mask_);
	}
}

void Track::begin(siro_sig_block &block, u64 index) const
{
	block.index = index;
	block.track = static_cast<u16>(number_);
	block.begin = block.end = 0;
	block.missing = stride();
	if (sums_input_)
		block.input = Guard(*input_).begin();
	if (sums_output_)
		block.output = Guard(*output_).begin();
}

void Track::add(siro_sig_block &block, u32 offset, const u8 *data, u32 length) const
{
	if (sums_input_)
		Guard(*input_).add(block.input, block.end, offset, data, length);
	if (sums_output_)
		Guard(*output_).add(block.output, block.end, offset, data, length);
	if (offset != block.end)
		block.begin = static_cast<u16>(offset);
	block.end = static_cast<u16>(offset + length);
}

u64 Track::input_guard(const siro_sig_block &block) const
{
	return sums_input_ ? Guard(*input_).finish(block.input, block.end) : 0;
}

u64 Track::output_guard(const siro_sig_block &block) const
{
	return sums_output_ ? Guard(*output_).finish(block.output, block.end) : 0;
}

bool Track::is_escaped(const siro_sig_block &block) const
{
	return Field(*input_).is_escaped(block.field);
}

bool Track::check(const siro_sig_block &block, siro_sig_error &error) const
{
	u64 guard = input_guard(block);

	if (Field(*input_).is_as_made(block.index, block.field, guard, checked_bits_))
		return true;
	return Field(*input_).check(block.index, block.field, guard, check_mask_, error);
}

void Track::make(const siro_sig_block &block, u8 *field) const
{
	if (copies_all_) {
		copy_field(field, block.field, field_bytes(output_->format));
		return;
	}

	u64 guard = output_guard(block);

	if (poisons_)
		guard ^= Field(*input_).guard_difference(block.field, input_guard(block),
							 check_mask_);
	Field(*output_).make(block.index, guard, field);
	for (u32 i = 0; i < field_bytes(output_->format); i++)
		if (copy_mask_ & (0x80 >> i))
			field[i] = block.field[i];
}

Tracks::Tracks(const siro_signature &signature, u32 input_domain, siro_context *ctx)
	: input_domain_(static_cast<u16>(input_domain)), ctx_(ctx)
{
	bool from_memory = input_domain == SIRO_SIG_IN_MEMORY;
	const siro_sig_domain *input = from_memory ? &signature.memory : &signature.wire;
	const siro_sig_domain *output = from_memory ? &signature.wire : &signature.memory;

	if (input->format == SIRO_SIG_NONE)
		input = nullptr;
	if (output->format == SIRO_SIG_NONE)
		output = nullptr;
	if (output)
		operation_ = input ? SIRO_CNT_SIG_PASSED : SIRO_CNT_SIG_INSERTED;
	else
		operation_ = SIRO_CNT_SIG_STRIPPED;
	if (input && output && input->interval != output->interval) {
		tracks_[count_++] = Track(0, signature, input, nullptr);
		tracks_[count_++] = Track(1, signature, nullptr, output);
	} else if (input || output) {
		tracks_[count_++] = Track(0, signature, input, output);
	}
}

void Tracks::count(u32 counter) const
{
	if (ctx_)
		ctx_->counters[counter]++;
}

bool Tracks::is_checked(const Track &track, const siro_sig_block &block) const
{
	if (!track.input() || !track.has_checks())
		return false;
	if (!track.is_escaped(block))
		return true;
	count(SIRO_CNT_SIG_ESCAPED);
	return false;
}

void Tracks::report(const siro_sig_error &error, siro_signature &signature) const
{
	bool latched = SignatureLatch(signature.latch).put(error);

	switch (error.type) {
	case SIRO_SIG_BAD_GUARD:
		count(SIRO_CNT_SIG_GUARD_ERRORS);
		break;
	case SIRO_SIG_BAD_APPTAG:
		count(SIRO_CNT_SIG_APP_ERRORS);
		break;
	default:
		count(SIRO_CNT_SIG_REF_ERRORS);
	}
	if (ctx_) {
		ctx_->outcome |= SIRO_OUT_SIG_ERROR;
		siro_port_signature_error(ctx_->port, &signature, &error, latched);
	}
}

void Tracks::finish(const Track &track, const siro_sig_block &block,
		    siro_signature &signature) const
{
	siro_sig_error error = {};

	/* Of two tracks that of the output counts the operation. */
	if (&track == end() - 1)
		count(operation_);
	if (!is_checked(track, block))
		return;
	count(SIRO_CNT_SIG_CHECKED);
	if (track.check(block, error))
		return;
	error.key = signature.key;
	error.domain = input_domain_;
	report(error, signature);
}

} // namespace sirocco
