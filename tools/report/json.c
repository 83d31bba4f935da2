/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Schema lkdf/report/1, in Documentation/report.rst. Times are ns. */
#include "report/reasons.h"
#include "report/writers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void put_size(struct json *j, const char *key, uint64_t v)
{
	json_int(j, key, (int64_t)(v < INT64_MAX ? v : INT64_MAX));
}

static void write_lack(void *u, const char *what)
{
	json_text(u, NULL, what);
}

static void write_about(const struct report *r, struct json *j)
{
	uint32_t i;

	json_text(j, "schema", "lkdf/report/1");
	json_text(j, "file", r->file);
	json_text_or_null(j, "program", r->program[0] ? r->program : NULL);
	json_int(j, "pid", r->info.header.pid);
	put_size(j, "wall", r->wall);
	json_int(j, "workers", r->nr_workers);
	json_open_flat(j, "nodes", '[');
	for (i = 0; i < r->nr_nodes; i++)
		json_int(j, NULL, r->node_of[i]);
	json_close(j, ']');
	put_size(j, "tasks", nr_tasks(r));
	put_size(j, "lost", r->info.slices_lost);
	put_size(j, "counted", r->tasks_counted);
	json_bool(j, "cut", r->is_cut);
	put_size(j, "from", r->from);
	put_size(j, "to", r->to);
	json_open(j, "lacks", '[');
	each_lack(r, write_lack, j);
	json_close(j, ']');
}

static void write_time(const struct report *r, struct json *j)
{
	int c;

	json_open_flat(j, "time", '{');
	for (c = 0; c < NR_TIME_CLASSES; c++)
		put_size(j, class_words[c].id, r->time[c]);
	put_size(j, "all", worker_time(r));
	json_close(j, '}');
	json_open(j, "classes", '[');
	for (c = 0; c < NR_TIME_CLASSES; c++) {
		json_open_flat(j, NULL, '{');
		json_text(j, "id", class_words[c].id);
		json_text(j, "text", class_words[c].text);
		json_text_or_null(j, "lacks", class_lacks(r, c));
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void write_finding(const struct finding *f, struct json *j)
{
	static const char *const sorts[] = {
		[FINDING_COST] = "cost",
		[FINDING_BYTES] = "bytes",
		[FINDING_LOST] = "note",
		[FINDING_BOUND] = "bound",
	};

	json_open(j, NULL, '{');
	json_text(j, "id", f->id);
	json_text(j, "sort", sorts[f->sort]);
	if (f->sort == FINDING_COST)
		json_fixed(j, "cost", f->cost, 6);
	else
		json_null(j, "cost");
	if (f->gain > 0)
		json_fixed(j, "gain", f->gain, 6);
	else
		json_null(j, "gain");
	json_bool(j, "refuted", f->is_refuted);
	json_bool(j, "estimated", f->is_estimate);
	json_text(j, "source", f->source);
	json_text(j, "title", f->title);
	json_text(j, "why", f->why);
	json_text(j, "fix", f->fix);
	if (f->at.to > f->at.from) {
		json_open_flat(j, "at", '[');
		put_size(j, NULL, f->at.from);
		put_size(j, NULL, f->at.to);
		json_int(j, NULL, f->at.lane);
		json_close(j, ']');
	} else {
		json_null(j, "at");
	}
	json_close(j, '}');
}

static void write_kind(const struct report *r, const struct kind *k,
		       struct json *j)
{
	uint32_t i;

	json_open_flat(j, NULL, '{');
	json_text(j, "name", r->info.name[k->name]);
	put_size(j, "tasks", k->nr);
	put_size(j, "total", k->total);
	put_size(j, "p50", k->p50);
	put_size(j, "p99", k->p99);
	put_size(j, "max", k->max);
	put_size(j, "waited", k->nr_waited);
	put_size(j, "wait50", k->waited50);
	put_size(j, "wait99", k->waited99);
	put_size(j, "chain", k->on_chain);
	put_size(j, "ops_chain", k->ops_on_chain);
	put_size(j, "asleep", k->asleep);
	put_size(j, "futex", k->futex);
	put_size(j, "kernel", k->kernel);
	json_fixed(j, "faults", k->faults, 0);
	json_fixed(j, "beside", k->blame, 0);
	put_size(j, "local", k->local);
	put_size(j, "remote", k->remote);
	put_size(j, "ops", k->nr_ops);
	put_size(j, "op50", k->op50);
	put_size(j, "op99", k->op99);
	json_open(j, "hist", '[');
	for (i = 0; i < NR_HIST; i++)
		json_int(j, NULL, k->hist[i]);
	json_close(j, ']');
	json_close(j, '}');
}

static int write_kinds(const struct report *r, struct json *j)
{
	uint32_t *order = kinds_in_order(r), i;

	if (!order)
		return -ENOMEM;
	json_open(j, "kinds", '[');
	for (i = 0; i < r->nr_kinds; i++)
		write_kind(r, &r->kind[order[i]], j);
	json_close(j, ']');
	free(order);
	return 0;
}

static void write_starved(const struct report *r, struct json *j)
{
	int i;

	json_open(j, "starved", '[');
	for (i = 0; i < NR_STARVES; i++) {
		json_open_flat(j, NULL, '{');
		json_text(j, "while", starve_words[i].id);
		json_text(j, "text", starve_words[i].text);
		put_size(j, "time", r->starved[i]);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void write_reasons(const struct report *r, struct json *j)
{
	const struct reason_sum *s;
	char text[128];

	json_open(j, "reasons", '[');
	for (s = r->reason; s < r->reason + r->nr_reasons; s++) {
		json_open_flat(j, NULL, '{');
		json_text(j, "kind", kind_name(r, s->kind));
		json_text(j, "reason", reason_id(s->reason));
		json_text(j, "for", reason_text(r, s, text));
		put_size(j, "tasks", s->nr);
		put_size(j, "total", s->total);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void write_teams(const struct report *r, struct json *j)
{
	const struct team *t;

	put_size(j, "between", r->between);
	json_open(j, "teams", '[');
	for (t = r->team; t < r->team + r->nr_teams; t++) {
		json_open_flat(j, NULL, '{');
		json_text(j, "name", kind_name(r, t->kind));
		put_size(j, "runs", t->nr);
		put_size(j, "bodies", t->nr_bodies);
		json_int(j, "threads", t->threads);
		put_size(j, "wall", t->wall);
		put_size(j, "uneven", t->uneven);
		put_size(j, "worst", t->worst);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void write_limits(const struct report *r, struct json *j)
{
	const struct limit *l;

	json_open(j, "limits", '[');
	for (l = r->limit; l < r->limit + r->nr_limits; l++) {
		json_open_flat(j, NULL, '{');
		json_text(j, "name", r->info.name[l->name]);
		json_text(j, "kind", kind_name(r, l->kind));
		put_size(j, "waits", l->nr);
		put_size(j, "total", l->total);
		put_size(j, "max", l->max);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void write_loops(const struct report *r, struct json *j)
{
	const struct loop_sum *l;

	json_open(j, "loops", '[');
	for (l = r->loop; l < r->loop + r->nr_loops; l++) {
		json_open_flat(j, NULL, '{');
		json_text(j, "name", kind_name(r, l->kind));
		put_size(j, "runs", l->nr);
		put_size(j, "bodies", l->nr_blocks);
		put_size(j, "wall", l->wall);
		put_size(j, "uneven", l->uneven);
		put_size(j, "worst", l->worst);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void write_waits(const struct report *r, struct json *j)
{
	const struct wait_sum *w;

	json_open(j, "waits", '[');
	for (w = r->wait_sum; w < r->wait_sum + r->nr_wait_sums; w++) {
		json_open_flat(j, NULL, '{');
		json_text_or_null(j, "for",
				  w->name ? r->info.name[w->name] : NULL);
		if (w->fits)
			put_size(j, "fits", w->fits);
		else
			json_null(j, "fits");
		put_size(j, "waits", w->nr);
		put_size(j, "total", w->total);
		put_size(j, "max", w->max);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void write_devices(const struct report *r, struct json *j)
{
	const struct device *d;

	json_open(j, "devices", '[');
	for (d = r->device; d < r->device + r->nr_devices; d++) {
		json_open_flat(j, NULL, '{');
		json_int(j, "device", d->number);
		json_text(j, "name", d->name);
		put_size(j, "kernels", d->nr_kernels);
		put_size(j, "busy", d->busy);
		put_size(j, "copies", d->nr_copies);
		put_size(j, "up", d->up);
		put_size(j, "down", d->down);
		put_size(j, "copying", d->copying);
		put_size(j, "both", d->both);
		put_size(j, "idle", d->idle);
		put_size(j, "waits", d->room.nr);
		put_size(j, "waited", d->room.total);
		put_size(j, "longest_wait", d->room.max);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void write_chain(const struct report *r, struct json *j)
{
	const struct chain *c = &r->chain;

	json_open_flat(j, "chain", '{');
	put_size(j, "tasks", c->nr_tasks);
	put_size(j, "body", c->body);
	put_size(j, "between", c->wait);
	put_size(j, "start", c->start);
	json_bool(j, "inferred", c->is_guessed);
	json_bool(j, "joins", c->is_joined);
	json_close(j, '}');
}

static void write_workers(const struct report *r, struct json *j)
{
	const struct lane *l;
	uint32_t i;
	int c;

	json_open(j, "worker", '[');
	for (i = 0; i < r->nr_lanes; i++) {
		l = &r->lane[i];
		if (l->kind != LKDF_EXECUTOR_WORKER || !l->has_started)
			continue;
		json_open_flat(j, NULL, '{');
		json_int(j, "worker", i);
		json_int(j, "cpu", l->cpu);
		json_int(j, "node", l->node);
		put_size(j, "tasks", l->nr_slices);
		put_size(j, "steals", l->steals);
		for (c = 0; c < NR_TIME_CLASSES; c++)
			put_size(j, class_words[c].id, l->time[c]);
		json_probed_worker(l, j);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void write_flow(const struct report *r, struct json *j)
{
	uint32_t i, k;

	if (!r->has.flow) {
		json_null(j, "flow");
		return;
	}
	json_open(j, "flow", '[');
	for (i = 0; i < r->nr_nodes; i++) {
		json_open_flat(j, NULL, '[');
		for (k = 0; k < r->nr_nodes; k++)
			put_size(j, NULL,
				 r->flow[r->node_of[i]][r->node_of[k]]);
		json_close(j, ']');
	}
	json_close(j, ']');
}

static void write_curves(const struct report *r, struct json *j)
{
	uint32_t i;

	json_open_flat(j, "busy", '[');
	for (i = 0; i < NR_BINS; i++)
		json_fixed(j, NULL, r->busy[i], 2);
	json_close(j, ']');
	json_open_flat(j, "ready", '[');
	for (i = 0; i < NR_BINS; i++)
		json_int(j, NULL, r->ready_max[i]);
	json_close(j, ']');
	json_open_flat(j, "ops", '[');
	for (i = 0; i < NR_BINS; i++)
		json_int(j, NULL, r->ops_max[i]);
	json_close(j, ']');
}

int json_write(const struct report *r, struct json *j, bool is_open)
{
	unsigned i;
	int rc;

	json_open(j, NULL, '{');
	write_about(r, j);
	write_time(r, j);
	write_starved(r, j);
	json_open(j, "findings", '[');
	for (i = 0; i < r->nr_findings; i++)
		write_finding(&r->finding[i], j);
	json_close(j, ']');
	rc = write_kinds(r, j);
	write_teams(r, j);
	write_reasons(r, j);
	write_loops(r, j);
	write_limits(r, j);
	write_waits(r, j);
	json_requests(r, j);
	json_probe(r, j);
	write_devices(r, j);
	write_chain(r, j);
	json_gains(r, j);
	write_workers(r, j);
	write_flow(r, j);
	write_curves(r, j);
	if (!is_open)
		json_close(j, '}');
	return rc;
}
