/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Tables of the text beside that of the kinds. */
#include "report/text.h"

#include "report/reasons.h"
#include "report/writers.h"
#include "words.h"

int text_width(const char *text)
{
	int n = 0;

	for (; *text; text++)
		n += (*text & 0xc0) != 0x80;
	return n;
}

void text_name(FILE *out, const char *name, int width)
{
	int n = 0;

	for (; *name && n < width; name++) {
		fputc(*name, out);
		n += ((unsigned char)name[1] & 0xc0) != 0x80;
	}
	fprintf(out, "%*s", width - n, "");
}

void text_cell(FILE *out, int width, const char *text)
{
	int pad = width - text_width(text);

	fprintf(out, "%*s%s", pad > 0 ? pad : 0, "", text);
}

static void write_limits(const struct report *r, FILE *out)
{
	const struct limit *l;

	if (r->nr_limits)
		fprintf(out, "\n  %-*s%11s%9s%9s  %s\n", NAME_WIDTH, "kind",
			"waits", "total", "longest", "for tokens of");
	for (l = r->limit; l < r->limit + r->nr_limits; l++) {
		fprintf(out, "  ");
		text_name(out, kind_name(r, l->kind), NAME_WIDTH);
		text_cell(out, 11, words_count(l->nr).text);
		text_cell(out, 9, words_time(l->total).text);
		text_cell(out, 9, words_time(l->max).text);
		fprintf(out, "  %s\n", r->info.name[l->name]);
	}
}

static void write_loops(const struct report *r, FILE *out)
{
	const struct loop_sum *l;

	if (r->nr_loops)
		fprintf(out, "\n  %-*s%11s%9s%9s%9s\n", NAME_WIDTH, "loop",
			"runs", "bodies", "wall", "uneven");
	for (l = r->loop; l < r->loop + r->nr_loops; l++) {
		fprintf(out, "  ");
		text_name(out, kind_name(r, l->kind), NAME_WIDTH);
		text_cell(out, 11, words_count(l->nr).text);
		text_cell(out, 9, words_count(l->nr_blocks).text);
		text_cell(out, 9, words_time(l->wall).text);
		text_cell(out, 9, words_time(l->uneven).text);
		fputc('\n', out);
	}
}

static void write_teams(const struct report *r, FILE *out)
{
	const struct team *t;

	if (!r->nr_teams)
		return;
	fprintf(out, "\n  %-*s%11s%9s%9s%9s%9s\n", NAME_WIDTH, "region", "runs",
		"threads", "wall", "of run", "uneven");
	fprintf(out, "  ");
	text_name(out, "(no region)", NAME_WIDTH);
	text_cell(out, 29, words_time(r->between).text);
	text_cell(out, 9, words_share(share_of(r->between, r->wall)).text);
	fputc('\n', out);
	for (t = r->team; t < r->team + r->nr_teams; t++) {
		fprintf(out, "  ");
		text_name(out, kind_name(r, t->kind), NAME_WIDTH);
		text_cell(out, 11, words_count(t->nr).text);
		text_cell(out, 9, words_count(t->threads).text);
		text_cell(out, 9, words_time(t->wall).text);
		text_cell(out, 9, words_share(share_of(t->wall, r->wall)).text);
		text_cell(out, 9, words_time(t->uneven).text);
		fputc('\n', out);
	}
}

static void write_waits(const struct report *r, FILE *out)
{
	const struct wait_sum *w;

	if (r->nr_wait_sums)
		fprintf(out, "\n  %-*s%11s%9s%9s  %s\n", NAME_WIDTH,
			"the program", "waits", "total", "longest", "for");
	for (w = r->wait_sum; w < r->wait_sum + r->nr_wait_sums; w++) {
		fprintf(out, "  %*s", NAME_WIDTH, "");
		text_cell(out, 11, words_count(w->nr).text);
		text_cell(out, 9, words_time(w->total).text);
		text_cell(out, 9, words_time(w->max).text);
		fprintf(out, "  %s\n",
			w->name ? r->info.name[w->name] : "(not recorded)");
	}
}

#define REASONS_SHOWN 8u

/* A single reason for all says nothing. */
static void write_reasons(const struct report *r, FILE *out)
{
	const struct reason_sum *s;
	char text[128];

	if (r->nr_reasons < 2)
		return;
	fprintf(out, "\n  %-*s%11s%9s  %s\n", NAME_WIDTH, "kind", "tasks",
		"total", "waited last for");
	for (s = r->reason;
	     s < r->reason + r->nr_reasons && s < r->reason + REASONS_SHOWN;
	     s++) {
		fprintf(out, "  ");
		text_name(out, kind_name(r, s->kind), NAME_WIDTH);
		text_cell(out, 11, words_count(s->nr).text);
		text_cell(out, 9, words_time(s->total).text);
		fprintf(out, "  %s\n", reason_text(r, s, text));
	}
}

#define FUTEXES_SHOWN 8u

static void write_waker(const struct report *r, FILE *out,
			const struct futex *f)
{
	fprintf(out, "  %*s  woken last by %s", NAME_WIDTH + 29, "",
		f->waker_name ? r->info.name[f->waker_name] : "no body");
	if (f->waker >= 0)
		fprintf(out, " on executor %d\n", f->waker);
	else
		fprintf(out, " on thread %u\n", f->waker_tid);
}

static void write_futexes(const struct report *r, FILE *out)
{
	const struct futex *f;
	uint32_t i, nr;

	if (r->nr_futexes)
		fprintf(out, "\n  %-*s%11s%9s%9s  %s\n", NAME_WIDTH, "kind",
			"sleeps", "asleep", "samples", "on the futex word");
	for (i = 0; i < r->nr_futexes && i < FUTEXES_SHOWN; i++) {
		f = &r->futex[i];
		nr = f->nr_kinds;
		fprintf(out, "  ");
		text_name(out, nr > 1 ? "(several)" : futex_kind_name(r, f, 0),
			  NAME_WIDTH);
		text_cell(out, 11, words_count(f->sleeps).text);
		text_cell(out, 9, words_time(f->slept).text);
		text_cell(out, 9, words_count(f->samples).text);
		fprintf(out, "  %s\n", f->text);
		if (f->wakes)
			write_waker(r, out, f);
	}
	if (i < r->nr_futexes || r->futexes_left_out)
		fprintf(out, "  and %u more, most of them in --json\n",
			r->nr_futexes - i + r->futexes_left_out);
}

#define STACKS_SHOWN 4u

/* On one line, as far as it goes. */
static void write_callers(const struct stack *s, FILE *out)
{
	const char *at;

	for (at = s->frames; *at; at++)
		if (*at == '\n')
			fputs(", ", out);
		else
			fputc(*at, out);
}

static void write_stacks(const struct report *r, FILE *out, uint32_t sort,
			 const char *title)
{
	const struct stack *s;
	uint32_t i, nr = 0;

	for (i = 0; i < r->nr_stacks && nr < STACKS_SHOWN; i++) {
		s = &r->stack[i];
		if (s->sort != sort)
			continue;
		if (!nr++)
			fprintf(out, "\n  %-*s%11s%9s  %s\n", NAME_WIDTH, title,
				"stacks", "share", "callers");
		fprintf(out, "  ");
		text_name(out, s->kind == NO_KIND ? "-" : kind_name(r, s->kind),
			  NAME_WIDTH);
		text_cell(out, 11, words_count(s->count).text);
		text_cell(out, 9, words_share(s->share).text);
		fputs("  ", out);
		write_callers(s, out);
		fputc('\n', out);
	}
}

static void write_device(const struct report *r, FILE *out,
			 const struct device *d)
{
	fprintf(out, "  d%-3u", d->number);
	text_cell(out, 11, words_count(d->nr_kernels).text);
	text_cell(out, 9, words_share(share_of(d->busy, r->wall)).text);
	text_cell(out, 9, words_count(d->nr_copies).text);
	text_cell(out, 10, words_bytes(d->up).text);
	text_cell(out, 10, words_bytes(d->down).text);
	text_cell(out, 9, words_share(share_of(d->copying, r->wall)).text);
	text_cell(out, 9, words_share(share_of(d->both, r->wall)).text);
	text_cell(out, 9, words_share(share_of(d->idle, r->wall)).text);
	text_cell(out, 7, words_count(d->room.nr).text);
	text_cell(out, 9, d->room.nr ? words_time(d->room.total).text : "-");
	fprintf(out, "  %s\n", d->name);
}

static void write_devices(const struct report *r, FILE *out)
{
	uint32_t i;

	if (r->nr_devices)
		fprintf(out, "\n  %-4s%11s%9s%9s%10s%10s%9s%9s%9s%7s%9s  %s\n",
			"", "kernels", "busy", "copies", "up", "down",
			"copying", "both", "idle", "waits", "for room",
			"device");
	for (i = 0; i < r->nr_devices; i++)
		write_device(r, out, &r->device[i]);
}

#define REQUESTS_SHOWN 8u

static void write_requests(const struct report *r, FILE *out)
{
	const struct request_sum *s;
	uint32_t i, k;

	if (r->nr_request_sums)
		fprintf(out, "\n  %-*s%11s%9s%9s%9s%9s%9s\n", NAME_WIDTH,
			"request", "nr", "p50", "p90", "p99", "p99.9", "max");
	for (i = 0; i < r->nr_request_sums && i < REQUESTS_SHOWN; i++) {
		s = &r->request_sum[i];
		const uint64_t time[] = { s->p50, s->p90, s->p99, s->p999,
					  s->max };

		fprintf(out, "  ");
		text_name(out, r->info.name[s->name], NAME_WIDTH);
		text_cell(out, 11, words_count(s->nr).text);
		for (k = 0; k < sizeof(time) / sizeof(time[0]); k++)
			text_cell(out, 9, words_time(time[k]).text);
		fprintf(out, "%s\n", s->is_region ? "  region" : "");
	}
	if (i < r->nr_request_sums)
		fprintf(out, "  and %u more, all of them in --json\n",
			r->nr_request_sums - i);
}

void text_tables(const struct report *r, FILE *out)
{
	write_teams(r, out);
	write_reasons(r, out);
	write_requests(r, out);
	write_loops(r, out);
	write_limits(r, out);
	write_waits(r, out);
	write_futexes(r, out);
	write_stacks(r, out, LKDF_STACK_WAITS, "asleep in a word");
	write_stacks(r, out, LKDF_STACK_RUNS, "on a CPU");
	write_devices(r, out);
}
