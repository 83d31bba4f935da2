/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf topo: the machine as a runtime with these options would see it, or as
 * the runtimes of a process do.
 */
#include "cli/cli.h"
#include "cli/verbs.h"
#include "stat/answers.h"

#include <lkdf/lkdf.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct topo_opts {
	struct cli_common common;
	const char *synthetic, *cpus, *options, *process;
};

static const struct cli_row rows[] = {
	{ "synthetic", 's', CLI_TEXT, offsetof(struct topo_opts, synthetic),
	  "S", "a made-up machine, as \"node:2 core:4 pu:1\"" },
	{ "cpus", 'c', CLI_TEXT, offsetof(struct topo_opts, cpus), "LIST",
	  "only these CPUs, as 0-3,8" },
	{ "options", 'o', CLI_TEXT, offsetof(struct topo_opts, options), "LIST",
	  "more options of the runtime, as name=value,..." },
	{ "pid", 'p', CLI_TEXT, offsetof(struct topo_opts, process), "PID|NAME",
	  "the runtimes of this process, by number or by the name of its "
	  "command" },
};

const struct cli_spec topo_spec = {
	.verb = "topo",
	.usage = "[--json] [--synthetic S] [--cpus LIST] [-p PID|NAME]",
	.help = "Shows nodes, caches and CPUs, and where the workers of a\n"
		"runtime would sit, or where those of a process do.",
	.row = rows,
	.nr_rows = sizeof(rows) / sizeof(rows[0]),
	.without = CLI_NO_QUIET | CLI_NO_VERBOSE,
};

/* "topology=...,cpus=...": quotes hide commas and blanks in the values. */
static void write_options(const struct topo_opts *o, char *to, size_t size)
{
	int at = 0;

	to[0] = '\0';
	if (o->synthetic)
		at += snprintf(to, size, "topology=\"%s\",", o->synthetic);
	if (o->cpus && (size_t)at < size)
		at += snprintf(to + at, size - (size_t)at, "cpus=\"%s\",",
			       o->cpus);
	if (o->options && (size_t)at < size)
		at += snprintf(to + at, size - (size_t)at, "%s,", o->options);
	if (at && (size_t)at < size)
		to[at - 1] = '\0';
}

static int print_ours(const struct topo_opts *o)
{
	struct cli_error e = { "topo", CLI_USAGE, NULL, "lkdf topo --help" };
	struct lkdf *rt;
	char text[2048];
	int rc;

	write_options(o, text, sizeof(text));
	rc = lkdf_open(text, &rt);
	if (rc) {
		e.code = cli_code_of(rc);
		return cli_fail(&e, "cannot open a runtime with \"%s\": %s",
				text, lkdf_errmsg());
	}
	rc = lkdf_describe(rt, "topo", o->common.is_json ? "json" : "text",
			   STDOUT_FILENO);
	if (rc) {
		e.code = cli_code_of(rc);
		e.try = "give it more room, or a pipe";
		cli_fail(&e, "cannot write the topology: %s", lkdf_errmsg());
	}
	lkdf_close(rt);
	return rc ? (int)e.code : CLI_OK;
}

int verb_topo(int argc, char **argv)
{
	static const struct question there = {
		.verb = "topo",
		.schema = "lkdf/topo_process/1",
		.text = LKDF_ASK_TOPO_TEXT,
		.json = LKDF_ASK_TOPO_JSON,
	};
	struct cli_error e = { "topo", CLI_USAGE, NULL, "lkdf topo --help" };
	struct topo_opts o = { .synthetic = NULL };
	int code;

	if (!cli_parse(&topo_spec, argc, argv, &o, &code))
		return code;
	if (o.synthetic && !o.synthetic[0])
		return cli_fail(&e, "--synthetic \"\": no machine is named");
	if (o.cpus && !o.cpus[0])
		return cli_fail(&e, "--cpus \"\": no CPU is named");
	if (o.process && (o.synthetic || o.cpus || o.options))
		return cli_fail(&e, "-p: its runtimes have their options");
	if (o.process)
		return answers_print(&there, o.process, o.common.is_json);
	return print_ours(&o);
}
