/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "tests/bench/control.h"

#include <errno.h>
#include <string.h>

/* Numbers of the steps whose calls are added up. */
struct preds {
	uint8_t pred[CONTROL_MAX_PREDS];
	uint8_t nr;
};

/* Those of a machine are the same for all of its states. */
#define DRAWN_STEPS 6

static const struct {
	const char *name;
	enum control_shape shape;
	uint32_t nr_steps;
	struct preds step[DRAWN_STEPS];
} shapes[] = {
	{ "loop", CONTROL_LOOP, 2, { { { 1 }, 1 }, { { 0 }, 1 } } },
	{ "fork",
	  CONTROL_FORK,
	  6,
	  { { { 5 }, 1 },
	    { { 0 }, 1 },
	    { { 0 }, 1 },
	    { { 0 }, 1 },
	    { { 0 }, 1 },
	    { { 1, 2, 3, 4 }, 4 } } },
	{ "if",
	  CONTROL_IF,
	  4,
	  { { { 3 }, 1 }, { { 0 }, 1 }, { { 0 }, 1 }, { { 1, 2 }, 2 } } },
	{ "runs",
	  CONTROL_RUNS,
	  4,
	  { { { 3 }, 1 }, { { 0 }, 1 }, { { 0 }, 1 }, { { 1, 2 }, 2 } } },
	{ "machine2", CONTROL_MACHINE, 2 + 2, { { { 0 }, 0 } } },
	{ "machine8", CONTROL_MACHINE, 2 + 8, { { { 0 }, 0 } } },
	{ "machine32", CONTROL_MACHINE, 2 + 32, { { { 0 }, 0 } } },
	{ "machine200", CONTROL_MACHINE, 2 + 200, { { { 0 }, 0 } } },
};
#define NR_SHAPES (sizeof(shapes) / sizeof(shapes[0]))

const char *control_name(unsigned shape)
{
	return shape < NR_SHAPES ? shapes[shape].name : NULL;
}

/* The choice follows the condition, which follows what all states follow. */
static struct preds preds_of(const struct control *c, uint32_t i)
{
	struct preds one = { .nr = 1 };

	if (c->shape != CONTROL_MACHINE)
		return shapes[c->row].step[i];
	one.pred[0] = i ? 0 : (uint8_t)(c->nr_steps - 1);
	return one;
}

static void init_step(struct control *c, uint32_t i)
{
	const struct preds all = preds_of(c, i), *from = &all;
	struct step *s = &c->step[i];
	uint32_t k;

	s->of = c;
	s->nr_preds = from->nr;
	for (k = 0; k < s->nr_preds; k++)
		s->pred[k] = &c->step[from->pred[k]];
}

int control_init(struct control *c, const char *shape, uint64_t nr)
{
	unsigned at = 0;
	uint32_t i;

	while (at < NR_SHAPES && strcmp(shapes[at].name, shape))
		at++;
	if (at == NR_SHAPES || !nr)
		return -EINVAL;
	memset(c, 0, sizeof(*c));
	c->row = at;
	c->shape = shapes[at].shape;
	c->nr_steps = shapes[at].nr_steps;
	c->nr = nr;
	for (i = 0; i < c->nr_steps; i++)
		init_step(c, i);
	return 0;
}

void control_serial(struct control *c)
{
	struct step *s = c->step, *last = s + c->nr_steps - 1;
	void (*body)(struct step *) = control_do;
	uint32_t i;

	/* As every contestant: the compiler does not know the body. */
	__asm__ volatile("" : "+r"(body));
	do {
		body(s);
		if (control_is_choice(c, 0))
			body(s + 1 + control_arm(s));
		for (i = 1; c->shape == CONTROL_FORK && i < 5; i++)
			body(s + i);
		body(last);
	} while (control_again(last));
}

const char *control_shape_name(const struct control *c)
{
	return shapes[c->row].name;
}

bool control_is_right(const struct control *c)
{
	struct control want;
	uint32_t i;

	if (control_init(&want, shapes[c->row].name, c->nr))
		return false;
	control_serial(&want);
	for (i = 0; i < c->nr_steps; i++)
		if (c->step[i].calls != want.step[i].calls ||
		    c->step[i].sum != want.step[i].sum)
			return false;
	return true;
}

int stream_init(struct stream *s, const char *stages, uint64_t nr,
		uint32_t units)
{
	unsigned i;

	if (strlen(stages) != STREAM_STAGES || !strchr("SC", stages[0]) ||
	    stages[STREAM_STAGES - 1] != 'S' ||
	    strspn(stages + 1, "SP") != STREAM_STAGES - 1 || !nr)
		return -EINVAL;
	memset(s, 0, sizeof(*s));
	s->nr = nr;
	s->units = units;
	s->is_fed = stages[0] == 'C';
	for (i = 0; i < STREAM_STAGES; i++)
		s->stage[i].is_serial = stages[i] != 'P';
	return 0;
}

static void serial_fed(struct stream *s)
{
	struct packet (*body)(struct stream *, unsigned, struct packet) =
		stream_pass;
	struct packet m = { 0 };
	uint64_t token;
	unsigned i;

	__asm__ volatile("" : "+r"(body));
	for (token = 0; token < s->nr; token++) {
		m.token = token;
		for (i = 0; i < STREAM_STAGES; i++)
			m = body(s, i, m);
	}
}

void stream_serial(struct stream *s)
{
	void (*body)(struct stream *, unsigned, uint64_t) = stream_do;
	uint64_t token;
	unsigned i;

	if (s->is_fed) {
		serial_fed(s);
		return;
	}
	__asm__ volatile("" : "+r"(body));
	for (token = 0; token < s->nr; token++)
		for (i = 0; i < STREAM_STAGES; i++)
			body(s, i, token);
}

bool stream_is_right(const struct stream *s)
{
	struct stream want = { .nr = s->nr, .is_fed = s->is_fed };
	unsigned i;

	for (i = 0; i < STREAM_STAGES; i++)
		want.stage[i].is_serial = s->stage[i].is_serial;
	stream_serial(&want);
	for (i = 0; i < STREAM_STAGES; i++)
		if (s->stage[i].calls != want.stage[i].calls ||
		    s->stage[i].sum != want.stage[i].sum)
			return false;
	return true;
}
