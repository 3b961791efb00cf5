// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * usage: ooo_user DEVICE GID-INDEX DEVICE GID-INDEX attributes
 *        ooo_user DEVICE GID-INDEX DEVICE GID-INDEX transfer OP SIZE DEPTH SECONDS CONSENT
 *                 CONSENT [FLOW-LABEL TIMEOUT]
 *
 * OP is write, read, or notify: a WRITE and a SEND behind it. The first device posts.
 * CONSENT is 1 if the end agrees to out-of-order placement. The UDP source ports depend
 * on FLOW-LABEL, if not 0; without an acknowledgement for 4 us * 2^TIMEOUT (18) the
 * requester sends again.
 */
#include "ends.h"

int main(int argc, char **argv)
{
	/* 1 s: an emulated CPU may stand still for a good part of that. */
	struct end a = { .timeout = 18 }, b = { .timeout = 18 };

	CHECK(argc > 5);
	setvbuf(stdout, NULL, _IOLBF, 0);
	a.device = argv[1];
	a.gid_index = atoi(argv[2]);
	b.device = argv[3];
	b.gid_index = atoi(argv[4]);
	if (!strcmp(argv[5], "transfer"))
		return transfer(&a, &b, argc - 6, argv + 6);
	open_end(&a, 4096);
	open_end(&b, 4096);
	return check_attributes(&a, &b);
}
