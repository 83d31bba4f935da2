/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Programs of several ranks: ranks
 * [single|funneled|serialized|huge|record|figures], or ranks kill RANK
 * wait|close|FACT. Rank 0 prints facts.
 */
#include "tests/mpi/ranks.h"
#include "tests/threads.h"
#include "tests/watchdog.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int rank, size;
static int nr_facts, nr_failed;
/* The rank that is killed, and before which fact; -1: none. */
static int dying = -1, dies_at = -1;
static int dies_at_close;

/* Of the message that a rank comes to its last barrier. */
#define LAST_TAG 8

void fact(int holds, const char *text, ...)
{
	va_list ap;
	int all = 0;

	if (rank == dying && nr_facts == dies_at)
		kill(getpid(), SIGKILL);
	MPI_Allreduce(&holds, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	if (!holds)
		fprintf(stderr, "# rank %d: not so\n", rank);
	nr_facts++;
	nr_failed += !all;
	if (rank)
		return;
	printf("%sok %d - ", all ? "" : "not ", nr_facts);
	va_start(ap, text);
	vprintf(text, ap);
	va_end(ap);
	printf(" (%d ranks)\n", size);
	fflush(stdout);
}

void must(int rc, const char *what)
{
	if (rc >= 0)
		return;
	fprintf(stderr, "# rank %d: %s: %s\n", rank, what, strerror(-rc));
	MPI_Abort(MPI_COMM_WORLD, 1);
}

/* While it is set, waits make progress with its requests. */
static struct lkdf_mpi *funneled;

int wait_and_put(struct lkdf_event e)
{
	return funneled ? lkdf_mpi_wait(funneled, e, -1)
			: lkdf_event_wait(e, -1);
}

unsigned char byte_of(int from, size_t i)
{
	return (unsigned char)((size_t)from * 7 + i);
}

struct lkdf_kind *make_kind(struct lkdf *rt, const char *name, lkdf_fn fn)
{
	const struct lkdf_kind_attr a = {
		.size = sizeof(a),
		.name = name,
		.fn = fn,
		.arg_size = sizeof(void *),
		.flags = LKDF_ALWAYS,
	};
	struct lkdf_kind *k = NULL;

	must(lkdf_kind_create(rt, &a, &k), name);
	return k;
}

/* ---- ranks of one machine ----------------------------------------------- */

static void divided(const char *text)
{
	int use[CPU_SETSIZE] = { 0 }, all[CPU_SETSIZE], i, most = 0;
	const char *at = strstr(text, "cpus=\"");
	cpu_set_t own;

	fact(!strncmp(text, "workers=", 8), "options of each rank");
	for (at = at ? at + 6 : NULL; at && *at; at = strchr(at, ',')) {
		at += *at == ',';
		use[atoi(at) % CPU_SETSIZE]++;
	}
	MPI_Allreduce(use, all, CPU_SETSIZE, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	for (i = 0; i < CPU_SETSIZE; i++)
		most = all[i] > most ? all[i] : most;
	sched_getaffinity(0, sizeof(own), &own);
	fact(most <= 1, "no CPU is in those of two");
	fact(strstr(text, "cpus=") || CPU_COUNT(&own) < size,
	     "each has one, where there are as many");
}

/* Nobody but functions in turn calls MPI. */
static void run_serialized(void)
{
	struct lkdf_mpi *m = NULL;
	struct lkdf *rt = NULL;

	must(lkdf_open("workers=2", &rt), "open");
	must(lkdf_mpi_open(rt, MPI_COMM_WORLD, NULL, &m), "open");
	posted(m);
	must(lkdf_mpi_close(m), "close");
	must(lkdf_close(rt), "close");
}

static void *open_elsewhere(void *rt)
{
	struct lkdf_mpi *m = NULL;

	return (void *)(intptr_t)lkdf_mpi_open(rt, MPI_COMM_WORLD, NULL, &m);
}

static void *wait_elsewhere(void *e)
{
	struct lkdf_event *event = e;

	return (void *)(intptr_t)lkdf_mpi_wait(funneled, *event, 0);
}

static int elsewhere(void *(*fn)(void *u), void *u)
{
	pthread_t thread;
	void *rc = NULL;

	must(-pthread_create(&thread, NULL, fn, u), "thread");
	pthread_join(thread, &rc);
	return (int)(intptr_t)rc;
}

static int on_main(void *is_so)
{
	int is_main = 0;

	MPI_Is_thread_main(&is_main);
	*(int *)is_so = is_main;
	return 0;
}

/* A body has the main thread call MPI, and others wait for the task. */
static int post_from_body(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	return lkdf_mpi_post(funneled, on_main, *(int **)arg, NULL);
}

static void late_event(struct lkdf *rt)
{
	struct lkdf_event e, again;

	must(lkdf_event_create(rt, 1, 0, &e), "event");
	again = e;
	fact(elsewhere(wait_elsewhere, &e) == -EPERM,
	     "another thread is not to wait by MPI");
	fact(lkdf_mpi_wait(funneled, e, 3000000) == 1,
	     "an event that does not fire is pending after its time");
	fact(lkdf_mpi_wait(funneled, e, 0) == 1, "and after none");
	must(lkdf_event_signal(again, -ERANGE), "signal");
	fact(lkdf_mpi_wait(funneled, e, 0) == -ERANGE, "its error comes");
}

static int send_pulse(void *e)
{
	return lkdf_event_signal(*(struct lkdf_event *)e, 0);
}

/* The pulse comes while the main thread polls, between two waits. */
static void pulses(struct lkdf *rt)
{
	struct lkdf_event e;
	int i, nr = 0;

	must(lkdf_event_create(rt, 0, LKDF_EVENT_PULSE, &e), "pulse");
	for (i = 0; i < 20; i++) {
		must(lkdf_mpi_post(funneled, send_pulse, &e, NULL), "post");
		nr += !wait_and_put(e);
	}
	fact(nr == 20, "pulses of posted functions end waits");
	fact(lkdf_mpi_wait(funneled, e, 1000000) == 1,
	     "one that is over does not");
	lkdf_event_put(e);
}

/* The main thread calls MPI, while it waits by lkdf_mpi_wait(). */
static void run_funneled(void)
{
	int is_main = -1, *at = &is_main;
	struct lkdf_kind *k;
	struct lkdf_event e;
	struct lkdf *rt = NULL;

	must(lkdf_open("workers=2", &rt), "open");
	fact(elsewhere(open_elsewhere, rt) == -ENOTSUP,
	     "another thread does not open");
	must(lkdf_mpi_open(rt, MPI_COMM_WORLD, NULL, &funneled), "open");
	late_event(rt);
	pulses(rt);
	k = make_kind(rt, "posts", post_from_body);
	must(lkdf_submit(rt, NULL,
			 &(struct lkdf_task){ .size = sizeof(struct lkdf_task),
					      .kind = k,
					      .arg = &at },
			 &e),
	     "submit");
	must(wait_and_put(e), "wait");
	must(lkdf_mpi_post(funneled, on_main, &is_main, &e), "post");
	fact(lkdf_mpi_close(funneled) == -EBUSY,
	     "a function is not called yet");
	must(wait_and_put(e), "wait");
	fact(is_main == 1, "functions run on the main thread");
	posted(funneled);
	must(lkdf_mpi_close(funneled), "close");
	must(lkdf_close(rt), "close");
}

static void run_single(void)
{
	struct lkdf_mpi *m = NULL;
	struct lkdf *rt = NULL;

	must(lkdf_open("workers=1", &rt), "open");
	fact(lkdf_mpi_open(rt, MPI_COMM_WORLD, NULL, &m) == -ENOTSUP && !m,
	     "an MPI for one thread is refused");
	must(lkdf_close(rt), "close");
}

/* ---- a rank that dies --------------------------------------------------- */

static int has_thread(const char *name)
{
	struct found_thread t;

	return threads_find(name, &t, 1);
}

/* Who looks whether others die: this thread. */
static void run_outliving(void)
{
	struct lkdf_mpi_attr a = { sizeof(a), ~LKDF_MPI_OUTLIVE };
	struct lkdf_mpi *m[2] = { NULL, NULL };
	struct lkdf *rt = NULL;

	must(lkdf_open("workers=1,pin=off", &rt), "open");
	fact(lkdf_mpi_open(rt, MPI_COMM_WORLD, &a, m) == -EINVAL && !m[0],
	     "flags that are none are refused");
	a.flags = LKDF_MPI_OUTLIVE;
	must(lkdf_mpi_open(rt, MPI_COMM_WORLD, &a, &m[0]), "open");
	fact(!has_thread("lkdf/mpi"), "no thread looks for a rank that dies");
	must(lkdf_mpi_open(rt, MPI_COMM_WORLD, NULL, &m[1]), "open");
	fact(has_thread("lkdf/mpi") == (size > 1),
	     "a thread does where there is another");
	must(lkdf_mpi_close(m[1]), "close");
	fact(!has_thread("lkdf/mpi"), "and leaves with its handle");
	must(lkdf_mpi_close(m[0]), "close");
	must(lkdf_close(rt), "close");
}

/* The library's, too: a rank dies in it once the others are on their way. */
int MPI_Barrier(MPI_Comm comm)
{
	int i, word = 0;

	if (dies_at_close && rank == dying) {
		for (i = 1; i < size; i++)
			PMPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, LAST_TAG,
				  MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		kill(getpid(), SIGKILL);
	}
	if (dies_at_close)
		PMPI_Send(&word, 1, MPI_INT, dying, LAST_TAG, MPI_COMM_WORLD);
	return PMPI_Barrier(comm);
}

/* It dies while the others wait for it, or when all of them close. */
static void run_killed(void)
{
	struct lkdf_mpi *m = NULL;
	struct lkdf *rt = NULL;
	struct lkdf_event e;
	MPI_Request r;
	int in;

	must(lkdf_open("workers=1,pin=off", &rt), "open");
	must(lkdf_mpi_open(rt, MPI_COMM_WORLD, NULL, &m), "open");
	if (dies_at_close) {
		must(lkdf_mpi_close(m), "close");
		return;
	}
	if (rank == dying)
		kill(getpid(), SIGKILL);
	MPI_Irecv(&in, 1, MPI_INT, dying, 7, MPI_COMM_WORLD, &r);
	must(lkdf_mpi_event(m, &r, MPI_STATUS_IGNORE, &e), "event");
	lkdf_event_wait(e, -1);
}

/* A GiB in one message, from rank 0 to rank 1. */
static void run_huge(void)
{
	const size_t bytes = (size_t)1 << 30;
	unsigned char *all = malloc(bytes);
	struct lkdf_mpi *m = NULL;
	struct lkdf *rt = NULL;
	struct lkdf_event e;
	MPI_Request r;
	size_t i, nr_wrong = 0;

	if (!all)
		must(-ENOMEM, "a GiB");
	must(lkdf_open("workers=1", &rt), "open");
	must(lkdf_mpi_open(rt, MPI_COMM_WORLD, NULL, &m), "open");
	for (i = 0; i < bytes; i++)
		all[i] = rank ? 0 : byte_of(0, i);
	if (rank)
		MPI_Irecv(all, 1 << 30, MPI_BYTE, 0, 12, MPI_COMM_WORLD, &r);
	else
		MPI_Isend(all, 1 << 30, MPI_BYTE, 1, 12, MPI_COMM_WORLD, &r);
	must(lkdf_mpi_event(m, &r, MPI_STATUS_IGNORE, &e), "event");
	fact(!wait_and_put(e), "a message of 1 GiB");
	for (i = 0; i < bytes; i++)
		nr_wrong += all[i] != byte_of(0, i);
	fact(!nr_wrong, "comes as it was sent");
	free(all);
	must(lkdf_mpi_close(m), "close");
	must(lkdf_close(rt), "close");
}

/* ---- a recording -------------------------------------------------------- */

static void spin_ns(int64_t ns)
{
	struct timespec t;
	int64_t end;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	end = t.tv_sec * 1000000000ll + t.tv_nsec + ns;
	do {
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	} while (t.tv_sec * 1000000000ll + t.tv_nsec < end);
}

static int compute(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	spin_ns(rank ? 1000000 : 30000000);
	(*(struct message **)arg)->seen++;
	return 0;
}

/* Rank 0 computes long and sends late: the others wait for it. */
static void run_recorded(void)
{
	struct lkdf_mpi *m = NULL;
	struct lkdf *rt = NULL;
	struct lkdf_kind *k;
	struct message msg = { 0 }, *at = &msg;
	struct lkdf_task t = { .size = sizeof(t), .arg = &at };
	struct lkdf_event e;
	MPI_Request r;
	int i, p;

	must(lkdf_open("workers=1,pin=off", &rt), "open");
	must(lkdf_mpi_open(rt, MPI_COMM_WORLD, NULL, &m), "open");
	k = make_kind(rt, rank ? "short" : "long", compute);
	t.kind = k;
	for (i = 0; i < 5; i++) {
		if (rank) {
			MPI_Irecv(&msg.value, 1, MPI_INT, 0, i, MPI_COMM_WORLD,
				  &r);
			must(lkdf_mpi_from(m, r, 0, i), "from");
			must(lkdf_mpi_event(m, &r, MPI_STATUS_IGNORE, &e),
			     "event");
			t.after = &e;
			t.nr_after = 1;
		}
		must(lkdf_submit(rt, NULL, &t, NULL), "submit");
		must(lkdf_scope_wait(rt, NULL, -1), "wait");
		if (rank)
			lkdf_event_put(e);
		for (p = 1; !rank && p < size; p++) {
			MPI_Isend(&i, 1, MPI_INT, p, i, MPI_COMM_WORLD, &r);
			must(lkdf_mpi_to(m, r, p, i), "to");
			must(lkdf_mpi_event(m, &r, MPI_STATUS_IGNORE, &e),
			     "event");
			must(wait_and_put(e), "send");
		}
	}
	lkdf_kind_put(k);
	must(lkdf_mpi_close(m), "close");
	must(lkdf_close(rt), "close");
}

static void run_facts(void)
{
	char text[8192];

	must(lkdf_mpi_options(MPI_COMM_WORLD, text, sizeof(text)), "options");
	divided(text);
	run_all(text, 1);
	run_all("workers=2", 0);
	run_all("serial=yes", 0);
	run_outliving();
}

/* kill RANK wait|close|FACT */
static void run_kill(char **arg)
{
	int waits = !strcmp(arg[1], "wait");

	dying = atoi(arg[0]);
	dies_at_close = !strcmp(arg[1], "close");
	if (!waits && !dies_at_close) {
		dies_at = atoi(arg[1]);
		run_facts();
	} else {
		run_killed();
	}
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	int want = MPI_THREAD_MULTIPLE, level;

	if (!strcmp(mode, "single"))
		want = MPI_THREAD_SINGLE;
	if (!strcmp(mode, "serialized"))
		want = MPI_THREAD_SERIALIZED;
	if (!strcmp(mode, "funneled"))
		want = MPI_THREAD_FUNNELED;
	MPI_Init_thread(&argc, &argv, want, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	watchdog_watch(100);
	if (!strcmp(mode, "single"))
		run_single();
	else if (!strcmp(mode, "serialized"))
		run_serialized();
	else if (!strcmp(mode, "funneled"))
		run_funneled();
	else if (!strcmp(mode, "kill") && argc > 3)
		run_kill(argv + 2);
	else if (!strcmp(mode, "huge"))
		run_huge();
	else if (!strcmp(mode, "figures"))
		run_figures();
	else if (!strcmp(mode, "record"))
		run_recorded();
	else
		run_facts();
	if (!rank && nr_facts)
		printf("1..%d\n", nr_facts);
	MPI_Finalize();
	return nr_failed != 0;
}
