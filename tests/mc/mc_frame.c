/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Runs of one graph over a ring of two frames: frame.c as it is shipped takes,
 * ends and frees them. The graph is S -> T, and T of each run waits for T of
 * the run before by a token. No run overlaps another in its frame, none is
 * lost, and the frames end as they began.
 *
 * What frame.c calls and does not matter here is left empty below; the run
 * loop is replaced by one that does the same to records and frames.
 */
#include "graph/tell.h"
#include "run/frame.h"

#include "core/runtime.h"
#include "frame_below.h"
#include "graph/tell.h"
#include "mc.h"
#include "run/planned.h"
#include "run/resolve.h"
#include "run/solo_run.h"
#include "run/sources.h"
#include "run/stream.h"
#include "scope/deadline.h"

#include <string.h>

#define NR_FRAMES 2
#define NR_TASKS 2
#define T 1

static struct lkdf rt;
static struct lkdf_graph graph;
static struct lkdf_scope scope;
static struct lkdf_kind plain_kind;
static struct frame frames[NR_FRAMES];
static struct rec recs[NR_FRAMES][NR_TASKS];
static struct inbox inbox;
static int nr_runs;
/* plain: the protocol must order them */
static int is_running[NR_FRAMES], is_told[NR_FRAMES], nr_done;
static _Atomic(uint32_t) nr_left;

/* An inbox for the frames. */
void runtime_push(struct lkdf *r, struct executor *ex, struct link *link)
{
	(void)r;
	(void)ex;
	inbox_push(&inbox, link);
}

int scope_enter(struct lkdf_scope *s, uint32_t nr, bool may_wait)
{
	(void)s;
	(void)nr;
	(void)may_wait;
	return 0;
}

void scope_leave(struct lkdf_scope *s, uint32_t nr)
{
	(void)s;
	(void)nr;
	a_add(&nr_left, 1, release);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"

void graph_put(struct lkdf_graph *g)
{
}

void failure_put(struct failure *f, const struct log *log)
{
}

void solo_run_end(struct worker *w, struct frame *f)
{
}

NOT_REACHED(int, event_create, struct lkdf *r, struct executor *ex,
	    uint32_t count, uint32_t nr_refs, struct lkdf_event *out)
NOT_REACHED(void, event_finish, struct lkdf_event e, int error,
	    struct failure *f)
NOT_REACHED(void, event_put, struct lkdf_event e)
NOT_REACHED(void, port_end, struct frame *f)
NOT_REACHED(void, stream_wave_ended, struct worker *w, struct frame *f)
NOT_REACHED(void, scope_count, struct lkdf_scope *s, const struct tally *t)
NOT_REACHED(void, scope_fail, struct lkdf_scope *s, int error,
	    struct failure *f)

#pragma GCC diagnostic pop

/* As sources_start() in run.c, but for the worker's own deque. */
void sources_start(struct lkdf *r, struct worker *w, struct frame *f)
{
	(void)w;
	/* The frame is ours: whatever its last run did lies behind us. */
	mc_assert(plain_load(&is_running[f->index]) == 0);
	plain_store(&is_told[f->index], 0);
	f->next_source = 0;
	a_store(&f->remaining, f->graph->nr_tasks, relaxed);
	runtime_push(r, NULL, &f->start);
}

static void run_t(struct frame *f);

static void arrive_t(struct frame *f)
{
	if (rec_arrive(&f->recs[T]) == ARRIVAL_EARLY)
		return;
	rec_rearm(&f->recs[T], f->recs[T].nr_in);
	run_t(f);
}

/* Body, then resolve_pass_token() and frame_resolved(). */
static void run_t(struct frame *f)
{
	mc_assert(plain_load(&is_running[f->index]) == 1);
	mc_assert(plain_load(&nr_done) % NR_FRAMES == (int)f->index);
	plain_store(&is_running[f->index], 0);
	plain_store(&nr_done, plain_load(&nr_done) + 1);
	arrive_t(&frames[(f->index + 1) % NR_FRAMES]);
	frame_resolved(NULL, f, 1);
}

static void run_s(struct frame *f)
{
	mc_assert(plain_load(&is_running[f->index]) == 0);
	plain_store(&is_running[f->index], 1);
	arrive_t(f);
	plain_store(&is_told[f->index], 1);
	frame_resolved(NULL, f, 1);
}

static void work_until(uint32_t nr)
{
	struct link *link, *next;
	int i;

	while (a_load(&nr_left, acquire) < nr) {
		link = inbox_take_all(&inbox);
		if (!link)
			a_pause();
		for (; link; link = next) {
			next = a_load(&link->next, relaxed);
			run_s(container_of(link, struct frame, start));
		}
	}
	/* All runs have ended: whatever they did lies behind us. */
	for (i = 0; i < NR_FRAMES && i < nr_runs; i++)
		mc_assert(plain_load(&is_told[i]) == 1);
}

static void init_frame(uint32_t i)
{
	struct frame *f = &frames[i];

	memset(f, 0, sizeof(*f));
	f->graph = &graph;
	f->index = i;
	f->recs = recs[i];
	memset(recs[i], 0, sizeof(recs[i]));
	recs[i][0].kind = &plain_kind;
	recs[i][0].nr_in = 1;
	recs[i][T].nr_in = 2;
	recs[i][T].flags = REC_TOKEN;
	/* The first run has no run before it: give_first_tokens(). */
	rec_rearm(&recs[i][T], i == 0 ? 1 : 2);
	plain_store(&is_running[i], 0);
	plain_store(&is_told[i], 0);
}

static void init_graph(void)
{
	uint32_t i;

	memset(&graph, 0, sizeof(graph));
	memset(&scope, 0, sizeof(scope));
	graph.rt = &rt;
	graph.nr_frames = NR_FRAMES;
	graph.frames = frames;
	graph.recs = recs[0];
	graph.nr_tasks = NR_TASKS;
	graph.has_tokens = true;
	for (i = 0; i < NR_FRAMES; i++)
		init_frame(i);
	a_store(&inbox.head, NULL, relaxed);
	a_store(&nr_left, 0, relaxed);
	plain_store(&nr_done, 0);
	mc_name(&frames[0].is_busy, "busy0");
	mc_name(&frames[1].is_busy, "busy1");
	mc_name(&frames[0].remaining, "remaining0");
	mc_name(&frames[1].remaining, "remaining1");
	mc_name(&recs[0][T].pending, "T0");
	mc_name(&recs[1][T].pending, "T1");
	mc_name(&inbox.head, "inbox");
}

static void init_one(void)
{
	nr_runs = 1;
	init_graph();
}

static void init_two(void)
{
	nr_runs = 2;
	init_graph();
}

static void init_three(void)
{
	nr_runs = 3;
	init_graph();
}

/* Both runs have started and each has its worker. */
static void init_started(void)
{
	const struct lkdf_run run = { .size = sizeof(run) };
	int i;

	init_two();
	for (i = 0; i < nr_runs; i++)
		mc_assert(frame_start(&graph, &scope, &run, NULL, NULL) == 0);
	inbox_take_all(&inbox);
}

static void work_on_own(int id)
{
	run_s(&frames[id]);
	work_until(2);
}

static void start_and_work(int id)
{
	const struct lkdf_run run = { .size = sizeof(run) };
	int i;

	for (i = 0; id == 0 && i < nr_runs; i++)
		mc_assert(frame_start(&graph, &scope, &run, NULL, NULL) == 0);
	if (id)
		work_until((uint32_t)nr_runs);
}

/* Two threads of the user start runs of one graph. */
static void two_start(int id)
{
	const struct lkdf_run run = { .size = sizeof(run) };

	if (id < 2)
		mc_assert(frame_start(&graph, &scope, &run, NULL, NULL) == 0);
	else
		work_until(2);
}

/* An argument is set between runs, or it is refused. */
static void start_and_set(int id)
{
	int rc;

	start_and_work(id);
	if (id)
		return;
	rc = frame_set_arg(&graph, 0, NULL);
	if (rc) {
		mc_see("a run is under way");
		mc_assert(rc == -EBUSY);
		return;
	}
	mc_see("the argument is set");
	mc_assert(plain_load(&is_told[0]) == 1);
}

/*
 * Without tokens any free frame does: while the first run is held the others
 * take the other frame in turn, and one that finds none waits for whichever
 * ends first.
 */
static void init_without_tokens(void)
{
	const struct lkdf_run run = { .size = sizeof(run) };
	uint32_t i;

	nr_runs = 3;
	init_graph();
	graph.has_tokens = false;
	graph.nr_tasks = 1;
	for (i = 0; i < NR_FRAMES; i++)
		recs[i][T] = (struct rec){ 0 };
	mc_assert(frame_start(&graph, &scope, &run, NULL, NULL) == 0);
	inbox_take_all(&inbox);
}

static void take_any(int id)
{
	const struct lkdf_run run = { .size = sizeof(run) };
	struct link *link;
	int nr = 0;

	if (id == 0) {
		mc_assert(frame_start(&graph, &scope, &run, NULL, NULL) == 0);
		mc_assert(frame_start(&graph, &scope, &run, NULL, NULL) == 0);
		return;
	}
	while (nr < 2) {
		link = inbox_take_all(&inbox);
		if (!link) {
			a_pause();
			continue;
		}
		mc_assert(container_of(link, struct frame, start) ==
			  &frames[1]);
		plain_store(&is_told[1], 1);
		frame_resolved(NULL, &frames[1], 1);
		nr++;
	}
}

static void first_is_held(void)
{
	mc_assert(a_load(&frames[0].is_busy, relaxed) == FRAME_BUSY);
	mc_assert(a_load(&frames[1].is_busy, relaxed) == FRAME_FREE);
	mc_assert(a_load(&nr_left, relaxed) == 2);
}

static void as_it_began(void)
{
	uint32_t i, next = (uint32_t)nr_runs % NR_FRAMES;

	mc_assert(nr_done == nr_runs);
	for (i = 0; i < NR_FRAMES; i++) {
		mc_assert(!a_load(&frames[i].is_busy, relaxed));
		mc_assert(a_load(&recs[i][T].pending, relaxed) ==
			  (i == next ? 1 : 2));
	}
}

#define ROW(text, nr, b, before, f)                             \
	.name = text, .nr_threads = nr, .bound = b, .stale = 2, \
	.timeouts = -1, .init = before, .thread = f, .final = as_it_began

static const struct mc_scenario table[] = {
	{ ROW("two runs, one worker", 2, 3, init_two, start_and_work) },
	{ ROW("a third run waits for its frame", 2, 2, init_three,
	      start_and_work) },
	{ ROW("each worker has its run", 2, -1, init_started, work_on_own) },
	{ ROW("two runs, two workers", 3, 1, init_two, start_and_work) },
	{ ROW("two threads start runs", 3, 1, init_two, two_start) },
	{ .name = "runs without order take any frame",
	  .nr_threads = 2,
	  .bound = 3,
	  .stale = 2,
	  .timeouts = -1,
	  .init = init_without_tokens,
	  .thread = take_any,
	  .final = first_is_held },
	{ ROW("an argument is set after a run", 2, 2, init_one, start_and_set),
	  .must_see = { "a run is under way", "the argument is set" } },
};

MC_MAIN(table)
