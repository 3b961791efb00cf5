// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Configuration of mkeys: keys for lists of pieces that user space makes up itself. */
#pragma once

#include "base/base.h"

#include "regions.h"
#include "siro_port.h"

namespace sirocco {

constexpr bool sets_layout(const siro_mkey_conf &conf)
{
	return conf.set & (SIRO_MKEY_LIST | SIRO_MKEY_INTERLEAVED);
}

constexpr u32 mkey_entry_bytes(const siro_mkey_conf &conf)
{
	return conf.set & SIRO_MKEY_INTERLEAVED ? sizeof(siro_mkey_piece) : sizeof(siro_sge);
}

/* Bytes of the signature that follows the WQE. */
constexpr u32 mkey_sig_bytes(const siro_mkey_conf &conf)
{
	return conf.set & SIRO_MKEY_SIGNATURE ? sizeof(siro_mkey_sig) : 0;
}

/* The same with the entries behind it. */
constexpr u32 mkey_tail_bytes(const siro_mkey_conf &conf)
{
	if (!sets_layout(conf) || (conf.set & SIRO_MKEY_TABLE))
		return mkey_sig_bytes(conf);
	return mkey_sig_bytes(conf) + conf.count * mkey_entry_bytes(conf);
}

/* All that can be said without the entries and the key. */
bool is_valid_mkey_conf(const siro_mkey_conf &conf);

/* Executes a configuration; @tail: what follows the WQE. 0 or -EINVAL. */
int configure_mkey(void *port, Regions &regions, u32 pd, const siro_send_wqe &wqe, const u8 *tail);

} // namespace sirocco
