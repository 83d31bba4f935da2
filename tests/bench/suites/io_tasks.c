/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Reads as tasks: as many streams as reads are under way, and the function of a
 * read submits the stream's next one. Streams share nothing.
 */
#include "tests/bench/suites/io.h"

#include <lkdf/lkdf.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>

struct stream {
	const struct io_load *l;
	struct io_tasks *t;
	uint32_t i, slot, nr_wrong;
	int rc;
};

/* The task's argument. */
struct step {
	struct lkdf_io io;
	struct stream *s;
};

static int submit(struct stream *s)
{
	struct step step = { .io = { .size = sizeof(step.io),
				     .op = LKDF_IO_READ,
				     .fd = s->l->file->fd,
				     .len = IO_PAGE,
				     .off = io_load_offset(s->l, s->i),
				     .buf = s->l->buf +
					    (size_t)s->slot * IO_PAGE },
			     .s = s };
	struct lkdf_task t = { .size = sizeof(t),
			       .kind = s->t->kind,
			       .arg = &step };

	return lkdf_submit(s->t->rt, NULL, &t, NULL);
}

static int came(struct lkdf_ctx *c, void *arg)
{
	struct stream *s = ((struct step *)arg)->s;
	int rc;

	s->nr_wrong += !io_load_came(s->l, s->i, s->slot, lkdf_io_result(c));
	s->i += s->l->qd;
	if (s->i >= s->l->nr)
		return 0;
	rc = submit(s);
	/* Without an error the stream is the next function's by now. */
	if (rc)
		s->rc = rc;
	return rc;
}

int io_tasks_open(struct io_tasks *t, int nr_workers, const char *mode)
{
	struct lkdf_kind_attr a = { .size = sizeof(a),
				    .flags = LKDF_SHARED,
				    .arg_size = sizeof(struct step),
				    .name = "read",
				    .fn = came };
	char text[64];
	int rc;

	memset(t, 0, sizeof(*t));
	/* The interrupt comes to one CPU: who is by hand is bound to none. */
	snprintf(text, sizeof(text), "io=%s%s", mode,
		 nr_workers < get_nprocs() ? ",pin=no" : "");
	rc = bench_open(nr_workers, text, &t->rt);
	if (rc)
		return rc;
	rc = lkdf_kind_create_io(t->rt, &a, &t->kind);
	return rc ? bench_fail(rc, "io: kind: %s", lkdf_errmsg()) : 0;
}

/* The streams' errors, and what they have read. */
static int wrong(const struct stream *s, uint32_t nr)
{
	uint32_t i;

	for (i = 0; i < nr; i++) {
		if (s[i].rc)
			return bench_fail(s[i].rc, "io: a task: %s",
					  strerror(-s[i].rc));
		if (s[i].nr_wrong)
			return bench_fail(-EBADMSG, "io: tasks: wrong bytes");
	}
	return 0;
}

/* All streams to their end. Nanoseconds, or -errno. */
static int64_t run(struct io_tasks *t, const struct io_load *l,
		   struct stream *s)
{
	int64_t ns = bench_now_ns();
	uint32_t i;
	int rc = 0;

	for (i = 0; i < l->qd && i < l->nr && !rc; i++) {
		s[i] = (struct stream){ .l = l, .t = t, .i = i, .slot = i };
		rc = submit(&s[i]);
	}
	if (rc)
		bench_fail(rc, "io: submit: %s", lkdf_errmsg());
	lkdf_scope_wait(t->rt, NULL, -1);
	ns = bench_now_ns() - ns;
	if (!rc)
		rc = wrong(s, l->qd);
	return rc ? rc : ns;
}

/* This ring has registered all that the best ring by hand has. */
int64_t io_tasks_run(struct io_tasks *t, const struct io_load *l)
{
	struct stream *s = calloc(l->qd, sizeof(*s));
	int64_t ns;

	if (!s)
		return bench_fail(-ENOMEM, "io: no memory");
	if (lkdf_io_register_file(t->rt, l->file->fd) ||
	    lkdf_io_register_buffer(t->rt, l->buf,
				    (uint64_t)IO_MAX_QD * IO_PAGE))
		ns = bench_fail(-EINVAL, "io: %s", lkdf_errmsg());
	else
		ns = run(t, l, s);
	lkdf_io_unregister_file(t->rt, l->file->fd);
	lkdf_io_unregister_buffer(t->rt, l->buf);
	free(s);
	return ns;
}

void io_tasks_close(struct io_tasks *t)
{
	if (t->rt)
		lkdf_scope_wait(t->rt, NULL, -1);
	lkdf_kind_put(t->kind);
	lkdf_close(t->rt);
}
