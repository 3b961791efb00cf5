// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What ib_post_send() and a device of another driver refuse. */
#include "require.h"
#include "scenarios.h"
#include "scene.h"

#define LENGTH TRANSFER_BYTES
#define RIGHTS CHILDREN_RIGHTS
#define OTHER_DEVICE "rdma_b"

static const struct {
	const char *what;
	unsigned int entries;
	u64 length;
	u64 iova;
	u32 rights;
	int send_flags;
} bad_requests[] = {
	{ "no entries", 0, LENGTH, SCENE_IOVA, RIGHTS },
	{ "more entries than the list", 257, LENGTH, SCENE_IOVA, RIGHTS },
	{ "no length", 256, 0, SCENE_IOVA, RIGHTS },
	{ "length above the sum", 256, LENGTH + 1, SCENE_IOVA, RIGHTS },
	{ "addresses that wrap", 256, LENGTH, 0ull - LENGTH + 1, RIGHTS },
	{ "remote write alone", 256, LENGTH, SCENE_IOVA, IB_ACCESS_REMOTE_WRITE },
	{ "remote atomic alone", 256, LENGTH, SCENE_IOVA, IB_ACCESS_REMOTE_ATOMIC },
	{ "unknown right", 256, LENGTH, SCENE_IOVA, RIGHTS | IB_ACCESS_MW_BIND },
	{ "inline", 256, LENGTH, SCENE_IOVA, RIGHTS, IB_SEND_INLINE },
};

static void never_done(struct ib_cq *cq, struct ib_wc *wc)
{
	pr_err("opcode %d of a refused list completed\n", wc->opcode);
}

static struct ib_cqe never = { .done = never_done };

/* Neither the request nor the one behind it is posted. */
static int post_refused(struct scene *scene, struct ib_indir_reg_wr *request)
{
	struct ib_send_wr behind = { .wr_cqe = &never, .opcode = IB_WR_SEND };
	const struct ib_send_wr *bad = NULL;

	request->wr.wr_cqe = &never;
	request->wr.next = &behind;
	REQUIRE(ib_post_send(scene->children.end->qp, &request->wr, &bad) == -EINVAL);
	REQUIRE(bad == &request->wr);
	return 0;
}

static int bad_numbers(struct scene *scene)
{
	struct ib_indir_reg_wr request;
	int i, err = 0;

	for (i = 0; i < ARRAY_SIZE(bad_requests) && !err; i++) {
		request = children_request(&scene->children, bad_requests[i].iova);
		request.indir_list_len = bad_requests[i].entries;
		request.length = bad_requests[i].length;
		request.access_flags = bad_requests[i].rights;
		request.wr.send_flags = bad_requests[i].send_flags;
		err = post_refused(scene, &request);
		if (err)
			pr_err("%s: %d\n", bad_requests[i].what, err);
	}
	return err;
}

static int bad_keys(struct scene *scene)
{
	struct ib_indir_reg_wr request = children_request(&scene->children, SCENE_IOVA);
	struct ib_sge *entry = &request.indir_list->sg_list[100];
	u32 lkey = entry->lkey, mkey = request.mkey;

	request.mkey = scene->children.child[0].mr->rkey;
	REQUIRE(post_refused(scene, &request) == 0);
	request.mkey = mkey;
	entry->lkey = mkey;
	REQUIRE(post_refused(scene, &request) == 0);
	entry->lkey = lkey;
	request.indir_list = NULL;
	REQUIRE(post_refused(scene, &request) == 0);
	return 0;
}

/* The queue pair and the region are as good as before. */
static int each_error(struct scene *scene)
{
	struct ib_indir_reg_wr request = children_request(&scene->children, SCENE_IOVA);

	REQUIRE(bad_numbers(scene) == 0);
	REQUIRE(bad_keys(scene) == 0);
	REQUIRE(children_register(&scene->children, &request) == IB_WC_SUCCESS);
	return children_carry(&scene->children, &scene->peers, &request, 0);
}

int post_send__each_error(void)
{
	return with_scene(each_error);
}

static int refused_with(struct ib_pd *pd, struct ib_mr *mr)
{
	const struct ib_mr_init_attr attr = {
		.max_reg_descriptors = 4,
		.flags = IB_MR_INDIRECT_REG,
	};
	const struct ib_indir_reg_wr reg = { .indir_list_len = 1, .length = 1, .mkey = mr->rkey };
	struct siro_caps caps;

	REQUIRE(siro_query_caps(pd->device, &caps) == -EOPNOTSUPP);
	REQUIRE(PTR_ERR(ib_create_mr(pd, &attr)) == -EOPNOTSUPP);
	REQUIRE(PTR_ERR(ib_alloc_indir_reg_list(pd->device, 4)) == -EOPNOTSUPP);
	REQUIRE(siro_register_indir_mr(mr, &reg) == -EOPNOTSUPP);
	REQUIRE(siro_invalidate_mr(mr) == -EOPNOTSUPP);
	return 0;
}

static int with_region_of(struct ib_device *device)
{
	struct ib_pd *pd = ib_alloc_pd(device, 0);
	struct ib_mr *mr;
	int err;

	if (IS_ERR(pd))
		return PTR_ERR(pd);
	mr = ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG, 4);
	err = PTR_ERR_OR_ZERO(mr);
	if (!err) {
		err = refused_with(pd, mr);
		ib_dereg_mr(mr);
	}
	ib_dealloc_pd(pd);
	return err;
}

int all__device_of_another_driver(void)
{
	struct ib_device *device = ib_device_get_by_name(OTHER_DEVICE, RDMA_DRIVER_RXE);
	int err;

	REQUIRE(device);
	err = with_region_of(device);
	ib_device_put(device);
	return err;
}
