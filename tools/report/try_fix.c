/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "report/try_fix.h"

#include "json.h"
#include "words.h"

uint64_t walls_median(const struct walls *w)
{
	return w->nr ? (w->ns[(w->nr - 1) / 2] + w->ns[w->nr / 2]) / 2 : 0;
}

bool try_fix_overlaps(const struct try_fixed *t)
{
	const struct walls *a = &t->before, *b = &t->after;

	return a->ns[0] <= b->ns[b->nr - 1] && b->ns[0] <= a->ns[a->nr - 1];
}

static double measured_gain(const struct try_fixed *t)
{
	return 1 - share_of(walls_median(&t->after), walls_median(&t->before));
}

/* "48 % less". */
static void put_gain(double gain, FILE *out)
{
	fprintf(out, "%s %s", words_share(gain < 0 ? -gain : gain).text,
		gain < 0 ? "more" : "less");
}

static void put_walls(const struct walls *w, const char *before, FILE *out)
{
	if (w->nr > 1)
		fprintf(out, "%sthe median of %u runs of %s to %s", before,
			w->nr, words_time(w->ns[0]).text,
			words_time(w->ns[w->nr - 1]).text);
	fputc('\n', out);
}

static void put_prediction(const struct try_fixed *t, FILE *out)
{
	double wall = (double)walls_median(&t->before) * (1 - t->gain);

	if (t->lacks) {
		fprintf(out, "%-24s%10s  %s\n", "predicted", "-", t->lacks);
		return;
	}
	fprintf(out, "%-24s%10s  %s", "predicted",
		words_time((uint64_t)wall).text,
		t->list.is_bound ? "at most " : "");
	put_gain(t->gain, out);
	fputc('\n', out);
}

void try_fix_print(const struct try_fixed *t, FILE *out)
{
	fprintf(out, "%-24s%10s", "as it is",
		words_time(walls_median(&t->before)).text);
	put_walls(&t->before, "  ", out);
	put_prediction(t, out);
	fprintf(out, "%-24s%10s  ", t->text,
		words_time(walls_median(&t->after)).text);
	put_gain(measured_gain(t), out);
	put_walls(&t->after, ", ", out);
	if (try_fix_overlaps(t))
		fprintf(out, "some runs of both are as long: the change is not "
			     "told from chance\n");
}

static void write_walls(struct json *j, const char *key, const struct walls *w)
{
	unsigned i;

	json_open_flat(j, key, '[');
	for (i = 0; i < w->nr; i++)
		json_int(j, NULL, (int64_t)w->ns[i]);
	json_close(j, ']');
}

void try_fix_print_json(const struct try_fixed *t, FILE *out)
{
	struct json j;

	json_init(&j, out);
	json_open(&j, NULL, '{');
	json_text(&j, "schema", "lkdf/try_fix/1");
	json_text(&j, "command", t->command);
	json_text(&j, "fix", t->text);
	write_walls(&j, "before_ns", &t->before);
	write_walls(&j, "after_ns", &t->after);
	json_fixed(&j, "gain", measured_gain(t), 6);
	json_bool(&j, "overlaps", try_fix_overlaps(t));
	if (t->lacks)
		json_null(&j, "predicted");
	else
		json_fixed(&j, "predicted", t->gain, 6);
	json_bool(&j, "at_most", t->list.is_bound);
	json_text_or_null(&j, "lacks", t->lacks);
	json_close(&j, '}');
	fputc('\n', out);
}
