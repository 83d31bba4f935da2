/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The words of lkdf trace, and what they share. */
#ifndef TOOLS_TRACE_VERBS_H
#define TOOLS_TRACE_VERBS_H

#include "cli/cli.h"
#include "trace/read.h"

int trace_check(int argc, char **argv);
int trace_convert(int argc, char **argv);
int trace_diff(int argc, char **argv);
int trace_record(int argc, char **argv);

extern const struct cli_spec trace_check_spec, trace_convert_spec,
	trace_diff_spec, trace_record_spec;

/* A file to be read. NULL: said why, and the exit code is in *code. */
FILE *trace_input(const char *verb, const char *path, int *code);

/* Says what is wrong with a file that trace_read() has refused. */
int trace_refuse(const char *verb, const char *path, int rc,
		 const struct trace_fault *fault);

#endif
