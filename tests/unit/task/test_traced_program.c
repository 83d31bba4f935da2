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
	return tap_end();
}
