/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The thread that answers tools: what it says, that it costs nothing until
 * somebody asks, and peers that want to stop, fill or fool it.
 */
#include "tests/api/ask.h"
#include "tests/threads.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define THREAD "lkdf/ask"

/* The thread that answers; 0: there is none. */
static int tid_of_it(void)
{
	struct found_thread t;

	return threads_find(THREAD, &t, 1) ? t.tid : 0;
}

static void it_says_what_waits(struct lkdf *rt, const char *name)
{
	struct lkdf_kind *k = api_kind(rt, "late", api_nothing, 0, 0);
	struct lkdf_event go;

	must(lkdf_event_create(rt, 1, 0, &go));
	must(lkdf_submit(
		rt, NULL,
		ATTR(lkdf_task, .kind = k, .after = &go, .nr_after = 1), NULL));
	why_until(rt, "task \"late\" waits before it starts");
	has(ask_why(name), "task \"late\" waits before it starts",
	    "a tool is told the same");
	must(lkdf_event_signal(go, 0));
	must(lkdf_scope_wait(rt, NULL, -1));
	lkdf_event_put(go);
	lkdf_kind_put(k);
	why_until(rt, "nothing waits");
	has(ask_why(name), "nothing waits", "and that it is over");
}

static void an_answer_stays_as_it_is(const char *name)
{
	const int seals =
		F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL;
	int fd = must(ask_connect(name)), given = -1;
	struct lkdf_answer a;

	ask_word(fd, LKDF_ASK_WHY_TEXT);
	is(ask_hear(fd, &a, &given), 0, "an answer");
	is(fcntl(given, F_GET_SEALS), seals, "has all seals");
	is(ftruncate(given, 0) ? -errno : 0, -EPERM, "it does not shrink");
	is(pwrite(given, "x", 1, 0) < 0 ? -errno : 0, -EPERM,
	   "nor does it change");
	close(given);
	close(fd);
}

/* One request that is none; what the answer is. */
static int answer_to(const char *name, const void *bytes, size_t size)
{
	struct lkdf_answer a = { .error = 0 };
	int fd = must(ask_connect(name)), given, rc;

	ask_put(fd, bytes, size, -1, 0);
	rc = ask_hear(fd, &a, &given);
	close(fd);
	if (rc == -EOPNOTSUPP)
		has(a.text, "word 77 is unknown", "the text says which");
	return rc;
}

static void no_request_has_no_answer(const char *name)
{
	struct lkdf_ask ask = { LKDF_STATS_MAGIC, LKDF_STATS_VERSION, 77,
				ask_key() };
	char rest[4096] = { 0 };

	is(answer_to(name, &ask, sizeof(ask)), -EOPNOTSUPP,
	   "an unknown word is refused");
	is(answer_to(name, &ask, sizeof(ask) - 1), -ECONNRESET,
	   "what is too short has no answer");
	memcpy(rest, &ask, sizeof(ask));
	is(answer_to(name, rest, sizeof(rest)), -ECONNRESET,
	   "nor has what is too long");
	ask.key++;
	is(answer_to(name, &ask, sizeof(ask)), -ECONNRESET,
	   "nor has what comes without the key");
	ask.key--;
	ask.version++;
	is(answer_to(name, &ask, sizeof(ask)), -ECONNRESET,
	   "nor has another version");
	ask.magic++;
	is(answer_to(name, &ask, sizeof(ask)), -ECONNRESET,
	   "nor has other magic");
	has(ask_why(name), "as seen", "the next one is answered");
}

/* Each leaves one behind if the thread closes all but one. */
#define NR_GIVERS 200

/* What the thread has not closed yet, and what the runtime opens, is few. */
static void few_are_left(int before)
{
	int i, nr = 0;

	for (i = 0; i < 2000; i++) {
		nr = api_nr_entries("/proc/self/fd");
		if (nr < before + NR_GIVERS / 4)
			break;
		api_nap_ns(1000000);
	}
	ok(nr < before + NR_GIVERS / 4, "no descriptor is left of %d givers",
	   NR_GIVERS);
}

static void descriptors_do_not_stay(const char *name)
{
	const struct lkdf_ask ask = { LKDF_STATS_MAGIC, LKDF_STATS_VERSION,
				      LKDF_ASK_WHY_TEXT, ask_key() };
	int before = api_nr_entries("/proc/self/fd"), i, fd, given;
	const int copies[] = { 1, 2, 3, 64 };
	struct lkdf_answer a;

	for (i = 0; i < NR_GIVERS; i++) {
		fd = must(ask_connect(name));
		/* Nobody reads the answer of every other one. */
		ask_put(fd, &ask, sizeof(ask) - (i & 4 ? 1 : 0), 0,
			copies[i & 3]);
		if (i & 8 && !ask_hear(fd, &a, &given))
			close(given);
		close(fd);
	}
	few_are_left(before);
}

static void silent_peers_hold_up_nobody(const char *name)
{
	int fd[8], i, nr = 0;

	for (i = 0; i < 8; i++)
		fd[nr++] = must(ask_connect(name));
	has(ask_why(name), "as seen",
	    "many that say nothing: whoever asks is answered");
	for (i = 0; i < nr; i++)
		close(fd[i]);
	has(ask_why(name), "as seen", "and afterwards");
}

/* Another user's process. */
static void strangers_are_hung_up_on(const char *name)
{
	struct lkdf_answer a;
	int status = -1, given, fd;
	pid_t pid;

	if (geteuid()) {
		skip("a stranger has no answer", "only root can be another");
		return;
	}
	pid = must(fork());
	if (!pid) {
		if (setuid(65534))
			_exit(2);
		fd = ask_connect(name);
		ask_word(fd, LKDF_ASK_WHY_TEXT);
		_exit(fd >= 0 && ask_hear(fd, &a, &given) == -ECONNRESET ? 0
									 : 1);
	}
	waitpid(pid, &status, 0);
	is(status, 0, "a stranger has no answer");
	has(ask_why(name), "as seen", "we have");
}

static void it_waits_for_descriptors(const char *name)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), given;
	/* As many as poll() is given at most; all of them are taken. */
	int nr = 10, i, taken[10];
	struct rlimit limit, few;
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	struct lkdf_answer a;
	int rc;

	memcpy(to.sun_path + 1, name, strlen(name));
	getrlimit(RLIMIT_NOFILE, &limit);
	for (i = 0; i < nr; i++)
		taken[i] = must(dup(fd));
	few = (struct rlimit){ (rlim_t)nr, limit.rlim_max };
	setrlimit(RLIMIT_NOFILE, &few);
	is(connect(fd, (struct sockaddr *)&to,
		   (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
			       strlen(name))),
	   0, "with no descriptor left one may still connect");
	ask_word(fd, LKDF_ASK_WHY_TEXT);
	api_nap_ns(20000000);
	setrlimit(RLIMIT_NOFILE, &limit);
	/* One that the thread has just closed may have let it in before. */
	rc = ask_hear(fd, &a, &given);
	/* Which user 65534 is the library reads in a file: it may hang up. */
	ok(!rc || rc == -EMFILE || (geteuid() == 65534 && rc == -ECONNRESET),
	   "when there are some it is answered: %d", rc);
	if (given >= 0)
		close(given);
	close(fd);
	for (i = 0; i < nr; i++)
		close(taken[i]);
}

/* How often it goes to sleep beside tasks. */
static long sleeps_beside_tasks(struct lkdf *rt, struct lkdf_kind *k, int tid)
{
	long before = thread_sleeps(tid);
	int i;

	for (i = 0; i < 1000; i++)
		must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k), NULL));
	must(lkdf_scope_wait(rt, NULL, -1));
	api_nap_ns(200000000);
	return thread_sleeps(tid) - before;
}

/* It may still be on its way to sleep, and wait for a CPU: some rounds. */
static void nobody_is_woken(struct lkdf *rt, const char *name)
{
	struct lkdf_kind *k = api_kind(rt, "some", api_nothing, 0, 0);
	int tid = tid_of_it(), i;
	long nr = -1;

	ok(tid > 0, "there is a thread for it");
	ask_why(name);
	for (i = 0; i < 50 && nr; i++)
		nr = sleeps_beside_tasks(rt, k, tid);
	is(nr, 0, "it sleeps on while nobody asks");
	lkdf_kind_put(k);
}

static void a_child_does_not_answer(struct lkdf *rt, const char *name)
{
	int status = -1;
	pid_t pid = must(fork());

	if (!pid) {
		if (tid_of_it())
			_exit(1);
		_exit(lkdf_close(rt) ? 2 : 0);
	}
	waitpid(pid, &status, 0);
	is(status, 0, "a forked child has no such thread, and closes");
	has(ask_why(name), "as seen", "its parent answers as before");
}

static void closing_hangs_up(struct lkdf *rt, const char *name)
{
	int fd = must(ask_connect(name)), given;
	struct lkdf_answer a;
	char copy[32];
	pid_t child;

	snprintf(copy, sizeof(copy), "%s", name);
	/* It has whatever we have, for longer than we. */
	child = must(fork());
	if (!child) {
		watchdog_set(60);
		pause();
		_exit(0);
	}
	is(lkdf_close(rt), 0, "the runtime closes while one is connected");
	is(ask_hear(fd, &a, &given), -ECONNRESET, "who is hung up on");
	close(fd);
	is(ask_connect(copy), -ECONNREFUSED, "nobody is there any more");
	is(tid_of_it(), 0, "the thread is gone");
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static void some_runtimes_do_not_answer(const char *options)
{
	struct lkdf *rt = api_open(options);
	const struct lkdf_stats_header *h = ask_header();

	ok(h && !h->ask[0], "%s: the header names no socket", options);
	is(tid_of_it(), 0, "and there is no thread");
	munmap((void *)(uintptr_t)h, 4096);
	is(lkdf_close(rt), 0, "the runtime closes");
}

/* On all threads that are there. */
static bool refuse_call(unsigned nr)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { 4, filter };

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			SECCOMP_FILTER_FLAG_TSYNC, &program);
}

/* In a child: what a filter takes is gone for good. */
static int ask_under_filter(unsigned call)
{
	struct lkdf *rt = api_open("workers=1");
	const struct lkdf_stats_header *h = ask_header();
	int i, fd, given;
	struct lkdf_answer a;

	if (!refuse_call(call))
		return 77;
	fd = ask_connect(h->ask);
	ask_word(fd, LKDF_ASK_WHY_TEXT);
	if (ask_hear(fd, &a, &given) != -ECONNRESET)
		return 1;
	/* One that is to be let in for ever would spin. */
	for (i = 0; call == SYS_accept4 && i < 2000 && tid_of_it(); i++)
		api_nap_ns(1000000);
	if (call == SYS_accept4 && tid_of_it())
		return 2;
	return lkdf_close(rt) ? 3 : 0;
}

static void filters_end_it_at_most(unsigned call, const char *name)
{
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = must(fork());
	if (!pid) {
		watchdog_set(60);
		_exit(ask_under_filter(call));
	}
	waitpid(pid, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
		skip(name, "no filters here");
		return;
	}
	is(status, 0, "a filter refuses %s: no answer, and no harm", name);
}

int main(void)
{
	const struct lkdf_stats_header *h;
	struct lkdf *rt;

	tap_start(60);
	some_runtimes_do_not_answer("ask=0");
	some_runtimes_do_not_answer("serial=1");
	rt = api_open("workers=2");
	h = ask_header();
	ok(h && h->ask[0], "the header names a socket");
	it_says_what_waits(rt, h->ask);
	an_answer_stays_as_it_is(h->ask);
	no_request_has_no_answer(h->ask);
	descriptors_do_not_stay(h->ask);
	silent_peers_hold_up_nobody(h->ask);
	strangers_are_hung_up_on(h->ask);
	it_waits_for_descriptors(h->ask);
	nobody_is_woken(rt, h->ask);
	a_child_does_not_answer(rt, h->ask);
	closing_hangs_up(rt, h->ask);
	munmap((void *)(uintptr_t)h, 4096);
	filters_end_it_at_most(SYS_accept4, "accept4");
	filters_end_it_at_most(SYS_sendmsg, "sendmsg");
	return tap_end();
}
