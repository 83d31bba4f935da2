/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The same for operations of the system and drops of arguments. See
 * check_races.h and test_check.sh.
 */
#include "tests/tools/check_races.h"

#include <unistd.h>

static char text[64];

static int fills(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	text[9] = 'x';
	return 0;
}

static struct lkdf_kind *operations(uint32_t op, lkdf_fn fn, struct lkdf_io *io)
{
	static int pair[2];
	struct lkdf_kind *k;

	if (pipe(pair))
		exit(3);
	must((int)write(pair[1], text, sizeof(text)));
	*io = (struct lkdf_io){
		.size = sizeof(*io),
		.op = op,
		.fd = pair[op == LKDF_IO_WRITE],
		.buf = text,
		.len = sizeof(text),
	};
	must(lkdf_kind_create_io(rt,
				 ATTR(lkdf_kind_attr, .name = "operation",
				      .fn = fn, .arg_size = sizeof(*io)),
				 &k));
	return k;
}

/* A buffer that is written while it is filled. */
static void operation(void)
{
	struct lkdf_event done;
	struct lkdf_io io;
	struct lkdf_kind *k = operations(LKDF_IO_WRITE, NULL, &io);

	submit(&(struct lkdf_task){ .kind = kind("fill", fills, 0) }, &done);
	submit(&(struct lkdf_task){ .kind = k,
				    .arg = &io,
				    .after = &done,
				    .nr_after = is_right },
	       NULL);
	must(lkdf_event_wait(done, -1));
	wait_all();
}

static int looks_at_text(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	sink = text[7];
	return 0;
}

/* What an operation has read, in a graph: its own function may look. */
static void operation_read(void)
{
	struct lkdf_graph *g = graph(1);
	struct lkdf_io io;
	struct lkdf_kind *k;

	k = operations(LKDF_IO_READ, is_right ? looks_at_text : NULL, &io);
	must(lkdf_graph_add(g, k, &io, NULL, 0));
	must(lkdf_graph_add(g, kind("look", looks_at_text, 0), NULL, NULL, 0));
	if (is_right)
		must(lkdf_graph_order(g, 0, 1));
	run(g, 1);
}

/* An order that goes through an operation without a function. */
static void operation_between(void)
{
	struct lkdf_graph *g = graph(1);
	struct lkdf_io io;
	struct lkdf_kind *k = operations(LKDF_IO_WRITE, NULL, &io);

	must(lkdf_graph_add(g, kind("write", writes, 0), NULL, NULL, 0));
	must(lkdf_graph_add(g, k, &io, NULL, 0));
	must(lkdf_graph_add(g, kind("read", reads, 0), NULL, NULL, 0));
	must(lkdf_graph_order(g, 0, 1));
	if (is_right)
		must(lkdf_graph_order(g, 1, 2));
	run(g, 2);
}

static int *dropped;

static void drops(void *arg)
{
	(void)arg;
	(*dropped)++;
}

/* What a drop has done, for who has waited for its task. */
static void drop(void)
{
	struct lkdf_event done;
	struct lkdf_kind *k;

	dropped = &shared;
	must(lkdf_kind_create(rt,
			      ATTR(lkdf_kind_attr, .name = "drop", .fn = rests,
				   .drop = drops, .arg_size = sizeof(int)),
			      &k));
	submit(&(struct lkdf_task){ .kind = k, .arg = &sink }, &done);
	if (!is_right)
		submit(&(struct lkdf_task){ .kind = kind("read", reads, 0) },
		       NULL);
	must(lkdf_event_wait(done, -1));
	sink = shared;
	wait_all();
}

static const struct row rows[] = {
	{ "operation", operation },
	{ "drop", drop },
	{ "operation_read", operation_read },
	{ "operation_between", operation_between },
};

int main(int argc, char **argv)
{
	return check_main(rows, sizeof(rows) / sizeof(rows[0]), argc, argv);
}
