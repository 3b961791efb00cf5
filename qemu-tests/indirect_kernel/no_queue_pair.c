// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* siro_register_indir_mr() and siro_invalidate_mr(). */
#include "require.h"
#include "scenarios.h"
#include "scene.h"

static int by_calls(struct scene *scene)
{
	struct ib_indir_reg_wr request = children_request(&scene->children, SCENE_IOVA);
	struct span span = request_span(&request, 0, 8);
	struct ib_mr *mr = scene->children.parent.mr;
	u8 *memory = scene->children.parent.memory;

	REQUIRE(siro_register_indir_mr(mr, &request) == 0);
	REQUIRE(mr->rkey == request.mkey && mr->lkey == request.mkey);
	REQUIRE(children_carry(&scene->children, &scene->peers, &request, 0) == 0);
	REQUIRE(siro_register_indir_mr(mr, &request) == -EINVAL);

	REQUIRE(siro_invalidate_mr(mr) == 0);
	REQUIRE(siro_invalidate_mr(mr) == 0);
	memset(memory, CHILDREN_FILLER, LAYOUT_BYTES);
	REQUIRE(peers_write(&scene->peers, &span) == IB_WC_REM_ACCESS_ERR);
	REQUIRE(!memchr_inv(memory, CHILDREN_FILLER, LAYOUT_BYTES));
	return 0;
}

int register_indir_mr__no_queue_pair(void)
{
	return with_scene(by_calls);
}

/* As after a disconnect: LOCAL_INV was flushed and the region is still registered. */
static int after_an_error(struct scene *scene)
{
	struct ib_indir_reg_wr request = children_request(&scene->children, SCENE_IOVA);
	struct ib_mr *mr = scene->children.parent.mr;
	struct ib_send_wr inv = { .opcode = IB_WR_LOCAL_INV };
	struct rc_end *far = scene->children.end;

	REQUIRE(children_register(&scene->children, &request) == IB_WC_SUCCESS);
	REQUIRE(end_to_error(far) == 0);
	inv.ex.invalidate_rkey = mr->rkey;
	REQUIRE(end_status(far, &inv, NULL) == IB_WC_WR_FLUSH_ERR);

	request = children_request(&scene->children, 0);
	REQUIRE(siro_register_indir_mr(mr, &request) == -EINVAL);
	REQUIRE(siro_invalidate_mr(mr) == 0);
	REQUIRE(siro_register_indir_mr(mr, &request) == 0);
	REQUIRE(peers_reconnect(&scene->peers) == 0);
	return children_carry(&scene->children, &scene->peers, &request, 0);
}

int register_indir_mr__queue_pair_in_error(void)
{
	return with_scene(after_an_error);
}
