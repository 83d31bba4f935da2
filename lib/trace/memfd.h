/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Memory of the library that tools may map: a memfd that cannot shrink. */
#ifndef TRACE_MEMFD_H
#define TRACE_MEMFD_H

#include <stddef.h>

/*
 * Memory of zeros that tools see; where there is no memfd, memory that nobody
 * else sees. *fd: the memfd, or why there is none, -errno: -EFBIG, the limit of
 * file sizes is below size. NULL: there is no memory.
 */
void *memfd_map(const char *name, size_t size, int *fd);

#endif
