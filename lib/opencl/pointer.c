/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Values for pointer parameters. The specification wants a cl_mem there, and
 * drivers follow whatever they are given: an address of the host ends the
 * process. So the library looks first, at the one thing that objects of all
 * drivers of a loader have in common: their first word is the address of the
 * driver's table of calls (cl_khr_icd).
 */
#include "opencl/device.h"

#include "base/err.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/* The first word at whatever address: 0; -EFAULT; else the system refuses. */
static int first_word(const void *at, uintptr_t *out)
{
	struct iovec to = { out, sizeof(*out) };
	struct iovec from = { (void *)(uintptr_t)at, sizeof(*out) };
	ssize_t n = process_vm_readv(getpid(), &to, 1, &from, 1, 0);

	if (n < 0)
		return -errno;
	return n == (ssize_t)sizeof(*out) ? 0 : -EFAULT;
}

/* Where nobody knows, because the driver or the system does not tell: true. */
static bool may_be_object(const struct opencl_device *d, const void *p)
{
	uintptr_t table, of_queue, word = 0;
	int rc;

	memcpy(&table, d->context, sizeof(table));
	memcpy(&of_queue, d->queue[0], sizeof(of_queue));
	if (!table || table != of_queue)
		return true;
	rc = first_word(p, &word);
	return rc ? rc != -EFAULT : word == table;
}

/* Also false where the driver does not tell. */
static bool is_pointer(const struct opencl_device *d, ocl_kernel k, uint32_t i)
{
	uint32_t where = 0;

	return !d->cl.clGetKernelArgInfo(k, i, OCL_KERNEL_ARG_ADDRESS_QUALIFIER,
					 sizeof(where), &where, NULL) &&
	       (where == OCL_KERNEL_ARG_ADDRESS_GLOBAL ||
		where == OCL_KERNEL_ARG_ADDRESS_CONSTANT);
}

int opencl_check_pointer(const struct opencl_device *d,
			 const struct lkdf_launch *l, uint32_t i)
{
	const struct lkdf_arg *a = &l->arg[i];
	void *p = NULL;

	if (a->sort != LKDF_ARG_BYTES || a->bytes != sizeof(p))
		return 0;
	memcpy(&p, a->value, sizeof(p));
	/* NULL is a pointer of OpenCL's, too. */
	if (!p || !is_pointer(d, l->function, i) || may_be_object(d, p))
		return 0;
	/* The name of the kernel comes before it, and a text has an end. */
	return err(-EINVAL,
		   "opencl: parameter %u is a pointer, its value %p no cl_mem: "
		   "give a use, or an address of lkdf_block()",
		   i, p);
}
