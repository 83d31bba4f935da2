/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What the tests of operations share: every backend in turn, a directory of
 * their own, and one operation at a time with its result.
 *
 * A test that defines IO_BUSY and includes another one runs it with all workers
 * inside long bodies: as soon as one has ended the next one begins. They last
 * LKDF_TEST_BODY_MS, 3 if that is not set.
 */
#ifndef TESTS_API_IO_H
#define TESTS_API_IO_H

#include "tests/api/api.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sys/stat.h>

static const char *const io_backends[] = {
	"workers=2",
	"workers=2,io=threads",
	"serial=yes",
};

#ifdef IO_BUSY
/* Serial mode has no workers. */
#define IO_EACH(i) for (i = 0; i < 2; i++)
#else
#define IO_EACH(i) \
	for (i = 0; i < sizeof(io_backends) / sizeof(io_backends[0]); i++)
#endif

#define IO(...) \
	(&(struct lkdf_io){ .size = sizeof(struct lkdf_io), __VA_ARGS__ })

static char io_dir[] = "/tmp/lkdf-io-XXXXXX";

/* Behind the operation: where its result goes. */
struct io_call {
	struct lkdf_io io;
	int64_t *result;
};

#ifdef IO_BUSY
/* Twice as many as workers: the next one is there when one ends. */
#define IO_NR_BUSY 4

static struct io_busy {
	struct lkdf *rt;
	struct lkdf_kind *kind;
	pthread_t thread;
	long body_ns;
	atomic_int is_over;
} io_busy;

static int io_busy_body(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	api_nap_ns(io_busy.body_ns);
	return 0;
}

static void *io_busy_main(void *arg)
{
	struct lkdf_event done[IO_NR_BUSY];
	struct io_busy *b = arg;
	int i;

	for (i = 0; i < IO_NR_BUSY || !atomic_load(&b->is_over); i++) {
		if (i >= IO_NR_BUSY)
			lkdf_event_wait(done[i % IO_NR_BUSY], -1);
		must(lkdf_submit(b->rt, NULL, ATTR(lkdf_task, .kind = b->kind),
				 &done[i % IO_NR_BUSY]));
	}
	for (i = 0; i < IO_NR_BUSY; i++)
		lkdf_event_wait(done[i], -1);
	return NULL;
}

static struct lkdf *io_open(const char *options)
{
	const char *ms = getenv("LKDF_TEST_BODY_MS");
	struct lkdf *rt = api_open(options);

	io_busy.body_ns = 1000000 * (ms ? strtol(ms, NULL, 10) : 3);
	io_busy.rt = rt;
	io_busy.kind = api_kind(rt, "busy", io_busy_body, 0, 0);
	atomic_store(&io_busy.is_over, 0);
	pthread_create(&io_busy.thread, NULL, io_busy_main, &io_busy);
	return rt;
}

static int io_close(struct lkdf *rt)
{
	atomic_store(&io_busy.is_over, 1);
	pthread_join(io_busy.thread, NULL);
	lkdf_kind_put(io_busy.kind);
	lkdf_scope_wait(rt, NULL, -1);
	return lkdf_close(rt);
}
#else
__attribute__((unused)) static struct lkdf *io_open(const char *options)
{
	return api_open(options);
}

__attribute__((unused)) static int io_close(struct lkdf *rt)
{
	/* Who has been overtaken behind the use of its data ends, too. */
	lkdf_scope_wait(rt, NULL, -1);
	return lkdf_close(rt);
}
#endif

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

/*
 * Is it what it was? That a number is open says nothing: once it is closed, the
 * library may get it for a descriptor of its own.
 */
__attribute__((unused)) static bool io_is_still(int fd, const struct stat *was)
{
	struct stat now;

	return !fstat(fd, &now) && now.st_dev == was->st_dev &&
	       now.st_ino == was->st_ino;
}

__attribute__((unused)) static void io_begin(void)
{
	if (!mkdtemp(io_dir)) {
		printf("Bail out! %s: %s\n", io_dir, strerror(errno));
		exit(1);
	}
#ifdef IO_BUSY
	watchdog_set(300);
#endif
}

__attribute__((unused)) static void io_end(void)
{
	rmdir(io_dir);
}

#endif
