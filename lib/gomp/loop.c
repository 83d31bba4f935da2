/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Loops and sections. gcc has two families of calls, for long and for unsigned
 * long long; both count their iterations modulo 2^64, so one way serves both.
 */
#include "gomp/loop.h"

#include "gomp/names.h"
#include "gomp/reduce.h"

#include <stdlib.h>

/* Where the program goes on after a call of its own. */
#define FROM __builtin_return_address(0)

/* So many fit into the word of a lot. */
#define MOST_CHUNKS UINT32_MAX

static uint64_t count_steps(uint64_t distance, uint64_t step)
{
	return (distance - 1) / step + 1;
}

struct bounds loop_bounds(long begin, long end, long step)
{
	struct bounds b = { .begin = (uint64_t)begin,
			    .end = (uint64_t)end,
			    .step = (uint64_t)step,
			    .is_down = step < 0 };

	if (b.is_down ? begin > end : begin < end)
		b.nr = b.is_down ? count_steps(b.begin - b.end, -b.step)
				 : count_steps(b.end - b.begin, b.step);
	return b;
}

static struct bounds bounds_ull(bool is_up, ull begin, ull end, ull step)
{
	struct bounds b = {
		.begin = begin, .end = end, .step = step, .is_down = !is_up
	};

	if (is_up ? begin < end : begin > end)
		b.nr = is_up ? count_steps(end - begin, step)
			     : count_steps(begin - end, -step);
	return b;
}

struct work loop_work(const struct bounds *b, unsigned schedule, uint64_t chunk,
		      bool is_ordered)
{
	struct work w = { .schedule = schedule & ~(SCHEDULE_MONOTONIC |
						   SCHEDULE_ANY_ORDER),
			  .begin = b->begin,
			  .end = b->end,
			  .step = b->step,
			  .nr = b->nr,
			  .chunk = chunk,
			  .is_ordered = is_ordered };

	team_self();
	if (w.schedule == SCHEDULE_RUNTIME) {
		w.schedule = gomp_self.env.schedule;
		w.chunk = gomp_self.env.chunk;
	}
	if (w.schedule == SCHEDULE_AUTO) {
		w.schedule = SCHEDULE_STATIC;
		w.chunk = 0;
	}
	if (w.schedule != SCHEDULE_DYNAMIC || is_ordered || !w.chunk)
		return w;
	w.nr_chunks = w.nr ? count_steps(w.nr, w.chunk) : 0;
	w.is_plain = w.nr_chunks <= MOST_CHUNKS;
	w.is_any_order = w.is_plain && schedule & SCHEDULE_ANY_ORDER;
	return w;
}

static bool take_any(struct share *s, uint64_t *first, uint64_t *last)
{
	if (s->work.is_ordered)
		share_pass(s);
	if (!share_take(s, first, last))
		return false;
	gomp_self.chunk_begin = *first;
	gomp_self.chunk_end = *last;
	return true;
}

/* The next iterations of this thread's loop, as the program counts. */
static inline __attribute__((always_inline)) bool take_next(uint64_t *begin,
							    uint64_t *end)
{
	struct share *s = gomp_self.share;
	const struct work *w = &s->work;
	uint64_t first, last;

	if (!(likely(w->is_plain) ? share_take_plain(s, &first, &last)
				  : take_any(s, &first, &last)))
		return false;
	*begin = w->begin + first * w->step;
	*end = last == w->nr ? w->end : w->begin + last * w->step;
	return true;
}

static bool next_long(long *begin, long *end)
{
	uint64_t first, last;

	if (!take_next(&first, &last))
		return false;
	*begin = (long)first;
	*end = (long)last;
	return true;
}

static bool next_ull(ull *begin, ull *end)
{
	uint64_t first, last;

	if (!take_next(&first, &last))
		return false;
	*begin = first;
	*end = last;
	return true;
}

/* In a recording this thread's part of a loop is a region of the program. */
static void note_begin(void)
{
	struct pool *p = gomp_self.team->pool;

	gomp_self.loop_begin = p ? lkdf_region_begin(p->rt) : 0;
}

/* gcc says of this call that it is in the loop; the first one it has in the
 * region's line. */
static void note_end(const void *from)
{
	struct self *self = &gomp_self;

	if (likely(!self->loop_begin))
		return;
	lkdf_region_end(self->team->pool->rt, name_loop(from),
			self->loop_begin);
	self->loop_begin = 0;
}

/* The work's own memory is the construct's, or freed. */
static void enter_with(struct work like, uintptr_t *reductions, void **mem)
{
	struct reduction *r = (struct reduction *)reductions;

	like.memory = mem && *mem ? calloc(1, (uintptr_t)*mem) : NULL;
	if (mem && *mem && !like.memory)
		gomp_die("no memory for a construct");
	like.reductions = r;
	if (r)
		reduce_make(r, team_self()->nr);
	if (!share_enter(&like)) {
		share_free_work(&like);
		if (r)
			reduce_share(r, gomp_self.share->work.reductions);
	}
	if (mem)
		*mem = gomp_self.share->work.memory;
	if (!r)
		return;
	group_begin(true);
	reduce_begin(r);
}

bool loop_start_long(const struct work *like, long *first, long *last,
		     uintptr_t *reductions, void **mem)
{
	enter_with(*like, reductions, mem);
	note_begin();
	return !first || next_long(first, last);
}

bool loop_start_ull(const struct work *like, ull *first, ull *last,
		    uintptr_t *reductions, void **mem)
{
	enter_with(*like, reductions, mem);
	note_begin();
	return !first || next_ull(first, last);
}

/* ---- calls -------------------------------------------------------------- */

#define LONG_ARGS long begin, long end, long step
#define ULL_ARGS bool is_up, ull begin, ull end, ull step
#define LONG_BOUNDS loop_bounds(begin, end, step)
#define ULL_BOUNDS bounds_ull(is_up, begin, end, step)

/* The call that says all, and a call of its iterations later. */
#define ANY_LOOP(name, ordered)                                               \
	bool GOMP_loop_##name(LONG_ARGS, long schedule, long chunk,           \
			      long *first, long *last, uintptr_t *reductions, \
			      void **mem)                                     \
	{                                                                     \
		struct bounds b = LONG_BOUNDS;                                \
		struct work like = loop_work(&b, (unsigned)schedule,          \
					     chunk_of_call(chunk), ordered);  \
                                                                              \
		return loop_start_long(&like, first, last, reductions, mem);  \
	}                                                                     \
	bool GOMP_loop_ull_##name(ULL_ARGS, long schedule, ull chunk,         \
				  ull *first, ull *last,                      \
				  uintptr_t *reductions, void **mem)          \
	{                                                                     \
		struct bounds b = ULL_BOUNDS;                                 \
		struct work like =                                            \
			loop_work(&b, (unsigned)schedule, chunk, ordered);    \
                                                                              \
		return loop_start_ull(&like, first, last, reductions, mem);   \
	}

ANY_LOOP(start, false)
ANY_LOOP(ordered_start, true)

#define NEXT(name)                                              \
	bool GOMP_loop_##name##_next(long *first, long *last)   \
	{                                                       \
		return next_long(first, last);                  \
	}                                                       \
	bool GOMP_loop_ull_##name##_next(ull *first, ull *last) \
	{                                                       \
		return next_ull(first, last);                   \
	}

/* A schedule with a chunk: the start of any loop, and next. */
#define LOOP(name, any, schedule)                                             \
	bool GOMP_loop_##name##_start(LONG_ARGS, long chunk, long *first,     \
				      long *last)                             \
	{                                                                     \
		return GOMP_loop_##any(begin, end, step, schedule, chunk,     \
				       first, last, NULL, NULL);              \
	}                                                                     \
	bool GOMP_loop_ull_##name##_start(ULL_ARGS, ull chunk, ull *first,    \
					  ull *last)                          \
	{                                                                     \
		return GOMP_loop_ull_##any(is_up, begin, end, step, schedule, \
					   chunk, first, last, NULL, NULL);   \
	}                                                                     \
	NEXT(name)

/* As the program or OMP_SCHEDULE has set it. */
#define RUNTIME_LOOP(name, any)                                               \
	bool GOMP_loop_##name##_start(LONG_ARGS, long *first, long *last)     \
	{                                                                     \
		return GOMP_loop_##any(begin, end, step, SCHEDULE_RUNTIME, 0, \
				       first, last, NULL, NULL);              \
	}                                                                     \
	bool GOMP_loop_ull_##name##_start(ULL_ARGS, ull *first, ull *last)    \
	{                                                                     \
		return GOMP_loop_ull_##any(is_up, begin, end, step,           \
					   SCHEDULE_RUNTIME, 0, first, last,  \
					   NULL, NULL);                       \
	}                                                                     \
	NEXT(name)

LOOP(static, start, SCHEDULE_STATIC)
LOOP(dynamic, start, SCHEDULE_DYNAMIC)
LOOP(guided, start, SCHEDULE_GUIDED)
LOOP(nonmonotonic_dynamic, start, SCHEDULE_DYNAMIC | SCHEDULE_ANY_ORDER)
LOOP(nonmonotonic_guided, start, SCHEDULE_GUIDED)
LOOP(ordered_static, ordered_start, SCHEDULE_STATIC)
LOOP(ordered_dynamic, ordered_start, SCHEDULE_DYNAMIC)
LOOP(ordered_guided, ordered_start, SCHEDULE_GUIDED)
RUNTIME_LOOP(runtime, start)
RUNTIME_LOOP(nonmonotonic_runtime, start)
RUNTIME_LOOP(maybe_nonmonotonic_runtime, start)
RUNTIME_LOOP(ordered_runtime, ordered_start)

void GOMP_loop_end(void)
{
	note_end(FROM);
	team_barrier();
}

void GOMP_loop_end_nowait(void)
{
	note_end(FROM);
}

bool GOMP_loop_end_cancel(void)
{
	note_end(FROM);
	return GOMP_barrier_cancel();
}

void GOMP_ordered_start(void)
{
	share_wait_turn(gomp_self.share);
}

/* The turn is passed on with the next iterations. */
void GOMP_ordered_end(void)
{
}

/* ---- regions that are nothing but a loop -------------------------------- */

#define PARALLEL_ARGS void (*fn)(void *), void *data, unsigned nr, LONG_ARGS

#define PARALLEL_LOOP(name, schedule)                                         \
	void GOMP_parallel_loop_##name(PARALLEL_ARGS, long chunk,             \
				       unsigned flags)                        \
	{                                                                     \
		struct bounds b = LONG_BOUNDS;                                \
		struct work first =                                           \
			loop_work(&b, schedule, chunk_of_call(chunk), false); \
                                                                              \
		team_run(&(struct region){ fn, data, nr, &first, NULL,        \
					   flags });                          \
	}

#define PARALLEL_RUNTIME(name)                                                 \
	void GOMP_parallel_loop_##name(PARALLEL_ARGS, unsigned flags)          \
	{                                                                      \
		struct bounds b = LONG_BOUNDS;                                 \
		struct work first = loop_work(&b, SCHEDULE_RUNTIME, 0, false); \
                                                                               \
		team_run(&(struct region){ fn, data, nr, &first, NULL,         \
					   flags });                           \
	}

PARALLEL_LOOP(static, SCHEDULE_STATIC)
PARALLEL_LOOP(dynamic, SCHEDULE_DYNAMIC)
PARALLEL_LOOP(guided, SCHEDULE_GUIDED)
PARALLEL_LOOP(nonmonotonic_dynamic, SCHEDULE_DYNAMIC | SCHEDULE_ANY_ORDER)
PARALLEL_LOOP(nonmonotonic_guided, SCHEDULE_GUIDED)
PARALLEL_RUNTIME(runtime)
PARALLEL_RUNTIME(nonmonotonic_runtime)
PARALLEL_RUNTIME(maybe_nonmonotonic_runtime)

/* ---- sections ----------------------------------------------------------- */

struct work loop_sections(unsigned nr)
{
	return (struct work){ .schedule = SCHEDULE_DYNAMIC,
			      .nr = nr,
			      .chunk = 1 };
}

unsigned GOMP_sections_next(void)
{
	uint64_t begin, end;

	return share_take(gomp_self.share, &begin, &end) ? (unsigned)begin + 1
							 : 0;
}

unsigned GOMP_sections_start(unsigned nr)
{
	struct work like = loop_sections(nr);

	share_enter(&like);
	return GOMP_sections_next();
}

unsigned GOMP_sections2_start(unsigned nr, uintptr_t *reductions, void **mem)
{
	enter_with(loop_sections(nr), reductions, mem);
	return GOMP_sections_next();
}

void GOMP_parallel_sections(void (*fn)(void *), void *data, unsigned nr,
			    unsigned nr_sections, unsigned flags)
{
	struct work first = loop_sections(nr_sections);

	team_run(&(struct region){ fn, data, nr, &first, NULL, flags });
}

void GOMP_sections_end(void)
{
	team_barrier();
}

void GOMP_sections_end_nowait(void)
{
}

bool GOMP_sections_end_cancel(void)
{
	return GOMP_barrier_cancel();
}

/* A block of all threads, whose tasks reduce variables. */
void GOMP_scope_start(uintptr_t *reductions)
{
	enter_with((struct work){ .nr = 0 }, reductions, NULL);
}
