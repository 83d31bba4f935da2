/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The waiters that were seen, as text or JSON. */
#include "rt/why.h"

#include "base/err.h"
#include "base/text.h"
#include "core/runtime.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

static const char *const cause_words[] = {
	[WHY_TOKEN] = "token", [WHY_EVENT] = "event", [WHY_CHANNEL] = "channel",
	[WHY_DATA] = "data",   [WHY_IO] = "io",	      [WHY_DEVICE] = "device",
	[WHY_ROOM] = "room",   [WHY_RUN] = "run",
};

static const char *plural_of(uint64_t nr)
{
	return nr == 1 ? "" : "s";
}

static void write_bodies(const struct why *y, struct text *t)
{
	const struct why_body *b;
	unsigned i;

	for (i = 0; i < y->nr_bodies && i < WHY_BODIES; i++) {
		b = &y->body[i];
		text_put(t,
			 "a body of \"%s\" has run for %" PRIu64 " ms on %s "
			 "%d\n",
			 b->kind, b->ns / 1000000,
			 b->executor < y->rt->nr_workers
				 ? "worker"
				 : "the blocking pool's executor",
			 b->executor);
	}
	if (y->nr_bodies > i)
		text_put(t, "%u more bodies run\n", y->nr_bodies - i);
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
	if (!y->nr && !y->nr_bodies)
		text_put(t, y->nr_live ? "nothing was seen to wait: bodies "
					 "run, or tasks are queued\n"
				       : "nothing waits\n");
}

static void write_json(const struct why *y, struct text *t)
{
	const struct why_row *r;
	const struct why_body *b;
	unsigned i;

	text_put(t,
		 "{\"schema\":\"lkdf/why/1\",\"under_way\":%" PRIu64
		 ",\"workers\":%d,\"asleep\":%u,\"blocking\":%d,\"queued\":%d,"
		 "\"more\":%" PRIu64 ",\"waits\":[",
		 y->nr_live, y->rt->nr_workers, y->nr_asleep, y->nr_running,
		 y->nr_queued, y->nr_more);
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
		text_put(t, ",\"executor\":%d,\"ns\":%" PRIu64 "}", b->executor,
			 b->ns);
	}
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
