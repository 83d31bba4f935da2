/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Latencies in JSON: sums of each kind and label, and the slowest of each. */
#include "report/writers.h"

#define SLOWEST 10u
#define STEPS 32u

static void put_time(struct json *j, const char *key, uint64_t v)
{
	json_int(j, key, (int64_t)(v < INT64_MAX ? v : INT64_MAX));
}

/* For a task that goes on: how long it was away, and for what. */
static void write_away(const struct report *r, const struct away *a,
		       struct json *j)
{
	if (a)
		put_time(j, "away", a->end - a->begin);
	else
		json_null(j, "away");
	if (a && a->name)
		json_text(j, "waits_for", r->info.name[a->name]);
	else
		json_null(j, "waits_for");
}

static void write_step(const struct report *r, uint32_t slice, struct json *j)
{
	const struct slice *s = &r->slice[slice];

	json_open_flat(j, NULL, '{');
	json_text(j, "kind", kind_name(r, s->kind));
	json_int(j, "executor", s->lane);
	if (s->ready == NO_TIME)
		json_null(j, "ready");
	else
		put_time(j, "ready", s->ready);
	put_time(j, "begin", s->begin);
	put_time(j, "end", s->end);
	write_away(r, report_away(r, slice), j);
	json_close(j, '}');
}

static void write_request(const struct report *r, const struct request *q,
			  struct json *j)
{
	uint32_t step[STEPS], nr = 0, i;

	if (q->root != NO_SLICE)
		nr = report_steps(r, q->root, step, STEPS);
	json_open(j, NULL, '{');
	put_time(j, "begin", q->begin);
	put_time(j, "latency", q->latency);
	json_int(j, "tasks", q->nr_tasks);
	json_open(j, "steps", '[');
	for (i = 0; i < nr; i++)
		write_step(r, step[i], j);
	json_close(j, ']');
	json_close(j, '}');
}

static void write_sum(const struct report *r, const struct request_sum *s,
		      struct json *j)
{
	uint32_t i;

	json_open(j, NULL, '{');
	json_text(j, "name", r->info.name[s->name]);
	json_bool(j, "region", s->is_region);
	json_int(j, "requests", s->nr);
	put_time(j, "p50", s->p50);
	put_time(j, "p90", s->p90);
	put_time(j, "p99", s->p99);
	put_time(j, "p999", s->p999);
	put_time(j, "max", s->max);
	json_open(j, "slowest", '[');
	for (i = 0; i < s->nr && i < SLOWEST; i++)
		write_request(r, &r->request[s->first + s->nr - 1 - i], j);
	json_close(j, ']');
	json_close(j, '}');
}

static void write_mark(const struct report *r, const struct mark *m,
		       struct json *j)
{
	json_open_flat(j, NULL, '{');
	json_text(j, "label", r->info.name[m->name]);
	put_time(j, "at", m->at);
	json_int(j, "value", m->value);
	json_int(j, "executor", m->lane);
	json_close(j, '}');
}

void json_requests(const struct report *r, struct json *j)
{
	uint32_t i;

	json_open(j, "requests", '[');
	for (i = 0; i < r->nr_request_sums; i++)
		write_sum(r, &r->request_sum[i], j);
	json_close(j, ']');
	json_open(j, "marks", '[');
	for (i = 0; i < r->nr_marks; i++)
		write_mark(r, &r->mark[i], j);
	json_close(j, ']');
}
