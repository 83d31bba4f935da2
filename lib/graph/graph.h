/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A graph while it is built and after it is sealed. Tasks are written straight
 * into the hot records of frame 0, edges into their inline successors; only
 * third and further successors wait in a list until seal lays them out.
 *
 *	BUILDING -> SEALED     nobody writes topology afterwards
 *	BUILDING -> BROKEN     an add or order was refused; seal says why
 */
#ifndef GRAPH_GRAPH_H
#define GRAPH_GRAPH_H

#include "base/atomic.h"
#include "core/handle.h"
#include "core/home.h"
#include "graph/record.h"
#include "policy/solo.h"
#include "task/kind.h"

#include <lkdf/graph.h>
#include <pthread.h>

#define MAX_INFLIGHT 64

struct control;
struct frame;
struct static_order;
struct stream;
struct planned;
struct pieces;
struct ports;
struct access_table;

#define NO_TASK UINT32_MAX

/* An edge that found no inline place. */
struct spilled_edge {
	uint32_t from, to;
};

/* A task whose nr_in does not fit into 16 bits. */
struct wide_task {
	uint32_t task, nr_in;
};

struct task_label {
	uint32_t task, order;
	char text[NAME_SIZE];
};

/* How long the bodies of a task with LKDF_PROFILE took, in ticks. */
struct task_time {
	_Atomic(uint64_t) runs, total, longest;
};

/* Grows by doubling; region memory. */
struct array {
	void *items;
	size_t nr, cap, item_size;
};

/* Whether and how its runs go by a static order, see static_order.h. */
struct static_state {
	/* Set at seal, constant afterwards. */
	bool is_possible;

	/* Any worker: a race costs a run of the other kind. */
	_Atomic(uint32_t) remaining; /* runs until it is tried again */
	_Atomic(uint32_t) hold;

	/* Written under the graph's lock. */
	_Atomic(bool) is_tried; /* to make it */
	_Atomic(struct static_order *) order; /* NULL: not yet, or refused */
};

struct lkdf_graph {
	/* Set at create, constant afterwards. */
	struct lkdf *rt;
	char name[32];
	uint32_t nr_frames;

	/* The builder's thread until seal, constant afterwards. */
	bool is_sealed;
	uint32_t nr_tasks, cap_tasks;
	struct rec *recs; /* frame 0 */
	uint16_t *homes; /* by task, see home_make(); NULL: none has one */
	uint32_t cap_homes;
	/* For a graph with places, once it is renumbered; see renumber.c. */
	uint32_t *starts; /* by home: the index where its records begin */
	uint32_t *numbers, *indices; /* of tasks, by index; the other way */
	struct access_table *accesses; /* data uses; NULL: none */
	struct control *control; /* branches and loops; NULL: none */
	struct ports *ports; /* NULL: no task has any */
	struct planned *planned; /* see there; NULL: it is not */
	uint32_t nr_recs; /* tasks, and what lies between them */
	bool is_renumbered;
	struct array edges; /* struct spilled_edge, until seal */
	struct array wide; /* struct wide_task, by task */
	struct array labels; /* struct task_label, by task after seal */
	struct array includes; /* struct graph_include */
	struct array kinds; /* struct lkdf_kind *, a hash set */
	struct array args; /* copied arguments: struct arg_chunk * */
	size_t args_used; /* in the last chunk */
	struct lkdf_kind *last_kind, *empty_kind; /* the latter: of include.h */
	uint32_t *spill; /* successors of tasks with more than two */
	uint32_t *sources;
	uint32_t nr_spill, nr_sources;
	bool has_profiles; /* some task has LKDF_PROFILE */
	struct task_time *times; /* by task, from seal on; NULL: none has */
	bool has_backward; /* an edge from a higher number to a lower */
	bool has_tokens; /* records with REC_TOKEN */
	bool has_early; /* kernels with REC_LEADS */
	struct pieces *pieces; /* of these, see offload/pieces.h; or NULL */
	size_t pieces_size;
	struct lkdf_scope *recorded; /* see recording.h */
	int broken; /* first refusal while building */
	char why[200];
	struct frame *frames;
	void (*unseal)(struct lkdf_graph *g); /* frees what seal has made */

	struct stream *stream; /* of several frames; the one under way */
	struct solo solo; /* whether its runs are shared, see there */
	struct static_state order; /* how they go where they are not */

	/* Any thread. */
	_Atomic(uint32_t) nr_refs; /* the user and each run */
	_Atomic(uint32_t) nr_waiters; /* for a frame */
	_Atomic(uint32_t) nr_ended; /* futex */
	_Atomic(uint64_t) next_seq;
	_Atomic(uint32_t) told; /* the recording that knows it, see tell.h */

	/* Under lock. */
	pthread_mutex_t lock;
	uint64_t nr_runs; /* started so far */

	/* Option check, the thread that drains: see run/checked_run.c. */
	uint64_t *check_begin, *check_turns;

	struct handle handle; /* the user's */
};

/* Is it a number that graph_add() gave? */
static inline bool graph_has(const struct lkdf_graph *g, uint32_t task)
{
	return task < g->nr_tasks;
}

int graph_create(struct lkdf *rt, const struct lkdf_graph_attr *a,
		 struct lkdf_graph **out);
void graph_get(struct lkdf_graph *g);
void graph_put(struct lkdf_graph *g);

/* The caller has checked kind and prio. Task number, or -errno. */
int graph_add(struct lkdf_graph *g, struct lkdf_kind *k, const void *arg,
	      int prio);

/* The task runs there. */
int graph_place(struct lkdf_graph *g, uint32_t task, uint16_t home);

/*
 * Places the task with the home of a part of that node, which its record is on,
 * or one of a kernel.
 */
int graph_place_at(struct lkdf_graph *g, uint32_t task, uint16_t home,
		   int node);

/* It counts how long the task's bodies take. */
int graph_profile(struct lkdf_graph *g, uint32_t task);
int graph_order(struct lkdf_graph *g, uint32_t before, uint32_t after);
int graph_label(struct lkdf_graph *g, uint32_t task, const char *label);
int graph_dump(const struct lkdf_graph *g, int fd, const char *format);

/* Room for so many more tasks. -EOVERFLOW: there are never so many. */
int graph_reserve(struct lkdf_graph *g, uint32_t nr);

/* The graph takes one reference, whatever the tasks of the kind. */
int graph_keep_kind(struct lkdf_graph *g, struct lkdf_kind *k);

/* In memory of the graph's; NULL: there is none. */
void *graph_copy_arg(struct lkdf_graph *g, const void *arg, size_t size);

/* "a/b", as much as fits. */
void graph_join_names(char to[NAME_SIZE], const char *a, const char *b);

/* Remembers the first refusal for seal; returns rc. */
int graph_broken(struct lkdf_graph *g, int rc);

/* "": it has none. */
const char *graph_task_label(const struct lkdf_graph *g, uint32_t task);

/* The task's label, or its kind and number, "kind#number", in buf. */
const char *graph_task_name(const struct lkdf_graph *g, uint32_t task,
			    char *buf, size_t size);

/* Successors of a task without REC_CONTROL; *nr is their number. */
static inline const uint32_t *graph_succ(const struct lkdf_graph *g,
					 const struct rec *r, uint32_t *nr)
{
	if (likely(r->nr_succ != REC_SPILLED)) {
		*nr = r->nr_succ;
		return r->succ;
	}
	*nr = r->succ[1];
	return g->spill + r->succ[0];
}

/*
 * An instance waits for the one so many runs before. That one has to come
 * before whatever lay in its frame until then, so the ring is a multiple:
 * less than the kind's width where the width does not divide it.
 */
static inline uint32_t graph_stride(const struct lkdf_graph *g,
				    const struct lkdf_kind *k)
{
	uint32_t stride = k->width;

	while (unlikely(g->nr_frames % stride))
		stride--;
	return stride;
}

/* The home of a task with REC_PLACED, by the index of its record. */
uint16_t renumber_home(const struct lkdf_graph *g, uint32_t index);

/* The user's number of a task, and the index of its record. */
static inline uint32_t graph_number(const struct lkdf_graph *g, uint32_t index)
{
	return unlikely(g->is_renumbered) ? g->numbers[index] : index;
}

static inline uint32_t graph_index(const struct lkdf_graph *g, uint32_t task)
{
	return unlikely(g->is_renumbered) ? g->indices[task] : task;
}

/* Its kind has LKDF_ALWAYS. While building or sealing. */
static inline bool graph_is_always(const struct lkdf_graph *g, uint32_t task)
{
	return g->recs[task].kind->flags & LKDF_ALWAYS;
}

/* The value to which pending is re-armed. */
uint32_t graph_wide_nr_in(const struct lkdf_graph *g, uint32_t task);

static inline uint32_t graph_nr_in(const struct lkdf_graph *g,
				   const struct rec *r, uint32_t task)
{
	return likely(r->nr_in != REC_WIDE) ? r->nr_in
					    : graph_wide_nr_in(g, task);
}

/* Room for one more at the end, or NULL. */
bool array_grow(struct array *a);

static inline void *array_add(struct array *a)
{
	if (unlikely(a->nr == a->cap) && !array_grow(a))
		return NULL;
	return (char *)a->items + a->item_size * a->nr++;
}

void array_fini(struct array *a);

#endif
