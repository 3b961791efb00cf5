// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/slab.h>

#include "scene.h"

int with_scene(int (*run)(struct scene *scene))
{
	struct scene *scene = kzalloc(sizeof(*scene), GFP_KERNEL);
	int err;

	if (!scene)
		return -ENOMEM;
	err = peers_open(&scene->peers) ?:
	      children_open(&scene->children, &scene->peers.connection.far) ?: run(scene);
	children_close(&scene->children);
	peers_close(&scene->peers);
	kfree(scene);
	return err;
}
