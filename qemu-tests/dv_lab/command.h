/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Methods of the uverbs ioctl without the library in between. */
#ifndef COMMAND_H
#define COMMAND_H

#include <rdma/rdma_user_ioctl_cmds.h>
#include <rdma/sirocco-abi.h>

#include "lab.h"

#define MAX_ATTRIBUTES 6

struct command {
	struct ib_uverbs_ioctl_hdr hdr;
	struct ib_uverbs_attr attr[MAX_ATTRIBUTES];
};

/* Of mkeys, without attributes. */
struct command command(uint16_t method);
struct ib_uverbs_attr *add(struct command *c, uint16_t id, uint16_t length,
			   uint64_t data);
/* On a's device. 0 or an errno. */
int run(struct command *c);

#endif /* COMMAND_H */
