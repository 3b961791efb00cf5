/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Two connected RC queue pairs on the two links that the guest script made. */
#ifndef CONNECTION_H
#define CONNECTION_H

#include "rc_end.h"

/* @near asks for the transfers, @far has the memory that is registered. */
struct connection {
	struct rc_end near, far;
};

/* @connection: zeroed; to be closed even if this fails. */
int connection_open(struct connection *connection);
void connection_close(struct connection *connection);

/* Posts one work request, signaled, and waits for its completion. */
int end_run(struct rc_end *end, struct ib_send_wr *wr);

#endif /* CONNECTION_H */
