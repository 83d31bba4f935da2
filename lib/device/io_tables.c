/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "device/io_tables.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static int tell(const struct uring *u, unsigned what, void *arg, unsigned nr)
{
	long rc = syscall(SYS_io_uring_register, u->fd, what, arg, nr);

	return rc < 0 ? -errno : (int)rc;
}

/* All slots empty. */
static int make_table(const struct uring *u, unsigned what)
{
	struct io_uring_rsrc_register table;

	memset(&table, 0, sizeof(table));
	table.nr = URING_NR_SLOTS;
	table.flags = IORING_RSRC_REGISTER_SPARSE;
	return tell(u, what, &table, sizeof(table));
}

/* How many slots it has set: one; or -errno. -ENXIO: there is no table. */
static int set(const struct uring *u, unsigned what, uint32_t slot,
	       const void *to)
{
	struct io_uring_rsrc_update2 update;

	memset(&update, 0, sizeof(update));
	update.offset = slot;
	update.data = (uint64_t)(uintptr_t)to;
	update.nr = 1;
	return tell(u, what, &update, sizeof(update));
}

int uring_set_file(const struct uring *u, uint32_t slot, int fd)
{
	int rc = set(u, IORING_REGISTER_FILES_UPDATE2, slot, &fd);

	if (rc == -ENXIO)
		rc = make_table(u, IORING_REGISTER_FILES2);
	if (!rc)
		rc = set(u, IORING_REGISTER_FILES_UPDATE2, slot, &fd);
	return rc < 0 ? rc : 0;
}

int uring_set_buffer(const struct uring *u, uint32_t slot, const void *bytes,
		     size_t size)
{
	struct iovec one = { (void *)(uintptr_t)bytes, size };
	int rc = set(u, IORING_REGISTER_BUFFERS_UPDATE, slot, &one);

	if (rc == -ENXIO)
		rc = make_table(u, IORING_REGISTER_BUFFERS2);
	if (!rc)
		rc = set(u, IORING_REGISTER_BUFFERS_UPDATE, slot, &one);
	return rc < 0 ? rc : 0;
}
