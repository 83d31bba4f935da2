/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Rank 0 hands out work: jobs of very different lengths, which all ranks take
 * as they have room, rank 0 too. No thread waits for a message: each job and
 * each result is an event that calls a function, which starts what comes next.
 * The jobs count primes; rank 0 counts again with a sieve and compares.
 *
 *	mpirun -n 4 build/examples/hand_out [JOBS]
 */
#include <lkdf/lkdf.h>
#include <lkdf/mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBERS 20000 /* of a job */
#define MAX_JOBS 10000
#define DEPTH 4 /* jobs under way on each rank */

/* A place for a job on one rank; rank 0 has one for each of the others', too.
 */
struct slot {
	int rank, tag;
	int job; /* -1: there is no more */
	long found; /* its result */
};

static struct lkdf *rt;
static struct lkdf_mpi *m;
static struct lkdf_kind *count_kind;
static struct lkdf_event all_ended; /* one signal a slot */
static int nr_jobs;
static atomic_int next_job; /* of rank 0 */
static atomic_long sum;
static atomic_int *jobs_of; /* by rank */

static void must(int rc, const char *what)
{
	if (rc >= 0)
		return;
	fprintf(stderr, "hand_out: %s: %s\n", what, lkdf_errmsg());
	MPI_Abort(MPI_COMM_WORLD, 1);
}

/* ---- a job -------------------------------------------------------------- */

static int is_prime(long n)
{
	long d;

	for (d = 2; d * d <= n; d++)
		if (n % d == 0)
			return 0;
	return n > 1;
}

static int count_primes(struct lkdf_ctx *c, void *arg)
{
	struct slot *s = *(struct slot **)arg;
	long n, from = (long)s->job * NUMBERS;
	MPI_Request r;

	s->found = 0;
	for (n = from; n < from + NUMBERS; n++)
		s->found += is_prime(n);
	if (!lkdf_mpi_rank(m))
		return 0;
	MPI_Isend(&s->found, 1, MPI_LONG, 0, s->tag, MPI_COMM_WORLD, &r);
	lkdf_mpi_to(m, r, 0, s->tag);
	/* The task ends when the result is on its way. */
	return lkdf_mpi_hold(c, m, &r, MPI_STATUS_IGNORE);
}

static void start_job(struct slot *s, void (*then)(void *u, int err))
{
	struct lkdf_task t = {
		.size = sizeof(t),
		.kind = count_kind,
		.arg = &s,
	};
	struct lkdf_event ended;

	must(lkdf_submit(rt, NULL, &t, &ended), "submit");
	must(lkdf_event_call(ended, then, s), "call");
	lkdf_event_put(ended);
}

/* ---- the other ranks ---------------------------------------------------- */

static void await_job(struct slot *s);

static void result_sent(void *u, int err)
{
	must(err, "a job");
	await_job(u);
}

static void job_came(void *u, int err)
{
	struct slot *s = u;

	must(err, "a job");
	if (s->job < 0)
		lkdf_event_signal(all_ended, 0);
	else
		start_job(s, result_sent);
}

static void await_job(struct slot *s)
{
	struct lkdf_event came;
	MPI_Request r;

	MPI_Irecv(&s->job, 1, MPI_INT, 0, s->tag, MPI_COMM_WORLD, &r);
	must(lkdf_mpi_from(m, r, 0, s->tag), "from");
	must(lkdf_mpi_event(m, &r, MPI_STATUS_IGNORE, &came), "event");
	must(lkdf_event_call(came, job_came, s), "call");
	lkdf_event_put(came);
}

/* ---- rank 0 ------------------------------------------------------------- */

static void hand_out(struct slot *s);

static void result_came(void *u, int err)
{
	struct slot *s = u;

	must(err, "a result");
	atomic_fetch_add(&sum, s->found);
	atomic_fetch_add(&jobs_of[s->rank], 1);
	hand_out(s);
}

static void goodbye_sent(void *u, int err)
{
	(void)u;
	must(err, "the end");
	lkdf_event_signal(all_ended, 0);
}

/* The job to the slot's rank; its result, if there is a job, from there. */
static void send_job(struct slot *s)
{
	const int nr = s->job < 0 ? 1 : 2;
	struct lkdf_event e;
	MPI_Request r[2];

	MPI_Isend(&s->job, 1, MPI_INT, s->rank, s->tag, MPI_COMM_WORLD, &r[0]);
	must(lkdf_mpi_to(m, r[0], s->rank, s->tag), "to");
	if (nr == 2) {
		MPI_Irecv(&s->found, 1, MPI_LONG, s->rank, s->tag,
			  MPI_COMM_WORLD, &r[1]);
		must(lkdf_mpi_from(m, r[1], s->rank, s->tag), "from");
	}
	must(lkdf_mpi_events(m, (unsigned)nr, r, MPI_STATUSES_IGNORE, &e),
	     "events");
	must(lkdf_event_call(e, nr == 2 ? result_came : goodbye_sent, s),
	     "call");
	lkdf_event_put(e);
}

static void hand_out(struct slot *s)
{
	int job = atomic_fetch_add(&next_job, 1);

	s->job = job < nr_jobs ? job : -1;
	if (s->rank)
		send_job(s);
	else if (s->job >= 0)
		start_job(s, result_came);
	else
		lkdf_event_signal(all_ended, 0);
}

static long count_alone(void)
{
	const long end = (long)nr_jobs * NUMBERS;
	char *is_not = calloc((size_t)end + 1, 1);
	long n, k, nr = 0;

	if (!is_not)
		MPI_Abort(MPI_COMM_WORLD, 1);
	for (n = 2; n < end; n++) {
		nr += !is_not[n];
		for (k = n * n; !is_not[n] && k < end; k += n)
			is_not[k] = 1;
	}
	free(is_not);
	return nr;
}

static int tell_result(void)
{
	const int is_right = atomic_load(&sum) == count_alone();
	int i;

	printf("%d jobs, %ld primes: %s\n", nr_jobs, atomic_load(&sum),
	       is_right ? "as a sieve has it" : "NOT as a sieve has it");
	for (i = 0; i < lkdf_mpi_size(m); i++)
		printf("rank %d: %d jobs\n", i, atomic_load(&jobs_of[i]));
	return is_right;
}

/* All slots begin; the last one to end fires the event. */
static struct slot *start_slots(void)
{
	const int rank = lkdf_mpi_rank(m);
	const int nr = rank ? DEPTH : DEPTH * lkdf_mpi_size(m);
	struct slot *slots = calloc((size_t)nr, sizeof(*slots));
	int i;

	if (!slots)
		MPI_Abort(MPI_COMM_WORLD, 1);
	must(lkdf_event_create(rt, (uint32_t)nr, 0, &all_ended), "event");
	for (i = 0; i < nr; i++) {
		slots[i].rank = rank ? rank : i / DEPTH;
		slots[i].tag = i % DEPTH;
		if (rank)
			await_job(&slots[i]);
		else
			hand_out(&slots[i]);
	}
	return slots;
}

/* The number of jobs; -1: the arguments are wrong. */
static int read_arguments(int argc, char **argv)
{
	char *end;
	long n;

	if (argc == 1)
		return 200;
	n = strtol(argv[1], &end, 10);
	return argc == 2 && *argv[1] && !*end && n > 0 && n <= MAX_JOBS ? (int)n
									: -1;
}

static int usage(bool is_help)
{
	int rank;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (!rank)
		fprintf(is_help ? stdout : stderr,
			"usage: hand_out [JOBS]\nJOBS: 1 to %d (200)\n",
			MAX_JOBS);
	MPI_Finalize();
	return is_help ? 0 : 2;
}

int main(int argc, char **argv)
{
	struct slot *slots;
	char options[8192];
	int level, is_right = 1;

	nr_jobs = read_arguments(argc, argv);
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	if (nr_jobs < 0)
		return usage(argc == 2 && !strcmp(argv[1], "--help"));
	must(lkdf_mpi_options(MPI_COMM_WORLD, options, sizeof(options)),
	     "options");
	must(lkdf_open(options, &rt), "open");
	must(lkdf_mpi_open(rt, MPI_COMM_WORLD, NULL, &m), "mpi");
	must(lkdf_kind_create(rt,
			      LKDF_KIND(.name = "primes", .fn = count_primes,
					.arg_size = sizeof(struct slot *),
					.flags = LKDF_ALWAYS),
			      &count_kind),
	     "kind");
	jobs_of = calloc((size_t)lkdf_mpi_size(m), sizeof(*jobs_of));
	if (!jobs_of)
		MPI_Abort(MPI_COMM_WORLD, 1);
	slots = start_slots();
	must(lkdf_event_wait(all_ended, -1), "jobs");
	must(lkdf_scope_wait(rt, NULL, -1), "tasks");
	if (!lkdf_mpi_rank(m))
		is_right = tell_result();
	free(slots);
	free(jobs_of);
	lkdf_kind_put(count_kind);
	must(lkdf_mpi_close(m), "mpi");
	must(lkdf_close(rt), "close");
	MPI_Finalize();
	return !is_right;
}
