/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The page of lkdf try: it loads nothing and runs no script. */
#include "report/html_text.h"
#include "report/try.h"
#include "words.h"

#include <stdlib.h>
#include <string.h>

static const char style[] =
	":root{color-scheme:light dark;--ink:#1d2733;--faint:#5b6876;"
	"--line:#d5dbe1;--bar:#4c78a8;--slow:#c8442f;--back:#fff}"
	"@media(prefers-color-scheme:dark){:root{--ink:#e4e9ee;--faint:#98a4b0;"
	"--line:#39434d;--bar:#7aa6d6;--slow:#ef7d69;--back:#14191e}}"
	"body{font:15px/1.45 system-ui,sans-serif;color:var(--ink);"
	"background:var(--back);max-width:60em;margin:0 auto;padding:1em}"
	"h1{font-size:1.3em}h2{font-size:1.05em;margin-top:1.6em}"
	".scroll{overflow-x:auto}table{border-collapse:collapse;width:100%}"
	"th,td{text-align:right;padding:.25em .6em;"
	"border-bottom:1px solid var(--line);white-space:nowrap}"
	"th:first-child,td:first-child{text-align:left}"
	"th{color:var(--faint);font-weight:500}td.slow{color:var(--slow);"
	"font-weight:600}"
	"p{margin:.5em 0}";

static void put_head(const struct tried *t, FILE *out)
{
	unsigned n;

	fputs("<th>workers</th>", out);
	for (n = 0; n < t->nr; n++)
		fprintf(out, "<th>%u</th>", t->run[n].workers);
	fputs("</tr>\n", out);
}

static void put_wall(const struct tried *t, FILE *out)
{
	unsigned n;

	fputs("<p>Time of the run: ", out);
	for (n = 0; n < t->nr; n++)
		fprintf(out, "%s%s with %u", n ? ", " : "",
			words_time(t->run[n].report.wall).text,
			t->run[n].workers);
	fputs(" workers.</p>\n", out);
}

static void put_mean(const struct tried *t, const struct run *run,
		     const char *name, FILE *out)
{
	const struct kind *k = try_kind(run, name);
	double times = try_times(t, run, name);

	fprintf(out, times > 0 ? "<td class=\"slow\">" : "<td>");
	if (k)
		fputs(words_time((uint64_t)try_shown(k)).text, out);
	else
		fputs("-", out);
	if (times > 0)
		fprintf(out, " (x %.1f)", times);
	fputs("</td>", out);
}

static void put_counts(const struct tried *t, const struct run *run,
		       const char *name, FILE *out)
{
	const struct pmu_counts *c = try_counts(run, name);

	(void)t;
	if (c && c->n[PMU_CYCLES] && c->n[PMU_INSTRUCTIONS])
		fprintf(out, "<td>%.2f / %.1f</td>", try_ipc(c), try_misses(c));
	else
		fputs("<td>-</td>", out);
}

typedef void put_cell(const struct tried *t, const struct run *run,
		      const char *name, FILE *out);

static void put_table(const struct tried *t, const char *title, put_cell *cell,
		      FILE *out)
{
	const struct report *first = &try_base(t)->report;
	uint32_t i;
	unsigned n;

	fprintf(out, "<h2>%s</h2>\n<div class=\"scroll\"><table><tr>", title);
	put_head(t, out);
	for (i = 0; i < first->nr_kinds; i++) {
		fputs("<tr><td>", out);
		html_put_text(kind_name(first, i), out);
		fputs("</td>", out);
		for (n = 0; n < t->nr; n++)
			cell(t, &t->run[n], kind_name(first, i), out);
		fputs("</tr>\n", out);
	}
	fputs("</table></div>\n", out);
}

static void put_sentences(const struct tried *t, FILE *out)
{
	char *text = NULL, *line, *rest = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return;
	try_say_all(t, f);
	if (!fclose(f))
		for (line = strtok_r(text, "\n", &rest); line;
		     line = strtok_r(NULL, "\n", &rest)) {
			fputs("<p>", out);
			html_put_text(line, out);
			fputs("</p>\n", out);
		}
	free(text);
}

void try_print_html(const struct tried *t, FILE *out)
{
	fputs("<!doctype html>\n<html lang=\"en\"><head><meta "
	      "charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" "
	      "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width,"
	      "initial-scale=1\">\n<title>lkdf try</title>\n<style>",
	      out);
	fputs(style, out);
	fputs("</style></head><body>\n<h1>lkdf try ", out);
	html_put_text(t->command, out);
	fputs("</h1>\n", out);
	put_wall(t, out);
	put_sentences(t, out);
	put_table(t, "The mean body of each kind", put_mean, out);
	if (!t->pmu_error)
		put_table(t,
			  "Instructions a cycle / misses of the last cache in "
			  "1000 instructions",
			  put_counts, out);
	fputs("</body></html>\n", out);
}
