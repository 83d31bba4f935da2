/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* lkdf top: the views, line by line. */
#include "top/top.h"

#include "top/holder.h"
#include "top/page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct view {
	const char *word;
	char key;
	void (*fill)(struct top_page *p, const struct top *t);
} views[];

const char *top_order_word(enum top_order o)
{
	static const char *const words[NR_TOP_ORDERS] = {
		[TOP_BY_NUMBER] = "number",
		[TOP_BY_BUSY] = "busy",
		[TOP_BY_TASKS] = "tasks",
		[TOP_BY_STEALS] = "steals",
	};

	return words[o];
}

static void cells_of_rates(struct top_page *p, const double *rate)
{
	page_number(p, 9, rate[TOP_TASKS]);
	page_number(p, 8, rate[TOP_NEAR]);
	page_number(p, 8, rate[TOP_FAR]);
	page_number(p, 8, rate[TOP_WAKES]);
	page_number(p, 8, rate[TOP_PARKS]);
}

static void head_of_rates(struct top_page *p)
{
	page_cell(p, 9, "tasks/s");
	page_cell(p, 8, "near/s");
	page_cell(p, 8, "far/s");
	page_cell(p, 8, "wakes/s");
	page_cell(p, 8, "parks/s");
}

static void cell_of_busy(struct top_page *p, double share)
{
	page_bar(p, share);
	page_cell(p, 6, "%.0f %%", 100 * share);
}

static void head_of_busy(struct top_page *p)
{
	int width = page_bar_width(p);

	page_cell(p, width ? -(width + 1) : 0, width ? " busy" : "");
	page_cell(p, 6, width ? "" : "busy");
}

static void cell_of_node(struct top_page *p, int node)
{
	if (node < 0)
		page_cell(p, 5, "any");
	else
		page_cell(p, 5, "%d", node);
}

/* ---- nodes --------------------------------------------------------------- */

static void fill_nodes(struct top_page *p, const struct top *t)
{
	const struct top_node *n;

	page_head(p);
	page_cell(p, 5, "node");
	page_cell(p, 8, "workers");
	page_cell(p, 7, "asleep");
	head_of_busy(p);
	head_of_rates(p);
	for (n = t->node; n < t->node + t->nr_nodes; n++) {
		page_line(p, CLI_PLAIN);
		cell_of_node(p, n->node);
		page_cell(p, 8, "%u", n->nr_workers);
		page_cell(p, 7, "%u", n->nr_asleep);
		cell_of_busy(p, n->busy / n->nr_workers);
		cells_of_rates(p, n->rate);
	}
}

/* ---- workers ------------------------------------------------------------- */

static bool is_worker(const struct top_row *row)
{
	return row->is_started && row->kind == LKDF_EXECUTOR_WORKER;
}

struct ranked {
	const struct top_row *row;
	double key;
};

static int by_key(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? 1 : -1;
	return x->row < y->row ? -1 : x->row > y->row;
}

static double key_of(const struct top_row *row, enum top_order order)
{
	switch (order) {
	case TOP_BY_BUSY:
		return row->busy;
	case TOP_BY_TASKS:
		return row->rate[TOP_TASKS];
	case TOP_BY_STEALS:
		return row->rate[TOP_NEAR] + row->rate[TOP_FAR];
	default:
		return 0;
	}
}

static void fill_worker(struct top_page *p, const struct top *t,
			const struct top_row *row)
{
	page_line(p,
		  row->is_asleep && row->busy < 0.005 ? CLI_FAINT : CLI_PLAIN);
	if (t->nr_stats > 1)
		page_cell(p, 6, "%u:%u", row->runtime, row->executor);
	else
		page_cell(p, 6, "%u", row->executor);
	cell_of_node(p, row->node);
	if (row->cpu < 0)
		page_cell(p, 5, "any");
	else
		page_cell(p, 5, "%d", row->cpu);
	page_cell(p, -1, " ");
	page_cell(p, -6, "%s", top_state(row));
	cell_of_busy(p, row->busy);
	cells_of_rates(p, row->rate);
}

/* For all that are no workers: the blocking pools, and the outside. */
static void fill_others(struct top_page *p, const struct top *t,
			enum lkdf_executor_kind kind, const char *what)
{
	double rate[NR_TOP_COUNTERS] = { 0 };
	const struct top_row *row;
	unsigned nr = 0;
	int i;

	for (row = t->row; row < t->row + t->nr_rows; row++) {
		if (!row->is_started || row->kind != kind)
			continue;
		nr++;
		for (i = 0; i < NR_TOP_COUNTERS; i++)
			rate[i] += row->rate[i];
	}
	if (!nr)
		return;
	page_line(p, CLI_FAINT);
	page_cell(p, 6, "%u", nr);
	page_cell(p, -1, " ");
	page_cell(p,
		  -(14 + (page_bar_width(p) ? page_bar_width(p) + 1 : 0)) - 6,
		  "%s", what);
	cells_of_rates(p, rate);
}

static void fill_workers(struct top_page *p, const struct top *t)
{
	struct ranked *rank = calloc(t->nr_rows + 1, sizeof(*rank));
	uint32_t i, nr = 0;

	page_head(p);
	page_cell(p, 6, "worker");
	page_cell(p, 5, "node");
	page_cell(p, 5, "cpu");
	page_cell(p, -1, " ");
	page_cell(p, -6, "state");
	head_of_busy(p);
	head_of_rates(p);
	for (i = 0; rank && i < t->nr_rows; i++)
		if (is_worker(&t->row[i]))
			rank[nr++] =
				(struct ranked){ &t->row[i],
						 key_of(&t->row[i], p->order) };
	if (rank)
		qsort(rank, nr, sizeof(*rank), by_key);
	for (i = 0; i < nr; i++)
		fill_worker(p, t, rank[i].row);
	free(rank);
	fill_others(p, t, LKDF_EXECUTOR_BLOCKING, "blocking");
	fill_others(p, t, LKDF_EXECUTOR_OUTSIDE, "outside");
	top_fill_holders(p, t);
}

/* ---- kinds --------------------------------------------------------------- */

static double us_at(const struct top_kind *k, double share)
{
	if (!k->nr_us)
		return 0;
	return (double)k->us[(uint32_t)((k->nr_us - 1) * share)] / 16;
}

static int name_width(const struct top_page *p)
{
	return p->width < NR_TOP_VIEWS * 10 ? 14 : p->width < 100 ? 24 : 40;
}

static void fill_kind(struct top_page *p, const struct top_kind *k)
{
	page_line(p, CLI_PLAIN);
	page_name(p, -name_width(p), k->name);
	page_number(p, 9, k->rate);
	page_cell(p, 8, "%.1f %%", 100 * k->share);
	page_number(p, 8, k->mean_us);
	if (k->nr_us) {
		page_number(p, 8, us_at(k, 0.5));
		page_number(p, 8, us_at(k, 0.99));
	} else {
		page_cell(p, 8, "-");
		page_cell(p, 8, "-");
	}
	if (k->local + k->remote)
		page_cell(p, 8, "%.1f %%",
			  100.0 * (double)k->remote /
				  (double)(k->local + k->remote));
	else
		page_cell(p, 8, "-");
}

static void fill_kinds(struct top_page *p, const struct top *t)
{
	uint32_t i;

	page_head(p);
	page_cell(p, -name_width(p), "kind");
	page_cell(p, 9, "bodies/s");
	page_cell(p, 8, "share");
	page_cell(p, 8, "mean us");
	page_cell(p, 8, "p50 us");
	page_cell(p, 8, "p99 us");
	page_cell(p, 8, "remote");
	for (i = 0; i < t->nr_kinds; i++)
		fill_kind(p, &t->kind[i]);
	if (t->is_hidden)
		page_text(p, "It is recorded, in memory that others cannot "
			     "map: it had no memfd of that size.");
	else if (!t->is_recorded && !t->is_counted)
		page_text(p, "Kinds are known while the process is recorded: "
			     "lkdf trace record -p PID, lkdf run --trace FILE "
			     "or LKDF_TRACE=FILE; and where it counts them: "
			     "LKDF_KINDS=yes.");
	else if (!t->nr_kinds)
		page_text(p, "No body has ended.");
}

/* ---- futexes ------------------------------------------------------------- */

static double part(uint64_t of, uint64_t all)
{
	return all ? (double)of / (double)all : 0;
}

static void fill_word(struct top_page *p, const struct futex_report *r,
		      const struct futex_word *w)
{
	char text[512];

	page_line(p, CLI_PLAIN);
	page_cell(p, 7, "%.1f %%", 100 * part(w->samples, r->samples));
	page_number(p, 9, (double)w->blocks / r->seconds);
	page_number(p, 9,
		    w->blocks ? (double)w->block_ns * 1e-3 / (double)w->blocks
			      : 0);
	page_cell(p, 7, "%u", w->nr_asleep);
	page_cell(p, 2, " ");
	page_name(p, -name_width(p),
		  w->nr_kinds && w->kind[0].name[0] ? w->kind[0].name : "-");
	page_cell(p, 1, " ");
	where_text(&w->where, text, sizeof(text));
	page_name(p, p->width > p->column ? -(int)(p->width - p->column) : -1,
		  text);
}

static void fill_futexes(struct top_page *p, const struct top *t)
{
	const struct futex_report *r = t->words;
	uint32_t i;

	if (!t->futex || !r) {
		page_text(p, "Futex words are known to the probe, which is not "
			     "there for this process:");
		page_text(p, t->why_not.why);
		page_text(p, t->why_not.fix);
		return;
	}
	page_head(p);
	page_cell(p, 7, "CPU");
	page_cell(p, 9, "sleeps/s");
	page_cell(p, 9, "us each");
	page_cell(p, 7, "asleep");
	page_cell(p, 2, " ");
	page_cell(p, -name_width(p), "kind");
	page_cell(p, 0, " where");
	for (i = 0; i < r->nr_words; i++)
		fill_word(p, r, &r->word[i]);
	if (!r->nr_words)
		page_text(p, "No word: the workers do not meet in one. Spin "
			     "locks and locks of the kernel have none.");
}

/* ---- devices and pages --------------------------------------------------- */

static double share_of_ns(double ns_per_second)
{
	return ns_per_second < 1e9 ? 100 * ns_per_second / 1e9 : 100;
}

static void fill_unit(struct top_page *p, const struct top_unit *u)
{
	page_line(p, u->d.is_lost ? CLI_RED : CLI_PLAIN);
	page_cell(p, -5, "d%u", u->number);
	page_name(p, -10, u->d.sort);
	page_number(p, 7, u->d.tasks);
	page_number(p, 10, u->rate[UNIT_KERNELS]);
	page_cell(p, 7, "%.0f %%", share_of_ns(u->rate[UNIT_KERNELS_NS]));
	page_cell(p, 9, "%.0f %%", share_of_ns(u->rate[UNIT_COPIES_NS]));
	page_bytes(p, 8, u->rate[UNIT_UP]);
	page_bytes(p, 8, u->rate[UNIT_DOWN]);
	if (u->d.capacity)
		page_cell(p, 8, "%.0f %%",
			  100 * (double)u->d.used / (double)u->d.capacity);
	else
		page_cell(p, 8, "-");
	page_cell(p, 2, " ");
	page_name(p, 0, u->d.is_lost ? "lost" : u->d.name);
}

/* A row for each device that is known by itself. */
static void fill_units(struct top_page *p, const struct top *t)
{
	const struct top_unit *u;

	if (!t->nr_units)
		return;
	page_head(p);
	page_cell(p, -15, "device");
	page_cell(p, 7, "tasks");
	page_cell(p, 10, "kernels/s");
	page_cell(p, 7, "busy");
	page_cell(p, 9, "copying");
	page_cell(p, 8, "up B/s");
	page_cell(p, 8, "down B/s");
	page_cell(p, 8, "memory");
	for (u = t->unit; u < t->unit + t->nr_units; u++)
		fill_unit(p, u);
}

static void fill_devices(struct top_page *p, const struct top *t)
{
	const struct top_device *d;

	if (!t->nr_devices) {
		page_text(p, "This process counts nothing about devices.");
		return;
	}
	fill_units(p, t);
	page_head(p);
	page_cell(p, -32, "counter");
	page_cell(p, 9, "a second");
	page_cell(p, 12, "in all");
	page_cell(p, 0, "  unit");
	for (d = t->device; d < t->device + t->nr_devices; d++) {
		page_line(p, CLI_PLAIN);
		page_name(p, -32, d->name);
		page_number(p, 9, d->rate);
		page_number(p, 12, (double)d->before);
		page_cell(p, 2, " ");
		page_name(p, 0, d->unit);
	}
}

static void cells_of_pages(struct top_page *p, const double *rate)
{
	page_bytes(p, 11, rate[TOP_MIGRATED]);
	page_bytes(p, 11, rate[TOP_REPLICATED]);
	page_number(p, 11, rate[TOP_HOMED]);
}

static void fill_pages(struct top_page *p, const struct top *t)
{
	char text[160];
	const struct top_node *n;

	page_head(p);
	page_cell(p, 5, "node");
	page_cell(p, 11, "moved B/s");
	page_cell(p, 11, "copied B/s");
	page_cell(p, 11, "homed IO/s");
	for (n = t->node; n < t->node + t->nr_nodes; n++) {
		page_line(p, CLI_PLAIN);
		cell_of_node(p, n->node);
		cells_of_pages(p, n->rate);
	}
	page_line(p, CLI_FAINT);
	page_cell(p, 5, "all");
	cells_of_pages(p, t->rate);
	snprintf(text, sizeof(text),
		 "By the node of the worker that moved them. Where pages are: "
		 "lkdf pages -p %d",
		 t->pid);
	page_text(p, text);
}

/* ---- the page ------------------------------------------------------------ */

static const struct view views[] = {
	[TOP_NODES] = { "nodes", 'n', fill_nodes },
	[TOP_WORKERS] = { "workers", 'w', fill_workers },
	[TOP_KIND] = { "kinds", 'k', fill_kinds },
	[TOP_FUTEXES] = { "futexes", 'f', fill_futexes },
	[TOP_DEVICES] = { "devices", 'd', fill_devices },
	[TOP_PAGES] = { "pages", 'p', fill_pages },
};

const char *top_view_word(const void *u, unsigned i)
{
	(void)u;
	return i < NR_TOP_VIEWS ? views[i].word : NULL;
}

char top_view_key(enum top_view v)
{
	return views[v].key;
}

/* Fewer workers than there are run kinds that meet in a lock. */
static void fill_gates(struct top_page *p, const struct top *t)
{
	page_line(p, CLI_YELLOW);
	page_cell(p, 0, "gates:");
	page_rate(p, t->rate[TOP_ASIDE], "items put aside");
	if (t->rate[TOP_TRIALS] > 0)
		page_rate(p, t->rate[TOP_TRIALS], "trials");
	page_cell(p, 0, "; lkdf why -p %d names the kinds", t->pid);
}

static void fill_title(struct top_page *p, const struct top *t)
{
	const double steals = t->rate[TOP_NEAR] + t->rate[TOP_FAR];

	page_line(p, CLI_PLAIN);
	page_cell(p, 0, "lkdf top  %d ", t->pid);
	page_name(p, 0, t->command);
	if (t->is_first)
		page_cell(p, 0, "  since the start");
	else
		page_cell(p, 0, "  %.1f s", t->seconds);
	if (p->width < 80)
		page_line(p, CLI_PLAIN);
	page_cell(p, 0, "%s%u workers", p->width < 80 ? "" : "  ",
		  t->nr_workers);
	page_cell(p, 0, "  %.1f %% busy",
		  t->nr_workers ? 100 * t->busy / t->nr_workers : 0);
	if (t->rate[TOP_FAILED] > 0) {
		page_rate(p, t->rate[TOP_FAILED], "failed");
		p->line[p->nr - 1].paint = CLI_RED;
	}
	page_rate(p, t->rate[TOP_TASKS], "tasks");
	page_rate(p, steals, "steals");
	if (t->shared.cpus[0]) {
		page_line(p, CLI_YELLOW);
		page_cell(p, 0, "CPUs %s have workers of two runtimes: %s",
			  t->shared.cpus, t->shared.pids);
	}
	if (t->rate[TOP_ASIDE] > 0 || t->rate[TOP_TRIALS] > 0)
		fill_gates(p, t);
}

int top_page_make(struct top_page *p, const struct top *t)
{
	p->nr = 0;
	fill_title(p, t);
	if (!p->nr)
		return -ENOMEM;
	p->nr_title = p->nr;
	if (!t->nr_stats)
		page_text(p, "The process has no runtime now.");
	else
		views[p->view].fill(p, t);
	return 0;
}
