/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A connection whose near end has memory for the transfers. */
#ifndef PEERS_H
#define PEERS_H

#include "connection.h"
#include "layout.h"

struct peers {
	struct connection connection;
	u8 *local; /* TRANSFER_BYTES of the near end */
	u64 local_addr;
};

/* @peers: zeroed; to be closed even if this fails. */
int peers_open(struct peers *peers);
void peers_close(struct peers *peers);

/* Connects the queue pairs again, in whatever state they are. */
int peers_reconnect(struct peers *peers);

/* Gives the near end a new queue pair whose CQ is polled by its user. */
int peers_poll_near(struct peers *peers);

/* Moves @length bytes between the near end's memory and the region of the far end. */
struct span {
	u64 addr;
	u32 rkey;
	u32 length;
};

/* Returns a status of enum ib_wc_status, or an errno. */
int peers_write(struct peers *peers, const struct span *span);
int peers_read(struct peers *peers, const struct span *span);

/* Posts one work request and waits; the same result. @opcode, if not NULL: that of
 * the completion.
 */
int end_status(struct rc_end *end, struct ib_send_wr *wr, enum ib_wc_opcode *opcode);

/* Sends what @from names to @to, whose queue pair has no receive posted. */
int send_between(struct rc_end *from, struct ib_sge *source, struct rc_end *to, struct ib_sge *sink);

int end_to_error(struct rc_end *end);

#endif /* PEERS_H */
