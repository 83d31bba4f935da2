/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "trace/side.h"
#include "cli/cli.h"
#include "trace/verbs.h"

#include <stdlib.h>
#include <string.h>

/* ---- reading ------------------------------------------------------------- */

/* 1 + its number; 0: there is no room. */
static unsigned find_kind(struct side_kinds *k, const char *name)
{
	unsigned i;

	for (i = 0; i < k->nr; i++)
		if (!strcmp(k->name[i], name))
			return i + 1;
	if (k->nr == SIDE_KINDS)
		return 0;
	snprintf(k->name[k->nr], sizeof(k->name[0]), "%s", name);
	return ++k->nr;
}

/* NULL: no room, or no memory. */
static struct durations *durations_of(struct side_run *r, uint32_t name)
{
	unsigned kind = r->by_name[name];

	if (!kind)
		kind = find_kind(r->kinds, trace_timed_name(&r->timed, name));
	r->by_name[name] = (uint16_t)kind;
	if (!kind)
		return NULL;
	if (!r->of[kind - 1])
		r->of[kind - 1] = calloc(1, sizeof(struct durations));
	return r->of[kind - 1];
}

static void on_slice(void *u, const struct trace_slice *x)
{
	struct side_run *r = u;
	int64_t begin = trace_clock_ns(&r->timed.clock, x->begin);
	int64_t end = trace_clock_ns(&r->timed.clock, x->end);
	struct durations *d = durations_of(r, x->name);

	if (d)
		durations_add(d, end > begin ? (uint64_t)(end - begin) : 0);
	else
		r->has_failed = true;
	if (!r->last_ns || begin < r->first_ns)
		r->first_ns = begin;
	if (end > r->last_ns)
		r->last_ns = end;
}

static int no_memory(const char *verb)
{
	struct cli_error e = { verb, CLI_ABSENT, NULL, NULL };

	return cli_fail(&e, "no memory");
}

int side_read(struct side *s, struct side_kinds *kinds, const char *verb,
	      const char *path)
{
	struct side_run *r = calloc(1, sizeof(*r));
	const struct trace_sink sink = { .slice = on_slice, .u = r };
	struct trace_fault fault;
	int code = CLI_OK, rc;
	FILE *in;

	if (!r)
		return no_memory(verb);
	s->run[s->nr++] = r;
	r->kinds = kinds;
	in = trace_input(verb, path, &code);
	if (!in)
		return code;
	rc = trace_timed_read(&r->timed, in, &sink, &fault);
	r->lost = r->timed.info.slices_lost;
	fclose(in);
	if (rc)
		code = trace_refuse(verb, path, rc, &fault);
	else if (r->has_failed)
		code = no_memory(verb);
	trace_timed_fini(&r->timed);
	return code;
}

void side_free(struct side *s)
{
	struct side_run *r;
	unsigned i;

	while (s->nr) {
		r = s->run[--s->nr];
		for (i = 0; i < SIDE_KINDS; i++)
			free(r->of[i]);
		free(r);
	}
}

/* ---- metrics ------------------------------------------------------------ */

static double length_of(const struct side_run *r)
{
	return (double)(r->last_ns - r->first_ns);
}

/* 0 where the recording has no length. */
static double per_second(const struct side_run *r, double v)
{
	return length_of(r) > 0 ? v / length_of(r) * 1e9 : 0;
}

double side_run_value(const struct side_run *r, unsigned kind, enum metric m)
{
	const struct durations none = { .nr = 0 };
	const struct durations *d = kind < SIDE_KINDS ? r->of[kind] : NULL;

	if (!d)
		d = &none;
	switch (m) {
	case COUNT:
		return (double)d->nr;
	case COUNT_S:
		return per_second(r, (double)d->nr);
	case TOTAL:
		return (double)d->total;
	case TOTAL_S:
		return per_second(r, (double)d->total);
	case MEAN:
		return d->nr ? (double)d->total / (double)d->nr : 0;
	case P50:
		return (double)durations_quantile(d, 0.5);
	case P99:
		return (double)durations_quantile(d, 0.99);
	case MAX:
		return (double)d->longest;
	case WALL:
		return length_of(r);
	case LOST_S:
		return per_second(r, (double)r->lost);
	default:
		return (double)r->lost;
	}
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

double side_value(const struct side *s, unsigned kind, enum metric m)
{
	double v[SIDE_RUNS];
	unsigned i;

	for (i = 0; i < s->nr; i++)
		v[i] = side_run_value(s->run[i], kind, m);
	qsort(v, s->nr, sizeof(*v), by_value);
	return (v[(s->nr - 1) / 2] + v[s->nr / 2]) / 2;
}
