/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Does anybody notice? Weakens the ordered accesses of a source file, and drops
 * the rows of its tables, one at a time and searches all scenarios. One line
 * each, "killed" or "survived" and the mutant's name; mutate.sh joins the lines
 * of all programs.
 */
#include "checker.h"

#include <stdio.h>
#include <string.h>

extern struct mc_site *__start_mc_sites[], *__stop_mc_sites[];

#define MAX_ROWS 16

/* Rows that scenarios asked for, and the one that is left out; -1: none. */
static struct {
	const char *file, *func, *name;
} rows[MAX_ROWS];
static int nr_rows, dropped = -1;

bool mc_row_is_dropped(const char *file, const char *func, const char *name)
{
	int i;

	for (i = 0; i < nr_rows; i++)
		if (!strcmp(rows[i].name, name) && !strcmp(rows[i].file, file))
			return i == dropped;
	if (nr_rows < MAX_ROWS) {
		rows[nr_rows].file = file;
		rows[nr_rows].func = func;
		rows[nr_rows++].name = name;
	}
	return false;
}

/* The next weaker orders, as MC_SEQ_CST ends the list. */
static int weaker(const struct mc_site *s, enum mc_order out[2])
{
	switch (s->order) {
	case MC_ACQUIRE:
	case MC_RELEASE:
		out[0] = MC_RELAXED;
		return 1;
	case MC_ACQ_REL:
		out[0] = MC_ACQUIRE;
		out[1] = MC_RELEASE;
		return 2;
	case MC_SEQ_CST:
		out[0] = s->kind == MC_LOAD    ? MC_ACQUIRE
			 : s->kind == MC_STORE ? MC_RELEASE
					       : MC_ACQ_REL;
		out[1] = MC_RELAXED;
		return 2;
	default:
		return 0;
	}
}

/* One access in the source may be in several objects. */
static bool is_same(const struct mc_site *a, const struct mc_site *b)
{
	return a->line == b->line && a->kind == b->kind &&
	       !strcmp(a->file, b->file) && !strcmp(a->text, b->text);
}

static bool is_first(struct mc_site **s)
{
	struct mc_site **i;

	for (i = __start_mc_sites; i < s; i++)
		if (is_same(*i, *s))
			return false;
	return true;
}

static void set_order(const struct mc_site *like, enum mc_order order)
{
	struct mc_site **i;

	for (i = __start_mc_sites; i < __stop_mc_sites; i++)
		if (is_same(*i, like))
			(*i)->order = order;
}

static bool is_killed(const struct options *o, const struct mc_scenario *table,
		      size_t nr)
{
	struct result r;
	size_t i;

	for (i = 0; i < nr; i++) {
		if (table[i].fails)
			continue;
		main_search(&table[i], o, &r);
		if (r.has_failed)
			return true;
	}
	return false;
}

/* Another program has killed it already. */
static bool is_known(const struct options *o, const char *name)
{
	FILE *f = o->known ? fopen(o->known, "r") : NULL;
	char line[512];
	bool known = false;

	while (f && !known && fgets(line, sizeof(line), f))
		known = !strncmp(line, "killed ", 7) && !strcmp(line + 7, name);
	if (f)
		fclose(f);
	return known;
}

/* Chosen by its name, so that all programs agree (FNV-1a). */
static bool is_ours(const struct options *o, const char *name)
{
	uint32_t hash = 2166136261u;

	if (!o->nr_shares)
		return true;
	for (; *name; name++)
		hash = (hash ^ (uint8_t)*name) * 16777619u;
	return (hash >> 8) % o->nr_shares == o->share;
}

static void mutate_site(const struct options *o, struct mc_site *s,
			const struct mc_scenario *table, size_t nr)
{
	enum mc_order was = s->order, list[2];
	int i, n = weaker(s, list);
	char name[256];

	for (i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "%s %s %s(%s) %s->%s\n", s->file,
			 s->func, report_kind(s->kind), s->text,
			 report_order(was), report_order(list[i]));
		if (!is_ours(o, name) || is_known(o, name))
			continue;
		set_order(s, list[i]);
		printf("%s %s", is_killed(o, table, nr) ? "killed" : "survived",
		       name);
	}
	set_order(s, was);
	fflush(stdout);
}

/* So many executions are enough for all rows to be asked for. */
static void find_rows(const struct options *o, const struct mc_scenario *table,
		      size_t nr)
{
	struct options brief = *o;
	struct result r;
	size_t i;

	brief.limit = 500;
	for (i = 0; i < nr; i++)
		main_search(&table[i], &brief, &r);
}

static void drop_row(const struct options *o, int row,
		     const struct mc_scenario *table, size_t nr)
{
	char name[256];

	snprintf(name, sizeof(name), "%s %s row(%s) there->dropped\n",
		 rows[row].file, rows[row].func, rows[row].name);
	if (strncmp(rows[row].file, o->mutate, strlen(o->mutate)) != 0 ||
	    !is_ours(o, name) || is_known(o, name))
		return;
	dropped = row;
	printf("%s %s", is_killed(o, table, nr) ? "killed" : "survived", name);
	dropped = -1;
	fflush(stdout);
}

int mutate_main(const struct options *o, const struct mc_scenario *table,
		size_t nr)
{
	struct mc_site **i;
	int row;

	find_rows(o, table, nr);
	for (row = 0; row < nr_rows; row++)
		drop_row(o, row, table, nr);
	for (i = __start_mc_sites; i < __stop_mc_sites; i++)
		if (!strncmp((*i)->file, o->mutate, strlen(o->mutate)) &&
		    is_first(i))
			mutate_site(o, *i, table, nr);
	return 0;
}
