/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Signals among operations: every thread is hit again and again, by a handler
 * with SA_RESTART and by one without, and the process is stopped and goes on
 * while what it waits for comes. No result is another one for that.
 *
 * Workers leave SIGPROF open, threads of the pool do not: bodies that may
 * block open it there.
 */
#include "tests/api/io_fault.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define NR_ROUNDS 8
#define NR_HITS 200
#define NR_POOL 4
#define NR_THREADS 64
#define NR_STOPS 12
#define SIZE 150000

static atomic_int nr_handled;

static void handle(int sig)
{
	(void)sig;
	atomic_fetch_add(&nr_handled, 1);
}

struct hammer {
	pthread_t thread;
	atomic_int is_over;
	int nr;
	long tid[NR_THREADS];
};

static void find_threads(struct hammer *h)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *d;

	while (dir && (d = readdir(dir)) && h->nr < NR_THREADS) {
		h->tid[h->nr] = strtol(d->d_name, NULL, 10);
		h->nr += h->tid[h->nr] > 0;
	}
	if (dir)
		closedir(dir);
}

static void *hammer_main(void *arg)
{
	struct hammer *h = arg;
	int i;

	while (!atomic_load(&h->is_over)) {
		for (i = 0; i < h->nr; i++)
			syscall(SYS_tgkill, getpid(), h->tid[i], SIGPROF);
		api_nap_ns(20000);
	}
	return NULL;
}

/* All are in here: each is on a thread of its own. */
static int open_signal(struct lkdf_ctx *c, void *arg)
{
	struct gate *g = *(struct gate **)arg;
	sigset_t set;

	(void)c;
	sigemptyset(&set);
	sigaddset(&set, SIGPROF);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	gate_pass(g);
	return 0;
}

static void open_in_pool(struct lkdf *rt)
{
	struct gate gate = { 0 }, *at = &gate;
	struct lkdf_kind *k =
		api_kind(rt, "open", open_signal, sizeof(at), LKDF_BLOCKING);
	struct lkdf_event done[NR_POOL];
	int i;

	for (i = 0; i < NR_POOL; i++)
		must(lkdf_submit(rt, NULL,
				 ATTR(lkdf_task, .kind = k, .arg = &at),
				 &done[i]));
	while (atomic_load(&gate.entered) < NR_POOL)
		api_nap_ns(50000);
	atomic_store(&gate.open, 1);
	for (i = 0; i < NR_POOL; i++)
		lkdf_event_wait(done[i], -1);
	lkdf_kind_put(k);
}

/* ---- the work; each returns what went wrong ----------------------------- */

static int a_file_and_back(struct lkdf *rt)
{
	static char from[SIZE], to[SIZE];
	int fd = io_file("file", "", 0), nr_bad = 0;
	int64_t nr;

	io_fill(from, SIZE, 7);
	memset(to, 0, SIZE);
	nr = io_call(rt, IO(.op = LKDF_IO_WRITE, .fd = fd, .buf = from,
			    .len = SIZE));
	if (nr != SIZE)
		printf("# write: %lld\n", (long long)nr);
	nr_bad += nr != SIZE;
	nr_bad += io_call(rt, IO(.op = LKDF_IO_FSYNC, .fd = fd, .how = 1)) != 0;
	nr_bad += io_call(rt, IO(.op = LKDF_IO_READ, .fd = fd, .buf = to,
				 .len = SIZE)) != SIZE;
	nr_bad += memcmp(from, to, SIZE) != 0;
	nr_bad += io_call(rt, IO(.op = LKDF_IO_CLOSE, .fd = fd)) != 0;
	unlink(io_path("file"));
	return nr_bad;
}

static int a_time_passes(struct lkdf *rt)
{
	struct timespec a, b;
	int nr_bad;

	clock_gettime(CLOCK_MONOTONIC, &a);
	nr_bad = io_call(rt, IO(.op = LKDF_IO_TIMEOUT, .off = 1000000)) != 0;
	clock_gettime(CLOCK_MONOTONIC, &b);
	return nr_bad +
	       ((b.tv_sec - a.tv_sec) * SECOND + b.tv_nsec - a.tv_nsec <
		1000000);
}

static int both_ends_of_a_pipe(struct lkdf *rt)
{
	static char from[SIZE], to[SIZE];
	struct lkdf_event read, write;
	int64_t in, out;
	int fd[2], nr_bad;

	must(pipe2(fd, O_CLOEXEC));
	io_fill(from, SIZE, 9);
	memset(to, 0, SIZE);
	io_start(rt,
		 IO(.op = LKDF_IO_READ, .fd = fd[0], .buf = to, .len = SIZE,
		    .off = -1),
		 &in, &read);
	io_start(rt,
		 IO(.op = LKDF_IO_WRITE, .fd = fd[1], .buf = from, .len = SIZE,
		    .off = -1),
		 &out, &write);
	nr_bad = lkdf_event_wait(read, -1) || lkdf_event_wait(write, -1);
	nr_bad += in != SIZE || out != SIZE || memcmp(from, to, SIZE);
	close(fd[0]);
	close(fd[1]);
	return nr_bad;
}

static int a_socket_waits(struct lkdf *rt)
{
	struct lkdf_event got, polled;
	int64_t nr, events;
	int pair[2], nr_bad;
	char to[2];

	must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
	io_start(rt,
		 IO(.op = LKDF_IO_RECV, .fd = pair[0], .buf = to, .len = 2,
		    .how = MSG_WAITALL),
		 &nr, &got);
	io_start(rt, IO(.op = LKDF_IO_POLL, .fd = pair[1], .how = POLLIN),
		 &events, &polled);
	nr_bad = write(pair[1], "a", 1) != 1;
	io_until_empty(pair[0]);
	nr_bad += write(pair[1], "b", 1) != 1 || write(pair[0], "c", 1) != 1;
	nr_bad += lkdf_event_wait(got, -1) || lkdf_event_wait(polled, -1);
	close(pair[0]);
	close(pair[1]);
	return nr_bad + (nr != 2 || memcmp(to, "ab", 2) || events != POLLIN);
}

static int told(const char *what, int nr_bad)
{
	if (nr_bad)
		printf("# %s: %d are not as they should be\n", what, nr_bad);
	return nr_bad;
}

static int work(struct lkdf *rt, bool is_serial)
{
	int nr_bad = told("file", a_file_and_back(rt)) +
		     told("time", a_time_passes(rt));

	/* There the call that starts an operation waits for it. */
	if (!is_serial)
		nr_bad += told("pipe", both_ends_of_a_pipe(rt)) +
			  told("socket", a_socket_waits(rt));
	return nr_bad;
}

static void signals_hit_every_thread(const char *options, int flags)
{
	bool is_serial = strstr(options, "serial") != NULL;
	struct sigaction act = { .sa_handler = handle, .sa_flags = flags };
	int nr_fds = io_nr_fds(), nr_bad = 0, i;
	struct lkdf *rt = api_open(options);
	struct hammer h = { .nr = 0 };

	sigaction(SIGPROF, &act, NULL);
	atomic_store(&nr_handled, 0);
	if (!is_serial)
		open_in_pool(rt);
	nr_bad += work(rt, is_serial);
	find_threads(&h);
	pthread_create(&h.thread, NULL, hammer_main, &h);
	for (i = 0; i < NR_ROUNDS || atomic_load(&nr_handled) < NR_HITS; i++)
		nr_bad += work(rt, is_serial);
	atomic_store(&h.is_over, 1);
	pthread_join(h.thread, NULL);
	is(nr_bad, 0, "%s: signals %s SA_RESTART", options,
	   flags ? "with" : "without");
	is(lkdf_close(rt), 0, "%s: it closes", options);
	is(io_nr_fds(), nr_fds, "%s: no descriptor is left", options);
}

/* ---- stopping ----------------------------------------------------------- */

struct shared {
	atomic_int nr_got, nr_bad;
};

/* A process of its own: a byte for each time it was stopped. */
static void be_stopped(const char *options, struct shared *s, int fd)
{
	struct lkdf *rt;
	char byte;
	int i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	rt = api_open(options);
	for (i = 0; i < NR_STOPS; i++) {
		atomic_fetch_add(&s->nr_bad, work(rt, false));
		if (io_call(rt, IO(.op = LKDF_IO_RECV, .fd = fd, .buf = &byte,
				   .len = 1)) != 1)
			atomic_fetch_add(&s->nr_bad, 1);
		atomic_fetch_add(&s->nr_got, 1);
	}
	_exit(lkdf_close(rt) ? 1 : 0);
}

/* False: it has gone. */
static bool stop_once(pid_t pid, int fd)
{
	int status = 0;

	if (kill(pid, SIGSTOP) || waitpid(pid, &status, WUNTRACED) != pid ||
	    !WIFSTOPPED(status))
		return false;
	if (write(fd, "x", 1) != 1 || kill(pid, SIGCONT))
		return false;
	return waitpid(pid, &status, WCONTINUED) == pid && WIFCONTINUED(status);
}

static void a_process_is_stopped(const char *options)
{
	struct shared *s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int pair[2], status = -1, i;
	pid_t pid;

	must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
	pid = fork();
	if (!pid)
		be_stopped(options, s, pair[0]);
	for (i = 0; i < NR_STOPS && stop_once(pid, pair[1]); i++)
		while (atomic_load(&s->nr_got) == i &&
		       waitpid(pid, &status, WNOHANG) != pid)
			api_nap_ns(50000);
	is(i, NR_STOPS, "%s: stopped, and goes on", options);
	if (status == -1)
		waitpid(pid, &status, 0);
	is(status, 0, "%s: to its end", options);
	is(atomic_load(&s->nr_bad), 0, "%s: as if nothing was", options);
	close(pair[0]);
	close(pair[1]);
	munmap(s, sizeof(*s));
}

int main(void)
{
	size_t i;

	tap_start(60);
	io_begin();
	IO_FAULT_EACH(i)
	a_process_is_stopped(io_fault_backends[i]);
	IO_EACH(i)
	signals_hit_every_thread(io_backends[i], SA_RESTART);
	IO_EACH(i)
	signals_hit_every_thread(io_backends[i], 0);
	io_end();
	return tap_end();
}
