/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Contention by window: the time of all workers is cut into pieces of 10 ms and
 * more, whatever they run. A worker that comes by closes a window when it is
 * due: what part of the time went to futexes or the system; with the probe, in
 * bodies of which kinds, and in which word. Words are looked at while they
 * matter: each look reads the probe's whole table.
 *
 *	windows_begin .. windows_end	one thread at a time, between these
 *	windows_read			any thread
 */
#ifndef SIGNAL_WINDOWS_H
#define SIGNAL_WINDOWS_H

#include "base/lock.h"
#include "signal/workers.h"
#include "trace/probed.h"

#define WINDOWS_NS 10000000

/* Kinds that one window tells of: those with most samples. */
#define WINDOWS_KINDS 16

/* A smaller share has nobody look at words. In thousandths. */
#define WINDOWS_QUIET 50

/* Fewer samples are left to the windows that follow. */
#define WINDOWS_SAMPLES 8

struct window_kind {
	uint32_t name; /* the kind's in recordings; 0: in no body */
	uint32_t permille; /* of all samples: its bodies' in futex words */
	uint64_t samples;
	uint64_t word; /* the address with most of them */
	uint64_t word_samples;
};

struct window {
	uint64_t ns; /* its length; 0: there was none */
	int64_t end_ns; /* CLOCK_MONOTONIC */
	uint64_t delay_ns; /* workers could run, and had no CPU, in sum */
	struct workers_share share;
	uint32_t nr_kinds; /* 0: no word has been looked at */
	struct window_kind kind[WINDOWS_KINDS]; /* most samples first */
};

struct windows {
	/* Set at open, constant afterwards. */
	const struct workers *b;
	struct probed_source probe; /* word NULL: there is none */

	/* Any thread. */
	_Atomic(uint32_t) is_closing;
	_Atomic(int64_t) next_ns; /* no window ends before */

	/* The thread that closes one. */
	struct workers_mark mark; /* when the last one was closed */
	int64_t at_ns; /* the same; 0: none was */
	uint64_t delay_ns;
	uint32_t *seen; /* samples of each word by then; NULL: no memory yet */
	bool has_seen; /* it was filled a window ago, not longer */

	struct lock lock;
	struct window last; /* under lock, but for that thread */
};

/* probe NULL: there is none. Board and probe outlive the windows. */
void windows_open(struct windows *w, const struct workers *b,
		  const struct probed_source *probe);
void windows_close(struct windows *w);

/* Is a window due, and is it ours to close? Then windows_end() follows. */
bool windows_begin(struct windows *w, int64_t now);
void windows_end(struct windows *w);

/* Between these: the window is over, w->last is what it was like. */
void windows_turn(struct windows *w, const struct workers_mark *mark,
		  int64_t now);

/* A thread copies the window that was closed last. */
void windows_read(struct windows *w, struct window *out);

#endif
