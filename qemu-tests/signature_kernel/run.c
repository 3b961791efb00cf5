// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Runs a suite and tells in the kernel log how each test ended. */
#include <linux/completion.h>

struct block {
	struct list_head list;
	u8 data[] __aligned(8);
};

void *kunit_kzalloc(struct kunit *test, size_t size, gfp_t gfp)
{
	struct block *block = kzalloc(size_add(sizeof(*block), size), gfp);

	if (!block)
		return NULL;
	list_add(&block->list, &test->memory);
	return block->data;
}

static void free_memory(struct kunit *test)
{
	struct block *block, *next;

	list_for_each_entry_safe(block, next, &test->memory, list)
		kfree(block);
}

struct job {
	struct kunit test;
	const struct kunit_case *what;
	struct completion done;
};

static int do_job(void *data)
{
	struct job *job = data;

	job->what->run(&job->test);
	kthread_complete_and_exit(&job->done, 0);
}

static bool run_case(const struct kunit_suite *suite, const struct kunit_case *what)
{
	struct job job = { .what = what };
	struct task_struct *thread;

	init_completion(&job.done);
	INIT_LIST_HEAD(&job.test.memory);
	job.test.done = &job.done;
	if (suite->init(&job.test))
		return false;
	thread = kthread_run(do_job, &job, "%s", suite->name);
	if (IS_ERR(thread))
		job.test.failed = true;
	else
		wait_for_completion(&job.done);
	suite->exit(&job.test);
	free_memory(&job.test);
	return !job.test.failed;
}

int run_suite(const struct kunit_suite *suite)
{
	const struct kunit_case *what;
	int err = 0;
	bool good;

	for (what = suite->test_cases; what->run; what++) {
		good = run_case(suite, what);
		pr_info("%s: %s %s\n", suite->name, good ? "ok" : "failed", what->name);
		if (!good)
			err = -EBADMSG;
	}
	return err;
}
