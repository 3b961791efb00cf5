// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "command.h"

#include <sys/ioctl.h>

struct command command(uint16_t method)
{
	return (struct command){
		.hdr = { .object_id = SIROCCO_OBJECT_MKEY,
			 .method_id = method,
			 .driver_id = SIROCCO_DRIVER_ID },
	};
}

struct ib_uverbs_attr *add(struct command *c, uint16_t id, uint16_t length,
			   uint64_t data)
{
	struct ib_uverbs_attr *attr = &c->attr[c->hdr.num_attrs++];

	CHECK(c->hdr.num_attrs <= MAX_ATTRIBUTES);
	*attr = (struct ib_uverbs_attr){ .attr_id = id,
					 .len = length,
					 .flags = UVERBS_ATTR_F_MANDATORY,
					 .data = data };
	return attr;
}

int run(struct command *c)
{
	c->hdr.length = sizeof(c->hdr) + c->hdr.num_attrs * sizeof(c->attr[0]);
	return ioctl(a.context->cmd_fd, RDMA_VERBS_IOCTL, c) ? errno : 0;
}
