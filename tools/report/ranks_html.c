/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* A page of several ranks: it loads nothing and runs no script. */
#include "report/html_text.h"
#include "report/ranks.h"
#include "words.h"

#include <stdlib.h>
#include <string.h>

#define WIDTH 1000u /* of the picture; a bin is one wide */
#define ROW 46u
#define LEFT 60u
/* The longest of a rank have a bar. */
#define MAX_BARS 2000u

static const char style[] =
	":root{color-scheme:light dark;--ink:#1d2733;--faint:#5b6876;"
	"--line:#d5dbe1;--body:#4c78a8;--wait:#e0a13a;--from:#8a63a8;"
	"--to:#4f9a6b;--back:#fff}@media(prefers-color-scheme:dark){:root{"
	"--ink:#e4e9ee;--faint:#98a4b0;--line:#39434d;--body:#7aa6d6;"
	"--wait:#d9a441;--from:#b794d6;--to:#74bd90;--back:#14191e}}"
	"body{font:15px/1.45 system-ui,sans-serif;color:var(--ink);"
	"background:var(--back);max-width:70em;margin:0 auto;padding:1em}"
	"h1{font-size:1.3em}h2{font-size:1.05em;margin-top:1.6em}"
	"svg{width:100%;height:auto}text{fill:var(--ink);font-size:13px}"
	".b{fill:var(--body)}.w{fill:var(--wait)}.f{fill:var(--from)}"
	".t{fill:var(--to)}.n{fill:var(--faint)}.l{stroke:var(--line)}"
	"li{margin:.6em 0}.k{padding:0 .4em;color:#fff;border-radius:3px}"
	"table{border-collapse:collapse}th,td{text-align:right;"
	"padding:.25em .6em;border-bottom:1px solid var(--line)}"
	"th{color:var(--faint);font-weight:500}";

static double x_of(const struct ranks *r, int64_t t)
{
	return LEFT + (double)(t - r->begin) / ranks_wall(r) * WIDTH;
}

/* Bodies from below, waits above them. */
static void put_bins(const struct ranks *r, const struct rank *x, double y,
		     FILE *out)
{
	struct rank_bins b;
	uint32_t i;

	if (!ranks_bins(r, x, WIDTH, &b)) {
		for (i = 0; i < WIDTH; i++) {
			double body = 26 * b.body[i], wait = 26 * b.wait[i];

			if (body >= 0.5)
				fprintf(out,
					"<rect class=\"b\" x=\"%u\" y=\"%.1f\" "
					"width=\"1\" height=\"%.1f\"/>\n",
					LEFT + i, y + 26 - body, body);
			if (wait >= 0.5)
				fprintf(out,
					"<rect class=\"w\" x=\"%u\" y=\"%.1f\" "
					"width=\"1\" height=\"%.1f\"/>\n",
					LEFT + i, y + 26 - body - wait, wait);
		}
	}
	ranks_bins_fini(&b);
}

static int by_length(const void *a, const void *b)
{
	const struct rank_request *x = a, *y = b;
	int64_t p = x->end - x->begin, q = y->end - y->begin;

	return p > q ? -1 : p < q;
}

static void put_bar(const struct ranks *r, const struct rank_request *q,
		    double y, FILE *out)
{
	static const char class[] = { 'n', 'f', 't' };
	double from = x_of(r, q->begin), width = x_of(r, q->end) - from;

	fprintf(out,
		"<rect class=\"%c\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" "
		"height=\"%d\"><title>%s",
		class[q->way], from, q -> way == RANK_WAY_TO ? y + 7 : y,
		width > 0.5 ? width : 0.5, 6,
		q -> way == RANK_WAY_NONE    ? "a request"
		     : q->way == RANK_WAY_TO ? "to"
					     : "from");
	if (q->way != RANK_WAY_NONE)
		fprintf(out, " rank %d", q->peer);
	fprintf(out, ", %s</title></rect>\n",
		words_time((uint64_t)(q->end - q->begin)).text);
}

static void put_bars(const struct ranks *r, const struct rank *x, double y,
		     FILE *out)
{
	struct rank_request *v = malloc((x->nr_requests + 1) * sizeof(*v));
	size_t i;

	if (!v)
		return;
	if (x->nr_requests) {
		memcpy(v, x->request, x->nr_requests * sizeof(*v));
		qsort(v, x->nr_requests, sizeof(*v), by_length);
	}
	for (i = 0; i < x->nr_requests && i < MAX_BARS; i++)
		put_bar(r, &v[i], y, out);
	free(v);
}

static void put_picture(const struct ranks *r, FILE *out)
{
	uint32_t i;
	double y;

	fprintf(out,
		"<svg viewBox=\"0 0 %u %u\" role=\"img\" aria-label=\"bodies, "
		"waits and requests of each rank\">\n",
		LEFT + WIDTH, r->nr * ROW + 4);
	for (i = 0; i < r->nr; i++) {
		y = i * ROW + 4;
		fprintf(out,
			"<text x=\"0\" y=\"%.0f\">rank %d</text>\n<line "
			"class=\"l\" x1=\"%u\" x2=\"%u\" y1=\"%.0f\" "
			"y2=\"%.0f\"/>\n",
			y + 18, r->rank[i].number, LEFT, LEFT + WIDTH, y + 26,
			y + 26);
		put_bins(r, &r->rank[i], y, out);
		put_bars(r, &r->rank[i], y + 28, out);
	}
	fputs("</svg>\n<p><span class=\"k\" style=\"background:var(--body)\">"
	      "bodies</span> <span class=\"k\" style=\"background:var(--wait)"
	      "\">waits for another rank</span> <span class=\"k\" style=\""
	      "background:var(--from)\">messages from</span> <span class=\"k\" "
	      "style=\"background:var(--to)\">messages to other ranks</span>"
	      "</p>\n",
	      out);
}

static void put_findings(const struct ranks *r, FILE *out)
{
	uint32_t i, nr = ranks_nr_findings(r);
	struct rank_words say;

	fputs("<h2>Who waits for whom</h2>\n<ol>\n", out);
	for (i = 0; i < nr; i++) {
		ranks_say(r, &r->wait[i], &say);
		fprintf(out, "<li><b>%s</b><br>", say.title);
		html_put_text(say.why, out);
		fputs("<br>Try: ", out);
		html_put_text(say.fix, out);
		fputs("</li>\n", out);
	}
	fputs("</ol>\n", out);
	if (!nr)
		fputs("<p>No rank waits for another for 2 % of its time.</p>\n",
		      out);
}

static void put_table(const struct ranks *r, FILE *out)
{
	const struct rank *x;
	uint32_t i;

	fputs("<h2>Ranks</h2>\n<table><tr><th>rank</th><th>process</th>"
	      "<th>workers</th><th>in bodies</th><th>wait</th><th>requests"
	      "</th></tr>\n",
	      out);
	for (i = 0; i < r->nr; i++) {
		x = &r->rank[i];
		fprintf(out, "<tr><td>%d</td><td>%u</td><td>%u</td>", x->number,
			x->pid, x->nr_workers);
		fprintf(out, "<td>%s</td>",
			words_share(ranks_share(r, x, x->body_ns)).text);
		fprintf(out, "<td>%s</td><td>%s</td></tr>\n",
			words_share(ranks_share(r, x, x->wait_ns)).text,
			words_count(x->nr_requests).text);
	}
	fputs("</table>\n", out);
}

void ranks_html(const struct ranks *r, FILE *out)
{
	fputs("<!doctype html>\n<html lang=\"en\"><head><meta "
	      "charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" "
	      "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width,"
	      "initial-scale=1\">\n<title>lkdf report</title>\n<style>",
	      out);
	fputs(style, out);
	fputs("</style></head><body>\n<h1>", out);
	html_put_text(r->nr ? r->rank[0].program : "", out);
	fprintf(out, ": %u ranks, %s</h1>\n", r->nr,
		words_time((uint64_t)ranks_wall(r)).text);
	put_picture(r, out);
	put_findings(r, out);
	put_table(r, out);
	fputs("</body></html>\n", out);
}
