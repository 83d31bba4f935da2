/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Where the range of a task's launch comes from. */
#include "offload/maker.h"

#include "base/err.h"

#include <errno.h>

int maker_find_range(const struct maker *m, uint64_t range[3])
{
	const struct lkdf_kernel_attr *a = &m->k->attr;
	const size_t size = sizeof(a->range);

	memset(range, 0, size);
	switch (a->range_from) {
	case LKDF_RANGE_VALUE:
		memcpy(range, a->range, size);
		break;
	case LKDF_RANGE_TASK:
		memcpy(range, m->arg + a->range_at, size);
		break;
	case LKDF_RANGE_PORT:
		return maker_port_range(m, range);
	case LKDF_RANGE_USE:
		if (a->range_at >= m->r->nr_use)
			return err(-EINVAL,
				   "kernel %s: the range is use %u, the task "
				   "has %u",
				   m->k->name, a->range_at, m->r->nr_use);
		if (m->r->use[a->range_at].bytes < size)
			return err(-EINVAL,
				   "kernel %s: the range is use %u of %llu "
				   "bytes: expected three uint64_t",
				   m->k->name, a->range_at,
				   (unsigned long long)m->r->use[a->range_at]
					   .bytes);
		memcpy(range, m->r->use[a->range_at].at, size);
		break;
	}
	return 0;
}
