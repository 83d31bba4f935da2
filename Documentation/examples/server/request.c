/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "request.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The operation, and behind it where its result goes. */
struct op {
	struct lkdf_io io;
	int64_t *result;
};

static int took(struct lkdf_ctx *c, void *arg)
{
	const struct op *op = arg;

	*op->result = lkdf_io_result(c);
	/* The deadline, or the client has gone: the run knows which. */
	return lkdf_io_error(c, NULL);
}

/* As a child: the task ends when it is over, and with its error. */
static int start(struct lkdf_ctx *c, struct request *r, struct lkdf_io io,
		 int64_t *result)
{
	struct op op = { .io = io, .result = result };

	op.io.size = sizeof(op.io);
	return lkdf_spawn(c, r->op, &op);
}

/* The run's argument is ours to change: nobody else has it. */
static struct request *request_of(struct lkdf_ctx *c)
{
	return (struct request *)(uintptr_t)lkdf_run_arg(c);
}

/* A name that is no file's, a FIFO's even, is opened without waiting. */
static int open_it(struct lkdf_ctx *c, void *arg)
{
	struct request *r = request_of(c);
	struct lkdf_io file = {
		.op = LKDF_IO_OPENAT,
		.dirfd = r->root_fd,
		.path = r->text,
		.how = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
	};
	struct lkdf_io nap = { .op = LKDF_IO_TIMEOUT, .off = r->nap_ns };

	(void)arg;
	if (r->what == FILE_)
		return start(c, r, file, &r->fd);
	if (r->what == NAP)
		return start(c, r, nap, &r->slept);
	r->size = (int64_t)strlen(r->text);
	return 0;
}

static int look(struct lkdf_ctx *c, void *arg)
{
	struct request *r = request_of(c);
	struct lkdf_io io = {
		.op = LKDF_IO_STATX,
		.dirfd = (int)r->fd,
		.path = "",
		.how = AT_EMPTY_PATH,
		.len = STATX_SIZE | STATX_TYPE,
		.buf = &r->status,
	};

	(void)arg;
	return r->what == FILE_ ? start(c, r, io, &r->looked) : 0;
}

static int read_it(struct lkdf_ctx *c, void *arg)
{
	struct request *r = request_of(c);
	uint64_t size = r->status.stx_size;
	struct lkdf_io io = {
		.op = LKDF_IO_READ,
		.fd = (int)r->fd,
		.len = (uint32_t)size,
	};

	(void)arg;
	if (r->what != FILE_)
		return 0;
	if (!S_ISREG(r->status.stx_mode))
		return -EINVAL;
	if (size > r->max_size)
		return -EFBIG;
	r->bytes = malloc(size + 1);
	if (!r->bytes)
		return -ENOMEM;
	io.buf = r->bytes;
	/* As many as there are: it may have become shorter. */
	return size ? start(c, r, io, &r->size) : 0;
}

/* FNV-1a. */
static int sum(struct lkdf_ctx *c, void *arg)
{
	struct request *r = request_of(c);
	const char *at = r->bytes ? r->bytes : r->text;
	uint32_t x = 2166136261u;
	int64_t i;

	(void)arg;
	for (i = 0; i < r->size; i++)
		x = (x ^ (unsigned char)at[i]) * 16777619u;
	r->sum = x;
	return 0;
}

static int make_kinds(struct requests *all)
{
	static const struct lkdf_kind_attr attr[NR_STEPS] = {
		{ .size = sizeof(*attr), .name = "open", .fn = open_it },
		{ .size = sizeof(*attr), .name = "look", .fn = look },
		{ .size = sizeof(*attr), .name = "read", .fn = read_it },
		{ .size = sizeof(*attr), .name = "sum", .fn = sum },
	};
	struct lkdf_kind_attr a = {
		.size = sizeof(a),
		.name = "op",
		.fn = took,
		.arg_size = sizeof(struct op),
	};
	int i, rc;

	rc = lkdf_kind_create_io(all->rt, &a, &all->op);
	for (i = 0; i < NR_STEPS && !rc; i++)
		rc = lkdf_kind_create(all->rt, &attr[i], &all->step[i]);
	return rc;
}

static int make_graph(struct requests *all)
{
	struct lkdf_graph_attr a = { .size = sizeof(a),
				     .name = "request",
				     .inflight = IN_FLIGHT };
	int i, rc;

	rc = lkdf_graph_create(all->rt, &a, &all->graph);
	if (rc)
		return rc;
	for (i = 0; i < NR_STEPS; i++) {
		lkdf_graph_add(all->graph, all->step[i], NULL, NULL, 0);
		if (i)
			lkdf_graph_order(all->graph, i - 1, i);
	}
	/* It also tells what was refused before. */
	return lkdf_graph_seal(all->graph, NULL);
}

int requests_init(struct requests *all)
{
	int rc;

	*all = (struct requests){ 0 };
	rc = lkdf_open(NULL, &all->rt);
	if (!rc)
		rc = make_kinds(all);
	if (!rc)
		rc = make_graph(all);
	return rc;
}

void requests_fini(struct requests *all)
{
	int i;

	lkdf_graph_put(all->graph);
	for (i = 0; i < NR_STEPS; i++)
		lkdf_kind_put(all->step[i]);
	lkdf_kind_put(all->op);
	lkdf_close(all->rt);
}

int request_run(struct requests *all, struct request *r, struct lkdf_scope *s,
		int64_t deadline_ns, struct lkdf_event *done)
{
	struct lkdf_run run = {
		.size = sizeof(run),
		.flags = LKDF_RUN_NOWAIT,
		.arg = r,
		.deadline_ns = deadline_ns,
	};

	r->op = all->op;
	r->fd = -1;
	r->bytes = NULL;
	r->size = 0;
	return lkdf_graph_run(all->graph, s, &run, done);
}

void request_close(struct request *r)
{
	if (r->fd >= 0)
		close((int)r->fd);
	r->fd = -1;
}

void request_fini(struct request *r)
{
	free(r->bytes);
	r->bytes = NULL;
}
