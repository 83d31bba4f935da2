/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The library runs a random program of usage.h. Each body says by counters of
 * each part when it is there: two that must not be together are seen at once,
 * whatever they read.
 */
#ifndef TESTS_API_PROBE_WORLD_H
#define TESTS_API_PROBE_WORLD_H

#include "tests/api/probe/usage.h"

#include <sched.h>

/* What the bodies leave; the same step of two runs may be under way. */
struct mark {
	atomic_ullong start, end[MAX_OPS], seen;
	atomic_uint nr_ran;
};

struct world {
	const struct program *p;
	struct lkdf *rt;
	struct lkdf_kind *kind;
	struct lkdf_data *data[MAX_DATA];
	struct mark mark[MAX_STEPS];
	/* Reducers may run beside others: only the combining waits. */
	bool reduces_apart;
	bool may_fail; /* so not all steps run */

	/* Any thread. */
	atomic_uint busy[MAX_DATA][MAX_PARTS];
	atomic_ullong clock;
	atomic_int nr_wrong;
};

struct job {
	struct world *w;
	uint32_t step;
};

__attribute__((format(printf, 2, 3), unused)) static void
wrong(struct world *w, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	if (atomic_fetch_add(&w->nr_wrong, 1) >= 5)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	printf("# seed %llu: %s\n", (unsigned long long)w->p->seed, text);
}

enum {
	BUSY_READ = 1,
	BUSY_REDUCE = 1 << 10,
	BUSY_ALONE = 1 << 20,
};

/* The bytes of the data are the step's while it runs. */
static bool op_holds(const struct world *w, const struct op *op)
{
	return op_touches(op) && !(w->reduces_apart && op->mode & LKDF_REDUCE);
}

/* All uses of one step together, for each part; or all it still has. */
static void merge_modes(const struct world *w, const struct step *s,
			uint8_t mode[MAX_DATA][MAX_PARTS], bool is_leaving)
{
	const struct op *op;
	uint32_t i, part;

	memset(mode, 0, MAX_DATA * MAX_PARTS);
	for (i = 0; i < s->nr; i++) {
		op = &s->op[i];
		if (!op_holds(w, op) || (is_leaving && op->is_untouched))
			continue;
		for (part = op_first(op); part < op_end(w->p, op); part++)
			mode[op->data][part] |= op->mode;
	}
}

static uint32_t busy_of(uint32_t mode)
{
	if (!(mode & WRITES))
		return BUSY_READ;
	return mode & LKDF_REDUCE ? BUSY_REDUCE : BUSY_ALONE;
}

static void enter_part(struct world *w, const struct job *j, uint32_t d,
		       uint32_t part, uint32_t mode)
{
	uint32_t add = busy_of(mode);
	uint32_t was = atomic_fetch_add(&w->busy[d][part], add);

	if (add == BUSY_ALONE ? was : was / BUSY_ALONE)
		wrong(w, "step %u: %s of data %u part %u beside others (%#x)",
		      j->step, mode_name(mode), d, part + 1, was);
	else if (add == BUSY_READ && was >= BUSY_REDUCE)
		wrong(w, "step %u reads data %u part %u while it is reduced",
		      j->step, d, part + 1);
	else if (add == BUSY_REDUCE && was % BUSY_REDUCE)
		wrong(w, "step %u reduces data %u part %u beside readers",
		      j->step, d, part + 1);
}

static void pass(struct world *w, const struct job *j, bool is_leaving)
{
	uint8_t mode[MAX_DATA][MAX_PARTS];
	uint32_t d, part;

	merge_modes(w, &w->p->step[j->step], mode, is_leaving);
	for (d = 0; d < w->p->nr_data; d++)
		for (part = 0; part < w->p->shape[d].nr_parts; part++) {
			if (!mode[d][part])
				continue;
			if (!is_leaving)
				enter_part(w, j, d, part, mode[d][part]);
			else
				atomic_fetch_sub(&w->busy[d][part],
						 busy_of(mode[d][part]));
		}
}

/* Word by word, what a part says its value is. */
static uint64_t bytes_value(struct world *w, const uint64_t *word,
			    uint32_t words, const char *where)
{
	uint32_t i;

	for (i = 1; i < words; i++)
		if (word[i] != word[0] + i * RAMP) {
			wrong(w, "%s: word %u is of another value", where, i);
			break;
		}
	return word[0];
}

static void bytes_fill(uint64_t *word, uint32_t words, uint64_t value)
{
	uint32_t i;

	for (i = 0; i < words; i++)
		word[i] = value + i * RAMP;
}

static void bytes_add(uint64_t *word, uint32_t words, uint64_t add)
{
	uint32_t i;

	for (i = 0; i < words; i++)
		word[i] += add;
}

/* Where a part of an op begins, given where the op's bytes begin. */
static inline uint64_t *part_at(const struct program *p, const struct op *op,
				void *bytes, uint32_t part)
{
	return (uint64_t *)bytes +
	       (size_t)(part - op_first(op)) * p->shape[op->data].words;
}

static uint64_t read_op(struct world *w, const struct op *op, void *bytes,
			uint64_t seen)
{
	const struct shape *s = &w->p->shape[op->data];
	uint32_t part;
	uint64_t v;

	for (part = op_first(op); part < op_end(w->p, op); part++) {
		v = bytes_value(w, part_at(w->p, op, bytes, part),
				part_words(s, part), "reads");
		seen = mix(seen ^ v);
	}
	return seen;
}

static void write_op(struct world *w, const struct job *j, uint32_t nr,
		     void *bytes, uint64_t seen)
{
	const struct op *op = &w->p->step[j->step].op[nr];
	const struct shape *s = &w->p->shape[op->data];
	uint32_t part;
	uint64_t *word;

	for (part = op_first(op); part < op_end(w->p, op); part++) {
		word = part_at(w->p, op, bytes, part);
		if (op->mode & ADDS)
			bytes_add(word, part_words(s, part),
				  added(j->step, nr, part));
		else
			bytes_fill(word, part_words(s, part),
				   written(seen, nr, part));
	}
}

/* Gives on what it has not touched. */
static void end_untouched(struct world *w, const struct job *j,
			  struct lkdf_ctx *c, uint32_t nr)
{
	const struct op *op = &w->p->step[j->step].op[nr];
	uint32_t part;
	int rc;

	w->mark[j->step].end[nr] = atomic_fetch_add(&w->clock, 1);
	for (part = op_first(op); part < op_end(w->p, op); part++)
		atomic_fetch_sub(&w->busy[op->data][part], BUSY_ALONE);
	rc = lkdf_use_end(c, nr, true);
	if (rc)
		wrong(w, "step %u: use_end: %d %s", j->step, rc, lkdf_errmsg());
	if (lkdf_ptr(c, nr))
		wrong(w, "step %u: bytes of a use given on", j->step);
}

static void *ptr_of(struct world *w, const struct job *j, struct lkdf_ctx *c,
		    uint32_t nr)
{
	bool touches = op_touches(&w->p->step[j->step].op[nr]);
	void *bytes = lkdf_ptr(c, nr);

	if (!bytes && touches)
		wrong(w, "step %u: use %u has no bytes", j->step, nr);
	if (bytes && !touches)
		wrong(w, "step %u: use %u is weak and has bytes", j->step, nr);
	return bytes;
}

static void touch_all(struct world *w, const struct job *j, struct lkdf_ctx *c)
{
	const struct step *s = &w->p->step[j->step];
	struct mark *m = &w->mark[j->step];
	void *bytes[MAX_OPS] = { NULL };
	uint64_t seen;
	uint32_t i;

	for (i = 0; i < s->nr; i++)
		bytes[i] = ptr_of(w, j, c, i);
	seen = mix(j->step);
	for (i = 0; i < s->nr; i++)
		if (op_reads(&s->op[i]) && bytes[i])
			seen = read_op(w, &s->op[i], bytes[i], seen);
	m->seen = seen;
	for (i = 0; i < s->nr; i++)
		if (s->op[i].is_untouched)
			end_untouched(w, j, c, i);
	if (rng_one_in(&(struct rng){ w->p->seed + j->step }, 3))
		sched_yield();
	for (i = 0; i < s->nr; i++)
		if (op_writes(&s->op[i]) && bytes[i])
			write_op(w, j, i, bytes[i], seen);
}

/* All that a step does itself. */
static void step_run(struct lkdf_ctx *c, const struct job *j)
{
	struct world *w = j->w;
	const struct step *s = &w->p->step[j->step];
	struct mark *m = &w->mark[j->step];
	uint64_t end;
	uint32_t i;

	m->nr_ran++;
	m->start = atomic_fetch_add(&w->clock, 1);
	pass(w, j, false);
	touch_all(w, j, c);
	pass(w, j, true);
	end = atomic_fetch_add(&w->clock, 1);
	for (i = 0; i < s->nr; i++)
		if (!s->op[i].is_untouched)
			m->end[i] = end;
}

__attribute__((unused)) static int step_body(struct lkdf_ctx *c, void *arg)
{
	struct job *j = arg;

	step_run(c, j);
	return j->w->p->step[j->step].error;
}

/*
 * The life of a world
 */

static struct lkdf_data *world_data(struct world *w, uint32_t d)
{
	const struct shape *s = &w->p->shape[d];
	uint64_t bytes = shape_words(s) * sizeof(uint64_t);
	struct op whole = { .data = (uint8_t)d };
	uint64_t *init = calloc(1, bytes);
	struct lkdf_data *data;
	uint32_t i;

	for (i = 0; i < s->nr_parts; i++)
		bytes_fill(part_at(w->p, &whole, init, i), part_words(s, i),
			   first_value(d, i));
	must(lkdf_data_create(w->rt,
			      ATTR(lkdf_data_attr, .bytes = bytes,
				   .init = s->has_init ? init : NULL,
				   .reduce = add_words, .neutral = no_words),
			      &data));
	if (s->nr_parts > 1)
		must(lkdf_data_split(data, s->nr_parts, s->words * 8ull));
	free(init);
	return data;
}

__attribute__((unused)) static struct world *
world_create(struct lkdf *rt, const struct program *p, struct lkdf_kind *kind)
{
	struct world *w = calloc(1, sizeof(*w));
	uint32_t d;

	w->rt = rt;
	w->p = p;
	w->kind = kind;
	for (d = 0; d < p->nr_data; d++)
		w->data[d] = world_data(w, d);
	return w;
}

__attribute__((unused)) static void world_destroy(struct world *w)
{
	uint32_t d;

	for (d = 0; d < w->p->nr_data; d++)
		lkdf_data_put(w->data[d]);
	free(w);
}

static void uses_of(const struct world *w, const struct step *s,
		    struct lkdf_use use[MAX_OPS])
{
	uint32_t i;

	for (i = 0; i < s->nr; i++)
		use[i] = (struct lkdf_use){ .data = w->data[s->op[i].data],
					    .mode = s->op[i].mode,
					    .part = s->op[i].part };
}

__attribute__((unused)) static int world_submit(struct world *w, uint32_t step,
						struct lkdf_scope *scope,
						struct lkdf_event *done)
{
	const struct step *s = &w->p->step[step];
	struct job job = { w, step };
	struct lkdf_use use[MAX_OPS];
	int rc;

	uses_of(w, s, use);
	rc = lkdf_submit(w->rt, scope,
			 ATTR(lkdf_task, .kind = w->kind, .arg = &job,
			      .use = use, .nr_use = s->nr),
			 done);
	if (rc)
		wrong(w, "step %u: submit: %d %s", step, rc, lkdf_errmsg());
	return rc;
}

#endif
