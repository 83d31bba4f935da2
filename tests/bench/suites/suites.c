/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf-bench: all suites of lkdf bench with all their rows. The tool that is
 * installed has the rows that a user asks first; it starts this program where
 * it finds it.
 */
#include "tests/bench/suites/suites.h"
#include "tests/bench/suites/sweeps.h"

#include "cli/verbs.h"

const bool bench_is_whole = true;

static double graph_steps(const struct bench *b)
{
	return bench_graph_steps(b) + bench_build_steps(b) +
	       bench_metg_steps(b) + bench_grain_steps(b);
}

static int run_graph(struct bench *b)
{
	int rc = bench_graph(b);

	if (!rc)
		rc = bench_build(b);
	if (!rc)
		rc = bench_metg(b);
	return rc ? rc : bench_grain(b);
}

static double submit_steps(const struct bench *b)
{
	return bench_submit_steps(b) + bench_second_steps(b);
}

static int run_submit(struct bench *b)
{
	int rc = bench_submit(b);

	return rc ? rc : bench_second(b);
}

static double idle_steps(const struct bench *b)
{
	return bench_idle_steps(b) + bench_few_steps(b);
}

static int run_idle(struct bench *b)
{
	int rc = bench_idle(b);

	return rc ? rc : bench_few(b);
}

static double wake_steps(const struct bench *b)
{
	return bench_wake_steps(b) + bench_burst_steps(b);
}

static int run_wake(struct bench *b)
{
	int rc = bench_wake(b);

	return rc ? rc : bench_burst(b);
}

static double policy_steps(const struct bench *b)
{
	return bench_convoy_steps(b) + bench_policy_steps(b);
}

static int run_policy(struct bench *b)
{
	int rc = bench_convoy(b);

	return rc ? rc : bench_policy(b);
}

const struct bench_suite bench_suites[] = {
	{ "graph", graph_steps, run_graph },
	{ "forkjoin", bench_forkjoin_steps, bench_forkjoin },
	{ "loop", bench_loop_steps, bench_loop },
	{ "flow", bench_flow_steps, bench_flow },
	{ "submit", submit_steps, run_submit },
	{ "data", bench_data_steps, bench_data },
	{ "io", bench_io_steps, bench_io },
	{ "idle", idle_steps, run_idle },
	{ "wake", wake_steps, run_wake },
	{ "channel", bench_channel_steps, bench_channel },
	{ "cpp", bench_cpp_steps, bench_cpp },
	{ "placement", bench_placement_steps, bench_placement },
	{ "policy", policy_steps, run_policy },
	{ "device", bench_device_steps, bench_device },
	{ "trace", bench_recorded_steps, bench_recorded },
	{ "scale", bench_scale_steps, bench_scale },
	{ NULL, NULL, NULL },
};

int main(int argc, char **argv)
{
	return cli_end(verb_bench(argc, argv));
}
