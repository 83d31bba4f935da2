/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Requests of MPI as events, as each of several ranks sees them. */
#include "tests/mpi/ranks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define MOST 1048576
#define LARGEST 16777216
#define NR_POSTS 1000

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

/* To the next rank and from the one before, all sizes under way at a time. */
static void mixed(struct lkdf_mpi *m)
{
	static const int sizes[] = { LARGEST, 0, 65536, 1, LARGEST, 65537 };
	enum {
		NR = sizeof(sizes) / sizeof(sizes[0])
	};
	int to = (rank + 1) % size, from = (rank + size - 1) % size, i, k;
	unsigned char *in[NR], *out = malloc(LARGEST);
	struct lkdf_event e[2 * NR];
	MPI_Request r[2 * NR];
	int is_right = out != NULL;

	for (i = 0; is_right && i < LARGEST; i++)
		out[i] = byte_of(rank, (size_t)i);
	for (i = 0; i < NR; i++) {
		in[i] = calloc(1, (size_t)sizes[i] + 1);
		MPI_Irecv(in[i], sizes[i], MPI_BYTE, from, 20 + i,
			  MPI_COMM_WORLD, &r[2 * i]);
	}
	for (i = NR - 1; i >= 0; i--)
		MPI_Isend(out, sizes[i], MPI_BYTE, to, 20 + i, MPI_COMM_WORLD,
			  &r[2 * i + 1]);
	for (i = 0; i < 2 * NR; i++)
		must(lkdf_mpi_event(m, &r[i], MPI_STATUS_IGNORE, &e[i]),
		     "event");
	for (i = 0; i < 2 * NR; i++)
		is_right &= !wait_and_put(e[i]);
	for (i = 0; i < NR; i++) {
		for (k = 0; k < sizes[i]; k += 61)
			is_right &= in[i][k] == byte_of(from, (size_t)k);
		is_right &= in[i][sizes[i]] == 0;
		free(in[i]);
	}
	free(out);
	fact(is_right, "0 bytes to 16 MiB at a time");
}

/* ---- tasks -------------------------------------------------------------- */

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

void posted(struct lkdf_mpi *m)
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

/* ---- who waits for what ------------------------------------------------- */

static int why_has(struct lkdf *rt, const char *part)
{
	static char text[1 << 16];
	int fd = memfd_create("why", MFD_CLOEXEC);
	ssize_t n;

	must(fd < 0 ? -errno : lkdf_why(rt, "text", fd), "why");
	n = pread(fd, text, sizeof(text) - 1, 0);
	text[n > 0 ? n : 0] = 0;
	close(fd);
	return strstr(text, part) != NULL;
}

/* The body may not have run yet; the watchdog ends what never is so. */
static int why_until(struct lkdf *rt, const char *part)
{
	while (!why_has(rt, part))
		usleep(1000);
	return 1;
}

static int receive_told(struct lkdf_ctx *c, void *arg)
{
	struct message *msg = *(struct message **)arg;
	MPI_Request r;

	MPI_Irecv(&msg->value, 1, MPI_INT, MPI_ANY_SOURCE, 8, MPI_COMM_WORLD,
		  &r);
	must(lkdf_mpi_from(msg->m, r, MPI_ANY_SOURCE, 8), "from");
	return lkdf_mpi_hold(c, msg->m, &r, MPI_STATUS_IGNORE);
}

static void told(struct lkdf *rt, struct lkdf_mpi *m)
{
	struct lkdf_kind *holds = make_kind(rt, "holds", receive_told);
	struct lkdf_kind *after = make_kind(rt, "after", look);
	int from = (rank + 1) % size, in = -1, out = rank + 50;
	struct message msg = { m, -1, -1 }, *at = &msg;
	struct lkdf_task t = { .size = sizeof(t), .kind = after, .arg = &at };
	struct lkdf_event came, ends[2];
	MPI_Request r[2];
	char text[80];

	MPI_Irecv(&in, 1, MPI_INT, from, 9, MPI_COMM_WORLD, &r[0]);
	MPI_Irecv(NULL, 0, MPI_INT, from, 10, MPI_COMM_WORLD, &r[1]);
	must(lkdf_mpi_from(m, r[1], MPI_ANY_SOURCE, MPI_ANY_TAG), "from");
	must(lkdf_mpi_from(m, r[0], from, 9), "from");
	must(lkdf_mpi_events(m, 2, r, MPI_STATUSES_IGNORE, &came), "events");
	t.nr_after = 1;
	t.after = &came;
	must(lkdf_submit(rt, NULL, &t, &ends[0]), "submit");
	t.kind = holds;
	t.nr_after = 0;
	must(lkdf_submit(rt, NULL, &t, &ends[1]), "submit");
	snprintf(text, sizeof(text),
		 "\"a message from rank %d, tag 9, and 1 "
		 "more\"",
		 from);
	fact(why_until(rt, text), "lkdf_why() names peer and tag");
	fact(why_until(rt, "task \"holds\" waits to end, by lkdf_hold(), for "
			   "an event \"a message from any rank, tag 8\""),
	     "of a request that a task holds, too");
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Send(&out, 1, MPI_INT, (rank + size - 1) % size, 9, MPI_COMM_WORLD);
	MPI_Send(NULL, 0, MPI_INT, (rank + size - 1) % size, 10,
		 MPI_COMM_WORLD);
	MPI_Send(&out, 1, MPI_INT, (rank + size - 1) % size, 8, MPI_COMM_WORLD);
	fact(!wait_and_put(ends[0]) && !wait_and_put(ends[1]) &&
		     in == from + 50 && msg.value == from + 50,
	     "which the tasks get");
	lkdf_event_put(came);
	fact(lkdf_mpi_from(m, MPI_REQUEST_NULL, 0, 0) == -EINVAL &&
		     lkdf_mpi_to(NULL, MPI_REQUEST_NULL, 0, 0) == -EINVAL,
	     "nothing is told of none");
	lkdf_kind_put(holds);
	lkdf_kind_put(after);
}

/* ---- cancel ------------------------------------------------------------- */

/* Tasks after a request are cancelled; the request goes on and is complete. */
static void cancelled(struct lkdf *rt, struct lkdf_mpi *m)
{
	struct lkdf_kind *plain;
	const struct lkdf_kind_attr a = {
		.size = sizeof(a),
		.name = "late",
		.fn = look,
		.arg_size = sizeof(void *),
	};
	struct message msg = { m, -1, -1 }, *at = &msg;
	const struct lkdf_scope_attr attr = { .size = sizeof(attr) };
	struct lkdf_task t = { .size = sizeof(t), .arg = &at, .nr_after = 1 };
	struct lkdf_event came, end;
	struct lkdf_scope *s;
	int in = -1, out = 5;
	MPI_Request r;

	must(lkdf_kind_create(rt, &a, &plain), "kind");
	must(lkdf_scope_create(rt, &attr, &s), "scope");
	MPI_Irecv(&in, 1, MPI_INT, rank, 11, MPI_COMM_WORLD, &r);
	must(lkdf_mpi_event(m, &r, MPI_STATUS_IGNORE, &came), "event");
	t.kind = plain;
	t.after = &came;
	must(lkdf_submit(rt, s, &t, &end), "submit");
	must(lkdf_scope_cancel(rt, s, -EINTR), "cancel");
	fact(lkdf_event_wait(end, -1) == -EINTR && msg.seen == -1,
	     "a task that waits for a request is cancelled");
	MPI_Send(&out, 1, MPI_INT, rank, 11, MPI_COMM_WORLD);
	fact(!wait_and_put(came) && in == 5, "the request is not");
	lkdf_scope_wait(rt, s, -1);
	lkdf_scope_put(s);
	lkdf_kind_put(plain);
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

/*
 * A halo at the border: requests that are none, or persistent and not started,
 * are complete at once, though a receive goes on for which nobody sends yet.
 */
static void none_beside_others(struct lkdf_mpi *m)
{
	const int64_t patience_ns = 20000000000;
	struct lkdf_event heard, halo, again;
	int in = -1, out = rank, got = -1;
	MPI_Request listens, r[4], p;
	MPI_Status st;

	MPI_Irecv(&in, 1, MPI_INT, rank, 12, MPI_COMM_WORLD, &listens);
	must(lkdf_mpi_event(m, &listens, MPI_STATUS_IGNORE, &heard), "event");
	MPI_Recv_init(&got, 1, MPI_INT, rank, 13, MPI_COMM_WORLD, &p);
	r[0] = MPI_REQUEST_NULL;
	r[1] = p;
	MPI_Irecv(&got, 1, MPI_INT, (rank + size - 1) % size, 14,
		  MPI_COMM_WORLD, &r[2]);
	MPI_Isend(&out, 1, MPI_INT, (rank + 1) % size, 14, MPI_COMM_WORLD,
		  &r[3]);
	must(lkdf_mpi_events(m, 4, r, MPI_STATUSES_IGNORE, &halo), "events");
	fact(!lkdf_event_wait(halo, patience_ns),
	     "requests that are none end beside one that goes on");
	r[1] = p;
	must(lkdf_mpi_event(m, &r[1], &st, &again), "event");
	fact(!lkdf_event_wait(again, patience_ns),
	     "so does one alone that was not started");
	MPI_Start(&p);
	r[1] = p;
	must(lkdf_mpi_event(m, &r[1], &st, &again), "event");
	MPI_Send(&out, 1, MPI_INT, rank, 13, MPI_COMM_WORLD);
	fact(!wait_and_put(again) && st.MPI_TAG == 13,
	     "and started it waits for its message");
	MPI_Request_free(&p);
	MPI_Send(&out, 1, MPI_INT, rank, 12, MPI_COMM_WORLD);
	fact(!wait_and_put(heard) && in == rank, "and so does the other one");
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

/* ---- all ---- */

void run_all(const char *options, int is_first)
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
	if (is_first)
		mixed(m);
	told(rt, m);
	cancelled(rt, m);
	held_task(rt, m);
	posted(m);
	too_long(m);
	misuse(m);
	none_beside_others(m);
	busy_close(m);
	must(lkdf_close(rt), "close");
}
