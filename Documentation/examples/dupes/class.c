/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The files of one size, see class.h.
 *
 *   start -> heads -> rests -> compare -> proven
 *     |        |                ^   ^       |
 *     '--------'--- no rest ----'   '-------'  unequal in spite of equal sums
 */
#include "class.h"
#include <errno.h>
#include <stdlib.h>

static off_t size_of(const struct class *cl)
{
	return cl->nr ? cl->file[0]->size : 0;
}

static off_t head_of(const struct class *cl)
{
	off_t size = size_of(cl);

	return size < (off_t)HEAD_SIZE ? size : (off_t)HEAD_SIZE;
}

/* A stage begins that reads so much; behind it at most so much is left. */
static void plan_stage(struct class *cl, uint64_t stage, uint64_t later)
{
	int64_t drop = (int64_t)(cl->left - cl->stage - stage - later);

	atomic_fetch_sub(&cl->search->reading.left, drop);
	cl->left = stage + later;
	cl->stage = stage;
}

static int compare_sums(const void *a, const void *b)
{
	const struct file *x = *(struct file *const *)a;
	const struct file *y = *(struct file *const *)b;

	return XXH128_cmp(&x->sum, &y->sum);
}

/* End of the files from i on that have the same sum. */
static size_t end_of_run(const struct class *cl, size_t i)
{
	size_t end = i;

	while (end < cl->nr && !compare_sums(&cl->file[i], &cl->file[end]))
		end++;
	return end;
}

/* Each is compared with the first of its sum, which is read each time. */
static uint64_t cost_of_compare(const struct class *cl)
{
	size_t i, end, nr_pairs = 0;

	for (i = 0; i < cl->nr; i = end) {
		end = end_of_run(cl, i);
		nr_pairs += end - i - 1;
	}
	return 2 * nr_pairs * (uint64_t)size_of(cl);
}

/* Sorts by sum and drops what failed and what has no equal. */
static void keep_shared(struct class *cl)
{
	size_t i, end, nr = 0;

	for (i = 0; i < cl->nr; i++)
		if (!cl->file[i]->err)
			cl->file[nr++] = cl->file[i];
	cl->nr = nr;
	qsort(cl->file, nr, sizeof(struct file *), compare_sums);
	for (i = nr = 0; i < cl->nr; i = end) {
		end = end_of_run(cl, i);
		if (end - i < 2)
			continue;
		for (; i < end; i++)
			cl->file[nr++] = cl->file[i];
	}
	cl->nr = nr;
}

static int then(struct lkdf_ctx *c, lkdf_fn stage)
{
	struct lkdf_event children = { 0 };

	return lkdf_then(c, stage, children);
}

/* Has a child failed, or has the user lost patience? Then nothing is known. */
static int stopped(struct lkdf_ctx *c)
{
	int rc = lkdf_cancelled(c);

	return rc ? rc : lkdf_input_error(c, 0);
}

/* A set of the first file of a run and all that proved equal to it. */
static int add_set(struct lkdf_ctx *c, struct search *s, struct file **file,
		   size_t nr)
{
	struct set *set;
	size_t i;

	set = malloc(sizeof(*set) + nr * sizeof(set->file[0]));
	if (!set)
		return lkdf_fail(c, -ENOMEM, "no memory for a set");
	set->size = file[0]->size;
	set->nr = 0;
	for (i = 0; i < nr; i++)
		if (!i || file[i]->is_equal)
			set->file[set->nr++] = file[i];
	pthread_mutex_lock(&s->lock);
	set->next = s->sets;
	s->sets = set;
	s->nr_sets++;
	pthread_mutex_unlock(&s->lock);
	return 0;
}

/*
 * A run has been compared: equal files become a set, unequal ones stay for
 * another round behind nr. If the first failed, nobody has been compared.
 */
static int settle_run(struct lkdf_ctx *c, struct class *cl, size_t i,
		      size_t end, size_t *nr)
{
	struct file **file = cl->file + i;
	size_t j, nr_equal = 0;
	int rc = 0;

	for (j = 1; j < end - i; j++)
		if (file[j]->peer_err)
			file[0]->err = file[j]->peer_err;
	for (j = 1; j < end - i; j++)
		nr_equal += file[j]->is_equal && !file[0]->err;
	if (nr_equal)
		rc = add_set(c, cl->search, file, end - i);
	for (j = 1; j < end - i; j++) {
		if (!file[j]->err && !(nr_equal && file[j]->is_equal))
			cl->file[(*nr)++] = file[j];
	}
	return rc;
}

static int compare(struct lkdf_ctx *c, void *arg);

static int proven(struct lkdf_ctx *c, void *arg)
{
	struct class *cl = arg;
	size_t i, end, nr = 0;
	int rc = stopped(c);

	for (i = 0; i < cl->nr && !rc; i = end) {
		end = end_of_run(cl, i);
		rc = settle_run(c, cl, i, end, &nr);
	}
	cl->nr = nr;
	keep_shared(cl);
	return rc ? rc : compare(c, cl);
}

/* Every file with the first one of the same sum; the end if there is none. */
static int compare(struct lkdf_ctx *c, void *arg)
{
	struct class *cl = arg;
	struct search *s = cl->search;
	size_t i, j, end;
	int rc = 0;

	plan_stage(cl, cost_of_compare(cl), 0);
	if (!cl->nr)
		return 0;
	for (i = 0; i < cl->nr; i = end) {
		end = end_of_run(cl, i);
		for (j = i + 1; j < end && !rc; j++)
			rc = pair_spawn(c, &s->comparing, cl->file[i],
					cl->file[j]);
	}
	return rc ? rc : then(c, proven);
}

static int hash_heads(struct lkdf_ctx *c, struct class *cl)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < cl->nr && !rc; i++)
		rc = hash_head(c, &cl->search->hashing, cl->file[i]);
	return rc;
}

/* Are files hashed behind the head? Two of one sum are not, see class.h. */
static bool is_hashed(size_t nr)
{
	return nr > 2;
}

/* The files' rests that are hashed, in bytes. */
static uint64_t cost_of_rests(const struct class *cl)
{
	size_t i, end, nr = 0;

	for (i = 0; i < cl->nr; i = end) {
		end = end_of_run(cl, i);
		nr += is_hashed(end - i) ? end - i : 0;
	}
	return nr * (uint64_t)(size_of(cl) - head_of(cl));
}

static int hash_rests(struct lkdf_ctx *c, struct class *cl)
{
	struct hashing *h = &cl->search->hashing;
	size_t i, j, end;
	int rc = 0;

	for (i = 0; i < cl->nr && !rc; i = end) {
		end = end_of_run(cl, i);
		for (j = i; j < end && is_hashed(end - i) && !rc; j++)
			rc = hash_rest(c, h, cl->file[j]);
	}
	return rc;
}

static int rests(struct lkdf_ctx *c, void *arg)
{
	struct class *cl = arg;

	if (stopped(c))
		return stopped(c);
	keep_shared(cl);
	return compare(c, cl);
}

static int heads(struct lkdf_ctx *c, void *arg)
{
	struct class *cl = arg;
	uint64_t cost;
	int rc;

	if (stopped(c))
		return stopped(c);
	keep_shared(cl);
	cost = cost_of_rests(cl);
	if (!cost)
		return compare(c, cl);
	plan_stage(cl, cost, cost_of_compare(cl));
	rc = hash_rests(c, cl);
	return rc ? rc : then(c, rests);
}

static int start(struct lkdf_ctx *c, void *arg)
{
	struct class *cl = arg;
	uint64_t heads_size = cl->nr * (uint64_t)head_of(cl);
	int rc;

	if (cl->search->no_hash || !is_hashed(cl->nr))
		return compare(c, cl);
	plan_stage(cl, heads_size, cl->left - heads_size);
	rc = hash_heads(c, cl);
	return rc ? rc : then(c, heads);
}

int search_init(struct search *s, struct lkdf *rt, struct pool *p)
{
	struct lkdf_kind_attr attr = { .size = sizeof(attr) };
	int rc;

	*s = (struct search){ .sets = NULL };
	pthread_mutex_init(&s->lock, NULL);
	rc = reading_init(&s->reading, rt, p);
	if (!rc)
		rc = hashing_init(&s->hashing, rt, &s->reading);
	if (!rc)
		rc = comparing_init(&s->comparing, rt, &s->reading);
	attr.name = "class";
	attr.fn = start;
	return rc ? rc : lkdf_kind_create(rt, &attr, &s->class_kind);
}

void search_fini(struct search *s)
{
	struct set *set;

	while (s->sets) {
		set = s->sets;
		s->sets = set->next;
		free(set);
	}
	lkdf_kind_put(s->class_kind);
	comparing_fini(&s->comparing);
	hashing_fini(&s->hashing);
	reading_fini(&s->reading);
	pthread_mutex_destroy(&s->lock);
}
