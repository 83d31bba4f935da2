/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Several ranks as text and as JSON. */
#include "json.h"
#include "report/ranks.h"
#include "words.h"

#include <string.h>

#define WIDTH 78
#define COLUMNS 60

/* ---- text --------------------------------------------------------------- */

static void put_wrapped(FILE *out, const char *lead, const char *text)
{
	const int indent = (int)strlen(lead);
	int at = indent, size;

	fputs(lead, out);
	while (*text) {
		size = (int)strcspn(text, " ");
		if (at > indent && at + 1 + size > WIDTH) {
			fprintf(out, "\n%*s", indent, "");
			at = indent;
		} else if (at > indent) {
			fputc(' ', out);
			at++;
		}
		fprintf(out, "%.*s", size, text);
		at += size;
		text += size + (text[size] == ' ');
	}
	fputc('\n', out);
}

static void put_finding(const struct ranks *r, uint32_t i, FILE *out)
{
	struct rank_words say;

	ranks_say(r, &r->wait[i], &say);
	fprintf(out, "\n%3u. %s\n", i + 1, say.title);
	put_wrapped(out, "     ", say.why);
	put_wrapped(out, "     try: ", say.fix);
}

static void put_findings(const struct ranks *r, FILE *out)
{
	uint32_t i, nr = ranks_nr_findings(r);

	for (i = 0; i < nr; i++)
		put_finding(r, i, out);
	if (!nr)
		fputs("\nNo rank waits for another for 2 % of its time.\n",
		      out);
}

/* Whom it waits for most; NULL: nobody. */
static const struct rank_wait *most_of(const struct ranks *r, uint32_t row)
{
	uint32_t i;

	for (i = 0; i < r->nr_waits; i++)
		if (r->wait[i].row == row)
			return &r->wait[i];
	return NULL;
}

static void put_row(const struct ranks *r, uint32_t row, FILE *out)
{
	const struct rank *x = &r->rank[row];
	const struct rank_wait *w = most_of(r, row);

	fprintf(out, "%6d %9u %8u", x->number, x->pid, x->nr_workers);
	fprintf(out, " %10s", words_share(ranks_share(r, x, x->body_ns)).text);
	fprintf(out, " %8s", words_share(ranks_share(r, x, x->wait_ns)).text);
	if (w)
		fprintf(out, " %9d", w->peer);
	else
		fprintf(out, " %9s", "-");
	fprintf(out, " %9s", words_count(x->nr_requests).text);
	fprintf(out, " %10s\n",
		x->nr_requests ? words_time(x->request_ns / x->nr_requests).text
			       : "-");
}

static char sign_of(const struct rank_bins *b, uint32_t i)
{
	if (b->body[i] >= 0.5)
		return '#';
	if (b->wait[i] >= 0.5)
		return '.';
	return b->body[i] + b->wait[i] < 0.5 ? ' ' : '+';
}

static void put_picture(const struct ranks *r, FILE *out)
{
	struct rank_bins b;
	uint32_t i, k;

	fprintf(out,
		"\nA column is %s: # workers are in bodies, . wait for another "
		"rank, + both\n",
		words_time((uint64_t)(ranks_wall(r) / COLUMNS)).text);
	for (i = 0; i < r->nr; i++) {
		fprintf(out, "%6d |", r->rank[i].number);
		if (!ranks_bins(r, &r->rank[i], COLUMNS, &b))
			for (k = 0; k < COLUMNS; k++)
				fputc(sign_of(&b, k), out);
		ranks_bins_fini(&b);
		fputs("|\n", out);
	}
}

void ranks_text(const struct ranks *r, FILE *out)
{
	uint32_t i;

	fprintf(out, "%s: %u ranks, %s\n",
		r->nr && r->rank[0].program[0] ? r->rank[0].program
					       : "a program",
		r->nr, words_time((uint64_t)ranks_wall(r)).text);
	put_findings(r, out);
	fprintf(out, "\n%6s %9s %8s %10s %8s %9s %9s %10s\n", "rank", "process",
		"workers", "in bodies", "wait", "most for", "requests", "mean");
	for (i = 0; i < r->nr; i++)
		put_row(r, i, out);
	put_picture(r, out);
}

/* ---- JSON --------------------------------------------------------------- */

static void json_rank(struct json *j, const struct ranks *r,
		      const struct rank *x)
{
	json_open_flat(j, NULL, '{');
	json_int(j, "rank", x->number);
	json_text(j, "file", x->file);
	json_text(j, "program", x->program);
	json_int(j, "pid", x->pid);
	json_int(j, "workers", x->nr_workers);
	json_int(j, "bodies", (int64_t)x->nr_bodies);
	json_int(j, "body_ns", (int64_t)x->body_ns);
	json_int(j, "wait_ns", (int64_t)x->wait_ns);
	json_fixed(j, "body", ranks_share(r, x, x->body_ns), 4);
	json_fixed(j, "wait", ranks_share(r, x, x->wait_ns), 4);
	json_int(j, "requests", (int64_t)x->nr_requests);
	json_int(j, "request_ns", (int64_t)x->request_ns);
	json_close(j, '}');
}

static void json_wait(struct json *j, const struct ranks *r,
		      const struct rank_wait *w)
{
	json_open_flat(j, NULL, '{');
	json_int(j, "rank", r->rank[w->row].number);
	json_int(j, "for", w->peer);
	json_int(j, "times", (int64_t)w->nr);
	json_int(j, "ns", (int64_t)w->ns);
	json_fixed(j, "share", w->share, 4);
	json_close(j, '}');
}

static void json_finding(struct json *j, const struct ranks *r,
			 const struct rank_wait *w)
{
	struct rank_words say;

	ranks_say(r, w, &say);
	json_open(j, NULL, '{');
	json_text(j, "id", "rank");
	json_fixed(j, "cost", w->share, 4);
	json_text(j, "title", say.title);
	json_text(j, "why", say.why);
	json_text(j, "fix", say.fix);
	json_close(j, '}');
}

void ranks_json(const struct ranks *r, FILE *out)
{
	struct json j;
	uint32_t i;

	json_init(&j, out);
	json_open(&j, NULL, '{');
	json_text(&j, "schema", "lkdf/report_ranks/1");
	json_int(&j, "wall", (int64_t)ranks_wall(r));
	json_open(&j, "ranks", '[');
	for (i = 0; i < r->nr; i++)
		json_rank(&j, r, &r->rank[i]);
	json_close(&j, ']');
	json_open(&j, "waits", '[');
	for (i = 0; i < r->nr_waits; i++)
		json_wait(&j, r, &r->wait[i]);
	json_close(&j, ']');
	json_open(&j, "findings", '[');
	for (i = 0; i < ranks_nr_findings(r); i++)
		json_finding(&j, r, &r->wait[i]);
	json_close(&j, ']');
	json_close(&j, '}');
	fputc('\n', out);
}
