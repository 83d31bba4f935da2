/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Callers of bodies that went to sleep in a futex word, and of those that were
 * sampled on a CPU: sums of equal stacks in the window, with names from the
 * files that the recording names.
 */
#include "report/load.h"
#include "utf8.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct name_of_code {
	uint64_t address;
	char *text;
};

/* Addresses that have a name already. */
struct names {
	struct name_of_code *name;
	uint32_t nr, cap;
};

/* Stacks as they come; equal ones lie in one bucket. */
struct stack_rows {
	struct trace_probed_stack *row;
	uint32_t *next;
	uint32_t nr, cap;
	uint32_t bucket[4096]; /* 1 + the first row */
};

static uint32_t hash_of(const struct trace_probed_stack *s)
{
	uint64_t h = s->sort * 31ull + s->name + (s->word >> 2);
	uint32_t i;

	for (i = 0; i < s->nr; i++)
		h = (h ^ s->ip[i]) * 11400714819323198485ull;
	return (uint32_t)(h >> 32) % 4096;
}

static bool is_same(const struct trace_probed_stack *a,
		    const struct trace_probed_stack *b)
{
	return a->sort == b->sort && a->name == b->name && a->word == b->word &&
	       a->nr == b->nr &&
	       !memcmp(a->ip, b->ip, a->nr * sizeof(a->ip[0]));
}

static bool grow_rows(struct stack_rows *x)
{
	uint32_t cap = x->cap * 2 + 64;
	struct trace_probed_stack *row = realloc(x->row, cap * sizeof(*row));
	uint32_t *next = realloc(x->next, cap * sizeof(*next));

	x->row = row ? row : x->row;
	x->next = next ? next : x->next;
	x->cap = row && next ? cap : x->cap;
	return row && next;
}

void note_probed_stack(void *u, const struct trace_probed_stack *s)
{
	struct load *l = u;
	uint64_t at = load_time(l, s->ticks);
	struct stack_rows *x = l->stacks;
	uint32_t h = hash_of(s), i;

	if (at < l->from || at > l->to)
		return;
	if (!x)
		x = l->stacks = calloc(1, sizeof(*x));
	if (!x || (x->nr == x->cap && !grow_rows(x))) {
		l->rc = -ENOMEM;
		return;
	}
	for (i = x->bucket[h]; i; i = x->next[i - 1]) {
		if (!is_same(&x->row[i - 1], s))
			continue;
		if (x->row[i - 1].count + s->count >= s->count)
			x->row[i - 1].count += s->count;
		return;
	}
	x->row[x->nr] = *s;
	x->next[x->nr] = x->bucket[h];
	x->bucket[h] = ++x->nr;
}

/* ---- names --------------------------------------------------------------- */

static char *make_name(const struct load *l, uint64_t address, bool is_first)
{
	struct trace_probed_place place;
	char text[200];
	struct where w;

	if (!futexes_place(l, address, &place)) {
		snprintf(text, sizeof(text), "0x%" PRIx64, address);
		return strdup(text);
	}
	/* A call may be the last of its function: it returns to another one. */
	place.offset -= !is_first;
	where_recorded(&place, &w);
	if (w.has_symbol && w.symbol.is_inside)
		snprintf(text, sizeof(text), "%.120s", w.symbol.name);
	else
		snprintf(text, sizeof(text), "%.80s+0x%" PRIx64, w.object,
			 w.offset);
	utf8_tame(text);
	return strdup(text);
}

/* For the program's life; NULL: no memory. */
static const char *name_of(const struct load *l, struct names *n,
			   uint64_t address, bool is_first)
{
	uint64_t key = address * 2 + is_first;
	struct name_of_code *more;
	uint32_t i;

	for (i = 0; i < n->nr; i++)
		if (n->name[i].address == key)
			return n->name[i].text;
	if (n->nr == n->cap) {
		more = realloc(n->name, (2ull * n->cap + 64) * sizeof(*more));
		if (!more)
			return NULL;
		n->name = more;
		n->cap = 2 * n->cap + 64;
	}
	n->name[n->nr] = (struct name_of_code){ key, NULL };
	n->name[n->nr].text = make_name(l, address, is_first);
	return n->name[n->nr++].text;
}

static void free_names(struct names *n)
{
	uint32_t i;

	for (i = 0; i < n->nr; i++)
		free(n->name[i].text);
	free(n->name);
}

static int name_frames(const struct load *l, struct names *n,
		       const struct trace_probed_stack *from, struct stack *to)
{
	const char *name;
	size_t used = 0;
	uint32_t i;

	for (i = 0; i < from->nr && used < sizeof(to->frames); i++) {
		name = name_of(l, n, from->ip[i], i == 0);
		if (!name)
			return -ENOMEM;
		used += (size_t)snprintf(to->frames + used,
					 sizeof(to->frames) - used, "%s%s",
					 i ? "\n" : "", name);
	}
	return 0;
}

static int most_first(const void *a, const void *b)
{
	const struct trace_probed_stack *x = a, *y = b;
	int rc;

	if (x->sort != y->sort)
		return x->sort < y->sort ? -1 : 1;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	if (x->word != y->word)
		return x->word < y->word ? -1 : 1;
	rc = memcmp(x->ip, y->ip, sizeof(x->ip));
	return rc ? rc : (x->name > y->name) - (x->name < y->name);
}

/* How many were taken of that sort, of that word. */
static uint64_t count_all(const struct stack_rows *x,
			  const struct trace_probed_stack *like)
{
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < x->nr; i++)
		if (x->row[i].sort == like->sort &&
		    x->row[i].word == like->word &&
		    sum + x->row[i].count >= sum)
			sum += x->row[i].count;
	return sum;
}

static void name_word(const struct report *r, struct stack *to)
{
	uint32_t i;

	for (i = 0; i < r->nr_futexes; i++)
		if (r->futex[i].address == to->word)
			to->futex = i + 1;
}

int stacks_sum(struct load *l)
{
	struct stack_rows *x = l->stacks;
	struct report *r = l->r;
	struct names names = { .nr = 0 };
	uint32_t i, nr_of[3] = { 0 };
	struct stack *to;
	int rc = l->rc;

	if (rc || !x)
		return rc;
	r->stack = calloc(2 * MAX_STACKS, sizeof(*r->stack));
	if (!r->stack)
		return -ENOMEM;
	qsort(x->row, x->nr, sizeof(*x->row), most_first);
	for (i = 0; i < x->nr && !rc; i++) {
		/* Sorts of a version to come are left out. */
		if (!x->row[i].nr || x->row[i].sort < LKDF_STACK_WAITS ||
		    x->row[i].sort > LKDF_STACK_RUNS ||
		    nr_of[x->row[i].sort]++ >= MAX_STACKS)
			continue;
		to = &r->stack[r->nr_stacks++];
		to->sort = x->row[i].sort;
		to->kind =
			x->row[i].name ? load_kind(l, x->row[i].name) : NO_KIND;
		to->word = x->row[i].word;
		to->count = x->row[i].count;
		to->share = share_of(to->count, count_all(x, &x->row[i]));
		name_word(r, to);
		rc = name_frames(l, &names, &x->row[i], to);
	}
	free_names(&names);
	return rc ? rc : l->rc;
}

void stacks_fini(struct load *l)
{
	if (!l->stacks)
		return;
	free(l->stacks->row);
	free(l->stacks->next);
	free(l->stacks);
}
