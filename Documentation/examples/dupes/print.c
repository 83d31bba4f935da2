/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The result in print, see report.h.
 */
#include "report.h"
#include "text.h"
#include <inttypes.h>

static size_t shown(const struct report *r, const struct options *o)
{
	return o->top && o->top < r->nr ? o->top : r->nr;
}

static void group_text(const struct group *g, FILE *f)
{
	size_t i, j;

	fprintf(f, "%s wasted: %zu copies of %s\n", text_size(g->waste).s,
		g->nr, text_size(g->size).s);
	for (i = 0; i < g->nr; i++) {
		for (j = 0; j < g->copy[i].nr; j++) {
			fputs(j ? "\t  = " : "\t", f);
			text_name(f, g->copy[i].path[j]);
			fputs("\n", f);
		}
	}
}

/* A line only for what there is. */
static void line(FILE *f, uint64_t n, const char *what)
{
	if (n)
		fprintf(f, "%12" PRIu64 " %s\n", n, what);
}

static void totals_text(const struct report *r, FILE *f)
{
	const struct counts *n = &r->counts;

	fprintf(f, "%12" PRIu64 " files, %s, in %" PRIu64 " directories\n",
		n->files, text_size(n->bytes).s, n->dirs);
	fprintf(f, "%12zu sets of equal files, %s wasted, %s read\n", r->nr,
		text_size(r->waste).s, text_size(r->bytes_read).s);
	line(f, r->alone, "of a size of their own, never opened");
	line(f, n->empty, "empty files");
	line(f, n->small, "below the least size");
	line(f, r->links, "further hard links, no waste");
	line(f, n->symlinks, "symbolic links, not followed");
	line(f, n->special, "special files, not opened");
	line(f, n->again, "directories met again, not read again");
	line(f, n->unreadable, "files or directories that cannot be read");
	line(f, n->vanished, "vanished meanwhile");
	line(f, r->changed, "changed meanwhile, left out");
}

void report_text(const struct report *r, const struct options *o,
		 const struct summary *s, FILE *f)
{
	size_t i;

	for (i = 0; i < shown(r, o); i++)
		group_text(&r->group[i], f);
	if (i < r->nr)
		fprintf(f, "and %zu sets that waste less (--top 0 for all)\n",
			r->nr - i);
	if (r->nr)
		fputs("\n", f);
	if (r->is_partial)
		fputs("INTERRUPTED: what follows is only a part\n", f);
	totals_text(r, f);
	summary_text(s, f);
}

static void group_json(const struct group *g, FILE *f)
{
	size_t i, j;

	fprintf(f, "\n  {\"size\": %" PRIu64 ", \"waste\": %" PRIu64, g->size,
		g->waste);
	fputs(", \"files\": [", f);
	for (i = 0; i < g->nr; i++) {
		fputs(i ? ",\n    {\"path\": " : "\n    {\"path\": ", f);
		text_json(f, g->copy[i].path[0]);
		fputs(", \"links\": [", f);
		for (j = 1; j < g->copy[i].nr; j++) {
			fputs(j > 1 ? ", " : "", f);
			text_json(f, g->copy[i].path[j]);
		}
		fputs("]}", f);
	}
	fputs("]}", f);
}

static void totals_json(const struct report *r, FILE *f)
{
	const struct counts *n = &r->counts;
	const struct {
		const char *name;
		uint64_t value;
	} total[] = {
		{ "files", n->files },
		{ "directories", n->dirs },
		{ "bytes", n->bytes },
		{ "bytes_read", r->bytes_read },
		{ "sets", r->nr },
		{ "waste", r->waste },
		{ "unique_size", r->alone },
		{ "empty", n->empty },
		{ "below_min_size", n->small },
		{ "hard_links", r->links },
		{ "symlinks", n->symlinks },
		{ "special", n->special },
		{ "directories_again", n->again },
		{ "unreadable", n->unreadable },
		{ "vanished", n->vanished },
		{ "changed", r->changed },
	};
	size_t i;

	for (i = 0; i < sizeof(total) / sizeof(*total); i++)
		fprintf(f, "%s\"%s\": %" PRIu64, i ? ", " : "", total[i].name,
			total[i].value);
}

void report_json(const struct report *r, const struct options *o,
		 const struct summary *s, FILE *f)
{
	size_t i;

	fprintf(f, "{\"partial\": %s,\n \"sets\": [",
		r->is_partial ? "true" : "false");
	for (i = 0; i < shown(r, o); i++) {
		fputs(i ? "," : "", f);
		group_json(&r->group[i], f);
	}
	fputs("],\n \"totals\": {", f);
	totals_json(r, f);
	fputs("},\n \"errors\": ", f);
	troubles_json(&r->troubles, f);
	fputs(",\n \"runtime\": ", f);
	summary_json(s, f);
	fputs("}\n", f);
}
