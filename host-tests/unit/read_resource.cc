// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "read_resource.h"

#include <gtest/gtest.h>

#include <memory>

using sirocco::Psn;
using sirocco::ReadResource;
using sirocco::ReadResources;

namespace {

struct storage {
	explicit storage(uint32_t count)
		: words(new uint64_t[count * SIRO_RESOURCE_BYTES / 8 + 1]())
	{
		resources.assign(words.get(), count);
	}

	std::unique_ptr<uint64_t[]> words;
	ReadResources resources;
};

void answer(ReadResources &all, ReadResource &r)
{
	while (r.pending())
		all.advance(r);
}

} // namespace

TEST(read_resources, no_room_at_all__refuses)
{
	storage s(0);

	EXPECT_EQ(s.resources.add(Psn(1), 1), nullptr);
	EXPECT_EQ(s.resources.find(Psn(1)), nullptr);
	EXPECT_EQ(s.resources.first_pending(), nullptr);
}

TEST(read_resources, add__as_many_unanswered_as_there_is_room)
{
	storage s(2);
	ReadResource *a = s.resources.add(Psn(10), 4), *b = s.resources.add(Psn(14), 1);

	ASSERT_TRUE(a && b);
	EXPECT_EQ(s.resources.add(Psn(15), 1), nullptr);
	answer(s.resources, *a);
	EXPECT_NE(s.resources.add(Psn(15), 1), nullptr);
	EXPECT_EQ(s.resources.add(Psn(16), 1), nullptr);
}

TEST(read_resources, first_pending__is_the_oldest)
{
	storage s(3);
	ReadResource *a = s.resources.add(Psn(10), 2), *b = s.resources.add(Psn(12), 1);

	EXPECT_EQ(s.resources.first_pending(), a);
	s.resources.advance(*a);
	EXPECT_EQ(s.resources.first_pending(), a);
	s.resources.advance(*a);
	EXPECT_EQ(s.resources.first_pending(), b);
	s.resources.advance(*b);
	EXPECT_EQ(s.resources.first_pending(), nullptr);
}

TEST(read_resources, find__by_any_psn_of_the_answer_across_the_wrap)
{
	storage s(2);
	ReadResource *a = s.resources.add(Psn(0xfffffe), 4);

	EXPECT_EQ(s.resources.find(Psn(0xfffffd)), nullptr);
	for (uint32_t psn : {0xfffffeu, 0xffffffu, 0u, 1u})
		EXPECT_EQ(s.resources.find(Psn(psn)), a) << psn;
	EXPECT_EQ(s.resources.find(Psn(2)), nullptr);
}

TEST(read_resources, find__after_more_than_there_is_room_only_the_last)
{
	storage s(2);

	for (uint32_t psn = 1; psn <= 5; psn++)
		answer(s.resources, *s.resources.add(Psn(psn), 1));
	for (uint32_t psn = 1; psn <= 3; psn++)
		EXPECT_EQ(s.resources.find(Psn(psn)), nullptr) << psn;
	EXPECT_NE(s.resources.find(Psn(4)), nullptr);
	EXPECT_NE(s.resources.find(Psn(5)), nullptr);
}

TEST(read_resources, find__prefers_the_newest)
{
	storage s(3);

	answer(s.resources, *s.resources.add(Psn(7), 1));

	ReadResource *newer = s.resources.add(Psn(7), 1);

	EXPECT_EQ(s.resources.find(Psn(7)), newer);
}

TEST(read_resources, repeat__begins_at_the_packet_that_was_asked_for)
{
	storage s(1);
	ReadResource *r = s.resources.add(Psn(7), 4);

	answer(s.resources, *r);
	s.resources.repeat(*r, 2, 4);
	EXPECT_EQ(s.resources.first_pending(), r);
	EXPECT_EQ(r->begin, 2u);
	EXPECT_EQ(r->next, 2u);
	s.resources.repeat(*r, 3, 4); /* during the repetition: counted once */
	s.resources.advance(*r);
	s.resources.advance(*r);
	EXPECT_EQ(s.resources.first_pending(), nullptr);
}

TEST(read_resources, repeat__of_a_part__ends_with_it)
{
	storage s(1);
	ReadResource *r = s.resources.add(Psn(7), 9);

	answer(s.resources, *r);
	s.resources.repeat(*r, 2, 4);
	s.resources.advance(*r);
	s.resources.advance(*r);
	EXPECT_EQ(r->next, 4u);
	EXPECT_EQ(s.resources.first_pending(), nullptr);
	s.resources.repeat(*r, 5, 6); /* the next part needs no other */
	s.resources.advance(*r);
	EXPECT_EQ(s.resources.first_pending(), nullptr);
}

/* What was never sent is not forgotten for a part that was. */
TEST(read_resources, repeat__during_the_first_answer__answers_all)
{
	storage s(1);
	ReadResource *r = s.resources.add(Psn(7), 9);

	for (int i = 0; i < 6; i++)
		s.resources.advance(*r);
	s.resources.repeat(*r, 2, 3);
	EXPECT_EQ(r->next, 2u);
	EXPECT_EQ(r->end, 9u);
	s.resources.repeat(*r, 5, 6); /* will come anyway */
	EXPECT_EQ(r->next, 2u);
}

/* Who sends a new request has the answer: the repetition does not keep its place. */
TEST(read_resources, add__overwrites_what_is_only_repeated)
{
	storage s(1);
	ReadResource *r = s.resources.add(Psn(7), 4);

	answer(s.resources, *r);
	s.resources.repeat(*r, 0, 4);
	r = s.resources.add(Psn(11), 1);
	ASSERT_NE(r, nullptr);
	EXPECT_FALSE(r->answered);
	EXPECT_EQ(s.resources.find(Psn(7)), nullptr);
	s.resources.advance(*r);
	EXPECT_EQ(s.resources.first_pending(), nullptr);
}

TEST(read_resources, drop__ends_one_answer_and_keeps_the_others)
{
	storage s(2);
	ReadResource *a = s.resources.add(Psn(1), 4), *b = s.resources.add(Psn(5), 1);

	s.resources.drop(*a);
	EXPECT_EQ(s.resources.first_pending(), b);
}

TEST(read_resources, cancel__leaves_nothing_pending)
{
	storage s(3);

	s.resources.add(Psn(1), 4);
	s.resources.add(Psn(5), 1);
	s.resources.cancel();
	EXPECT_EQ(s.resources.first_pending(), nullptr);
}

TEST(read_resources, find_read__covers_all_that_is_wanted)
{
	storage s(3);

	answer(s.resources, *s.resources.add(Psn(10), 4));
	s.resources.add(Psn(14), 1)->atomic = true;
	EXPECT_NE(s.resources.find_read(Psn(10), 4), nullptr);
	EXPECT_NE(s.resources.find_read(Psn(12), 2), nullptr);
	EXPECT_EQ(s.resources.find_read(Psn(12), 3), nullptr);
	EXPECT_EQ(s.resources.find_read(Psn(12), ~0u), nullptr);
	EXPECT_EQ(s.resources.find_read(Psn(14), 1), nullptr);
	EXPECT_EQ(s.resources.find_read(Psn(15), 1), nullptr);
}

/* H20 */
TEST(read_resources, clear__forgets_all)
{
	storage s(3);

	answer(s.resources, *s.resources.add(Psn(1), 1));
	s.resources.add(Psn(2), 4);
	s.resources.clear();
	EXPECT_EQ(s.resources.first_pending(), nullptr);
	EXPECT_EQ(s.resources.find(Psn(1)), nullptr);
	EXPECT_EQ(s.resources.find(Psn(2)), nullptr);
	for (uint32_t i = 0; i < 3; i++)
		EXPECT_NE(s.resources.add(Psn(10 + i), 1), nullptr);
}

TEST(read_resources, assign__the_same_memory_keeps_what_it_holds)
{
	storage s(2);

	answer(s.resources, *s.resources.add(Psn(1), 1));
	s.resources.assign(s.words.get(), 2);
	EXPECT_NE(s.resources.find(Psn(1)), nullptr);

	std::unique_ptr<uint64_t[]> other(new uint64_t[SIRO_RESOURCE_BYTES / 8]());

	s.resources.assign(other.get(), 1);
	EXPECT_EQ(s.resources.find(Psn(1)), nullptr);
}
