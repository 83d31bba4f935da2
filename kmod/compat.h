/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions that older kernels lack, under the names that newer ones give them:
 * the only place that asks for a version. In the kernel's own tree it is empty.
 */
#ifndef LKDF_COMPAT_H
#define LKDF_COMPAT_H

#include <linux/mm.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
static inline void vm_flags_set(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags |= flags;
}

static inline void vm_flags_clear(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags &= ~flags;
}
#endif

#endif
