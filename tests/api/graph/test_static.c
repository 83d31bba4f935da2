/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Runs that go by their graph's static order: drawn graphs whose values are
 * passed on, run again and again. In some runs a body in their midst does
 * something that no order can foresee. Each task runs once, behind what it
 * comes after, with the values of this run; what lies behind a failure is
 * skipped, and nothing else; and no bytes are lost on the way.
 */
#include "tests/api/using.h"

#define MAX_TASKS 600
#define MAX_IN 5
#define NR_RUNS 120

enum event {
	NOTHING,
	FAILS,
	SPAWNS, /* and joins */
	LEAVES, /* with then, for a child */
	HOLDS,
	GIVES, /* what it has written, before its end */
	CANCELS,
	SUBMITS, /* on the side */
	NR_EVENTS
};

static const char *const names[] = { "nothing",	 "a failure",
				     "children", "then",
				     "a hold",	 "a use given on",
				     "a cancel", "a submission" };

struct net {
	struct lkdf *rt;
	struct lkdf_kind *kind, *child;
	struct lkdf_graph *graph;
	struct lkdf_scope *scope;
	struct lkdf_data *data[MAX_TASKS];
	struct lkdf_data *last; /* bytes that stay; each tenth task reads it */
	uint32_t nr, pred[MAX_TASKS][MAX_IN], nr_pred[MAX_TASKS];
	bool has_data;

	/* Of this run. */
	uint64_t run;
	enum event event;
	uint32_t where;
	uint64_t ran[MAX_TASKS]; /* the last run in which it did */
	uint64_t ended[MAX_TASKS]; /* the same, to its end */
	atomic_int nr_wrong, nr_children, nr_asked;
};

struct job {
	struct net *net;
	uint32_t task;
};

static struct net net;
static struct job job[MAX_TASKS];
static uint64_t seed = 20261124;

static uint32_t draw(uint32_t below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % below;
}

static int child(struct lkdf_ctx *c, void *arg)
{
	struct net *n = *(struct net **)arg;

	(void)c;
	atomic_fetch_add(&n->nr_children, 1);
	return 0;
}

static void wrong_if(struct net *n, bool is)
{
	if (is)
		atomic_fetch_add(&n->nr_wrong, 1);
}

static void write_value(struct lkdf_ctx *c, const struct job *j)
{
	uint64_t *out = lkdf_ptr(c, 0);

	wrong_if(j->net, j->net->has_data != (out != NULL));
	if (out)
		*out = j->task + j->net->run;
	j->net->ended[j->task] = j->net->run;
}

static int go_on(struct lkdf_ctx *c, void *arg)
{
	const struct job *j = arg;

	wrong_if(j->net, atomic_load(&j->net->nr_children) !=
				 atomic_load(&j->net->nr_asked));
	write_value(c, j);
	return 0;
}

static void spawn(struct lkdf_ctx *c, struct net *n)
{
	atomic_fetch_add(&n->nr_asked, 1);
	must(lkdf_spawn(c, n->child, &n));
}

/* What the body does in the midst of the run; > 0: it ends as any other. */
static int happen(struct lkdf_ctx *c, const struct job *j)
{
	struct net *n = j->net;
	struct lkdf_event e;

	switch (n->event) {
	case FAILS:
		return lkdf_fail(c, -EIO, "task %u fails", j->task);
	case SPAWNS:
		spawn(c, n);
		spawn(c, n);
		must(lkdf_join(c));
		wrong_if(n, atomic_load(&n->nr_children) !=
				    atomic_load(&n->nr_asked));
		break;
	case LEAVES:
		spawn(c, n);
		must(lkdf_then(c, go_on, (struct lkdf_event){ 0 }));
		return 0;
	case HOLDS:
		must(lkdf_hold(c, &e));
		write_value(c, j);
		must(lkdf_event_signal(e, 0));
		return 0;
	case GIVES:
		write_value(c, j);
		if (n->has_data)
			must(lkdf_use_end(c, 0, false));
		return 0;
	case CANCELS:
		must(lkdf_scope_cancel(n->rt, n->scope, -EINTR));
		break;
	case SUBMITS:
		atomic_fetch_add(&n->nr_asked, 1);
		must(lkdf_submit(n->rt, NULL,
				 ATTR(lkdf_task, .kind = n->child, .arg = &n),
				 NULL));
		break;
	default:
		break;
	}
	return 1;
}

static int body(struct lkdf_ctx *c, void *arg)
{
	const struct job *j = arg;
	struct net *n = j->net;
	const uint64_t *in;
	uint32_t i, from;
	int rc;

	wrong_if(n, n->ran[j->task] == n->run);
	n->ran[j->task] = n->run;
	for (i = 0; i < n->nr_pred[j->task]; i++) {
		from = n->pred[j->task][i];
		in = lkdf_ptr(c, i + 1);
		wrong_if(n, n->ended[from] != n->run);
		wrong_if(n, n->has_data && (!in || *in != from + n->run));
	}
	if (n->has_data && j->task % 10 == 9) {
		in = lkdf_ptr(c, i + 1);
		wrong_if(n, !in || *in != 4711);
	}
	if (j->task == n->where) {
		rc = happen(c, j);
		if (rc <= 0)
			return rc;
	}
	write_value(c, j);
	return 0;
}

/* Tasks that did not run though they should have, or the other way. */
static int nr_misjudged(const struct net *n, const uint32_t *order)
{
	static bool is_dead[MAX_TASKS];
	uint32_t t, i, k;
	int nr = 0;

	for (k = 0; k < n->nr; k++) {
		t = order[k];
		is_dead[t] = false;
		for (i = 0; i < n->nr_pred[t]; i++)
			is_dead[t] |= is_dead[n->pred[t][i]];
		/* The one that fails has run. */
		nr += is_dead[t] == (n->ran[t] == n->run);
		is_dead[t] |= n->event == FAILS && t == n->where;
	}
	return nr;
}

/* Edges lead from what comes earlier in a drawn order of the numbers. */
static void draw_net(struct net *n, uint32_t *order)
{
	uint32_t i, k, t, back, from;

	n->nr = 2 + draw(MAX_TASKS - 2);
	for (i = 0; i < n->nr; i++)
		order[i] = i;
	for (i = n->nr; draw(2) && i-- > 1;) {
		k = draw(i + 1);
		t = order[k];
		order[k] = order[i];
		order[i] = t;
	}
	back = 1 + draw(n->nr);
	for (i = 0; i < n->nr; i++) {
		t = order[i];
		n->nr_pred[t] = 0;
		for (k = draw(MAX_IN + 1); i && k; k--) {
			from = order[i - 1 - draw(i < back ? i : back)];
			n->pred[t][n->nr_pred[t]++] = from;
		}
	}
}

/* The same twice is one edge, and one use. */
static void remove_twins(struct net *n)
{
	uint32_t t, i, k, nr;

	for (t = 0; t < n->nr; t++) {
		nr = 0;
		for (i = 0; i < n->nr_pred[t]; i++) {
			for (k = 0; k < nr; k++)
				if (n->pred[t][k] == n->pred[t][i])
					break;
			if (k == nr)
				n->pred[t][nr++] = n->pred[t][i];
		}
		n->nr_pred[t] = nr;
	}
}

static void add_task(struct net *n, uint32_t t)
{
	struct lkdf_use use[MAX_IN + 2] = { ON(n->data[t], LKDF_WRITE) };
	uint32_t i, nr = n->nr_pred[t];

	for (i = 0; i < nr; i++)
		use[i + 1] = ON(n->data[n->pred[t][i]], LKDF_READ);
	if (t % 10 == 9)
		use[++nr] = ON(n->last, LKDF_READ);
	must(lkdf_graph_add(n->graph, n->kind, &job[t],
			    n->has_data ? use : NULL,
			    n->has_data ? nr + 1 : 0));
}

static void build(struct net *n)
{
	static const uint64_t sizes[] = { 8, 24, 100, 512, 5000 };
	const uint64_t value = 4711;
	uint32_t t, i;

	n->graph = api_graph(n->rt, 1);
	n->last = n->has_data ? number(n->rt, "last", &value) : NULL;
	for (t = 0; t < n->nr; t++) {
		job[t] = (struct job){ n, t };
		n->data[t] = NULL;
		if (n->has_data)
			n->data[t] = DATA(n->rt, .bytes = sizes[draw(5)],
					  .flags = LKDF_DATA_ONCE);
	}
	for (t = 0; t < n->nr; t++)
		add_task(n, t);
	for (t = 0; t < n->nr && !n->has_data; t++)
		for (i = 0; i < n->nr_pred[t]; i++)
			must(lkdf_graph_order(n->graph, (int32_t)n->pred[t][i],
					      (int32_t)t));
	must(lkdf_graph_seal(n->graph, NULL));
}

static void free_net(struct net *n)
{
	uint32_t t;

	lkdf_graph_put(n->graph);
	for (t = 0; t < n->nr; t++)
		lkdf_data_put(n->data[t]);
	lkdf_data_put(n->last);
}

static uint64_t stat_of(struct lkdf *rt, const char *name)
{
	uint64_t nr = 0;

	must(lkdf_stat(rt, name, &nr));
	return nr;
}

/* One run; true: it was as it should be. */
static bool run_once(struct net *n, const uint32_t *order)
{
	struct lkdf_run r = { .size = sizeof(r) };
	int rc, want = 0;

	n->run++;
	atomic_store(&n->nr_children, 0);
	atomic_store(&n->nr_asked, 0);
	n->scope = NULL;
	must(lkdf_scope_create(n->rt, NULL, &n->scope));
	rc = api_run(n->graph, n->scope, &r);
	if (n->event == FAILS)
		want = -EIO;
	if (n->event == CANCELS && n->nr > 1)
		want = rc ? -EINTR : 0;
	lkdf_scope_put(n->scope);
	/* It has the error of the scope below, too. */
	(void)lkdf_scope_wait(n->rt, NULL, -1);
	return rc == want && atomic_load(&n->nr_wrong) == 0 &&
	       atomic_load(&n->nr_children) == atomic_load(&n->nr_asked) &&
	       (n->event == CANCELS || !nr_misjudged(n, order));
}

static void start_net(struct lkdf *rt, bool has_data, uint32_t *order)
{
	net.rt = rt;
	net.has_data = has_data;
	net.event = NOTHING;
	draw_net(&net, order);
	remove_twins(&net);
	build(&net);
}

/* With several workers runs are tried on one only after some others. */
static void runs_are_right(struct lkdf *rt, enum event event, bool has_data,
			   int nr_quiet, int *nr_static)
{
	uint64_t before = stat_of(rt, "lkdf.runs.static");
	static uint32_t order[MAX_TASKS];
	int i, nr_bad = 0;

	start_net(rt, has_data, order);
	for (i = 0; i < nr_quiet; i++)
		nr_bad += !run_once(&net, order);
	for (i = 0; i < NR_RUNS; i++) {
		net.event = i % 4 == 3 ? event : NOTHING;
		net.where = draw(net.nr);
		nr_bad += !run_once(&net, order);
	}
	*nr_static += (int)(stat_of(rt, "lkdf.runs.static") - before);
	free_net(&net);
	is(nr_bad, 0, "%u tasks%s, now and then %s", net.nr,
	   has_data ? " with data" : "", names[event]);
}

static void all_events(struct lkdf *rt, int nr_quiet)
{
	enum event e;
	int round, nr_plain = 0, nr_data = 0;

	for (round = 0; round < 3; round++)
		for (e = NOTHING; e < NR_EVENTS; e++) {
			runs_are_right(rt, e, false, nr_quiet, &nr_plain);
			runs_are_right(rt, e, true, nr_quiet, &nr_data);
		}
	/* Several do what is faster. */
	ok(nr_quiet || (nr_plain > 50 * NR_EVENTS && nr_data > 50 * NR_EVENTS),
	   "%d runs went by their static order, and %d with data", nr_plain,
	   nr_data);
}

/* The most that a quarter of the runs has at a time. */
static uint64_t most_used(struct lkdf *rt, const uint32_t *order, int *nr_bad)
{
	uint64_t most = 0, used;
	int i;

	for (i = 0; i < NR_RUNS * 8; i++) {
		/* One that leaves, one that may not, two that stay. */
		net.event = i % 4 ? NOTHING : i % 8 ? SPAWNS : FAILS;
		net.where = draw(net.nr);
		*nr_bad += !run_once(&net, order);
		used = stat_of(rt, "lkdf.node.0.memory.used");
		if (used > most)
			most = used;
	}
	return most;
}

/*
 * Blocks that a run takes along when it leaves are not lost. Several workers
 * may find out late that one has them all, and keep those of a frame then.
 */
static void bytes_stay(struct lkdf *rt, uint64_t of_a_frame)
{
	static uint32_t order[MAX_TASKS];
	uint64_t first, last = 0;
	int i, nr_bad = 0;

	start_net(rt, true, order);
	first = most_used(rt, order, &nr_bad);
	for (i = 0; i < 3; i++)
		last = most_used(rt, order, &nr_bad);
	is(nr_bad, 0, "runs that leave their order are right");
	ok(last < first + first / 2 + of_a_frame,
	   "and lose no bytes: %llu at most, then %llu",
	   (unsigned long long)first, (unsigned long long)last);
	free_net(&net);
}

static void all_of(const char *options, int nr_quiet)
{
	struct lkdf *rt = api_open(options);

	printf("# %s\n", options);
	net.kind = api_kind(rt, "body", body, 0, 0);
	net.child = api_kind(rt, "child", child, sizeof(struct net *), 0);
	all_events(rt, nr_quiet);
	bytes_stay(rt, nr_quiet ? 500000 : 0);
	lkdf_kind_put(net.kind);
	lkdf_kind_put(net.child);
	is(lkdf_close(rt), 0, "%s: the runtime closes", options);
}

int main(void)
{
	tap_start(240);
	printf("# seed %llu\n", (unsigned long long)seed);
	all_of("workers=1,static_runs=1,final", 0);
	all_of("workers=2,static_runs=1,final", 60);
	all_of("workers=4,static_runs=1,final", 60);
	return tap_end();
}
