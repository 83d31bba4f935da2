/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* lkdf trace convert: a recording in the words of a viewer. */
#include "outfile.h"
#include "trace/chrome.h"
#include "trace/formats.h"
#include "trace/verbs.h"

#include <errno.h>
#include <string.h>

static const char verb[] = "trace convert";

struct convert_opts {
	struct cli_common common;
	const char *to, *out;
	bool is_best_effort;
};

static const char *format_name(const void *u, unsigned i);

static const struct cli_row rows[] = {
	{ "to", 't', CLI_TEXT, offsetof(struct convert_opts, to), "FORMAT",
	  "chrome (JSON, the default), perfetto (protobuf, with arrows), csv" },
	{ "out", 'o', CLI_TEXT, offsetof(struct convert_opts, out), "FILE",
	  "write here, not to the standard output" },
	{ "best-effort", 'b', CLI_FLAG,
	  offsetof(struct convert_opts, is_best_effort), NULL,
	  "what is readable of a damaged or cut file" },
};

const struct cli_spec trace_convert_spec = {
	.verb = verb,
	.usage = "FILE [--to FORMAT] [-o OUT]",
	.help = "Converts a file recorded with LKDF_TRACE=FILE for a viewer.\n"
		"OUT is written beside its name and renamed once it is whole.",
	.row = rows,
	.nr_rows = sizeof(rows) / sizeof(rows[0]),
	.max_words = 1,
	.has_files = true,
	.without = CLI_NO_VERBOSE,
	.choice_of = "to",
	.choice = format_name,
};

struct format {
	const char *name;
	int (*write)(FILE *in, FILE *out, struct trace_fault *fault);
};

static const struct format formats[] = {
	{ "chrome", trace_to_chrome },
	{ "perfetto", trace_to_perfetto },
	{ "csv", trace_to_csv },
};
#define NR_FORMATS (sizeof(formats) / sizeof(formats[0]))

static const char *format_name(const void *u, unsigned i)
{
	(void)u;
	return i < NR_FORMATS ? formats[i].name : NULL;
}

static const struct format *find_format(const char *name, int *code)
{
	struct cli_error e = { verb, CLI_USAGE, NULL, NULL };
	const char *near;
	char try[64];
	unsigned i;

	for (i = 0; i < NR_FORMATS; i++)
		if (!strcmp(name, formats[i].name))
			return &formats[i];
	near = cli_nearest(name, format_name, NULL);
	snprintf(try, sizeof(try), "--to %s", near ? near : formats[0].name);
	e.try = try;
	*code = cli_fail(&e, "--to: unknown format \"%s\"", name);
	return NULL;
}

static int refuse_output(const char *name, int rc)
{
	struct cli_error e = { verb, cli_code_of(rc), NULL, NULL };

	return cli_fail(&e, "%s: %s", name, strerror(-rc));
}

/* Nothing is written of a damaged file unless asked to. */
static int look_through(FILE *in, const char *path)
{
	const struct trace_sink nobody = { .u = NULL };
	struct trace_fault fault;
	struct trace_info info;
	int rc = trace_read(in, &nobody, &info, &fault);

	trace_info_fini(&info);
	return rc ? trace_refuse(verb, path, rc, &fault) : CLI_OK;
}

static int convert(FILE *in, const char *path, const struct format *format,
		   const struct convert_opts *o)
{
	struct cli_error e = { verb, CLI_USAGE, NULL, "another name with -o" };
	struct trace_fault fault;
	struct outfile out;
	int rc, out_rc;

	if (outfile_is(o->out, in))
		return cli_fail(&e, "%s: it is the recording itself", o->out);
	rc = outfile_open(&out, o->out);
	if (rc)
		return refuse_output(outfile_name(&out), rc);
	rc = format->write(in, out.f, &fault);
	if (rc && !(rc == -EBADMSG && o->is_best_effort)) {
		outfile_abort(&out);
		return trace_refuse(verb, path, rc, &fault);
	}
	out_rc = outfile_commit(&out);
	if (out_rc)
		return refuse_output(outfile_name(&out), out_rc);
	if (rc && !o->common.is_quiet)
		fprintf(stderr, "lkdf %s: %s: up to offset %llu: %s\n", verb,
			path, (unsigned long long)fault.offset, fault.why);
	return CLI_OK;
}

int trace_convert(int argc, char **argv)
{
	struct cli_error e = { verb, CLI_USAGE, NULL,
			       "lkdf trace convert --help" };
	struct convert_opts o = { .to = NULL };
	const struct format *format;
	FILE *in;
	int code;

	if (!cli_parse(&trace_convert_spec, argc, argv, &o, &code))
		return code;
	if (!cli_nr_words(argc, argv))
		return cli_fail(&e, "which file?");
	/* The first format is JSON, and the default. */
	if (o.common.is_json && o.to && strcmp(o.to, formats[0].name))
		return cli_fail(&e, "--json: --to %s is no JSON", o.to);
	format = find_format(o.to ? o.to : formats[0].name, &code);
	if (!format)
		return code;
	in = trace_input(verb, argv[1], &code);
	if (!in)
		return code;
	code = o.is_best_effort ? CLI_OK : look_through(in, argv[1]);
	if (!code)
		code = convert(in, argv[1], format, &o);
	fclose(in);
	return code;
}
