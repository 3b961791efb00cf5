// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Access to signature regions: the bytes of the wire are made and taken here. */
#include "regions.h"

#include "signature_fault.h"
#include "signature_transfer.h"

namespace sirocco {

namespace {

/* The open blocks are ours for the moment. */
class BlocksGuard {
public:
	BlocksGuard(void *port, siro_signature &signature) : port_(port), signature_(signature)
	{
		siro_port_signature_lock(port_, &signature_);
	}

	~BlocksGuard()
	{
		siro_port_signature_unlock(port_, &signature_);
	}

	BlocksGuard(const BlocksGuard &) = delete;
	BlocksGuard &operator=(const BlocksGuard &) = delete;

private:
	void *port_;
	siro_signature &signature_;
};

bool make_room(void *port, siro_signature &signature, SignatureReceiver &receiver, u64 offset,
	       u32 length)
{
	while (!receiver.has_room(offset, length))
		if (siro_port_signature_grow(port, &signature))
			return false;
	return true;
}

} // namespace

bool Regions::has_room(const siro_mr &mr, u64 va, u32 length)
{
	if (mr.layout != SIRO_MR_SIGNATURE)
		return true;

	siro_signature &signature = *mr.signature;
	SignatureMemory memory(signature, *this);
	BlocksGuard guard(ctx_->port, signature);
	SignatureReceiver receiver(signature, memory, ctx_);

	return make_room(ctx_->port, signature, receiver, va - mr.iova, length);
}

bool Regions::send_blocks(const siro_mr &mr, u64 va, u8 *to, u32 length)
{
	siro_signature &signature = *mr.signature;
	SignatureMemory memory(signature, *this);
	SignatureSender sender(signature, memory, *cursor_, ctx_);
	SignatureFault fault(ctx_->port, signature, SIRO_SIG_SENT);
	u64 offset = va - mr.iova;

	if (sender.produce(offset, to, length) != SignatureStatus::done)
		return false;

	SignatureFault::Hit hit = fault.hit(offset, length);

	fault.spoil(offset + hit.begin, to + hit.begin, hit.length);
	return true;
}

bool Regions::receive_blocks(const siro_mr &mr, u64 va, const u8 *from, u32 length)
{
	siro_signature &signature = *mr.signature;
	SignatureMemory memory(signature, *this);
	SignatureFault fault(ctx_->port, signature, SIRO_SIG_RECEIVED);
	BlocksGuard guard(ctx_->port, signature);
	SignatureReceiver receiver(signature, memory, ctx_);
	u64 offset = va - mr.iova;
	auto place = [&](const u8 *bytes, u32 count) {
		u64 here = offset;

		offset += count;
		/* Room that has_room() found may have gone to another queue pair. */
		return make_room(ctx_->port, signature, receiver, here, count) &&
		       receiver.place(here, bytes, count) == SignatureStatus::done;
	};
	SignatureFault::Hit hit = fault.hit(offset, length);

	if (!hit.length)
		return place(from, length);

	u8 spoiled[SIRO_SIG_MAX_FIELD];
	u32 rest = hit.begin + hit.length;

	memory_copy(spoiled, from + hit.begin, hit.length);
	fault.spoil(offset + hit.begin, spoiled, hit.length);
	return place(from, hit.begin) && place(spoiled, hit.length) &&
	       place(from + rest, length - rest);
}

} // namespace sirocco
