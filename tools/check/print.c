/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "check/print.h"

#include "json.h"

static const char *const none_texts[NR_NONE] = {
	[NONE_LOCK] = "their sides hold one lock",
	[NONE_OWN] = "the bytes are a thread's own",
	[NONE_STARTED] = "of a thread that a body has started; --atomics tells "
			 "of those",
	[NONE_COUNTED] = "of what a last reference frees, whose count orders "
			 "it; --atomics tells of those",
	[NONE_COPY] = "the bytes are a copy of a reduction, of which each body "
		      "has its own",
	[NONE_LIBRARY] = "of a library that is not compiled with "
			 "-fsanitize=thread, whose orders are not seen",
};

const char *report_why(enum report_none none)
{
	return none_texts[none];
}

static const char *or_null(const char *text)
{
	return text[0] ? text : NULL;
}

static void print_races(struct json *j, const struct reports *all)
{
	const struct report *r;
	unsigned i;

	json_open(j, "reports", '[');
	for (i = 0; i < all->nr_seen; i++) {
		r = &all->report[i];
		json_open(j, NULL, '{');
		json_bool(j, "race", r->is_race);
		json_text_or_null(j, "first", or_null(r->second));
		json_text_or_null(j, "second", or_null(r->first));
		json_text_or_null(j, "data", or_null(r->label));
		json_text(j, "place", r->place);
		json_text(j, "advice", r->advice);
		json_int(j, "count", all->count[i]);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void print_left_out(struct json *j, const struct reports *all)
{
	unsigned i;

	json_open(j, "left_out", '[');
	for (i = 0; i < NR_NONE; i++) {
		if (!all->nr_none[i])
			continue;
		json_open_flat(j, NULL, '{');
		json_text(j, "why", report_why((enum report_none)i));
		json_int(j, "count", all->nr_none[i]);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void print_seeds(struct json *j, const struct result *r)
{
	unsigned i;

	json_open(j, "seeds", '[');
	for (i = 0; i < r->nr_seeds && i < MAX_SEEDS; i++) {
		json_open_flat(j, NULL, '{');
		json_int(j, "seed", (int64_t)r->seed[i].seed);
		json_bool(j, "deadlock", !r->seed[i].differs);
		json_text_or_null(j, "differs", r->seed[i].differs);
		json_close(j, '}');
	}
	json_close(j, ']');
}

void print_result(const struct result *r, const struct reports *all, FILE *out)
{
	struct json j;

	json_init(&j, out);
	json_open(&j, NULL, '{');
	json_text(&j, "schema", "lkdf/check/1");
	json_text(&j, "program", r->program);
	json_int(&j, "status", r->status);
	json_int(&j, "orders", r->orders);
	json_bool(&j, "checked", r->is_checked);
	json_bool(&j, "races_checked", r->is_checked && r->has_races);
	json_bool(&j, "stands_still", r->stands_still);
	print_races(&j, all);
	print_seeds(&j, r);
	print_left_out(&j, all);
	json_close(&j, '}');
}
