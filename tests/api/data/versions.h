/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What tasks note of the versions they meet, and whether there is a serial
 * order of all tasks that keeps the order of each variable's versions and the
 * order in which each thread has submitted, and leaves the same values.
 */
#ifndef TESTS_API_DATA_VERSIONS_H
#define TESTS_API_DATA_VERSIONS_H

#include "tests/api/using.h"
#include "tests/oracle/random.h"

#include <pthread.h>

#define MAX_VARS 8
#define MAX_USES 4
#define MAX_EDGES_OF_USE 2

struct note {
	uint8_t var, mode;
	uint32_t version; /* after it, where it writes; else what it read */
};

struct task {
	struct log *log;
	uint32_t nr;
	struct note note[MAX_USES];
	uint64_t seen;
	atomic_int nr_ran;
};

/* All of one round. */
struct log {
	struct lkdf *rt;
	struct lkdf_kind *kind;
	uint64_t seed;
	uint32_t nr_threads, nr_each, nr_vars;
	struct task *task; /* nr_each of each thread, one after another */
	struct lkdf_data *data[MAX_VARS];
	pthread_barrier_t start;

	/* Bodies that use the variable; not atomic, the library orders it. */
	uint32_t version[MAX_VARS];
	uint64_t last[MAX_VARS]; /* values in the end */
};

static uint32_t nr_tasks(const struct log *l)
{
	return l->nr_threads * l->nr_each;
}

static uint64_t initial(uint32_t var)
{
	return mix(var + 77);
}

/* What a task writes into its nr'th use. */
static uint64_t result(uint64_t seen, uint32_t nr)
{
	return mix(seen + nr);
}

/* A graph of all tasks, and its topological order. */
struct order {
	const struct log *log;
	uint32_t nr_edges, *edge; /* pairs before, after */
	uint32_t *at, *next; /* the same by before */
	uint32_t *nr_before, *list, nr; /* the order, as far as there is one */
};

static void add_edge(struct order *o, uint32_t before, uint32_t after)
{
	o->edge[2 * o->nr_edges] = before;
	o->edge[2 * o->nr_edges++ + 1] = after;
}

static void add_submitters(struct order *o)
{
	uint32_t i;

	for (i = 0; i < nr_tasks(o->log); i++)
		if (i % o->log->nr_each)
			add_edge(o, i - 1, i);
}

/* writer[v]: who made version v. Return: false if two say so. */
static bool find_writers(const struct log *l, uint32_t var, int64_t *writer)
{
	const struct note *n;
	uint32_t i, j;

	for (i = 0; i < nr_tasks(l) + 2; i++)
		writer[i] = -1;
	for (i = 0; i < nr_tasks(l); i++) {
		for (j = 0; j < l->task[i].nr; j++) {
			n = &l->task[i].note[j];
			if (n->var != var || !(n->mode & LKDF_WRITE))
				continue;
			if (writer[n->version] >= 0)
				return false;
			writer[n->version] = i;
		}
	}
	return true;
}

static bool add_variable(struct order *o, uint32_t var, int64_t *writer)
{
	const struct log *l = o->log;
	const struct note *n;
	uint32_t i, j, v;

	if (!find_writers(l, var, writer))
		return false;
	for (i = 0; i < nr_tasks(l); i++) {
		for (j = 0; j < l->task[i].nr; j++) {
			n = &l->task[i].note[j];
			if (n->var != var)
				continue;
			v = n->version - !!(n->mode & LKDF_WRITE);
			if (writer[v] >= 0)
				add_edge(o, (uint32_t)writer[v], i);
			if (!(n->mode & LKDF_WRITE) && writer[v + 1] >= 0)
				add_edge(o, i, (uint32_t)writer[v + 1]);
		}
	}
	return true;
}

static void sort_edges(struct order *o)
{
	uint32_t n = nr_tasks(o->log), i;
	uint32_t *fill = calloc(n + 1, sizeof(*fill));

	for (i = 0; i < o->nr_edges; i++)
		o->at[o->edge[2 * i] + 1]++;
	for (i = 0; i < n; i++)
		fill[i + 1] = o->at[i + 1] += o->at[i];
	for (i = 0; i < o->nr_edges; i++) {
		o->next[fill[o->edge[2 * i]]++] = o->edge[2 * i + 1];
		o->nr_before[o->edge[2 * i + 1]]++;
	}
	free(fill);
}

/* Takes whoever waits for nobody; who is in a cycle is never taken. */
static void take_all(struct order *o)
{
	uint32_t n = nr_tasks(o->log), head, i;

	for (i = 0; i < n; i++)
		if (!o->nr_before[i])
			o->list[o->nr++] = i;
	for (head = 0; head < o->nr; head++)
		for (i = o->at[o->list[head]]; i < o->at[o->list[head] + 1];
		     i++)
			if (!--o->nr_before[o->next[i]])
				o->list[o->nr++] = o->next[i];
}

static void order_create(struct order *o, const struct log *l)
{
	uint32_t n = nr_tasks(l);
	size_t max = n * (1 + MAX_USES * MAX_EDGES_OF_USE);

	memset(o, 0, sizeof(*o));
	o->log = l;
	o->edge = calloc(2 * max, sizeof(*o->edge));
	o->next = calloc(max, sizeof(*o->next));
	o->at = calloc(n + 1, sizeof(*o->at));
	o->nr_before = calloc(n, sizeof(*o->nr_before));
	o->list = calloc(n, sizeof(*o->list));
}

static void order_destroy(struct order *o)
{
	free(o->edge);
	free(o->next);
	free(o->at);
	free(o->nr_before);
	free(o->list);
}

/* The tasks in a serial order give the same; says what does not. */
static bool replay(const struct order *o)
{
	const struct log *l = o->log;
	uint64_t value[MAX_VARS], seen;
	const struct task *t;
	uint32_t i, j;

	for (i = 0; i < l->nr_vars; i++)
		value[i] = initial(i);
	for (i = 0; i < o->nr; i++) {
		t = &l->task[o->list[i]];
		seen = o->list[i];
		for (j = 0; j < t->nr; j++)
			if (t->note[j].mode & LKDF_READ)
				seen = mix(seen ^ value[t->note[j].var]);
		if (seen != t->seen) {
			printf("# task %u has read other values\n", o->list[i]);
			return false;
		}
		for (j = 0; j < t->nr; j++)
			if (t->note[j].mode & LKDF_WRITE)
				value[t->note[j].var] = result(seen, j);
	}
	for (i = 0; i < l->nr_vars; i++)
		if (value[i] != l->last[i]) {
			printf("# variable %u has another value\n", i);
			return false;
		}
	return true;
}

/* Return: NULL, or what is wrong. */
__attribute__((unused)) static const char *log_check(const struct log *l)
{
	int64_t *writer = calloc(nr_tasks(l) + 2, sizeof(*writer));
	const char *bad = NULL;
	struct order o;
	uint32_t i;

	order_create(&o, l);
	add_submitters(&o);
	for (i = 0; i < l->nr_vars && !bad; i++)
		if (!add_variable(&o, i, writer))
			bad = "two tasks have written the same version";
	if (!bad) {
		sort_edges(&o);
		take_all(&o);
		if (o.nr < nr_tasks(l))
			bad = "the orders make a cycle";
		else if (!replay(&o))
			bad = "no serial order leaves the same";
	}
	order_destroy(&o);
	free(writer);
	return bad;
}

#endif
