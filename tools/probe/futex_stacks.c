/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Stacks of threads of one process, put together over its threads. */
#include "probe/futex_view.h"

#include <stdlib.h>
#include <string.h>

const struct seen *futex_owner(const struct futex_view *v, uint32_t slot,
			       uint32_t gen)
{
	uint32_t i;

	for (i = 0; i < v->nr_seen; i++)
		if (v->seen[i].slot == slot && v->seen[i].gen == gen)
			return &v->seen[i];
	return NULL;
}

static void add_stack(const struct futex_view *v, struct futex_report *r,
		      const struct lkdf_probe_stack *a, uint64_t count)
{
	const struct seen *t = futex_owner(v, a->slot, a->gen);
	struct futex_stack *k;
	uint64_t key;
	uint32_t i;

	if (!t || r->nr_stacks == FUTEX_STACKS)
		return;
	k = &r->stack[r->nr_stacks++];
	memset(k, 0, sizeof(*k));
	key = stats_map_key(&v->runtime[t->runtime]);
	k->sort = a->sort;
	k->count = count;
	k->word = a->word ? lkdf_probe_show(a->word, key) : 0;
	stats_map_name(&v->runtime[t->runtime], a->kind, k->kind,
		       sizeof(k->kind));
	for (i = 0; i < LKDF_PROBE_IPS && a->ip[i]; i++)
		k->ip[i] = lkdf_probe_show(a->ip[i], key);
}

static int by_count(const void *a, const void *b)
{
	const struct futex_stack *x = a, *y = b;

	return (x->count < y->count) - (x->count > y->count);
}

/* A stack that several threads have is one. */
static void join_stacks(struct futex_report *r)
{
	struct futex_stack *k;
	uint32_t i, j, nr = 0;

	for (i = 0; i < r->nr_stacks; i++) {
		k = &r->stack[i];
		for (j = 0; j < nr; j++)
			if (r->stack[j].sort == k->sort &&
			    r->stack[j].word == k->word &&
			    !strcmp(r->stack[j].kind, k->kind) &&
			    !memcmp(r->stack[j].ip, k->ip, sizeof(k->ip)))
				break;
		if (j < nr)
			r->stack[j].count += k->count;
		else
			r->stack[nr++] = *k;
	}
	r->nr_stacks = nr;
	qsort(r->stack, nr, sizeof(r->stack[0]), by_count);
}

void futex_add_stacks(struct futex_view *v, struct futex_report *r)
{
	struct lkdf_probe_stack a, *b;
	uint64_t count;
	uint32_t i;

	r->sees_stacks = v->stacks && v->pins.head->hooks & LKDF_PROBE_STACK;
	for (i = 0; v->stacks && i < v->pins.nr_stacks; i++) {
		a = v->pins.stack[i];
		b = &v->stacks[i];
		count = a.tag == b->tag && a.slot == b->slot && a.gen == b->gen
				? futex_since(a.count, b->count)
				: a.count;
		*b = a;
		if (a.tag && count)
			add_stack(v, r, &a, count);
	}
	join_stacks(r);
}
