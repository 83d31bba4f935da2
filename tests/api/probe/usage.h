/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Random programs of tasks that use data, shared by the tests of data. A
 * program is plain data: variables, of which some are split, and steps with
 * their uses. Here it is interpreted one step after another; world.h has the
 * library run it; both must have read and left the same.
 *
 * The bytes of a part are words that make one value: word j is the value plus
 * j times RAMP, so that bytes of two writers side by side are seen, and adding
 * to all words adds to the value.
 */
#ifndef TESTS_API_PROBE_USAGE_H
#define TESTS_API_PROBE_USAGE_H

#include "tests/api/using.h"
#include "tests/oracle/random.h"

#define MAX_DATA 12
#define MAX_PARTS 8
#define MAX_OPS 6
#define MAX_STEPS 256
#define RAMP 0x9e3779b97f4a7c15u

#define WRITES (LKDF_WRITE | LKDF_COMMUTE | LKDF_REDUCE)
#define ADDS (LKDF_COMMUTE | LKDF_REDUCE)

struct shape {
	uint32_t nr_parts; /* 1: not split */
	uint32_t words, cut; /* of each part; fewer in the last */
	bool has_init;
};

struct op {
	uint8_t data, part; /* 0: the whole, as in uses */
	uint8_t mode;
	bool is_untouched; /* RW with MAYBE: says so, and writes nothing */
};

struct step {
	uint32_t nr;
	int error; /* its body returns it, after it has written */
	struct op op[MAX_OPS];
};

struct program {
	uint64_t seed;
	uint32_t nr_data, nr_steps;
	struct shape shape[MAX_DATA];
	struct step step[MAX_STEPS];
};

/* What a generator may choose. */
struct choice {
	uint32_t modes; /* or'ed: READ, WRITE, COMMUTE, REDUCE, MAYBE */
	uint32_t max_data, max_parts, max_steps;
	bool has_twice; /* the same data twice in one step */
	int error; /* steps may fail, with this */
};

/* What there is after some steps. */
struct state {
	uint64_t value[MAX_DATA][MAX_PARTS];
	uint64_t version[MAX_DATA];
	int error[MAX_DATA][MAX_PARTS];
	uint64_t seen[MAX_STEPS]; /* what each step made of what it read */
	int result[MAX_STEPS]; /* 0, its error, or why it was skipped */
	bool is_skipped[MAX_STEPS];
};

__attribute__((unused)) static const char *mode_name(uint32_t mode)
{
	static const char *const name[] = {
		[LKDF_READ] = "READ",	  [LKDF_WRITE] = "WRITE",
		[LKDF_RW] = "RW",	  [LKDF_COMMUTE] = "COMMUTE",
		[LKDF_REDUCE] = "REDUCE",
	};

	if (mode & LKDF_MAYBE)
		return "MAYBE";
	mode &= ~(uint32_t)LKDF_WEAK;
	return mode <= LKDF_REDUCE && name[mode] ? name[mode] : "?";
}

/* Parts first .. end - 1, from 0, of what an op is about. */
static inline uint32_t op_first(const struct op *op)
{
	return op->part ? op->part - 1u : 0;
}

static inline uint32_t op_end(const struct program *p, const struct op *op)
{
	return op->part ? op->part : p->shape[op->data].nr_parts;
}

static inline uint32_t part_words(const struct shape *s, uint32_t part)
{
	return part + 1 == s->nr_parts ? s->words - s->cut : s->words;
}

static inline uint64_t shape_words(const struct shape *s)
{
	return (uint64_t)s->nr_parts * s->words - s->cut;
}

static inline uint64_t first_value(uint32_t data, uint32_t part)
{
	return mix(data * 1000 + part + 1);
}

/* What step and op write into a part, given what the step has read. */
static inline uint64_t written(uint64_t seen, uint32_t op, uint32_t part)
{
	return mix(seen + op * 1000 + part + 1);
}

static inline uint64_t added(uint32_t step, uint32_t op, uint32_t part)
{
	return mix(step * 1000003 + op * 1000 + part) & 0xffff;
}

/* What is WEAK is not touched by the step itself. */
static inline bool op_touches(const struct op *op)
{
	return !(op->mode & LKDF_WEAK);
}

static inline bool op_reads(const struct op *op)
{
	return op_touches(op) && op->mode & LKDF_READ;
}

static inline bool op_writes(const struct op *op)
{
	return op_touches(op) && op->mode & WRITES && !op->is_untouched;
}

__attribute__((unused)) static void program_say(const struct program *p)
{
	const struct op *op;
	uint32_t i, j;

	for (i = 0; i < p->nr_data; i++)
		printf("# data %u: %u parts of %u words%s\n", i,
		       p->shape[i].nr_parts, p->shape[i].words,
		       p->shape[i].has_init ? ", a first value" : "");
	for (i = 0; i < p->nr_steps; i++) {
		printf("# step %u:", i);
		for (j = 0; j < p->step[i].nr; j++) {
			op = &p->step[i].op[j];
			printf(" %s %u", mode_name(op->mode), op->data);
			if (op->part)
				printf(".%u", op->part);
			if (op->is_untouched)
				printf(" untouched");
			if (!op_touches(op))
				printf(" weak");
		}
		printf("%s\n", p->step[i].error ? " fails" : "");
	}
}

/*
 * Generating
 */

static bool step_has(const struct step *s, uint32_t data)
{
	uint32_t i;

	for (i = 0; i < s->nr; i++)
		if (s->op[i].data == data)
			return true;
	return false;
}

static uint32_t pick_mode(const struct choice *c, struct rng *r, bool is_again)
{
	uint32_t mode;

	for (;;) {
		switch (rng_range(r, 0, is_again ? 5 : 9)) {
		case 0:
		case 1:
		case 2:
			mode = LKDF_READ;
			break;
		case 3:
			mode = LKDF_WRITE;
			break;
		case 4:
		case 5:
			mode = LKDF_RW;
			break;
		case 6:
		case 7:
			mode = LKDF_COMMUTE;
			break;
		case 8:
			mode = LKDF_REDUCE;
			break;
		default:
			mode = LKDF_RW | LKDF_MAYBE;
		}
		if (!(mode & ~c->modes))
			return mode;
	}
}

/* Adds one use, or nothing where it would be twice and must not. */
static void add_op(struct program *p, const struct choice *c, struct rng *r,
		   struct step *s)
{
	struct op *op = &s->op[s->nr];
	uint32_t d = rng_range(r, 0, p->nr_data - 1), i;
	bool is_again = step_has(s, d);

	if (is_again && !(c->has_twice && rng_one_in(r, 2)))
		return;
	for (i = 0; i < s->nr; i++)
		if (s->op[i].data == d && s->op[i].mode & (ADDS | LKDF_MAYBE))
			return;
	op->data = (uint8_t)d;
	op->mode = (uint8_t)pick_mode(c, r, is_again);
	op->part = 0;
	if (p->shape[d].nr_parts > 1 && !rng_one_in(r, 4))
		op->part = (uint8_t)rng_range(r, 1, p->shape[d].nr_parts);
	op->is_untouched = op->mode & LKDF_MAYBE && rng_one_in(r, 2);
	s->nr++;
}

static void make_shape(struct shape *s, const struct choice *c, struct rng *r)
{
	s->nr_parts = 1;
	if (c->max_parts > 1 && rng_one_in(r, 2))
		s->nr_parts = rng_range(r, 1, c->max_parts);
	s->words = rng_one_in(r, 8) ? 600 : rng_range(r, 1, 9);
	s->cut = s->nr_parts > 1 ? rng_range(r, 0, s->words - 1) : 0;
	s->has_init = !rng_one_in(r, 4);
}

/* Data without a first value is written before all else. */
__attribute__((unused)) static void
program_make(struct program *p, const struct choice *c, uint64_t seed)
{
	struct rng rng = { seed }, *r = &rng;
	uint32_t nr_steps, nr_ops, i;
	struct step *s;

	memset(p, 0, sizeof(*p));
	p->seed = seed;
	p->nr_data = rng_range(r, 1, c->max_data);
	nr_steps = rng_range(r, 1, c->max_steps - MAX_DATA);
	for (i = 0; i < p->nr_data; i++) {
		make_shape(&p->shape[i], c, r);
		if (p->shape[i].has_init)
			continue;
		s = &p->step[p->nr_steps++];
		s->op[s->nr++] =
			(struct op){ .data = (uint8_t)i, .mode = LKDF_WRITE };
	}
	while (nr_steps--) {
		s = &p->step[p->nr_steps++];
		nr_ops = rng_range(r, 0, rng_one_in(r, 4) ? MAX_OPS : 3);
		while (nr_ops--)
			add_op(p, c, r, s);
		if (c->error && rng_one_in(r, 6))
			s->error = c->error;
	}
}

/*
 * Interpreting
 */

__attribute__((unused)) static void state_init(struct state *st,
					       const struct program *p)
{
	uint32_t d, i;

	memset(st, 0, sizeof(*st));
	for (d = 0; d < p->nr_data; d++) {
		st->version[d] = p->shape[d].has_init;
		for (i = 0; i < p->shape[d].nr_parts; i++)
			st->value[d][i] = first_value(d, i);
	}
}

/* The error of what it reads; 0: none. */
static int state_input_error(const struct state *st, const struct program *p,
			     const struct step *s)
{
	uint32_t i, part;

	for (i = 0; i < s->nr; i++) {
		if (s->op[i].mode == LKDF_WRITE || !op_touches(&s->op[i]))
			continue;
		for (part = op_first(&s->op[i]); part < op_end(p, &s->op[i]);
		     part++)
			if (st->error[s->op[i].data][part])
				return st->error[s->op[i].data][part];
	}
	return 0;
}

static void state_write(struct state *st, const struct program *p,
			uint32_t step, uint32_t op_nr)
{
	const struct op *op = &p->step[step].op[op_nr];
	uint32_t part;
	uint64_t *v;

	for (part = op_first(op); part < op_end(p, op); part++) {
		v = &st->value[op->data][part];
		if (op->mode & ADDS)
			*v += added(step, op_nr, part);
		else
			*v = written(st->seen[step], op_nr, part);
		st->error[op->data][part] = st->result[step];
	}
}

/* One more version for each data that is written, however many uses say so. */
static void state_count(struct state *st, const struct step *s)
{
	uint32_t i, j;

	for (i = 0; i < s->nr; i++) {
		for (j = 0; j < i; j++)
			if (s->op[j].data == s->op[i].data &&
			    op_writes(&s->op[j]))
				break;
		if (j == i && op_writes(&s->op[i]))
			st->version[s->op[i].data]++;
	}
}

__attribute__((unused)) static void
state_step(struct state *st, const struct program *p, uint32_t step)
{
	const struct step *s = &p->step[step];
	uint64_t seen = mix(step);
	uint32_t i, part;

	st->result[step] = state_input_error(st, p, s);
	st->is_skipped[step] = st->result[step] != 0;
	if (!st->is_skipped[step])
		st->result[step] = s->error;
	for (i = 0; i < s->nr; i++) {
		if (!op_reads(&s->op[i]))
			continue;
		for (part = op_first(&s->op[i]); part < op_end(p, &s->op[i]);
		     part++)
			seen = mix(seen ^ st->value[s->op[i].data][part]);
	}
	st->seen[step] = seen;
	/* What does not run cannot say that it leaves something untouched. */
	for (i = 0; i < s->nr; i++)
		if (op_writes(&s->op[i]) ||
		    (st->is_skipped[step] && s->op[i].is_untouched))
			state_write(st, p, step, i);
	if (!st->result[step])
		state_count(st, s);
}

__attribute__((unused)) static void state_run(struct state *st,
					      const struct program *p)
{
	uint32_t i;

	state_init(st, p);
	for (i = 0; i < p->nr_steps; i++)
		state_step(st, p, i);
}

#endif
