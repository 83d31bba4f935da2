/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Counters, rare events and slices of one runtime, in the memfd "lkdf:stats",
 * or in anonymous memory where there is none; slices of recordings that begin
 * late are in one of their own, "lkdf:slices". With a file name a thread
 * "lkdf/drain" carries slices and events into that file.
 */
#ifndef TRACE_TRACE_H
#define TRACE_TRACE_H

#include "base/log.h"
#include "base/own_fd.h"
#include "trace/callers.h"
#include "trace/last_given.h"
#include "trace/limits.h"
#include "trace/probed.h"
#include "trace/ring.h"

#include <stdbool.h>

#define MAX_NAMES 1024
#define NAME_SLOTS (2 * MAX_NAMES)
#define TRACE_NAME_SIZE 64
#define TRACE_LABELS 4096 /* rows of the table of labels */

struct trace_drain;

struct trace_attr {
	int nr_executors, nr_nodes;
	uint32_t ticks_per_1024ns;
	uint32_t spin_ns; /* how long a worker looks for work */
	const char *file; /* NULL or "": no slices */
	/* Above 0: file is written when it is asked for, and holds so much. */
	int64_t last_ns;
	int last_signal; /* of the process, that asks for it; 0: none */
	bool is_optional; /* a file that cannot be made is told to the log */
	bool counts_kinds; /* option kinds */
	const char *facts; /* lines "key=value", copied; NULL: none */
	const struct log *log;
};

/* The record of the kinds of one name; see trace-format.rst. */
struct trace_kind {
	uint32_t flags, prio, width, limits;
	bool is_known, is_told;
};

/* A chunk that is ready to be written. */
struct trace_note {
	struct trace_note *next;
	uint32_t recording; /* that it is for */
	uint32_t type, size;
	uint32_t lane; /* that it tells; of LANE */
	uint8_t payload[];
};

struct trace {
	/* Set at open, constant afterwards. */
	int nr_executors;
	uint32_t ticks_per_1024ns, spin_ns;
	uint64_t start_ticks, start_ns;
	struct trace_ring *rings; /* executors, then the outside */
	void *base; /* the memfd */
	size_t size;
	int fd; /* < 0: anonymous memory, and why: -errno */
	struct own_fd own; /* the same */
	char *labels; /* the table of labels */
	_Atomic(uint64_t) *labels_left_out;
	struct lkdf_stats_device *devices; /* LKDF_STATS_DEVICES */
	const struct log *log;
	char *facts;
	_Atomic(uint64_t) *bytes; /* of all rings, lines of their own */
	int64_t last_ns; /* of the flight recorder; 0: there is none */
	char *last_pattern; /* of names of its files */
	bool has_last_signal;
	bool records; /* since open: drain is as it is until close */

	/* Under lock. */
	pthread_mutex_t lock;
	_Atomic(uint32_t) nr_names; /* the drain thread reads without it */
	char (*names)[TRACE_NAME_SIZE]; /* ours, not the memfd's */
	uint16_t name_at[NAME_SLOTS]; /* by hash: a number + 1, or 0 */
	struct trace_kind *kinds; /* by name */
	struct trace_note *notes, **notes_end;
	uint32_t nr_graphs; /* told so far */

	/* The number of the recording under way, from 1; 0: there is none. Set
	 * under lock by whoever starts and ends it; any thread looks. */
	_Atomic(uint32_t) recording;

	/* The thread that starts and ends recordings, one thread at a time. */
	struct trace_drain *drain; /* NULL: not recording */
	uint32_t nr_recordings;
	void *late; /* rings beside the memfd; NULL: none so far */
	int late_fd; /* the memfd "lkdf:slices"; < 0: nobody sees them */
	struct own_fd late_own; /* the same */

	/* Set once, before told_by_probe; the drain thread calls it. */
	struct probed_source probed;
	_Atomic(bool) told_by_probe;

	/* Any thread: wakes the drain thread. */
	_Atomic(uint32_t) bell;

	/* Any thread, while there is a flight recorder. */
	struct limits limits;

	/* Any thread: so often the flight recorder was asked for. */
	_Atomic(uint32_t) last_asked;

	/* The thread that starts and ends recordings, and the drain thread. */
	struct last_given last_given;

	struct callers callers; /* any thread */

	/* Any thread: the uid of whoever woke a thread of the program last. */
	_Atomic(uint64_t) waker;
};

/*
 * Return: 0; -ENOMEM; -EEXIST, -EPERM, -errno: the file is refused. On
 * failure trace_close() may still be called.
 */
int trace_open(struct trace *t, const struct trace_attr *a);

/* Why there is no memfd; NULL: there is one. */
const char *trace_why(const struct trace *t);

/* Ends the file. No executor writes any more. Accepts a zeroed struct. */
void trace_close(struct trace *t);

/* The sums of a recording when it ended. */
struct trace_sum {
	uint64_t slices, lost; /* bodies and spans that found no room */
	int error; /* 0, or -errno of write(2): the file ends before */
};

/*
 * Starts a recording while the executors run. It takes over fd, an empty file,
 * in any case. Kinds are the caller's to switch, before it ends as well.
 * -EBUSY: there is one; -ENOMEM; -EAGAIN: no thread; -errno of write(2).
 */
int trace_record(struct trace *t, int fd);
void trace_record_end(struct trace *t, struct trace_sum *sum);

/*
 * For exit(3), on any thread while executors run: what trace_open() has begun
 * to record, for drain_leave(); NULL: nothing, or it has its end. The caller
 * keeps others from trace_close() meanwhile.
 */
struct trace_drain *trace_claim(struct trace *t);

/* In a forked child: lets go of memory, writes nothing. */
void trace_abandon(struct trace *t);

/* On the executor's thread: it is bound to no CPU any more. */
void trace_unbind(struct trace_ring *r);

/* The calling thread, of that number, is the executor from now on. */
void trace_sit(struct trace_ring *r, uint32_t tid);

/* On the executor's thread when it starts; -1: no cpu or node. */
void trace_start(struct trace_ring *r, enum lkdf_executor_kind kind, int cpu,
		 int node);

/* For tools: what hides addresses in the probe's maps, and where it has the
 * executor, whose thread calls: gen << 32 | slot + 1, or 0. */
void trace_probe_key(struct trace *t, uint64_t key);
void trace_probe_slot(struct trace_ring *r, uint64_t slot);

/* The kernel's facts that recordings have from now on, until the trace is
 * closed. Called once, after trace_open(). */
void trace_told_by(struct trace *t, const struct probed_source *s);

/* For tools: the name of the socket at which somebody answers. */
void trace_ask(struct trace *t, const char *name, uint64_t key);

/* The number that stands for a name; 0: the table is full. */
uint32_t trace_name(struct trace *t, const char *name);

/* The number of a name, and what its kind is like. */
uint32_t trace_kind(struct trace *t, const char *name,
		    const struct trace_kind *k);

/* Takes over n, which is written after all names so far, or is for a recording
 * that is over. */
void trace_note_give(struct trace *t, struct trace_note *n);

static inline struct trace_ring *trace_outside(const struct trace *t)
{
	return &t->rings[t->nr_executors];
}

static inline bool trace_is_recording(const struct trace *t)
{
	return a_load(&t->recording, relaxed) != 0;
}

/* Which recording it is, from 1; 0: none. */
static inline uint32_t trace_recording(const struct trace *t)
{
	return a_load(&t->recording, relaxed);
}

/* On any thread, in handlers of signals, too: the flight recorder is to be
 * written soon. */
void trace_ask_last(struct trace *t);

/*
 * The caller has the flight recorder written into fd, an empty file, which is
 * taken over in any case; waits until it is written. The thread that starts and
 * ends recordings. -ENOENT: there is no flight recorder; -ETIMEDOUT; -errno of
 * write(2).
 */
int trace_last_into(struct trace *t, int fd, struct trace_sum *sum);

/* A task or scope is late. */
static inline void trace_is_late(struct trace *t)
{
#ifdef LKDF_MC
	(void)t;
#else
	if (unlikely(t->last_ns))
		trace_ask_last(t);
#endif
}

/* For a graph that is told now; used once. */
uint32_t trace_graph_number(struct trace *t);

#endif
