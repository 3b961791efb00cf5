/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Differences of memory management between kernels. */
#ifndef SIRO_COMPAT_MM_H
#define SIRO_COMPAT_MM_H

#include <linux/mm.h>
#include <linux/version.h>

static inline void siro_vm_flags_clear(struct vm_area_struct *vma, unsigned long flags)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	vm_flags_clear(vma, flags);
#else
	vma->vm_flags &= ~flags;
#endif
}

#endif /* SIRO_COMPAT_MM_H */
