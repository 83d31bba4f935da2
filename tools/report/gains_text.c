/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Changes and what they gain, in words. */
#include "report/text.h"

#include "report/writers.h"
#include "words.h"

#include <lkdf/task.h>
#include <string.h>

#define GAINS_SHOWN 6u

static const struct gain_word {
	const char *verb, *text;
} gain_words[] = {
	{ "first", "start %.64s first (.prio = LKDF_HIGH)" },
	{ "split", "split %.64s into smaller tasks" },
	{ "grain", "a smaller grain for the loop %.64s" },
	{ "tokens", "no task waits for tokens: %.64s" },
	{ "room", "the program does not wait for %.64s" },
	{ "program", "the program takes no time between its calls" },
	{ "no-sleep", "no body sleeps" },
	{ "no-lock", "no body sleeps in a lock" },
	{ "no-kernel", "no body is in the kernel" },
	{ "no-wait", "the program does not wait for %.64s" },
};

/* Data on which tasks wait, by the mode in which they use it. */
static const struct {
	uint32_t mode;
	const char *text;
} apart_words[] = {
	{ LKDF_COMMUTE, "COMMUTE on %.64s keeps no task waiting: REDUCE, or a "
			"part for each" },
	{ LKDF_REDUCE, "no task waits until %.64s is reduced" },
	{ LKDF_WRITE, "no task that writes %.64s waits for another: READ, "
		      "REDUCE, or a part for each" },
	{ LKDF_READ, "no task waits for who writes %.64s: write less of it, or "
		     "earlier" },
	{ 0, "no task waits for %.64s" },
};

static const char *apart_text(uint32_t mode)
{
	size_t i = 0;

	while (apart_words[i].mode != mode && apart_words[i].mode)
		i++;
	return apart_words[i].text;
}

void gain_text(const struct gain *g, char *to, size_t size)
{
	size_t i, nr = sizeof(gain_words) / sizeof(gain_words[0]);

	to[0] = '\0';
	if (!strcmp(g->verb, "apart"))
		snprintf(to, size, apart_text(g->mode), g->object);
	for (i = 0; i < nr; i++)
		if (!strcmp(g->verb, gain_words[i].verb))
			snprintf(to, size, gain_words[i].text, g->object);
}

static const char *signed_share(double v, char *to, size_t size)
{
	snprintf(to, size, "%s %s", words_share(v < 0 ? -v : v).text,
		 v < 0 ? "less" : "more");
	return to;
}

/* By how much longer bodies may be at no cost. */
static const char *slack_text(const struct worth *w, char *to, size_t size)
{
	snprintf(to, size, "%s%s", w->slack > 0 ? "+" : "",
		 words_share(w->slack).text);
	return to;
}

static void write_gains(const struct report *r, FILE *out)
{
	const struct gain *g = r->gain;
	char text[256];
	uint32_t nr = 0;

	for (; g < r->gain + r->nr_gains && nr < GAINS_SHOWN; g++) {
		if (g->part < WORTH_TELLING)
			break;
		gain_text(g, text, sizeof(text));
		text_cell(out, 8, words_share(g->part).text);
		text_cell(out, 12, words_time(g->wall).text);
		fprintf(out, "  %s\n", text);
		nr++;
	}
	if (!nr)
		fprintf(out, "  no change that was replayed gains 2 %%\n");
}

static void write_worths(const struct report *r, FILE *out)
{
	const struct worth *w = r->worth;
	char text[64];

	if (r->nr_worths)
		fprintf(out, "\n  %-*s%15s%15s%15s\n", NAME_WIDTH,
			"if bodies took", "half as long", "twice as long",
			"free");
	for (; w < r->worth + r->nr_worths; w++) {
		fprintf(out, "  ");
		text_name(out, kind_name(r, w->kind), NAME_WIDTH);
		text_cell(out, 15, signed_share(-w->half, text, sizeof(text)));
		text_cell(out, 15, signed_share(w->twice, text, sizeof(text)));
		text_cell(out, 15, slack_text(w, text, sizeof(text)));
		fputc('\n', out);
	}
}

static void write_workers(const struct report *r, FILE *out)
{
	uint32_t i;

	fprintf(out, "\n  workers");
	for (i = 0; i < WORKERS_TRIED; i++)
		fprintf(out, "%10u", r->with[i].workers);
	fprintf(out, "\n  wall   ");
	for (i = 0; i < WORKERS_TRIED; i++)
		text_cell(out, 10,
			  r->with[i].wall ? words_time(r->with[i].wall).text
					  : "-");
	fputc('\n', out);
}

void text_gains(const struct report *r, FILE *out)
{
	char drift[64];

	if (!r->has_replay)
		return;
	fprintf(out,
		"\nWhat is worth changing: a replay takes %s than the recording\n",
		signed_share(r->drift, drift, sizeof(drift)));
	if (r->no_gains) {
		fprintf(out, "  nothing is predicted: %s\n", r->no_gains);
		return;
	}
	write_gains(r, out);
	write_worths(r, out);
	write_workers(r, out);
}
