// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Copies of packets that came before their turn. */
#include <linux/log2.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "siro.h"

/* Of all queue pairs of a device. */
#define SIRO_HELD_LIMIT SZ_64M

struct siro_held {
	struct siro_packet packet;
	struct siro_frag frag;
	u8 data[];
};

/* What it takes of memory, or tiny packets would take much more than the limit. */
static u32 siro_held_size(const struct siro_packet *packet)
{
	return roundup_pow_of_two(sizeof(struct siro_held) + packet->length);
}

static void siro_held_copy(u8 *to, const struct siro_packet *packet)
{
	const struct siro_frag *frag = packet->frags;
	u32 offset = packet->offset;
	u32 left = packet->length;
	u32 n;

	for (; left; left -= n, to += n, frag++, offset = 0) {
		n = min(frag->length - offset, left);
		memcpy(to, frag->data + offset, n);
	}
}

struct siro_packet *siro_port_hold(void *port, const struct siro_packet *packet)
{
	struct siro_dev *dev = ((struct siro_qp *)port)->dev;
	struct siro_held *held;

	if (atomic_add_return(siro_held_size(packet), &dev->held_bytes) > SIRO_HELD_LIMIT)
		goto uncharge;
	/* A convenience: it leaves the reserves to others. */
	held = kmalloc(struct_size(held, data, packet->length), GFP_NOWAIT | __GFP_NOWARN);
	if (!held)
		goto uncharge;

	siro_held_copy(held->data, packet);
	held->packet = *packet;
	held->packet.frags = &held->frag;
	held->packet.offset = 0;
	held->frag.data = held->data;
	held->frag.length = packet->length;
	return &held->packet;

uncharge:
	atomic_sub(siro_held_size(packet), &dev->held_bytes);
	return NULL;
}

void siro_port_release(void *port, struct siro_packet *packet)
{
	struct siro_dev *dev = ((struct siro_qp *)port)->dev;

	atomic_sub(siro_held_size(packet), &dev->held_bytes);
	kfree(container_of(packet, struct siro_held, packet));
}
