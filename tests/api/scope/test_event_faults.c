/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The n-th allocation of each event of others fails, for n = 1, 2, .. until
 * none is left: a clean error or a way around, and all works afterwards.
 */
#include "tests/api/io.h"
#include "tests/faults/inject.h"

#include <sys/socket.h>

#define MAX_FAULTS 300
#define NR 12
#define MAX_CALLS 2000000

static struct lkdf_event kept[NR];

static int do_any(struct lkdf *rt)
{
	struct lkdf_event e, any[NR];
	int i, nr, rc;

	rc = lkdf_event_create(rt, 1, 0, &e);
	if (rc)
		return rc;
	for (i = 0; i < NR; i++)
		kept[i] = e;
	for (nr = 0; nr < NR && !rc; nr++)
		rc = lkdf_event_any(rt, kept, 1 + (unsigned)nr, &any[nr]);
	nr -= rc != 0;
	must(lkdf_event_signal(e, 0));
	lkdf_event_put(e);
	for (i = 0; i < nr; i++)
		must(lkdf_event_wait(any[i], -1));
	return rc;
}

static void add_one(void *u, int err)
{
	*(int *)u += err == 0;
}

static int do_call(struct lkdf *rt)
{
	int i, nr = 0, rc;
	struct lkdf_event e;

	rc = lkdf_event_create(rt, 1, 0, &e);
	if (rc)
		return rc;
	for (i = 0; i < 4 * NR && !rc; i++)
		rc = lkdf_event_call(e, add_one, &nr);
	i -= rc != 0;
	must(lkdf_event_signal(e, 0));
	lkdf_event_put(e);
	return rc || nr == i ? rc : -EPROTO;
}

static int do_fd(struct lkdf *rt)
{
	int fd[NR], i, nr = 0, rc;
	struct lkdf_event e;
	struct pollfd p;

	rc = lkdf_event_create(rt, 1, 0, &e);
	if (rc)
		return rc;
	while (nr < NR && rc >= 0) {
		rc = lkdf_event_fd(e);
		if (rc >= 0)
			fd[nr++] = rc;
	}
	must(lkdf_event_signal(e, 0));
	lkdf_event_put(e);
	for (i = 0; i < nr; i++) {
		p = (struct pollfd){ .fd = fd[i], .events = POLLIN };
		if (poll(&p, 1, 0) != 1)
			rc = -EPROTO;
		close(fd[i]);
	}
	return rc < 0 ? rc : 0;
}

static int do_from_fd(struct lkdf *rt)
{
	struct lkdf_event e[NR];
	int fd[2], i, nr, rc = 0, bad;

	must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd));
	for (nr = 0; nr < NR && !rc; nr++)
		rc = lkdf_event_from_fd(rt, fd[0], 0, &e[nr]);
	nr -= rc != 0;
	must(write(fd[1], "x", 1) == 1 ? 0 : -errno);
	for (i = 0; i < nr; i++) {
		if (i % 4) {
			bad = lkdf_event_wait(e[i], -1);
			rc = rc ? rc : bad;
		} else {
			lkdf_event_put(e[i]);
		}
	}
	close(fd[0]);
	close(fd[1]);
	return rc;
}

/* A fresh runtime for each fault, as what has memory needs no more. */
static void every_fault_is_clean(const char *what, const char *options,
				 int (*fn)(struct lkdf *rt))
{
	int n, rc, nr_errors = 0, bad = 0, broken = 0;
	struct lkdf *rt;

	for (n = 1; n < MAX_FAULTS; n++) {
		rt = api_open(options);
		inject(n);
		rc = fn(rt);
		if (!inject_came())
			n = MAX_FAULTS;
		inject(0);
		nr_errors += rc != 0;
		bad += rc && rc != -ENOMEM && rc != -EAGAIN;
		if (rc && rc != -ENOMEM && rc != -EAGAIN)
			printf("# fault %d: %d %s\n", n, rc, lkdf_errmsg());
		broken += fn(rt) != 0;
		broken += lkdf_close(rt) != 0;
	}
	ok(n > MAX_FAULTS, "%s, %s: all faults came (%d gave an error)", what,
	   options, nr_errors);
	is(bad, 0, "each gave -ENOMEM or -EAGAIN or was got around");
	is(broken, 0, "all worked afterwards");
}

/* None at all, and what the library has in store is used up. */
static void without_memory_they_say_so(const char *options)
{
	struct lkdf *rt = api_open(options);
	struct lkdf_event e, out = { 0 };
	int nr = 0, i, rc = 0, fd[2];

	must(pipe(fd));
	must(lkdf_event_create(rt, 1, 0, &e));
	for (i = 0; i < NR; i++)
		kept[i] = e;
	inject(-1);
	for (i = 0; i < MAX_CALLS && !rc; i++)
		rc = lkdf_event_call(e, add_one, &nr);
	is(rc, -ENOMEM, "%s: no memory for a call after %d", options, i);
	is(lkdf_event_fd(e), -ENOMEM, "none for a descriptor");
	is(lkdf_event_any(rt, kept, NR, &out), -ENOMEM, "none for an any");
	rc = lkdf_event_from_fd(rt, fd[0], 0, &out);
	ok(rc == -ENOMEM || rc == -EAGAIN, "none for a descriptor's event");
	ok(!out.slot, "out was not touched");
	inject(0);
	must(lkdf_event_signal(e, 0));
	lkdf_event_put(e);
	is(nr, i - 1, "all are called");
	is(do_any(rt) | do_call(rt) | do_fd(rt) | do_from_fd(rt), 0,
	   "all works afterwards");
	is(lkdf_close(rt), 0, "the runtime closes");
	close(fd[0]);
	close(fd[1]);
}

int main(void)
{
	size_t i;

	tap_start(120);
	if (!inject_init((void *)(uintptr_t)lkdf_open)) {
		printf("1..0 # SKIP faults cannot be injected here\n");
		return 0;
	}
	IO_EACH(i)
	{
		every_fault_is_clean("any", io_backends[i], do_any);
		every_fault_is_clean("call", io_backends[i], do_call);
		every_fault_is_clean("descriptor", io_backends[i], do_fd);
		every_fault_is_clean("from a descriptor", io_backends[i],
				     do_from_fd);
		without_memory_they_say_so(io_backends[i]);
	}
	return tap_end();
}
