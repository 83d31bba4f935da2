/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf_why() again and again while everything that it looks at comes and goes:
 * tasks that take limits, follow events, hold, go on later, use data, are
 * operations; runs, graphs, scopes and data are made and put. All end well.
 */
#include "tests/api/using.h"
#include "tests/api/why.h"

#define ROUNDS 300
#define NR 40

struct looker {
	struct lkdf *rt;
	atomic_int is_over, nr;
};

static void *look(void *arg)
{
	struct looker *l = arg;
	int fd = must(memfd_create("why", MFD_CLOEXEC));

	while (!atomic_load(&l->is_over)) {
		must(lkdf_why(l->rt,
			      atomic_fetch_add(&l->nr, 1) % 2 ? "json" : "text",
			      fd));
		must((int)lseek(fd, 0, SEEK_SET));
	}
	close(fd);
	return NULL;
}

static int signal_held(struct lkdf_ctx *c, void *arg)
{
	struct lkdf_event e;

	(void)arg;
	must(lkdf_hold(c, &e));
	must(lkdf_event_signal(e, 0));
	return 0;
}

static int go_on(struct lkdf_ctx *c, void *arg)
{
	struct lkdf_kind **k = arg;
	struct lkdf_event e;

	must(lkdf_event_create(lkdf_runtime(c), 1, 0, &e));
	must(lkdf_event_signal(e, 0));
	must(lkdf_spawn(c, *k, NULL));
	return lkdf_then(c, api_nothing, e);
}

struct all {
	struct lkdf *rt;
	struct lkdf_kind *limited, *holder, *later, *io, *plain;
};

static void make(struct all *a)
{
	struct lkdf_limit_use use = { NULL, 1 };

	must(lkdf_limit_create(a->rt, 1, &use.limit));
	must(lkdf_kind_create(a->rt,
			      ATTR(lkdf_kind_attr, .name = "limited",
				   .fn = api_nothing, .limit = &use,
				   .nr_limit = 1),
			      &a->limited));
	lkdf_limit_put(use.limit);
	a->holder = api_kind(a->rt, "holder", signal_held, 0, 0);
	a->later = api_kind(a->rt, "later", go_on, 0, 0);
	a->plain = api_kind(a->rt, "plain", api_nothing, 0, 0);
	must(lkdf_kind_create_io(a->rt,
				 ATTR(lkdf_kind_attr, .name = "timer",
				      .arg_size = sizeof(struct lkdf_io)),
				 &a->io));
}

static void put(struct all *a)
{
	lkdf_kind_put(a->limited);
	lkdf_kind_put(a->holder);
	lkdf_kind_put(a->later);
	lkdf_kind_put(a->plain);
	lkdf_kind_put(a->io);
}

static void submit_all(struct all *a, struct lkdf_scope *s, struct lkdf_data *d,
		       const struct lkdf_event *e)
{
	const struct lkdf_use use = ON(d, LKDF_RW);
	const struct lkdf_io io = {
		.size = sizeof(io),
		.op = LKDF_IO_TIMEOUT,
		.off = 100000,
	};
	int i;

	for (i = 0; i < NR; i++) {
		must(lkdf_submit(a->rt, s,
				 ATTR(lkdf_task, .kind = a->limited,
				      .use = &use, .nr_use = 1),
				 NULL));
		must(lkdf_submit(a->rt, s, ATTR(lkdf_task, .kind = a->holder),
				 NULL));
		must(lkdf_submit(a->rt, s,
				 ATTR(lkdf_task, .kind = a->later,
				      .arg = &a->limited),
				 NULL));
		must(lkdf_submit(a->rt, s,
				 ATTR(lkdf_task, .kind = a->plain, .use = &use,
				      .nr_use = 1, .after = e, .nr_after = 1),
				 NULL));
		must(lkdf_submit(a->rt, s,
				 ATTR(lkdf_task, .kind = a->io, .arg = &io),
				 NULL));
	}
}

static struct lkdf_graph *a_graph(struct all *a, struct lkdf_data *d)
{
	const struct lkdf_use use = ON(d, LKDF_RW);
	struct lkdf_graph *g = api_graph(a->rt, 2);
	int i;

	for (i = 0; i < NR; i++) {
		must(lkdf_graph_add(g, a->limited, NULL, NULL, 0));
		must(lkdf_graph_add(g, a->later, &a->limited, NULL, 0));
		must(lkdf_graph_add(g, a->plain, NULL, &use, 1));
	}
	must(lkdf_graph_seal(g, NULL));
	return g;
}

static int one_round(struct all *a)
{
	struct lkdf_data *d = number(a->rt, "d", &(uint64_t){ 1 });
	struct lkdf_graph *g = a_graph(a, d);
	struct lkdf_scope *s;
	struct lkdf_event e;
	int i, rc;

	must(lkdf_scope_create(a->rt,
			       ATTR(lkdf_scope_attr, .name = "round",
				    .max_tasks = 4 * NR * 5),
			       &s));
	must(lkdf_event_create(a->rt, 1, 0, &e));
	submit_all(a, s, d, &e);
	for (i = 0; i < 4; i++) {
		if (i == 1)
			must(lkdf_event_signal(e, 0));
		must(lkdf_graph_run(g, s, NULL, NULL));
	}
	lkdf_graph_put(g);
	lkdf_data_put(d);
	rc = lkdf_scope_wait(a->rt, s, -1);
	lkdf_scope_put(s);
	lkdf_event_put(e);
	return rc;
}

static void all_end_well(const char *options)
{
	struct all a = { .rt = api_open(options) };
	struct looker l = { .rt = a.rt };
	pthread_t thread;
	int i, rc = 0;

	make(&a);
	pthread_create(&thread, NULL, look, &l);
	for (i = 0; i < ROUNDS && !rc; i++)
		rc = one_round(&a);
	atomic_store(&l.is_over, 1);
	pthread_join(thread, NULL);
	is(rc, 0, "%s: all have ended well", options);
	ok(atomic_load(&l.nr) > 0, "%s: and were looked at", options);
	has(why_says(a.rt, "text"), "nothing waits", "%s: none is left",
	    options);
	put(&a);
	must(lkdf_close(a.rt));
}

int main(void)
{
	tap_start(120);
	all_end_well("workers=2");
	all_end_well("workers=3,io=threads");
	return tap_end();
}
