/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The simulation of ranks: programs so small that messages and times are known,
 * the minimum against formulas, and every shape against its minimum and its
 * bound.
 */
#include "tests/bench/ranks/minimum.h"
#include "tests/bench/ranks/sim.h"
#include "tests/tap.h"

static const struct sim_attr plain = {
	.nr_cores = 1,
	.latency_ns = 100,
	.bytes_per_ns = 1,
};

/* A data of 10 bytes on rank 0 that rank 0 writes and others read. */
static uint32_t owner[] = { 0, 1, 2, 3 };
static uint64_t bytes[] = { 10, 10, 10, 10 };

static void run(struct shape_task *task, uint32_t nr, const struct sim_attr *a,
		struct sim_result *r)
{
	const struct shape s = {
		.name = "own",
		.nr_ranks = 4,
		.nr_data = 4,
		.nr_tasks = nr,
		.owner = owner,
		.bytes = bytes,
		.task = task,
	};

	ok(sim_run(&s, a, r), "%u tasks run", nr);
}

#define MAKE                                       \
	{                                          \
		0, 1, { { 0, SHAPE_WRITE } }, 1000 \
	}
#define READ(rank)                                                        \
	{                                                                 \
		rank, 2, { { 0, SHAPE_READ }, { rank, SHAPE_WRITE } }, 50 \
	}

static void times_are_exact(void)
{
	struct shape_task task[] = { MAKE, READ(1), READ(2), READ(3), READ(1) };
	struct sim_attr a = plain;
	struct sim_result r;

	run(task, 1, &a, &r);
	is(r.end_ns, 1000, "one body");
	is(r.nr_messages, 0, "no message");
	run(task, 2, &a, &r);
	is(r.end_ns, 1160, "a body, 10 bytes, the latency, a body");
	is(r.bound_ns, 1050, "the two bodies are the bound");
	run(task, 4, &a, &r);
	is(r.end_ns, 1180, "three messages leave one after the other");
	is(r.nr_messages, 3, "one each");
	run(task, 5, &a, &r);
	is(r.nr_messages, 3, "a copy serves a second task");
	is(r.copy_bytes, 10, "and is one");
	a.drops_copies = true;
	run(task, 5, &a, &r);
	is(r.nr_messages, 4, "unless it is dropped");
	a = plain;
	a.forwards = true;
	run(task, 4, &a, &r);
	is(r.nr_messages, 3, "sent on by readers: as many");
	is(r.end_ns, 1280, "the second message waits for the first");
}

static void a_write_waits_for_what_leaves(void)
{
	struct shape_task task[] = { MAKE, READ(1), MAKE, READ(1) };
	struct sim_attr a = plain;
	struct sim_result r;

	run(task, 4, &a, &r);
	is(r.nr_messages, 2, "each version is sent");
	/* 1000, 10 on the link, 1000, 10 on the link, 100, 50 */
	is(r.end_ns, 2170, "the second write begins when the first has left");
	is(r.copy_bytes, 10, "the copy of the first is dropped");
}

static void the_walk_takes_its_time(void)
{
	struct shape_task task[] = { MAKE, READ(1), READ(1) };
	struct sim_attr a = plain;
	struct sim_result r;

	a.submit_ns = 5000;
	a.skip_ns = 10;
	run(task, 3, &a, &r);
	is(r.walk_ns, 10010, "two of its own, one of another rank's");
	is(r.end_ns, 10060, "a task waits until it is submitted");
}

static void counts_are_those_of_formulas(void)
{
	static const struct {
		const char *name;
		uint32_t nr_ranks;
		uint64_t nr_messages, bytes;
	} row[] = {
		/* Twenty steps, two messages for each side that two blocks
		   share. */
		{ "stencil", 4, 20 * 2 * 4, 20 * 2 * 4 * 8192ull },
		{ "stencil", 16, 20 * 2 * 24, 20 * 2 * 24 * 8192ull },
		{ "stencil", 32, 20 * 2 * 52, 20 * 2 * 52 * 8192ull },
		{ "whole", 16, 20 * 2 * 24, 20 * 2 * 24 * (8ull << 20) },
		/* Up and down. */
		{ "tree", 16, 2 * 15, 2 * 15 * 8192ull },
		{ "tree", 1024, 2 * 1023, 2 * 1023 * 8192ull },
		/* Two ranks side by side: a tile goes to the other one, but the
		   last. */
		{ "cholesky", 2, 48 * 47 / 2, 48 * 47 / 2 * (512ull << 10) },
		{ "cholesky", 1, 0, 0 },
	};
	uint64_t nr_messages = 0, nr_bytes = 0;
	struct shape s;
	size_t i;

	for (i = 0; i < sizeof(row) / sizeof(*row); i++) {
		ok(shape_make(&s, row[i].name, row[i].nr_ranks) &&
			   ranks_minimum(&s, &nr_messages, &nr_bytes),
		   "%s of %u ranks is made", row[i].name, row[i].nr_ranks);
		is(nr_messages, row[i].nr_messages, "its messages");
		is(nr_bytes, row[i].bytes, "their bytes");
		shape_fini(&s);
	}
}

static void shape_is_sound(const char *name, uint32_t nr_ranks, bool forwards)
{
	struct sim_attr a = plain;
	uint64_t least = 0, least_bytes = 0;
	struct sim_result r;
	struct shape s;

	a.nr_cores = 4;
	a.forwards = forwards;
	ok(shape_make(&s, name, nr_ranks) && sim_run(&s, &a, &r) &&
		   ranks_minimum(&s, &least, &least_bytes),
	   "%s of %u ranks runs to its end", name, nr_ranks);
	is(r.nr_messages, least, "with the fewest messages");
	is(r.bytes, least_bytes, "and bytes");
	ok(r.end_ns >= r.bound_ns * 0.999999, "%.0f ns, bound %.0f", r.end_ns,
	   r.bound_ns);
	shape_fini(&s);
}

int main(void)
{
	static const uint32_t nr_ranks[] = { 1, 2, 8, 16 };
	struct shape none;
	size_t i, k;

	tap_start(60);
	times_are_exact();
	a_write_waits_for_what_leaves();
	the_walk_takes_its_time();
	counts_are_those_of_formulas();
	for (i = 0; shape_names[i]; i++)
		for (k = 0; k < 8; k++)
			shape_is_sound(shape_names[i], nr_ranks[k / 2], k % 2);
	ok(!shape_make(&none, "circle", 4), "there is no such shape");
	shape_fini(&none);
	return tap_end();
}
