// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* IB_WR_REG_INDIR_MR: where its bytes are, and when they are out of reach. */
#include "require.h"
#include "scenarios.h"
#include "scene.h"

static int invalidate(struct scene *scene)
{
	return variant_invalidate(&scene->children.parent, scene->children.end);
}

/* The length is what the region gets, the access begins at the offset. */
static const struct {
	u64 iova;
	u32 length;
	u32 offset;
} places[] = {
	{ SCENE_IOVA, TRANSFER_BYTES, 0 },
	{ 0, TRANSFER_BYTES, 1 },
	{ 1, TRANSFER_BYTES, TRANSFER_BYTES - 1 },
	{ PAGE_SIZE, 4101, 4100 },
	{ 0xfffffffffffff000ull, 4095, 23 },
	{ ~0ull - TRANSFER_BYTES, TRANSFER_BYTES, 70001 },
};

static int at_each_place(struct scene *scene)
{
	struct ib_indir_reg_wr request;
	int i, err = 0;

	for (i = 0; i < ARRAY_SIZE(places) && !err; i++) {
		request = children_request(&scene->children, places[i].iova);
		request.length = places[i].length;
		err = children_register(&scene->children, &request) ?:
		      children_carry(&scene->children, &scene->peers, &request, places[i].offset) ?:
		      invalidate(scene);
		if (err)
			pr_err("iova %#llx, %u bytes: %d\n", places[i].iova, places[i].length, err);
	}
	return err;
}

int reg_indir__256_entries_at_any_iova(void)
{
	return with_scene(at_each_place);
}

/* The list goes on, the region does not. */
static int one_byte_too_many(struct scene *scene)
{
	struct ib_indir_reg_wr request = children_request(&scene->children, 0xfffffffffffff000ull);
	u8 *memory = scene->children.parent.memory;
	struct span span;

	request.length = 1000;
	span = request_span(&request, 999, 2);
	REQUIRE(children_register(&scene->children, &request) == IB_WC_SUCCESS);
	memset(memory, CHILDREN_FILLER, LAYOUT_BYTES);
	REQUIRE(peers_write(&scene->peers, &span) == IB_WC_REM_ACCESS_ERR);
	REQUIRE(!memchr_inv(memory, CHILDREN_FILLER, LAYOUT_BYTES));
	REQUIRE(peers_reconnect(&scene->peers) == 0);
	return children_carry(&scene->children, &scene->peers, &request, 0);
}

int access__beyond_the_length(void)
{
	return with_scene(one_byte_too_many);
}

/* Entry 0 belongs to the child that stays, entry 1 to the one that goes. */
static int without_a_child(struct scene *scene)
{
	struct ib_indir_reg_wr request = children_request(&scene->children, SCENE_IOVA);
	const struct layout *layout = &scene->children.parent.layout;
	u8 *memory = scene->children.parent.memory;
	struct span first = request_span(&request, 0, layout_length(layout, 0));
	struct span next = request_span(&request, layout_length(layout, 0), 1);

	REQUIRE(children_register(&scene->children, &request) == IB_WC_SUCCESS);
	REQUIRE(children_carry(&scene->children, &scene->peers, &request, 0) == 0);
	REQUIRE(children_invalidate_one(&scene->children, 1) == IB_WC_SUCCESS);
	REQUIRE(peers_write(&scene->peers, &first) == IB_WC_SUCCESS);

	memset(memory, CHILDREN_FILLER, LAYOUT_BYTES);
	REQUIRE(peers_write(&scene->peers, &next) == IB_WC_REM_ACCESS_ERR);
	REQUIRE(peers_reconnect(&scene->peers) == 0);
	REQUIRE(peers_read(&scene->peers, &next) == IB_WC_REM_ACCESS_ERR);
	REQUIRE(!memchr_inv(memory, CHILDREN_FILLER, LAYOUT_BYTES));

	/* The same key again is the same child again. */
	REQUIRE(peers_reconnect(&scene->peers) == 0);
	REQUIRE(children_register_one(&scene->children, 1) == IB_WC_SUCCESS);
	return children_carry(&scene->children, &scene->peers, &request, 0);
}

int access__child_invalidated(void)
{
	return with_scene(without_a_child);
}

static int twice(struct scene *scene)
{
	struct ib_indir_reg_wr request = children_request(&scene->children, SCENE_IOVA);

	REQUIRE(children_register(&scene->children, &request) == IB_WC_SUCCESS);
	request.mkey = ib_inc_rkey(request.mkey);
	REQUIRE(children_register(&scene->children, &request) == IB_WC_MW_BIND_ERR);

	/* The first registration holds. */
	request.mkey = scene->children.parent.mr->rkey;
	REQUIRE(peers_reconnect(&scene->peers) == 0);
	return children_carry(&scene->children, &scene->peers, &request, 0);
}

int reg_indir__while_registered(void)
{
	return with_scene(twice);
}
