/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What the tests of faults share: a mount namespace of their own, operations
 * that are started together, and the number of open descriptors.
 */
#ifndef TESTS_API_IO_FAULT_H
#define TESTS_API_IO_FAULT_H

#include "tests/api/io.h"

#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/resource.h>

/* Serial mode waits where it starts an operation: it has none under way. */
static const char *const io_fault_backends[] = {
	"workers=2",
	"workers=2,io=threads",
};

#define IO_FAULT_EACH(i) for (i = 0; i < 2; i++)

__attribute__((unused)) static int io_nr_fds(void)
{
	return api_nr_entries("/proc/self/fd");
}

/* It is in *result when *done is over. */
__attribute__((unused)) static void io_start(struct lkdf *rt,
					     const struct lkdf_io *io,
					     int64_t *result,
					     struct lkdf_event *done)
{
	struct lkdf_kind *k = io_kind(rt, io_note, sizeof(struct io_call));
	struct io_call call = { .io = *io, .result = result };

	*result = INT64_MIN;
	must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k, .arg = &call),
			 done));
	lkdf_kind_put(k);
}

/* Waits until nothing is left to be read: an operation has it. */
__attribute__((unused)) static void io_until_empty(int fd)
{
	int nr = 1;

	while (!ioctl(fd, FIONREAD, &nr) && nr)
		api_nap_ns(100000);
}

/* A pipe whose first byte a read of two has taken: the read is under way. */
__attribute__((unused)) static void io_half_read(struct lkdf *rt, int *fd,
						 char *to, int64_t *result,
						 struct lkdf_event *done)
{
	must(pipe2(fd, O_CLOEXEC));
	if (write(fd[1], "a", 1) != 1)
		exit(1);
	io_start(rt,
		 IO(.op = LKDF_IO_READ, .fd = fd[0], .buf = to, .len = 2,
		    .off = -1),
		 result, done);
	io_until_empty(fd[0]);
}

__attribute__((unused)) static void io_write_text(const char *path,
						  const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, text, strlen(text)) < 0)
		printf("# %s: %s\n", path, strerror(errno));
	close(fd);
}

/* In a new user namespace this user, whatever its number, is root. */
static void io_be_root(uid_t uid, gid_t gid)
{
	char map[64];

	snprintf(map, sizeof(map), "0 %u 1", (unsigned)uid);
	io_write_text("/proc/self/uid_map", map);
	io_write_text("/proc/self/setgroups", "deny");
	snprintf(map, sizeof(map), "0 %u 1", (unsigned)gid);
	io_write_text("/proc/self/gid_map", map);
}

/*
 * Mounts of this process that nobody else sees: as root, or as the root of a
 * user namespace. False: refused. One thread only.
 */
__attribute__((unused)) static bool io_own_mounts(void)
{
	uid_t uid = getuid();
	gid_t gid = getgid();

	if (unshare(CLONE_NEWNS)) {
		if (unshare(CLONE_NEWUSER | CLONE_NEWNS))
			return false;
		io_be_root(uid, gid);
	}
	return !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL);
}

#endif
