/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* lkdf trace: files that LKDF_TRACE=FILE has made. */
#include "trace_verbs.h"
#include "verbs.h"

static const struct cli_verb words[] = {
	{ "check", "is a file whole, and what is in it", trace_check },
	{ "convert", "a file for a viewer", trace_convert },
	{ "diff", "two files side by side, and a gate for CI", trace_diff },
};

static const struct cli_family family = {
	.parent = "trace",
	.verb = words,
	.nr = sizeof(words) / sizeof(words[0]),
};

int verb_trace(int argc, char **argv)
{
	return cli_dispatch(&family, argc, argv);
}
