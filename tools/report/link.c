/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Records that were kept are put in order, and records find those that made
 * them ready.
 */
#include "report/load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Outer bodies before those within them. */
static int by_begin(const void *a, const void *b)
{
	const struct slice *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	return x->uid < y->uid ? -1 : x->uid > y->uid;
}

static int by_time(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static int op_by_begin(const void *a, const void *b)
{
	const struct op *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->end < y->end ? -1 : x->end > y->end;
}

static int held_by_begin(const void *a, const void *b)
{
	const struct held *x = a, *y = b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static int wait_by_end(const void *a, const void *b)
{
	const struct wait *x = a, *y = b;

	return x->end < y->end ? -1 : x->end > y->end;
}

/* Calls on one lane do not overlap, whatever the file says. */
static void sort_enters(struct lane *l)
{
	uint32_t i, nr = 0;

	qsort(l->enter, l->nr_enters, sizeof(*l->enter), by_time);
	for (i = 0; i < l->nr_enters; i++) {
		struct span e = l->enter[i];

		if (nr && e.begin < l->enter[nr - 1].end)
			e.begin = l->enter[nr - 1].end;
		if (e.begin < e.end)
			l->enter[nr++] = e;
	}
	l->nr_enters = nr;
}

/* The kept slices of all lanes, without the room between them. */
static void sort_slices(struct report *r)
{
	struct slice *s;
	struct lane *l;
	uint32_t i, k;

	for (i = 0; i < r->nr_lanes; i++) {
		l = &r->lane[i];
		s = r->slice + l->first;
		for (k = 1; k < l->nr_slices; k++) {
			if (by_begin(&s[k - 1], &s[k]) > 0)
				break;
		}
		if (k < l->nr_slices)
			qsort(s, l->nr_slices, sizeof(*s), by_begin);
		memmove(r->slice + r->nr_slices, s, l->nr_slices * sizeof(*s));
		l->first = r->nr_slices;
		r->nr_slices += l->nr_slices;
	}
}

/* Operations of each lane by their number, to look them up. */
struct op_index {
	uint32_t *op; /* by lane and uid */
	const struct report *r;
	uint32_t nr;
};

static uint64_t op_key(const struct report *r, uint32_t i)
{
	return (uint64_t)r->op[i].lane << 32 | r->op[i].uid;
}

static int by_key(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return x[0] < y[0] ? -1 : x[0] > y[0];
}

/* Pairs of key and operation. */
static uint64_t *index_ops(const struct report *r)
{
	uint64_t *key = malloc((r->nr_ops + 1ull) * 2 * sizeof(*key));
	uint32_t i;

	for (i = 0; key && i < r->nr_ops; i++) {
		key[2 * i] = op_key(r, i);
		key[2 * i + 1] = i;
	}
	if (key)
		qsort(key, r->nr_ops, 2 * sizeof(*key), by_key);
	return key;
}

static uint32_t find_op(const struct report *r, const uint64_t *key,
			uint32_t lane, uint32_t uid)
{
	uint64_t want = (uint64_t)lane << 32 | uid;
	size_t low = 0, high = r->nr_ops, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (key[2 * mid] < want)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == r->nr_ops || key[2 * low] != want)
		return NO_SLICE;
	return r->nr_slices + (uint32_t)key[2 * low + 1];
}

/* Numbers grow with begin; a file in which they do not finds fewer. */
static uint32_t find_slice(const struct report *r, uint32_t lane, uint32_t uid)
{
	const struct lane *l = &r->lane[lane];
	const struct slice *s = r->slice + l->first;
	size_t low = 0, high = l->nr_slices, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (s[mid].uid < uid)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == l->nr_slices || s[low].uid != uid)
		return NO_SLICE;
	return l->first + (uint32_t)low;
}

static uint32_t find_by(const struct report *r, const uint64_t *key,
			uint32_t lane, uint32_t uid)
{
	uint32_t found;

	if (uid == NO_SLICE || lane >= r->nr_lanes)
		return NO_SLICE;
	found = find_slice(r, lane, uid);
	return found == NO_SLICE ? find_op(r, key, lane, uid) : found;
}

static int link_all(struct report *r)
{
	uint64_t *key = index_ops(r);
	uint32_t i;

	if (!key)
		return -ENOMEM;
	for (i = 0; i < r->nr_slices; i++)
		r->slice[i].by =
			find_by(r, key, r->slice[i].by_lane, r->slice[i].by);
	for (i = 0; i < r->nr_ops; i++)
		r->op[i].by = find_by(r, key, r->op[i].by_lane, r->op[i].by);
	for (i = 0; i < r->nr_waits; i++)
		r->wait[i].by =
			find_by(r, key, r->wait[i].by_lane, r->wait[i].by);
	for (i = 0; i < r->nr_aways; i++) {
		struct away *a = &r->away[i];

		a->before = find_by(r, key, a->before_lane, a->before);
		a->slice = find_slice(r, a->lane, a->slice);
	}
	aways_sort(r);
	free(key);
	return 0;
}

static void count_lanes(struct report *r)
{
	struct lane *l;
	uint32_t i, k;

	for (i = 0; i < r->nr_lanes; i++) {
		l = &r->lane[i];
		r->tasks_counted += l->counted;
		if (!l->has_started && !l->nr_slices)
			continue;
		l->has_started = true;
		r->nr_workers += l->kind == LKDF_EXECUTOR_WORKER;
		r->nr_blocking +=
			l->kind == LKDF_EXECUTOR_BLOCKING && l->nr_slices;
		if (l->kind != LKDF_EXECUTOR_WORKER || l->node < 0)
			continue;
		for (k = 0; k < r->nr_nodes; k++) {
			if (r->node_of[k] == l->node)
				break;
		}
		if (k == r->nr_nodes && k < MAX_NODES)
			r->node_of[r->nr_nodes++] = l->node;
	}
}

static void sort_nodes(struct report *r)
{
	uint32_t i, k;
	int node;

	for (i = 1; i < r->nr_nodes; i++) {
		node = r->node_of[i];
		for (k = i; k && r->node_of[k - 1] > node; k--)
			r->node_of[k] = r->node_of[k - 1];
		r->node_of[k] = node;
	}
}

int link_records(struct load *l)
{
	struct report *r = l->r;
	uint32_t i;
	int rc;

	for (i = 0; i < r->nr_lanes; i++)
		sort_enters(&r->lane[i]);
	sort_slices(r);
	qsort(r->op, r->nr_ops, sizeof(*r->op), op_by_begin);
	qsort(r->held, r->nr_held, sizeof(*r->held), held_by_begin);
	count_lanes(r);
	sort_nodes(r);
	rc = link_all(r);
	qsort(r->wait, r->nr_waits, sizeof(*r->wait), wait_by_end);
	return rc ? rc : runs_link(l);
}
