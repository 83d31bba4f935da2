/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Recordings that begin and end while bodies run, kinds come and go and graphs
 * are sealed; files that are none; a fork and a close meanwhile.
 */
#include "tests/api/ask.h"

#include <sys/wait.h>

#define NR_RECORDINGS 40

struct answer {
	struct lkdf_answer a;
	int error;
};

/* A connection that has asked to record into fd. */
static int ask_to_record(const char *name, int fd, struct answer *to)
{
	const struct lkdf_ask ask = { LKDF_STATS_MAGIC, LKDF_STATS_VERSION,
				      LKDF_ASK_RECORD, ask_key() };
	int s = must(ask_connect(name)), given;

	ask_put(s, &ask, sizeof(ask), fd, fd >= 0 ? 1 : 0);
	to->error = ask_hear(s, &to->a, &given);
	return s;
}

static void stop(int s, struct answer *to)
{
	int given;

	ask_word(s, LKDF_ASK_STOP);
	to->error = ask_hear(s, &to->a, &given);
	close(s);
}

/* ---- files that are none ------------------------------------------------ */

static void refuses(const char *name, int fd, const char *what)
{
	struct answer to;

	close(ask_to_record(name, fd, &to));
	is(to.error, -EINVAL, "%s is refused", what);
	if (fd >= 0)
		close(fd);
}

static void files_that_are_none(const char *name)
{
	char path[] = "/tmp/lkdf-record-XXXXXX";
	int fd[2], full = must(memfd_create("full", MFD_CLOEXEC));

	must(pipe(fd));
	must((int)write(full, "x", 1));
	refuses(name, -1, "no file");
	refuses(name, fd[1], "a pipe");
	refuses(name, full, "a file with something in it");
	close(must(mkstemp(path)));
	refuses(name, must(open(path, O_RDONLY)), "a file to be read");
	unlink(path);
	close(fd[0]);
}

/* ---- while all goes on -------------------------------------------------- */

static atomic_int is_over;

static void *work(void *u)
{
	struct lkdf *rt = u;
	struct lkdf_kind *k;
	struct lkdf_graph *g;
	int i;

	while (!atomic_load(&is_over)) {
		k = api_kind(rt, "new", api_nothing, 0, 0);
		g = api_graph(rt, 1);
		for (i = 0; i < 6; i++) {
			must(lkdf_graph_add(g, k, NULL, NULL, 0));
			if (i)
				must(lkdf_graph_order(g, i - 1, i));
		}
		must(lkdf_graph_seal(g, NULL));
		for (i = 0; i < 10; i++) {
			must(lkdf_graph_run(g, NULL, NULL, NULL));
			must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k),
					 NULL));
			must(lkdf_scope_wait(rt, NULL, -1));
		}
		lkdf_graph_put(g);
		lkdf_kind_put(k);
	}
	return NULL;
}

static bool is_file(int fd)
{
	struct lkdf_file_header h;

	return pread(fd, &h, sizeof(h), 0) == sizeof(h) &&
	       h.magic == LKDF_FILE_MAGIC && h.pid == (uint32_t)getpid();
}

/* Each other one ends as its tool dies. */
static void recordings_come_and_go(const char *name)
{
	int nr_begun = 0, nr_files = 0, nr_answers = 0, i, fd, s;
	uint64_t slices = 0;
	struct answer to;

	for (i = 0; i < NR_RECORDINGS; i++) {
		fd = must(memfd_create("file", MFD_CLOEXEC));
		/* The one before may not have ended yet. */
		while ((s = ask_to_record(name, fd, &to)) >= 0 &&
		       to.error == -EBUSY)
			close(s);
		nr_begun += !to.error;
		api_nap_ns(5000000);
		nr_files += is_file(fd);
		close(fd);
		if (i & 1) {
			stop(s, &to);
			nr_answers += !to.error;
			slices += to.a.slices;
		} else {
			close(s);
		}
	}
	is(nr_begun, NR_RECORDINGS, "all recordings begin");
	is(nr_files, NR_RECORDINGS, "all write a file");
	is(nr_answers, NR_RECORDINGS / 2, "those that are ended say so");
	ok(slices > 0, "they hold slices");
}

static void kinds_are_as_before(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "late", api_nothing, 0, 0);
	int i;

	for (i = 0; i < 100; i++)
		must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k), NULL));
	is(lkdf_scope_wait(rt, NULL, -1), 0, "tasks run when all is over");
	lkdf_kind_put(k);
}

static void a_child_writes_nothing(struct lkdf *rt, const char *name)
{
	int fd = must(memfd_create("file", MFD_CLOEXEC)), status = -1, s;
	struct answer to;
	pid_t pid;

	s = ask_to_record(name, fd, &to);
	is(to.error, 0, "a recording is under way");
	pid = must(fork());
	if (!pid) {
		watchdog_set(60);
		_exit(lkdf_close(rt) ? 1 : 0);
	}
	waitpid(pid, &status, 0);
	is(status, 0, "a forked child closes its runtime");
	stop(s, &to);
	is(to.error, 0, "the parent's recording goes on until it is ended");
	close(fd);
}

static void closing_ends_it(struct lkdf *rt, const char *name)
{
	int fd = must(memfd_create("file", MFD_CLOEXEC)), s, given;
	struct lkdf_kind *k;
	struct answer to;

	s = ask_to_record(name, fd, &to);
	k = api_kind(rt, "last", api_nothing, 0, 0);
	must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k), NULL));
	must(lkdf_scope_wait(rt, NULL, -1));
	lkdf_kind_put(k);
	is(lkdf_close(rt), 0, "the runtime closes while it is recorded");
	is(ask_hear(s, &to.a, &given), 0, "the tool is told");
	ok(to.a.slices >= 1, "how much it came to");
	ok(is_file(fd), "and has its file");
	close(s);
	close(fd);
}

int main(void)
{
	const struct lkdf_stats_header *h;
	pthread_t thread;
	struct lkdf *rt;

	tap_start(60);
	rt = api_open("workers=2");
	h = ask_header();
	files_that_are_none(h->ask);
	must(-pthread_create(&thread, NULL, work, rt));
	recordings_come_and_go(h->ask);
	atomic_store(&is_over, 1);
	pthread_join(thread, NULL);
	kinds_are_as_before(rt);
	a_child_writes_nothing(rt, h->ask);
	closing_ends_it(rt, h->ask);
	munmap((void *)(uintptr_t)h, 4096);
	return tap_end();
}
