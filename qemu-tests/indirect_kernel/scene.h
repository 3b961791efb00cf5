/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the scenarios of indirect regions have in common. */
#ifndef SCENE_H
#define SCENE_H

#include "children.h"
#include "peers.h"

/* Far from both ends of the address space, and odd. */
#define SCENE_IOVA 0x1234567890abcdefull

struct scene {
	struct peers peers;
	struct children children;
};

/* Runs a scenario with peers and an indirect region with children at the far end. */
int with_scene(int (*run)(struct scene *scene));

#endif /* SCENE_H */
