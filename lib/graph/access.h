/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Data uses of a graph's tasks become edges when it is sealed: last writer to
 * readers, readers to next writer; of LKDF_DATA_ONCE producer to readers,
 * whatever the order of adding. Data outside of the graph is claimed once per
 * run, see values.h.
 *
 * An edge that keeps readers and the next writer apart is for the order only: a
 * task that failed does not skip what overwrites its input. WEAK uses have
 * edges as strong ones.
 */
#ifndef GRAPH_ACCESS_H
#define GRAPH_ACCESS_H

#include "graph/graph.h"

#include <lkdf/data.h>

#define NO_CLAIM UINT32_MAX

enum access_flag {
	ACCESS_READS = 1,
	ACCESS_WRITES = 2,
	ACCESS_FIRST = 4, /* reads what was there before the run */
	ACCESS_LAST = 8, /* nobody in the graph writes it later */
	ACCESS_TRANSIENT = 16, /* of bytes that live from producer to readers */
	ACCESS_MERGED = 32, /* another use of the task stands for it */
	ACCESS_COMBINES = 64, /* copies: the task is one of ours */
	ACCESS_TOKEN = 128, /* commutes with others: takes the var's token */
	ACCESS_REWRITTEN = 256, /* a later task writes it as well: see
				   run/offhost_run.h */
};

/* A use of one task; in the order of tasks. */
struct access_use {
	uint32_t task; /* until seal its number, then its index */
	uint32_t var;
	uint8_t mode; /* enum lkdf_mode, FOLLOW_COPIED */
	uint16_t flags;
};

/* A data, or a part of one, as the graph sees it. */
struct access_var {
	/* Set at its first use, constant afterwards. */
	struct lkdf_data *data;
	uint32_t part;
	uint32_t nr_parts; /* of the data */

	/* While building. */
	bool is_used; /* by name; a part is also by uses of the whole */

	/* While sealing. */
	uint32_t writer; /* last so far; NO_TASK */
	uint32_t nr_rewritten; /* of the whole: parts with a writer */
	uint32_t reader; /* first of a list of uses; NO_TASK */
	uint32_t group; /* the same: an open one, of uses that go together */
	uint8_t group_mode; /* LKDF_REDUCE, LKDF_COMMUTE */
	bool is_maybe; /* the writer may leave it untouched */
	bool carries; /* the same, and what was wrong with it: see always.h */
	bool is_rewritten; /* behind the uses that were looked at */

	/* Set at seal, constant afterwards. */
	uint32_t nr_readers, nr_writers;
	uint32_t claim; /* index in the run's claim; NO_CLAIM */
	struct domain
		*token; /* of uses with ACCESS_TOKEN; NULL: there are none */
	int16_t home; /* where bytes are made; -1: where they are used */
	uint8_t reads, writes; /* by anybody */
	bool reads_first; /* before it is written here */
	bool is_once, is_transient;
	bool may_be_offhost; /* kernels leave it on devices, see
				run/offhost_run.h */
	uint64_t offset; /* in the data's bytes */
};

/*
 * An edge that passes no failure on, and why; one for each reason. Or an input,
 * see always.h.
 */
struct access_pair {
	uint32_t from, to;
	uint32_t var; /* while it is untouched; NO_VAR: in any case; read */
	uint32_t of; /* written: the same, its whole, or a part of it */
};

#define NO_VAR UINT32_MAX

struct access_table {
	struct array uses; /* struct access_use */
	struct array vars; /* struct access_var: the whole, then its parts */
	struct array order_only; /* struct access_pair, sorted after seal */
	struct array inputs; /* the same, see always.h */
	uint32_t *map; /* hash of data: first var + 1 */
	size_t map_size;
	uint32_t nr_mapped; /* vars that have entered it */
	bool has_ordered; /* some var is not of LKDF_DATA_ONCE */

	/* Set at seal, constant afterwards. */
	uint32_t *first; /* by index: its uses; one more at the end */
	uint32_t nr_indices; /* of first, less one */
	struct transient_use *transient; /* by use */
	struct transient_task *transient_task; /* by index */
	bool has_quick; /* some of these are */
	struct domain *tokens; /* one run has them at a time */
	uint32_t nr_tokens;
	uint32_t nr_claims;
	uint32_t *claimed; /* by claim: the var whose it is */
	bool has_maybe; /* some use is MAYBE */
	bool has_moves; /* some data moves or is copied, see follow.h */
	bool has_away; /* some var may be away */
};

/* Remembers a task's uses, checked. 0 or -errno. */
int access_add(struct lkdf_graph *g, uint32_t task, const struct lkdf_use *use,
	       unsigned nr);

/* Failures of the run before do not count any more. */
void access_forget_tokens(struct access_table *w, struct lkdf *rt);

/*
 * Numbers the uses of a run's claim: one for the whole, or for each part that
 * is used.
 */
void access_number_claims(struct access_table *w);

void access_free(struct lkdf_graph *g);

/* The use of the same task that stands for this one: itself, or another. */
const struct access_use *access_main(const struct access_table *w,
				     const struct access_use *u);

/* Uses of a task, by index; *end behind the last. */
static inline const struct access_use *
access_uses(const struct access_table *w, uint32_t index,
	    const struct access_use **end)
{
	const struct access_use *u = w->uses.items;

	check(index < w->nr_indices);
	*end = u + w->first[index + 1];
	return u + w->first[index];
}

static inline struct access_var *access_var(const struct access_table *w,
					    uint32_t var)
{
	check(var < w->vars.nr);
	return (struct access_var *)w->vars.items + var;
}

static inline uint32_t access_whole(const struct access_table *w, uint32_t var)
{
	return var - access_var(w, var)->part;
}

/*
 * Does one use stand for the other: it is of the same thing, or of the whole.
 */
static inline bool access_is_same(const struct access_table *w,
				  const struct access_use *a,
				  const struct access_use *b)
{
	return a->var == b->var || (!access_var(w, a->var)->part &&
				    access_whole(w, b->var) == a->var);
}

#endif
