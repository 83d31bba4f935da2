/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * An operation that comes again and again, and no room: the ring's buffers are
 * all full while nobody takes completions, and no memory is left for what
 * waits. Nothing is lost in the first case; in the second it says so.
 */
#include "tests/api/io/io_feed.h"

#include <sys/resource.h>
#include <sys/wait.h>

#define NR_MESSAGES 5000 /* of 256 bytes a ring has 1024 buffers */
#define MESSAGE 250
#define PIECE 65536
#define ROOM ((rlim_t)16 << 20)

/* ---- all buffers are full ------------------------------------------------ */

struct flood {
	int fd;
	atomic_int nr_sent, is_stuck, is_open, is_held;
};

/* Says when the other end takes no more, and sends the rest when it does. */
static void *flood_main(void *arg)
{
	struct flood *f = arg;
	int nr_tries = 0, i = 0;
	char bytes[MESSAGE];

	while (i < NR_MESSAGES) {
		memset(bytes, i, sizeof(bytes));
		memcpy(bytes, &i, sizeof(i));
		if (send(f->fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0) {
			atomic_store(&f->nr_sent, ++i);
			nr_tries = 0;
			continue;
		}
		if (++nr_tries == 20)
			atomic_store(&f->is_stuck, 1);
		api_nap_ns(1000000);
	}
	atomic_store(&f->is_stuck, 1);
	close(f->fd);
	return NULL;
}

static int hold(struct lkdf_ctx *c, void *arg)
{
	struct flood *f = *(struct flood **)arg;

	(void)c;
	atomic_store(&f->is_held, 1);
	api_until(&f->is_open);
	return 0;
}

/* Each by itself and in order: the number, and as many bytes of it. */
static int check_message(struct lkdf_ctx *c, void *arg)
{
	const struct lkdf_io_wave *w = lkdf_run_arg(c);
	struct tally *t = w->u;
	char want[MESSAGE];
	int i = (int)w->seq;

	(void)arg;
	memset(want, i, sizeof(want));
	memcpy(want, &i, sizeof(i));
	if (w->result != MESSAGE || memcmp(w->buf, want, MESSAGE) ||
	    atomic_fetch_add(&t->nr, 1) != i)
		atomic_fetch_add(&t->nr_wrong, 1);
	return 0;
}

static uint64_t stat_of(struct lkdf *rt, const char *name)
{
	uint64_t nr = 0;

	must(lkdf_stat(rt, name, &nr));
	return nr;
}

static void buffers_are_full(const char *options)
{
	struct lkdf *rt = api_open(options);
	struct lkdf_graph *g = graph_of(rt, check_message, 1, 0);
	struct lkdf_kind *k = api_kind(rt, "hold", hold, sizeof(void *), 0);
	bool is_ring = lkdf_caps(rt) & LKDF_CAP_URING;
	struct flood f = { 0 }, *at = &f;
	struct lkdf_event done;
	struct tally t = { 0 };
	int64_t result = 0;
	pthread_t thread;
	int fd[2];

	must(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd));
	f.fd = fd[1];
	begin(rt, NULL,
	      MULTI(.op = LKDF_IO_RECV, .fd = fd[0], .len = 256,
		    .buf = FEED(.graph = g, .u = &t,
				.nr_waiting = 2 * NR_MESSAGES)),
	      &result, &done);
	while (!stat_of(rt, "lkdf.io.armed"))
		api_nap_ns(1000000);
	must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k, .arg = &at),
			 NULL));
	api_until(&f.is_held);
	pthread_create(&thread, NULL, flood_main, &f);
	api_until(&f.is_stuck);
	if (is_ring)
		ok(atomic_load(&f.nr_sent) < NR_MESSAGES,
		   "%s: after %d nobody takes more", options,
		   atomic_load(&f.nr_sent));
	atomic_store(&f.is_open, 1);
	is(lkdf_event_wait(done, -1), 0, "%s: it ends well", options);
	pthread_join(thread, NULL);
	is(result, NR_MESSAGES, "%s: all have come", options);
	is(atomic_load(&t.nr_wrong), 0, "%s: in order, each once", options);
	if (is_ring)
		ok(stat_of(rt, "lkdf.io.armed") > 1, "%s: it was given again",
		   options);
	close(fd[0]);
	lkdf_kind_put(k);
	lkdf_graph_put(g);
	is(lkdf_close(rt), 0, "%s: closed", options);
}

/* ---- no memory ----------------------------------------------------------- */

/* What this process has of the sort that the limit counts. */
static rlim_t data_size(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	unsigned long kib = 0;
	char line[128];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "VmData: %lu", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return (rlim_t)kib << 10;
}

static void *pour_main(void *arg)
{
	static char bytes[PIECE];
	struct flood *f = arg;

	api_until(&f->is_held);
	while (send(f->fd, bytes, sizeof(bytes), MSG_NOSIGNAL) > 0)
		atomic_fetch_add(&f->nr_sent, 1);
	return NULL;
}

/* Holds up all others until the operation is over. */
static int wait_for_end(struct lkdf_ctx *c, void *arg)
{
	const struct lkdf_io_wave *w = lkdf_run_arg(c);
	struct flood *f = w->u;

	(void)arg;
	api_until(&f->is_open);
	return 0;
}

static void set_room(rlim_t most)
{
	struct rlimit limit;

	must(getrlimit(RLIMIT_DATA, &limit));
	limit.rlim_cur = most < limit.rlim_max ? most : limit.rlim_max;
	must(setrlimit(RLIMIT_DATA, &limit));
}

/* The sender comes no further when nobody takes more. */
static void wait_for_sender(struct flood *f)
{
	int nr = 0, nr_looks = 0;

	while (nr_looks < 10) {
		nr_looks =
			nr && nr == atomic_load(&f->nr_sent) ? nr_looks + 1 : 0;
		nr = atomic_load(&f->nr_sent);
		api_nap_ns(50000000);
	}
}

/* Once more if the sender only rested. */
static void run_out(struct flood *f, struct lkdf_event done)
{
	do {
		atomic_store(&f->is_open, 0);
		set_room(data_size() + ROOM);
		/* Not before: it would take all that the machine has. */
		atomic_store(&f->is_held, 1);
		wait_for_sender(f);
		set_room(RLIM_INFINITY);
		atomic_store(&f->is_open, 1);
	} while (lkdf_event_wait(done, 2 * SECOND) == 1);
}

/* In a child: how it went, as exit status. */
static int memory_runs_out(const char *options)
{
	struct lkdf *rt = api_open(options);
	struct lkdf_graph *g = graph_of(rt, wait_for_end, 1, 0);
	struct flood f = { 0 };
	struct lkdf_event done;
	int64_t result = 0;
	pthread_t thread;
	int fd[2];

	must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd));
	f.fd = fd[1];
	begin(rt, NULL,
	      MULTI(.op = LKDF_IO_RECV, .fd = fd[0], .len = PIECE,
		    .buf = FEED(.graph = g, .u = &f, .nr_waiting = 1 << 20)),
	      &result, &done);
	pthread_create(&thread, NULL, pour_main, &f);
	while (!stat_of(rt, "lkdf.io.armed"))
		api_nap_ns(1000000);
	run_out(&f, done);
	shutdown(fd[0], SHUT_RDWR);
	pthread_join(thread, NULL);
	close(fd[0]);
	close(fd[1]);
	lkdf_graph_put(g);
	printf("# %s: %d pieces sent, %lld\n", options, atomic_load(&f.nr_sent),
	       (long long)result);
	fflush(stdout);
	if (lkdf_close(rt))
		return 2;
	return result == -ENOMEM ? 0 : 3;
}

static void no_memory(const char *options)
{
	int status = -1;
	pid_t pid;

	if (HAS_SANITIZER) {
		skip("no memory for what comes", "the sanitizer needs some");
		return;
	}
	fflush(stdout);
	pid = fork();
	if (!pid) {
		watchdog_set(300); /* it has not ours */
		_exit(memory_runs_out(options));
	}
	waitpid(pid, &status, 0);
	is(status, 0, "%s: no memory for what comes", options);
}

int main(void)
{
	tap_start(300);
	io_begin();
	/* While one is held up the other one, of its node, takes what comes. */
	no_memory("topology=numa:1 core:2");
	no_memory("workers=2,io=threads");
	buffers_are_full("workers=1");
	buffers_are_full("workers=1,io=threads");
	io_end();
	return tap_end();
}
