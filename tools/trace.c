/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* lkdf trace: looks at files that LKDF_TRACE=FILE has made. */
#include "cli.h"
#include "trace_chrome.h"
#include "verbs.h"

#include <errno.h>
#include <string.h>

struct trace_opts {
	struct cli_common common;
	const char *to, *out;
	bool best_effort;
};

static const struct cli_row rows[] = {
	{ "to", 't', CLI_TEXT, offsetof(struct trace_opts, to), "FORMAT",
	  "convert: chrome, which Perfetto reads too; the default" },
	{ "out", 'o', CLI_TEXT, offsetof(struct trace_opts, out), "FILE",
	  "convert: write here, not to the standard output" },
	{ "best-effort", 'b', CLI_FLAG,
	  offsetof(struct trace_opts, best_effort), NULL,
	  "convert: what is readable of a damaged or cut file" },
};

static const struct cli_spec spec = {
	.verb = "trace",
	.usage = "convert FILE [--to chrome] [-o OUT] | check FILE",
	.help = "Converts a file recorded with LKDF_TRACE=FILE for a viewer,\n"
		"or checks that it is whole.",
	.row = rows,
	.nr_rows = sizeof(rows) / sizeof(rows[0]),
	.max_words = 2,
};

static struct cli_error fault_error(enum cli_exit code)
{
	return (struct cli_error){ "trace", code, NULL, "lkdf trace --help" };
}

static int fail_reading(const char *path, int rc, const struct trace_fault *f,
			bool may_force)
{
	struct cli_error e = fault_error(cli_code_of(rc));

	e.try = may_force ? "lkdf trace convert --best-effort" : NULL;
	if (rc == -EBADMSG)
		return cli_fail(&e, "%s: offset %llu: %s", path,
				(unsigned long long)f->offset, f->why);
	e.try = NULL;
	return cli_fail(&e, "%s: %s", path, strerror(-rc));
}

static int check(const char *path, FILE *in, bool is_quiet)
{
	const struct trace_sink nobody = { .u = NULL };
	struct trace_fault fault;
	struct trace_info info;
	int rc;

	rc = trace_read(in, &nobody, &info, &fault);
	if (!rc && !is_quiet)
		printf("%s: whole, %llu slices (%llu lost), %llu events "
		       "(%llu lost)\n",
		       path, (unsigned long long)info.slices,
		       (unsigned long long)info.slices_lost,
		       (unsigned long long)info.events,
		       (unsigned long long)info.events_lost);
	trace_info_fini(&info);
	return rc ? fail_reading(path, rc, &fault, true) : CLI_OK;
}

static int convert(const char *path, FILE *in, const struct trace_opts *o)
{
	struct cli_error e = fault_error(CLI_USAGE);
	struct trace_fault fault;
	FILE *out = stdout;
	int rc;

	if (o->to && strcmp(o->to, "chrome"))
		return cli_fail(&e, "--to %s: there is only chrome", o->to);
	/* Nothing is written of a damaged file unless asked to. */
	rc = o->best_effort ? CLI_OK : check(path, in, true);
	if (rc)
		return rc;
	if (o->out)
		out = fopen(o->out, "we");
	if (!out) {
		e.code = cli_code_of(-errno);
		return cli_fail(&e, "%s: %s", o->out, strerror(errno));
	}
	rc = trace_to_chrome(in, out, &fault);
	if (o->out && fclose(out) && !rc)
		rc = -EIO;
	if (rc == -EBADMSG && o->best_effort) {
		fprintf(stderr, "lkdf trace: %s: up to offset %llu: %s\n", path,
			(unsigned long long)fault.offset, fault.why);
		return CLI_OK;
	}
	return rc ? fail_reading(path, rc, &fault, false) : CLI_OK;
}

int verb_trace(int argc, char **argv)
{
	struct cli_error e = fault_error(CLI_USAGE);
	struct trace_opts o = { .to = NULL };
	bool is_check;
	FILE *in;
	int code;

	if (!cli_parse(&spec, argc, argv, &o, &code))
		return code;
	if (cli_nr_words(argc, argv) != 2)
		return cli_fail(&e, "expected convert FILE or check FILE");
	is_check = !strcmp(argv[1], "check");
	if (!is_check && strcmp(argv[1], "convert"))
		return cli_fail(&e, "unknown word \"%s\"", argv[1]);
	in = fopen(argv[2], "re");
	if (!in) {
		e.code = cli_code_of(-errno);
		return cli_fail(&e, "%s: %s", argv[2], strerror(errno));
	}
	code = is_check ? check(argv[2], in, o.common.is_quiet)
			: convert(argv[2], in, &o);
	fclose(in);
	return code;
}
