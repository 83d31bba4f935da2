/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Data uses of a graph's tasks become edges when it is sealed: last writer to
 * readers, readers to next writer; of LKDF_DATA_ONCE producer to readers,
 * whatever the order of adding. What lies outside of the graph is claimed once
 * per run, see values.h.
 *
 * An edge that only keeps readers and the next writer apart is soft: a task
 * that failed does not skip what overwrites its input.
 */
#ifndef FLOW_WIRE_H
#define FLOW_WIRE_H

#include "flow/graph.h"

#include <lkdf/data.h>

#define NO_CLAIM UINT32_MAX

enum wire_flag {
	WIRE_READS = 1,
	WIRE_WRITES = 2,
	WIRE_FIRST = 4, /* reads what was there before the run */
	WIRE_LAST = 8, /* nobody in the graph writes it later */
	WIRE_BRIEF = 16, /* of bytes that live from producer to readers */
	WIRE_MERGED = 32, /* another use of the task stands for it */
	WIRE_COMBINES = 64, /* copies: the task is one of ours */
};

/* One use of one task; in the order of tasks. */
struct wire_use {
	uint32_t task; /* until seal its number, then its index */
	uint32_t var;
	uint8_t mode; /* enum lkdf_mode */
	uint8_t flags;
};

/* A data, or a part of one, as the graph sees it. */
struct wire_var {
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
	uint32_t reducer; /* the same of an open group */

	/* Set at seal, constant afterwards. */
	uint32_t nr_readers, nr_writers;
	uint32_t claim; /* index in the run's claim; NO_CLAIM */
	int16_t home; /* where bytes are made; -1: where they are used */
	uint8_t reads, writes; /* by anybody */
	bool reads_first; /* before it is written here */
	bool is_once, is_brief;
	uint64_t offset; /* in the data's bytes */
};

struct wire_pair {
	uint32_t from, to;
};

/* What a run needs of a var with brief bytes. */
struct wire_brief {
	uint32_t nr_readers;
	uint8_t class; /* of its bytes; BRIEF_LARGE: see the data */
	bool has_drop;
};

#define BRIEF_LARGE 255

struct wiring {
	struct array uses; /* struct wire_use */
	struct array vars; /* struct wire_var: the whole, then its parts */
	struct array soft; /* struct wire_pair, sorted after seal */
	uint32_t *map; /* hash of data: first var + 1 */
	size_t map_size;
	struct lkdf_data *last_data;
	uint32_t last_var;

	/* Set at seal, constant afterwards. */
	uint32_t *first; /* by index: its uses; one more at the end */
	uint32_t nr_indices; /* of first, less one */
	struct wire_brief *brief; /* by var */
	uint32_t nr_claims;
};

/* Remembers a task's uses, checked. 0 or -errno. */
int wire_add(struct lkdf_graph *g, uint32_t task, const struct lkdf_use *use,
	     unsigned nr);

/* First thing of seal: edges, tasks that combine, kinds that see to bytes. */
int wire_seal(struct lkdf_graph *g, struct lkdf_diag *why);

/* One use of a run's claim for the whole, or for each part that is used. */
void wire_number_claims(struct wiring *w);

/* Last thing of seal, when records have their index. */
int wire_index(struct lkdf_graph *g);

void wire_free(struct lkdf_graph *g);

/* Does the edge keep two uses apart, and nothing more? By index. */
bool wire_is_soft(const struct lkdf_graph *g, uint32_t from, uint32_t to);

/* Uses of a task, by index; *end behind the last. */
static inline const struct wire_use *
wire_uses(const struct wiring *w, uint32_t index, const struct wire_use **end)
{
	const struct wire_use *u = w->uses.items;

	*end = u + w->first[index + 1];
	return u + w->first[index];
}

static inline struct wire_var *wire_var(const struct wiring *w, uint32_t var)
{
	return (struct wire_var *)w->vars.items + var;
}

#endif
