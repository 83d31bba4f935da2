/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Pairs of bodies that touch one variable, a pair for each way in which lkdf
 * gives order. See check_races.h and test_check.sh.
 */
#include "tests/tools/check_races.h"

/* ---- graphs ------------------------------------------------------------- */

static void edge(void)
{
	struct lkdf_graph *g = graph(1);

	must(lkdf_graph_add(g, kind("write", writes, 0), NULL, NULL, 0));
	must(lkdf_graph_add(g, kind("read", reads, 0), NULL, NULL, 0));
	if (is_right)
		must(lkdf_graph_order(g, 0, 1));
	run(g, 3);
}

static struct lkdf_data *data_of_shared(void)
{
	struct lkdf_data *d;

	must(lkdf_data_create(rt,
			      ATTR(lkdf_data_attr, .name = "grid",
				   .bytes = sizeof(shared), .wrap = &shared),
			      &d));
	return d;
}

static void graph_data(void)
{
	struct lkdf_use use = { .mode = LKDF_WRITE };
	struct lkdf_graph *g = graph(1);

	use.data = data_of_shared();
	must(lkdf_graph_add(g, kind("write", writes, 0), NULL, &use, 1));
	use.mode = LKDF_READ;
	must(lkdf_graph_add(g, kind("read", reads, 0), NULL, &use, is_right));
	run(g, 2);
	lkdf_data_put(use.data);
}

static int chooses(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	shared = 1;
	return 1;
}

/* The arm that is chosen reads; so does a task beside it. */
static void branch(void)
{
	struct lkdf_graph *g = graph(1);

	must(lkdf_graph_add(g, kind("choose", chooses, 0), NULL, NULL, 0));
	must(lkdf_graph_add(g, kind("left", rests, 0), NULL, NULL, 0));
	must(lkdf_graph_add(g, kind("right", reads, 0), NULL, NULL, 0));
	must(lkdf_graph_branch(g, 0, 0, 1));
	must(lkdf_graph_branch(g, 0, 1, 2));
	if (!is_right)
		must(lkdf_graph_add(g, kind("beside", reads, 0), NULL, NULL,
				    0));
	run(g, 2);
}

static int four_times(struct lkdf_ctx *c, void *arg)
{
	static int nr;

	(void)c;
	(void)arg;
	shared++;
	return ++nr % 4 ? 1 : 0;
}

/* A loop: its member and the task behind it. */
static void loop(void)
{
	struct lkdf_graph *g = graph(1);
	int head, latch, after;

	head = lkdf_graph_add(g, kind("head", writes, 0), NULL, NULL, 0);
	latch = lkdf_graph_add(g, kind("latch", four_times, 0), NULL, NULL, 0);
	after = lkdf_graph_add(g, kind("after", reads, 0), NULL, NULL, 0);
	must(lkdf_graph_order(g, head, latch));
	must(lkdf_graph_back(g, latch, 1, head));
	must(lkdf_graph_branch(g, latch, 0, after));
	if (!is_right)
		must(lkdf_graph_add(g, kind("beside", reads, 0), NULL, NULL,
				    0));
	run(g, 2);
}

static int some_waves(struct lkdf_ctx *c, void *arg)
{
	static int nr;

	(void)c;
	(void)arg;
	return ++nr > 20 ? LKDF_END : 0;
}

static int adds(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	shared++;
	return 0;
}

/* A stage that may overlap itself, of a stream of four waves at a time. */
static void stream(void)
{
	struct lkdf_graph *g = graph(4);
	struct lkdf_event done;
	struct lkdf_kind *k;

	must(lkdf_graph_add(g, kind("source", some_waves, 0), NULL, NULL, 0));
	must(lkdf_kind_create(rt,
			      ATTR(lkdf_kind_attr, .name = "add", .fn = adds,
				   .flags = is_right ? 0 : LKDF_SHARED,
				   .width = is_right ? 0 : 4),
			      &k));
	must(lkdf_graph_add(g, k, NULL, NULL, 0));
	must(lkdf_graph_order(g, 0, 1));
	must(lkdf_graph_seal(g, NULL));
	must(lkdf_graph_run(g, NULL, ATTR(lkdf_run, .flags = LKDF_RUN_STREAM),
			    &done));
	must(lkdf_event_wait(done, -1));
	lkdf_graph_put(g);
}

/* ---- tasks -------------------------------------------------------------- */

static void data(void)
{
	struct lkdf_use use = { .mode = LKDF_WRITE };

	use.data = data_of_shared();
	submit(&(struct lkdf_task){ .kind = kind("write", writes, 0),
				    .use = &use,
				    .nr_use = 1 },
	       NULL);
	use.mode = LKDF_READ;
	submit(&(struct lkdf_task){ .kind = kind("read", reads, 0),
				    .use = &use,
				    .nr_use = is_right },
	       NULL);
	wait_all();
	lkdf_data_put(use.data);
}

static void acquire(void)
{
	struct lkdf_use use = { .mode = LKDF_WRITE };
	void *bytes;

	use.data = data_of_shared();
	submit(&(struct lkdf_task){ .kind = kind("write", writes, 0),
				    .use = &use,
				    .nr_use = 1 },
	       NULL);
	if (is_right)
		must(lkdf_data_acquire(use.data, LKDF_READ, -1, &bytes));
	sink = shared;
	if (is_right)
		must(lkdf_data_release(use.data));
	wait_all();
	lkdf_data_put(use.data);
}

static void main_thread(void)
{
	submit(&(struct lkdf_task){ .kind = kind("read", reads, 0) }, NULL);
	if (is_right)
		wait_all();
	shared = 3;
	wait_all();
}

static void after(void)
{
	struct lkdf_event done;

	submit(&(struct lkdf_task){ .kind = kind("write", writes, 0) }, &done);
	submit(&(struct lkdf_task){ .kind = kind("read", reads, 0),
				    .after = &done,
				    .nr_after = is_right },
	       NULL);
	must(lkdf_event_wait(done, -1));
	wait_all();
}

static struct lkdf_event fired;

static int writes_and_fires(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	if (!is_right)
		must(lkdf_event_signal(fired, 0));
	shared = 9;
	if (is_right)
		must(lkdf_event_signal(fired, 0));
	return 0;
}

static void signal_early(void)
{
	must(lkdf_event_create(rt, 1, 0, &fired));
	submit(&(struct lkdf_task){ .kind = kind("fire", writes_and_fires, 0) },
	       NULL);
	submit(&(struct lkdf_task){ .kind = kind("read", reads, 0),
				    .after = &fired,
				    .nr_after = 1 },
	       NULL);
	wait_all();
	lkdf_event_put(fired);
}

static struct lkdf_kind *child_kind;

static int reads_child(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	must(lkdf_spawn(c, child_kind, NULL));
	if (is_right)
		must(lkdf_join(c));
	sink = shared;
	return 0;
}

static void join(void)
{
	child_kind = kind("child", writes, 0);
	submit(&(struct lkdf_task){ .kind = kind("parent", reads_child, 0) },
	       NULL);
	wait_all();
}

static int writes_behind(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	if (is_right)
		shared = 4;
	must(lkdf_spawn(c, child_kind, NULL));
	if (!is_right)
		shared = 4;
	return 0;
}

static void spawn(void)
{
	child_kind = kind("child", reads, 0);
	submit(&(struct lkdf_task){ .kind = kind("parent", writes_behind, 0) },
	       NULL);
	wait_all();
}

static int goes_on(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	sink = shared;
	return 0;
}

static int leaves(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	must(lkdf_spawn(c, child_kind, NULL));
	return lkdf_then(c, goes_on,
			 is_right ? (struct lkdf_event){ 0 } : fired);
}

/* Behind its children, or behind an event that has to do with none. */
static void then(void)
{
	child_kind = kind("child", writes, 0);
	must(lkdf_event_create(rt, 1, 0, &fired));
	must(lkdf_event_signal(fired, 0));
	submit(&(struct lkdf_task){ .kind = kind("parent", leaves, 0) }, NULL);
	wait_all();
}

static int adds_block(uint64_t begin, uint64_t end, void *u)
{
	int *sums = u;

	for (; begin < end; begin++)
		sums[is_right ? begin : 0]++;
	return 0;
}

static void blocks(void)
{
	int sums[64] = { 0 };

	must(lkdf_for(rt, (struct lkdf_range){ .end = 64 }, adds_block, sums));
	sink = sums[0];
}

static struct lkdf_channel *channel;
static int values[8];

static int sends(struct lkdf_ctx *c, void *arg)
{
	int *p, i;

	(void)c;
	(void)arg;
	for (i = 0; i < 8; i++) {
		p = &values[i];
		if (is_right)
			*p = i;
		must(lkdf_send(c, channel, &p));
		if (!is_right)
			*p = i;
	}
	return lkdf_channel_end(channel, 0);
}

static int receives(struct lkdf_ctx *c, void *arg)
{
	int *p, rc;

	(void)arg;
	while (!(rc = lkdf_recv(c, channel, &p)))
		sink += *p;
	return rc == -EAGAIN ? LKDF_AGAIN : 0;
}

static void value(void)
{
	must(lkdf_channel_create(rt,
				 ATTR(lkdf_channel_attr,
				      .value_size = sizeof(int *), .depth = 8),
				 &channel));
	submit(&(struct lkdf_task){ .kind = kind("send", sends, 0) }, NULL);
	submit(&(struct lkdf_task){ .kind = kind("receive", receives, 0) },
	       NULL);
	wait_all();
	lkdf_channel_put(channel);
}

/* ---- what is no race ---------------------------------------------------- */

static int uses_locals(struct lkdf_ctx *c, void *arg)
{
	volatile char locals[512];
	int *own = arg;

	(void)c;
	memset((void *)locals, *own, sizeof(locals));
	*own += locals[77];
	return 0;
}

/* Locals, arguments and blocks lie where those of other bodies lay. */
static void own_memory(void)
{
	struct lkdf_kind *k;
	int i;

	must(lkdf_kind_create(rt,
			      ATTR(lkdf_kind_attr, .name = "own",
				   .fn = uses_locals, .arg_size = sizeof(int)),
			      &k));
	for (i = 0; i < 600; i++)
		submit(&(struct lkdf_task){ .kind = k, .arg = &i }, NULL);
	wait_all();
	if (!is_right)
		edge();
}

static const struct row rows[] = {
	{ "edge", edge },	{ "graph_data", graph_data },
	{ "branch", branch },	{ "loop", loop },
	{ "stream", stream },	{ "data", data },
	{ "acquire", acquire }, { "main_thread", main_thread },
	{ "after", after },	{ "signal_early", signal_early },
	{ "join", join },	{ "spawn", spawn },
	{ "then", then },	{ "blocks", blocks },
	{ "value", value },	{ "own_memory", own_memory },
};

int main(int argc, char **argv)
{
	return check_main(rows, sizeof(rows) / sizeof(rows[0]), argc, argv);
}
