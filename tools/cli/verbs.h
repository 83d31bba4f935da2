/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The verbs: each takes its own command line and returns the exit code. The
 * specs stand beside the functions that read the options.
 */
#ifndef TOOLS_CLI_VERBS_H
#define TOOLS_CLI_VERBS_H

#include "cli/cli.h"

int verb_topo(int argc, char **argv);
int verb_doctor(int argc, char **argv);
int verb_bench(int argc, char **argv);
int verb_report(int argc, char **argv);
int verb_try(int argc, char **argv);
int verb_pages(int argc, char **argv);
int verb_probe(int argc, char **argv);
int verb_futex(int argc, char **argv);
int verb_stat(int argc, char **argv);
int verb_top(int argc, char **argv);
int verb_device(int argc, char **argv);
int verb_why(int argc, char **argv);
int verb_run(int argc, char **argv);
int verb_check(int argc, char **argv);
int verb_completion(int argc, char **argv);

extern const struct cli_spec try_spec, topo_spec, doctor_spec, bench_spec,
	report_spec, pages_spec, probe_spec, futex_spec, stat_spec, top_spec,
	device_spec, why_spec, run_spec, check_spec, completion_spec;

/* All of them, and the words of trace. */
extern const struct cli_family lkdf_family, trace_family;

#endif
