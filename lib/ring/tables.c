/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "ring/tables.h"

#include <errno.h>
#include <liburing.h>

/* -ENXIO: there is no table yet; all its slots are empty when it is made. */
int uring_set_file(const struct uring *u, uint32_t slot, int fd)
{
	int rc =
		io_uring_register_files_update_tag(u->made, slot, &fd, NULL, 1);

	if (rc == -ENXIO)
		rc = io_uring_register_files_sparse(u->made, URING_NR_SLOTS);
	if (!rc)
		rc = io_uring_register_files_update_tag(u->made, slot, &fd,
							NULL, 1);
	return rc < 0 ? rc : 0;
}

int uring_set_buffer(const struct uring *u, uint32_t slot, const void *bytes,
		     size_t size)
{
	struct iovec one = { (void *)(uintptr_t)bytes, size };
	int rc = io_uring_register_buffers_update_tag(u->made, slot, &one, NULL,
						      1);

	if (rc == -ENXIO)
		rc = io_uring_register_buffers_sparse(u->made, URING_NR_SLOTS);
	if (!rc)
		rc = io_uring_register_buffers_update_tag(u->made, slot, &one,
							  NULL, 1);
	return rc < 0 ? rc : 0;
}
