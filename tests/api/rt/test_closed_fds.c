/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A program closes all descriptors that it does not know, as closefrom(3) does,
 * under a runtime that records and has operations under way. What it opens then
 * has the library's numbers: nothing is written into it, nor is it closed, and
 * the runtime closes.
 */
#include "tests/api/api.h"
#include "tests/api/probe.h"

#include <fcntl.h>
#include <lkdf/io.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define NR_FILES 100

static char dir[] = "/tmp/lkdf-closed-XXXXXX";

static int nop(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	return 0;
}

static void close_all(void)
{
	int fd;

	for (fd = 3; fd < 1024; fd++)
		close(fd);
}

static const char *path_of(int i)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%d", dir, i);
	return path;
}

/* Of an operation that a thread polls for: with it there is such a thread. */
static void have_poller(struct lkdf *rt, struct lkdf_kind **k)
{
	struct lkdf_io io = { .size = sizeof(io),
			      .op = LKDF_IO_TIMEOUT,
			      .off = 1000 };

	must(lkdf_kind_create_io(
		rt, ATTR(lkdf_kind_attr, .name = "io", .arg_size = sizeof(io)),
		k));
	must(api_call(rt, *k, &io));
}

/* In a child, which the parent ends if it hangs. A bit for what was wrong. */
static int close_under(const char *options)
{
	struct lkdf *rt = api_open(options);
	struct lkdf_kind *k = api_kind(rt, "nop", nop, 0, 0), *io;
	int fd[NR_FILES], i, wrong = 0;
	struct lkdf_event e;
	struct stat st;

	have_poller(rt, &io);
	/* Its other end is the library's. */
	must(lkdf_event_create(rt, 1, 0, &e));
	wrong |= (lkdf_event_fd(e) < 0) << 2;
	close_all();
	for (i = 0; i < NR_FILES; i++)
		fd[i] = open(path_of(i), O_RDWR | O_CREAT | O_TRUNC, 0600);
	for (i = 0; i < 2000; i++)
		lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k), NULL);
	wrong |= lkdf_scope_wait(rt, NULL, -1) != 0;
	lkdf_event_signal(e, 0);
	lkdf_event_put(e);
	lkdf_kind_put(k);
	lkdf_kind_put(io);
	wrong |= (lkdf_close(rt) != 0) << 1;
	for (i = 0; i < NR_FILES; i++) {
		wrong |= (fstat(fd[i], &st) != 0) << 2;
		wrong |= (!stat(path_of(i), &st) && st.st_size) << 3;
	}
	return wrong;
}

static void nothing_is_harmed(const char *options)
{
	int status = -1, i;
	pid_t pid = fork();

	if (!pid) {
		watchdog_set(20);
		_exit(close_under(options));
	}
	must(-(waitpid(pid, &status, 0) != pid));
	ok(WIFEXITED(status), "%s: the runtime closes", options);
	ok(WIFEXITED(status) && !(WEXITSTATUS(status) & 3),
	   "%s: and its tasks have run", options);
	ok(WIFEXITED(status) && !(WEXITSTATUS(status) & 4),
	   "%s: no file of the program is closed", options);
	ok(WIFEXITED(status) && !(WEXITSTATUS(status) & 8),
	   "%s: and none has a byte of the library", options);
	for (i = 0; i < NR_FILES; i++)
		unlink(path_of(i));
}

/* A runtime keeps a descriptor of the probe's. */
static void with_a_probe(const char *self)
{
	char options[PATH_MAX];

	if (!probe_start(self, "")) {
		probe_absent("descriptors that are closed beside a probe");
		probe_end();
		return;
	}
	snprintf(options, sizeof(options), "workers=2,probe=\"%s/bpf\"",
		 probe_dir);
	nothing_is_harmed(options);
	probe_end();
}

int main(int argc, char **argv)
{
	char options[PATH_MAX];

	(void)argc;

	tap_start(100);
#ifdef __SANITIZE_THREAD__
	skip("descriptors that are closed under a runtime",
	     "ThreadSanitizer takes close(2) beside another use for a race");
	return tap_end();
#endif
	must(mkdtemp(dir) ? 0 : -errno);
	snprintf(options, sizeof(options), "workers=2,trace=%s/trace", dir);
	nothing_is_harmed(options);
	snprintf(options, sizeof(options), "workers=2,io=threads,trace=%s/two",
		 dir);
	nothing_is_harmed(options);
	with_a_probe(argv[0]);
	snprintf(options, sizeof(options), "%s/trace", dir);
	unlink(options);
	snprintf(options, sizeof(options), "%s/two", dir);
	unlink(options);
	rmdir(dir);
	return tap_end();
}
