/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Stable sorting by merging. Runs of the array, a few for each worker, are
 * sorted one by one; then pairs of runs are merged, from the array to a buffer
 * of its size or back, until one is left. Its output is cut into chunks of
 * equal size: bisection finds before the pass where the elements of a chunk
 * come from (Odeh, Green and others, Merge Path, IPDPSW 2012). So all workers
 * have work in the last pass, too, and a comparison that contradicts itself
 * moves a limit, which is then put right, and no element out of bounds.
 */
#include <lkdf/algorithm.h>

#include "api/border.h"
#include "api/loop.h"

#include <stdlib.h>
#include <string.h>

#define MAX_BYTES (1ull << 30)

/* Shorter ones are sorted by insertion. */
#define SMALL 12

#define RUNS_PER_WORKER 4
#define SHORTEST_RUN 1024
#define CHUNKS_PER_RUN 4

struct sort {
	/* Set before the first loop, constant afterwards. */
	struct lkdf *rt;
	struct lkdf_sort_attr a;
	uint64_t run; /* elements of a sorted run at first; the last is shorter
		       */
	uint64_t nr_runs; /* a power of 2; the last may be empty */
	uint64_t chunk, nr_chunks; /* elements that are merged at a time */
	char *buffer;

	/* Each run by who sorts it. */
	bool *is_sorted; /* into the array that runs are sorted into */

	/* Set before each loop of a pass. */
	const char *from;
	char *to;
	uint64_t width; /* of the runs that the pass merges */
	uint64_t *split; /* of each chunk: elements of the left run before it */
};

static char *item_at(const void *base, uint64_t i, const struct sort *s)
{
	return (char *)(uintptr_t)base + i * s->a.bytes;
}

/* Most elements have a size of a word: no call. */
static void copy_item(void *to, const void *from, const struct sort *s)
{
	if (s->a.bytes == 8)
		memcpy(to, from, 8);
	else if (s->a.bytes == 4)
		memcpy(to, from, 4);
	else
		memcpy(to, from, s->a.bytes);
}

static void copy_items(void *to, const void *from, uint64_t nr,
		       const struct sort *s)
{
	if (nr)
		memcpy(to, from, nr * s->a.bytes);
}

/* Does the element b, which is on the right, come before a? */
static bool is_less(const struct sort *s, const void *b, const void *a)
{
	return s->a.compare(b, a, s->a.u) < 0;
}

/* ---- one run ------------------------------------------------------------ */

/* to may be from; spare has room for one element if so. */
static void insert_all(const struct sort *s, char *from, char *to, uint64_t nr,
		       char *spare)
{
	uint64_t i, at;

	for (i = 0; i < nr; i++) {
		const char *x = item_at(from, i, s);

		if (to == from) {
			copy_item(spare, x, s);
			x = spare;
		}
		for (at = i; at && is_less(s, x, item_at(to, at - 1, s)); at--)
			copy_item(item_at(to, at, s), item_at(to, at - 1, s),
				  s);
		copy_item(item_at(to, at, s), x, s);
	}
}

static void merge_runs(const struct sort *s, const char *a, uint64_t nr_a,
		       const char *b, uint64_t nr_b, char *to)
{
	const char *end_a = item_at(a, nr_a, s), *end_b = item_at(b, nr_b, s);

	while (a < end_a && b < end_b) {
		const char **least = is_less(s, b, a) ? &b : &a;

		copy_item(to, *least, s);
		*least += s->a.bytes;
		to += s->a.bytes;
	}
	copy_items(to, a, (uint64_t)(end_a - a) / s->a.bytes, s);
	to += end_a - a;
	copy_items(to, b, (uint64_t)(end_b - b) / s->a.bytes, s);
}

/* The elements are in x; they end there, or in y. */
static void sort_run(const struct sort *s, char *x, char *y, uint64_t nr,
		     bool into_y)
{
	uint64_t half = nr / 2;
	char *from = into_y ? x : y, *to = into_y ? y : x;

	if (nr <= SMALL) {
		insert_all(s, x, to, nr, y);
		return;
	}
	sort_run(s, x, y, half, !into_y);
	sort_run(s, item_at(x, half, s), item_at(y, half, s), nr - half,
		 !into_y);
	merge_runs(s, from, half, item_at(from, half, s), nr - half, to);
}

static uint64_t within_array(const struct sort *s, uint64_t i)
{
	return min_u64(i, s->a.nr);
}

static int sort_runs(uint64_t begin, uint64_t end, void *u)
{
	struct sort *s = u;
	uint64_t from, nr;

	for (; begin < end; begin++) {
		from = within_array(s, begin * s->run);
		nr = within_array(s, (begin + 1) * s->run) - from;
		sort_run(s, item_at(s->a.base, from, s),
			 item_at(s->buffer, from, s), nr, s->to == s->buffer);
		s->is_sorted[begin] = true;
	}
	return 0;
}

/* ---- a pass of merges --------------------------------------------------- */

/* The two runs of which a chunk is, and where it begins in what they make. */
struct pair {
	uint64_t begin, nr_a, nr_b; /* elements */
	uint64_t at;
};

static struct pair pair_of(const struct sort *s, uint64_t chunk)
{
	uint64_t at = chunk * s->chunk, two = 2 * s->width;
	struct pair p = { .begin = within_array(s, at / two * two) };
	uint64_t middle = within_array(s, p.begin + s->width);

	p.nr_a = middle - p.begin;
	p.nr_b = within_array(s, p.begin + two) - middle;
	p.at = min_u64(at - p.begin, p.nr_a + p.nr_b);
	return p;
}

/* How many of the first p.at elements of the pair are of its left run. */
static uint64_t split_of(const struct sort *s, const struct pair *p)
{
	const char *a = item_at(s->from, p->begin, s),
		   *b = item_at(a, p->nr_a, s);
	uint64_t low = p->at > p->nr_b ? p->at - p->nr_b : 0;
	uint64_t high = min_u64(p->at, p->nr_a), middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (is_less(s, item_at(b, p->at - middle - 1, s),
			    item_at(a, middle, s)))
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static int split_chunks(uint64_t begin, uint64_t end, void *u)
{
	struct sort *s = u;
	struct pair p;

	for (; begin < end; begin++) {
		p = pair_of(s, begin);
		s->split[begin] = split_of(s, &p);
	}
	return 0;
}

/* A split lies between what the one before it and its own chunk allow. */
static void put_splits_right(struct sort *s)
{
	uint64_t i, most, least, a = 0;
	struct pair p;

	for (i = 0; i < s->nr_chunks; i++) {
		p = pair_of(s, i);
		if (!p.at || !i || p.begin != pair_of(s, i - 1).begin)
			a = 0;
		most = min_u64(p.nr_a, a + s->chunk);
		least = max_u64(a, p.at > p.nr_b ? p.at - p.nr_b : 0);
		a = max_u64(least, min_u64(s->split[i], min_u64(most, p.at)));
		s->split[i] = a;
	}
}

/* From its own split to the next one's of the pair. */
static void merge_chunk(const struct sort *s, uint64_t chunk)
{
	struct pair p = pair_of(s, chunk), next = pair_of(s, chunk + 1);
	const char *a = item_at(s->from, p.begin, s),
		   *b = item_at(a, p.nr_a, s);
	uint64_t from_a = s->split[chunk], from_b = p.at - from_a;
	uint64_t to_a = p.nr_a, to_b = p.nr_b;

	if (chunk + 1 < s->nr_chunks && next.begin == p.begin) {
		to_a = s->split[chunk + 1];
		to_b = next.at - to_a;
	}
	merge_runs(s, item_at(a, from_a, s), to_a - from_a,
		   item_at(b, from_b, s), to_b - from_b,
		   item_at(s->to, p.begin + p.at, s));
}

static int merge_chunks(uint64_t begin, uint64_t end, void *u)
{
	const struct sort *s = u;

	for (; begin < end; begin++)
		merge_chunk(s, begin);
	return 0;
}

/* ---- from begin to end -------------------------------------------------- */

static int run_loop(struct sort *s, uint64_t nr, uint64_t grain, lkdf_for_fn fn)
{
	struct loop l = { .rt = s->rt,
			  .what = "sort: parts",
			  .label = s->a.name ? s->a.name : "lkdf_sort",
			  .range = { 0, nr, grain },
			  .fn = fn,
			  .u = s };

	return loop_here(&l, s->a.scope);
}

static int merge_pass(struct sort *s)
{
	int rc = run_loop(s, s->nr_chunks, 0, split_chunks);

	if (rc)
		return rc;
	put_splits_right(s);
	return run_loop(s, s->nr_chunks, 1, merge_chunks);
}

/* Runs that were sorted into the buffer go back. */
static void fetch_runs(struct sort *s)
{
	uint64_t i, from;

	for (i = 0; i < s->nr_runs && s->to == s->buffer; i++) {
		from = within_array(s, i * s->run);
		if (s->is_sorted[i])
			copy_items(item_at(s->a.base, from, s),
				   item_at(s->buffer, from, s),
				   within_array(s, (i + 1) * s->run) - from, s);
	}
}

static int merge_all(struct sort *s)
{
	char *next;
	int rc = 0;

	for (s->width = s->run; s->width < s->a.nr && !rc; s->width *= 2) {
		next = s->to == s->buffer ? s->a.base : s->buffer;
		s->from = s->to;
		s->to = next;
		rc = merge_pass(s);
	}
	/* A pass that failed has changed no element that it has read. */
	if (rc && s->from == s->buffer)
		copy_items(s->a.base, s->buffer, s->a.nr, s);
	return rc;
}

/* The last pass writes to the array. */
static int run_sort(struct sort *s)
{
	uint64_t width;
	int rc;

	s->to = s->a.base;
	for (width = s->run; width < s->a.nr; width *= 2)
		s->to = s->to == s->buffer ? s->a.base : s->buffer;
	rc = run_loop(s, s->nr_runs, 1, sort_runs);
	if (!rc)
		return merge_all(s);
	fetch_runs(s);
	return rc;
}

/* A run has whole chunks, and all but the last are of equal length. */
static void plan_sort(struct sort *s)
{
	uint64_t most = RUNS_PER_WORKER * (uint64_t)s->rt->nr_regular;
	uint64_t runs = 1;

	while (runs < most && s->a.nr / (2 * runs) >= SHORTEST_RUN)
		runs *= 2;
	s->chunk = (s->a.nr - 1) / (runs * CHUNKS_PER_RUN) + 1;
	s->run = s->chunk * CHUNKS_PER_RUN;
	s->nr_runs = (s->a.nr - 1) / s->run + 1;
	s->nr_chunks = (s->a.nr - 1) / s->chunk + 1;
}

static int alloc_sort(struct sort *s)
{
	s->buffer = aligned_alloc(CACHE_LINE,
				  round_up(s->a.nr * s->a.bytes, CACHE_LINE));
	s->split = calloc(s->nr_chunks, sizeof(*s->split));
	s->is_sorted = calloc(s->nr_runs, sizeof(*s->is_sorted));
	if (s->buffer && s->split && s->is_sorted)
		return 0;
	return err(-ENOMEM, "sort: no memory for %llu elements of %llu bytes",
		   (unsigned long long)s->a.nr, (unsigned long long)s->a.bytes);
}

static int check_array(const struct lkdf_sort_attr *a)
{
	if (!a->bytes || a->bytes > MAX_BYTES)
		return err(-EINVAL, "sort: bytes %llu, expected 1 .. %llu",
			   (unsigned long long)a->bytes, MAX_BYTES);
	if (a->nr && !a->base)
		return err(-EINVAL, "sort: %llu elements, but base is NULL",
			   (unsigned long long)a->nr);
	if (a->nr > INT64_MAX / a->bytes)
		return err(-EINVAL,
			   "sort: %llu elements of %llu bytes are more than "
			   "any memory",
			   (unsigned long long)a->nr,
			   (unsigned long long)a->bytes);
	return 0;
}

static int check_sort(const struct lkdf *rt, const struct lkdf_sort_attr *a)
{
	int rc = border_flags("sort", a->flags, 0);

	if (rc)
		return rc;
	if (!a->compare)
		return err(-EINVAL, "sort: compare is NULL");
	rc = check_array(a);
	return rc ? rc : loop_check_scope("sort", rt, a->scope);
}

int lkdf_sort(struct lkdf *rt, const struct lkdf_sort_attr *a)
{
	struct sort s = { .rt = rt };
	int rc = border_runtime(rt);

	if (rc)
		return rc;
	if (!a)
		return err(-EINVAL, "sort: attributes are NULL");
	rc = border_copy(a, &s.a, sizeof(s.a), "lkdf_sort_attr");
	if (!rc)
		rc = check_sort(rt, &s.a);
	if (rc || s.a.nr < 2)
		return rc;
	plan_sort(&s);
	rc = alloc_sort(&s);
	if (!rc)
		rc = run_sort(&s);
	free(s.buffer);
	free(s.split);
	free(s.is_sorted);
	return rc;
}
