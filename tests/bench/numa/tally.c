/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "tests/bench/numa/tally.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Enough tasks between the marks to say something of them. */
#define MIN_TASKS 16

struct totals {
	double bytes, remote_bytes, near_bytes, busiest_bytes;
	double accesses, remote_accesses;
	bool has_unknown; /* node of a vCPU or page */
};

/* How far the kernel says it is. */
static int distance(const struct sections *s, int from, int to)
{
	const char *text = NULL;
	unsigned i, n;
	char *end;

	for (i = 0; i < s->nr && strcmp(s->section[i].label, "machine"); i++)
		;
	for (n = 0; i < s->nr; n++) {
		text = section_note(&s->section[i], "distance", n);
		if (!text || (int)strtol(text, &end, 10) == from)
			break;
	}
	for (; text && to > 0; to--)
		(void)strtol(end, &end, 10);
	return text ? (int)strtol(end, NULL, 10) : 0;
}

static bool is_nearest(const struct sections *s, int from, int to)
{
	int node, least = 255;

	for (node = 0; node < (int)s->nr_nodes; node++)
		if (node != from && distance(s, from, node) < least)
			least = distance(s, from, node);
	return distance(s, from, to) == least;
}

static void add_cell(struct totals *t, const struct cell *c, bool is_remote,
		     bool is_near)
{
	t->bytes += (double)c->bytes;
	t->accesses += (double)c->accesses;
	if (!is_remote)
		return;
	t->remote_bytes += (double)c->bytes;
	t->remote_accesses += (double)c->accesses;
	if (is_near)
		t->near_bytes += (double)c->bytes;
}

static struct totals totals_of(const struct sections *s,
			       const struct section_matrix *m)
{
	struct totals t = { .bytes = 0 };
	const struct cell *c;
	double before;
	int from, to;

	for (from = 0; from <= CELLS_NO_NODE; from++) {
		before = t.bytes;
		for (to = 0; to <= CELLS_NO_NODE; to++) {
			c = &m->at[from][to];
			if (!c->accesses)
				continue;
			add_cell(&t, c, from != to, is_nearest(s, from, to));
			if (from == CELLS_NO_NODE || to == CELLS_NO_NODE)
				t.has_unknown = true;
		}
		if (t.bytes - before > t.busiest_bytes)
			t.busiest_bytes = t.bytes - before;
	}
	return t;
}

/* The program ran right, and what was counted is what it touches. */
static bool is_right(const struct section *s, const struct totals *data)
{
	double bytes = section_number(s, "bytes");

	return section_number(s, "right") == 1 && s->is_verified &&
	       (double)s->nr_verified == section_number(s, "pages") &&
	       !s->nr_wrong && !data->has_unknown &&
	       (bytes < 0 || bytes == data->bytes);
}

/* How much more than their mean the busiest node has; 0: was not timed. */
static double balance_of(const struct section *s)
{
	double time, sum = 0, most = 0;
	const char *text;
	unsigned n;

	for (n = 0; (text = section_note(s, "time", n)); n++) {
		time = strtod(text, NULL);
		sum += time;
		most = time > most ? time : most;
	}
	return sum > 0 ? most * n / sum : 0;
}

static void add_round(struct tally *t, const struct sections *all,
		      const struct section *s)
{
	struct totals data = totals_of(all, &s->class[CELLS_DATA]);
	struct totals own = totals_of(all, &s->class[CELLS_RUNTIME]);
	double nr = section_number(s, "tasks"), balance = balance_of(s);

	if (!is_right(s, &data)) {
		t->nr_wrong++;
		return;
	}
	if (nr < MIN_TASKS)
		return;
	samples_add(&t->remote, data.remote_bytes / data.bytes);
	samples_add(&t->remote_per_task, data.remote_bytes / nr);
	samples_add(&t->busiest, data.busiest_bytes / data.bytes);
	if (data.remote_bytes > 0)
		samples_add(&t->near, data.near_bytes / data.remote_bytes);
	if (balance > 0)
		samples_add(&t->balance, balance);
	samples_add(&t->own_per_task, own.accesses / nr);
	samples_add(&t->own_remote, own.remote_accesses / own.accesses);
}

void tally_of(struct tally *t, const struct sections *s, const char *runtime,
	      const char *program)
{
	char label[96];
	unsigned i;

	memset(t, 0, sizeof(*t));
	t->runtime = runtime;
	t->program = program;
	snprintf(label, sizeof(label), "%s %s", runtime, program);
	for (i = 0; i < s->nr; i++)
		if (!strcmp(s->section[i].label, label))
			add_round(t, s, &s->section[i]);
}

struct line {
	const char *name;
	uint64_t accesses, remote, bytes, remote_bytes;
};

static int more_remote(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	return x->remote < y->remote ? 1 : x->remote > y->remote ? -1 : 0;
}

static void print_lines(const struct section *s)
{
	struct line *line = calloc(s->nr_buffers + 1, sizeof(*line));
	const struct section_buffer *b;
	unsigned i, n, nr = 0;

	if (!line)
		return;
	for (i = 0; i < s->nr_buffers; i++) {
		b = &s->buffer[i];
		for (n = 0; n < nr && strcmp(line[n].name, b->name); n++)
			;
		nr += n == nr;
		line[n].name = b->name;
		line[n].accesses += b->cell.accesses;
		line[n].bytes += b->cell.bytes;
		if (b->from == b->to)
			continue;
		line[n].remote += b->cell.accesses;
		line[n].remote_bytes += b->cell.bytes;
	}
	qsort(line, nr, sizeof(*line), more_remote);
	printf("%-40s %10s %10s %10s %10s\n", "mapping", "accesses", "remote",
	       "bytes", "remote");
	for (n = 0; n < nr; n++)
		printf("%-40s %10" PRIu64 " %10" PRIu64 " %10" PRIu64
		       " %10" PRIu64 "\n",
		       line[n].name, line[n].accesses, line[n].remote,
		       line[n].bytes, line[n].remote_bytes);
	free(line);
}

void tally_print_buffers(const struct sections *s, const char *runtime,
			 const char *program)
{
	char label[96];
	unsigned i;

	snprintf(label, sizeof(label), "%s %s", runtime, program);
	for (i = s->nr; i-- > 0;) {
		if (strcmp(s->section[i].label, label))
			continue;
		print_lines(&s->section[i]);
		return;
	}
	printf("%s: not in the report\n", label);
}
