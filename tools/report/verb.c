/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* lkdf report: what a recording says about the time that was lost. */
#include "cli/cli.h"
#include "cli/verbs.h"
#include "outfile.h"
#include "report/ranks.h"
#include "report/writers.h"
#include "times.h"
#include "trace/verbs.h"
#include "words.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct report_opts {
	struct cli_common common;
	const char *html, *kind;
	int64_t from_ns, to_ns; /* to_ns < 0: to the end */
	bool best_effort;
};

static const struct cli_row rows[] = {
	{ "html", 'o', CLI_TEXT, offsetof(struct report_opts, html), "FILE",
	  "also write a page with a timeline, one file" },
	{ "kind", 'k', CLI_TEXT, offsetof(struct report_opts, kind), "NAME",
	  "only the row of that kind of tasks" },
	{ "from", 0, CLI_TIME, offsetof(struct report_opts, from_ns), "TIME",
	  "from that time on" },
	{ "to", 0, CLI_TIME, offsetof(struct report_opts, to_ns), "TIME",
	  "up to that time" },
	{ "best-effort", 'b', CLI_FLAG,
	  offsetof(struct report_opts, best_effort), NULL,
	  "what is readable of a damaged or cut file" },
};

const struct cli_spec report_spec = {
	.verb = "report",
	.usage = "FILE... [--html PAGE] [--json] [--from TIME] [--to TIME]",
	.help = "Says where the time of the workers went in a program that ran\n"
		"with LKDF_TRACE=FILE, what costs most, and what to change. -v tells\n"
		"causes of less than 2 % of that time, too. Several files are "
		"those of the\nranks of a program of MPI, one each.",
	.row = rows,
	.nr_rows = sizeof(rows) / sizeof(rows[0]),
	.max_words = MAX_RANKS,
	.has_files = true,
};

__attribute__((format(printf, 2, 3))) static int refuse(enum cli_exit code,
							const char *fmt, ...)
{
	const struct cli_error e = { "report", code, NULL,
				     "lkdf report --help" };
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return cli_fail(&e, "%s", text);
}

static int parse_window(const struct report_opts *o, struct report_window *w)
{
	*w = (struct report_window){ .from = (uint64_t)o->from_ns,
				     .to = NO_TIME };
	if (o->to_ns >= 0)
		w->to = (uint64_t)o->to_ns;
	if (w->to <= w->from)
		return refuse(CLI_USAGE, "--to %.9gs is not after --from %.9gs",
			      (double)w->to / NS_PER_S,
			      (double)w->from / NS_PER_S);
	return CLI_OK;
}

static int analyse(struct report *r)
{
	int rc = report_sweep(r);

	if (!rc)
		rc = report_limits(r);
	if (!rc)
		rc = report_waits(r);
	if (!rc)
		rc = report_reasons(r);
	if (!rc)
		rc = report_teams(r);
	if (!rc)
		rc = report_kinds(r);
	if (!rc)
		rc = report_loops(r);
	if (!rc)
		rc = report_devices(r);
	if (!rc)
		rc = report_requests(r);
	if (!rc)
		rc = report_chain(r);
	if (!rc)
		rc = report_gains(r);
	if (!rc)
		report_find(r);
	return rc;
}

static int write_page(const struct report *r, const char *path)
{
	struct outfile out;
	int rc = outfile_open(&out, path);

	if (!rc) {
		rc = html_write(r, out.f);
		if (rc)
			outfile_abort(&out);
		else
			rc = outfile_commit(&out);
	}
	if (rc)
		return refuse(cli_code_of(rc), "%s: %s", path, strerror(-rc));
	return CLI_OK;
}

static int write_all(const struct report *r, const struct report_opts *o)
{
	struct json j;
	int rc, code = CLI_OK;

	if (o->html)
		code = write_page(r, o->html);
	if (code)
		return code;
	json_init(&j, stdout);
	if (o->common.is_json)
		rc = json_write(r, &j, false);
	else
		rc = text_write(r, stdout, o->kind);
	if (!rc && !o->common.is_json && !o->html && !o->common.is_quiet &&
	    !o->kind)
		printf("\ntry: lkdf report %s --html report.html\n", r->file);
	if (!rc && (fflush(stdout) || ferror(stdout)))
		rc = -(errno ? errno : EIO);
	return rc ? refuse(cli_code_of(rc), "standard output: %s",
			   strerror(-rc))
		  : CLI_OK;
}

static bool has_kind(const struct report *r, const char *kind)
{
	uint32_t i;

	for (i = 0; i < r->nr_kinds; i++) {
		if (!strcmp(kind, r->info.name[r->kind[i].name]))
			return true;
	}
	return false;
}

static int report_on(FILE *in, const char *path, const struct report_opts *o,
		     const struct report_window *w)
{
	struct cli_error e = { "report", CLI_DAMAGED, NULL,
			       "lkdf report --best-effort" };
	struct report r = { .file = path, .wants_all = o->common.is_verbose };
	struct trace_fault fault = { 0 };
	int code, rc = report_load(&r, in, w, &fault);

	if (rc == -EBADMSG && (!o->best_effort || !r.nr_lanes)) {
		if (!r.nr_lanes)
			e.try = NULL;
		code = cli_fail(&e, "%s: offset %llu: %s", path,
				(unsigned long long)fault.offset, fault.why);
	} else if (rc && rc != -EBADMSG) {
		code = refuse(cli_code_of(rc), "%s: %s", path, strerror(-rc));
	} else if (w->from && w->from >= r.length) {
		code = refuse(CLI_USAGE,
			      "--from %.9gs is after the end of %s, at %.9gs",
			      (double)w->from / NS_PER_S, path,
			      (double)r.length / NS_PER_S);
	} else if ((rc = analyse(&r))) {
		code = refuse(cli_code_of(rc), "%s: %s", path, strerror(-rc));
	} else if (o->kind && !has_kind(&r, o->kind)) {
		code = refuse(CLI_GONE, "%s: no tasks of kind \"%s\"", path,
			      o->kind);
	} else {
		code = write_all(&r, o);
	}
	report_unload(&r);
	return code;
}

/* ---- several ranks ------------------------------------------------------ */

static int read_rank(struct ranks *r, const char *path,
		     const struct report_opts *o)
{
	struct trace_fault fault = { 0 };
	int code = CLI_OK, rc;
	FILE *in = trace_input("report", path, &code);

	if (!in)
		return code;
	if (outfile_is(o->html, in)) {
		fclose(in);
		return refuse(CLI_USAGE, "%s: it is the recording itself",
			      o->html);
	}
	rc = ranks_read(r, path, in, &fault);
	fclose(in);
	if (rc == -ENOENT)
		return refuse(CLI_USAGE,
			      "%s: it is of no rank: several files are those "
			      "of programs that call lkdf_mpi_open() while "
			      "they record",
			      path);
	if (rc == -EBADMSG && o->best_effort)
		return CLI_OK;
	return rc ? trace_refuse("report", path, rc, &fault) : CLI_OK;
}

static int write_ranks(const struct ranks *r, const struct report_opts *o)
{
	struct outfile out;
	int rc = 0;

	if (o->html) {
		rc = outfile_open(&out, o->html);
		if (!rc) {
			ranks_html(r, out.f);
			rc = outfile_commit(&out);
		}
	}
	if (rc)
		return refuse(cli_code_of(rc), "%s: %s", o->html,
			      strerror(-rc));
	if (o->common.is_json)
		ranks_json(r, stdout);
	else
		ranks_text(r, stdout);
	if (!o->common.is_json && !o->common.is_quiet)
		printf("\ntry: lkdf report %s, what costs most in that rank\n",
		       r->rank[0].file);
	return CLI_OK;
}

static int report_ranks(int nr, char **file, const struct report_opts *o)
{
	struct ranks *r = calloc(1, sizeof(*r));
	int i, rc, code = CLI_OK;

	if (!r)
		return refuse(CLI_ABSENT, "no memory");
	for (i = 0; i < nr && !code; i++)
		code = read_rank(r, file[i], o);
	rc = code ? 0 : ranks_analyse(r);
	if (rc == -EEXIST)
		code = refuse(CLI_USAGE, "two files are of one rank");
	else if (rc)
		code = refuse(cli_code_of(rc), "%s", strerror(-rc));
	if (!code)
		code = write_ranks(r, o);
	ranks_fini(r);
	free(r);
	return code;
}

int verb_report(int argc, char **argv)
{
	struct report_opts o = { .to_ns = -1 };
	struct report_window w;
	FILE *in;
	int code, fd, nr;

	if (!cli_parse(&report_spec, argc, argv, &o, &code))
		return code;
	nr = cli_nr_words(argc, argv);
	if (!nr)
		return refuse(CLI_USAGE, "expected the name of a recording");
	code = parse_window(&o, &w);
	if (code)
		return code;
	if (nr > 1 && (o.kind || o.from_ns || o.to_ns >= 0))
		return refuse(CLI_USAGE, "--kind, --from and --to are for the "
					 "recording of one rank");
	if (nr > 1)
		return report_ranks(nr, argv + 1, &o);
	/* A FIFO is not waited for. */
	fd = open(argv[1], O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	in = fd < 0 ? NULL : fdopen(fd, "r");
	if (!in)
		return refuse(cli_code_of(-errno), "%s: %s", argv[1],
			      strerror(errno));
	if (fseek(in, 0, SEEK_END))
		code = refuse(CLI_ABSENT,
			      "%s: no regular file: it is read "
			      "three times",
			      argv[1]);
	else if (outfile_is(o.html, in))
		code = refuse(CLI_USAGE, "%s: it is the recording itself",
			      o.html);
	else
		code = report_on(in, argv[1], &o, &w);
	fclose(in);
	return code;
}
