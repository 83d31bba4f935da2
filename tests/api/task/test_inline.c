/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Children that run inside the spawn, where a worker's queue is full: how many,
 * how deep in each other, and which never do.
 */
#include "tests/api/using.h"

#include <pthread.h>

#define NR_MANY 9000
#define QUEUE 8192 /* what a worker's queue holds */

static struct {
	struct lkdf_kind *kind;
	atomic_int nr_run, depth, max_depth;
	int nr_inside; /* had run when the body ended */
} many;

static int count_one(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	atomic_fetch_add(&many.nr_run, 1);
	return 0;
}

static int spawn_many(struct lkdf_ctx *c, void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < NR_MANY; i++)
		must(lkdf_spawn(c, many.kind, NULL));
	many.nr_inside = many.nr_run;
	return 0;
}

static void run_many(struct lkdf *rt, uint32_t flags)
{
	struct lkdf_kind *k = api_kind(rt, "many", spawn_many, 0, 0);

	many.kind = api_kind(rt, "one", count_one, 0, flags);
	atomic_store(&many.nr_run, 0);
	must(api_call(rt, k, NULL));
	is(many.nr_run, NR_MANY, "%d children run", NR_MANY);
	lkdf_kind_put(k);
	lkdf_kind_put(many.kind);
}

static void a_crowded_worker_runs_children_at_once(void)
{
	struct lkdf *rt = api_open("workers=1,spawn_inline=100");
	uint64_t nr = 0;

	run_many(rt, 0);
	is(many.nr_inside, NR_MANY - QUEUE,
	   "what the queue does not hold runs in the spawn");
	must(lkdf_stat(rt, "lkdf.inlined", &nr));
	is((int)nr, NR_MANY - QUEUE, "and is counted");
	run_many(rt, LKDF_BLOCKING);
	must(lkdf_stat(rt, "lkdf.inlined", &nr));
	is((int)nr, NR_MANY - QUEUE, "not children that may block");
	must(lkdf_close(rt));

	rt = api_open("workers=1");
	run_many(rt, 0);
	is(many.nr_inside, 0, "nor without the option, for they are too few");
	must(lkdf_close(rt));
	rt = api_open("workers=1,spawn_inline=0");
	run_many(rt, 0);
	is(many.nr_inside, 0, "nor with 0");
	must(lkdf_close(rt));
}

/* Each child spawns one, which does so, too. */
static int spawn_below(struct lkdf_ctx *c, void *arg)
{
	int depth = atomic_fetch_add(&many.depth, 1) + 1;

	(void)arg;
	if (depth > many.max_depth)
		many.max_depth = depth;
	if (atomic_fetch_add(&many.nr_run, 1) < 5000)
		must(lkdf_spawn(c, many.kind, NULL));
	atomic_fetch_sub(&many.depth, 1);
	return 0;
}

static int fill_then_go_down(struct lkdf_ctx *c, void *arg)
{
	struct lkdf_kind *k = arg;
	int i;

	for (i = 0; i < QUEUE; i++)
		must(lkdf_spawn(c, k, NULL));
	return lkdf_spawn(c, many.kind, NULL);
}

static void they_nest_256_times_at_most(void)
{
	struct lkdf *rt = api_open("workers=1,spawn_inline=1");
	struct lkdf_kind *k = api_kind(rt, "fills", fill_then_go_down, 0, 0);
	struct lkdf_kind *one = api_kind(rt, "one", count_one, 0, 0);

	many.kind = api_kind(rt, "below", spawn_below, 0, 0);
	atomic_store(&many.nr_run, 0);
	atomic_store(&many.depth, 0);
	many.max_depth = 0;
	must(api_call(rt, k, one));
	ok(many.max_depth > 1 && many.max_depth <= 257,
	   "children run in each other's spawn, up to 256 (%d)",
	   many.max_depth);
	lkdf_kind_put(many.kind);
	lkdf_kind_put(one);
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

/* ---- large frames ------------------------------------------------------- */

#define STACK_KIB 4096
#define FRAME 8192

static char *top, *lowest;
static volatile char *volatile kept; /* a compiler leaves no byte of it out */

/* As spawn_below(); 256 of them would fit the stack, but not a quarter. */
static int spawn_large(struct lkdf_ctx *c, void *arg)
{
	volatile char frame[FRAME];
	char *here = __builtin_frame_address(0);

	kept = frame;
	frame[0] = 0;
	if (here < lowest)
		lowest = here;
	spawn_below(c, arg);
	frame[FRAME - 1] = frame[0];
	return 0;
}

/* Variables of the thread lie in its stack, too: ThreadSanitizer has many. */
static char *end_of_stack(void)
{
	pthread_attr_t attr;
	void *at = NULL;
	size_t size = 0;

	must(-pthread_getattr_np(pthread_self(), &attr));
	must(-pthread_attr_getstack(&attr, &at, &size));
	pthread_attr_destroy(&attr);
	return (char *)at + size;
}

static int fill_then_note(struct lkdf_ctx *c, void *arg)
{
	top = end_of_stack();
	lowest = __builtin_frame_address(0);
	return fill_then_go_down(c, arg);
}

static void they_take_a_quarter_of_the_stack(void)
{
	struct lkdf *rt = api_open("workers=1,spawn_inline=1,stack_kib=4096");
	struct lkdf_kind *k = api_kind(rt, "fills", fill_then_note, 0, 0);
	struct lkdf_kind *one = api_kind(rt, "one", count_one, 0, 0);
	long most = STACK_KIB / 4 << 10;

	many.kind = api_kind(rt, "large", spawn_large, 0, 0);
	atomic_store(&many.nr_run, 0);
	atomic_store(&many.depth, 0);
	many.max_depth = 0;
	must(api_call(rt, k, one));
	ok(many.max_depth > 1 && many.max_depth < 256,
	   "large frames nest less deep (%d)", many.max_depth);
	ok(labs(top - lowest - most) < 4 * FRAME,
	   "in a quarter of the stack (%ld bytes)", (long)(top - lowest));
	lkdf_kind_put(many.kind);
	lkdf_kind_put(one);
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

/* ---- children that have to wait, or may not run here -------------------- */

struct special {
	struct lkdf_kind *one;
	struct lkdf_task task;
	bool wants_event;
	int nr_inside;
};

static int fill_then_spawn(struct lkdf_ctx *c, void *arg)
{
	struct special *s = arg;
	struct lkdf_event done;
	int i;

	for (i = 0; i < QUEUE; i++)
		must(lkdf_spawn(c, s->one, NULL));
	must(lkdf_spawn_task(c, &s->task, s->wants_event ? &done : NULL));
	s->nr_inside = many.nr_run;
	if (s->task.nr_after)
		must(lkdf_event_signal(*s->task.after, 0));
	if (s->wants_event)
		lkdf_event_put(done);
	return 0;
}

/* With what the child uses: fills lets it have it. */
static void call_fills(struct lkdf *rt, struct lkdf_kind *fills,
		       struct special *s)
{
	struct lkdf_use use = { .mode = LKDF_RW | LKDF_WEAK };
	struct lkdf_event done;

	if (s->task.nr_use)
		use.data = s->task.use->data;
	must(lkdf_submit(rt, NULL,
			 ATTR(lkdf_task, .kind = fills, .arg = s, .use = &use,
			      .nr_use = s->task.nr_use),
			 &done));
	must(lkdf_event_wait(done, -1));
}

static void run_special(struct lkdf *rt, struct lkdf_kind *fills,
			struct special *s, int nr_inside, const char *what)
{
	s->task.size = sizeof(s->task);
	s->task.kind = s->one;
	atomic_store(&many.nr_run, 0);
	call_fills(rt, fills, s);
	is(s->nr_inside, nr_inside, "%s: so many run in the spawn", what);
	is(many.nr_run, QUEUE + 1, "%s: all run", what);
}

static void special_children_are_queued(void)
{
	struct lkdf *rt = api_open("workers=1,spawn_inline=1");
	struct lkdf_kind *k = api_kind(rt, "fills", fill_then_spawn, 0, 0);
	struct lkdf_kind *one = api_kind(rt, "one", count_one, 0, 0);
	const uint64_t zero = 0;
	struct lkdf_use use = { .data = number(rt, "number", &zero),
				.mode = LKDF_RW };
	struct lkdf_event after;
	struct special s[] = {
		{ one, { .prio = 0 }, false, 0 },
		{ one, { .prio = 0 }, true, 0 },
		{ one, { .place = lkdf_place_node(rt, 0) }, false, 0 },
		{ one, { .use = &use, .nr_use = 1 }, false, 0 },
		{ one, { .deadline_ns = 1000 * SECOND }, false, 0 },
		{ one, { .flags = LKDF_PROFILE }, false, 0 },
		{ one, { .after = &after, .nr_after = 1 }, false, 0 },
	};

	must(lkdf_event_create(rt, 1, 0, &after));
	run_special(rt, k, &s[0], 1, "nothing special");
	run_special(rt, k, &s[1], 1, "an event");
	run_special(rt, k, &s[2], 0, "a place");
	run_special(rt, k, &s[3], 0, "data");
	run_special(rt, k, &s[4], 0, "a deadline");
	run_special(rt, k, &s[5], 0, "a profile");
	run_special(rt, k, &s[6], 0, "an event before it");
	lkdf_event_put(after);
	lkdf_data_put(use.data);
	lkdf_kind_put(one);
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

int main(void)
{
	tap_start(60);
	a_crowded_worker_runs_children_at_once();
	they_nest_256_times_at_most();
	they_take_a_quarter_of_the_stack();
	special_children_are_queued();
	return tap_end();
}
