/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The waiters that were seen, as text or JSON. */
#include "rt/why.h"

#include "base/err.h"
#include "base/text.h"
#include "core/runtime.h"

#include <errno.h>
#include <inttypes.h>
#include <lkdf/runtime.h>
#include <stdlib.h>
#include <string.h>

static const char *const cause_words[] = {
	[WHY_TOKEN] = "token", [WHY_EVENT] = "event", [WHY_CHANNEL] = "channel",
	[WHY_DATA] = "data",   [WHY_IO] = "io",	      [WHY_DEVICE] = "device",
	[WHY_ROOM] = "room",   [WHY_RUN] = "run",
};

static const char *plural_of(uint64_t nr)
{
	return nr == 1 ? "" : "s";
}

static const char *sort_of(const struct why *y, int executor)
{
	return executor < y->rt->nr_workers ? "worker"
					    : "the blocking pool's executor";
}

static const char *rest_of(const struct why_body *b)
{
	if (b->has_lent)
		return ", and rests in a join: a substitute has its seat";
	return b->in_join ? ", and rests in a join" : "";
}

static void write_bodies(const struct why *y, struct text *t)
{
	const struct why_body *b;
	unsigned i;

	for (i = 0; i < y->nr_bodies && i < WHY_BODIES; i++) {
		b = &y->body[i];
		text_put(t,
			 "a body of \"%s\" has run for %" PRIu64 " ms on %s "
			 "%d%s\n",
			 b->kind, b->ns / 1000000, sort_of(y, b->executor),
			 b->executor, rest_of(b));
	}
	if (y->nr_bodies > i)
		text_put(t, "%u more bodies run\n", y->nr_bodies - i);
}

static void write_word(const struct why *y, const struct why_sleep *s,
		       struct text *t)
{
	text_put(t, " at futex word 0x%" PRIx64, s->word);
	if (s->holder >= 0)
		text_put(t, ", which %s %d holds", sort_of(y, s->holder),
			 s->holder);
	else if (s->holder_tid)
		text_put(t, ", which thread %" PRIu32 " holds", s->holder_tid);
	else
		text_put(t, "; who holds it is not known");
	if (s->by_tid) {
		text_put(t, ", whose CPU has thread %" PRIu32 ", ", s->by_tid);
		text_put_quoted(t, s->by);
	}
}

static void write_sleeps(const struct why *y, struct text *t)
{
	const struct why_sleep *s;
	unsigned i;

	for (i = 0; i < y->nr_sleeps && i < WHY_BODIES; i++) {
		s = &y->sleep[i];
		text_put(t,
			 "a body of \"%s\" on %s %d has %s for %" PRIu64 " us",
			 s->kind, sort_of(y, s->executor), s->executor,
			 s->state == LKDF_STATE_PREEMPTED ? "waited for a CPU"
							  : "slept",
			 s->ns / 1000);
		if (s->word)
			write_word(y, s, t);
		else if (s->state != LKDF_STATE_PREEMPTED)
			text_put(t, " in no futex of the program");
		if (s->state == LKDF_STATE_PREEMPTED && s->by_tid) {
			text_put(t, ", which thread %" PRIu32 " has, ",
				 s->by_tid);
			text_put_quoted(t, s->by);
		}
		text_put(t, "\n");
	}
	if (y->nr_sleeps > i)
		text_put(t, "%u more bodies sleep\n", y->nr_sleeps - i);
}

static void write_gates(const struct why *y, struct text *t)
{
	const struct why_gate *g;
	unsigned i;

	for (i = 0; i < y->nr_gates && i < WHY_GATES; i++) {
		g = &y->gate[i];
		text_put(t, "at most %u of %d workers run bodies of %s%s",
			 g->cap, y->rt->nr_workers,
			 g->nr_kinds ? g->kinds : "no kind any more",
			 g->nr_kinds > 4 ? " and others" : "");
		if (g->word)
			text_put(t, ", which meet at futex word 0x%" PRIx64,
				 g->word);
		text_put(t, "; %u do, %u lie behind the gate", g->running,
			 g->aside);
		if (g->nr_over)
			text_put(t,
				 "; %" PRIu64 " of %" PRIu64
				 " bodies ran without a token (%s)",
				 g->nr_over, g->nr_bodies, g->over);
		text_put(t, "\n");
	}
	if (y->nr_gates > i)
		text_put(t, "%u more gates are narrow\n", y->nr_gates - i);
}

/* Workers of a gang, and who runs other tasks meanwhile. */
static void write_seats(const struct why *y, struct text *t)
{
	const struct lkdf *rt = y->rt;
	const char *end = "";

	if (!y->nr_seats)
		return;
	if (y->nr_seats == (uint32_t)rt->nr_workers)
		end = ": other tasks wait until it runs, grows or is given "
		      "back; a runtime with more workers, or with "
		      "substitutes=1, runs them";
	text_put(t, "a gang has %u of %d workers in its seats%s\n", y->nr_seats,
		 rt->nr_workers, end);
}

static const char *nothing_text(const struct why *y)
{
	if (!y->nr_live)
		return "nothing waits\n";
	return y->has_board
		       ? "nothing was seen to wait: bodies run, or tasks are "
			 "queued\n"
		       : "nothing was seen to wait: bodies run, or sleep in a "
			 "lock, which is seen with lkdf probe, or tasks are "
			 "queued\n";
}

static void write_text(const struct why *y, struct text *t)
{
	const struct why_row *r;
	unsigned i;

	text_put(t,
		 "as seen: %" PRIu64 " submitted task%s and runs under way, "
		 "%u of %d workers asleep, %d bod%s and %d queued in the "
		 "blocking pool\n",
		 y->nr_live, plural_of(y->nr_live), y->nr_asleep,
		 y->rt->nr_workers, y->nr_running,
		 y->nr_running == 1 ? "y" : "ies", y->nr_queued);
	write_seats(y, t);
	for (i = 0; i < y->nr; i++) {
		r = &y->row[i];
		text_put(t, "%s waits %s", r->who, r->what);
		if (r->nr_behind)
			text_put(t, "; %" PRIu64 " unresolved task%s behind",
				 r->nr_behind, plural_of(r->nr_behind));
		if (r->next[0])
			text_put(t, ", as is %s", r->next);
		text_put(t, "\n");
	}
	if (y->nr_more)
		text_put(t, "%" PRIu64 " more wait in the same places\n",
			 y->nr_more);
	write_bodies(y, t);
	write_sleeps(y, t);
	write_gates(y, t);
	if (!y->nr && !y->nr_bodies && !y->nr_sleeps && !y->nr_gates)
		text_put(t, "%s", nothing_text(y));
}

static void write_json_sleeps(const struct why *y, struct text *t)
{
	static const char *const states[] = {
		[LKDF_STATE_PREEMPTED] = "preempted",
		[LKDF_STATE_BLOCKED] = "blocked",
		[LKDF_STATE_FUTEX] = "futex",
	};
	const struct why_sleep *s;
	unsigned i;

	text_put(t, "],\"sleeps\":[");
	for (i = 0; i < y->nr_sleeps && i < WHY_BODIES; i++) {
		s = &y->sleep[i];
		text_put(t, "%s{\"kind\":", i ? "," : "");
		text_put_quoted(t, s->kind);
		text_put(t,
			 ",\"executor\":%d,\"state\":\"%s\",\"ns\":%" PRIu64
			 ",\"word\":\"0x%" PRIx64 "\",\"holder_tid\":%" PRIu32
			 ",\"holder\":%d,\"preempted_by_tid\":%" PRIu32
			 ",\"preempted_by\":",
			 s->executor, states[s->state], s->ns, s->word,
			 s->holder_tid, s->holder, s->by_tid);
		text_put_quoted(t, s->by_tid ? s->by : "");
		text_put(t, "}");
	}
}

static void write_json_gates(const struct why *y, struct text *t)
{
	const struct why_gate *g;
	unsigned i;

	text_put(t, "],\"gates\":[");
	for (i = 0; i < y->nr_gates && i < WHY_GATES; i++) {
		g = &y->gate[i];
		text_put(t, "%s{\"kinds\":", i ? "," : "");
		text_put_quoted(t, g->kinds);
		text_put(t,
			 ",\"cap\":%u,\"running\":%u,\"aside\":%u,"
			 "\"bodies\":%" PRIu64 ",\"passed\":%" PRIu64
			 ",\"passed_by\":\"%s\",\"word\":\"0x%" PRIx64 "\"}",
			 g->cap, g->running, g->aside, g->nr_bodies, g->nr_over,
			 g->over, g->word);
	}
}

static void write_json(const struct why *y, struct text *t)
{
	const struct why_row *r;
	const struct why_body *b;
	unsigned i;

	text_put(t,
		 "{\"schema\":\"lkdf/why/1\",\"under_way\":%" PRIu64
		 ",\"workers\":%d,\"asleep\":%u,\"seats\":%u,\"blocking\":%d,"
		 "\"queued\":%d,"
		 "\"more\":%" PRIu64 ",\"waits\":[",
		 y->nr_live, y->rt->nr_workers, y->nr_asleep, y->nr_seats,
		 y->nr_running, y->nr_queued, y->nr_more);
	for (i = 0; i < y->nr; i++) {
		r = &y->row[i];
		text_put(t, "%s{\"cause\":\"%s\",\"who\":", i ? "," : "",
			 cause_words[r->cause]);
		text_put_quoted(t, r->who);
		text_put(t, ",\"waits\":");
		text_put_quoted(t, r->what);
		text_put(t, ",\"behind\":%" PRIu64 ",\"next\":", r->nr_behind);
		text_put_quoted(t, r->next);
		text_put(t, "}");
	}
	text_put(t, "],\"bodies\":[");
	for (i = 0; i < y->nr_bodies && i < WHY_BODIES; i++) {
		b = &y->body[i];
		text_put(t, "%s{\"kind\":", i ? "," : "");
		text_put_quoted(t, b->kind);
		text_put(t,
			 ",\"executor\":%d,\"ns\":%" PRIu64
			 ",\"in_join\":%s,\"has_lent\":%s}",
			 b->executor, b->ns, b->in_join ? "true" : "false",
			 b->has_lent ? "true" : "false");
	}
	write_json_sleeps(y, t);
	write_json_gates(y, t);
	text_put(t, "]}\n");
}

int why_tell(struct lkdf *rt, bool is_json, struct text *t)
{
	struct why *y = calloc(1, sizeof(*y));

	if (!y)
		return err(-ENOMEM, "why: no memory");
	y->rt = rt;
	why_look(y);
	if (is_json)
		write_json(y, t);
	else
		write_text(y, t);
	free(y);
	return t->has_failed ? err(-ENOMEM, "why: no memory") : 0;
}

void why_log(struct lkdf *rt, const char *what)
{
	struct text text = { 0 };
	int rc = why_tell(rt, false, &text);
	char *line = text.buf, *end;

	if (rc)
		log_text(&rt->log, LKDF_LOG_ERROR, "%s: %s", what, err_text());
	for (; !rc && (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		log_text(&rt->log, LKDF_LOG_ERROR, "%s: %s", what, line);
	}
	free(text.buf);
}
