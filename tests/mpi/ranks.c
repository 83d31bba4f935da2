/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Requests of MPI as events, as each of several ranks sees them: rank 0 prints
 * a fact if it holds on all of them. ranks [single|serialized|kill].
 */
#include <errno.h>
#include <lkdf/lkdf.h>
#include <lkdf/mpi.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST 1048576
#define NR_POSTS 1000

static int rank, size, nr_facts, nr_failed;

__attribute__((format(printf, 2, 3))) static void fact(int holds,
						       const char *text, ...)
{
	va_list ap;
	int all = 0;

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

static void must(int rc, const char *what)
{
	if (rc >= 0)
		return;
	fprintf(stderr, "# rank %d: %s: %s\n", rank, what, strerror(-rc));
	MPI_Abort(MPI_COMM_WORLD, 1);
}

static int wait_and_put(struct lkdf_event e)
{
	return lkdf_event_wait(e, -1);
}

static void ring(struct lkdf_mpi *m)
{
	int to = (rank + 1) % size, from = (rank + size - 1) % size;
	int got = -1, sent = rank * 3;
	struct lkdf_event in, out;
	MPI_Request r[2];
	MPI_Status st;

	MPI_Irecv(&got, 1, MPI_INT, from, 1, MPI_COMM_WORLD, &r[0]);
	MPI_Isend(&sent, 1, MPI_INT, to, 1, MPI_COMM_WORLD, &r[1]);
	must(lkdf_mpi_event(m, &r[0], &st, &in), "event");
	must(lkdf_mpi_event(m, &r[1], MPI_STATUS_IGNORE, &out), "event");
	fact(r[0] == MPI_REQUEST_NULL && r[1] == MPI_REQUEST_NULL,
	     "the library takes requests over");
	fact(!wait_and_put(out) && !wait_and_put(in),
	     "events of a ring fire without an error");
	fact(got == from * 3, "with what the other rank has sent");
	fact(st.MPI_SOURCE == from && st.MPI_TAG == 1,
	     "and the status of the request");
}

static unsigned char byte_of(int from, size_t i)
{
	return (unsigned char)((size_t)from * 7 + i);
}

static void all_to_all(struct lkdf_mpi *m, int bytes)
{
	MPI_Request *r = calloc((size_t)size * 2, sizeof(*r));
	unsigned char *in = malloc((size_t)size * MOST), *out = malloc(MOST);
	struct lkdf_event e;
	int p, i, is_right = 1;

	if (!r || !in || !out)
		must(-ENOMEM, "buffers");
	for (i = 0; i < bytes; i++)
		out[i] = byte_of(rank, (size_t)i);
	for (p = 0; p < size; p++) {
		MPI_Irecv(in + (size_t)p * MOST, bytes, MPI_BYTE, p, 2,
			  MPI_COMM_WORLD, &r[p]);
		MPI_Isend(out, bytes, MPI_BYTE, p, 2, MPI_COMM_WORLD,
			  &r[size + p]);
	}
	must(lkdf_mpi_events(m, (unsigned)size * 2, r, MPI_STATUSES_IGNORE, &e),
	     "events");
	fact(!wait_and_put(e), "one event for %d requests of %d bytes",
	     size * 2, bytes);
	for (p = 0; p < size; p++)
		for (i = 0; i < bytes; i++)
			is_right &= in[(size_t)p * MOST + (size_t)i] ==
				    byte_of(p, (size_t)i);
	fact(is_right, "all bytes are there");
	free(r);
	free(in);
	free(out);
}

/* ---- tasks -------------------------------------------------------------- */

struct message {
	struct lkdf_mpi *m;
	int value, seen;
};

static int receive(struct lkdf_ctx *c, void *arg)
{
	struct message *msg = *(struct message **)arg;
	MPI_Request r;

	MPI_Irecv(&msg->value, 1, MPI_INT, (rank + 1) % size, 3, MPI_COMM_WORLD,
		  &r);
	return lkdf_mpi_hold(c, msg->m, &r, MPI_STATUS_IGNORE);
}

static int look(struct lkdf_ctx *c, void *arg)
{
	struct message *msg = *(struct message **)arg;

	(void)c;
	msg->seen = msg->value;
	return 0;
}

static struct lkdf_kind *make_kind(struct lkdf *rt, const char *name,
				   lkdf_fn fn)
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

/* A task that ends with its request, and one after it. */
static void held_task(struct lkdf *rt, struct lkdf_mpi *m)
{
	struct lkdf_kind *from = make_kind(rt, "receive", receive);
	struct lkdf_kind *to = make_kind(rt, "look", look);
	struct message msg = { m, -1, -1 }, *at = &msg;
	struct lkdf_task t = { .size = sizeof(t), .kind = from, .arg = &at };
	struct lkdf_event received, looked;
	int value = rank + 100;

	must(lkdf_submit(rt, NULL, &t, &received), "submit");
	t.kind = to;
	t.nr_after = 1;
	t.after = &received;
	must(lkdf_submit(rt, NULL, &t, &looked), "submit");
	MPI_Send(&value, 1, MPI_INT, (rank + size - 1) % size, 3,
		 MPI_COMM_WORLD);
	fact(!wait_and_put(received) && !wait_and_put(looked),
	     "a task ends with its request, one after it runs");
	fact(msg.seen == (rank + 1) % size + 100, "and sees the message");
	lkdf_kind_put(from);
	lkdf_kind_put(to);
}

/* ---- functions in turn -------------------------------------------------- */

struct turn {
	struct lkdf_mpi *m;
	int nr, nr_wrong, want, got, sent;
	struct lkdf_event e;
};

static struct turn turn;

static int take_turn(void *u)
{
	turn.nr_wrong += (int)(intptr_t)u != turn.nr;
	turn.nr++;
	return 0;
}

static int exchange(void *u)
{
	int to = (rank + 1) % size, from = (rank + size - 1) % size;
	MPI_Request r[2];

	(void)u;
	turn.sent = rank;
	MPI_Irecv(&turn.got, 1, MPI_INT, from, 4, MPI_COMM_WORLD, &r[0]);
	MPI_Isend(&turn.sent, 1, MPI_INT, to, 4, MPI_COMM_WORLD, &r[1]);
	return lkdf_mpi_events(turn.m, 2, r, MPI_STATUSES_IGNORE, &turn.e);
}

static int refuse(void *u)
{
	(void)u;
	return -EDOM;
}

static void posted(struct lkdf_mpi *m)
{
	struct lkdf_event e;
	intptr_t i;

	turn = (struct turn){ .m = m, .got = -1 };
	for (i = 0; i < NR_POSTS; i++)
		must(lkdf_mpi_post(m, take_turn, (void *)i, NULL), "post");
	must(lkdf_mpi_post(m, refuse, NULL, &e), "post");
	fact(wait_and_put(e) == -EDOM, "a function's error is its event's");
	fact(turn.nr == NR_POSTS && !turn.nr_wrong,
	     "functions run one after another");
	must(lkdf_mpi_post(m, exchange, NULL, &e), "post");
	fact(!wait_and_put(e) && !wait_and_put(turn.e),
	     "one of them exchanges messages");
	fact(turn.got == (rank + size - 1) % size, "which come");
}

/* ---- edges -------------------------------------------------------------- */

static void too_long(struct lkdf_mpi *m)
{
	struct lkdf_event e;
	int two[2] = { 1, 2 }, one = 0;
	MPI_Request r, s;

	/* Open MPI does not see it where the receiver itself sends later. */
	MPI_Isend(two, 2, MPI_INT, (rank + 1) % size, 5, MPI_COMM_WORLD, &s);
	MPI_Irecv(&one, 1, MPI_INT, (rank + size - 1) % size, 5, MPI_COMM_WORLD,
		  &r);
	must(lkdf_mpi_event(m, &r, MPI_STATUS_IGNORE, &e), "event");
	MPI_Wait(&s, MPI_STATUS_IGNORE);
	fact(wait_and_put(e) == -EMSGSIZE,
	     "a message that is too long is the event's error");
}

static void misuse(struct lkdf_mpi *m)
{
	MPI_Request r = MPI_REQUEST_NULL;
	struct lkdf_event e;

	fact(lkdf_mpi_event(NULL, &r, MPI_STATUS_IGNORE, &e) == -EINVAL &&
		     lkdf_mpi_event(m, NULL, MPI_STATUS_IGNORE, &e) ==
			     -EINVAL &&
		     lkdf_mpi_events(m, 0, &r, MPI_STATUSES_IGNORE, &e) ==
			     -EINVAL &&
		     lkdf_mpi_post(m, NULL, NULL, NULL) == -EINVAL,
	     "what is NULL or none is refused");
	must(lkdf_mpi_event(m, &r, MPI_STATUS_IGNORE, &e), "event");
	fact(!wait_and_put(e), "a request that is none is complete");
}

static void busy_close(struct lkdf_mpi *m)
{
	struct lkdf_event e;
	int in = 0, out = 1;
	MPI_Request r;

	MPI_Irecv(&in, 1, MPI_INT, rank, 6, MPI_COMM_WORLD, &r);
	must(lkdf_mpi_event(m, &r, MPI_STATUS_IGNORE, &e), "event");
	fact(lkdf_mpi_close(m) == -EBUSY, "close waits for no request");
	MPI_Send(&out, 1, MPI_INT, rank, 6, MPI_COMM_WORLD);
	fact(!wait_and_put(e) && in == 1, "which goes on");
	fact(!lkdf_mpi_close(m), "then it closes");
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

static void run_all(const char *options)
{
	struct lkdf_mpi *m = NULL;
	struct lkdf *rt = NULL;

	must(lkdf_open(options, &rt), options);
	fact(!lkdf_mpi_open(rt, MPI_COMM_WORLD, NULL, &m), "%s: it opens",
	     strchr(options, ',') ? "its share" : options);
	fact(lkdf_mpi_rank(m) == rank && lkdf_mpi_size(m) == size,
	     "rank and size");
	ring(m);
	all_to_all(m, 0);
	all_to_all(m, 1);
	all_to_all(m, 65536);
	all_to_all(m, MOST);
	held_task(rt, m);
	posted(m);
	too_long(m);
	misuse(m);
	busy_close(m);
	must(lkdf_close(rt), "close");
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

static void run_single(void)
{
	struct lkdf_mpi *m = NULL;
	struct lkdf *rt = NULL;

	must(lkdf_open("workers=1", &rt), "open");
	fact(lkdf_mpi_open(rt, MPI_COMM_WORLD, NULL, &m) == -ENOTSUP && !m,
	     "an MPI for one thread is refused");
	must(lkdf_close(rt), "close");
}

/* The last rank is killed while the others wait for it. */
static void run_killed(void)
{
	struct lkdf_mpi *m = NULL;
	struct lkdf *rt = NULL;
	struct lkdf_event e;
	MPI_Request r;
	int in;

	must(lkdf_open("workers=1", &rt), "open");
	must(lkdf_mpi_open(rt, MPI_COMM_WORLD, NULL, &m), "open");
	if (rank == size - 1)
		kill(getpid(), SIGKILL);
	MPI_Irecv(&in, 1, MPI_INT, size - 1, 7, MPI_COMM_WORLD, &r);
	must(lkdf_mpi_event(m, &r, MPI_STATUS_IGNORE, &e), "event");
	lkdf_event_wait(e, -1);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	int want = MPI_THREAD_MULTIPLE, level;
	char text[8192];

	if (!strcmp(mode, "single"))
		want = MPI_THREAD_SINGLE;
	if (!strcmp(mode, "serialized"))
		want = MPI_THREAD_SERIALIZED;
	MPI_Init_thread(&argc, &argv, want, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	alarm(100);
	if (!strcmp(mode, "single")) {
		run_single();
	} else if (!strcmp(mode, "serialized")) {
		run_serialized();
	} else if (!strcmp(mode, "kill")) {
		run_killed();
	} else {
		must(lkdf_mpi_options(MPI_COMM_WORLD, text, sizeof(text)),
		     "options");
		divided(text);
		run_all(text);
		run_all("workers=2");
		run_all("serial=yes");
	}
	if (!rank)
		printf("1..%d\n", nr_facts);
	MPI_Finalize();
	return nr_failed != 0;
}
