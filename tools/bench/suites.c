/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Suites of the tool that is installed: the floor, and what a user asks first.
 */
#include "bench/bench.h"

const bool bench_is_whole = false;

const struct bench_suite bench_suites[] = {
	{ "graph", bench_graph_steps, bench_graph },
	{ "forkjoin", bench_forkjoin_steps, bench_forkjoin },
	{ "loop", bench_loop_steps, bench_loop },
	{ "flow", NULL, NULL },
	{ "submit", bench_submit_steps, bench_submit },
	{ "data", NULL, NULL },
	{ "io", NULL, NULL },
	{ "idle", bench_idle_steps, bench_idle },
	{ "wake", bench_wake_steps, bench_wake },
	{ "channel", NULL, NULL },
	{ "cpp", NULL, NULL },
	{ "placement", NULL, NULL },
	{ "policy", bench_convoy_steps, bench_convoy },
	{ "device", NULL, NULL },
	{ "trace", NULL, NULL },
	{ "scale", NULL, NULL },
	{ NULL, NULL, NULL },
};
