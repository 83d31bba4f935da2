/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Figures of two ranks, printed by rank 0: a message there and back by events
 * and by tasks, against MPI_Test(), CPU time of an idle rank, and tasks beside
 * messages against tasks alone. Rounds of both kinds take turns; ratios are
 * medians.
 */
#include "tests/mpi/ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ROUNDS 9
#define PINGS 1000
#define SWEEPS 5
#define TASKS 16
#define HALO 65536

static double now_s(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median_of(double *v, int nr)
{
	qsort(v, (size_t)nr, sizeof(*v), by_size);
	return v[nr / 2];
}

/* ---- there and back ----------------------------------------------------- */

static void ping_by_test(void)
{
	int i, k, in, out = 1, is_there;
	MPI_Request r[2];

	for (i = 0; i < PINGS; i++)
		for (k = 0; k < 2; k++) {
			if (k == rank)
				MPI_Isend(&out, 1, MPI_INT, 1 - rank, 1,
					  MPI_COMM_WORLD, &r[0]);
			else
				MPI_Irecv(&in, 1, MPI_INT, 1 - rank, 1,
					  MPI_COMM_WORLD, &r[0]);
			do
				MPI_Test(&r[0], &is_there, MPI_STATUS_IGNORE);
			while (!is_there);
		}
}

struct ping {
	struct lkdf *rt;
	struct lkdf_mpi *m;
	void (*next)(struct ping *p, MPI_Request *r);
	struct lkdf_event ended;
	int left, in, out;
};

static void next_ping(struct ping *p);

static void ping_came(void *u, int err)
{
	must(err, "ping");
	next_ping(u);
}

static void after_request(struct ping *p, MPI_Request *r)
{
	struct lkdf_event e;

	must(lkdf_mpi_event(p->m, r, MPI_STATUS_IGNORE, &e), "event");
	must(lkdf_event_call(e, ping_came, p), "call");
	lkdf_event_put(e);
}

/* Sends and receives take turns; the other rank's are the other way round. */
static void next_ping(struct ping *p)
{
	MPI_Request r;

	if (!p->left--) {
		lkdf_event_signal(p->ended, 0);
		return;
	}
	if ((p->left & 1) == rank)
		MPI_Irecv(&p->in, 1, MPI_INT, 1 - rank, 2, MPI_COMM_WORLD, &r);
	else
		MPI_Isend(&p->out, 1, MPI_INT, 1 - rank, 2, MPI_COMM_WORLD, &r);
	p->next(p, &r);
}

static struct lkdf_kind *ping_kind;

/* A task for each message: it starts when the last one has come. */
static void submit_ping(struct ping *p, MPI_Request *r)
{
	struct lkdf_task t = { .size = sizeof(t),
			       .kind = ping_kind,
			       .arg = &p };
	struct lkdf_event e;

	must(lkdf_mpi_event(p->m, r, MPI_STATUS_IGNORE, &e), "event");
	t.after = &e;
	t.nr_after = 1;
	must(lkdf_submit(p->rt, NULL, &t, NULL), "submit");
	lkdf_event_put(e);
}

static int ping_task(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	next_ping(*(struct ping **)arg);
	return 0;
}

static void ping_by(struct lkdf *rt, struct lkdf_mpi *m,
		    void (*next)(struct ping *p, MPI_Request *r))
{
	struct ping p = { .rt = rt, .m = m, .next = next, .left = 2 * PINGS };

	must(lkdf_event_create(rt, 1, 0, &p.ended), "event");
	next_ping(&p);
	must(lkdf_event_wait(p.ended, -1), "pings");
	must(lkdf_scope_wait(rt, NULL, -1), "last ping");
}

static void compare_pings(struct lkdf *rt, struct lkdf_mpi *m)
{
	double by_events[ROUNDS], by_tasks[ROUNDS], raw[ROUNDS], t[4];
	int i;

	ping_kind = make_kind(rt, "ping", ping_task);
	for (i = 0; i < ROUNDS; i++) {
		MPI_Barrier(MPI_COMM_WORLD);
		t[0] = now_s(CLOCK_MONOTONIC);
		ping_by_test();
		t[1] = now_s(CLOCK_MONOTONIC);
		ping_by(rt, m, after_request);
		t[2] = now_s(CLOCK_MONOTONIC);
		ping_by(rt, m, submit_ping);
		t[3] = now_s(CLOCK_MONOTONIC);
		raw[i] = (t[1] - t[0]) / PINGS * 1e6;
		by_events[i] = (t[2] - t[1]) / (t[1] - t[0]);
		by_tasks[i] = (t[3] - t[2]) / (t[1] - t[0]);
	}
	lkdf_kind_put(ping_kind);
	if (!rank)
		printf("there and back: %.2f of MPI_Test(), which takes %.2f "
		       "us; by tasks %.2f\n",
		       median_of(by_events, ROUNDS), median_of(raw, ROUNDS),
		       median_of(by_tasks, ROUNDS));
}

/* ---- an idle rank ------------------------------------------------------- */

static void tell_idle(void)
{
	const struct timespec second = { 1, 0 };
	double cpu, all = 0;

	MPI_Barrier(MPI_COMM_WORLD);
	cpu = now_s(CLOCK_PROCESS_CPUTIME_ID);
	nanosleep(&second, NULL);
	cpu = now_s(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	MPI_Reduce(&cpu, &all, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
	if (!rank)
		printf("an idle rank: %.3f ms of CPU a second\n", all * 1e3);
}

/* ---- tasks beside messages ---------------------------------------------- */

static int work(struct lkdf_ctx *c, void *arg)
{
	double sum = 0;
	int i;

	(void)c;
	for (i = 0; i < 100000; i++)
		sum += (double)i * sum + 1 > 1e300 ? -sum : 1;
	*(volatile double *)*(void **)arg = sum;
	return 0;
}

static struct lkdf_event exchange(struct lkdf_mpi *m)
{
	static char in[HALO], out[HALO];
	struct lkdf_event e;
	MPI_Request r[2];

	MPI_Irecv(in, HALO, MPI_BYTE, 1 - rank, 3, MPI_COMM_WORLD, &r[0]);
	MPI_Isend(out, HALO, MPI_BYTE, 1 - rank, 3, MPI_COMM_WORLD, &r[1]);
	must(lkdf_mpi_events(m, 2, r, MPI_STATUSES_IGNORE, &e), "events");
	return e;
}

static double sweep_all(struct lkdf *rt, struct lkdf_mpi *m,
			struct lkdf_kind *k)
{
	double sum, *to = &sum, begin = now_s(CLOCK_PROCESS_CPUTIME_ID);
	struct lkdf_task t = { .size = sizeof(t), .kind = k, .arg = &to };
	struct lkdf_event e;
	int i, n;

	for (i = 0; i < SWEEPS; i++) {
		e = m ? exchange(m) : (struct lkdf_event){ 0 };
		t.nr_after = 0;
		for (n = 1; n < TASKS; n++)
			must(lkdf_submit(rt, NULL, &t, NULL), "submit");
		t.after = &e;
		t.nr_after = m != NULL;
		must(lkdf_submit(rt, NULL, &t, NULL), "submit");
		must(lkdf_scope_wait(rt, NULL, -1), "wait");
		lkdf_event_put(e);
	}
	return now_s(CLOCK_PROCESS_CPUTIME_ID) - begin;
}

/* By CPU time: a rank that waits in vain takes none of it. */
static void compare_sweeps(struct lkdf *rt, struct lkdf_mpi *m)
{
	struct lkdf_kind *k = make_kind(rt, "work", work);
	double ratio[ROUNDS], alone;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		MPI_Barrier(MPI_COMM_WORLD);
		alone = sweep_all(rt, NULL, k);
		ratio[i] = alone / sweep_all(rt, m, k);
	}
	if (!rank)
		printf("tasks beside messages: %.3f of the tasks alone\n",
		       median_of(ratio, ROUNDS));
	lkdf_kind_put(k);
}

void run_figures(void)
{
	struct lkdf_mpi *m = NULL;
	struct lkdf *rt = NULL;
	char options[8192];

	must(size == 2 ? 0 : -1, "two ranks");
	must(lkdf_mpi_options(MPI_COMM_WORLD, options, sizeof(options)),
	     "options");
	must(lkdf_open(options, &rt), "open");
	must(lkdf_mpi_open(rt, MPI_COMM_WORLD, NULL, &m), "open");
	compare_pings(rt, m);
	compare_sweeps(rt, m);
	tell_idle();
	must(lkdf_mpi_close(m), "close");
	must(lkdf_close(rt), "close");
}
