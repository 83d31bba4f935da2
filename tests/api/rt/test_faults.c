/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The n-th allocation of each operation fails, for n = 1, 2, .. until none is
 * left: a clean error or a way around, and all works afterwards.
 */
#include "tests/api/api.h"
#include "tests/faults/inject.h"

#define MAX_FAULTS 2000

struct world {
	struct lkdf *rt;
	struct lkdf_kind *count, *far, *general, *spawns;
	struct lkdf_graph *g, *build;
	struct lkdf_limit *limit;
	atomic_int nr;
	char far_arg[300];
};

static int spawn_some(struct lkdf_ctx *c, void *arg)
{
	struct world *w = arg;
	struct lkdf_event e;
	int i, rc = 0;

	for (i = 0; i < 100 && !rc; i++)
		rc = lkdf_spawn(c, i % 2 ? w->far : w->general, w->far_arg);
	if (!rc && !lkdf_hold(c, &e))
		rc = lkdf_event_signal(e, 0);
	if (!rc)
		rc = lkdf_then(c, api_nothing, (struct lkdf_event){ 0 });
	return rc;
}

static void world_init(struct world *w)
{
	int i;

	memset(w, 0, sizeof(*w));
	w->rt = api_open_workers(2);
	must(lkdf_limit_create(w->rt, 2, &w->limit));
	w->count = api_kind(w->rt, "count", api_count, 0, 0);
	w->far = api_kind(w->rt, "far", api_nothing, sizeof(w->far_arg), 0);
	must(lkdf_kind_create(
		w->rt,
		ATTR(lkdf_kind_attr, .name = "general", .fn = api_nothing,
		     .limit = &(struct lkdf_limit_use){ w->limit, 1 },
		     .nr_limit = 1),
		&w->general));
	w->spawns = api_kind(w->rt, "spawns", spawn_some, 0, 0);
	w->g = api_graph(w->rt, 2);
	for (i = 0; i < 50; i++)
		must(lkdf_graph_add(w->g, i % 2 ? w->general : w->count, &w->nr,
				    NULL, 0));
	must(lkdf_graph_add(w->g, w->spawns, w, NULL, 0));
	must(lkdf_graph_seal(w->g, NULL));
}

static void world_fini(struct world *w)
{
	lkdf_graph_put(w->g);
	lkdf_kind_put(w->count);
	lkdf_kind_put(w->far);
	lkdf_kind_put(w->general);
	lkdf_kind_put(w->spawns);
	lkdf_limit_put(w->limit);
	is(lkdf_close(w->rt), 0, "the runtime closes");
}

/* Each returns 0 or the error, with nothing left behind. */
static int do_open(struct world *w)
{
	struct lkdf *rt;
	int rc = lkdf_open("workers=3,blocking=2", &rt);

	(void)w;
	return rc ? rc : lkdf_close(rt);
}

static int do_open_made_up(struct world *w)
{
	struct lkdf *rt;
	int rc = lkdf_open("topology=numa:2 core:2,workers=4", &rt);

	(void)w;
	return rc ? rc : lkdf_close(rt);
}

static int do_kind(struct world *w)
{
	struct lkdf_kind *k;
	int rc;

	rc = lkdf_kind_create(w->rt,
			      ATTR(lkdf_kind_attr, .name = "k",
				   .fn = api_nothing, .flags = LKDF_BLOCKING),
			      &k);
	if (!rc)
		lkdf_kind_put(k);
	return rc;
}

static int do_scope(struct world *w)
{
	struct lkdf_scope *s;
	struct lkdf_limit *l;
	int rc = lkdf_scope_create(w->rt, NULL, &s);

	if (rc)
		return rc;
	lkdf_scope_put(s);
	rc = lkdf_limit_create(w->rt, 3, &l);
	if (!rc)
		lkdf_limit_put(l);
	return rc;
}

static int build(struct world *w, struct lkdf_graph *g)
{
	int i, rc;

	for (i = 0; i < 400; i++) {
		rc = lkdf_graph_add(g, i % 3 ? w->far : w->count,
				    i % 3 ? (void *)w->far_arg : &w->nr, NULL,
				    0);
		if (rc < 0)
			return rc;
		if (i % 7 == 0)
			rc = lkdf_graph_label(g, i, "a label");
		if (rc < 0)
			return rc;
		rc = i ? lkdf_graph_order(g, i / 5, i) : 0;
		if (rc < 0)
			return rc;
	}
	return lkdf_graph_seal(g, NULL);
}

static int do_graph(struct world *w)
{
	struct lkdf_graph *g;
	int rc;

	rc = lkdf_graph_create(w->rt, ATTR(lkdf_graph_attr, .inflight = 3), &g);
	if (rc)
		return rc;
	rc = build(w, g);
	if (rc && lkdf_graph_run(g, NULL, NULL, NULL) != -EBADFD)
		rc = -EPROTO;
	lkdf_graph_put(g);
	return rc;
}

/* ---- a graph with all of control flow ----------------------------------- */

static int pass_value(struct lkdf_ctx *c, void *arg)
{
	atomic_int *rounds = arg;

	*(long *)lkdf_out(c, 0) = 1;
	/* Round the loop twice, then out of it. */
	return rounds && atomic_fetch_add(rounds, 1) % 3 < 2 ? 0 : 1;
}

static void drop_value(void *value)
{
	(void)value;
}

static int add_up(void *acc, const void *x, uint64_t bytes)
{
	(void)bytes;
	*(uint64_t *)acc += *(const uint64_t *)x;
	return 0;
}

struct flow {
	struct lkdf_kind *kind, *first; /* first: without in ports */
	struct lkdf_data *d;
	struct lkdf_graph *g, *part;
	atomic_int rounds, inner;
};

static int flow_kinds(struct world *w, struct flow *f)
{
	static void (*const drop[])(void *) = { drop_value };
	static const uint32_t size[] = { sizeof(long) };
	struct lkdf_kind_attr a = {
		.size = sizeof(a),
		.name = "pass",
		.fn = pass_value,
		.nr_out = 1,
		.in_size = size,
		.out_size = size,
		.out_drop = drop,
		.flags = LKDF_ANY,
	};
	int rc = lkdf_kind_create(w->rt, &a, &f->first);

	/* Its values are for the next call, too. */
	a.nr_in = 1;
	a.out_drop = NULL;
	return rc ? rc : lkdf_kind_create(w->rt, &a, &f->kind);
}

/* A loop that reads first and reduces into what it reads. */
static int flow_part(struct world *w, struct flow *f)
{
	struct lkdf_use use = { .data = f->d, .mode = LKDF_READ };
	int rc = lkdf_graph_create(w->rt, NULL, &f->part);

	if (!rc)
		rc = lkdf_graph_add(f->part, f->first, NULL, &use, 1);
	use.mode = LKDF_REDUCE;
	if (rc >= 0)
		rc = lkdf_graph_add(f->part, f->kind, &f->inner, &use, 1);
	if (rc >= 0)
		rc = lkdf_graph_port(f->part, 0, 0, 1, 0);
	if (!rc)
		rc = lkdf_graph_add(f->part, f->first, NULL, NULL, 0);
	if (rc >= 0)
		rc = lkdf_graph_branch(f->part, 1, 1, 2);
	return rc ? rc : lkdf_graph_back(f->part, 1, 0, 0);
}

/* 0, 1 a loop; then the part, as task 2 to 6; branch 1 of 1 chooses it. */
static int flow_graph(struct world *w, struct flow *f)
{
	struct lkdf_edge next = { .size = sizeof(next),
				  .flags = LKDF_EDGE_PORT | LKDF_EDGE_NEXT };
	int rc = lkdf_graph_create(w->rt, NULL, &f->g);

	if (!rc)
		rc = lkdf_graph_add(f->g, f->kind, NULL, NULL, 0);
	if (rc >= 0)
		rc = lkdf_graph_add(f->g, f->kind, &f->rounds, NULL, 0);
	if (rc >= 0)
		rc = lkdf_graph_include(f->g, f->part);
	if (rc >= 0)
		rc = lkdf_graph_edge(f->g, &next);
	if (!rc)
		rc = lkdf_graph_port(f->g, 0, 0, 1, 0);
	if (!rc)
		rc = lkdf_graph_back(f->g, 1, 0, 0);
	if (!rc)
		rc = lkdf_graph_branch(f->g, 1, 1, 2);
	return rc ? rc : lkdf_graph_seal(f->g, NULL);
}

static int flow_run(struct world *w, struct flow *f)
{
	struct lkdf_event done;
	int rc = lkdf_graph_run(f->g, NULL, NULL, &done);

	if (!rc)
		rc = lkdf_event_wait(done, -1);
	lkdf_scope_wait(w->rt, NULL, -1);
	return rc;
}

static int do_flow(struct world *w)
{
	const uint64_t zero = 0;
	struct flow f = { .rounds = 0 };
	int rc = flow_kinds(w, &f);

	if (!rc)
		rc = lkdf_data_create(w->rt,
				      ATTR(lkdf_data_attr, .bytes = 8,
					   .init = &zero, .reduce = add_up),
				      &f.d);
	if (!rc)
		rc = flow_part(w, &f);
	if (!rc)
		rc = flow_graph(w, &f);
	if (!rc)
		rc = flow_run(w, &f);
	if (!rc && (f.rounds != 3 || f.inner != 3))
		rc = -EPROTO;
	if (f.g)
		lkdf_graph_put(f.g);
	if (f.part)
		lkdf_graph_put(f.part);
	if (f.d)
		lkdf_data_put(f.d);
	if (f.kind)
		lkdf_kind_put(f.kind);
	if (f.first)
		lkdf_kind_put(f.first);
	return rc;
}

static int do_run(struct world *w)
{
	struct lkdf_event done;
	int rc = lkdf_graph_run(w->g, NULL, NULL, &done);

	if (!rc)
		rc = lkdf_event_wait(done, -1);
	lkdf_scope_wait(w->rt, NULL, -1);
	return rc;
}

static int do_submit(struct world *w)
{
	struct lkdf_event done;
	int i, rc = 0;

	for (i = 0; i < 300 && !rc; i++)
		rc = lkdf_submit(w->rt, NULL,
				 ATTR(lkdf_task, .kind = w->far,
				      .arg = w->far_arg),
				 i % 2 ? &done : NULL);
	/* The slots that are not put stay until close. */
	lkdf_scope_wait(w->rt, NULL, -1);
	return rc;
}

static int do_spawn(struct world *w)
{
	struct lkdf_event done;
	int rc;

	rc = lkdf_submit(w->rt, NULL,
			 ATTR(lkdf_task, .kind = w->spawns, .arg = w), &done);
	if (!rc)
		rc = lkdf_event_wait(done, -1);
	lkdf_scope_wait(w->rt, NULL, -1);
	return rc;
}

static int do_alloc(struct world *w)
{
	static const enum lkdf_mem_kind kinds[] = { LKDF_MEM_OWN,
						    LKDF_MEM_INTERLEAVED,
						    LKDF_MEM_HOST_PINNED };
	struct lkdf_place *p;
	/* Those that are pinned need 7 MiB: anybody may lock 8. */
	void *v[11] = { NULL };
	int i, rc = 0;

	lkdf_places(w->rt, 0, &p, 1);
	for (i = 0; i < 11 && !rc; i++)
		rc = lkdf_alloc(p, kinds[i % 3], i < 6 ? 100 : 3 << 20, 0,
				i % 2 ? "label" : NULL, &v[i]);
	for (i = 0; i < 11; i++) {
		if (v[i])
			memset(v[i], 1, 100);
		lkdf_free(w->rt, v[i]);
	}
	return rc;
}

static int do_first_touch(struct world *w)
{
	char *p = malloc(1 << 20);
	int rc = lkdf_first_touch(w->rt, p, 1 << 20, 0, NULL, NULL);

	free(p);
	return rc;
}

/* A fresh runtime for each fault, as what has memory needs no more. */
static void every_fault_is_clean(const char *what, int (*fn)(struct world *w))
{
	int n, rc, nr_errors = 0, bad = 0, broken = 0;
	struct world w;

	for (n = 1; n < MAX_FAULTS; n++) {
		w.rt = NULL;
		if (fn != do_open && fn != do_open_made_up)
			world_init(&w);
		inject(n);
		rc = fn(&w);
		if (!inject_came())
			n = MAX_FAULTS;
		inject(0);
		nr_errors += rc != 0;
		bad += rc && rc != -ENOMEM && rc != -EAGAIN;
		if (rc && rc != -ENOMEM && rc != -EAGAIN)
			printf("# fault %d: %d %s\n", n, rc, lkdf_errmsg());
		if (!w.rt)
			continue;
		broken += fn(&w) != 0 && n < MAX_FAULTS;
		broken += do_run(&w) != 0;
		lkdf_graph_put(w.g);
		lkdf_kind_put(w.count);
		lkdf_kind_put(w.far);
		lkdf_kind_put(w.general);
		lkdf_kind_put(w.spawns);
		lkdf_limit_put(w.limit);
		broken += lkdf_close(w.rt) != 0;
	}
	ok(n > MAX_FAULTS, "%s: all faults came (%d gave an error)", what,
	   nr_errors);
	is(bad, 0, "each gave -ENOMEM or -EAGAIN or was got around");
	is(broken, 0, "all worked afterwards");
}

static void without_threads_open_says_so(void)
{
	struct lkdf *rt;

	atomic_store(&inject_threads_only, true);
	inject(-1);
	is(lkdf_open("workers=2", &rt), -EAGAIN, "no thread to be had");
	inject(0);
	has(lkdf_errmsg(), "cannot start worker 0", "is told");
	inject(2);
	is(lkdf_open("workers=2", &rt), -EAGAIN, "one thread to be had");
	inject(0);
	has(lkdf_errmsg(), "cannot start worker 1", "is told too");
	atomic_store(&inject_threads_only, false);
}

static void without_more_threads_blocking_work_waits(void)
{
	struct lkdf_kind *k;
	atomic_int nr = 0;
	struct lkdf *rt;
	int i;

	rt = api_open_workers(1);
	k = api_kind(rt, "blocking", api_count, 0, LKDF_BLOCKING);
	atomic_store(&inject_threads_only, true);
	inject(-1);
	for (i = 0; i < 100; i++)
		must(lkdf_submit(rt, NULL,
				 ATTR(lkdf_task, .kind = k, .arg = &nr), NULL));
	is(lkdf_scope_wait(rt, NULL, -1), 0, "one blocking thread does it all");
	inject(0);
	atomic_store(&inject_threads_only, false);
	is(nr, 100, "every body");
	lkdf_kind_put(k);
	is(lkdf_close(rt), 0, "the runtime closes");
}

int main(void)
{
	struct world w;

	tap_start(120);
	if (!inject_init((void *)(uintptr_t)lkdf_open)) {
		printf("1..0 # SKIP faults cannot be injected here\n");
		return 0;
	}
	world_init(&w);
	is(do_run(&w), 0, "without faults all works");
	world_fini(&w);
	every_fault_is_clean("open", do_open);
	every_fault_is_clean("open a made-up machine", do_open_made_up);
	every_fault_is_clean("kind", do_kind);
	every_fault_is_clean("scope and limit", do_scope);
	every_fault_is_clean("graph", do_graph);
	every_fault_is_clean("a graph with control flow", do_flow);
	every_fault_is_clean("run", do_run);
	every_fault_is_clean("submit", do_submit);
	every_fault_is_clean("spawn", do_spawn);
	every_fault_is_clean("memory", do_alloc);
	every_fault_is_clean("first touch", do_first_touch);
	without_threads_open_says_so();
	without_more_threads_blocking_work_waits();
	return tap_end();
}
