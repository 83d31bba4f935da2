/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A long program that makes one kind after another: names are never given back,
 * so the table gets full. All bodies are recorded all the same, the first ones
 * by name, those that found no room as "(more)".
 */
#include "tests/unit/trace_file.h"

#define NR_KINDS 3000

static int nothing(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	return 0;
}

static void run_kinds(struct lkdf *rt)
{
	struct lkdf_kind *k;
	char name[32];
	int i, bad = 0;

	for (i = 0; i < NR_KINDS; i++) {
		snprintf(name, sizeof(name), "kind %d", i);
		k = NULL;
		bad += lkdf_kind_create(rt,
					ATTR(lkdf_kind_attr, .name = name,
					     .fn = nothing),
					&k) ||
		       lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k),
				   NULL) ||
		       lkdf_scope_wait(rt, NULL, -1);
		lkdf_kind_put(k);
	}
	is(bad, 0, "%d kinds run, one after another", NR_KINDS);
}

/* How many bodies have their own name; the rest has to be "(more)". */
static int count_named(const struct recorded *r)
{
	char name[32];
	int nr = 0, nr_more = 0;
	const char *is_told;
	size_t i;

	for (i = 0; i < r->nr_slices; i++) {
		snprintf(name, sizeof(name), "kind %zu", i);
		is_told = r->info.name[r->slice[i].name];
		nr += !strcmp(is_told, name);
		nr_more += !strcmp(is_told, "(more)");
	}
	is(nr + nr_more, NR_KINDS, "each has its own name or none");
	return nr;
}

int main(void)
{
	char path[] = "/tmp/lkdf-test-XXXXXX", options[64];
	struct lkdf *rt = NULL;
	struct recorded r;
	int fd, nr;

	tap_start(100);
	unsetenv("LKDF_TRACE");
	fd = mkstemp(path);
	if (fd < 0)
		return 1;
	close(fd);
	unlink(path);
	snprintf(options, sizeof(options), "workers=1,trace=%s", path);
	is(lkdf_open(options, &rt), 0, "a recording begins");
	run_kinds(rt);
	is(lkdf_close(rt), 0, "and ends");
	is(recorded_read(&r, path), 0, "the file is whole");
	is(r.info.slices, NR_KINDS, "all bodies are told");
	is(r.info.slices_lost, 0, "none is lost");
	nr = count_named(&r);
	ok(nr > 1000 && nr < 1024, "the first ones by name (%d)", nr);
	recorded_free(&r);
	unlink(path);
	return tap_end();
}
