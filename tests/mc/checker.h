/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The checker's inside. fiber.c switches stacks, explore.c chooses, model.c
 * is the memory model, race.c plain accesses, futex.c sleeps, heap.c owns
 * memory, report.c prints, mutate.c weakens sites, main.c runs the search over
 * a table of scenarios.
 */
#ifndef CHECKER_H
#define CHECKER_H

#include "mc.h"

#include <setjmp.h>
#include <stdint.h>

#define MC_LOCS 512
#define MC_SC_EVENTS 1024
#define MC_STEPS 60000
#define MC_CHOICES 65536
#define MC_TEXT 512

/* One counter per thread. */
struct clock {
	uint16_t c[MC_THREADS];
};

/* What a thread knows, and what a released store carries. */
struct view {
	struct clock hb;
	/* Events of the SC order that come strictly before. */
	struct clock sc;
	unsigned nr;
	/* Per location: no older store may be read. */
	uint16_t loc[];
};

struct msg {
	uint64_t value;
	/* Of the release sequence; NULL: nothing is published. */
	struct view *rel;
	uint16_t thread;
	/* Which event of that thread in the SC order; 0: none. */
	uint16_t sc;
};

struct loc {
	const volatile char *addr;
	const char *name;
	unsigned size, id;
	/* Since the search began: which threads; any of them writes. */
	unsigned users;
	bool is_written;
	/* The execution in which the rest was last set up. */
	uint64_t exec;
	unsigned nr, cap;
	struct msg *msg;
	/* Events of the SC order on this location. */
	struct clock sc;
	/* Last accesses: plain and atomic, reads and writes. */
	struct clock rd, wr, ard, awr;
};

struct thread {
	void *sp, *stack;
	struct view *view;
	/* The next step, not yet done. */
	enum mc_kind op;
	struct loc *loc;
	struct mc_site *site;
	unsigned nr_sc;
	/* Changes made by this thread, also when it last paused. */
	uint32_t changes, seen_own;
	/* Loads since the last pause: one was not the newest; which, and how
	 * many stores there were at the first. */
	bool is_stale;
	uint32_t pauses;
	uint32_t read_at[MC_LOCS];
	uint16_t nr_at[MC_LOCS];
	uint16_t fair[MC_LOCS];
	/* Asleep on op == MC_FUTEX_SLEEP. */
	bool is_woken, is_timed;
	uint32_t bits;
	/* Rounds of spinning although nobody could move, since which change. */
	uint32_t idle_at, nr_idle;
};

struct step {
	uint8_t thread, kind, has_value;
	uint16_t stale;
	struct loc *loc;
	struct mc_site *site;
	uint64_t value, old;
};

struct choice {
	uint8_t taken, nr;
};

enum mc_end_of {
	RUN_GOES_ON,
	RUN_DONE,
	RUN_FAILED,
	/* Seen before, in another order. */
	RUN_PRUNED,
	/* Too many steps, and the scenario allows that. */
	RUN_CUT,
	/* A location turned out to be shared: start the search again. */
	RUN_AGAIN,
};

struct checker {
	const struct mc_scenario *sc;
	uint64_t exec;
	enum mc_end_of state;
	/* NULL while init() and final() run. */
	struct thread *cur;
	bool is_booting;
	void *main_sp;
	jmp_buf main_jmp;
	struct thread threads[MC_THREADS];
	uint32_t changes;

	/* Choices of this execution, replayed up to nr_choices. */
	struct choice choices[MC_CHOICES];
	unsigned nr_choices, pos;
	int bound, preemptions, stale, timeouts, spurious;
	bool is_forced;
	unsigned sleep;

	struct loc locs[MC_LOCS];
	unsigned nr_locs;
	struct clock events[MC_THREADS][MC_SC_EVENTS + 1];

	struct step steps[MC_STEPS];
	unsigned nr_steps;
	char text[MC_TEXT];
};

extern struct checker mc;

/* fiber.c */
void fiber_prepare(struct thread *t, void (*entry)(void));
void fiber_switch(void **from, void *to);

/* explore.c */
void explore_run(void);
void explore_point(enum mc_kind op, struct loc *loc, struct mc_site *site);
_Noreturn void explore_leave(enum mc_end_of state);
unsigned explore_choose(unsigned nr);
bool explore_next(void);

/* model.c */
void model_start(void);
struct loc *model_loc(const volatile void *p, unsigned size);
uint64_t model_newest(struct loc *l);
void model_coherent_read(struct loc *l);
bool model_is_shared(struct loc *l, bool is_write);

static inline int index_of(const struct thread *t)
{
	return (int)(t - mc.threads);
}

static inline void clock_join(struct clock *to, const struct clock *from)
{
	int i;

	for (i = 0; i < MC_THREADS; i++)
		if (to->c[i] < from->c[i])
			to->c[i] = from->c[i];
}

/* race.c */
void race_check(struct loc *l, const struct clock *before, bool is_plain,
		struct mc_site *site);
void race_free(struct loc *l);

/* heap.c */
void heap_start(void);
void heap_check(const volatile void *p);
void *heap_scratch(size_t size);
uint64_t heap_read(const volatile void *p, unsigned size);
void heap_write(volatile void *p, unsigned size, uint64_t v);

/* report.c */
const char *report_name(const struct loc *l);
struct step *report_step(enum mc_kind kind, struct loc *l, struct mc_site *s);
void report_steps(void);
void report_waiters(char *text, size_t size);
const char *report_order(enum mc_order o);
const char *report_kind(enum mc_kind k);

/* main.c */
struct options {
	unsigned long limit;
	unsigned seconds;
	bool has_bound;
	int bound;
	/* A part of a scenario's name; where to weaken accesses; a file of
	 * mutants that others have killed. */
	const char *only, *mutate, *known;
	/* Which of so many shares of the mutants; 0: all of them. */
	unsigned share, nr_shares;
};
struct result {
	unsigned long nr, pruned, cut;
	bool is_exhausted, has_failed;
	/* The last bound that was searched to its end. */
	int done;
	unsigned nr_texts;
	const char *seen[MC_SEE * 2];
	unsigned long nr_seen[MC_SEE * 2];
};
void main_search(const struct mc_scenario *s, const struct options *o,
		 struct result *r);
/* Why the scenario did not go as its table row says; NULL: it did. */
const char *main_verdict(const struct mc_scenario *s, const struct result *r);

/* mutate.c */
int mutate_main(const struct options *o, const struct mc_scenario *table,
		size_t nr);

#endif
