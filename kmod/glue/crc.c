// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* CRC-32 by the fastest code for the CPU, the length and the caller. */
#include <linux/crc32.h>
#include <linux/sched.h>

#include "crc_fold.h"
#include "siro_port.h"

#ifdef CONFIG_X86_64 /* set in User-mode Linux, which lacks CONFIG_X86 */
#include <asm/cpufeature.h>
#include <asm/fpu/api.h>

/*
 * Taking the vector registers from a program and giving them back costs 110 ns,
 * once until it runs again. The tables do as many bytes in that time.
 */
#define SIRO_CRC_FOLD_TAKING 256

static bool siro_crc_registers_free(void)
{
#ifdef CONFIG_X86
	return current->flags & PF_KTHREAD || test_thread_flag(TIF_NEED_FPU_LOAD);
#else
	return true; /* the host kernel keeps them apart */
#endif
}

static bool siro_crc_folds(u64 length)
{
	return length >= SIRO_CRC_FOLD_MIN &&
	       (length >= SIRO_CRC_FOLD_TAKING || siro_crc_registers_free()) &&
	       boot_cpu_has(X86_FEATURE_PCLMULQDQ) && boot_cpu_has(X86_FEATURE_XMM4_1) &&
	       irq_fpu_usable();
}

__u32 siro_port_crc32(__u32 crc, const void *data, __u64 length)
{
	if (!siro_crc_folds(length))
		return crc32_le(crc, data, length);

	kernel_fpu_begin();
	crc = siro_crc_fold(crc, data, length);
	kernel_fpu_end();
	return crc;
}
#else
__u32 siro_port_crc32(__u32 crc, const void *data, __u64 length)
{
	return crc32_le(crc, data, length);
}
#endif
