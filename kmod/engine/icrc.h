// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The invariant CRC of RoCEv2 (IBTA A17.3.3): CRC-32 over the packet with the
 * fields that routers may change replaced by ones.
 */
#pragma once

#include "base/base.h"

#include "siro_engine.h"

namespace sirocco::icrc {

/*
 * State after the IP and UDP headers of a packet whose BTH to ICRC are
 * @length bytes.
 */
u32 after_headers(const siro_flow &flow, u16 ip_id, u32 length);
u32 after_headers(u32 family, const u8 *ip_header, const u8 *udp_header, u16 ip_id, u32 length);

/* Goes on over the BTH, whose congestion bits are masked. */
u32 after_bth(u32 state, const u8 *bth);

/* Writes the ICRC over packet[0 .. length - 5] to the last four bytes. */
void seal(u8 *packet, u32 length, const siro_flow &flow, u16 ip_id);

/* As it is on the wire when read in little endian. */
constexpr u32 finish(u32 state)
{
	return ~state;
}

} // namespace sirocco::icrc
