/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Limits of the system: no descriptor is left, few may be open and many
 * operations wait, no memory may be locked, one worker of many cannot have a
 * ring. What fails is the task that needed it; the others go on, and go on
 * once there is room again.
 */
#include "tests/api/io_fault.h"
#include "tests/forbid.h"

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#define NR_FILES 10000
#define NR_QUIET 50
#define NR_WAITING 300
#define FEW_FILES 100

static void limit(int what, rlim_t nr, struct rlimit *old)
{
	struct rlimit l;

	must(getrlimit(what, old));
	l = *old;
	l.rlim_cur = nr < l.rlim_max ? nr : l.rlim_max;
	must(setrlimit(what, &l));
}

/*
 * Copies of a descriptor until there is no room for more. Their number. The
 * library opens files of /proc and of cgroups for a moment now and then: the
 * descriptor of such a file is taken once it is free.
 */
static int use_up(int *fds, int fd)
{
	int nr = 0, nr_quiet = 0;

	while (nr < NR_FILES && nr_quiet < NR_QUIET) {
		fds[nr] = dup(fd);
		if (fds[nr] >= 0) {
			nr++;
			nr_quiet = 0;
		} else {
			nr_quiet++;
			api_nap_ns(2000000);
		}
	}
	return nr;
}

static void give_back(const int *fds, int nr)
{
	while (nr)
		close(fds[--nr]);
}

static int listen_here(struct sockaddr_un *addr)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	addr->sun_family = AF_UNIX;
	snprintf(addr->sun_path, sizeof(addr->sun_path), "%.64s/sock", io_dir);
	must(bind(fd, (struct sockaddr *)addr, sizeof(*addr)));
	must(listen(fd, 4));
	return fd;
}

static int64_t open_comm(struct lkdf *rt)
{
	return io_call(rt, IO(.op = LKDF_IO_OPENAT, .dirfd = AT_FDCWD,
			      .path = "/proc/self/comm", .how = O_CLOEXEC));
}

/* The rings are there; then nothing can be opened. */
static void no_descriptor_is_left(struct lkdf *rt, const char *how)
{
	struct sockaddr_un addr;
	int server = listen_here(&addr), pair[2], nr;
	int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	static int fds[NR_FILES];
	struct lkdf_event done;
	int64_t result, fd;
	struct rlimit old;
	char to[2] = "";

	io_half_read(rt, pair, to, &result, &done);
	must(connect(client, (struct sockaddr *)&addr, sizeof(addr)));
	limit(RLIMIT_NOFILE, NR_FILES, &old);
	nr = use_up(fds, pair[0]);
	printf("# %d more descriptors, the last is %d\n", nr, fds[nr - 1]);
	is(open_comm(rt), -EMFILE, "%s: openat without a descriptor", how);
	is(io_call(rt, IO(.op = LKDF_IO_ACCEPT, .fd = server)), -EMFILE,
	   "%s: accept without a descriptor", how);
	is(io_error(rt, IO(.op = LKDF_IO_READ, .fd = server, .buf = to,
			   .len = 1, .off = -1)),
	   -EINVAL, "%s: other errors stay what they are", how);
	ok(write(pair[1], "b", 1) == 1, "%s: what was under way", how);
	is(lkdf_event_wait(done, -1), 0, "%s: goes on", how);
	is(result, 2, "%s: to its end", how);
	ok(write(pair[1], "cd", 2) == 2 &&
		   io_call(rt, IO(.op = LKDF_IO_READ, .fd = fds[nr - 1],
				  .buf = to, .len = 2, .off = -1)) == 2,
	   "%s: the last descriptor is read", how);
	give_back(fds, nr);
	fd = io_call(rt, IO(.op = LKDF_IO_ACCEPT, .fd = server));
	ok(fd > 0, "%s: with room again accept goes on", how);
	must(setrlimit(RLIMIT_NOFILE, &old));
	close((int)fd);
	close(client);
	close(server);
	unlink(addr.sun_path);
	close(pair[0]);
	close(pair[1]);
}

/* Neither rings nor who polls can be had. */
static void no_descriptor_from_the_start(const char *how)
{
	int file = open("/proc/self/comm", O_RDONLY | O_CLOEXEC), pair[2];
	static int fds[NR_FILES];
	struct lkdf *rt = api_open(how);
	struct lkdf_event done;
	struct rlimit old;
	int64_t result;
	char to[4];
	int nr;

	must(pipe2(pair, O_CLOEXEC));
	limit(RLIMIT_NOFILE, FEW_FILES, &old);
	nr = use_up(fds, file);
	is(io_call(rt, IO(.op = LKDF_IO_READ, .fd = file, .buf = to,
			  .len = sizeof(to))),
	   sizeof(to), "%s: a file is read without a descriptor", how);
	/* There the call that starts an operation waits for it. */
	if (strstr(how, "serial") && write(pair[1], "x", 1) != 1)
		exit(1);
	io_start(rt,
		 IO(.op = LKDF_IO_READ, .fd = pair[0], .buf = to, .len = 1,
		    .off = -1),
		 &result, &done);
	ok(strstr(how, "serial") || write(pair[1], "x", 1) == 1,
	   "%s: what waits gets what it waits for", how);
	is(lkdf_event_wait(done, -1), 0, "%s: it ends", how);
	is(result, 1, "%s: as if nothing was", how);
	give_back(fds, nr);
	must(setrlimit(RLIMIT_NOFILE, &old));
	close(pair[0]);
	close(pair[1]);
	close(file);
	is(lkdf_close(rt), 0, "%s: it closes", how);
}

/* More operations wait than descriptors may be open. */
static void more_wait_than_may_be_open(struct lkdf *rt, const char *how)
{
	static struct lkdf_event done[NR_WAITING];
	static int64_t result[NR_WAITING];
	static char to[NR_WAITING];
	int pair[2], i, nr_good = 0;
	struct lkdf_event late;
	struct rlimit old;
	int64_t none;

	must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
	limit(RLIMIT_NOFILE, FEW_FILES, &old);
	for (i = 0; i < NR_WAITING; i++)
		io_start(rt,
			 IO(.op = LKDF_IO_RECV, .fd = pair[0], .buf = &to[i],
			    .len = 1),
			 &result[i], &done[i]);
	io_start(rt, IO(.op = LKDF_IO_TIMEOUT, .off = 2000000), &none, &late);
	is(lkdf_event_wait(late, -1), 0, "%s: a time passes meanwhile", how);
	for (i = 0; i < NR_WAITING; i++)
		if (write(pair[1], "x", 1) != 1)
			break;
	for (i = 0; i < NR_WAITING; i++)
		nr_good += !lkdf_event_wait(done[i], -1) && result[i] == 1 &&
			   to[i] == 'x';
	is(nr_good, NR_WAITING, "%s: %d wait, %d may be open", how, NR_WAITING,
	   FEW_FILES);
	for (i = 0; i < NR_WAITING; i++)
		io_start(rt, IO(.op = LKDF_IO_TIMEOUT, .off = 1000), &result[i],
			 &done[i]);
	for (i = nr_good = 0; i < NR_WAITING; i++)
		nr_good += !lkdf_event_wait(done[i], -1) && !result[i];
	is(nr_good, NR_WAITING, "%s: so many times", how);
	must(setrlimit(RLIMIT_NOFILE, &old));
	close(pair[0]);
	close(pair[1]);
}

static void what_is_negative_is_no_descriptor(struct lkdf *rt, const char *how)
{
	is(io_call(rt, IO(.op = LKDF_IO_POLL, .fd = -1, .how = POLLIN)), -EBADF,
	   "%s: poll of -1", how);
	is(io_call(rt, IO(.op = LKDF_IO_ACCEPT, .fd = -1)), -EBADF,
	   "%s: accept of -1", how);
	is(io_error(rt,
		    IO(.op = LKDF_IO_CONNECT, .fd = -1, .buf = "", .len = 1)),
	   -EBADF, "%s: connect of -1", how);
}

static void no_memory_is_locked(const char *how)
{
	struct rlimit old;
	struct lkdf *rt;
	int fd[2];
	char to;

	limit(RLIMIT_MEMLOCK, 0, &old);
	rt = api_open(how);
	must(pipe2(fd, O_CLOEXEC));
	ok(write(fd[1], "x", 1) == 1 &&
		   io_call(rt, IO(.op = LKDF_IO_READ, .fd = fd[0], .buf = &to,
				  .len = 1, .off = -1)) == 1,
	   "%s: operations without locked memory", how);
	close(fd[0]);
	close(fd[1]);
	is(lkdf_close(rt), 0, "%s: it closes", how);
	must(setrlimit(RLIMIT_MEMLOCK, &old));
}

/* ---- one worker without a ring ------------------------------------------ */

#define NR_TURNS 4
#define POOR 1

struct turns {
	atomic_int nr_here, turn, nr_waits;
	struct lkdf_kind *k;
	int fd[2];
	int64_t result[NR_TURNS];
	char to[NR_TURNS];
};

/* All are in here, one on each worker; each reads a byte in its turn. */
static int take_turn(struct lkdf_ctx *c, void *arg)
{
	struct turns *t = *(struct turns **)arg;
	int me = lkdf_worker(c), rc = 0;
	struct io_call call = { *IO(.op = LKDF_IO_READ, .fd = t->fd[0],
				    .buf = &t->to[me], .len = 1, .off = -1),
				&t->result[me] };

	atomic_fetch_add(&t->nr_here, 1);
	while (atomic_load(&t->nr_here) < NR_TURNS ||
	       atomic_load(&t->turn) < me)
		api_nap_ns(50000);
	if (me == POOR)
		rc = forbid_call(SYS_io_uring_setup, EPERM);
	if (!rc)
		rc = lkdf_spawn(c, t->k, &call);
	if (!rc)
		rc = lkdf_join(c);
	atomic_fetch_add(&t->turn, 1);
	while (atomic_load(&t->turn) < NR_TURNS)
		api_nap_ns(50000);
	return rc;
}

static int nr_rings(void)
{
	char name[64], text[64];
	int fd, nr = 0;
	ssize_t n;

	for (fd = 0; fd < 1024; fd++) {
		snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
		n = readlink(name, text, sizeof(text) - 1);
		text[n > 0 ? n : 0] = '\0';
		nr += strstr(text, "io_uring") != NULL;
	}
	return nr;
}

static void caps_text(struct lkdf *rt, const char *format, char *text,
		      size_t size)
{
	int fd[2];
	ssize_t n;

	must(pipe(fd));
	must(lkdf_describe(rt, "caps", format, fd[1]));
	n = read(fd[0], text, size - 1);
	text[n > 0 ? n : 0] = '\0';
	close(fd[0]);
	close(fd[1]);
}

static void each_takes_its_turn(struct lkdf *rt)
{
	struct turns t = { .result = { 0 } }, *at = &t;
	struct lkdf_kind *k = api_kind(rt, "turn", take_turn, sizeof(at), 0);
	struct lkdf_event done[NR_TURNS];
	int i, nr_good = 0;

	must(pipe2(t.fd, O_CLOEXEC));
	t.k = io_kind(rt, io_note, sizeof(struct io_call));
	if (write(t.fd[1], "abcd", NR_TURNS) != NR_TURNS)
		exit(1);
	for (i = 0; i < NR_TURNS; i++)
		must(lkdf_submit(rt, NULL,
				 ATTR(lkdf_task, .kind = k, .arg = &at),
				 &done[i]));
	for (i = 0; i < NR_TURNS; i++)
		nr_good += !lkdf_event_wait(done[i], -1) && t.result[i] == 1;
	is(nr_good, NR_TURNS, "each worker reads, with a ring or without");
	lkdf_kind_put(t.k);
	lkdf_kind_put(k);
	close(t.fd[0]);
	close(t.fd[1]);
}

static void one_worker_has_no_ring(void)
{
	struct lkdf *rt = api_open("workers=4,topology=\"numa:1 core:4\"");
	char text[4096];

	if (!(lkdf_caps(rt) & LKDF_CAP_URING)) {
		skip("one worker has no ring", "no io_uring here");
		lkdf_close(rt);
		return;
	}
	each_takes_its_turn(rt);
	is(nr_rings(), NR_TURNS - 1, "all but one have rings");
	caps_text(rt, "text", text, sizeof(text));
	has(text, "worker 1 uses threads: EPERM", "caps say which, and why");
	caps_text(rt, "json", text, sizeof(text));
	has(text, "worker 1 uses threads: EPERM", "as JSON, too");
	more_wait_than_may_be_open(rt, "one without a ring");
	is(lkdf_close(rt), 0, "it closes");
}

/* A signal that the library queued would be refused. */
static int close_without_signals(const char *options)
{
	struct rlimit none = { 0, 0 };
	struct lkdf *rt;
	char byte = 1;
	int fd;

	watchdog_set(20);
	must(setrlimit(RLIMIT_SIGPENDING, &none));
	rt = api_open(options);
	fd = memfd_create("one", MFD_CLOEXEC);
	must((int)io_call(rt, IO(.op = LKDF_IO_WRITE, .fd = fd, .buf = &byte,
				 .len = 1)));
	close(fd);
	return lkdf_close(rt);
}

static void no_signal_can_be_queued(const char *options)
{
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = must(fork());
	if (!pid)
		_exit(close_without_signals(options) ? 1 : 0);
	waitpid(pid, &status, 0);
	is(status, 0, "%s: it closes where no signal can be queued", options);
}

static void one_backend(const char *options)
{
	int nr_fds = io_nr_fds();
	struct lkdf *rt = api_open(options);

	/* There the call that starts an operation waits for it. */
	if (!strstr(options, "serial")) {
		no_descriptor_is_left(rt, options);
		more_wait_than_may_be_open(rt, options);
	}
	what_is_negative_is_no_descriptor(rt, options);
	is(lkdf_close(rt), 0, "%s: it closes", options);
	no_descriptor_from_the_start(options);
	no_memory_is_locked(options);
	no_signal_can_be_queued(options);
	is(io_nr_fds(), nr_fds, "%s: no descriptor is left", options);
}

int main(void)
{
	size_t i;

	tap_start(60);
	signal(SIGPIPE, SIG_IGN);
	io_begin();
	IO_EACH(i)
	one_backend(io_backends[i]);
	one_worker_has_no_ring();
	io_end();
	return tap_end();
}
