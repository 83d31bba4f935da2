/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* lkdf trace: files of recordings. */
#include "cli/verbs.h"
#include "trace/verbs.h"

static const struct cli_verb words[] = {
	{ "record", "what a process does that runs already, into a file",
	  trace_record, &trace_record_spec, NULL },
	{ "check", "is a file whole, and what is in it", trace_check,
	  &trace_check_spec, NULL },
	{ "convert", "a file for a viewer", trace_convert, &trace_convert_spec,
	  NULL },
	{ "diff", "two files side by side, and a gate for CI", trace_diff,
	  &trace_diff_spec, NULL },
};

const struct cli_family trace_family = {
	.parent = "trace",
	.help = "record a process; check, compare, convert a recording",
	.verb = words,
	.nr = sizeof(words) / sizeof(words[0]),
};
