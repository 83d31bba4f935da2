/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Member "replay" of schema lkdf/report/1. */
#include "report/text.h"
#include "report/writers.h"

static void write_gains(const struct report *r, struct json *j)
{
	const struct gain *g;
	char text[256];

	json_open(j, "gains", '[');
	for (g = r->gain; g < r->gain + r->nr_gains; g++) {
		gain_text(g, text, sizeof(text));
		json_open_flat(j, NULL, '{');
		json_text(j, "change", g->verb);
		json_text(j, "object", g->object);
		json_text(j, "text", text);
		json_int(j, "wall", (int64_t)g->wall);
		json_fixed(j, "gain", g->part, 6);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void write_worths(const struct report *r, struct json *j)
{
	const struct worth *w;
	uint32_t i;

	json_open(j, "kinds", '[');
	for (w = r->worth; w < r->worth + r->nr_worths; w++) {
		json_open_flat(j, NULL, '{');
		json_text(j, "name", kind_name(r, w->kind));
		json_fixed(j, "half", w->half, 6);
		json_fixed(j, "twice", w->twice, 6);
		json_fixed(j, "slack", w->slack, 2);
		json_close(j, '}');
	}
	json_close(j, ']');
	json_open(j, "workers", '[');
	for (i = 0; i < WORKERS_TRIED && !r->no_gains; i++) {
		json_open_flat(j, NULL, '{');
		json_int(j, "workers", r->with[i].workers);
		json_int(j, "wall", (int64_t)r->with[i].wall);
		json_close(j, '}');
	}
	json_close(j, ']');
}

void json_gains(const struct report *r, struct json *j)
{
	if (!r->has_replay) {
		json_null(j, "replay");
		return;
	}
	json_open(j, "replay", '{');
	json_fixed(j, "drift", r->drift, 6);
	json_text_or_null(j, "lacks", r->no_gains);
	write_gains(r, j);
	write_worths(r, j);
	json_close(j, '}');
}
