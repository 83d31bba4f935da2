/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What the contestants of lkdf bench flow run: loops and branches made of
 * steps, and streams of tokens through four stages. Each body leaves a trace
 * that depends on the order of all bodies before it; a result is right if it
 * is that of the serial program.
 */
#ifndef TESTS_BENCH_CONTROL_H
#define TESTS_BENCH_CONTROL_H

#include "tests/bench/work.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CONTROL_MAX_STEPS 202
#define CONTROL_MAX_PREDS 4
#define STREAM_STAGES 4
#define STREAM_TOKENS 16 /* under way at a time, for all contestants */

#define CONTROL_LINE __attribute__((aligned(64)))

struct control;

/* The number of calls of each predecessor is added to the sum. */
struct step {
	uint64_t calls, sum;
	struct control *of;
	const struct step *pred[CONTROL_MAX_PREDS];
	uint32_t nr_preds;
} CONTROL_LINE;

enum control_shape {
	CONTROL_LOOP, /* 0 head, 1 condition: again or out */
	CONTROL_FORK, /* 0 head, 1 to 4 side by side, 5 condition */
	CONTROL_IF, /* 0 choice, 1 and 2 its arms in turn, 3 join: again or out
		     */
	CONTROL_RUNS, /* as CONTROL_IF, each iteration a run of its own */
	CONTROL_MACHINE, /* as CONTROL_IF, with one arm for each state */
};

struct control {
	struct step step[CONTROL_MAX_STEPS];
	enum control_shape shape;
	unsigned row; /* of control_name() */
	uint32_t nr_steps;
	uint64_t nr; /* iterations of one run; CONTROL_RUNS: runs */
};

/* "loop", "fork", "if", "runs", "machine2" and others; NULL: no such shape. */
const char *control_name(unsigned shape);
const char *control_shape_name(const struct control *c);

/* Nothing has run. 0, or -EINVAL: no such shape. */
int control_init(struct control *c, const char *shape, uint64_t nr);

/* All of it on this thread, each body through a pointer to a function. */
void control_serial(struct control *c);

/* Has each body run as often, and in an order, as the shape says? */
bool control_is_right(const struct control *c);

static inline void control_do(struct step *s)
{
	uint32_t i;

	for (i = 0; i < s->nr_preds; i++)
		s->sum += s->pred[i]->calls;
	s->calls++;
}

/* After the condition's body: is there one more iteration? */
static inline bool control_again(const struct step *condition)
{
	return condition->calls < condition->of->nr;
}

/* After the choice's body: the arm, from 0. Of two, each has its turn. */
static inline unsigned control_arm(const struct step *choice)
{
	uint32_t nr_arms = choice->of->nr_steps - 2;

	return nr_arms == 2 ? (unsigned)(choice->calls & 1)
			    : (unsigned)(choice->calls * 7 + 3) % nr_arms;
}

/* Is this the step that chooses between two arms? */
static inline bool control_is_choice(const struct control *c, uint32_t i)
{
	return c->shape >= CONTROL_IF && i == 0;
}

static inline bool control_is_arm(const struct control *c, uint32_t i)
{
	return c->shape >= CONTROL_IF && i && i + 1 < c->nr_steps;
}

/* Is this the condition, which ends an iteration? */
static inline bool control_is_last(const struct control *c, uint32_t i)
{
	return c->shape != CONTROL_RUNS && i + 1 == c->nr_steps;
}

struct stage {
	uint64_t calls, sum; /* of serial stages only */
	bool is_serial;
} CONTROL_LINE;

struct slot {
	uint64_t value;
} CONTROL_LINE;

struct stream {
	struct stage stage[STREAM_STAGES];
	struct slot slot[STREAM_TOKENS];
	uint64_t nr; /* tokens of one run */
	uint32_t units; /* of work in each body */
	bool is_fed; /* the first stage is C */
};

/* What goes from stage to stage where one is C. */
struct packet {
	uint64_t token, value;
};

/*
 * Stages as letters: S serial and in order, P parallel; the first and the last
 * are serial. C, the first only: a source apart, serial, whose messages go
 * through a bounded queue; then the last stage is serial in any order. 0 or
 * -EINVAL.
 */
int stream_init(struct stream *s, const char *stages, uint64_t nr,
		uint32_t units);
void stream_serial(struct stream *s);
bool stream_is_right(const struct stream *s);

/* The body of a stage for a token 0 .. nr - 1. The last stage is in order, so
 * tokens that are under way have slots of their own. */
static inline void stream_do(struct stream *s, unsigned stage, uint64_t token)
{
	uint64_t *value = &s->slot[token % STREAM_TOKENS].value;
	struct stage *at = &s->stage[stage];

	work_for(s->units);
	*value = stage ? *value * 5 + stage : token;
	if (!at->is_serial)
		return;
	at->calls++;
	at->sum = at->sum * 3 + *value;
}

/* The same of a stream that is fed; of the source m has the token alone. */
static inline struct packet stream_pass(struct stream *s, unsigned stage,
					struct packet m)
{
	struct stage *at = &s->stage[stage];

	work_for(s->units);
	m.value = stage ? m.value * 5 + stage : m.token;
	if (at->is_serial) {
		at->calls++;
		at->sum += m.value * (m.token + 1);
	}
	return m;
}

#ifdef __cplusplus
}
#endif
#endif
