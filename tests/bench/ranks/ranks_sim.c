/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Prints the table of Documentation/mpi.rst: messages, bytes and virtual time
 * of programs in which every rank submits all tasks and runs those that write
 * its data.
 *
 *   ranks_sim            16, 256 and 1,024 ranks
 *   ranks_sim RANKS...   powers of two up to 1,024
 *   ranks_sim --json ... one object a line
 */
#include "tests/bench/ranks/minimum.h"
#include "tests/bench/ranks/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Assumed, not measured: 16 cores a rank, a link of 100 Gbit/s, 400 ns to
 * submit a task and 20 ns to see that one is another rank's.
 */
static const struct sim_attr usual = {
	.nr_cores = 16,
	.latency_ns = 1500,
	.bytes_per_ns = 12.5,
	.skip_ns = 20,
	.submit_ns = 400,
};

struct row {
	uint64_t nr_least, least_bytes, nr_uncached;
	/* All tasks walked; only one's own; and sent on by readers. */
	struct sim_result all, own, tree;
};

static bool make_row(const struct shape *s, struct row *r)
{
	struct sim_attr own = usual, drop = usual, tree = usual;
	struct sim_result dropped;
	bool ok;

	own.skip_ns = 0;
	drop.drops_copies = true;
	tree.forwards = true;
	ok = ranks_minimum(s, &r->nr_least, &r->least_bytes) &&
	     sim_run(s, &usual, &r->all) && sim_run(s, &own, &r->own) &&
	     sim_run(s, &drop, &dropped) && sim_run(s, &tree, &r->tree);
	r->nr_uncached = dropped.nr_messages;
	return ok;
}

static void print_row(const struct shape *s, const struct row *r, bool as_json)
{
	if (as_json)
		printf("{\"shape\":\"%s\",\"ranks\":%u,\"tasks\":%u,"
		       "\"messages\":%llu,\"minimum\":%llu,\"uncached\":%llu,"
		       "\"bytes\":%llu,\"minimum_bytes\":%llu,"
		       "\"copy_bytes\":%llu,\"bound_ns\":%.0f,\"own_ns\":%.0f,"
		       "\"all_ns\":%.0f,\"tree_ns\":%.0f,\"walk_ns\":%.0f}\n",
		       s->name, s->nr_ranks, s->nr_tasks,
		       (unsigned long long)r->all.nr_messages,
		       (unsigned long long)r->nr_least,
		       (unsigned long long)r->nr_uncached,
		       (unsigned long long)r->all.bytes,
		       (unsigned long long)r->least_bytes,
		       (unsigned long long)r->all.copy_bytes, r->all.bound_ns,
		       r->own.end_ns, r->all.end_ns, r->tree.end_ns,
		       r->all.walk_ns);
	else
		printf("%-9s %5u %8u %9llu %9llu %9llu %10.1f %8.1f %9.2f %9.2f "
		       "%9.2f %9.2f\n",
		       s->name, s->nr_ranks, s->nr_tasks,
		       (unsigned long long)r->all.nr_messages,
		       (unsigned long long)r->nr_least,
		       (unsigned long long)r->nr_uncached,
		       (double)r->all.bytes / 1048576,
		       (double)r->all.copy_bytes / 1048576,
		       r->all.bound_ns / 1e6, r->own.end_ns / 1e6,
		       r->all.end_ns / 1e6, r->tree.end_ns / 1e6);
	fflush(stdout);
}

static int try_ranks(uint32_t nr_ranks, bool as_json)
{
	struct shape s;
	struct row r;
	int i;

	for (i = 0; shape_names[i]; i++) {
		if (!shape_make(&s, shape_names[i], nr_ranks) ||
		    !make_row(&s, &r)) {
			fprintf(stderr,
				"ranks_sim: %s with %u ranks: no memory\n",
				shape_names[i], nr_ranks);
			return 1;
		}
		print_row(&s, &r, as_json);
		shape_fini(&s);
	}
	return 0;
}

static bool read_ranks(const char *text, uint32_t *nr)
{
	char *end;
	unsigned long v = strtoul(text, &end, 10);

	*nr = (uint32_t)v;
	return !*end && v && v <= 1024 && !(v & (v - 1));
}

int main(int argc, char **argv)
{
	static char *few[] = { "16", "256", "1024", NULL };
	bool as_json = argc > 1 && !strcmp(argv[1], "--json");
	char **at = argv + 1 + as_json;
	uint32_t nr;

	if (!as_json)
		printf("%-9s %5s %8s %9s %9s %9s %10s %8s %9s %9s %9s %9s\n",
		       "program", "ranks", "tasks", "messages", "minimum",
		       "uncached", "MiB", "copies", "bound ms", "own ms",
		       "all ms", "tree ms");
	for (at = *at ? at : few; *at; at++) {
		if (!read_ranks(*at, &nr)) {
			fprintf(stderr,
				"usage: ranks_sim [--json] [RANKS...]\n"
				"RANKS: a power of two up to 1024, not %s\n",
				*at);
			return 2;
		}
		if (try_ranks(nr, as_json))
			return 1;
	}
	return 0;
}
