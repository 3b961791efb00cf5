// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "mkey.h"

#include "mkey_signature.h"
#include "signature_latch.h"

namespace sirocco {

namespace {

constexpr u32 entries_at_once = 16;

constexpr u32 rows(const siro_mkey_conf &conf)
{
	return conf.set & SIRO_MKEY_INTERLEAVED ? conf.repeat : 1;
}

bool add_entries(siro_extents &list, const siro_mkey_conf &conf, const u8 *from, u32 count)
{
	for (u32 i = 0; i < count; i++, from += mkey_entry_bytes(conf)) {
		int ret;

		if (conf.set & SIRO_MKEY_INTERLEAVED) {
			auto e = load<siro_mkey_piece>(from);

			ret = e.reserved
				      ? einval
				      : siro_extents_add(&list, e.addr, e.length, e.skip, e.lkey);
		} else {
			auto e = load<siro_sge>(from);

			ret = siro_extents_add(&list, e.addr, e.length, 0, e.lkey);
		}
		if (ret)
			return false;
	}
	return true;
}

/* Each byte of the table is read once. */
bool add_table(siro_extents &list, Regions &regions, const siro_send_wqe &wqe)
{
	u8 entries[entries_at_once * sizeof(siro_mkey_piece)];
	u32 entry_bytes = mkey_entry_bytes(wqe.mkey);
	siro_sge table{wqe.mkey.table, wqe.mkey.count * entry_bytes, wqe.imm};

	for (u32 done = 0; done < wqe.mkey.count;) {
		u32 n = min(wqe.mkey.count - done, entries_at_once);

		if (!SgeList(&table, 1).gather(regions, u64{done} * entry_bytes, entries,
					       n * entry_bytes) ||
		    !add_entries(list, wqe.mkey, entries, n))
			return false;
		done += n;
	}
	return true;
}

bool stage(siro_extents &list, Regions &regions, const siro_send_wqe &wqe, const u8 *tail)
{
	const siro_mkey_conf &conf = wqe.mkey;
	const u8 *entries = tail + mkey_sig_bytes(conf);
	bool added = conf.set & SIRO_MKEY_TABLE ? add_table(list, regions, wqe)
						: add_entries(list, conf, entries, conf.count);

	return added && !siro_extents_finish(&list, rows(conf));
}

bool sets_signature(const siro_mkey_conf &conf)
{
	return conf.set & (SIRO_MKEY_SIGNATURE | SIRO_MKEY_RESET_SIGNATURE);
}

void change_signature(siro_signature &signature, const siro_mkey_conf &conf,
		      const siro_mkey_sig *sig)
{
	if (conf.set & SIRO_MKEY_RESET_SIGNATURE)
		reset_attributes(signature);
	if (conf.set & SIRO_MKEY_SIGNATURE)
		set_attributes(signature, *sig);
	SignatureLatch(signature.latch).reset();
}

/* Bytes behind the key; 0 if the pieces are not whole blocks. */
u64 length_of(const siro_mr &mkey)
{
	if (mkey.layout == SIRO_MR_SIGNATURE)
		return siro_signature_prepare(mkey.signature) ? 0 : mkey.signature->wire_length;
	return mkey.extents.row_length * mkey.extents.repeat;
}

} // namespace

bool is_valid_mkey_conf(const siro_mkey_conf &conf)
{
	constexpr u32 rights = SIRO_ACCESS_LOCAL_WRITE | SIRO_ACCESS_REMOTE_WRITE |
			       SIRO_ACCESS_REMOTE_READ | SIRO_ACCESS_REMOTE_ATOMIC;
	constexpr u32 both = SIRO_MKEY_LIST | SIRO_MKEY_INTERLEAVED;

	if ((conf.set & ~SIRO_MKEY_MASK) || (conf.set & both) == both)
		return false;
	if (!sets_layout(conf) && ((conf.set & SIRO_MKEY_TABLE) || conf.count))
		return false;
	if (!(conf.set & SIRO_MKEY_INTERLEAVED) && conf.repeat)
		return false;
	if (!(conf.set & SIRO_MKEY_ACCESS) && conf.access)
		return false;
	if (!(conf.set & SIRO_MKEY_IOVA) && conf.iova)
		return false;
	/* What a peer may change, the owner must be allowed to change (IBTA 10.6.3.1). */
	if ((conf.access & (SIRO_ACCESS_REMOTE_WRITE | SIRO_ACCESS_REMOTE_ATOMIC)) &&
	    !(conf.access & SIRO_ACCESS_LOCAL_WRITE))
		return false;
	return conf.count <= SIRO_MKEY_MAX_ENTRIES && !(conf.access & ~rights);
}

int configure_mkey(void *port, Regions &regions, u32 pd, const siro_send_wqe &wqe, const u8 *tail)
{
	siro_extents *staged;
	siro_mr *mkey = siro_port_mkey_begin(port, wqe.rkey, pd, &staged);

	if (!mkey)
		return einval;

	siro_mkey_sig sig{};

	if (wqe.mkey.set & SIRO_MKEY_SIGNATURE)
		sig = load<siro_mkey_sig>(tail);

	bool good = (!(wqe.mkey.set & SIRO_MKEY_SIGNATURE) || is_valid_mkey_sig(sig)) &&
		    (!sets_layout(wqe.mkey) || stage(*staged, regions, wqe, tail));

	regions.release();
	if (!good) {
		siro_port_mkey_end(port, mkey, nullptr, nullptr);
		return einval;
	}
	return siro_port_mkey_end(port, mkey, &wqe.mkey, &sig);
}

} // namespace sirocco

using namespace sirocco;

extern "C" int siro_mkey_stage(siro_extents *staged, const siro_mkey_conf *conf,
			       const siro_mkey_sig *sig, const void *entries)
{
	if (!is_valid_mkey_conf(*conf) || (conf->set & SIRO_MKEY_TABLE))
		return einval;
	if (conf->set & SIRO_MKEY_SIGNATURE && !is_valid_mkey_sig(*sig))
		return einval;
	if (!sets_layout(*conf))
		return 0;
	return add_entries(*staged, *conf, static_cast<const u8 *>(entries), conf->count) &&
			       !siro_extents_finish(staged, rows(*conf))
		       ? 0
		       : einval;
}

extern "C" int siro_mkey_change(siro_mr *mkey, const siro_extents *staged,
				const siro_mkey_conf *conf, const siro_mkey_sig *sig)
{
	u64 end;

	if (sets_signature(*conf) && !mkey->signature)
		return einval;
	if (sets_layout(*conf)) {
		mkey->extents = *staged;
		mkey->iova = 0;
	}
	if (conf->set & SIRO_MKEY_IOVA)
		mkey->iova = conf->iova;
	if (conf->set & SIRO_MKEY_ACCESS)
		mkey->access = conf->access;
	mkey->layout = SIRO_MR_INDIRECT;
	if (siro_signature *s = mkey->signature) {
		change_signature(*s, *conf, sig);
		s->key = mkey->key;
		s->data = mkey->extents;
		if (has_attributes(*s))
			mkey->layout = SIRO_MR_SIGNATURE;
	}
	mkey->length = length_of(*mkey);
	return __builtin_add_overflow(mkey->iova, mkey->length, &end) ? einval : 0;
}

extern "C" void siro_mkey_clear(siro_mr *mkey)
{
	mkey->iova = 0;
	mkey->length = 0;
	mkey->access = 0;
	mkey->layout = SIRO_MR_INDIRECT;
	siro_extents_reset(&mkey->extents, 0);
	if (mkey->signature)
		reset_attributes(*mkey->signature);
}
