// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Port counters for "rdma statistic" and sysfs hw_counters. */
#include "siro.h"

#define SIRO_STAT(index, text)			\
	[SIRO_CNT_##index] = {			\
		.name = text,			\
	}

static const struct rdma_stat_desc siro_stats[SIRO_CNT_COUNT] = {
	SIRO_STAT(SENT_PKTS, "sent_pkts"),
	SIRO_STAT(RCVD_PKTS, "rcvd_pkts"),
	SIRO_STAT(DUPLICATE_REQUEST, "duplicate_request"),
	SIRO_STAT(OUT_OF_SEQ_REQUEST, "out_of_seq_request"),
	SIRO_STAT(RCVD_RNR_ERR, "rcvd_rnr_err"),
	SIRO_STAT(SEND_RNR_ERR, "send_rnr_err"),
	SIRO_STAT(RCVD_SEQ_ERR, "rcvd_seq_err"),
	SIRO_STAT(ACK_DEFERRED, "ack_deferred"),
	SIRO_STAT(RETRY_EXCEEDED_ERR, "retry_exceeded_err"),
	SIRO_STAT(RETRY_RNR_EXCEEDED_ERR, "retry_rnr_exceeded_err"),
	SIRO_STAT(COMPLETER_RETRY_ERR, "completer_retry_err"),
	SIRO_STAT(SEND_ERR, "send_err"),
	SIRO_STAT(LINK_DOWNED, "link_downed"),
	SIRO_STAT(RDMA_SENDS, "rdma_sends"),
	SIRO_STAT(RDMA_RECVS, "rdma_recvs"),
	SIRO_STAT(SENT_BYTES, "sent_bytes"),
	SIRO_STAT(RCVD_BYTES, "rcvd_bytes"),
	SIRO_STAT(SENT_BURSTS, "sent_bursts"),
	SIRO_STAT(RCVD_BATCHES, "rcvd_batches"),
	SIRO_STAT(RX_WRITE_REQUESTS, "rx_write_requests"),
	SIRO_STAT(RX_READ_REQUESTS, "rx_read_requests"),
	SIRO_STAT(RX_ATOMIC_REQUESTS, "rx_atomic_requests"),
	SIRO_STAT(OUT_OF_BUFFER, "out_of_buffer"),
	SIRO_STAT(LOCAL_ACK_TIMEOUT_ERR, "local_ack_timeout_err"),
	SIRO_STAT(IMPLIED_NAK_SEQ_ERR, "implied_nak_seq_err"),
	SIRO_STAT(SENT_NAKS, "sent_naks"),
	SIRO_STAT(REQ_CQE_ERROR, "req_cqe_error"),
	SIRO_STAT(RESP_CQE_ERROR, "resp_cqe_error"),
	SIRO_STAT(REQ_CQE_FLUSH_ERROR, "req_cqe_flush_error"),
	SIRO_STAT(RESP_CQE_FLUSH_ERROR, "resp_cqe_flush_error"),
	SIRO_STAT(MALFORMED_PKTS, "malformed_pkts"),
	SIRO_STAT(ICRC_ERRORS, "icrc_errors"),
	SIRO_STAT(UNKNOWN_QP, "unknown_qp"),
	SIRO_STAT(BAD_PKEY, "bad_pkey"),
	SIRO_STAT(BAD_QKEY, "bad_qkey"),
	SIRO_STAT(BAD_ADDRESS, "bad_address"),
	SIRO_STAT(WRONG_STATE, "wrong_state"),
	SIRO_STAT(STALE_RESPONSES, "stale_responses"),
	SIRO_STAT(RX_OVERFLOW, "rx_overflow"),
	SIRO_STAT(OOO_HELD, "ooo_held"),
	SIRO_STAT(OOO_DROPPED, "ooo_dropped"),
	SIRO_STAT(OOO_PLACED, "ooo_placed"),
	SIRO_STAT(OOO_AGED, "ooo_aged"),
	SIRO_STAT(GAPS, "gaps"),
	SIRO_STAT(SACK_SENT, "sack_sent"),
	SIRO_STAT(SACK_RECEIVED, "sack_received"),
	SIRO_STAT(SACK_INVALID, "sack_invalid"),
	SIRO_STAT(RETRANSMITTED_PKTS, "retransmitted_packets"),
	SIRO_STAT(SPURIOUS_RETRANSMITS, "spurious_retransmits"),
	SIRO_STAT(TAIL_PROBES, "tail_probes"),
	SIRO_STAT(QP_OOO_ACTIVE, "qp_ooo_active"),
	SIRO_STAT(REGISTRATIONS, "registrations"),
	SIRO_STAT(GAPS_REGISTRATIONS, "gaps_registrations"),
	SIRO_STAT(INDIRECT_REGISTRATIONS, "indirect_registrations"),
	SIRO_STAT(INVALIDATIONS, "invalidations"),
	SIRO_STAT(SIG_REGISTRATIONS, "sig_registrations"),
	SIRO_STAT(SIG_INSERTED, "sig_inserted"),
	SIRO_STAT(SIG_STRIPPED, "sig_stripped"),
	SIRO_STAT(SIG_PASSED, "sig_passed"),
	SIRO_STAT(SIG_CHECKED, "sig_checked"),
	SIRO_STAT(SIG_ESCAPED, "sig_escaped"),
	SIRO_STAT(SIG_GUARD_ERRORS, "sig_guard_errors"),
	SIRO_STAT(SIG_APP_ERRORS, "sig_app_errors"),
	SIRO_STAT(SIG_REF_ERRORS, "sig_ref_errors"),
	SIRO_STAT(SIG_DROPPED, "sig_dropped"),
};

struct rdma_hw_stats *siro_alloc_stats(struct ib_device *ibdev, u32 port)
{
	return rdma_alloc_hw_stats_struct(siro_stats, ARRAY_SIZE(siro_stats),
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

u64 siro_counter(struct siro_dev *dev, unsigned int counter)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(dev->counters, cpu)->value[counter]);
	return sum;
}

const char *siro_counter_name(unsigned int counter)
{
	return siro_stats[counter].name;
}

int siro_get_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats, u32 port, int index)
{
	struct siro_dev *dev = to_siro_dev(ibdev);
	unsigned int i;

	if (!port || !stats)
		return -EINVAL;

	for (i = 0; i < SIRO_CNT_COUNT; i++)
		stats->value[i] = siro_counter(dev, i);
	return SIRO_CNT_COUNT;
}
