// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Blocks from a signature region to another through both ends of a connection and
 * a network that loses, repeats and delays: bytes and verdicts of the model.
 */
#include "lone_qp.h"
#include "signature_region.h"

#include <algorithm>
#include <numeric>
#include <queue>

using namespace host;
using namespace signature_model;

namespace {

constexpr uint64_t iova = 0x5550000;
constexpr uint32_t qpn[2] = {0x11, 0x22};

struct end_of_link {
	end_of_link(int number, uint8_t ooo)
	{
		endpoint::options o;

		o.qpn = qpn[number];
		o.user = number;
		o.hold = true;
		o.flow = number ? flow_ipv4(0x0a000002, 0x0a000001, 50001)
				: flow_ipv4(0x0a000001, 0x0a000002, 50000);
		qp = std::make_unique<endpoint>(dev, o);
		qp->req_attr.dest_qpn = qp->res_attr.dest_qpn = qpn[1 - number];
		qp->req_attr.mtu = qp->res_attr.mtu = 1024;
		qp->req_attr.sq_psn = qp->res_attr.rq_psn = 0xfffff0;
		qp->req_attr.timeout = 0; /* patient */
		qp->req_attr.ooo = qp->res_attr.ooo = ooo;
		qp->to_rts();
	}

	region &add(signature_region &s, uint32_t access)
	{
		region &r = dev.add_region({});

		r.mr.layout = SIRO_MR_SIGNATURE;
		r.mr.signature = &s.sig;
		r.mr.iova = iova;
		r.mr.length = s.sig.wire_length;
		r.mr.access = access;
		s.sig.key = r.key();
		return r;
	}

	device dev;
	std::unique_ptr<endpoint> qp;
};

class bad_network {
public:
	bad_network(end_of_link &a, end_of_link &b, std::mt19937 &random)
		: ends_{&a, &b}, random_(random), loss_(random() % 3 ? random() % 150 : 0),
		  repeats_(random() % 2 ? random() % 200 : 0),
		  late_(random() % 2 ? random() % 300 : 0)
	{
	}

	/* False: it does not end. */
	bool run_until(const std::function<bool()> &done)
	{
		for (int steps = 0; steps < 200000; steps++) {
			for (int i = 0; i < 2; i++)
				collect(i);
			if (done())
				return true;
			step();
		}
		return false;
	}

private:
	struct flight {
		uint64_t time;
		uint64_t order;
		int to;
		super_packet packet;

		bool operator<(const flight &o) const
		{
			return time != o.time ? time > o.time : order > o.order;
		}
	};

	bool happens(uint32_t permille)
	{
		return random_() % 1000 < permille;
	}

	/* What an end has sent, each packet alone. */
	void collect(int from)
	{
		auto &sent = ends_[from]->qp->sent;

		for (; !sent.empty(); sent.pop_front())
			for (size_t i = 0; i < sent.front().packets.size(); i++) {
				super_packet one = sent.front();

				one.packets = {sent.front().packets[i]};
				one.first_id = static_cast<uint16_t>(one.first_id + i);
				send(1 - from, one);
			}
	}

	void send(int to, const super_packet &one)
	{
		if (happens(loss_))
			return;
		do
			flying_.push({now_ + 5000 + (happens(late_) ? random_() % 200000 : 0),
				      order_++, to, one});
		while (happens(repeats_));
	}

	void set_time(uint64_t now)
	{
		now_ = std::max(now_, now);
		ends_[0]->dev.now = ends_[1]->dev.now = now_;
	}

	/* The next thing to happen: a packet arrives or a timer ends. */
	void step()
	{
		uint64_t next = flying_.empty() ? ~uint64_t{0} : flying_.top().time;

		for (end_of_link *end : ends_) {
			endpoint &qp = *end->qp;

			if (qp.deadline && qp.deadline <= next) {
				set_time(qp.deadline);
				qp.timeout();
				qp.settle();
				return;
			}
			if (qp.last_responder.deadline && qp.last_responder.deadline <= next) {
				set_time(qp.last_responder.deadline);
				qp.run_responder();
				qp.settle();
				return;
			}
		}
		if (flying_.empty())
			return;

		flight f = flying_.top();

		flying_.pop();
		set_time(f.time);
		ends_[f.to]->qp->receive(f.packet);
		ends_[f.to]->qp->settle();
	}

	end_of_link *ends_[2];
	std::mt19937 &random_;
	const uint32_t loss_, repeats_, late_; /* permille of packets */
	std::priority_queue<flight> flying_;
	uint64_t now_ = host::second, order_ = 0;
};

siro_sig_domain random_domain(std::mt19937 &random, uint16_t format)
{
	constexpr uint32_t intervals[] = {8, 512, 520, 4096};
	siro_sig_domain d = signature_domain(format, intervals[random() % 4]);

	if (format == SIRO_SIG_T10_CRC || format == SIRO_SIG_T10_CSUM) {
		d.app_tag = 0x55;
		d.ref_tag = 0xfffffffe;
		d.flags = SIRO_SIG_REF_REMAP;
	}
	return d;
}

uint32_t interval_of(const siro_sig_domain &d)
{
	return d.format ? d.interval : 1;
}

/* Both ends and what is between them speak of the same blocks. */
struct handover {
	explicit handover(std::mt19937 &random)
	{
		uint16_t wire = static_cast<uint16_t>(random() % (SIRO_SIG_CRC64 + 1));

		for (int i = 0; i < 2; i++) {
			auto &a = attributes[i];
			auto memory = static_cast<uint16_t>(random() % (SIRO_SIG_CRC64 + 1));

			a.wire = i ? attributes[0].wire : random_domain(random, wire);
			a.memory = random_domain(random, memory);
			if (random() % 2)
				a.memory.interval = a.wire.interval;
			a.interleaved = random() % 2;
			a.longest_piece = random() % 2 ? 3000 : 0;
		}

		uint64_t unit = interval_of(attributes[0].wire);

		for (auto &a : attributes)
			unit = std::lcm(unit, interval_of(a.memory));
		for (auto &a : attributes)
			a.data_length = unit * (1 + random() % std::max<uint64_t>(1, 40000 / unit));
		attributes[1].data_length = attributes[0].data_length;
	}

	signature_attributes attributes[2];
};

/* Turns a bit over. Return: where in the content. */
void spoil(content &c, std::mt19937 &random)
{
	bytes &part = c.fields.empty() || random() % 2 ? c.data : c.fields;

	part[random() % part.size()] ^= static_cast<uint8_t>(1 << random() % 8);
}

/* At most one block is bad. */
void expect_verdict(signature_region &s, const std::map<uint64_t, siro_sig_error> &errors)
{
	siro_sig_error got = {};
	int bad = siro_signature_check(&s.sig, s.sig.key, &got);

	ASSERT_EQ(bad, !errors.empty());
	if (!bad)
		return;

	const siro_sig_error &want = errors.begin()->second;

	EXPECT_EQ(got.type, want.type);
	EXPECT_EQ(got.offset, want.offset);
	EXPECT_EQ(got.expected, want.expected);
	EXPECT_EQ(got.actual, want.actual);
	EXPECT_EQ(got.key, s.sig.key);
}

bool take(endpoint &qp, bool (endpoint::*poll)(siro_cqe &), bool &taken)
{
	siro_cqe cqe = {};

	if (!taken && (qp.*poll)(cqe)) {
		EXPECT_EQ(cqe.status, SIRO_WC_SUCCESS);
		taken = true;
	}
	return taken;
}

uint8_t random_consent(std::mt19937 &random)
{
	constexpr uint8_t consents[] = {0, SIRO_OOO_CONSENT, SIRO_OOO_CONSENT | SIRO_OOO_MARK};

	return consents[std::min<size_t>(random() % 6, 2)];
}

/* What is agreed upon is known after the first answer. */
bool shake_hands(end_of_link &near, bad_network &network)
{
	bool done = false;

	near.qp->post_send_kernel(make_rdma(SIRO_WR_RDMA_WRITE, 1, {}, 0, 0));
	near.qp->run_requester();
	return network.run_until([&] { return take(*near.qp, &endpoint::poll_send, done); });
}

/* Adds the packets that were placed before their turn. */
void hand_over(unsigned seed, uint64_t &early)
{
	std::mt19937 random(seed);
	handover h(random);
	signature_region from(h.attributes[0], seed), to(h.attributes[1], seed + 1);
	end_of_link near(0, random_consent(random)), far(1, random_consent(random));
	bad_network network(near, far, random);
	uint32_t op = random() % 3;
	/* A READ fetches from the far end, the others bring it there. */
	bool reads = op == 2;
	region &near_mr = near.add(reads ? to : from, SIRO_ACCESS_LOCAL_WRITE);
	region &far_mr =
		far.add(reads ? from : to, SIRO_ACCESS_LOCAL_WRITE | SIRO_ACCESS_REMOTE_WRITE |
						   SIRO_ACCESS_REMOTE_READ);

	ASSERT_EQ(from.prepared, 0);
	ASSERT_EQ(to.prepared, 0);
	set_failure_handler([](const std::string &text) { ADD_FAILURE() << text; });

	content source = make_content(from.sig.memory, signature_noise(from.sig.data_length, seed));

	if (random() % 2)
		spoil(source, random);
	from.write(source);

	outcome sent = transfer(from.sig, SIRO_SIG_IN_MEMORY, source);
	outcome placed = transfer(to.sig, SIRO_SIG_ON_WIRE, sent.output);
	auto length = static_cast<uint32_t>(from.sig.wire_length);
	siro_sge near_sge = {iova, length, near_mr.key()};
	bool near_done = false, far_done = op != 0;

	ASSERT_TRUE(shake_hands(near, network));
	if (op == 0) {
		ASSERT_TRUE(far.qp->post_recv(1, {{iova, length, far_mr.key()}}));
		ASSERT_EQ(near.qp->post_send_kernel(make_send(2, {near_sge})), 0);
	} else {
		ASSERT_EQ(near.qp->post_send_kernel(
				  make_rdma(reads ? SIRO_WR_RDMA_READ : SIRO_WR_RDMA_WRITE, 2,
					    {near_sge}, iova, far_mr.key())),
			  0);
	}
	near.qp->run_requester();
	near.qp->settle();

	/* What is wrong is known as soon as a completion says that all is there. */
	ASSERT_TRUE(network.run_until([&] {
		return op ? take(*near.qp, &endpoint::poll_send, near_done)
			  : take(*far.qp, &endpoint::poll_recv, far_done);
	}));
	expect_verdict(to, placed.errors);

	content got = to.read();

	EXPECT_EQ(got.data, placed.output.data);
	if (to.sig.memory.format) {
		EXPECT_EQ(got.fields, placed.output.fields);
	}
	EXPECT_EQ(to.sig.blocks.count, 0u);
	ASSERT_TRUE(
		network.run_until([&] { return take(*near.qp, &endpoint::poll_send, near_done); }));
	expect_verdict(from, sent.errors);
	early += near.dev.counters[SIRO_CNT_OOO_PLACED] + far.dev.counters[SIRO_CNT_OOO_PLACED];
}

} // namespace

TEST(signature_link, transfer__between_any_two_regions_over_a_bad_network)
{
	uint64_t early = 0;

	for (unsigned seed = 1; seed <= 150 && !testing::Test::HasFailure(); seed++) {
		SCOPED_TRACE(seed);
		hand_over(seed, early);
	}
	EXPECT_GT(early, 0u);
}
