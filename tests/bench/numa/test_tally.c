/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Shares from a report that is written here, and rounds that are refused. */
#include "tests/bench/numa/tally.h"
#include "tests/tap.h"

#include <math.h>

/* Two nodes near each other and a far one. */
static const char machine[] = "cpu 0 vcpu 0 node 0\n"
			      "memory 0 0 0x1000 shift 0 pages 1\n"
			      "memory 2 0x2000 0x3000 shift 0 pages 1\n"
			      "conflicts 0\n"
			      "label machine\n"
			      "note distance 0 10 16 22\n"
			      "note distance 1 16 10 22\n"
			      "note distance 2 22 22 10\n";

static const char good[] = "label tbb tree\n"
			   "cell data 0 0 600 75\n"
			   "cell data 0 1 80 10\n"
			   "cell data 1 2 120 15\n"
			   "cell runtime 0 0 90 30\n"
			   "cell runtime 0 1 10 10\n"
			   "cell body 0 1 5000 5000\n"
			   "note right 1\n"
			   "note tasks 20\n"
			   "note bytes 800\n"
			   "verified 5 wrong 0\n"
			   "note pages 5\n";

static struct sections all;

/* The round with one line of it replaced. */
static void read_with(struct tally *t, const char *line, const char *other)
{
	char path[] = "/tmp/lkdf-tally-XXXXXX";
	int fd = mkstemp(path);
	FILE *file = fdopen(fd, "w");
	const char *at = line ? strstr(good, line) : good + strlen(good);

	if (!file || !at)
		exit(1);
	fprintf(file, "%s%.*s%s%s", machine, (int)(at - good), good, other,
		line ? at + strlen(line) : "");
	fclose(file);
	sections_fini(&all);
	is(sections_read(&all, path), 0, "the report is readable");
	unlink(path);
	tally_of(t, &all, "tbb", "tree");
}

static bool near_to(double value, double want)
{
	return fabs(value - want) < 1e-9;
}

static void shares_are_of_bytes(void)
{
	struct tally t;

	read_with(&t, NULL, "");
	is(t.nr_wrong, 0, "a good round is not wrong");
	is(t.remote.nr, 1, "it is one sample");
	ok(near_to(samples_median(&t.remote), 0.25), "remote share of data");
	ok(near_to(samples_median(&t.remote_per_task), 10), "bytes per task");
	ok(near_to(samples_median(&t.busiest), 0.85), "busiest node");
	ok(near_to(samples_median(&t.near), 0.4), "part to a nearest node");
	ok(near_to(samples_median(&t.own_per_task), 2), "own accesses");
	ok(near_to(samples_median(&t.own_remote), 0.25),
	   "own remote accesses; bodies are not the runtime");
	is(all.nr_memories, 2, "nodes with memory");
	is(all.nr_nodes, 3, "nodes");
}

static void wrong_rounds_are_refused(void)
{
	static const struct {
		const char *line, *other, *what;
	} cases[] = {
		{ "note right 1", "note right 0", "order was wrong" },
		{ "note bytes 800", "note bytes 808", "a word is missing" },
		{ "verified 5 wrong 0", "verified 5 wrong 1", "a wrong page" },
		{ "verified 5 wrong 0", "verified 4 wrong 0", "a page less" },
		{ "verified 5 wrong 0\n", "", "no verification" },
		{ "data 1 2", "data 1 -1", "memory of no known node" },
		{ "data 1 2", "data -1 2", "a CPU of no known node" },
	};
	struct tally t;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		read_with(&t, cases[i].line, cases[i].other);
		ok(t.nr_wrong == 1 && !t.remote.nr, "refused: %s",
		   cases[i].what);
	}
}

static void too_few_tasks_are_no_sample(void)
{
	struct tally t;

	read_with(&t, "note tasks 20", "note tasks 3");
	ok(!t.nr_wrong && !t.remote.nr, "neither wrong nor a sample");
}

int main(void)
{
	tap_start(60);
	shares_are_of_bytes();
	wrong_rounds_are_refused();
	too_few_tasks_are_no_sample();
	sections_fini(&all);
	return tap_end();
}
