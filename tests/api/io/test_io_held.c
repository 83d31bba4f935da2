/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * All workers are inside bodies while operations come to their end: nobody
 * takes what has come, and there may be more of it than a ring holds. When the
 * bodies end every operation ends, once, with its own result. A body ends when
 * the test has seen that the operations have got what they wait for.
 */
#include "tests/api/io_fault.h"

#include <sys/socket.h>
#include <sys/un.h>

/* A ring holds 1024 that nobody takes. */
#define NR_FLOOD 3000
#define NR_WORKERS 4

struct hold {
	atomic_int nr_here, is_over;
	int nr;
	struct lkdf_kind *k;
	struct lkdf_event done[NR_WORKERS];
};

static int hold_body(struct lkdf_ctx *c, void *arg)
{
	struct hold *h = *(struct hold **)arg;

	(void)c;
	atomic_fetch_add(&h->nr_here, 1);
	api_until(&h->is_over);
	return 0;
}

/* Returns when every worker is inside a body. */
static void hold_all(struct lkdf *rt, struct hold *h, int nr)
{
	int i;

	atomic_store(&h->nr_here, 0);
	atomic_store(&h->is_over, 0);
	h->nr = nr;
	h->k = api_kind(rt, "hold", hold_body, sizeof(h), 0);
	for (i = 0; i < nr; i++)
		must(lkdf_submit(rt, NULL,
				 ATTR(lkdf_task, .kind = h->k, .arg = &h),
				 &h->done[i]));
	while (atomic_load(&h->nr_here) < nr)
		api_nap_ns(50000);
}

static void let_all_go(struct hold *h)
{
	int i;

	atomic_store(&h->is_over, 1);
	for (i = 0; i < h->nr; i++)
		lkdf_event_wait(h->done[i], -1);
	lkdf_kind_put(h->k);
}

struct flood {
	int pair[2];
	int64_t result[NR_FLOOD];
	struct lkdf_event done[NR_FLOOD];
	char to[NR_FLOOD];
};

static uint64_t nr_bodies(struct lkdf *rt)
{
	uint64_t nr = 0;

	must(lkdf_stat(rt, "lkdf.tasks", &nr));
	return nr;
}

/* Where the worker has rings it has begun all of them, as its bodies do. */
static void start_flood(struct lkdf *rt, struct flood *f)
{
	int i;

	for (i = 0; i < NR_FLOOD; i++)
		io_start(rt,
			 IO(.op = LKDF_IO_RECV, .fd = f->pair[0],
			    .buf = &f->to[i], .len = 1),
			 &f->result[i], &f->done[i]);
	while (lkdf_caps(rt) & LKDF_CAP_URING && nr_bodies(rt) < NR_FLOOD)
		api_nap_ns(100000);
}

/* A byte for each, which is taken while the worker is inside a body. */
static void feed_flood(struct flood *f)
{
	int i;

	for (i = 0; i < NR_FLOOD; i++)
		if (write(f->pair[1], "x", 1) != 1)
			exit(1);
	io_until_empty(f->pair[0]);
}

static int nr_ended_well(struct flood *f)
{
	int i, nr = 0;

	for (i = 0; i < NR_FLOOD; i++)
		nr += !lkdf_event_wait(f->done[i], -1) && f->result[i] == 1 &&
		      f->to[i] == 'x';
	return nr;
}

/* Completions that a ring has no room for, as the kernel tells. */
static bool has_overflowed(void)
{
	char name[64], line[256];
	bool found = false, is_list;
	FILE *f;
	int fd;

	for (fd = 0; fd < 64; fd++) {
		snprintf(name, sizeof(name), "/proc/self/fdinfo/%d", fd);
		f = fopen(name, "r");
		is_list = false;
		while (f && fgets(line, sizeof(line), f)) {
			found |= is_list && strstr(line, "user_data");
			is_list |= !strncmp(line, "CqOverflowList", 14);
		}
		if (f)
			fclose(f);
	}
	return found;
}

static void more_come_than_a_ring_holds(const char *how, bool is_threads)
{
	struct lkdf *rt =
		api_open(is_threads ? "workers=1,io=threads" : "workers=1");
	bool has_rings = lkdf_caps(rt) & LKDF_CAP_URING;
	static struct flood f;
	struct hold h;
	int i;

	must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, f.pair));
	start_flood(rt, &f);
	hold_all(rt, &h, 1);
	feed_flood(&f);
	/* What is read is told of a moment later. */
	for (i = 0; has_rings && i < 5000 && !has_overflowed(); i++)
		api_nap_ns(1000000);
	if (has_rings)
		ok(has_overflowed(), "%s: the ring does not hold them", how);
	let_all_go(&h);
	is(nr_ended_well(&f), NR_FLOOD, "%s: %d end while the worker is busy",
	   how, NR_FLOOD);
	close(f.pair[0]);
	close(f.pair[1]);
	is(lkdf_close(rt), 0, "%s: it closes", how);
}

/* The same, and all of them are cancelled before the body ends. */
static void a_flood_is_cancelled(const char *options)
{
	struct lkdf *rt = api_open(options);
	struct lkdf_kind *k = io_kind(rt, NULL, 0);
	struct lkdf_error e = { .size = sizeof(e) };
	struct lkdf_scope *s = NULL;
	int pair[2], i;
	struct hold h;
	static char to[NR_FLOOD];

	must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
	must(lkdf_scope_create(rt, NULL, &s));
	for (i = 0; i < NR_FLOOD; i++)
		must(lkdf_submit(rt, s,
				 ATTR(lkdf_task, .kind = k,
				      .arg = IO(.op = LKDF_IO_RECV,
						.fd = pair[0], .buf = &to[i],
						.len = 1)),
				 NULL));
	hold_all(rt, &h, 1);
	must(lkdf_scope_cancel(rt, s, -EINTR));
	let_all_go(&h);
	is(lkdf_scope_wait(rt, s, -1), -EINTR, "%s: a flood is cancelled",
	   options);
	must(lkdf_scope_error(rt, s, &e));
	is(e.nr_cancelled, NR_FLOOD, "%s: each of them", options);
	lkdf_scope_put(s);
	lkdf_kind_put(k);
	close(pair[0]);
	close(pair[1]);
	is(lkdf_close(rt), 0, "%s: it closes", options);
}

/* ---- each operation while all workers are busy -------------------------- */

struct under_way {
	const char *what;
	struct lkdf_event done;
	int64_t result, want;
};

static int listen_at(struct sockaddr_un *addr)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	*addr = (struct sockaddr_un){ .sun_family = AF_UNIX };
	snprintf(addr->sun_path, sizeof(addr->sun_path), "%.64s/sock", io_dir);
	must(bind(fd, (struct sockaddr *)addr, sizeof(*addr)));
	must(listen(fd, 4));
	return fd;
}

static void each_kind_of_wait(struct lkdf *rt, const char *how)
{
	struct sockaddr_un addr;
	int server = listen_at(&addr), reads[2], polls[2], talks[2], i;
	int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char to[2], got;
	struct under_way u[] = { { .what = "read", .want = 2 },
				 { .what = "poll", .want = POLLIN },
				 { .what = "recv", .want = 1 },
				 { .what = "timeout", .want = 0 },
				 { .what = "accept" } };
	struct hold h;

	io_half_read(rt, reads, to, &u[0].result, &u[0].done);
	must(pipe2(polls, O_CLOEXEC));
	must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, talks));
	io_start(rt, IO(.op = LKDF_IO_POLL, .fd = polls[0], .how = POLLIN),
		 &u[1].result, &u[1].done);
	io_start(rt,
		 IO(.op = LKDF_IO_RECV, .fd = talks[0], .buf = &got, .len = 1),
		 &u[2].result, &u[2].done);
	io_start(rt, IO(.op = LKDF_IO_TIMEOUT, .off = 1000), &u[3].result,
		 &u[3].done);
	io_start(rt,
		 IO(.op = LKDF_IO_ACCEPT, .fd = server, .how = SOCK_CLOEXEC),
		 &u[4].result, &u[4].done);
	hold_all(rt, &h, NR_WORKERS);
	ok(write(reads[1], "b", 1) == 1 && write(polls[1], "c", 1) == 1 &&
		   write(talks[1], "d", 1) == 1 &&
		   !connect(client, (struct sockaddr *)&addr, sizeof(addr)),
	   "%s: all workers are busy, and what is waited for comes", how);
	io_until_empty(reads[0]);
	is(u[0].result, INT64_MIN, "%s: nobody goes on yet", how);
	let_all_go(&h);
	for (i = 0; i < 5; i++) {
		is(lkdf_event_wait(u[i].done, -1), 0, "%s: %s ends", how,
		   u[i].what);
		if (i < 4)
			is(u[i].result, u[i].want, "%s: %s: its result", how,
			   u[i].what);
	}
	ok(u[4].result > 2, "%s: accept: a descriptor", how);
	close((int)u[4].result);
	for (i = 0; i < 2; i++) {
		close(reads[i]);
		close(polls[i]);
		close(talks[i]);
	}
	close(client);
	close(server);
	unlink(addr.sun_path);
}

static void one_backend(const char *options)
{
	int nr_fds = io_nr_fds();
	struct lkdf *rt = api_open(options);

	each_kind_of_wait(rt, options);
	is(lkdf_close(rt), 0, "%s: it closes", options);
	is(io_nr_fds(), nr_fds, "%s: no descriptor is left", options);
}

int main(void)
{
	tap_start(60);
	io_begin();
	one_backend("workers=4");
	one_backend("workers=4,io=threads");
	more_come_than_a_ring_holds("rings", false);
	more_come_than_a_ring_holds("threads", true);
	a_flood_is_cancelled("workers=1");
	a_flood_is_cancelled("workers=1,io=threads");
	io_end();
	return tap_end();
}
