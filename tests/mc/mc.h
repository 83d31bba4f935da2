/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What a scenario program sees of the model checker. README.rst says what the
 * model explores and what it does not.
 *
 * A scenario is a few threads that run product code. It is run again and again,
 * once for each interleaving and each store that a load may read. init() and
 * final() run alone; what init() wrote is visible to every thread.
 */
#ifndef MC_H
#define MC_H

#include "base/atomic.h"

#include <stdbool.h>
#include <stddef.h>

#define MC_THREADS 8
#define MC_SEE 8

struct mc_scenario {
	const char *name;
	int nr_threads;
	/* Preemptions per execution; -1 is no bound. */
	int bound;
	/* With a bound: loads that read an old store per execution, 0: all. */
	int stale;
	/* Sets all memory of the scenario to its first state. May be NULL. */
	void (*init)(void);
	void (*thread)(int id);
	/* May be NULL. */
	void (*final)(void);
	/* Called whenever another thread goes on: sets thread-local pointers.*/
	void (*resume)(int id);
	/*
	 * How often per execution a timed sleep may end although others could
	 * move. When nobody can, a timed sleep ends anyway, unless this is -1:
	 * then no sleep ever times out, and a lost wake-up is a deadlock.
	 */
	int timeouts;
	/* How often per execution a sleep may end for no reason. */
	int spurious;
	/* Steps per execution, 0: 5000. More is a failure, or with cut a cut.
	 */
	unsigned steps;
	bool cut;
	/* Executions, 0: as the command line says. */
	unsigned long limit;
	/* The search must find a failure whose text has these words. */
	const char *fails;
	/* Every text must be given to mc_see() in some execution. */
	const char *must_see[MC_SEE];
};

/* Ends the program with the exit status of a TAP program. */
int mc_main(int argc, char **argv, const struct mc_scenario *table, size_t nr);

#define MC_MAIN(table)                                              \
	int main(int argc, char **argv)                             \
	{                                                           \
		return mc_main(argc, argv, table,                   \
			       sizeof(table) / sizeof((table)[0])); \
	}

/* In any of the scenario's functions. */
#define mc_assert(cond) \
	((cond) ? (void)0 : mc_fail("%s:%d: %s", __FILE__, __LINE__, #cond))
_Noreturn void mc_fail(const char *fmt, ...)
	__attribute__((format(printf, 1, 2)));

/* This outcome was reached; for must_see and for the summary. */
void mc_see(const char *what);

/* The name of an object in a printed interleaving; the text is kept. */
void mc_name(const volatile void *p, const char *name);

/* No bell has rung: for init. */
void mc_bell_init(void);

/*
 * What was done before it rang is seen by whom it wakes, as the kernel's lock
 * makes it: for what the kernel itself does. Without it waking orders nothing.
 */
void mc_bell_carries(void);

/*
 * Memory that lives until the end of the execution, filled with 0xa5. A freed
 * block is never reused; an access after mc_free(), or one that does not
 * happen before it, is a failure.
 */
void *mc_alloc(size_t size);
void mc_free(void *p);

/* What sched_getcpu() is for product code. */
int mc_getcpu(void);

/* The running thread of the scenario, -1 in init() and final(). */
int mc_self(void);

#endif
