/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* lkdf top: what the workers of a process do, again and again. */
#include "top/top.h"

#include "cli/verbs.h"
#include "stat/child.h"
#include "stat/stats_map.h"
#include "stat/target.h"
#include "times.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char verb[] = "top";

static const struct cli_row rows[] = {
	{ "pid", 'p', CLI_TEXT, offsetof(struct top_opts, process), "PID|NAME",
	  "the process, by number or by the name of its command" },
	{ "view", 'w', CLI_TEXT, offsetof(struct top_opts, view), "VIEW",
	  "what is shown first (nodes)" },
	{ "interval", 'I', CLI_TIME_MS, offsetof(struct top_opts, interval_ns),
	  "TIME", "from one look to the next (1s)" },
	{ "times", 'n', CLI_INT, offsetof(struct top_opts, times), "N",
	  "so many looks (until the process ends)" },
	{ "batch", 'b', CLI_FLAG, offsetof(struct top_opts, is_batch), NULL,
	  "lines on standard output, not a screen" },
	{ "dir", 0, CLI_TEXT, offsetof(struct top_opts, dir), "DIR",
	  "where lkdf probe start has pinned (LKDF_PROBE, else " LKDF_PROBE_DIR
	  ")" },
};

const struct cli_spec top_spec = {
	.verb = verb,
	.usage = "[options] [-p PID|NAME]",
	.help = "Shows what the workers of a process do, by node, worker, kind\n"
		"of body, futex word, device and moved bytes; reading costs the\n"
		"process nothing. Keys change the view, ? lists them. Without\n"
		"-p it is the one process that has a runtime. Kinds are known\n"
		"while something is recorded, futex words with lkdf probe start.\n"
		"--json is one look of one interval. Without a terminal, and\n"
		"where the tool was built without ncursesw, use --batch.",
	.row = rows,
	.nr_rows = sizeof(rows) / sizeof(rows[0]),
	.without = CLI_NO_QUIET | CLI_NO_VERBOSE,
	.choice_of = "view",
	.choice = top_view_word,
};

int top_fail(enum cli_exit code, const char *what, const char *try)
{
	struct cli_error e = { verb, code, NULL, try };

	return cli_fail(&e, "%s", what);
}

/* ---- which process ------------------------------------------------------- */

struct candidates {
	unsigned nr;
	int pid;
	char list[256]; /* "12 spmv, 13 dupes" */
};

static void add_candidate(void *u, int pid, const char *name)
{
	struct candidates *c = u;
	size_t used = strlen(c->list);
	struct stats_map m;

	if (stats_map_open(pid, &m, 1) != 1)
		return;
	stats_map_close(&m);
	snprintf(c->list + used, sizeof(c->list) - used, "%s%d %s",
		 c->nr ? ", " : "", pid, name);
	c->nr++;
	c->pid = pid;
}

static int find_process(const struct top_opts *o, int *pid)
{
	struct candidates c = { .nr = 0 };
	char text[320];

	if (o->process)
		return target_find(verb, o->process, pid);
	target_each(add_candidate, &c);
	*pid = c.pid;
	if (c.nr == 1)
		return 0;
	if (!c.nr)
		return top_fail(CLI_GONE,
				"no process that may be looked at has an lkdf "
				"runtime",
				NULL);
	snprintf(text, sizeof(text), "which process? %s", c.list);
	return top_fail(CLI_USAGE, text, "lkdf top -p PID");
}

/* ---- lines on standard output -------------------------------------------- */

/* A signal may come while nobody waits. */
static volatile sig_atomic_t is_stopped;

static void on_signal(int signal)
{
	(void)signal;
	is_stopped = 1;
}

static unsigned width_of_output(void)
{
	struct winsize size;
	const char *columns = getenv("COLUMNS");
	long width = columns ? strtol(columns, NULL, 10) : 0;

	if (width < 1 && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
		width = size.ws_col;
	if (width < 1)
		width = 80;
	return width > TOP_WIDTH ? TOP_WIDTH : (unsigned)width;
}

static void print_page(const struct top_page *p)
{
	const struct top_line *l;

	for (l = p->line; l < p->line + p->nr; l++) {
		cli_paint(stdout, l->paint, 0, l->text);
		putchar('\n');
	}
	putchar('\n');
	fflush(stdout);
}

/* 0: the time is up; 1: a signal; -1: the process has ended. */
static int wait_until(int pidfd, int pid, int64_t until_ns)
{
	struct pollfd fd = { .fd = pidfd, .events = POLLIN };
	int64_t left = until_ns - child_now_ns();
	int nr =
		poll(&fd, pidfd >= 0, left > 0 ? (int)(left / 1000000 + 1) : 0);

	if (nr < 0)
		return errno == EINTR ? 1 : -1;
	if (nr || (pidfd < 0 && kill(pid, 0) && errno == ESRCH))
		return -1;
	return 0;
}

static int print_look(struct top *t, struct top_page *p,
		      const struct top_opts *o)
{
	if (p->view == TOP_FUTEXES)
		top_look_words(t);
	if (top_look(t) || (!o->common.is_json && top_page_make(p, t)))
		return top_fail(CLI_ABSENT, "no memory", NULL);
	if (o->common.is_json)
		top_print_json(t);
	else
		print_page(p);
	return 0;
}

static int batch(struct top *t, struct top_page *p, const struct top_opts *o)
{
	const struct sigaction stop = { .sa_handler = on_signal };
	int pidfd = (int)syscall(SYS_pidfd_open, t->pid, 0);
	int64_t next = child_now_ns();
	int code = 0, why = 0;
	char text[64];
	long i;

	sigaction(SIGINT, &stop, NULL);
	sigaction(SIGTERM, &stop, NULL);
	p->width = width_of_output();
	if (top_look(t))
		code = top_fail(CLI_ABSENT, "no memory", NULL);
	if (p->view == TOP_FUTEXES)
		top_look_words(t);
	for (i = 0;
	     !code && !why && !ferror(stdout) && (!o->times || i < o->times);
	     i++) {
		next += o->interval_ns;
		why = is_stopped ? 1 : wait_until(pidfd, t->pid, next);
		if (why <= 0)
			code = print_look(t, p, o);
	}
	if (pidfd >= 0)
		close(pidfd);
	if (code || why >= 0)
		return code;
	snprintf(text, sizeof(text), "process %d has ended", t->pid);
	return top_fail(CLI_GONE, text, NULL);
}

static int check_opts(struct top_opts *o, struct top_page *p)
{
	unsigned i;

	for (i = 0; i < NR_TOP_VIEWS; i++)
		if (!o->view || !strcmp(o->view, top_view_word(NULL, i)))
			break;
	if (i == NR_TOP_VIEWS)
		return top_fail(CLI_USAGE,
				"a view is nodes, workers, kinds, futexes, "
				"devices or pages",
				"lkdf top --help");
	p->view = (enum top_view)i;
	if (o->interval_ns < 10 * NS_PER_MS || o->interval_ns > NS_PER_HOUR ||
	    o->times < 0)
		return top_fail(CLI_USAGE,
				"an interval is 10ms to 1h, and -n 0 or more",
				"lkdf top --help");
	if (o->common.is_json) {
		o->is_batch = true;
		o->times = 1;
	}
	return 0;
}

int verb_top(int argc, char **argv)
{
	struct top_opts o = { .interval_ns = NS_PER_S };
	struct top_page page = { .nr = 0 };
	struct top t = { .pid = 0 };
	int code, rc;

	if (!cli_parse(&top_spec, argc, argv, &o, &code))
		return code;
	code = check_opts(&o, &page);
	if (!code)
		code = find_process(&o, &t.pid);
	if (code)
		return code;
	setlocale(LC_CTYPE, "");
	page.is_utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	t.pins = o.dir;
	rc = top_open(&t);
	if (rc <= 0)
		code = target_refuse(verb, t.pid, rc);
	else if (o.is_batch)
		code = batch(&t, &page, &o);
	else
		code = top_screen(&t, &page, &o);
	top_close(&t);
	top_page_free(&page);
	return code;
}
