/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf check: runs a program in serial mode, in one order or several, and tells
 * of races between its tasks, of deadlocks, and of orders with another outcome.
 */
#include "check/noted.h"
#include "check/print.h"
#include "check/report.h"
#include "cli/cli.h"
#include "cli/verbs.h"
#include "probe/elf_symbol.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char verb[] = "check";

/* The statuses of a program that option order ends: nobody is left to go on,
 * and nothing has ended for --patience seconds. */
#define DEADLOCK 70
#define STANDS_STILL 71
#define MAX_ORDERS 1000000
#define MAX_PATIENCE 86400

struct check_opts {
	struct cli_common common;
	long orders, patience;
	bool is_atomics;
};

static const struct cli_row rows[] = {
	{ "orders", 'n', CLI_INT, offsetof(struct check_opts, orders), "N",
	  "in N orders, seeds 1 to N; outputs are compared" },
	{ "patience", 'p', CLI_INT, offsetof(struct check_opts, patience), "S",
	  "end the program when no body has ended for S seconds; 0: never; "
	  "default 60" },
	{ "atomics", 'a', CLI_FLAG, offsetof(struct check_opts, is_atomics),
	  NULL, "the program's own atomics and locks give order, too" },
};

const struct cli_spec check_spec = {
	.verb = verb,
	.usage = "[options] [--] COMMAND ...",
	.help = "Runs a program in serial mode and tells of races between its "
		"tasks, where\nthe program is compiled with -fsanitize=thread, "
		"of deadlocks, and with --orders\nof a seed whose output or "
		"exit status is another one than that of seed 1.\nLKDF_ORDER "
		"repeats a seed. The exit status is 1 after a finding, else "
		"the\nprogram's own; 125 where nothing could be checked, 126 "
		"and 127 as env(1). With\n--json the program's standard output "
		"goes to standard error.",
	.row = rows,
	.nr_rows = sizeof(rows) / sizeof(rows[0]),
	.without = CLI_NO_VERBOSE,
	.has_command = true,
};

/* A run of the program with one seed. */
struct run {
	pid_t pid;
	unsigned long seed;
	int out, err, status; /* files that have what it wrote */
};

struct checking {
	const struct check_opts *o;
	char **argv;
	bool has_tsan;
	char dir[64]; /* of the sanitizer's logs */
	struct reports reports;
	struct result result;
	char *notes; /* of the runtimes of all runs; NULL: none were opened */
};

/* ---- the program -------------------------------------------------------- */

/* Where a shell would find it; NULL: nowhere. */
static const char *find_program(const char *name, char *path)
{
	const char *at = getenv("PATH");
	size_t n;

	if (strchr(name, '/'))
		return name;
	for (; at && *at; at += n + (at[n] == ':')) {
		n = strcspn(at, ":");
		snprintf(path, PATH_MAX, "%.*s/%s", (int)n, at, name);
		if (!access(path, X_OK))
			return path;
	}
	return NULL;
}

/* Sanitizers in the program, by the names of calls that they add. */
struct sanitizers {
	bool has_tsan, has_asan;
};

static void look_at_name(void *u, const struct elf_name *n)
{
	struct sanitizers *s = u;

	s->has_tsan |= !strcmp(n->text, "__tsan_init");
	s->has_asan |= !strcmp(n->text, "__asan_init");
}

/* Those of dynamic symbols first: a stripped program has no others. */
static void look_at_names(const char *name, struct sanitizers *s)
{
	struct elf_file f;
	char path[PATH_MAX];

	if (!realpath(name, path) || elf_open(0, path, &f))
		return;
	elf_each(&f, true, look_at_name, s);
	elf_each(&f, false, look_at_name, s);
	elf_close(&f);
}

/* Sees what it is compiled with. 0 or an exit code. */
static int look_at_program(struct checking *c)
{
	struct cli_error e = { verb, CLI_USAGE, NULL, "lkdf check --help" };
	char path[PATH_MAX];
	const char *name = find_program(c->argv[0], path);
	struct sanitizers s = { 0 };
	struct stat st;

	/* It is said when it starts. */
	if (!name || stat(name, &st) || !st.st_size || access(name, R_OK))
		return 0;
	if (st.st_mode & (S_ISUID | S_ISGID))
		return cli_fail(&e,
				"%s is a set-user-ID program, which reads no "
				"LKDF_ variables",
				name);
	look_at_names(name, &s);
	c->has_tsan = s.has_tsan;
	if (s.has_asan)
		fprintf(stderr,
			"lkdf check: %s has the address sanitizer, not "
			"the thread sanitizer: orders and deadlocks are "
			"checked, races are not\n",
			name);
	else if (!c->has_tsan)
		fprintf(stderr,
			"lkdf check: %s is not compiled with "
			"-fsanitize=thread: orders and deadlocks are "
			"checked; with it races of its tasks would be, "
			"too\n",
			name);
	return 0;
}

static void set_environment(const struct checking *c, unsigned long seed)
{
	const char *old = getenv("TSAN_OPTIONS");
	char text[PATH_MAX];

	snprintf(text, sizeof(text), "%lu", seed);
	setenv("LKDF_ORDER", text, 1);
	snprintf(text, sizeof(text), "%ld", c->o->patience);
	setenv("LKDF_STALL", text, 1);
	snprintf(text, sizeof(text), "%s/notes", c->dir);
	setenv("LKDF_CHECK_LOG", text, 1);
	if (!c->has_tsan)
		return;
	setenv("LKDF_CHECK", c->o->is_atomics ? "atomics" : "yes", 1);
	snprintf(text, sizeof(text),
		 "%s%slog_path=%s/tsan:exitcode=0:suppress_equal_addresses=0",
		 old ? old : "", old ? ":" : "", c->dir);
	setenv("TSAN_OPTIONS", text, 1);
}

static void become_program(const struct checking *c, const struct run *r)
{
	int old = personality(0xffffffff);

	set_environment(c, r->seed);
	/* The sanitizer refuses some layouts of addresses. */
	if (c->has_tsan && old >= 0)
		personality((unsigned long)old | ADDR_NO_RANDOMIZE);
	if (r->out >= 0) {
		dup2(r->out, STDOUT_FILENO);
		dup2(r->err, STDERR_FILENO);
	} else if (c->o->common.is_json) {
		dup2(STDERR_FILENO, STDOUT_FILENO);
	}
	execvp(c->argv[0], c->argv);
	fprintf(stderr, "lkdf check: cannot start %s: %s\n", c->argv[0],
		strerror(errno));
	_exit(errno == ENOENT ? CLI_NOT_FOUND : CLI_NO_EXEC);
}

static int start_run(const struct checking *c, struct run *r, bool is_kept)
{
	r->out = is_kept ? memfd_create("out", MFD_CLOEXEC) : -1;
	r->err = is_kept ? memfd_create("err", MFD_CLOEXEC) : -1;
	fflush(NULL);
	r->pid = fork();
	if (!r->pid)
		become_program(c, r);
	return r->pid < 0 ? -errno : 0;
}

static int end_run(struct run *r)
{
	int status;

	while (waitpid(r->pid, &status, 0) < 0)
		if (errno != EINTR)
			return CLI_FAILED;
	r->status = WIFEXITED(status) ? WEXITSTATUS(status)
				      : CLI_SIGNAL + WTERMSIG(status);
	return r->status;
}

/* ---- what it has told --------------------------------------------------- */

static char *read_file(const char *path)
{
	FILE *f = fopen(path, "re");
	char *text = NULL;
	size_t size = 0;

	if (!f)
		return NULL;
	if (getdelim(&text, &size, 0, f) < 0) {
		free(text);
		text = NULL;
	}
	fclose(f);
	return text;
}

static void notes_path(const struct checking *c, char *path)
{
	snprintf(path, PATH_MAX, "%s/notes", c->dir);
}

/* The logs of the processes that have ended; they are gone then. */
static void take_logs(struct checking *c)
{
	char path[PATH_MAX], *text;
	struct dirent *e;
	DIR *d = opendir(c->dir);

	notes_path(c, path);
	free(c->notes);
	c->notes = read_file(path);
	c->reports.notes = c->notes;
	while (d && (e = readdir(d))) {
		if (e->d_name[0] == '.' || !strcmp(e->d_name, "notes"))
			continue;
		snprintf(path, sizeof(path), "%s/%s", c->dir, e->d_name);
		text = read_file(path);
		if (text)
			reports_tell(&c->reports, text, stderr);
		free(text);
		unlink(path);
	}
	if (d)
		closedir(d);
}

static void note_seed(struct checking *c, unsigned long seed,
		      const char *differs)
{
	struct result *r = &c->result;

	if (r->nr_seeds < MAX_SEEDS)
		r->seed[r->nr_seeds] = (struct seed_finding){ seed, differs };
	r->nr_seeds++;
}

static void judge_status(struct checking *c, const struct run *r)
{
	if (r->status == STANDS_STILL) {
		c->result.stands_still = true;
		fprintf(stderr,
			"lkdf check: cannot check %s: no body has ended for "
			"%ld s; --patience waits longer\n",
			c->argv[0], c->o->patience);
	}
	if (r->status != DEADLOCK)
		return;
	note_seed(c, r->seed, NULL);
	fprintf(stderr,
		"lkdf check: deadlock with seed %lu; LKDF_ORDER=%lu %s "
		"repeats it\n",
		r->seed, r->seed, c->argv[0]);
}

static bool same_bytes(int a, int b)
{
	char one[4096], other[4096];
	off_t at = 0;
	ssize_t n;

	for (;; at += n) {
		n = pread(a, one, sizeof(one), at);
		if (pread(b, other, sizeof(other), at) != n)
			return false;
		if (n <= 0)
			return true;
		if (memcmp(one, other, (size_t)n))
			return false;
	}
}

static const char *difference(const struct run *a, const struct run *b)
{
	if (a->status != b->status)
		return "exit status";
	if (!same_bytes(a->out, b->out))
		return "standard output";
	return same_bytes(a->err, b->err) ? NULL : "standard error";
}

static void close_run(struct run *r)
{
	close(r->out);
	close(r->err);
}

/* True: its outcome is another one than that of the first. */
static bool compare(struct checking *c, const struct run *first,
		    const struct run *r)
{
	const char *what = difference(first, r);

	if (!what)
		return false;
	note_seed(c, r->seed, what);
	fprintf(stderr,
		"lkdf check: seed %lu: the %s is another one than with "
		"seed %lu\nlkdf check: LKDF_ORDER=%lu %s repeats it\n",
		r->seed, what, first->seed, r->seed, c->argv[0]);
	return true;
}

/* As many at a time as there are CPUs; the first that differs ends it. */
static int run_orders(struct checking *c)
{
	long nr_cpus = sysconf(_SC_NPROCESSORS_ONLN), nr, i,
	     left = c->o->orders;
	struct run first = { .seed = 1 }, *r;
	unsigned long seed = 2;
	bool differs = false;

	if (start_run(c, &first, true))
		return CLI_FAILED;
	end_run(&first);
	judge_status(c, &first);
	r = calloc((size_t)nr_cpus, sizeof(*r));
	for (left--; r && left > 0 && !differs; left -= nr) {
		nr = left < nr_cpus ? left : nr_cpus;
		for (i = 0; i < nr; i++) {
			r[i].seed = seed++;
			if (start_run(c, &r[i], true))
				return CLI_FAILED;
		}
		for (i = 0; i < nr; i++) {
			end_run(&r[i]);
			if (!differs)
				judge_status(c, &r[i]);
			differs = differs || compare(c, &first, &r[i]);
			close_run(&r[i]);
		}
		take_logs(c);
	}
	free(r);
	if (!differs)
		fprintf(stderr, "lkdf check: %ld orders have one outcome\n",
			c->o->orders);
	close_run(&first);
	return first.status;
}

static int run_one(struct checking *c)
{
	const char *seed = getenv("LKDF_ORDER");
	struct run r = { .seed = seed ? strtoul(seed, NULL, 10) : 1 };

	if (start_run(c, &r, false))
		return CLI_FAILED;
	end_run(&r);
	judge_status(c, &r);
	return r.status;
}

static void tell_result(struct checking *c, int status, bool is_checked)
{
	struct result *r = &c->result;

	if (!c->o->common.is_json)
		return;
	r->program = c->argv[0];
	r->orders = c->o->orders > 1 ? c->o->orders : 1;
	r->status = status;
	r->is_checked = is_checked;
	r->has_races = c->has_tsan;
	print_result(r, &c->reports, stdout);
}

int verb_check(int argc, char **argv)
{
	struct check_opts o = { .patience = 60 };
	struct checking c = { .o = &o };
	struct cli_error e = { verb, CLI_USAGE, NULL, "lkdf check --help" };
	char path[PATH_MAX];
	bool is_checked;
	int code, status;

	if (!cli_parse(&check_spec, argc, argv, &o, &code))
		return code;
	if (!cli_nr_words(argc, argv))
		return cli_fail(&e, "which command?");
	if (o.orders < 0 || o.orders > MAX_ORDERS)
		return cli_fail(&e, "--orders: expected 1 to 1000000");
	if (o.patience < 0 || o.patience > MAX_PATIENCE)
		return cli_fail(&e, "--patience: expected 0 to 86400");
	c.reports.hears_atomics = o.is_atomics;
	c.argv = argv + 1;
	code = look_at_program(&c);
	if (code)
		return code;
	snprintf(c.dir, sizeof(c.dir), "/tmp/lkdf-check-XXXXXX");
	if (!mkdtemp(c.dir))
		return CLI_FAILED;
	status = o.orders > 1 ? run_orders(&c) : run_one(&c);
	take_logs(&c);
	notes_path(&c, path);
	unlink(path);
	rmdir(c.dir);
	if (status == CLI_NO_EXEC || status == CLI_NOT_FOUND)
		return status;
	is_checked = notes_runtime(c.notes, c.argv[0], c.has_tsan);
	notes_wishes(c.notes);
	tell_result(&c, status, is_checked);
	reports_end(&c.reports, stderr);
	free(c.notes);
	if (c.reports.nr || c.result.nr_seeds)
		return CLI_FINDINGS;
	if (c.result.stands_still || !is_checked || c.reports.nr_failed)
		return CLI_FAILED;
	if (!o.common.is_quiet)
		fprintf(stderr, "lkdf check: nothing was found\n");
	return status;
}
