/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The shapes of lkdf bench cpp by the C calls. */
#include "tests/bench/cpp.h"
#include "tests/bench/loop.h"

#include <lkdf/lkdf.h>

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

static int add_block(uint64_t begin, uint64_t end, void *u)
{
	loop_block(u, begin, end);
	return 0;
}

int cpp_c_loop(struct cpp_job *j)
{
	struct lkdf_range r = { 0, j->size, 0 };

	return lkdf_for(j->rt, r, add_block, j->x);
}

static int sum_block(uint64_t begin, uint64_t end, void *acc, void *u)
{
	const uint32_t *x = u;
	uint64_t sum = *(uint64_t *)acc, i;

	for (i = begin; i < end; i++)
		sum += x[i];
	*(uint64_t *)acc = sum;
	return 0;
}

static int join_sums(void *acc, const void *other, void *u)
{
	(void)u;
	*(uint64_t *)acc += *(const uint64_t *)other;
	return 0;
}

int cpp_c_reduce(struct cpp_job *j)
{
	struct lkdf_reduce_attr a = { .size = sizeof(a),
				      .range = { 0, j->size, 0 },
				      .fn = sum_block,
				      .join = join_sums,
				      .u = j->x,
				      .acc = &j->result,
				      .acc_bytes = sizeof(j->result) };

	j->result = 0;
	return lkdf_reduce(j->rt, &a);
}

/* A kind whose arguments are borrowed. */
static int make_kind(struct lkdf *rt, const char *name, lkdf_fn fn,
		     struct lkdf_kind **out)
{
	struct lkdf_kind_attr a = { .size = sizeof(a), .name = name, .fn = fn };

	return lkdf_kind_create(rt, &a, out);
}

static int count_up(struct lkdf_ctx *c, void *arg)
{
	uint32_t *x = arg;

	(void)c;
	*x += 1;
	return 0;
}

int cpp_c_async(struct cpp_job *j)
{
	struct lkdf_event *done = calloc(j->size, sizeof(*done));
	struct lkdf_task t = { .size = sizeof(t) };
	int rc = done ? make_kind(j->rt, "async", count_up, &t.kind) : -ENOMEM;
	uint32_t i, nr = 0;

	for (i = 0; i < j->size && !rc; i++) {
		t.arg = &j->x[i];
		rc = lkdf_submit(j->rt, NULL, &t, &done[i]);
		nr += !rc;
	}
	j->result = 0;
	for (i = 0; i < nr; i++) {
		int e = lkdf_event_wait(done[i], -1);

		rc = rc ? rc : e;
		j->result += j->x[i];
	}
	lkdf_kind_put(t.kind);
	free(done);
	return rc;
}

static int update(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	*(uint64_t *)lkdf_ptr(c, 0) += 1;
	return 0;
}

int cpp_c_data(struct cpp_job *j)
{
	struct lkdf_data_attr a = { .size = sizeof(a),
				    .name = "data",
				    .bytes = sizeof(j->result),
				    .wrap = &j->result };
	struct lkdf_use use = { NULL, LKDF_RW, 0 };
	struct lkdf_task t = { .size = sizeof(t), .use = &use, .nr_use = 1 };
	int rc = lkdf_data_create(j->rt, &a, &use.data);
	uint32_t i;

	j->result = 0;
	if (!rc)
		rc = make_kind(j->rt, "data", update, &t.kind);
	for (i = 0; i < j->size && !rc; i++)
		rc = lkdf_submit(j->rt, NULL, &t, NULL);
	if (!rc)
		rc = lkdf_scope_wait(j->rt, NULL, -1);
	lkdf_kind_put(t.kind);
	lkdf_data_put(use.data);
	return rc;
}

/* Runs @arg, whose first member is the kind, to its end. */
static int run_one(struct lkdf *rt, const char *name, lkdf_fn fn, void *arg)
{
	struct lkdf_kind **kind = arg;
	struct lkdf_task t = { .size = sizeof(t), .arg = arg };
	struct lkdf_event done;
	int rc = make_kind(rt, name, fn, kind);

	t.kind = *kind;
	if (!rc)
		rc = lkdf_submit(rt, NULL, &t, &done);
	if (!rc)
		rc = lkdf_event_wait(done, -1);
	lkdf_kind_put(t.kind);
	return rc;
}

struct fib {
	struct lkdf_kind *kind;
	uint32_t n;
	uint64_t result;
};

/* One child, the other call is this body's own. */
static int fib(struct lkdf_ctx *c, void *arg)
{
	struct fib *f = arg, a = { f->kind, f->n - 1, 0 },
		   b = { f->kind, f->n - 2, 0 };
	int rc, joined;

	if (f->n < 2) {
		f->result = f->n;
		return 0;
	}
	rc = lkdf_spawn(c, f->kind, &a);
	if (!rc)
		rc = fib(c, &b);
	joined = lkdf_join(c);
	f->result = a.result + b.result;
	return rc ? rc : joined;
}

int cpp_c_fib(struct cpp_job *j)
{
	struct fib f = { NULL, j->size, 0 };
	int rc = run_one(j->rt, "fib", fib, &f);

	j->result = f.result;
	return rc;
}

struct skynet {
	struct lkdf_kind *kind;
	uint64_t first, nr, sum;
};

static int skynet(struct lkdf_ctx *c, void *arg)
{
	struct skynet *s = arg, child[CPP_FAN];
	uint64_t nr = s->nr / CPP_FAN, i;
	int rc = 0, joined;

	s->sum = s->first;
	if (s->nr == 1)
		return 0;
	for (i = 0; i < CPP_FAN && !rc; i++) {
		child[i] = (struct skynet){ s->kind, s->first + i * nr, nr, 0 };
		rc = lkdf_spawn(c, s->kind, &child[i]);
	}
	joined = lkdf_join(c);
	rc = rc ? rc : joined;
	s->sum = 0;
	for (i = 0; i < CPP_FAN && !rc; i++)
		s->sum += child[i].sum;
	return rc;
}

int cpp_c_skynet(struct cpp_job *j)
{
	struct skynet s = { NULL, 0, cpp_leaves(j->size), 0 };
	int rc = run_one(j->rt, "skynet", skynet, &s);

	j->result = s.sum;
	return rc;
}

struct queens {
	struct lkdf_kind *kind;
	struct cpp_board board;
	uint64_t nr;
};

static int queens(struct lkdf_ctx *c, void *arg)
{
	struct queens *q = arg, child[CPP_QUEENS];
	uint32_t left = cpp_free(&q->board), nr = 0, i;
	int rc = 0, joined;

	q->nr = (uint64_t)cpp_is_full(&q->board);
	for (; left && !rc; left &= left - 1) {
		child[nr] =
			(struct queens){ q->kind,
					 cpp_put(&q->board, left & -left), 0 };
		rc = lkdf_spawn(c, q->kind, &child[nr++]);
	}
	joined = nr ? lkdf_join(c) : 0;
	rc = rc ? rc : joined;
	for (i = 0; i < nr && !rc; i++)
		q->nr += child[i].nr;
	return rc;
}

int cpp_c_nqueens(struct cpp_job *j)
{
	struct queens q = { NULL, { j->size, 0, 0, 0 }, 0 };
	int rc = run_one(j->rt, "nqueens", queens, &q);

	j->result = q.nr;
	return rc;
}

/* ---- TCP ping-pong ------------------------------------------------------- */

struct end {
	struct lkdf_kind *io;
	int fd;
	bool sends; /* next */
	uint32_t left; /* operations */
	int64_t result;
	uint64_t bytes; /* that it has received */
	char buf[CPP_MESSAGE];
};

struct operation {
	struct lkdf_io io;
	int64_t *result;
};

static int io_ended(struct lkdf_ctx *c, void *arg)
{
	const struct operation *o = arg;

	*o->result = lkdf_io_result(c);
	return 0;
}

/* Begins the next operation, which the last one has made possible. */
static int next_operation(struct lkdf_ctx *c, void *arg)
{
	struct end *e = arg;
	struct operation o = { .io = { .size = sizeof(o.io),
				       .op = e->sends ? LKDF_IO_SEND
						      : LKDF_IO_RECV,
				       .fd = e->fd,
				       .buf = e->buf,
				       .len = CPP_MESSAGE },
			       .result = &e->result };
	struct lkdf_task t = { .size = sizeof(t), .kind = e->io, .arg = &o };
	struct lkdf_event done;
	int rc;

	if (e->result != CPP_MESSAGE)
		return e->result < 0 ? (int)e->result : -EPIPE;
	if (!e->left--)
		return 0;
	e->bytes += e->sends ? 0 : CPP_MESSAGE;
	e->sends = !e->sends;
	rc = lkdf_spawn_task(c, &t, &done);
	return rc ? rc : lkdf_then(c, next_operation, done);
}

int cpp_c_ping(struct cpp_job *j)
{
	struct lkdf_kind_attr a = { .size = sizeof(a),
				    .name = "io",
				    .fn = io_ended,
				    .arg_size = sizeof(struct operation) };
	struct end end[CPP_CONNECTIONS][2];
	struct lkdf_task t = { .size = sizeof(t) };
	struct lkdf_kind *io = NULL;
	int i, rc = make_kind(j->rt, "ping", next_operation, &t.kind);

	if (!rc)
		rc = lkdf_kind_create_io(j->rt, &a, &io);
	for (i = 0; i < 2 * CPP_CONNECTIONS && !rc; i++) {
		struct end *e = &end[i / 2][i % 2];

		*e = (struct end){ .io = io,
				   .fd = j->fd[i / 2][i % 2],
				   .sends = i % 2,
				   .left = 2 * j->size,
				   .result = CPP_MESSAGE };
		t.arg = e;
		rc = lkdf_submit(j->rt, NULL, &t, NULL);
	}
	if (!rc)
		rc = lkdf_scope_wait(j->rt, NULL, -1);
	for (i = 0, j->result = 0; i < 2 * CPP_CONNECTIONS && !rc; i++)
		j->result += end[i / 2][i % 2].bytes;
	lkdf_kind_put(io);
	lkdf_kind_put(t.kind);
	return rc;
}
