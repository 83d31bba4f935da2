/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A scope is cancelled while operations are under way in it: it ends with the
 * error of the cancel, whoever looks at the operations' results, and nothing is
 * told to the log, for nothing has failed.
 */
#include "tests/api/heard.h"
#include "tests/api/io.h"

#define NR_ROUNDS 100
#define NR_READS 8

struct reader {
	struct lkdf *rt;
	struct lkdf_kind *kind;
	struct lkdf_io io;
};

/* Errors that the runtime has told. */
static int nr_said(void)
{
	int i, nr = 0;

	for (i = 0; i < said.nr; i++)
		nr += said.level[i] == LKDF_LOG_ERROR;
	return nr;
}

/* Passes the operation's error on, as most do. */
static int pass_on(struct lkdf_ctx *c, void *arg)
{
	int64_t result = lkdf_io_result(c);

	(void)arg;
	return result < 0 ? (int)result : 0;
}

static void start(struct reader *r, struct lkdf_scope *s, struct lkdf_graph *g)
{
	const struct lkdf_task *t =
		ATTR(lkdf_task, .kind = r->kind, .arg = &r->io);
	int i;

	for (i = 0; i < NR_READS; i++)
		must(g ? lkdf_graph_add_task(g, t)
		       : lkdf_submit(r->rt, s, t, NULL));
	if (!g)
		return;
	must(lkdf_graph_seal(g, NULL));
	must(lkdf_graph_run(g, s, NULL, NULL));
}

/* Early and late in their lives. */
static int cancel_round(struct reader *r, int round, bool is_graph)
{
	struct lkdf_graph *g = is_graph ? api_graph(r->rt, 1) : NULL;
	struct lkdf_scope *s = NULL;
	int rc;

	must(lkdf_scope_create(r->rt, NULL, &s));
	start(r, s, g);
	if (round % 2)
		api_nap_ns(round * 4000);
	must(lkdf_scope_cancel(r->rt, s, -ETIME));
	rc = lkdf_scope_wait(r->rt, s, -1);
	lkdf_graph_put(g);
	lkdf_scope_put(s);
	return rc;
}

static void reads_are_cancelled(const char *options, lkdf_fn fn, bool is_graph)
{
	struct reader r = { .rt = open_heard(options) };
	int fd[2], i, nr_bad = 0;
	char to[8];

	r.kind = io_kind(r.rt, fn, sizeof(struct lkdf_io));
	must(pipe2(fd, O_CLOEXEC));
	r.io = *IO(.op = LKDF_IO_READ, .fd = fd[0], .buf = to, .len = 1,
		   .off = -1);
	for (i = 0; i < NR_ROUNDS; i++)
		nr_bad += cancel_round(&r, i, is_graph) != -ETIME;
	is(nr_bad, 0, "%s%s%s: %d scopes end with the cancel's error", options,
	   fn ? ", a function" : "", is_graph ? ", a graph" : "", NR_ROUNDS);
	lkdf_kind_put(r.kind);
	close(fd[0]);
	close(fd[1]);
	must(lkdf_close(r.rt));
	is(nr_said(), 0, "and nothing is logged (\"%s\")", line(0));
}

/* Serial mode would wait for what nobody sends. */
static bool is_serial(const char *options)
{
	return !strncmp(options, "serial", 6);
}

int main(void)
{
	size_t i;

	tap_start(60);
	IO_EACH(i)
	{
		if (is_serial(io_backends[i]))
			continue;
		reads_are_cancelled(io_backends[i], NULL, false);
		reads_are_cancelled(io_backends[i], pass_on, false);
		reads_are_cancelled(io_backends[i], NULL, true);
		reads_are_cancelled(io_backends[i], pass_on, true);
	}
	return tap_end();
}
