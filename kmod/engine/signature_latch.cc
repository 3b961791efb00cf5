// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "signature_latch.h"

namespace sirocco {

bool SignatureLatch::put(const siro_sig_error &error)
{
	u32 expected = empty;

	if (!__atomic_compare_exchange_n(&latch_.state, &expected, u32{filling}, false,
					 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return false;
	latch_.error = error;
	store_release(latch_.state, full);
	return true;
}

bool SignatureLatch::take(siro_sig_error &error)
{
	if (load_acquire(latch_.state) != full)
		return false;
	error = latch_.error;
	store_release(latch_.state, empty);
	return true;
}

void SignatureLatch::reset()
{
	store_release(latch_.state, empty);
}

} // namespace sirocco

using namespace sirocco;

extern "C" int siro_signature_check(siro_signature *signature, __u32 key, siro_sig_error *error)
{
	if (!SignatureLatch(signature->latch).take(*error))
		return 0;
	if (error->key != key) {
		*error = {};
		error->key = key;
		error->type = SIRO_SIG_BAD_GUARD;
	}
	return 1;
}
