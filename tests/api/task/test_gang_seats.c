/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Workers that sleep in the seats of a gang: where these are all, lkdf_why()
 * says so, and tasks wait for the end of the gang, or substitutes run them.
 */
#include "tests/api/api.h"
#include "tests/tap.h"

#include <lkdf/lkdf.h>
#include <string.h>
#include <sys/mman.h>

#define CYCLES 50

static struct lkdf_event submit(struct lkdf *rt, struct lkdf_kind *k)
{
	struct lkdf_event done;

	must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k), &done));
	return done;
}

static bool why_has(struct lkdf *rt, const char *format, const char *text)
{
	int fd = memfd_create("why", MFD_CLOEXEC);
	char buf[16384] = "";
	bool has;

	must(lkdf_why(rt, format, fd));
	must((int)pread(fd, buf, sizeof(buf) - 1, 0));
	close(fd);
	has = strstr(buf, text) != NULL;
	if (!has)
		printf("# %s\n", buf);
	return has;
}

static uint64_t stat_of(struct lkdf *rt, const char *name)
{
	uint64_t value = UINT64_MAX;

	must(lkdf_stat(rt, name, &value));
	return value;
}

static void test_none_left(void)
{
	struct lkdf *rt = api_open("workers=1");
	struct lkdf_kind *k = api_kind(rt, "nothing", api_nothing, 0, 0);
	struct lkdf_gang *g = NULL;
	struct lkdf_event done;

	is(stat_of(rt, "lkdf.workers.regular"), 1, "one worker is regular");
	ok(!why_has(rt, "json", "\"seats\":1"), "it has no seat");
	must(lkdf_gang_create(rt, &g));
	done = submit(rt, k);
	is(lkdf_event_wait(done, 20000000), 1,
	   "a gang of all workers leaves none for a task");
	ok(why_has(rt, "text",
		   "a gang has 1 of 1 workers in its seats: other tasks wait"),
	   "why says so");
	ok(why_has(rt, "json", "\"seats\":1"), "and counts the seats");
	lkdf_gang_put(g);
	is(lkdf_event_wait(done, PATIENCE_NS), 0, "after the gang it runs");
	ok(!why_has(rt, "json", "\"seats\":1"), "the seats are empty");
	lkdf_kind_put(k);
	is(lkdf_close(rt), 0, "the runtime closes");
}

static void member(struct lkdf_ctx *c, unsigned num, void *u)
{
	(void)num;
	(void)u;
	lkdf_gang_barrier(c);
}

/*
 * The one regular worker of a node has members, and no place but the node's own
 * would tell it from the substitute there.
 */
static void test_node_of_one(const char *options)
{
	struct lkdf *rt = api_open(options);
	struct lkdf_gang *g = NULL;
	unsigned i, nr_failed = 0;

	must(lkdf_gang_create(rt, &g));
	for (i = 0; i < CYCLES; i++)
		nr_failed += lkdf_gang_run(g, 2, member, NULL) != 0;
	is(nr_failed, 0, "%s: a gang of one worker of each node", options);
	lkdf_gang_put(g);
	is(lkdf_close(rt), 0, "the runtime closes");
}

/* Tasks between runs, and runs of other sizes in between. */
static void test_substitutes(const char *options)
{
	struct lkdf *rt = api_open(options);
	struct lkdf_kind *k = api_kind(rt, "nothing", api_nothing, 0, 0);
	unsigned i, nr_late = 0, nr_failed = 0;
	struct lkdf_gang *g = NULL;
	struct lkdf_event done;

	is(stat_of(rt, "lkdf.workers"), 3, "three workers");
	is(stat_of(rt, "lkdf.workers.regular"), 2, "two are regular");
	must(lkdf_gang_create(rt, &g));
	for (i = 0; i < CYCLES && !nr_late; i++) {
		must(lkdf_gang_resize(g, 1 + i % 2));
		done = submit(rt, k);
		nr_late += lkdf_event_wait(done, PATIENCE_NS) != 0;
		nr_failed += lkdf_gang_run(g, 1 + i % 2, member, NULL) != 0;
	}
	is(nr_late, 0, "a substitute runs what comes from run to run");
	is(nr_failed, 0, "and the runs end");
	must(lkdf_gang_resize(g, 1));
	ok(why_has(rt, "text", "a gang has 2 of 3 workers in its seats\n"),
	   "why tells of the seats");
	lkdf_gang_put(g);
	lkdf_kind_put(k);
	is(lkdf_close(rt), 0, "the runtime closes");
}

int main(void)
{
	tap_start(120);
	test_none_left();
	test_substitutes("workers=2,substitutes=1");
	test_node_of_one("workers=2,topology=numa:2 core:2");
	test_node_of_one("workers=2,substitutes=2,topology=numa:2 core:2");
	test_substitutes("workers=2,substitutes=1,topology=numa:2 core:2");
	return tap_end();
}
