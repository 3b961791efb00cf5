/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM sirocco

#if !defined(SIRO_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define SIRO_TRACE_H

#include <linux/tracepoint.h>

DECLARE_EVENT_CLASS(siro_packets,
	TP_PROTO(u32 device, u32 qpn, u32 packets, u32 bytes),
	TP_ARGS(device, qpn, packets, bytes),
	TP_STRUCT__entry(
		__field(u32, device)
		__field(u32, qpn)
		__field(u32, packets)
		__field(u32, bytes)
	),
	TP_fast_assign(
		__entry->device = device;
		__entry->qpn = qpn;
		__entry->packets = packets;
		__entry->bytes = bytes;
	),
	TP_printk("dev=%u qpn=%u packets=%u bytes=%u", __entry->device, __entry->qpn,
		  __entry->packets, __entry->bytes)
);

/* A burst leaves; @qpn is the sender. */
DEFINE_EVENT(siro_packets, siro_tx_burst,
	TP_PROTO(u32 device, u32 qpn, u32 packets, u32 bytes),
	TP_ARGS(device, qpn, packets, bytes)
);

/* A batch has come; @qpn is the receiver. */
DEFINE_EVENT(siro_packets, siro_rx_batch,
	TP_PROTO(u32 device, u32 qpn, u32 packets, u32 bytes),
	TP_ARGS(device, qpn, packets, bytes)
);

TRACE_EVENT(siro_qp_state,
	TP_PROTO(u32 device, u32 qpn, u32 from, u32 to),
	TP_ARGS(device, qpn, from, to),
	TP_STRUCT__entry(
		__field(u32, device)
		__field(u32, qpn)
		__field(u32, from)
		__field(u32, to)
	),
	TP_fast_assign(
		__entry->device = device;
		__entry->qpn = qpn;
		__entry->from = from;
		__entry->to = to;
	),
	TP_printk("dev=%u qpn=%u state %u to %u", __entry->device, __entry->qpn, __entry->from,
		  __entry->to)
);

DECLARE_EVENT_CLASS(siro_mr,
	TP_PROTO(u32 device, u32 key, u32 layout, u64 length),
	TP_ARGS(device, key, layout, length),
	TP_STRUCT__entry(
		__field(u64, length)
		__field(u32, device)
		__field(u32, key)
		__field(u32, layout)
	),
	TP_fast_assign(
		__entry->length = length;
		__entry->device = device;
		__entry->key = key;
		__entry->layout = layout;
	),
	TP_printk("dev=%u key=%#x layout=%u length=%llu", __entry->device, __entry->key,
		  __entry->layout, __entry->length)
);

/* A region became valid by a work request or a call. */
DEFINE_EVENT(siro_mr, siro_mr_register,
	TP_PROTO(u32 device, u32 key, u32 layout, u64 length),
	TP_ARGS(device, key, layout, length)
);

/* It is out of use: no access succeeds any more. */
DEFINE_EVENT(siro_mr, siro_mr_invalidate,
	TP_PROTO(u32 device, u32 key, u32 layout, u64 length),
	TP_ARGS(device, key, layout, length)
);

/* A block of a transfer had a bad field; @latched: the first of its region. */
TRACE_EVENT(siro_sig_error,
	TP_PROTO(u32 device, u32 qpn, u32 key, u32 type, u32 domain, u64 expected, u64 actual,
		 u64 offset, bool latched),
	TP_ARGS(device, qpn, key, type, domain, expected, actual, offset, latched),
	TP_STRUCT__entry(
		__field(u64, expected)
		__field(u64, actual)
		__field(u64, offset)
		__field(u32, device)
		__field(u32, qpn)
		__field(u32, key)
		__field(u8, type)
		__field(u8, domain)
		__field(bool, latched)
	),
	TP_fast_assign(
		__entry->expected = expected;
		__entry->actual = actual;
		__entry->offset = offset;
		__entry->device = device;
		__entry->qpn = qpn;
		__entry->key = key;
		__entry->type = type;
		__entry->domain = domain;
		__entry->latched = latched;
	),
	TP_printk("dev=%u qpn=%u key=%#x type=%u domain=%u expected=%#llx actual=%#llx "
		  "offset=%llu latched=%d", __entry->device, __entry->qpn, __entry->key,
		  __entry->type, __entry->domain, __entry->expected, __entry->actual,
		  __entry->offset, __entry->latched)
);

/* A consumer was told of it. */
TRACE_EVENT(siro_sig_check,
	TP_PROTO(u32 device, u32 key, u32 type, u64 offset),
	TP_ARGS(device, key, type, offset),
	TP_STRUCT__entry(
		__field(u64, offset)
		__field(u32, device)
		__field(u32, key)
		__field(u32, type)
	),
	TP_fast_assign(
		__entry->offset = offset;
		__entry->device = device;
		__entry->key = key;
		__entry->type = type;
	),
	TP_printk("dev=%u key=%#x type=%u offset=%llu", __entry->device, __entry->key,
		  __entry->type, __entry->offset)
);

TRACE_EVENT(siro_wc_error,
	TP_PROTO(u32 device, u32 qpn, u64 wr_id, u32 opcode, u32 status),
	TP_ARGS(device, qpn, wr_id, opcode, status),
	TP_STRUCT__entry(
		__field(u64, wr_id)
		__field(u32, device)
		__field(u32, qpn)
		__field(u32, opcode)
		__field(u32, status)
	),
	TP_fast_assign(
		__entry->wr_id = wr_id;
		__entry->device = device;
		__entry->qpn = qpn;
		__entry->opcode = opcode;
		__entry->status = status;
	),
	TP_printk("dev=%u qpn=%u wr_id=%#llx opcode=%u status=%u", __entry->device,
		  __entry->qpn, __entry->wr_id, __entry->opcode, __entry->status)
);

#endif /* SIRO_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE tracepoints
#include <trace/define_trace.h>
