/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What the tests of operations share: every backend in turn, a directory of
 * their own, and one operation at a time with its result.
 */
#ifndef TESTS_API_IO_H
#define TESTS_API_IO_H

#include "tests/api/api.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/stat.h>

static const char *const io_backends[] = {
	"workers=2",
	"workers=2,io=owner",
	"workers=2,io_sqpoll=1",
	"workers=2,io=threads",
	"serial=yes",
};

#define IO_EACH(i) \
	for (i = 0; i < sizeof(io_backends) / sizeof(io_backends[0]); i++)

#define IO(...) \
	(&(struct lkdf_io){ .size = sizeof(struct lkdf_io), __VA_ARGS__ })

static char io_dir[] = "/tmp/lkdf-io-XXXXXX";

/* Behind the operation: where its result goes. */
struct io_call {
	struct lkdf_io io;
	int64_t *result;
};

static int io_note(struct lkdf_ctx *c, void *arg)
{
	struct io_call *call = arg;

	*call->result = lkdf_io_result(c);
	return 0;
}

__attribute__((unused)) static struct lkdf_kind *
io_kind(struct lkdf *rt, lkdf_fn fn, size_t arg_size)
{
	struct lkdf_kind *k = NULL;

	must(lkdf_kind_create_io(rt,
				 ATTR(lkdf_kind_attr, .name = "io", .fn = fn,
				      .arg_size = (uint32_t)arg_size),
				 &k));
	return k;
}

/* One operation; its result. */
__attribute__((unused)) static int64_t io_call(struct lkdf *rt,
					       const struct lkdf_io *io)
{
	struct lkdf_kind *k = io_kind(rt, io_note, sizeof(struct io_call));
	int64_t result = INT64_MIN;
	struct io_call call = { .io = *io, .result = &result };

	must(api_call(rt, k, &call));
	lkdf_kind_put(k);
	return result;
}

/* One operation of a kind without a function; the task's error. */
__attribute__((unused)) static int io_error(struct lkdf *rt,
					    const struct lkdf_io *io)
{
	struct lkdf_kind *k = io_kind(rt, NULL, 0);
	int rc = api_call(rt, k, io);

	lkdf_kind_put(k);
	return rc;
}

__attribute__((unused)) static const char *io_path(const char *name)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", io_dir, name);
	return path;
}

__attribute__((unused)) static void io_fill(char *bytes, size_t size,
					    unsigned seed)
{
	size_t i;

	for (i = 0; i < size; i++) {
		seed = seed * 1103515245 + 12345;
		bytes[i] = (char)(seed >> 16);
	}
}

/* A file with such bytes, open for reading and writing. */
__attribute__((unused)) static int io_file(const char *name, const char *bytes,
					   size_t size)
{
	int fd = open(io_path(name), O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC,
		      0600);

	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size) {
		printf("Bail out! %s: %s\n", io_path(name), strerror(errno));
		exit(1);
	}
	return fd;
}

__attribute__((unused)) static void io_begin(void)
{
	if (!mkdtemp(io_dir)) {
		printf("Bail out! %s: %s\n", io_dir, strerror(errno));
		exit(1);
	}
}

__attribute__((unused)) static void io_end(void)
{
	rmdir(io_dir);
}

#endif
