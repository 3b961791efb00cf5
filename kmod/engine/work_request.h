// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What the opcode of a send work request says about it. */
#pragma once

#include "base/base.h"

#include "siro_engine.h"

namespace sirocco {

constexpr bool is_send(u8 op)
{
	return op == SIRO_WR_SEND || op == SIRO_WR_SEND_WITH_IMM || op == SIRO_WR_SEND_WITH_INV;
}

constexpr bool is_write(u8 op)
{
	return op == SIRO_WR_RDMA_WRITE || op == SIRO_WR_RDMA_WRITE_WITH_IMM;
}

constexpr bool is_read(u8 op)
{
	return op == SIRO_WR_RDMA_READ || op == SIRO_WR_RDMA_READ_WITH_INV;
}

constexpr bool is_atomic(u8 op)
{
	return op == SIRO_WR_ATOMIC_CMP_AND_SWP || op == SIRO_WR_ATOMIC_FETCH_AND_ADD;
}

/* Executed in the queue itself, never on the wire. */
constexpr bool is_local(u8 op)
{
	return op == SIRO_WR_LOCAL_INV || op == SIRO_WR_REG_MR || op == SIRO_WR_REG_INDIR_MR ||
	       op == SIRO_WR_REG_MR_INTEGRITY || op == SIRO_WR_MKEY_CONF || op == SIRO_WR_NOP;
}

/* Ends only when a response with data has come. */
constexpr bool wants_response(u8 op)
{
	return is_read(op) || is_atomic(op);
}

constexpr bool has_immediate(u8 op)
{
	return op == SIRO_WR_SEND_WITH_IMM || op == SIRO_WR_RDMA_WRITE_WITH_IMM;
}

/* Takes a receive WQE at the peer, so it needs a credit. */
constexpr bool consumes_receive(u8 op)
{
	return is_send(op) || op == SIRO_WR_RDMA_WRITE_WITH_IMM;
}

constexpr bool is_kernel_only(u8 op)
{
	return op == SIRO_WR_REG_MR || op == SIRO_WR_REG_INDIR_MR ||
	       op == SIRO_WR_REG_MR_INTEGRITY || op == SIRO_WR_RDMA_READ_WITH_INV;
}

constexpr bool is_user_only(u8 op)
{
	return op == SIRO_WR_MKEY_CONF;
}

constexpr bool is_known(u8 op)
{
	return is_send(op) || is_write(op) || is_read(op) || is_atomic(op) || is_local(op);
}

constexpr bool is_allowed(u8 op, u32 qp_type, bool user)
{
	if (qp_type != SIRO_QPT_RC)
		return op == SIRO_WR_SEND || op == SIRO_WR_SEND_WITH_IMM;
	return is_known(op) && op != SIRO_WR_NOP && !(user ? is_kernel_only(op) : is_user_only(op));
}

constexpr u8 completion_opcode(u8 op)
{
	switch (op) {
	case SIRO_WR_RDMA_WRITE:
	case SIRO_WR_RDMA_WRITE_WITH_IMM:
		return SIRO_WC_RDMA_WRITE;
	case SIRO_WR_RDMA_READ:
	case SIRO_WR_RDMA_READ_WITH_INV:
		return SIRO_WC_RDMA_READ;
	case SIRO_WR_ATOMIC_CMP_AND_SWP:
		return SIRO_WC_COMP_SWAP;
	case SIRO_WR_ATOMIC_FETCH_AND_ADD:
		return SIRO_WC_FETCH_ADD;
	case SIRO_WR_LOCAL_INV:
		return SIRO_WC_LOCAL_INV;
	case SIRO_WR_REG_MR:
	case SIRO_WR_REG_MR_INTEGRITY:
		return SIRO_WC_REG_MR;
	case SIRO_WR_REG_INDIR_MR:
		return SIRO_WC_REG_INDIR_MR;
	case SIRO_WR_MKEY_CONF:
		return SIRO_WC_MKEY_CONF;
	case SIRO_WR_NOP:
		return SIRO_WC_NOP;
	default:
		return SIRO_WC_SEND;
	}
}

} // namespace sirocco
