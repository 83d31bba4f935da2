/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What tests of refused system calls share: each call of a scenario fails once,
 * with each errno of its row in tests/faults/refuse_calls.h.
 *
 *	test_refused                         a share: REFUSED_SHARE=I/N, 0/1 all
 *	test_refused SCENARIO                all of one scenario
 *	test_refused SCENARIO CALL AT ERRNO  one refusal again
 */
#ifndef TESTS_API_REFUSED_H
#define TESTS_API_REFUSED_H

#include "tests/api/api.h"
#include "tests/faults/refuse.h"

#include <fcntl.h>
#include <sys/stat.h>

#define REFUSED_PARTS 60 /* unless REFUSED_SHARE says another share */

struct scenario {
	const char *name;
	int (*run)(void); /* 0, a negative error, or 1 for a wrong value */
	const char *argv[10]; /* or a program, whose first word is its path */
	bool is_exact; /* a program that ends with 0 has written the same */
};

/* ---- in the child -------------------------------------------------------- */

static const struct scenario *scenario;
static int fds_before;
/* What programs write: to stdout as it is right, now, and to stderr. */
static char refused_right[] = "/tmp/lkdf-refused-right-XXXXXX";
static char refused_out[] = "/tmp/lkdf-refused-out-XXXXXX";
static char refused_err[] = "/tmp/lkdf-refused-err-XXXXXX";

static void write_to(const char *path, int fd)
{
	int file = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);

	if (file < 0 || dup2(file, fd) < 0)
		_exit(3);
	close(file);
}

static void look_before(char *text, size_t room)
{
	(void)text;
	(void)room;
	if (!scenario->run) {
		write_to(refused_out, 1);
		write_to(refused_err, 2);
		return;
	}
	/* What libraries open once stays open. */
	scenario->run();
	fds_before = api_nr_entries("/proc/self/fd");
}

static void run_once(char *text, size_t room)
{
	int rc;

	if (!scenario->run) {
		execv(scenario->argv[0], (char *const *)scenario->argv);
		_exit(3);
	}
	rc = scenario->run();
	if (rc > 0)
		snprintf(text, room, "a wrong value");
	else if (rc && !lkdf_errmsg()[0])
		snprintf(text, room, "error %d (%s) without a text", -rc,
			 strerror(-rc));
}

/* The listener is one descriptor more. */
static void look_after(char *text, size_t room)
{
	int fds = api_nr_entries("/proc/self/fd") - 1, threads, rc;

	if (fds != fds_before) {
		snprintf(text, room, "%d descriptors, %d before", fds,
			 fds_before);
		return;
	}
	threads = api_threads_come_to(1);
	if (threads != 1) {
		snprintf(text, room, "%d threads are left", threads);
		return;
	}
	rc = scenario->run();
	if (rc)
		snprintf(text, room, "%d when it runs again: %s", rc,
			 lkdf_errmsg());
}

/* ---- in the parent ------------------------------------------------------- */

static struct refuse_life refused_life = { look_before, run_once, look_after,
					   false };
static unsigned nr_refusals, nr_bad;

static int refused_size(const char *path)
{
	struct stat st;

	return stat(path, &st) ? -1 : (int)st.st_size;
}

/* cmp or cp of both outputs. */
static bool with_outputs(const char *command)
{
	char line[160];

	snprintf(line, sizeof(line), "%s %s %s", command, refused_out,
		 refused_right);
	return !system(line);
}

/* NULL: the program has done what it should, or said why not. */
static const char *wrong_program(const struct refuse_end *end)
{
	int rc = WEXITSTATUS(end->status);

	if (rc && !refused_size(refused_err) && !refused_size(refused_out))
		return "it fails without a word";
	if (!rc && scenario->is_exact && !with_outputs("cmp -s"))
		return "it ends with 0, and its output is another one";
	return NULL;
}

/* NULL: the scenario survived. */
static const char *wrong_end(const struct refuse_end *end)
{
	if (end->hung)
		return "hangs";
	if (WIFSIGNALED(end->status))
		return strsignal(WTERMSIG(end->status));
	if (!scenario->run)
		return wrong_program(end);
	return WEXITSTATUS(end->status) ? end->text : NULL;
}

static bool survives(const struct refusal *r, const struct refuse_end *end)
{
	const char *wrong = wrong_end(end), *call = refuse_calls[r->call].name;

	nr_refusals++;
	if (!wrong)
		return true;
	nr_bad++;
	printf("# %s: %s %u refused, %s: %s\n", scenario->name, call, r->at,
	       strerror(r->error), wrong);
	printf("# again: %s %s %u %d\n", scenario->name, call, r->at, r->error);
	return false;
}

static void refuse_each(int call, unsigned nr, unsigned part, unsigned parts)
{
	struct refuse_end end;
	struct refusal r = { .call = call };
	unsigned i;

	for (i = 0; i < nr * REFUSE_ERRORS; i++) {
		r.at = 1 + i / REFUSE_ERRORS;
		r.error = refuse_calls[call].error[i % REFUSE_ERRORS];
		if (!r.error || (i + (unsigned)call) % parts != part)
			continue;
		if (!refuse_run(&refused_life, &r, &end))
			survives(&r, &end);
	}
}

static void refuse_scenario(unsigned part, unsigned parts)
{
	const struct refusal none = { 0 };
	struct refuse_end end;
	unsigned calls = 0;
	const char *wrong;
	int i;

	nr_refusals = nr_bad = 0;
	if (refuse_run(&refused_life, &none, &end)) {
		skip(scenario->name, "no filter with a listener");
		return;
	}
	with_outputs("cp");
	wrong = wrong_end(&end);
	if (!ok(!wrong, "%s: right without a refusal", scenario->name)) {
		printf("# %s\n", wrong);
		return;
	}
	for (i = 0; i < REFUSE_NR_CALLS; i++) {
		calls += end.nr[i];
		refuse_each(i, end.nr[i], part, parts);
	}
	ok(calls, "%s: calls are counted", scenario->name);
	is(nr_bad, 0, "%s: %u refusals of %u calls", scenario->name,
	   nr_refusals, calls);
}

static void refuse_one(char **argv)
{
	struct refusal r = { .at = (unsigned)atoi(argv[1]),
			     .error = atoi(argv[2]) };
	struct refuse_end end;

	while (r.call < REFUSE_NR_CALLS &&
	       strcmp(refuse_calls[r.call].name, argv[0]))
		r.call++;
	if (r.call == REFUSE_NR_CALLS || refuse_run(&refused_life, &r, &end)) {
		ok(false, "no call %s", argv[0]);
		return;
	}
	ok(survives(&r, &end), "%s: %s %u is %srefused", scenario->name,
	   argv[0], r.at, end.was_refused ? "" : "not ");
	if (!scenario->run)
		printf("# it ended with %d, stderr in %s\n",
		       WEXITSTATUS(end.status), refused_err);
}

static void refused_files(void)
{
	close(must(mkstemp(refused_right)));
	close(must(mkstemp(refused_out)));
	close(must(mkstemp(refused_err)));
}

/* All of main() but for tap_start() and tap_end(). */
static void refused_main(int argc, char **argv, const struct scenario *s,
			 int nr)
{
	const char *share = getenv("REFUSED_SHARE");
	unsigned part = 0, parts = argc > 1 ? 1 : REFUSED_PARTS;

	if (share && argc == 1 && sscanf(share, "%u/%u", &part, &parts) != 2)
		must(-EINVAL);
	refused_files();
	for (; nr--; s++) {
		if (argc > 1 && strcmp(argv[1], s->name))
			continue;
		scenario = s;
		refused_life.is_program = !s->run;
		if (argc == 5)
			refuse_one(argv + 2);
		else
			refuse_scenario(part, parts);
	}
	unlink(refused_right);
	unlink(refused_out);
	if (argc < 5)
		unlink(refused_err);
}

#endif
