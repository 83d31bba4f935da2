/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "report/text.h"
#include "cli/cli.h"
#include "report/writers.h"
#include "words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 78
/* A part of idle time with less of worker time has no row. */
#define LEAST_PART 0.005

const struct class_word class_words[NR_TIME_CLASSES] = {
	[TIME_BODY] = { "body", "in bodies" },
	[TIME_KERNEL] = { "kernel", "in bodies, in the kernel" },
	[TIME_CALLER] = { "caller", "in loops, by threads of the program" },
	[TIME_TAKEN] = { "taken", "with work, waiting for a CPU" },
	[TIME_ASLEEP] = { "asleep", "asleep in bodies" },
	[TIME_ENTER] = { "enter", "in io_uring_enter" },
	[TIME_LATE] = { "late", "idle, though something was ready" },
	[TIME_IO] = { "io", "idle, operations under way" },
	[TIME_STARVED] = { "starved", "idle, nothing was ready" },
	[TIME_RUNTIME] = { "runtime", "the runtime's own" },
};

const struct class_word starve_words[NR_STARVES] = {
	[STARVE_TOKENS] = { "tokens", "tasks waited for tokens of a limit" },
	[STARVE_ROOM] = { "room", "the program waited for room" },
	[STARVE_LOOP] = { "loop", "the last blocks of a loop ran" },
	[STARVE_POOL] = { "pool", "the blocking pool ran bodies" },
	[STARVE_DEVICE] = { "device", "a device was at work" },
	[STARVE_TASKS] = { "tasks", "the program waited for tasks" },
	[STARVE_PROGRAM] = { "program",
			     "the program was on its way to submit" },
	[STARVE_END] = { "end", "the program submitted no more" },
};

const char *class_lacks(const struct report *r, enum time_class c)
{
	const struct facts *has = &r->has;

	switch (c) {
	case TIME_KERNEL:
		return has->kernel ? NULL : "system time of threads";
	case TIME_TAKEN:
	case TIME_ASLEEP:
		return has->cpu ? NULL : "CPU time of threads";
	case TIME_ENTER:
	case TIME_IO:
		return has->links || has->ops || has->enter ? NULL
							    : "operations";
	case TIME_LATE:
		return has->ready || has->edges ? NULL
						: "since when tasks were ready";
	default:
		return NULL;
	}
}

/* The sentence on bytes whose node nobody knows; NULL: there are hardly any. */
static const char *lack_of_bytes(const struct report *r)
{
	bool tells = r->has.bytes || r->has.flow;

	if (r->nr_nodes < 2)
		return NULL;
	if (!tells && !r->flow_unknown)
		return "bytes by node: the tasks name no data";
	if (r->is_made_up)
		return tells ? "on which node pages lie: the topology is made "
			       "up, bytes count where their data belong"
			     : "bytes by node: the topology is made up, so "
			       "nobody knows on which of its nodes pages lie";
	if (!tells)
		return "bytes by node: on which one most of them are, nobody "
		       "knows";
	if (r->flow_unknown > r->flow_known / 9)
		return "bytes by node, of all: those of which nobody knows "
		       "count as near";
	return NULL;
}

void each_lack(const struct report *r, void (*tell)(void *u, const char *what),
	       void *u)
{
	const struct facts *has = &r->has;

	if (!has->ready && !has->edges)
		tell(u, "since when tasks were ready, and who made them ready: "
			"idle time is not split, there is no longest chain");
	if (!has->cpu)
		tell(u, "CPU time of threads: bodies include the time in which "
			"they waited for a CPU or slept");
	if (!has->links)
		tell(u, "when operations were under way, and calls of "
			"io_uring_enter");
	if (!has->probe)
		tell(u, "what the kernel's programs see: in which locks bodies "
			"slept, and who was preempted (lkdf probe start, "
			"before the program)");
	else if (r->probe_ns < worker_time(r) / 10 * 9)
		tell(u, "what the kernel's programs see, for all of the time: "
			"the probe came late, went, or missed workers");
	if (lack_of_bytes(r))
		tell(u, lack_of_bytes(r));
}

const char *futex_kind_name(const struct report *r, const struct futex *f,
			    uint32_t i)
{
	return f->kind[i].kind == NO_KIND ? "(no body)"
					  : kind_name(r, f->kind[i].kind);
}

static int by_total(const void *a, const void *b, void *u)
{
	const struct report *r = u;
	const struct kind *x = &r->kind[*(const uint32_t *)a];
	const struct kind *y = &r->kind[*(const uint32_t *)b];

	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	return strcmp(r->info.name[x->name], r->info.name[y->name]);
}

uint32_t *kinds_in_order(const struct report *r)
{
	uint32_t *order = malloc((r->nr_kinds + 1ull) * sizeof(*order)), i;

	for (i = 0; order && i < r->nr_kinds; i++)
		order[i] = i;
	if (order)
		qsort_r(order, r->nr_kinds, sizeof(*order), by_total,
			(void *)(uintptr_t)r);
	return order;
}

static void write_head(const struct report *r, FILE *out)
{
	uint64_t lost = r->info.slices_lost;

	fprintf(out, "%s, %u worker%s", words_time(r->wall).text, r->nr_workers,
		r->nr_workers == 1 ? "" : "s");
	if (r->nr_nodes)
		fprintf(out, " on %u node%s", r->nr_nodes,
			r->nr_nodes == 1 ? "" : "s");
	fprintf(out, ", %s tasks, %s lost\n", words_count(nr_tasks(r)).text,
		lost ? words_count(lost).text : "none");
}

/* Where nothing was ready, in parts; small ones are left out. */
static void write_starved(const struct report *r, FILE *out)
{
	uint64_t all = worker_time(r);
	int i;

	for (i = 0; i < NR_STARVES; i++)
		if (share_of(r->starved[i], all) >= LEAST_PART)
			fprintf(out, "  %6s  %10s    while %s\n",
				words_share(share_of(r->starved[i], all)).text,
				words_time(r->starved[i]).text,
				starve_words[i].text);
}

static void write_classes(const struct report *r, FILE *out)
{
	uint64_t all = worker_time(r);
	int c;

	fprintf(out, "\nWhere %s of worker time went\n", words_time(all).text);
	for (c = 0; c < NR_TIME_CLASSES; c++) {
		if (c == TIME_CALLER && !r->time[c])
			continue;
		if (class_lacks(r, c)) {
			fprintf(out,
				"       -           -  %s (not recorded)\n",
				class_words[c].text);
			continue;
		}
		fprintf(out, "  %6s  %10s  %s\n",
			words_share(share_of(r->time[c], all)).text,
			words_time(r->time[c]).text, class_words[c].text);
		if (c == TIME_STARVED && (r->has.ready || r->has.edges))
			write_starved(r, out);
	}
}

/* Words of a text, wrapped, each line indented. */
static void write_wrapped(FILE *out, const char *text, int indent)
{
	int at = 0, size;
	size_t len;
	char word[512];

	for (; *text; text += len + (text[len] == ' ')) {
		len = strcspn(text, " ");
		len = len < sizeof(word) ? len : sizeof(word) - 1;
		memcpy(word, text, len);
		word[len] = '\0';
		size = text_width(word);
		if (at && at + 1 + size > WIDTH - indent) {
			fputc('\n', out);
			at = 0;
		}
		at += fprintf(out, "%*s", at ? 1 : indent, "") ? (at != 0) : 0;
		fputs(word, out);
		at += size;
	}
	fputc('\n', out);
}

static void write_cost(const struct finding *f, FILE *out)
{
	static const char *const words[] = {
		[FINDING_BYTES] = "bytes",
		[FINDING_LOST] = "note",
		[FINDING_BOUND] = "bound",
	};

	if (f->sort == FINDING_COST)
		cli_paint(out, CLI_RED, 7, words_share(f->cost).text);
	else
		cli_paint(out, CLI_YELLOW, 7, words[f->sort]);
}

static void write_finding(const struct finding *f, unsigned nr, FILE *out)
{
	fprintf(out, "%3u  ", nr);
	write_cost(f, out);
	fprintf(out, " %s%s\n", f->title,
		f->is_estimate ? " (the cost is estimated)" : "");
	write_wrapped(out, f->why, 13);
	fprintf(out, "             → ");
	fprintf(out, "%s\n", f->fix);
	if (f->is_refuted)
		fprintf(out,
			"             but a replay without it takes %s less: it "
			"limits nothing\n",
			words_share(f->gain).text);
	else if (f->gain > 0)
		fprintf(out, "             a replay with that takes %s less\n",
			words_share(f->gain).text);
	if (f->at.to > f->at.from)
		fprintf(out, "             look at %s ..",
			words_time(f->at.from).text);
	if (f->at.to > f->at.from)
		fprintf(out, " %s%s", words_time(f->at.to).text,
			f->at.lane < 0 ? "\n" : "");
	if (f->at.to > f->at.from && f->at.lane >= 0)
		fprintf(out, " on worker %d\n", f->at.lane);
}

/* A cause of less than that is told, but not counted. */
static bool is_costly(const struct finding *f)
{
	return f->sort == FINDING_COST ? f->cost >= WORTH_TELLING
				       : f->sort != FINDING_BOUND;
}

static void write_findings(const struct report *r, FILE *out)
{
	unsigned i, nr_costly = 0;

	fprintf(out, "\nWhat costs most\n");
	for (i = 0; i < r->nr_findings; i++)
		nr_costly += is_costly(&r->finding[i]);
	if (!nr_costly)
		fprintf(out,
			"  nothing outside of bodies: no cause takes more than "
			"2 %% of worker time\n");
	for (i = 0; i < r->nr_findings; i++)
		write_finding(&r->finding[i], i + 1, out);
}

static void write_row(const struct report *r, FILE *out, const struct kind *k,
		      uint64_t all)
{
	uint64_t bytes = k->local + k->remote;
	bool ready = r->has.ready || r->has.edges;

	fprintf(out, "  ");
	text_name(out, r->info.name[k->name], NAME_WIDTH);
	text_cell(out, 11, words_count(k->nr).text);
	text_cell(out, 9, words_time(k->total).text);
	text_cell(out, 7, words_share(share_of(k->total, all)).text);
	text_cell(out, 9, words_time(k->p50).text);
	text_cell(out, 9, words_time(k->p99).text);
	text_cell(out, 9, k->nr_waited ? words_time(k->waited50).text : "-");
	text_cell(out, 9, k->nr_waited ? words_time(k->waited99).text : "-");
	text_cell(
		out, 9,
		ready && r->chain.body
			? words_share(share_of(k->on_chain, r->chain.body)).text
			: "-");
	text_cell(out, 9,
		  words_share(k->blame /
			      (double)(worker_time(r) ? worker_time(r) : 1))
			  .text);
	text_cell(out, 8,
		  bytes ? words_share(share_of(k->remote, bytes)).text : "-");
	fputc('\n', out);
}

static int write_kinds(const struct report *r, FILE *out, const char *kind)
{
	uint32_t *order = kinds_in_order(r), i, nr = 0;
	uint64_t all = 0;

	if (!order)
		return -ENOMEM;
	for (i = 0; i < r->nr_kinds; i++)
		all += r->kind[i].total;
	fprintf(out, "\n  %-*s%11s%9s%7s%9s%9s%9s%9s%9s%9s%8s\n", NAME_WIDTH,
		"kind", "tasks", "total", "share", "p50", "p99", "wait p50",
		"wait p99", "on chain", "idle by", "remote");
	for (i = 0; i < r->nr_kinds; i++) {
		const struct kind *k = &r->kind[order[i]];

		if (!k->nr || (kind && strcmp(kind, r->info.name[k->name])))
			continue;
		write_row(r, out, k, all);
		nr++;
	}
	free(order);
	if (!nr)
		fprintf(out, "  none\n");
	return 0;
}

static int write_chain(const struct report *r, FILE *out)
{
	uint32_t *order, i, nr = 0;
	const struct kind *k;

	if (!r->chain.body)
		return 0;
	order = kinds_in_order(r);
	if (!order)
		return -ENOMEM;
	fprintf(out, "\nLongest chain: %s step%s, %s in them, ",
		words_count(r->chain.nr_tasks).text,
		r->chain.nr_tasks == 1 ? "" : "s",
		words_time(r->chain.body).text);
	fprintf(out, "%s between them%s\n", words_time(r->chain.wait).text,
		r->chain.is_guessed ? " (in part inferred)" : "");
	for (i = 0; i < r->nr_kinds && nr < 5; i++) {
		k = &r->kind[order[i]];
		if (r->nr_worths || report_half_gain(r, k) < 0.005)
			continue;
		fprintf(out, "  if %s took half as long: at most %s less\n",
			r->info.name[k->name],
			words_share(report_half_gain(r, k)).text);
		nr++;
	}
	free(order);
	return 0;
}

static uint64_t write_flow_row(const struct report *r, FILE *out, int node)
{
	uint64_t sum = 0;
	uint32_t k;

	for (k = 0; k < MAX_NODES; k++)
		sum += r->flow[node][k];
	fprintf(out, "  node %-8d", node);
	for (k = 0; k < r->nr_nodes; k++) {
		uint64_t v = r->flow[node][r->node_of[k]];

		text_cell(out, 12, words_bytes(v).text);
		text_cell(out, 6, words_share(share_of(v, sum)).text);
	}
	fputc('\n', out);
	return sum;
}

static void write_flow(const struct report *r, FILE *out)
{
	uint32_t i;

	if (!r->has.flow || r->nr_nodes < 2)
		return;
	fprintf(out, "\n  used by      ");
	for (i = 0; i < r->nr_nodes; i++)
		fprintf(out, "  bytes of node %-2d", r->node_of[i]);
	fputc('\n', out);
	for (i = 0; i < r->nr_nodes; i++)
		write_flow_row(r, out, r->node_of[i]);
}

static void write_lack(void *u, const char *what)
{
	write_wrapped(u, what, 4);
}

static void note_lack(void *u, const char *what)
{
	(void)what;
	*(bool *)u = true;
}

static void write_lacks(const struct report *r, FILE *out)
{
	bool lacks = false;

	each_lack(r, note_lack, &lacks);
	if (!lacks)
		return;
	fprintf(out, "\nThis recording does not say\n");
	each_lack(r, write_lack, out);
}

int text_write(const struct report *r, FILE *out, const char *kind)
{
	int rc;

	write_head(r, out);
	if (!kind) {
		write_classes(r, out);
		write_findings(r, out);
	}
	rc = write_kinds(r, out, kind);
	if (!rc && !kind) {
		text_tables(r, out);
		rc = write_chain(r, out);
		text_gains(r, out);
	}
	if (!kind) {
		write_flow(r, out);
		write_lacks(r, out);
	}
	return rc;
}
