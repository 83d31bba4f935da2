/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Recordings of a program's waits for room, of last edges, marks, regions. */
#include "tests/unit/task/recording.h"

#include <errno.h>
#include <semaphore.h>

static sem_t is_open;

static struct lkdf_kind *make_kind(struct lkdf *rt, const char *name,
				   lkdf_fn fn, uint32_t flags)
{
	struct lkdf_kind *k;

	if (lkdf_kind_create(rt,
			     ATTR(lkdf_kind_attr, .name = name, .fn = fn,
				  .flags = flags),
			     &k))
		exit(1);
	return k;
}

static int mark_body(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	return lkdf_mark(lkdf_runtime(c), "inside", -7);
}

static void run_marked(void)
{
	struct lkdf *rt = open_recording("workers=1");
	struct lkdf_kind *k = make_kind(rt, "marked", mark_body, 0);
	uint64_t region = lkdf_region_begin(rt);

	ok(region, "a region begins");
	is(lkdf_mark(rt, "", 1), -EINVAL, "a mark without a label is refused");
	is(lkdf_mark(rt, NULL, 1), -EINVAL, "so is one of NULL");
	is(lkdf_mark(rt, "outside", 9), 0, "a mark of the program");
	lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k), NULL);
	is(lkdf_scope_wait(rt, NULL, -1), 0, "one of a body");
	is(lkdf_region_end(rt, "all of it", region), 0, "the region ends");
	is(lkdf_region_end(rt, "none", 0), 0, "one that nobody has seen");
	lkdf_kind_put(k);
	lkdf_close(rt);
}

static void marks_and_regions_are_told(void)
{
	int nr_out = 0, nr_in = 0, nr_regions = 0;
	const struct trace_slice *body;
	const struct trace_span *s;
	struct recorded r;
	const char *name;
	size_t i;

	run_marked();
	is(recorded_read(&r, path), 0, "the file is whole");
	body = recorded_slice(&r, "marked", 0);
	for (i = 0; body && i < r.nr_spans; i++) {
		s = &r.span[i];
		name = r.info.name[s->name];
		nr_out += s->sort == LKDF_SPAN_MARK && s->value == 9 &&
			  s->begin == s->end && !strcmp(name, "outside");
		nr_in += s->sort == LKDF_SPAN_MARK && s->value == -7 &&
			 is_by(&s->links, body) && !strcmp(name, "inside");
		nr_regions += s->sort == LKDF_SPAN_REGION &&
			      s->begin < body->begin && s->end > body->end &&
			      !strcmp(name, "all of it");
	}
	is(nr_out, 1, "the program's mark, with its value");
	is(nr_in, 1, "the body's, and in which body");
	is(nr_regions, 1, "one region, around the body");
	recorded_free(&r);
}

static void nobody_records_marks(void)
{
	struct lkdf *rt;

	is(lkdf_open("workers=1", &rt), 0, "a runtime that nobody records");
	is(lkdf_mark(rt, "lost", 1), 0, "takes a mark");
	is(lkdf_region_begin(rt), 0, "and begins no region");
	lkdf_close(rt);
}

#define NR_ORDERED 4

static int hold_data(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	return sem_wait(&is_open);
}

/* The first task holds the data until all the others are submitted. */
static void run_ordered(void)
{
	struct lkdf *rt = open_recording("workers=1");
	struct lkdf_kind *holder =
		make_kind(rt, "holder", hold_data, LKDF_BLOCKING);
	struct lkdf_kind *next = make_kind(rt, "next", nothing, 0);
	struct lkdf_data *d;
	struct lkdf_use use = { .mode = LKDF_RW };
	int i;

	sem_init(&is_open, 0, 0);
	lkdf_data_create(
		rt, ATTR(lkdf_data_attr, .bytes = 64, .name = "config"), &d);
	use.data = d;
	use.mode = LKDF_WRITE;
	for (i = 0; i <= NR_ORDERED; i++) {
		lkdf_submit(rt, NULL,
			    ATTR(lkdf_task, .kind = i ? next : holder,
				 .use = &use, .nr_use = 1),
			    NULL);
		use.mode = LKDF_RW;
	}
	sem_post(&is_open);
	is(lkdf_scope_wait(rt, NULL, -1), 0, "all have had the data");
	lkdf_data_put(d);
	lkdf_kind_put(holder);
	lkdf_kind_put(next);
	lkdf_close(rt);
}

static void last_edges_are_told(void)
{
	const struct trace_slice *s;
	struct recorded r;
	int i, nr = 0;

	run_ordered();
	is(recorded_read(&r, path), 0, "the file is whole");
	for (i = 0; (s = recorded_slice(&r, "next", i)); i++)
		nr += s->links.edge_mode == LKDF_RW && s->links.edge &&
		      !strcmp(r.info.name[s->links.edge], "config");
	is(nr, NR_ORDERED, "the data that each waited for, and its own mode");
	s = recorded_slice(&r, "holder", 0);
	ok(s && !s->links.edge && !s->links.edge_mode,
	   "who did not wait has none");
	recorded_free(&r);
}

#define NR_WINDOW 3

/* The first task sleeps until the program waits for room, and a channel. */
static void run_full(void)
{
	const uint64_t ms = 2000000;
	struct lkdf *rt = open_recording("workers=1");
	struct lkdf_kind *k;
	struct lkdf_scope *scope;
	struct lkdf_channel *ch;
	int value = 1, i;

	lkdf_scope_create(
		rt, ATTR(lkdf_scope_attr, .name = "stage", .max_tasks = 1),
		&scope);
	lkdf_kind_create_io(rt, ATTR(lkdf_kind_attr, .name = "pause"), &k);
	for (i = 0; i < NR_WINDOW; i++)
		lkdf_submit(rt, scope,
			    ATTR(lkdf_task, .kind = k,
				 .arg =
					 &(struct lkdf_io){
						 .op = LKDF_IO_TIMEOUT,
						 .size = sizeof(struct lkdf_io),
						 .off = ms }),
			    NULL);
	lkdf_scope_wait(rt, scope, -1);
	lkdf_scope_put(scope);
	lkdf_channel_create(rt,
			    ATTR(lkdf_channel_attr, .name = "c", .depth = 1,
				 .value_size = sizeof(int)),
			    &ch);
	lkdf_channel_send(ch, &value, -1);
	is(lkdf_channel_send(ch, &value, 1000000), 1, "a channel is full");
	lkdf_channel_recv(ch, &value, -1);
	is(lkdf_channel_recv(ch, &value, 1000000), 1, "and empty");
	lkdf_channel_put(ch);
	lkdf_kind_put(k);
	lkdf_close(rt);
}

static void waits_for_room_are_told(void)
{
	int nr_room = 0, nr_full = 0, nr_empty = 0;
	const struct trace_span *s;
	struct recorded r;
	const char *name;
	size_t i;

	run_full();
	is(recorded_read(&r, path), 0, "the file is whole");
	for (i = 0; i < r.nr_spans; i++) {
		s = &r.span[i];
		name = r.info.name[s->name];
		nr_room += s->sort == LKDF_SPAN_FULL && s->value == 1 &&
			   s->end > s->begin && s->links.by_executor >= 0 &&
			   !strcmp(name, "room in scope \"stage\" of 1 task");
		nr_full += s->sort == LKDF_SPAN_FULL && s->value == 1 &&
			   !strcmp(name, "room in channel \"c\" of 1 value");
		nr_empty += s->sort == LKDF_SPAN_WAIT &&
			    !strcmp(name, "values of channel \"c\"");
	}
	is(nr_room, NR_WINDOW - 1, "each wait for room, and who made it");
	is(nr_full, 1, "for room in a channel");
	is(nr_empty, 1, "and for its values");
	recorded_free(&r);
}

/* ---- why tasks of a graph wait ------------------------------------------ */

static int give_value(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	*(int *)lkdf_out(c, 0) = 1;
	return 0;
}

/* Two tasks in turn by data, one more by a port of the second, one by order. */
static void run_sealed(void)
{
	struct lkdf *rt = open_recording("workers=1");
	struct lkdf_kind *k = make_kind(rt, "step", nothing, 0), *give, *take;
	struct lkdf_use use = { .mode = LKDF_RW };
	const uint32_t size = sizeof(int);
	struct lkdf_graph *g;

	lkdf_kind_create(rt,
			 ATTR(lkdf_kind_attr, .name = "give", .fn = give_value,
			      .nr_out = 1, .out_size = &size),
			 &give);
	lkdf_kind_create(rt,
			 ATTR(lkdf_kind_attr, .name = "take", .fn = nothing,
			      .nr_in = 1, .in_size = &size),
			 &take);
	lkdf_data_create(rt, ATTR(lkdf_data_attr, .bytes = 64, .name = "table"),
			 &use.data);
	lkdf_graph_create(rt, NULL, &g);
	use.mode = LKDF_WRITE;
	lkdf_graph_add(g, k, NULL, &use, 1);
	use.mode = LKDF_RW;
	lkdf_graph_add(g, give, NULL, &use, 1);
	lkdf_graph_add(g, take, NULL, NULL, 0);
	lkdf_graph_add(g, k, NULL, NULL, 0);
	lkdf_graph_port(g, 1, 0, 2, 0);
	lkdf_graph_order(g, 2, 3);
	is(lkdf_graph_seal(g, NULL), 0, "a graph is sealed");
	is(lkdf_graph_run(g, NULL, NULL, NULL), 0, "and run");
	lkdf_scope_wait(rt, NULL, -1);
	lkdf_graph_put(g);
	lkdf_data_put(use.data);
	lkdf_kind_put(k);
	lkdf_kind_put(give);
	lkdf_kind_put(take);
	lkdf_close(rt);
}

static bool is_edge(const struct recorded *r, uint32_t i, uint32_t task,
		    const char *name, uint32_t mode)
{
	const struct trace_edge *e = &r->edge[i];

	return i < r->nr_told && e->task == task && e->succ == task + 1 &&
	       e->mode == mode && !strcmp(r->info.name[e->name], name);
}

static void edges_say_why(void)
{
	struct recorded r;

	run_sealed();
	is(recorded_read(&r, path), 0, "the file is whole");
	is(r.nr_told, 2, "two edges have a reason, that of the order has none");
	ok(is_edge(&r, 0, 0, "table", LKDF_RW), "the data, and its mode");
	ok(is_edge(&r, 1, 1, "port 0 of give", LKDF_EDGE_IS_PORT),
	   "the port whose value is read");
	recorded_free(&r);
}

/* ---- tasks of several bodies -------------------------------------------- */

static struct lkdf_channel *pipe_ch;
static sem_t has_looked;

static int receive_one(struct lkdf_ctx *c, void *arg)
{
	int value, rc = lkdf_recv(c, pipe_ch, &value);

	(void)arg;
	sem_post(&has_looked);
	return rc == -EAGAIN ? LKDF_AGAIN : rc;
}

static int send_one(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	return lkdf_send(c, pipe_ch, &(int){ 1 });
}

static int go_on(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	return lkdf_then(c, nothing, LKDF_EVENT_NONE);
}

static void run_alone(struct lkdf *rt, struct lkdf_kind *k)
{
	lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k), NULL);
}

/* The only worker is at the sender when the receiver waits. */
static void run_away(struct lkdf *rt, struct lkdf_kind *receiver)
{
	struct lkdf_kind *sender = make_kind(rt, "sender", send_one, 0);
	struct lkdf_kind *two = make_kind(rt, "two", go_on, 0);
	struct lkdf_graph *g;

	run_alone(rt, two);
	run_alone(rt, receiver);
	sem_wait(&has_looked);
	run_alone(rt, sender);
	is(lkdf_scope_wait(rt, NULL, -1), 0, "a task sends to a task");
	sem_wait(&has_looked);
	lkdf_graph_create(rt, NULL, &g);
	lkdf_graph_add(g, receiver, NULL, NULL, 0);
	lkdf_graph_seal(g, NULL);
	lkdf_graph_run(g, NULL, NULL, NULL);
	sem_wait(&has_looked);
	lkdf_channel_send(pipe_ch, &(int){ 1 }, -1);
	is(lkdf_scope_wait(rt, NULL, -1), 0, "the program to one of a graph");
	lkdf_graph_put(g);
	lkdf_kind_put(sender);
	lkdf_kind_put(two);
}

static void record_away(void)
{
	struct lkdf *rt = open_recording("workers=1");
	struct lkdf_kind *receiver = make_kind(rt, "receiver", receive_one, 0);

	sem_init(&has_looked, 0, 0);
	lkdf_channel_create(rt,
			    ATTR(lkdf_channel_attr, .name = "p", .depth = 4,
				 .value_size = sizeof(int)),
			    &pipe_ch);
	run_away(rt, receiver);
	lkdf_channel_put(pipe_ch);
	lkdf_kind_put(receiver);
	lkdf_close(rt);
}

/* Between these two bodies of a task there is one span that links them. */
static void is_linked(const struct recorded *r, const struct trace_slice *a,
		      const struct trace_slice *b, const char *what)
{
	const struct trace_span *s;
	int nr = 0;
	size_t i;

	for (i = 0; a && b && i < r->nr_spans; i++) {
		s = &r->span[i];
		nr += s->sort == LKDF_SPAN_AWAY && s->begin == a->end &&
		      s->end == b->begin && s->lane == b->executor &&
		      s->links.number == b->links.number &&
		      is_by(&s->links, a) &&
		      !strcmp(r->info.name[s->name], what);
	}
	is(nr, 1, "two bodies of one task: \"%s\"", what);
}

static void tasks_that_leave_are_told(void)
{
	const char *values = "values of channel \"p\"";
	const struct trace_slice *first, *sender;
	struct recorded r;

	record_away();
	is(recorded_read(&r, path), 0, "the file is whole");
	first = recorded_slice(&r, "receiver", 1);
	sender = recorded_slice(&r, "sender", 0);
	is_linked(&r, recorded_slice(&r, "receiver", 0), first, values);
	ok(first && sender && is_by(&first->links, sender),
	   "who has made it ready is told as before");
	is_linked(&r, recorded_slice(&r, "receiver", 2),
		  recorded_slice(&r, "receiver", 3), values);
	is_linked(&r, recorded_slice(&r, "two", 0),
		  recorded_slice(&r, "two", 1), r.info.name[0]);
	recorded_free(&r);
}

int main(void)
{
	tap_start(40);
	begin_recordings();
	waits_for_room_are_told();
	unlink(path);
	last_edges_are_told();
	unlink(path);
	marks_and_regions_are_told();
	unlink(path);
	nobody_records_marks();
	tasks_that_leave_are_told();
	unlink(path);
	edges_say_why();
	unlink(path);
	return tap_end();
}
