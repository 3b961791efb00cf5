/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef PACKET_VECTOR_H
#define PACKET_VECTOR_H

#include <linux/types.h>

struct packet_vector {
	const char *name;
	u8 family;
	u8 opcode;
	u8 header;
	u16 payload;
	u16 ip_id;
	u16 length;
	u32 psn;
	u32 qpn;
	u8 ip[40];
	u8 udp[8];
	const u8 *data;
};

#include "packet_vectors.h"

#endif /* PACKET_VECTOR_H */
