/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * As much of KUnit as a suite needs on a kernel that has none; included before
 * everything else of its files. A failed assertion ends the thread of the test.
 */
#ifndef _KUNIT_TEST_H
#define _KUNIT_TEST_H /* the kernel's own is left out */

#include <linux/kthread.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>

struct kunit {
	void *priv;
	bool failed;
	struct completion *done;
	struct list_head memory; /* freed when the test is over */
};

struct kunit_case {
	void (*run)(struct kunit *test);
	const char *name;
};

struct kunit_suite {
	const char *name;
	int (*init)(struct kunit *test);
	void (*exit)(struct kunit *test);
	struct kunit_case *test_cases;
};

#define KUNIT_CASE(function) { function, #function }

int run_suite(const struct kunit_suite *suite);
void *kunit_kzalloc(struct kunit *test, size_t size, gfp_t gfp);

#define kunit_kcalloc(test, count, size, gfp) kunit_kzalloc(test, array_size(count, size), gfp)
#define kunit_info(test, format, ...) pr_info(format "\n", ##__VA_ARGS__)

/* Says what is wrong and goes on. */
#define kunit_expect(test, condition, format, ...)                                         \
	({                                                                                 \
		bool kunit_good = (condition);                                             \
                                                                                           \
		if (!kunit_good) {                                                         \
			(test)->failed = true;                                             \
			pr_err("%s:%d: not true: %s " format "\n", __func__, __LINE__,     \
			       #condition, ##__VA_ARGS__);                                 \
		}                                                                          \
		kunit_good;                                                                \
	})
#define kunit_assert(test, condition, format, ...)                                         \
	do {                                                                               \
		if (!kunit_expect(test, condition, format, ##__VA_ARGS__))                 \
			kthread_complete_and_exit((test)->done, 0);                        \
	} while (0)

#define KUNIT_EXPECT_EQ(test, a, b) kunit_expect(test, (a) == (b), "")
#define KUNIT_EXPECT_LT(test, a, b) kunit_expect(test, (a) < (b), "")
#define KUNIT_EXPECT_TRUE(test, a) kunit_expect(test, a, "")
#define KUNIT_EXPECT_NULL(test, a) kunit_expect(test, !(a), "")
#define KUNIT_EXPECT_PTR_EQ(test, a, b) kunit_expect(test, (a) == (b), "")
#define KUNIT_EXPECT_STREQ(test, a, b) kunit_expect(test, !strcmp(a, b), "(%s)", a)
#define KUNIT_EXPECT_EQ_MSG(test, a, b, ...) kunit_expect(test, (a) == (b), __VA_ARGS__)
#define KUNIT_ASSERT_EQ(test, a, b) kunit_assert(test, (a) == (b), "")
#define KUNIT_ASSERT_GT(test, a, b) kunit_assert(test, (a) > (b), "")
#define KUNIT_ASSERT_FALSE(test, a) kunit_assert(test, !(a), "")
#define KUNIT_ASSERT_TRUE_MSG(test, a, ...) kunit_assert(test, a, __VA_ARGS__)
#define KUNIT_ASSERT_EQ_MSG(test, a, b, ...) kunit_assert(test, (a) == (b), __VA_ARGS__)

/* Loading the module runs the suite, and fails if it does. */
#define kunit_test_suite(suite)                                                            \
	static int __init suite_init(void)                                                 \
	{                                                                                  \
		return run_suite(&(suite));                                                \
	}                                                                                  \
	static void __exit suite_exit(void)                                                \
	{                                                                                  \
	}                                                                                  \
	module_init(suite_init);                                                           \
	module_exit(suite_exit)

#endif /* _KUNIT_TEST_H */
