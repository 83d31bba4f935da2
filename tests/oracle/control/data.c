/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "tests/oracle/control/data.h"

#include "tests/oracle/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WEAK_RW (LKDF_WEAK | LKDF_RW)
#define MAYBE_RW (LKDF_MAYBE | LKDF_RW)

/* ---- programs ----------------------------------------------------------- */

static uint32_t some_mode(const struct program *p, struct rng *r, int task)
{
	static const uint32_t mode[] = { LKDF_READ,    LKDF_WRITE, LKDF_RW,
					 MAYBE_RW,     WEAK_RW,	   LKDF_REDUCE,
					 LKDF_COMMUTE, LKDF_READ };
	uint32_t m = mode[rng_range(r, 0, p->never_fails ? 7 : 4)];

	/* A loop refuses those, see test_loops_data.c. */
	return p->is_always[task] && m & (LKDF_MAYBE | LKDF_WEAK) ? LKDF_RW : m;
}

static void add_use(struct program *p, struct rng *r, int task)
{
	struct use *u = &p->use[task][p->nr_uses[task]];

	u->var = (int)rng_range(r, 0, NR_VARS - 1);
	u->part = rng_one_in(r, 4) ? (int)rng_range(r, 1, NR_WORDS) : 0;
	u->mode = some_mode(p, r, task);
	if (!p->nr_uses[task] || p->use[task][0].var != u->var)
		p->nr_uses[task]++;
}

/* Streams refuse data; an edge of data counts where LKDF_ANY wants one. */
void data_add(struct program *p, struct rng *r)
{
	uint32_t density = rng_range(r, 1, 4);
	int t;

	if (p->is_stream || !rng_one_in(r, 2))
		return;
	p->has_data = true;
	p->never_fails = rng_one_in(r, 2);
	p->receiver = p->sender = -1;
	p->depth = 0;
	memset(p->is_any, 0, sizeof(p->is_any));
	for (t = 0; t < p->nr_tasks; t++)
		while (p->nr_uses[t] < MAX_USES && rng_one_in(r, density + 1))
			add_use(p, r, t);
}

void data_print(const struct program *p)
{
	const struct use *u;
	int t;

	for (t = 0; t < p->nr_tasks; t++)
		for (u = p->use[t]; u < p->use[t] + p->nr_uses[t]; u++)
			printf("# task %d uses %d.%d with %#x\n", t, u->var,
			       u->part, u->mode);
}

/* ---- edges -------------------------------------------------------------- */

static bool has_word(const struct use *u, int word)
{
	return !u->part || u->part == word + 1;
}

static bool overlap(const struct use *a, const struct use *b)
{
	return a->var == b->var && (!a->part || !b->part || a->part == b->part);
}

/* Neither waits for the other. */
static bool goes_together(const struct use *a, const struct use *b)
{
	if (a->mode == LKDF_READ)
		return b->mode == LKDF_READ;
	return a->mode == b->mode && a->part == b->part &&
	       a->mode & (LKDF_COMMUTE | LKDF_REDUCE);
}

/* Does a task between the two write the word? */
static bool is_rewritten(const struct program *p, int from, int to, int var,
			 int word)
{
	const struct use *u;
	int t;

	for (t = from + 1; t < to; t++)
		for (u = p->use[t]; u < p->use[t] + p->nr_uses[t]; u++)
			if (u->var == var && has_word(u, word) &&
			    u->mode != LKDF_READ)
				return true;
	return false;
}

/* Does b read what a has written? */
static bool reads_of(const struct program *p, int from, int to,
		     const struct use *a, const struct use *b)
{
	int w;

	if (a->mode == LKDF_READ || b->mode == LKDF_WRITE)
		return false;
	for (w = 0; w < NR_WORDS; w++)
		if (has_word(a, w) && has_word(b, w) &&
		    !is_rewritten(p, from, to, a->var, w))
			return true;
	return false;
}

static void add_edges(struct program *p, int from, int to)
{
	const struct use *a, *b;

	for (a = p->use[from]; a < p->use[from] + p->nr_uses[from]; a++)
		for (b = p->use[to]; b < p->use[to] + p->nr_uses[to]; b++) {
			if (!overlap(a, b) || goes_together(a, b))
				continue;
			p->edge[p->nr_edges++] = (struct edge){
				.from = from,
				.to = to,
				.branch = -1,
				.is_data = true,
				.is_soft = !reads_of(p, from, to, a, b),
				.is_maybe = a->mode == MAYBE_RW,
			};
		}
}

void data_edges(struct program *p)
{
	int from, to;

	for (to = 0; to < p->nr_tasks; to++)
		for (from = 0; from < to; from++)
			add_edges(p, from, to);
}

/* ---- values ------------------------------------------------------------- */

static uint64_t amount(const struct call *i)
{
	return mix(program_out(i->p, i->run, i->task, i->n) + 77);
}

bool data_leaves(const struct call *i)
{
	return amount(i) & 1;
}

/* The children of a weak use write, if there are any. */
static bool has_child(const struct call *i)
{
	return amount(i) % 4 && program_value(i->p, i->run, i->task, i->n) >= 0;
}

static uint64_t first_value(const struct program *p, int var, int word)
{
	return mix(p->seed + (uint64_t)(var * NR_WORDS + word));
}

void data_first(const struct program *p, uint64_t word[NR_VARS][NR_WORDS])
{
	int v, w;

	for (v = 0; v < NR_VARS; v++)
		for (w = 0; w < NR_WORDS; w++)
			word[v][w] = first_value(p, v, w);
}

/* One word, which lies in the data or in a copy. */
static void touch(const struct call *i, uint32_t mode, uint64_t *word,
		  uint64_t *seen)
{
	uint64_t x = amount(i);

	if (mode & (LKDF_COMMUTE | LKDF_REDUCE)) {
		*word += x;
		return;
	}
	if (mode & LKDF_READ)
		*seen = program_see(*seen, i->n, word);
	if (mode == LKDF_WRITE)
		*word = x;
	else if (mode & LKDF_WRITE && !(mode & LKDF_MAYBE && data_leaves(i)))
		*word = mix(*word + x);
}

void data_call(const struct call *i, uint64_t word[NR_VARS][NR_WORDS],
	       uint64_t *seen)
{
	const struct use *u = i->p->use[i->task];
	const struct use *end = u + i->p->nr_uses[i->task];
	int w;

	for (; u < end; u++)
		for (w = 0; w < NR_WORDS; w++) {
			if (!has_word(u, w))
				continue;
			if (u->mode != WEAK_RW)
				touch(i, u->mode, &word[u->var][w], seen);
			else if (has_child(i))
				word[u->var][w] += amount(i);
		}
}

/* ---- the library's ------------------------------------------------------ */

static void must(int rc, const char *what)
{
	if (rc >= 0)
		return;
	fprintf(stderr, "%s: %s\n", what, lkdf_errmsg());
	abort();
}

static int add_words(void *acc, const void *x, uint64_t bytes)
{
	uint64_t *to = acc;
	const uint64_t *from = x;
	uint64_t i;

	for (i = 0; i < bytes / sizeof(*to); i++)
		to[i] += from[i];
	return 0;
}

void variables_open(struct variables *v, struct lkdf *rt)
{
	struct lkdf_data_attr a = {
		.size = sizeof(a),
		.bytes = NR_WORDS * sizeof(uint64_t),
		.reduce = add_words,
	};
	int i;

	for (i = 0; i < NR_VARS; i++) {
		must(lkdf_data_create(rt, &a, &v->d[i]), "data");
		must(lkdf_data_split(v->d[i], NR_WORDS, sizeof(uint64_t)),
		     "split");
	}
}

void variables_close(struct variables *v)
{
	int i;

	for (i = 0; i < NR_VARS; i++)
		lkdf_data_put(v->d[i]);
}

void variables_reset(struct variables *v, const struct program *p)
{
	uint64_t *word;
	void *at;
	int i, w;

	for (i = 0; i < NR_VARS; i++) {
		must(lkdf_data_acquire(v->d[i], LKDF_WRITE, -1, &at),
		     "acquire");
		word = at;
		for (w = 0; w < NR_WORDS; w++)
			word[w] = first_value(p, i, w);
		must(lkdf_data_release(v->d[i]), "release");
	}
}

bool variables_compare(struct variables *v, const struct story *s)
{
	bool good = true;
	void *at;
	int i, rc;

	for (i = 0; i < NR_VARS && !s->has_failed; i++) {
		rc = lkdf_data_acquire(v->d[i], LKDF_READ, -1, &at);
		if (rc || memcmp(at, s->word[i], sizeof(s->word[i]))) {
			printf("# data %d has another value, or none: %d\n", i,
			       rc);
			good = false;
		}
		if (!rc)
			must(lkdf_data_release(v->d[i]), "release");
	}
	return good;
}

unsigned variables_uses(const struct variables *v, const struct program *p,
			int task, struct lkdf_use use[MAX_USES])
{
	int i;

	for (i = 0; i < p->nr_uses[task]; i++)
		use[i] = (struct lkdf_use){
			.data = v->d[p->use[task][i].var],
			.mode = p->use[task][i].mode,
			.part = (uint32_t)p->use[task][i].part,
		};
	return (unsigned)p->nr_uses[task];
}

int variables_child(struct lkdf_ctx *c, void *arg)
{
	const struct addend *a = arg;
	uint64_t *word = lkdf_ptr(c, 0), i;

	for (i = 0; i < a->nr; i++)
		word[i] += a->x;
	return 0;
}

static void spawn_child(struct lkdf_ctx *c, const struct lkdf_use *use,
			struct lkdf_kind *kind, uint64_t x)
{
	struct addend a = { x, use->part ? 1 : NR_WORDS };
	struct lkdf_use strong = { use->data, LKDF_RW, use->part };
	struct lkdf_task t = {
		.size = sizeof(t),
		.kind = kind,
		.arg = &a,
		.use = &strong,
		.nr_use = 1,
	};

	must(lkdf_spawn_task(c, &t, NULL), "spawn");
}

static void use_bytes(struct lkdf_ctx *c, unsigned use, const struct use *u,
		      const struct call *call, uint64_t *seen)
{
	uint64_t *word = lkdf_ptr(c, use);
	int w;

	for (w = 0; w < (u->part ? 1 : NR_WORDS); w++)
		touch(call, u->mode, &word[w], seen);
	if (u->mode == MAYBE_RW && data_leaves(call))
		must(lkdf_use_end(c, use, true), "untouched");
}

void variables_call(struct lkdf_ctx *c, const struct variables *v,
		    struct lkdf_kind *child, const struct call *call,
		    uint64_t *seen)
{
	const struct use *u = call->p->use[call->task];
	struct lkdf_use use[MAX_USES];
	unsigned i, nr = variables_uses(v, call->p, call->task, use);

	for (i = 0; i < nr; i++) {
		if (u[i].mode != WEAK_RW)
			use_bytes(c, i, &u[i], call, seen);
		else if (has_child(call))
			spawn_child(c, &use[i], child, amount(call));
	}
}
