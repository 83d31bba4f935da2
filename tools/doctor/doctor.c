/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf doctor: one line per thing that lkdf uses, with the reason and the fix
 * where it is missing. Only "fail" makes the exit status 1.
 */
#include "doctor/doctor.h"
#include "cli/cli.h"
#include "cli/verbs.h"
#include "doctor/program.h"
#include "json.h"

#include <lkdf/lkdf.h>

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

struct doctor_opts {
	struct cli_common common;
	bool is_build;
};

static const struct cli_row rows[] = {
	{ "build", 'b', CLI_FLAG, offsetof(struct doctor_opts, is_build), NULL,
	  "what this lkdf was built with, and what was left out of it" },
};

const struct cli_spec doctor_spec = {
	.verb = "doctor",
	.usage = "[--build] [--json]\n"
		 "[--json] PROGRAM",
	.help = "Looks at what lkdf can use here. ok: present; warn: works,\n"
		"but slower or less; fail: broken; none: not on this machine.\n"
		"With PROGRAM: which OpenMP it and its libraries use, and what\n"
		"lkdf run --openmp takes of that. The program is not run.",
	.max_words = 1,
	.has_files = true,
	.row = rows,
	.nr_rows = sizeof(rows) / sizeof(rows[0]),
	.without = CLI_NO_VERBOSE,
};

static const char *const level_names[] = { "ok", "warn", "fail", "none" };

void finding_say(struct finding *f, enum doctor_level level, const char *fmt,
		 ...)
{
	va_list ap;

	f->level = level;
	va_start(ap, fmt);
	vsnprintf(f->text, sizeof(f->text), fmt, ap);
	va_end(ap);
}

void finding_fix(struct finding *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(f->fix, sizeof(f->fix), fmt, ap);
	va_end(ap);
}

int doctor_read(const char *path, char *to, size_t size)
{
	FILE *file = fopen(path, "re");
	int rc = 0;

	if (!file)
		return -errno;
	if (!fgets(to, (int)size, file))
		rc = -EIO;
	else
		to[strcspn(to, "\n")] = '\0';
	fclose(file);
	return rc;
}

void doctor_describe(struct lkdf *rt, const char *what, const char *format,
		     char *to, size_t size)
{
	ssize_t n = -1;
	int fd[2];

	to[0] = '\0';
	if (pipe2(fd, O_NONBLOCK | O_CLOEXEC))
		return;
	/* A large machine's is more than a pipe holds: its start is enough. */
	lkdf_describe(rt, what, format, fd[1]);
	n = read(fd[0], to, size - 1);
	close(fd[0]);
	close(fd[1]);
	to[n > 0 ? n : 0] = '\0';
}

int doctor_caps(struct lkdf *rt, const char *name, char *to, size_t size)
{
	char text[4096], *line;

	doctor_describe(rt, "caps", "text", text, sizeof(text));
	line = strstr(text, name);
	if (!line)
		return 0;
	line[strcspn(line, "\n")] = '\0';
	line = strstr(line, ": ");
	snprintf(to, size, "%s", line ? line + 2 : "");
	return 1;
}

/* Words for the CPUs that the threads of its workers have. */
static const char *bound_to(struct lkdf *rt, uint64_t caps)
{
	char why[128];

	if (caps & LKDF_CAP_PINNED)
		return "pinned";
	return doctor_caps(rt, "pinned", why, sizeof(why)) &&
			       strstr(why, "those of their nodes")
		       ? "bound to nodes"
		       : "not bound";
}

/* The runtime itself: does it open, and what did it find? */
static void probe_runtime(struct finding *f)
{
	struct lkdf *rt;
	uint64_t caps;
	int rc = lkdf_open(NULL, &rt);

	if (rc) {
		finding_say(f, DOCTOR_FAIL, "cannot open a runtime: %s",
			    lkdf_errmsg());
		finding_fix(f, "look at LKDF_* variables and at ulimit -u");
		return;
	}
	caps = lkdf_caps(rt);
	finding_say(f, DOCTOR_OK,
		    "runtime opens, %d workers, %d threads at most; workers "
		    "%s, %s, "
		    "memory %s, %s, pages %s",
		    lkdf_nr_workers(rt), lkdf_nr_executors(rt),
		    bound_to(rt, caps),
		    caps & LKDF_CAP_NODES ? "several nodes" : "one node",
		    caps & LKDF_CAP_BIND ? "bound" : "not bound",
		    caps & LKDF_CAP_TRACE ? "counters in a memfd"
					  : "no counters in a memfd",
		    caps & LKDF_CAP_KMOD    ? "watched by the kernel module"
		    : caps & LKDF_CAP_PAGES ? "looked at now and then"
					    : "not looked at");
	if (!strcmp(bound_to(rt, caps), "not bound")) {
		f->level = DOCTOR_WARN;
		finding_fix(f, "no more workers than CPUs, and not pin=no");
	} else if (lkdf_places(rt, 0, NULL, 0) > 1 && !(caps & LKDF_CAP_BIND)) {
		f->level = DOCTOR_WARN;
		finding_fix(f, "let the container's seccomp filter pass mbind");
	}
	lkdf_close(rt);
}

static const struct doctor_row doctor_rows[] = {
	{ "kernel", probe_kernel, false },
	{ "cpus", probe_cpus, false },
	{ "open", probe_open, false },
	{ "topology", probe_topology, false },
	{ "shared_cpus", probe_shared_cpus, false },
	{ "quota", probe_quota, false },
	{ "load", probe_load_average, false },
	{ "tsc", probe_tsc, false },
	{ "thp", probe_thp, false },
	{ "numa_balancing", probe_numa_balancing, false },
	{ "io_uring", probe_io_uring, false },
	{ "io", probe_io, false },
	{ "perf", probe_perf, false },
	{ "bpf", probe_bpf, false },
	{ "probe", probe_pins, false },
	{ "memlock", probe_memlock, false },
	{ "nofile", probe_nofile, false },
	{ "memfd", probe_memfd, false },
	{ "runtime", probe_runtime, false },
	{ "opencl", probe_opencl, true },
	{ "cuda", probe_cuda, true },
};
#define NR_ROWS (sizeof(doctor_rows) / sizeof(doctor_rows[0]))

static const struct doctor_row build_rows[] = {
	{ "built", probe_built, false },
	{ "libc", probe_libc, false },
	{ "uring", probe_has_uring, false },
	{ "sdt", probe_has_sdt, false },
	{ "bpf", probe_has_bpf, false },
	{ "top", probe_has_top, false },
	{ "mpi", probe_has_mpi, false },
	{ "frames", probe_has_frame_pointers, false },
	{ "mechanisms", probe_has_mechanisms, false },
};
#define NR_BUILD_ROWS (sizeof(build_rows) / sizeof(build_rows[0]))

static void print_finding(const struct finding *f)
{
	static const enum cli_paint paints[] = { CLI_GREEN, CLI_YELLOW, CLI_RED,
						 CLI_FAINT };

	cli_paint(stdout, paints[f->level], 6, level_names[f->level]);
	printf("%s\n", f->text);
	if (f->fix[0])
		printf("      fix: %s\n", f->fix);
}

static void write_finding(struct json *j, const struct finding *f)
{
	json_open_flat(j, NULL, '{');
	json_text(j, "name", f->name);
	json_text(j, "level", level_names[f->level]);
	json_text(j, "text", f->text);
	json_text_or_null(j, "fix", f->fix[0] ? f->fix : NULL);
	json_close(j, '}');
}

static void print_sum(const unsigned *nr)
{
	printf("%u failure%s, %u warning%s\n", nr[DOCTOR_FAIL],
	       nr[DOCTOR_FAIL] == 1 ? "" : "s", nr[DOCTOR_WARN],
	       nr[DOCTOR_WARN] == 1 ? "" : "s");
}

static void write_end(struct json *j, const unsigned *nr)
{
	json_close(j, ']');
	json_int(j, "failures", nr[DOCTOR_FAIL]);
	json_int(j, "warnings", nr[DOCTOR_WARN]);
	json_close(j, '}');
}

/* Findings as they are shown, one after the other. */
struct show {
	const struct doctor_opts *o;
	struct json j;
	unsigned nr[4]; /* by level */
};

static void show_begin(struct show *s, const struct doctor_opts *o)
{
	*s = (struct show){ .o = o };
	json_init(&s->j, stdout);
	if (!o->common.is_json)
		return;
	json_open(&s->j, NULL, '{');
	json_text(&s->j, "schema", "lkdf/doctor/1");
	json_open(&s->j, "findings", '[');
}

static void show_finding(struct show *s, const struct finding *f)
{
	s->nr[f->level]++;
	if (s->o->common.is_json)
		write_finding(&s->j, f);
	else if (!s->o->common.is_quiet || f->level == DOCTOR_FAIL)
		print_finding(f);
}

static int show_end(struct show *s)
{
	if (s->o->common.is_json)
		write_end(&s->j, s->nr);
	else
		print_sum(s->nr);
	return s->nr[DOCTOR_FAIL] ? CLI_FINDINGS : CLI_OK;
}

static void probe_row(struct finding *f, const struct doctor_row *row)
{
	f->name = row->name;
	row->probe(f);
}

static int examine(const struct doctor_opts *o, const struct doctor_row *row,
		   unsigned nr_rows)
{
	struct finding found[NR_ROWS] = { 0 };
	struct show s;
	unsigned i;

	/* A driver that this process has loaded refuses its children. */
	for (i = 0; i < nr_rows; i++)
		if (row[i].forks)
			probe_row(&found[i], &row[i]);

	show_begin(&s, o);
	for (i = 0; i < nr_rows; i++) {
		if (!row[i].forks)
			probe_row(&found[i], &row[i]);
		show_finding(&s, &found[i]);
	}
	return show_end(&s);
}

static int examine_program(const struct doctor_opts *o, const char *name)
{
	struct finding found[PROGRAM_ROWS] = { 0 };
	struct cli_error e = { "doctor", CLI_ABSENT, NULL, "file PROGRAM" };
	int i, nr = program_look(name, found);
	struct show s;

	if (nr == -EBADMSG)
		return cli_fail(&e, "%s: no 64-bit ELF program of this machine",
				name);
	if (nr < 0)
		return cli_fail(&e, "%s: %s", name, strerror(-nr));
	show_begin(&s, o);
	for (i = 0; i < nr; i++)
		show_finding(&s, &found[i]);
	return show_end(&s);
}

int verb_doctor(int argc, char **argv)
{
	struct doctor_opts o = { { false, false, false }, false };
	int code;

	if (!cli_parse(&doctor_spec, argc, argv, &o, &code))
		return code;
	if (cli_nr_words(argc, argv))
		return examine_program(&o, argv[1]);
	if (o.is_build)
		return examine(&o, build_rows, NR_BUILD_ROWS);
	return examine(&o, doctor_rows, NR_ROWS);
}
