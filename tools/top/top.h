/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf top: what a process does now. A look takes the counters, the newest
 * events and, while something is recorded, the newest slices of each executor
 * from the memfds "lkdf:stats", and keeps what came since the look before. A
 * page is one view of that, as lines, for a terminal and for --batch alike.
 */
#ifndef TOOLS_TOP_TOP_H
#define TOOLS_TOP_TOP_H

#include "cli/cli.h"
#include "doctor/shared_cpus.h"
#include "probe/futex.h"
#include "stat/kinds.h"
#include "stat/stats.h"

#include <stdbool.h>
#include <stdint.h>

/* Counters that a row shows, by name in top/look.c. */
enum top_counter {
	TOP_TASKS,
	TOP_NEAR,
	TOP_FAR,
	TOP_PARKS,
	TOP_WAKES,
	TOP_FAILED,
	TOP_MIGRATED,
	TOP_REPLICATED,
	TOP_HOMED,
	TOP_ASIDE,
	TOP_TRIALS,
	TOP_IDLE_NS,
	NR_TOP_COUNTERS
};

/* An executor; the last row of a runtime is the outside. */
struct top_row {
	uint32_t runtime, executor, kind; /* enum lkdf_executor_kind */
	int cpu, node; /* -1: not bound */
	bool is_started, is_asleep; /* asleep: parked */
	uint32_t
		probed; /* enum lkdf_probe_state; FREE: the probe sees it not */
	uint64_t word; /* that it sleeps in; 0: in none, or not known */
	uint32_t tid, holder_tid; /* of the word's holder; 0: not known */
	uint32_t by_tid; /* who has got its CPU while it is preempted; 0 */
	char by[16]; /* tame */
	double busy; /* share of the interval, of a worker */
	double rate[NR_TOP_COUNTERS]; /* a second */

	/* As the look before has left it. */
	uint64_t before[NR_TOP_COUNTERS], event_head, slice_head;
	uint64_t asleep_since; /* ticks */
	double idle_ns; /* with the sleep under way */
};

/* The sum of a node's rows; node -1: not bound. */
struct top_node {
	int node;
	uint32_t nr_workers, nr_asleep;
	double busy; /* of all its workers, in workers */
	double rate[NR_TOP_COUNTERS];
};

#define TOP_DURATIONS 4096

/* Bodies of one name, from the slices that were looked at. */
struct top_kind {
	char name[64];
	double rate; /* bodies a second, estimated where some were passed over
		      */
	double share; /* of worker time */
	double mean_us; /* of those that were timed */
	uint64_t local, remote; /* bytes, of bodies that said so */
	uint32_t nr_seen;
	uint32_t nr_us, us[TOP_DURATIONS]; /* sorted, in 1/16 us */
};

#define TOP_KINDS 64

/* A counter "device.*", of all executors. */
struct top_device {
	char name[32], unit[16];
	uint64_t before;
	double rate; /* a second */
};

#define TOP_DEVICE_COUNTERS 64

/* Counters of one device, by name in top/device.c. */
enum top_unit_counter {
	UNIT_KERNELS,
	UNIT_KERNELS_NS,
	UNIT_COPIES_NS,
	UNIT_UP,
	UNIT_DOWN,
	NR_UNIT_COUNTERS
};

/* A device by itself. */
struct top_unit {
	uint32_t runtime, number;
	struct lkdf_stats_device d;
	uint64_t before[NR_UNIT_COUNTERS];
	double rate[NR_UNIT_COUNTERS]; /* a second */
};

struct top {
	int pid;
	char command[64];
	struct stats stats[STATS_MAX];
	unsigned nr_stats;
	struct top_row *row;
	uint32_t nr_rows;
	struct top_node *node; /* by number */
	uint32_t nr_nodes, nr_workers;
	double busy, rate[NR_TOP_COUNTERS]; /* of all; busy in workers */
	struct shared_cpus shared; /* with other runtimes */
	bool is_first; /* rates are those since the start */
	int64_t start_ns, at_ns;
	double seconds; /* that the rates are of */

	uint32_t nr_devices;
	struct top_device device[TOP_DEVICE_COUNTERS];
	uint32_t nr_units;
	struct top_unit *unit;

	/* While something is recorded. is_hidden: something is whose rings
	 * cannot be mapped. */
	bool is_recorded, is_hidden;
	bool is_counted; /* kinds are those that the option kinds counts */
	struct stats_kinds counted; /* as the look before has found them */
	uint32_t nr_kinds;
	struct top_kind *kind; /* TOP_KINDS; most time first */

	/* The probe's; NULL: it has not been asked for, or is not there. */
	const char *pins;
	struct pins probe; /* head NULL: there is none */
	struct futex_view *futex;
	struct futex_report *words;
	struct futex_error why_not;
};

/* t->pid is set. Runtimes found, 0 too; or -errno. */
int top_open(struct top *t);
void top_close(struct top *t);

/* -ENOMEM. Runtimes that have come or gone are noticed now and then. */
int top_look(struct top *t);

/* The state of a worker, in a word for people, and one for programs. */
const char *top_state(const struct top_row *row);
const char *top_state_name(const struct top_row *row);

/* Takes the probe's words, too. */
void top_look_words(struct top *t);

/* Devices since the look before. */
void top_devices(struct top *t);

/* Kinds since the look before: of slices while something is recorded, else
 * those that the option kinds counts. */
void top_kinds(struct top *t);

/* ---- pages --------------------------------------------------------------- */

enum top_view {
	TOP_NODES,
	TOP_WORKERS,
	TOP_KIND,
	TOP_FUTEXES,
	TOP_DEVICES,
	TOP_PAGES,
	NR_TOP_VIEWS
};

/* In which order workers and nodes stand. */
enum top_order {
	TOP_BY_NUMBER,
	TOP_BY_BUSY,
	TOP_BY_TASKS,
	TOP_BY_STEALS,
	NR_TOP_ORDERS
};

#define TOP_WIDTH 400 /* columns, at most */
#define TOP_LINE (TOP_WIDTH * 4 + 1)

struct top_line {
	enum cli_paint paint;
	bool is_head;
	char text[TOP_LINE];
};

struct top_page {
	/* Set by the caller. */
	enum top_view view;
	enum top_order order;
	unsigned width; /* columns, TOP_WIDTH at most */
	bool is_utf8;

	/* Lines: the first one is about the process, two where it is narrow. */
	unsigned nr, room, nr_title;
	struct top_line *line;
	unsigned column; /* of the line that grows */
	bool is_full; /* it has no room for the next cell */
};

/* The word for --view, and the key; NULL: there are no more. */
const char *top_view_word(const void *u, unsigned i);
char top_view_key(enum top_view v);
const char *top_order_word(enum top_order o);

/* -ENOMEM. The page is used again and again. */
int top_page_make(struct top_page *p, const struct top *t);
void top_page_free(struct top_page *p);

void top_print_json(const struct top *t);

struct top_opts {
	struct cli_common common;
	const char *process, *view, *dir;
	int64_t interval_ns;
	long times;
	bool is_batch;
};

/* ---- where pages go ------------------------------------------------------ */

/*
 * The screen of a terminal, until a key or a signal ends it or the process
 * does. An exit code; where it is none of CLI_OK, it has been said why.
 */
int top_screen(struct top *t, struct top_page *p, const struct top_opts *o);

/* Says why, and returns the code. */
int top_fail(enum cli_exit code, const char *what, const char *try);

#endif
