/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The verbs: each takes its own command line and returns the exit code. */
#ifndef TOOLS_VERBS_H
#define TOOLS_VERBS_H

int verb_topo(int argc, char **argv);
int verb_doctor(int argc, char **argv);
int verb_bench(int argc, char **argv);
int verb_trace(int argc, char **argv);
int verb_report(int argc, char **argv);
int verb_pages(int argc, char **argv);
int verb_probe(int argc, char **argv);
int verb_futex(int argc, char **argv);
int verb_stat(int argc, char **argv);
int verb_run(int argc, char **argv);

#endif
