/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* What a recording says of tasks: who made them ready, when, and on what. */
#include "tests/unit/task/recording.h"

#include <semaphore.h>
#include <stdatomic.h>

#define NR_LEAVES 300

static struct lkdf_kind *leaf, *tail;

/* Spawns leaves, joins, and submits one more. */
static int spread(struct lkdf_ctx *c, void *arg)
{
	struct lkdf *rt = *(struct lkdf **)arg;
	int i, rc = 0;

	for (i = 0; i < NR_LEAVES && !rc; i++)
		rc = lkdf_spawn(c, leaf, NULL);
	if (!rc)
		rc = lkdf_join(c);
	return rc ? rc
		  : lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = tail), NULL);
}

static struct lkdf_kind *make_kind(struct lkdf *rt, const char *name,
				   lkdf_fn fn, uint32_t flags)
{
	struct lkdf_kind *k;

	if (lkdf_kind_create(rt,
			     ATTR(lkdf_kind_attr, .name = name, .fn = fn,
				  .arg_size = fn == spread ? sizeof(rt) : 0,
				  .flags = flags),
			     &k))
		exit(1);
	return k;
}

static void run_spread(const char *options, uint64_t *nr_tasks)
{
	struct lkdf *rt = open_recording(options);
	struct lkdf_kind *root = make_kind(rt, "root", spread, 0);

	leaf = make_kind(rt, "leaf", nothing, 0);
	tail = make_kind(rt, "tail", nothing, LKDF_BLOCKING);
	lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = root, .arg = &rt), NULL);
	is(lkdf_scope_wait(rt, NULL, -1), 0, "all of it ends");
	lkdf_stat(rt, "lkdf.tasks", nr_tasks);
	lkdf_kind_put(root);
	lkdf_kind_put(leaf);
	lkdf_kind_put(tail);
	is(lkdf_close(rt), 0, "the runtime closes");
}

static int count_twins(const struct recorded *r)
{
	size_t i, j;
	int nr = 0;

	for (i = 0; i < r->nr_slices; i++)
		for (j = 0; j < i; j++)
			nr += r->slice[i].executor == r->slice[j].executor &&
			      r->slice[i].links.number ==
				      r->slice[j].links.number;
	return nr;
}

static void who_made_a_task_ready_is_told(const char *options)
{
	const struct trace_slice *root, *s, *last;
	uint64_t nr_tasks = 0;
	struct recorded r;
	int i, nr_by = 0, nr_in_time = 0;

	run_spread(options, &nr_tasks);
	is(recorded_read(&r, path), 0, "the file is whole");
	is(r.nr_slices + r.info.slices_lost, NR_LEAVES + 2,
	   "bodies that are there and lost ones are all there were");
	root = recorded_slice(&r, "root", 0);
	for (i = 0; root && (s = recorded_slice(&r, "leaf", i)); i++) {
		nr_by += is_by(&s->links, root);
		nr_in_time += s->links.ready > root->begin &&
			      s->links.ready <= s->begin;
	}
	is(nr_by, NR_LEAVES, "each leaf was made ready by the root");
	is(nr_in_time, NR_LEAVES, "while it ran, and before the leaf ran");
	is(count_twins(&r), 0, "no two bodies have a uid in common");
	last = recorded_slice(&r, "tail", 0);
	ok(last && last->links.by_executor >= 0, "the tail has a maker");
	ok(last && last->links.ready > root->begin, "and a time");
	ok(root && root->links.by_executor == -1, "the root has none");
	ok(root && root->links.ready > 0, "but a time");
	recorded_free(&r);
}

static void kinds_threads_and_facts_are_told(void)
{
	const struct trace_kind *k;
	uint64_t nr_tasks = 0;
	struct recorded r;

	run_spread("workers=2", &nr_tasks);
	is(recorded_read(&r, path), 0, "the file is whole");
	k = recorded_kind(&r, "tail");
	ok(k && k->flags == LKDF_KIND_IS_BLOCKING, "the tail may block");
	k = recorded_kind(&r, "leaf");
	ok(k && !k->flags && k->width == 1, "the leaf does not");
	ok(r.nr_threads >= 2, "threads have run (%llu samples)",
	   (unsigned long long)r.nr_threads);
	ok(r.nr_faults > 0, "and have made page faults (%llu)",
	   (unsigned long long)r.nr_faults);
	ok(r.nr_facts >= 10, "%llu facts are told",
	   (unsigned long long)r.nr_facts);
	recorded_free(&r);
}

/* A diamond, run twice: two runs of one graph. */
static void graphs_are_told_once_with_their_edges(const char *options)
{
	struct lkdf *rt = open_recording(options);
	struct lkdf_kind *k = make_kind(rt, "step", nothing, 0);
	struct lkdf_graph *g;
	const struct trace_slice *s;
	struct recorded r;
	int i, nr[2] = { 0 };

	lkdf_graph_create(rt, ATTR(lkdf_graph_attr, .name = "diamond"), &g);
	for (i = 0; i < 4; i++)
		lkdf_graph_add(g, k, NULL, NULL, 0);
	lkdf_graph_label(g, 2, "left");
	lkdf_graph_order(g, 0, 1);
	lkdf_graph_order(g, 0, 2);
	lkdf_graph_order(g, 1, 3);
	lkdf_graph_order(g, 2, 3);
	is(lkdf_graph_seal(g, NULL), 0, "a graph is sealed");
	for (i = 0; i < 2; i++) {
		lkdf_graph_run(g, NULL, NULL, NULL);
		lkdf_scope_wait(rt, NULL, -1);
	}
	lkdf_graph_put(g);
	lkdf_kind_put(k);
	lkdf_close(rt);
	is(recorded_read(&r, path), 0, "the file is whole");
	is(r.nr_graphs, 1, "the graph is told once");
	is(r.graph[0].nr_tasks, 4, "with its tasks");
	is(r.graph[0].nr_edges, 4, "and edges");
	is(r.nr_tasks, 4, "each task is told");
	is(r.nr_edges, 4, "with all edges");
	ok(!strcmp(r.labels, "left "), "and the label: %s", r.labels);
	/* Slices of two workers lie in the file in any order. */
	for (i = 0; (s = recorded_slice(&r, "step", i)); i++)
		if (s->links.frame > 0 && s->links.run < 2)
			nr[s->links.run]++;
	is(i, 8, "eight bodies are told");
	ok(nr[0] == 4 && nr[1] == 4, "each knows its run: %d, %d", nr[0],
	   nr[1]);
	recorded_free(&r);
}

static void operations_and_waits_are_told(const char *options)
{
	const struct trace_span *s;
	struct lkdf *rt = open_recording(options);
	struct lkdf_kind *k;
	struct lkdf_event done;
	struct recorded r;
	int64_t ns = 3000000;
	size_t i;
	int nr_ops = 0, nr_waits = 0, nr_linked = 0;

	lkdf_kind_create_io(rt, ATTR(lkdf_kind_attr, .name = "pause"), &k);
	lkdf_submit(
		rt, NULL,
		ATTR(lkdf_task, .kind = k,
		     .arg = &(struct lkdf_io){ .op = LKDF_IO_TIMEOUT,
					       .size = sizeof(struct lkdf_io),
					       .off = ns }),
		&done);
	is(lkdf_event_wait(done, -1), 0, "an operation ends");
	lkdf_kind_put(k);
	lkdf_close(rt);
	is(recorded_read(&r, path), 0, "the file is whole");
	for (i = 0; i < r.nr_spans; i++) {
		s = &r.span[i];
		if (s->sort == LKDF_SPAN_OPERATION) {
			nr_ops += !strcmp(r.info.name[s->name], "pause") &&
				  s->end > s->begin && s->value == 0;
			nr_linked += s->links.by_executor >= 0 &&
				     s->links.number > 0;
		}
		if (s->sort == LKDF_SPAN_WAIT)
			nr_waits += !strcmp(r.info.name[s->name],
					    "lkdf_event_wait") &&
				    s->value == (int64_t)getpid() &&
				    s->lane == r.info.header.nr_executors;
	}
	is(nr_ops, 1, "the operation is told, from begin to end");
	is(nr_linked, 1, "with its uid, and who began it");
	is(nr_waits, 1, "and the wait of this thread");
	recorded_free(&r);
}

#define NR_HELD 5

static sem_t is_open;

static int hold_token(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	return sem_wait(&is_open);
}

static struct lkdf_kind *limited_kind(struct lkdf *rt, const char *name,
				      lkdf_fn fn, uint32_t flags,
				      struct lkdf_limit *l)
{
	const struct lkdf_limit_use use = { .limit = l, .tokens = 1 };
	struct lkdf_kind *k = NULL;

	lkdf_kind_create(rt,
			 ATTR(lkdf_kind_attr, .name = name, .fn = fn,
			      .flags = flags, .limit = &use, .nr_limit = 1),
			 &k);
	return k;
}

/* One task holds the only token until all the others have tried. */
static void run_held(const char *options)
{
	struct lkdf *rt = open_recording(options);
	struct lkdf_kind *holder, *writer, *plain;
	struct lkdf_limit *l;
	struct lkdf_event done;
	int i;

	sem_init(&is_open, 0, 0);
	lkdf_limit_create_with(
		rt, ATTR(lkdf_limit_attr, .name = "disk", .tokens = 1), &l);
	holder = limited_kind(rt, "holder", hold_token, LKDF_BLOCKING, l);
	writer = limited_kind(rt, "writer", nothing, 0, l);
	plain = make_kind(rt, "plain", nothing, 0);
	lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = holder), NULL);
	for (i = 0; i < NR_HELD; i++)
		lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = writer), NULL);
	/* The worker takes the oldest first. */
	lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = plain), &done);
	lkdf_event_wait(done, -1);
	sem_post(&is_open);
	is(lkdf_scope_wait(rt, NULL, -1), 0, "all get their token");
	lkdf_kind_put(holder);
	lkdf_kind_put(writer);
	lkdf_kind_put(plain);
	lkdf_limit_put(l);
	lkdf_close(rt);
}

static void waits_for_limits_are_told(const char *options)
{
	int nr = 0, nr_named = 0, nr_linked = 0;
	const struct trace_span *s;
	struct recorded r;
	size_t i;

	run_held(options);
	is(recorded_read(&r, path), 0, "the file is whole");
	for (i = 0; i < r.nr_spans; i++) {
		s = &r.span[i];
		if (s->sort != LKDF_SPAN_LIMIT)
			continue;
		nr++;
		nr_named += !strcmp(r.info.name[s->name],
				    "limit \"disk\" of 1 token") &&
			    !strcmp(r.info.name[s->value], "writer");
		nr_linked += s->end > s->begin && s->links.by_executor >= 0;
	}
	is(nr, NR_HELD, "each task that waited for tokens is told");
	is(nr_named, NR_HELD, "with its kind and the limit by name");
	is(nr_linked, NR_HELD, "for how long, and who gave the token");
	recorded_free(&r);
}

int main(void)
{
	tap_start(100);
	begin_recordings();
	who_made_a_task_ready_is_told("workers=1");
	unlink(path);
	who_made_a_task_ready_is_told("workers=2");
	unlink(path);
	who_made_a_task_ready_is_told("serial=1");
	unlink(path);
	kinds_threads_and_facts_are_told();
	unlink(path);
	graphs_are_told_once_with_their_edges("workers=1");
	unlink(path);
	graphs_are_told_once_with_their_edges("workers=2");
	unlink(path);
	operations_and_waits_are_told("workers=1");
	unlink(path);
	operations_and_waits_are_told("workers=1,io=threads");
	unlink(path);
	waits_for_limits_are_told("workers=1");
	unlink(path);
	return tap_end();
}
