/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Latencies. A request is a task that a thread of the program made ready, with
 * all tasks that it led to: those that its bodies or their operations made
 * ready, and so on. A task that leaves and goes on stays with the request of
 * its first body, whoever has made it ready again. A request lasts from when
 * the first task was ready until the last body ended. A region lasts as long as
 * the program says.
 */
#include "report/model.h"
#include "report/sort.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NOT_KNOWN UINT32_MAX
#define NO_ROOT (UINT32_MAX - 1)

struct roots {
	struct report *r;
	uint32_t *root; /* by slice, then by operation */
	uint32_t *path;
	uint64_t *end; /* by slice: of roots, when the last body ended */
	uint32_t *nr; /* by slice: bodies of the request */
};

static uint32_t by_of(const struct report *r, uint32_t i)
{
	const struct away *a;

	if (i >= r->nr_slices)
		return r->op[i - r->nr_slices].by;
	a = report_away(r, i);
	return a ? a->before : r->slice[i].by;
}

static bool is_first(const struct report *r, uint32_t i)
{
	return i < r->nr_slices && r->slice[i].is_outside &&
	       r->slice[i].ready != NO_TIME && !report_away(r, i);
}

/* A file may lie: whoever is met on its own way has no root. */
static void find_root(struct roots *x, uint32_t i)
{
	uint32_t nr = 0, root;

	while (i != NO_SLICE && x->root[i] == NOT_KNOWN && !is_first(x->r, i)) {
		x->root[i] = NO_ROOT;
		x->path[nr++] = i;
		i = by_of(x->r, i);
	}
	root = i == NO_SLICE ? NO_ROOT : x->root[i];
	if (root == NOT_KNOWN)
		x->root[i] = root = i;
	while (nr)
		x->root[x->path[--nr]] = root;
}

static void add_bodies(struct roots *x)
{
	struct report *r = x->r;
	uint32_t i, root;

	for (i = 0; i < r->nr_slices + r->nr_ops; i++)
		if (x->root[i] == NOT_KNOWN)
			find_root(x, i);
	for (i = 0; i < r->nr_slices; i++) {
		root = x->root[i];
		if (root == NO_ROOT)
			continue;
		if (root != i) {
			r->next_step[i] = r->next_step[root];
			r->next_step[root] = i;
		}
		x->nr[root]++;
		if (r->slice[i].end > x->end[root])
			x->end[root] = r->slice[i].end;
	}
}

static int by_latency(const void *a, const void *b)
{
	const struct request *x = a, *y = b;

	if (x->name != y->name || x->is_region != y->is_region)
		return x->is_region != y->is_region
			       ? x->is_region - y->is_region
			       : (x->name < y->name ? -1 : 1);
	if (x->latency != y->latency)
		return x->latency < y->latency ? -1 : 1;
	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static uint64_t rank_of(const struct request *first, uint32_t nr, double q)
{
	uint32_t i = (uint32_t)(q * nr);

	return first[i < nr ? i : nr - 1].latency;
}

static void add_sum(struct report *r, const struct request *first, uint32_t nr)
{
	struct request_sum *s = &r->request_sum[r->nr_request_sums++];

	*s = (struct request_sum){
		.name = first->name,
		.is_region = first->is_region,
		.nr = nr,
		.p50 = rank_of(first, nr, 0.5),
		.p90 = rank_of(first, nr, 0.9),
		.p99 = rank_of(first, nr, 0.99),
		.p999 = rank_of(first, nr, 0.999),
		.max = first[nr - 1].latency,
		.first = (uint32_t)(first - r->request),
	};
}

static int sum_up(struct report *r)
{
	uint32_t i, first = 0;

	qsort(r->request, r->nr_requests, sizeof(*r->request), by_latency);
	r->request_sum = calloc(r->nr_requests + 1ull, sizeof(*r->request_sum));
	if (!r->request_sum)
		return -ENOMEM;
	for (i = 1; i <= r->nr_requests; i++) {
		if (i < r->nr_requests &&
		    r->request[i].name == r->request[first].name &&
		    r->request[i].is_region == r->request[first].is_region)
			continue;
		add_sum(r, &r->request[first], i - first);
		first = i;
	}
	return 0;
}

static int gather(struct roots *x)
{
	struct report *r = x->r;
	const struct slice *s = r->slice;
	uint32_t i;

	r->request = calloc((uint64_t)r->nr_slices + r->nr_regions + 1,
			    sizeof(*r->request));
	if (!r->request)
		return -ENOMEM;
	for (i = 0; i < r->nr_slices; i++)
		if (x->root[i] == i && !r->kind[s[i].kind].is_loop)
			r->request[r->nr_requests++] = (struct request){
				.name = r->kind[s[i].kind].name,
				.root = i,
				.nr_tasks = x->nr[i],
				.begin = s[i].ready,
				.latency = x->end[i] - s[i].ready,
			};
	for (i = 0; i < r->nr_regions; i++)
		r->request[r->nr_requests++] = (struct request){
			.name = r->region[i].name,
			.is_region = true,
			.root = NO_SLICE,
			.begin = r->region[i].begin,
			.latency = r->region[i].end - r->region[i].begin,
		};
	return sum_up(r);
}

int report_requests(struct report *r)
{
	size_t nr = (size_t)r->nr_slices + r->nr_ops + 1, i;
	struct roots x = {
		.r = r,
		.root = malloc(nr * sizeof(*x.root)),
		.path = malloc(nr * sizeof(*x.path)),
		.end = calloc(nr, sizeof(*x.end)),
		.nr = calloc(nr, sizeof(*x.nr)),
	};
	int rc;

	r->next_step = malloc(nr * sizeof(*r->next_step));
	rc = x.root && x.path && x.end && x.nr && r->next_step ? 0 : -ENOMEM;
	for (i = 0; i < nr && !rc; i++) {
		x.root[i] = NOT_KNOWN;
		r->next_step[i] = NO_SLICE;
	}
	if (!rc) {
		add_bodies(&x);
		rc = gather(&x);
	}
	free(x.root);
	free(x.path);
	free(x.end);
	free(x.nr);
	return rc;
}

uint32_t report_steps(const struct report *r, uint32_t root, uint32_t *to,
		      uint32_t room)
{
	uint32_t i, k, nr = 0;

	for (i = root; i != NO_SLICE; i = r->next_step[i]) {
		/* The latest one makes room. */
		for (k = nr; k; k--) {
			if (r->slice[to[k - 1]].begin <= r->slice[i].begin)
				break;
			if (k < room)
				to[k] = to[k - 1];
		}
		if (k < room)
			to[k] = i;
		nr += nr < room;
	}
	return nr;
}
