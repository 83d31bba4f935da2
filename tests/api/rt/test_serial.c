/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Serial mode gives the same results on the caller's thread alone, and the
 * library may be loaded and left again and again.
 */
#include "tests/api/api.h"

#include <dlfcn.h>
#include <lkdf/io.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/wait.h>

static struct lkdf_kind *sum_kind;

struct sum {
	int from, to;
	long *out;
};

static int sum(struct lkdf_ctx *c, void *arg)
{
	struct sum *s = arg;
	int mid = (s->from + s->to) / 2;
	long a = 0, b = 0;

	if (s->to - s->from == 1) {
		*s->out = s->from;
		return s->from == 777 ? lkdf_fail(c, -ERANGE, "777") : 0;
	}
	must(lkdf_spawn(c, sum_kind, &(struct sum){ s->from, mid, &a }));
	must(lkdf_spawn(c, sum_kind, &(struct sum){ mid, s->to, &b }));
	if (lkdf_join(c))
		a = 1000000;
	*s->out = a + b;
	return 0;
}

struct prefix {
	long sum;
	struct prefix *before;
};

static int add_up(struct lkdf_ctx *c, void *arg)
{
	struct prefix *p = arg;

	p->sum = (p->before ? p->before->sum : 0) + 1 + (long)lkdf_seq(c);
	return 0;
}

struct held {
	struct lkdf_event event;
	atomic_int is_set;
};

static int hold_on(struct lkdf_ctx *c, void *arg)
{
	struct held *h = arg;
	int rc = lkdf_hold(c, &h->event);

	atomic_store(&h->is_set, 1);
	return rc;
}

static long run_programs(struct lkdf *rt, uint32_t flags)
{
	struct lkdf_graph *g = api_graph(rt, 2);
	struct held held = { .is_set = 0 };
	struct lkdf_event done;
	struct prefix p[100];
	struct lkdf_kind *k, *holds;
	long total = 0;
	int i;

	sum_kind = api_kind(rt, "sum", sum, sizeof(struct sum), flags & 0);
	api_call(rt, sum_kind, &(struct sum){ 0, 1000, &total });
	k = api_kind(rt, "add", add_up, 0, flags);
	for (i = 0; i < 100; i++) {
		p[i] = (struct prefix){ 0, i ? &p[i - 1] : NULL };
		must(lkdf_graph_add(g, k, &p[i], NULL, 0));
		if (i)
			must(lkdf_graph_order(g, i - 1, i));
	}
	must(lkdf_graph_seal(g, NULL));
	total = total * 31 + api_run(g, NULL, ATTR(lkdf_run, .times = 10));
	total = total * 31 + p[99].sum;
	holds = api_kind(rt, "holds", hold_on, 0, flags);
	must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = holds, .arg = &held),
			 &done));
	api_until(&held.is_set);
	must(lkdf_event_signal(held.event, -EDOM));
	total = total * 31 + lkdf_event_wait(done, -1);
	total = total * 31 + lkdf_scope_wait(rt, NULL, -1);
	lkdf_graph_put(g);
	lkdf_kind_put(k);
	lkdf_kind_put(holds);
	lkdf_kind_put(sum_kind);
	return total;
}

static void results_are_the_same(uint32_t flags, int before)
{
	struct lkdf *rt = api_open("serial=yes");
	long serial, parallel;

	serial = run_programs(rt, flags);
	is(api_nr_threads(), before, "serial mode has no thread of its own");
	is(lkdf_close(rt), 0, "it closes");
	rt = api_open_workers(4);
	ok(api_nr_threads() > before, "other modes have");
	parallel = run_programs(rt, flags);
	is(serial, parallel, "serial and parallel give the same");
	is(lkdf_close(rt), 0, "it closes");
	is(api_threads_come_to(before), before, "and leaves no thread");
}

/* The path of the library that this program is linked to. */
static int load_and_leave(int nr)
{
	int (*open_fn)(const char *, struct lkdf **);
	int (*close_fn)(struct lkdf *);
	struct lkdf *rt;
	Dl_info info;
	void *lib;
	int i;

	if (!dladdr((void *)(uintptr_t)lkdf_open, &info))
		return -ENOENT;
	for (i = 0; i < nr; i++) {
		lib = dlopen(info.dli_fname, RTLD_NOW | RTLD_LOCAL);
		if (!lib)
			return -ENOENT;
		*(void **)&open_fn = dlsym(lib, "lkdf_open");
		*(void **)&close_fn = dlsym(lib, "lkdf_close");
		if (open_fn("workers=2", &rt) || close_fn(rt))
			return -EPROTO;
		dlclose(lib);
	}
	return 0;
}

/* ---- operations that do not end ------------------------------------------ */

static int count(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	++**(int **)arg;
	return 0;
}

/* Of eight bytes, from a descriptor that has nothing yet. */
static struct lkdf_event read_later(struct lkdf *rt, int fd, uint64_t *to)
{
	struct lkdf_io io = {
		.size = sizeof(io),
		.op = LKDF_IO_READ,
		.fd = fd,
		.buf = to,
		.len = sizeof(*to),
	};
	struct lkdf_event done;
	struct lkdf_kind *k;

	must(lkdf_kind_create_io(rt,
				 ATTR(lkdf_kind_attr, .name = "read",
				      .arg_size = sizeof(io)),
				 &k));
	must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k, .arg = &io),
			 &done));
	lkdf_kind_put(k);
	return done;
}

static void *write_soon(void *arg)
{
	uint64_t one = 1;

	api_nap_ns(20000000);
	must(-(write(*(int *)arg, &one, sizeof(one)) != sizeof(one)));
	return NULL;
}

/* As a server that reads a signalfd for as long as it lives. */
static void only_waits_wait(void)
{
	int quiet = must(eventfd(0, EFD_CLOEXEC)), nr = 0, *at = &nr;
	int loud = must(eventfd(0, EFD_CLOEXEC));
	struct lkdf *rt = api_open("serial=yes");
	struct lkdf_kind *k = api_kind(rt, "count", count, sizeof(at), 0);
	struct lkdf_event stays, comes, done;
	uint64_t never = 0, word = 0;
	struct lkdf_error e = { .size = sizeof(e) };
	pthread_t thread;

	stays = read_later(rt, quiet, &never);
	is(lkdf_event_wait(stays, 0), 1, "an operation is under way");
	must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k, .arg = &at),
			 &done));
	is(nr, 1, "a submission beside it runs the task and comes back");
	is(lkdf_event_wait(done, -1), 0, "whose event is waited for");
	comes = read_later(rt, loud, &word);
	must(pthread_create(&thread, NULL, write_soon, &loud));
	is(lkdf_event_wait(comes, -1), 0, "a wait ends with what it is for");
	is(word, 1, "which has come");
	pthread_join(thread, NULL);
	comes = read_later(rt, loud, &word);
	write_soon(&loud);
	while (lkdf_event_error(comes, &e) == 1)
		sched_yield();
	is(e.err, 0, "who looks again and again sees it, too");
	lkdf_event_put(comes);
	is(lkdf_scope_wait(rt, NULL, 1000000), 1, "the root scope is not done");
	write_soon(&quiet);
	is(lkdf_scope_wait(rt, NULL, -1), 0, "until the last one has ended");
	is(never, 1, "with what it read");
	lkdf_event_put(stays);
	lkdf_kind_put(k);
	is(lkdf_close(rt), 0, "it closes");
	close(quiet);
	close(loud);
}

int main(void)
{
	int before;

	tap_start(60);
	/* A sanitizer may start a thread of its own with the first. */
	lkdf_close(api_open_workers(1));
	before = api_threads_come_to(1);
	results_are_the_same(0, before);
	results_are_the_same(LKDF_BLOCKING, before);
	only_waits_wait();
	is(load_and_leave(100), 0, "loaded, used and left 100 times");
	is(api_threads_come_to(before), before, "no thread stays behind");
	return tap_end();
}
