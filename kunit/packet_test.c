// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The engine's packet parser and ICRC against byte vectors (H7), with kernel flags. */
#include <kunit/test.h>
#include <linux/module.h>

#include "siro_engine.h"
#include "packet_vector.h"

struct arrival {
	u8 *data;
	u8 ip[40];
	u8 udp[8];
	struct siro_frag frags[3];
	struct siro_packet packet;
};

static void packet_arrives(struct kunit *test, struct arrival *arrival,
			   const struct packet_vector *vector)
{
	memset(arrival, 0, sizeof(*arrival));
	/* Exactly as long as the packet, so that KASAN sees any read behind it. */
	arrival->data = kunit_kmalloc(test, vector->length, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, arrival->data);
	memcpy(arrival->data, vector->data, vector->length);
	memcpy(arrival->ip, vector->ip, sizeof(arrival->ip));
	memcpy(arrival->udp, vector->udp, sizeof(arrival->udp));
	arrival->frags[0].data = arrival->data;
	arrival->frags[0].length = vector->length;
	arrival->packet.frags = arrival->frags;
	arrival->packet.length = vector->length;
	arrival->packet.ip_id = vector->ip_id;
}

static int parse(struct arrival *arrival, const struct packet_vector *vector)
{
	return siro_packet_parse(&arrival->packet, vector->family, arrival->ip, arrival->udp);
}

static void parse__good_packet_of_every_opcode(struct kunit *test)
{
	const struct packet_vector *vector;
	struct arrival arrival;
	int i;

	for (i = 0; i < ARRAY_SIZE(packet_vectors); i++) {
		vector = &packet_vectors[i];
		packet_arrives(test, &arrival, vector);
		KUNIT_EXPECT_EQ_MSG(test, parse(&arrival, vector), -1, "%s", vector->name);
		KUNIT_EXPECT_EQ_MSG(test, arrival.packet.opcode, vector->opcode, "%s", vector->name);
		KUNIT_EXPECT_EQ_MSG(test, arrival.packet.psn, vector->psn, "%s", vector->name);
		KUNIT_EXPECT_EQ_MSG(test, arrival.packet.qpn, vector->qpn, "%s", vector->name);
		KUNIT_EXPECT_EQ_MSG(test, arrival.packet.header_length, vector->header, "%s",
				    vector->name);
		KUNIT_EXPECT_EQ_MSG(test, arrival.packet.payload_length, vector->payload, "%s",
				    vector->name);
		KUNIT_EXPECT_EQ_MSG(test, memcmp(arrival.packet.header, vector->data, vector->header),
				    0, "%s", vector->name);
		kunit_kfree(test, arrival.data);
	}
}

/* A super-packet holds a packet in pieces that end anywhere. */
static void parse__packet_in_pieces(struct kunit *test)
{
	const struct packet_vector *vector = &packet_vectors[ARRAY_SIZE(packet_vectors) - 1];
	struct arrival arrival;
	int first, second;

	for (first = 1; first < vector->length; first++) {
		for (second = 1; second < vector->length - first; second += 13) {
			packet_arrives(test, &arrival, vector);
			arrival.frags[0].length = first;
			arrival.frags[1].data = arrival.data + first;
			arrival.frags[1].length = second;
			arrival.frags[2].data = arrival.data + first + second;
			arrival.frags[2].length = vector->length - first - second;
			KUNIT_EXPECT_EQ_MSG(test, parse(&arrival, vector), -1, "%d + %d", first,
					    second);
			KUNIT_EXPECT_EQ(test, arrival.packet.payload_length, vector->payload);
			kunit_kfree(test, arrival.data);
		}
	}
}

/* BTH byte 4 carries congestion marks that routers may set: the ICRC skips it. */
static bool bit_is_covered(int byte)
{
	return byte != 4;
}

static void parse__any_flipped_bit_is_dropped(struct kunit *test)
{
	const struct packet_vector *vector;
	struct arrival arrival;
	int i, bit, result;

	for (i = 0; i < ARRAY_SIZE(packet_vectors); i += 7) {
		vector = &packet_vectors[i];
		packet_arrives(test, &arrival, vector);
		for (bit = 0; bit < vector->length * 8; bit++) {
			arrival.data[bit / 8] ^= 1 << bit % 8;
			result = parse(&arrival, vector);
			arrival.data[bit / 8] ^= 1 << bit % 8;
			if (bit_is_covered(bit / 8))
				KUNIT_EXPECT_GE_MSG(test, result, 0, "%s bit %d", vector->name, bit);
			else
				KUNIT_EXPECT_EQ_MSG(test, result, -1, "%s bit %d", vector->name, bit);
			/* The first 12 bytes may make the packet malformed instead. */
			if (bit / 8 >= 12)
				KUNIT_EXPECT_EQ_MSG(test, result, SIRO_CNT_ICRC_ERRORS, "%s bit %d",
						    vector->name, bit);
		}
		kunit_kfree(test, arrival.data);
	}
}

static void parse__fields_that_routers_change_are_not_covered(struct kunit *test)
{
	const struct packet_vector *vector;
	struct arrival arrival;
	int i;

	for (i = 0; i < ARRAY_SIZE(packet_vectors); i++) {
		vector = &packet_vectors[i];
		packet_arrives(test, &arrival, vector);
		if (vector->family == 4) {
			arrival.ip[1] ^= 0xff;
			arrival.ip[8] ^= 0x3f;
			arrival.ip[10] ^= 0x5a;
			arrival.ip[11] ^= 0xa5;
		} else {
			arrival.ip[0] ^= 0x0f;
			arrival.ip[1] ^= 0xff;
			arrival.ip[7] ^= 0x3f;
		}
		arrival.udp[6] ^= 0xff;
		arrival.udp[7] ^= 0xff;
		KUNIT_EXPECT_EQ_MSG(test, parse(&arrival, vector), -1, "%s", vector->name);
		kunit_kfree(test, arrival.data);
	}
}

static void parse__addresses_and_ports_are_covered(struct kunit *test)
{
	const struct packet_vector *vector;
	struct arrival arrival;
	int i, byte;

	for (i = 0; i < ARRAY_SIZE(packet_vectors); i += 11) {
		vector = &packet_vectors[i];
		packet_arrives(test, &arrival, vector);
		for (byte = vector->family == 4 ? 12 : 8; byte < (vector->family == 4 ? 20 : 40); byte++) {
			arrival.ip[byte] ^= 0x10;
			KUNIT_EXPECT_EQ_MSG(test, parse(&arrival, vector), SIRO_CNT_ICRC_ERRORS,
					    "%s IP byte %d", vector->name, byte);
			arrival.ip[byte] ^= 0x10;
		}
		for (byte = 0; byte < 4; byte++) {
			arrival.udp[byte] ^= 0x10;
			KUNIT_EXPECT_EQ_MSG(test, parse(&arrival, vector), SIRO_CNT_ICRC_ERRORS,
					    "%s UDP byte %d", vector->name, byte);
			arrival.udp[byte] ^= 0x10;
		}
		kunit_kfree(test, arrival.data);
	}
}

/* H1, H2: cut anywhere, with any opcode, a packet is refused and nothing behind it read. */
static void parse__short_packet_of_any_opcode(struct kunit *test)
{
	const struct packet_vector *vector = &packet_vectors[0];
	struct packet_vector cut;
	struct arrival arrival;
	int opcode, length;
	u8 data[96];

	for (length = 0; length <= sizeof(data); length++) {
		for (opcode = 0; opcode < 256; opcode++) {
			memset(data, 0xa5, sizeof(data));
			data[0] = opcode;
			cut = *vector;
			cut.data = data;
			cut.length = length;
			packet_arrives(test, &arrival, &cut);
			KUNIT_EXPECT_GE_MSG(test, parse(&arrival, &cut), 0, "opcode %d length %d",
					    opcode, length);
			kunit_kfree(test, arrival.data);
		}
	}
}

static struct kunit_case packet_cases[] = {
	KUNIT_CASE(parse__good_packet_of_every_opcode),
	KUNIT_CASE(parse__packet_in_pieces),
	KUNIT_CASE(parse__any_flipped_bit_is_dropped),
	KUNIT_CASE(parse__fields_that_routers_change_are_not_covered),
	KUNIT_CASE(parse__addresses_and_ports_are_covered),
	KUNIT_CASE(parse__short_packet_of_any_opcode),
	{}
};

static struct kunit_suite packet_suite = {
	.name = "siro_packet",
	.test_cases = packet_cases,
};

kunit_test_suite(packet_suite);

MODULE_DESCRIPTION("KUnit suites of the protocol engine");
MODULE_LICENSE("Dual BSD/GPL");
