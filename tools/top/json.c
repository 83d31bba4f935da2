/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* lkdf top --json: one look, with all that the views show. */
#include "top/top.h"

#include "json.h"
#include "top/holder.h"

#include <inttypes.h>
#include <stdio.h>

static const char *const keys[NR_TOP_COUNTERS] = {
	[TOP_TASKS] = "tasks",
	[TOP_NEAR] = "steals_near",
	[TOP_FAR] = "steals_far",
	[TOP_PARKS] = "parks",
	[TOP_WAKES] = "wakes",
	[TOP_FAILED] = "failed",
	[TOP_MIGRATED] = "moved_bytes",
	[TOP_REPLICATED] = "copied_bytes",
	[TOP_HOMED] = "homed_operations",
	[TOP_ASIDE] = "items_aside",
	[TOP_TRIALS] = "narrow_trials",
};

/* A second each. */
static void write_rates(struct json *j, const double *rate)
{
	int i;

	json_open(j, "per_second", '{');
	for (i = 0; i < NR_TOP_COUNTERS; i++)
		if (keys[i])
			json_fixed(j, keys[i], rate[i], 1);
	json_close(j, '}');
}

static void write_nodes(struct json *j, const struct top *t)
{
	const struct top_node *n;

	json_open(j, "nodes", '[');
	for (n = t->node; n < t->node + t->nr_nodes; n++) {
		json_open_flat(j, NULL, '{');
		json_int(j, "node", n->node);
		json_int(j, "workers", n->nr_workers);
		json_int(j, "asleep", n->nr_asleep);
		json_fixed(j, "busy", n->busy / n->nr_workers, 4);
		write_rates(j, n->rate);
		json_close(j, '}');
	}
	json_close(j, ']');
}

/* For the word that it sleeps in; 0 and -1: not known. */
static void write_holder(struct json *j, const struct top *t,
			 const struct top_row *row)
{
	const struct top_row *holder = top_holder(t, row);
	char word[32];

	snprintf(word, sizeof(word), "0x%" PRIx64, row->word);
	json_text(j, "word", word);
	json_int(j, "holder_tid", row->holder_tid);
	json_int(j, "holder", holder ? (int64_t)holder->executor : -1);
	json_int(j, "preempted_by_tid", row->by_tid);
	json_text(j, "preempted_by", row->by_tid ? row->by : "");
}

static void write_workers(struct json *j, const struct top *t)
{
	const struct top_row *row;

	json_open(j, "workers", '[');
	for (row = t->row; row < t->row + t->nr_rows; row++) {
		if (!row->is_started || row->kind != LKDF_EXECUTOR_WORKER)
			continue;
		json_open_flat(j, NULL, '{');
		json_int(j, "runtime", row->runtime);
		json_int(j, "worker", row->executor);
		json_int(j, "node", row->node);
		json_int(j, "cpu", row->cpu);
		json_bool(j, "asleep", row->is_asleep);
		json_text(j, "state", top_state_name(row));
		write_holder(j, t, row);
		json_fixed(j, "busy", row->busy, 4);
		write_rates(j, row->rate);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static double us_at(const struct top_kind *k, uint32_t percent)
{
	return k->nr_us ? (double)k->us[(k->nr_us - 1) * percent / 100] / 16
			: 0;
}

static void write_kinds(struct json *j, const struct top *t)
{
	const struct top_kind *k;

	json_open(j, "kinds", '[');
	for (k = t->kind; k < t->kind + t->nr_kinds; k++) {
		json_open_flat(j, NULL, '{');
		json_text(j, "name", k->name);
		json_fixed(j, "bodies_per_second", k->rate, 1);
		json_fixed(j, "share", k->share, 4);
		json_fixed(j, "mean_us", k->mean_us, 3);
		json_fixed(j, "p50_us", us_at(k, 50), 3);
		json_fixed(j, "p99_us", us_at(k, 99), 3);
		json_int(j, "local_bytes", (int64_t)k->local);
		json_int(j, "remote_bytes", (int64_t)k->remote);
		json_int(j, "seen", k->nr_seen);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void write_devices(struct json *j, const struct top *t)
{
	const struct top_device *d;

	json_open(j, "devices", '[');
	for (d = t->device; d < t->device + t->nr_devices; d++) {
		json_open_flat(j, NULL, '{');
		json_text(j, "counter", d->name);
		json_text(j, "unit", d->unit);
		json_fixed(j, "per_second", d->rate, 1);
		json_int(j, "in_all", (int64_t)d->before);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void write_units(struct json *j, const struct top *t)
{
	static const char *const words[NR_UNIT_COUNTERS] = {
		[UNIT_KERNELS] = "kernels",
		[UNIT_KERNELS_NS] = "kernels_ns",
		[UNIT_COPIES_NS] = "copies_ns",
		[UNIT_UP] = "uploaded_bytes",
		[UNIT_DOWN] = "fetched_bytes",
	};
	const struct top_unit *u;
	int i;

	json_open(j, "each_device", '[');
	for (u = t->unit; u < t->unit + t->nr_units; u++) {
		json_open_flat(j, NULL, '{');
		json_int(j, "runtime", u->runtime);
		json_int(j, "device", u->number);
		json_text(j, "sort", u->d.sort);
		json_text(j, "name", u->d.name);
		json_bool(j, "lost", u->d.is_lost);
		json_int(j, "tasks", u->d.tasks);
		json_int(j, "capacity", (int64_t)u->d.capacity);
		json_int(j, "used", (int64_t)u->d.used);
		json_int(j, "held", (int64_t)u->d.held);
		json_open(j, "per_second", '{');
		for (i = 0; i < NR_UNIT_COUNTERS; i++)
			json_fixed(j, words[i], u->rate[i], 1);
		json_close(j, '}');
		json_close(j, '}');
	}
	json_close(j, ']');
}

void top_print_json(const struct top *t)
{
	struct json j;

	json_init(&j, stdout);
	json_open(&j, NULL, '{');
	json_text(&j, "schema", "lkdf/top/1");
	json_int(&j, "pid", t->pid);
	json_text(&j, "command", t->command);
	json_text(&j, "shared_cpus", t->shared.cpus);
	json_text(&j, "shared_with", t->shared.pids);
	json_number(&j, "seconds", t->seconds);
	json_int(&j, "runtimes", t->nr_stats);
	json_fixed(&j, "busy", t->nr_workers ? t->busy / t->nr_workers : 0, 4);
	write_rates(&j, t->rate);
	write_nodes(&j, t);
	write_workers(&j, t);
	json_bool(&j, "is_recorded", t->is_recorded);
	json_bool(&j, "is_counted", t->is_counted);
	write_kinds(&j, t);
	write_devices(&j, t);
	write_units(&j, t);
	json_close(&j, '}');
	putchar('\n');
}
