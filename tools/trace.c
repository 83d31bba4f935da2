/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* lkdf trace: files that LKDF_TRACE=FILE has made. */
#include "trace_verbs.h"
#include "verbs.h"

static const struct cli_verb words[] = {
	{ "check", "is a file whole, and what is in it", trace_check,
	  &trace_check_spec, NULL },
	{ "convert", "a file for a viewer", trace_convert, &trace_convert_spec,
	  NULL },
	{ "diff", "two files side by side, and a gate for CI", trace_diff,
	  &trace_diff_spec, NULL },
};

const struct cli_family trace_family = {
	.parent = "trace",
	.help = "convert or check what LKDF_TRACE=FILE recorded",
	.verb = words,
	.nr = sizeof(words) / sizeof(words[0]),
};
