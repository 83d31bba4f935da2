/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf trace record: has the runtimes of a process record into files that this
 * process has made, with its own rights, and gives them. A runtime that is told
 * to stop, or whose tool is gone, ends its file; where the process dies this
 * one does.
 */
#include "cli/cli.h"
#include "json.h"
#include "outfile.h"
#include "stat/ask.h"
#include "stat/child.h"
#include "stat/target.h"
#include "times.h"
#include "trace/finish.h"
#include "trace/verbs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char verb[] = "trace record";

struct record_opts {
	struct cli_common common;
	const char *process, *file;
	int64_t duration_ns;
	bool is_last;
};

static const struct cli_row rows[] = {
	{ "pid", 'p', CLI_TEXT, offsetof(struct record_opts, process),
	  "PID|NAME", "the process, by number or by the name of its command" },
	{ "output", 'o', CLI_TEXT, offsetof(struct record_opts, file), "FILE",
	  "the file; those of further runtimes have a number in their name" },
	{ "duration", 'd', CLI_TIME, offsetof(struct record_opts, duration_ns),
	  "TIME", "for so long (until interrupted, or the process ends)" },
	{ "last", 'l', CLI_FLAG, offsetof(struct record_opts, is_last), NULL,
	  "what the flight recorder of the process holds, at once" },
};

const struct cli_spec trace_record_spec = {
	.verb = verb,
	.usage = "-p PID|NAME -o FILE [-d TIME | --last] [--json]",
	.help = "Records what an lkdf program does that runs already, as "
		"LKDF_TRACE=FILE\nhas it from the start. The file is whole "
		"whatever ends the recording: the\ntime, SIGINT, the end of "
		"the program or of this command. Bodies that run\nwhen it "
		"begins or ends are told as such. It takes up to 32 MiB of "
		"the\nprogram's memory for each worker meanwhile. --last is for a "
		"program\nthat was started with LKDF_TRACE_LAST: its last "
		"seconds.",
	.row = rows,
	.nr_rows = sizeof(rows) / sizeof(rows[0]),
	.without = CLI_NO_VERBOSE,
};

/* A runtime. */
struct recording {
	char path[PATH_MAX], temp[PATH_MAX + 32];
	int file, fd; /* of the connection; < 0: it does not record */
	const struct stats *stats;
	uint64_t before; /* records ever, before this recording */
	uint64_t slices, lost;
	bool is_over, is_cut;
};

struct session {
	const struct record_opts *o;
	int pid, pidfd, signals;
	unsigned nr, nr_under_way;
	struct recording *r;
	int code; /* of the last that went wrong */
};

static int usage(const char *what)
{
	struct cli_error e = { verb, CLI_USAGE, NULL,
			       "lkdf trace record --help" };

	return cli_fail(&e, "%s", what);
}

/* ---- files -------------------------------------------------------------- */

/* "run.lkdf", "run.1.lkdf" ... False: the name is too long. */
static bool make_path(struct recording *r, const char *name, unsigned i)
{
	size_t size = strlen(name), stem = size;
	int n;

	if (size > 5 && !strcmp(name + size - 5, ".lkdf"))
		stem -= 5;
	if (i)
		n = snprintf(r->path, sizeof(r->path), "%.*s.%u%s", (int)stem,
			     name, i, name + stem);
	else
		n = snprintf(r->path, sizeof(r->path), "%s", name);
	return n > 0 && (size_t)n < sizeof(r->path) &&
	       !outfile_temp(r->path, r->temp, sizeof(r->temp));
}

/* Beside the file that it becomes once the runtime records. 0 or -errno. */
static int make_file(struct recording *r)
{
	struct stat st;

	if (!lstat(r->path, &st) && !S_ISREG(st.st_mode))
		return -EEXIST;
	r->file = open(r->temp,
		       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		       0600);
	if (r->file < 0)
		return -errno;
	/* Others see so that somebody writes it. */
	flock(r->file, LOCK_EX | LOCK_NB);
	return 0;
}

static int fail_file(const struct recording *r, int rc)
{
	struct cli_error e = { verb, cli_code_of(rc), NULL, NULL };

	if (rc == -EEXIST)
		e.code = CLI_USAGE;
	return cli_fail(&e, "%s: %s", r->path,
			rc == -EEXIST ? "it is there and no regular file"
				      : strerror(-rc));
}

/* ---- beginning ---------------------------------------------------------- */

static uint64_t count_begun(const struct stats *s)
{
	const struct lkdf_stats_block *b;
	uint64_t sum = 0;
	uint32_t e;

	for (e = 0; e <= s->h.nr_executors; e++) {
		b = stats_block(s, e);
		sum += b->slice_head + b->slice_lost;
	}
	return sum;
}

static int ask_to_record(struct recording *r, int pid, struct lkdf_answer *a)
{
	int rc, given;

	r->fd = ask_connect(r->stats, pid);
	if (r->fd < 0)
		return r->fd;
	r->before = count_begun(r->stats);
	rc = ask_send(r->stats, r->fd, LKDF_ASK_RECORD, r->file);
	if (!rc)
		rc = ask_receive(r->fd, a, &given);
	else
		given = -1;
	if (given >= 0)
		close(given);
	if (!rc && rename(r->temp, r->path))
		rc = -errno;
	if (rc) {
		close(r->fd);
		r->fd = -1;
	}
	return rc;
}

/* 0 or an exit code. */
static int begin_one(struct session *s, unsigned i)
{
	struct recording *r = &s->r[i];
	struct lkdf_answer a = { .error = 0 };
	int rc;

	r->fd = -1;
	if (!make_path(r, s->o->file, i))
		return usage("the name of the file is too long");
	rc = make_file(r);
	if (rc)
		return fail_file(r, rc);
	rc = ask_to_record(r, s->pid, &a);
	/* It is the runtime's from here on. */
	close(r->file);
	if (!rc) {
		s->nr_under_way++;
		return 0;
	}
	unlink(r->temp);
	return ask_fail(verb, s->pid, rc, &a);
}

/* ---- the last seconds --------------------------------------------------- */

static int ask_for_last(struct recording *r, int pid, struct lkdf_answer *a)
{
	int rc, given = -1, fd = ask_connect(r->stats, pid);

	if (fd < 0)
		return fd;
	rc = ask_send(r->stats, fd, LKDF_ASK_LAST, r->file);
	if (!rc)
		rc = ask_receive(fd, a, &given);
	if (given >= 0)
		close(given);
	close(fd);
	if (!rc && rename(r->temp, r->path))
		rc = -errno;
	return rc;
}

/* 0 or an exit code. */
static int take_last(struct session *s, unsigned i)
{
	struct recording *r = &s->r[i];
	struct lkdf_answer a = { .error = 0 };
	int rc;

	if (!make_path(r, s->o->file, i))
		return usage("the name of the file is too long");
	rc = make_file(r);
	if (rc)
		return fail_file(r, rc);
	rc = ask_for_last(r, s->pid, &a);
	close(r->file);
	if (rc) {
		unlink(r->temp);
		return ask_fail(verb, s->pid, rc, &a);
	}
	r->is_over = true;
	r->slices = a.slices;
	r->lost = a.lost;
	return 0;
}

/* ---- ending ------------------------------------------------------------- */

/* Nobody writes the file any more, and it has no end. */
static void finish_file(struct recording *r)
{
	uint64_t begun = count_begun(r->stats) - r->before;

	r->is_cut = trace_finish(r->path, begun) > 0;
}

/* The message when it has ended; a process that is gone says nothing. */
static int end_one(struct session *s, struct recording *r, bool is_gone)
{
	struct timeval now = { .tv_usec = 1000 };
	struct lkdf_answer a = { .error = 0 };
	int rc, given = -1;

	if (is_gone)
		setsockopt(r->fd, SOL_SOCKET, SO_RCVTIMEO, &now, sizeof(now));
	rc = ask_receive(r->fd, &a, &given);
	if (given >= 0)
		close(given);
	close(r->fd);
	r->fd = -1;
	r->is_over = true;
	s->nr_under_way--;
	r->slices = a.slices;
	r->lost = a.lost;
	if (!rc)
		return 0;
	if (rc != -ETIMEDOUT || is_gone)
		finish_file(r);
	if (is_gone || rc == -ECONNRESET)
		return 0;
	return ask_fail(verb, s->pid, rc, &a);
}

static void end_all(struct session *s, bool is_gone)
{
	unsigned i;
	int code;

	for (i = 0; i < s->nr; i++)
		if (s->r[i].fd >= 0)
			ask_send(s->r[i].stats, s->r[i].fd, LKDF_ASK_STOP, -1);
	for (i = 0; i < s->nr; i++) {
		if (s->r[i].fd < 0)
			continue;
		code = end_one(s, &s->r[i], is_gone);
		s->code = code ? code : s->code;
	}
}

/* ---- meanwhile ---------------------------------------------------------- */

static int patience_ms(int64_t end_ns)
{
	int64_t left = (end_ns - child_now_ns()) / 1000000 + 1;

	if (end_ns < 0)
		return -1;
	return left < 0 ? 0 : left > 1000000 ? 1000000 : (int)left;
}

/* Those that have hung up have ended: their runtimes have closed. */
static void see_ends(struct session *s, const struct pollfd *p)
{
	unsigned i;
	int code;

	for (i = 0; i < s->nr; i++) {
		if (s->r[i].fd < 0 || !p[i].revents)
			continue;
		code = end_one(s, &s->r[i], false);
		s->code = code ? code : s->code;
	}
}

/* Until the time, a signal, or the end of the process. True: it is gone. */
static bool wait_for_end(struct session *s, int64_t end_ns)
{
	struct pollfd p[STATS_MAX + 2];
	unsigned i;

	while (s->nr_under_way && (end_ns < 0 || child_now_ns() < end_ns)) {
		for (i = 0; i < s->nr; i++)
			p[i] = (struct pollfd){ .fd = s->r[i].fd,
						.events = POLLIN };
		p[s->nr] =
			(struct pollfd){ .fd = s->signals, .events = POLLIN };
		p[s->nr + 1] =
			(struct pollfd){ .fd = s->pidfd, .events = POLLIN };
		if (poll(p, s->nr + 2, patience_ms(end_ns)) <= 0)
			continue;
		if (p[s->nr + 1].revents)
			return true;
		if (p[s->nr].revents)
			return false;
		see_ends(s, p);
	}
	return false;
}

static int open_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

/* ---- what it came to ---------------------------------------------------- */

static void print_text(const struct session *s)
{
	const struct recording *r;

	for (r = s->r; r < s->r + s->nr; r++) {
		if (r->is_cut)
			printf("%s: cut, it ends with its last whole piece\n",
			       r->path);
		else if (r->is_over)
			printf("%s: %" PRIu64 " slices, %" PRIu64 " lost\n",
			       r->path, r->slices, r->lost);
	}
}

static void print_json(const struct session *s)
{
	const struct recording *r;
	struct json j;

	json_init(&j, stdout);
	json_open(&j, NULL, '{');
	json_text(&j, "schema", "lkdf/trace_record/1");
	json_int(&j, "pid", s->pid);
	json_open(&j, "files", '[');
	for (r = s->r; r < s->r + s->nr; r++) {
		if (!r->is_over)
			continue;
		json_open(&j, NULL, '{');
		json_text(&j, "file", r->path);
		json_bool(&j, "cut", r->is_cut);
		json_int(&j, "slices", (int64_t)r->slices);
		json_int(&j, "lost", (int64_t)r->lost);
		json_close(&j, '}');
	}
	json_close(&j, ']');
	json_close(&j, '}');
}

static void print_result(const struct session *s)
{
	if (s->o->common.is_json)
		print_json(s);
	else if (!s->o->common.is_quiet)
		print_text(s);
}

static int take_all(struct session *s)
{
	unsigned i;
	int code;

	for (i = 0; i < s->nr; i++) {
		code = take_last(s, i);
		s->code = code ? code : s->code;
	}
	print_result(s);
	return s->code;
}

static int record_all(struct session *s)
{
	const struct record_opts *o = s->o;
	int64_t end_ns = -1;
	unsigned i;
	int code;

	s->signals = open_signals();
	s->pidfd = (int)syscall(SYS_pidfd_open, s->pid, 0);
	for (i = 0; i < s->nr; i++) {
		code = begin_one(s, i);
		s->code = code ? code : s->code;
	}
	if (!s->nr_under_way)
		return s->code;
	if (!o->common.is_quiet)
		fprintf(stderr, "lkdf trace record: process %d, %s\n", s->pid,
			o->duration_ns ? "until the time is over"
				       : "until interrupted");
	if (o->duration_ns)
		end_ns = child_now_ns() + o->duration_ns;
	end_all(s, wait_for_end(s, end_ns));
	print_result(s);
	return s->code;
}

int trace_record(int argc, char **argv)
{
	struct record_opts o = { .process = NULL };
	struct session s = { .o = &o };
	struct stats stats[STATS_MAX];
	int code, rc;
	unsigned i;

	if (!cli_parse(&trace_record_spec, argc, argv, &o, &code))
		return code;
	if (!o.file || !o.file[0])
		return usage("into which file? -o FILE");
	if (o.duration_ns > NS_PER_YEAR)
		return usage("-d: up to 365d");
	if (o.is_last && o.duration_ns)
		return usage("-d is for what comes, --last for what was");
	code = target_find(verb, o.process, &s.pid);
	if (code)
		return code;
	rc = stats_find(s.pid, stats, STATS_MAX);
	if (rc <= 0)
		return target_refuse(verb, s.pid, rc);
	s.nr = (unsigned)rc;
	s.r = calloc(s.nr, sizeof(*s.r));
	for (i = 0; s.r && i < s.nr; i++)
		s.r[i].stats = &stats[i];
	if (!s.r)
		code = usage("no memory");
	else
		code = o.is_last ? take_all(&s) : record_all(&s);
	for (i = 0; i < s.nr; i++)
		stats_unmap(&stats[i]);
	free(s.r);
	return code;
}
