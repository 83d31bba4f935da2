/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The board of workers: what is known of each thread that runs bodies. Each
 * fact has one source and one writer: the thread itself (src_self.h), or the
 * kernel's programs (src_bpf.h), whose memory is mapped here. A reader loads
 * words, and nothing else.
 *
 *	workers_enter, workers_look	the executor's thread
 *	workers_read, workers_mark	any thread
 */
#ifndef SIGNAL_WORKERS_H
#define SIGNAL_WORKERS_H

#include "base/atomic.h"
#include "base/own_fd.h"
#include "base/util.h"
#include "signal/board.h"

#include <lkdf/signals.h>

/* Between two looks of a thread at itself. */
#define WORKERS_LOOK_NS 10000000

struct workers;

/* An executor has it. */
struct worker_facts {
	/* Its thread writes, any thread reads. */
	_Alignas(CACHE_LINE) _Atomic(int64_t) at_ns; /* it looked; 0: never */
	_Atomic(uint64_t) user_ns, system_ns, run_delay_ns;
	_Atomic(uint64_t) nr_slept, nr_forced;
	_Atomic(bool) has_delay;
	_Atomic(uint64_t) slot; /* of the probe: gen << 32 | slot + 1; 0 */

	/* Its thread only. */
	uint64_t look_at; /* ticks */
	struct own_fd schedstat;
};

/* Time of all, between two marks. */
struct workers_mark {
	uint64_t user_ns, system_ns, nr_faults; /* of the process */
	uint64_t samples, futex, own; /* of the probe; own: the runtime's */
};

/* The part of it that went to futexes or the system, and the source. */
struct workers_share {
	uint32_t permille;
	enum lkdf_signal_source source; /* NONE: too short to tell */
};

struct bpf_pins;

struct workers_attr {
	enum board_wish wish;
	int nr; /* executors */
	const char *pins; /* the probe's directory; "": there is none */
};

/* From, to: futex words in there are the runtime's own. */
#define WORKERS_OWN 2

struct workers_own {
	uint64_t range[WORKERS_OWN][2];
	const _Atomic(uint32_t) *kind_at; /* where its thread notes it */
};

struct workers {
	/* Set at open, constant afterwards. */
	int nr;
	struct worker_facts *of; /* by executor; NULL: nothing is known */
	bool has_self;
	struct bpf_pins *bpf; /* NULL: there is no probe */
	const char *pins;
	uint64_t look_ticks;
	char why[160]; /* there is no probe */
};

/* Opens the sources that tell of workers. 0 or -ENOMEM. */
int workers_open(const struct workers_attr *a, struct workers *b);
/* No thread is in it any more, or we are a forked child. */
void workers_close(struct workers *b);

/* First thing its thread does, each time that one starts. */
void workers_enter(struct workers *b, int executor,
		   const struct workers_own *own);

/* Looks now, whatever the time. */
void workers_look_now(struct workers *b, int executor, uint64_t ticks);

/* Its thread calls it wherever it comes by: now and then it looks, which is
 * true. */
static inline bool workers_look(struct workers *b, int executor, uint64_t ticks)
{
	if (likely(!b->has_self ||
		   (int64_t)(ticks - b->of[executor].look_at) < 0))
		return false;
	workers_look_now(b, executor, ticks);
	return true;
}

/* Is the kind of running bodies to be noted? */
static inline bool workers_want_kinds(const struct workers *b)
{
	return b->bpf != NULL;
}

/* Where the probe has its thread: gen << 32 | slot + 1; 0: nowhere. */
static inline uint64_t workers_slot(const struct workers *b, int executor)
{
	return b->of ? a_load(&b->of[executor].slot, relaxed) : 0;
}

/* Fills all of it but size; executor -1: sums. */
void workers_read(const struct workers *b, int executor,
		  struct lkdf_facts *out);

/* Has the runtime the probe, and is that alive? */
bool workers_have_probe(const struct workers *b);

/* The sums of now, for a share later; it makes two system calls. */
void workers_mark(const struct workers *b, struct workers_mark *m);
struct workers_share workers_share(const struct workers_mark *from,
				   const struct workers_mark *to);

#endif
