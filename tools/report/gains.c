/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Changes and what they gain, by a replay. First the recording is replayed as
 * it was: where that drifts, or threads lost their CPU for long, nothing is
 * predicted, and the report says why.
 */
#include "report/find.h"
#include "report/replay.h"
#include "report/writers.h"
#include "words.h"

#include <errno.h>
#include <lkdf/task.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PUT(field, ...) snprintf(field, sizeof(field), __VA_ARGS__)
/* A replay that is so far from the recording predicts nothing. */
#define MOST_DRIFT 0.05
/* Neither does one of a run in which other threads had so much of the workers'
 * time. */
#define MOST_TAKEN 0.05
/* Kinds with less of the time of all bodies are not looked at. */
#define LEAST_KIND 0.05
#define MAX_KINDS 8u
#define MAX_DATA 4u
/* So many are replayed at most, in all: about 10 s. */
#define MOST_BODIES 40000000u

struct gains {
	struct report *r;
	struct replay p;
	double base;
	uint64_t left; /* bodies that may be replayed */
	int error;
};

static double run(struct gains *g, const struct replay *p,
		  const struct change *c)
{
	int64_t ns = 0;

	if (g->left < p->nr_bodies)
		return 0;
	g->left -= p->nr_bodies;
	if (!g->error)
		ns = replay_run(p, c);
	if (ns < 0)
		g->error = (int)ns;
	return ns > 0 ? (double)ns : 0;
}

static double gain_of(const struct gains *g, double wall)
{
	return wall > 0 && g->base > 0 ? 1 - wall / g->base : 0;
}

static void add(struct gains *g, const char *verb, const char *object,
		double wall)
{
	struct report *r = g->r;
	struct gain *x = &r->gain[r->nr_gains];

	if (wall <= 0)
		return;
	r->nr_gains += r->nr_gains < MAX_GAINS - 1;
	*x = (struct gain){
		.verb = verb,
		.wall = (uint64_t)wall,
		.part = gain_of(g, wall),
	};
	PUT(x->object, "%s", object);
}

static double work_of(const struct report *r)
{
	double all = 0;
	uint32_t i;

	for (i = 0; i < r->nr_kinds; i++)
		all += (double)r->kind[i].total;
	return all;
}

/* A share by which the wall grows if bodies of the kind take so many times as
 * long. */
static double cost_of(struct gains *g, uint32_t kind, double scale)
{
	struct change c = { .scaled = kind + 1, .scale = scale };

	return -gain_of(g, run(g, &g->p, &c));
}

/* By how much bodies may be longer at no cost: one of five steps. */
static double slack_of(struct gains *g, uint32_t kind, double twice)
{
	static const double more[] = { 0.5, 0.25, 0.1 };
	size_t i;

	if (twice < FREE_COST)
		return 1;
	for (i = 0; i < sizeof(more) / sizeof(*more); i++)
		if (cost_of(g, kind, 1 + more[i]) < FREE_COST)
			return more[i];
	return 0;
}

static void try_kind(struct gains *g, uint32_t kind)
{
	struct report *r = g->r;
	const char *name = kind_name(r, kind);
	struct worth *w = &r->worth[r->nr_worths];

	if (g->left < 5ull * g->p.nr_bodies)
		return;
	r->nr_worths++;
	*w = (struct worth){ .kind = (uint16_t)kind };
	w->half = -cost_of(g, kind, 0.5);
	w->twice = cost_of(g, kind, 2);
	w->slack = slack_of(g, kind, w->twice);
	if (!r->kind[kind].is_loop)
		add(g, "first", name,
		    run(g, &g->p, &(struct change){ .first = kind + 1 }));
	add(g, r->kind[kind].is_loop ? "grain" : "split", name,
	    run(g, &g->p, &(struct change){ .split = kind + 1 }));
}

static void try_kinds(struct gains *g)
{
	uint32_t *order = kinds_in_order(g->r), i;
	double all = work_of(g->r);

	if (!order) {
		g->error = -ENOMEM;
		return;
	}
	for (i = 0; i < g->r->nr_kinds && i < MAX_KINDS; i++)
		if ((double)g->r->kind[order[i]].total > LEAST_KIND * all)
			try_kind(g, order[i]);
	free(order);
}

static void try_workers(struct gains *g)
{
	static const uint32_t nr[WORKERS_TRIED] = { 2, 4, 8, 16, 32, 64 };
	uint32_t i;

	for (i = 0; i < WORKERS_TRIED; i++) {
		g->r->with[i].workers = nr[i];
		g->r->with[i].wall = (uint64_t)run(
			g, &g->p, &(struct change){ .workers = nr[i] });
	}
}

static void try_limits(struct gains *g)
{
	uint32_t i;

	for (i = 0; i < g->p.nr_limits; i++)
		add(g, "tokens", g->r->info.name[g->p.limit_name[i]],
		    run(g, &g->p, &(struct change){ .more = i + 1 }));
}

static void try_waits(struct gains *g)
{
	const struct wait_sum *w = g->r->wait_sum;
	uint32_t i;

	for (i = 0; i < g->r->nr_wait_sums && i < MAX_DATA; i++, w++)
		if (w->name)
			add(g, w->fits ? "room" : "no-wait",
			    g->r->info.name[w->name],
			    run(g, &g->p,
				&(struct change){ .no_wait = 1 + w->name }));
}

/* The program does nothing between its calls: all that could be its fault. */
static void try_program(struct gains *g)
{
	const struct report *r = g->r;

	if (share_of(r->starved[STARVE_PROGRAM], worker_time(r)) >=
		    WORTH_TELLING &&
	    !find_is_service(r))
		add(g, "program", "",
		    run(g, &g->p, &(struct change){ .hurries = true }));
}

/* Elsewhere than in locks, where the probe tells them apart. */
static uint64_t asleep_in(const struct kind *k)
{
	return k->asleep > k->futex ? k->asleep - k->futex : 0;
}

static uint64_t locked_in(const struct kind *k)
{
	return k->futex;
}

static uint64_t kernel_in(const struct kind *k)
{
	return k->kernel;
}

/* Bodies without a part of their time. */
static void try_without(struct gains *g, const char *verb, uint64_t time,
			uint64_t (*part)(const struct kind *))
{
	double *each = malloc((g->r->nr_kinds + 1ull) * sizeof(*each)), less;
	uint32_t i;

	if (!each)
		g->error = -ENOMEM;
	for (i = 0; each && i < g->r->nr_kinds; i++) {
		less = share_of(part(&g->r->kind[i]), g->r->kind[i].total);
		each[i] = less < 1 ? 1 - less : 0;
	}
	if (each && share_of(time, worker_time(g->r)) >= WORTH_TELLING)
		add(g, verb, "",
		    run(g, &g->p, &(struct change){ .each = each }));
	free(each);
}

/* In which mode most of the bodies that waited last for that data use it. */
static uint32_t mode_of(const struct report *r, uint32_t name)
{
	static const uint32_t modes[] = { LKDF_COMMUTE, LKDF_REDUCE, LKDF_WRITE,
					  LKDF_READ };
	double time[5] = { 0 };
	const struct slice *s;
	unsigned i, best = 4;

	for (s = r->slice; s < r->slice + r->nr_slices; s++) {
		if (s->edge != name ||
		    s->edge_mode & (LKDF_EDGE_IS_PORT | LKDF_EDGE_IS_AFTER))
			continue;
		for (i = 0; i < 4 && !(s->edge_mode & modes[i]); i++)
			continue;
		time[i] += (double)(s->end - s->begin);
	}
	for (i = 0; i < 4; i++)
		best = time[i] > time[best] ? i : best;
	return best < 4 ? modes[best] : 0;
}

/* Data for which bodies waited longest, by the time of these bodies. */
static void try_data(struct gains *g)
{
	double *time = calloc(LKDF_MAX_NAMES, sizeof(*time));
	struct report *r = g->r;
	struct apart apart;
	uint32_t i, k, best, nr;

	if (!time) {
		g->error = -ENOMEM;
		return;
	}
	for (i = 0; i < r->nr_slices; i++)
		time[r->slice[i].edge] +=
			(double)(r->slice[i].end - r->slice[i].begin);
	for (k = 0; k < MAX_DATA && !g->error; k++) {
		for (best = 0, i = 1; i < LKDF_MAX_NAMES; i++)
			best = time[i] > (best ? time[best] : 0) ? i : best;
		if (!best || time[best] < LEAST_KIND * work_of(r))
			break;
		time[best] = 0;
		g->error = replay_apart(&g->p, best, &apart);
		nr = r->nr_gains;
		if (g->error)
			break;
		add(g, "apart", r->info.name[best],
		    run(g, &g->p, &(struct change){ .scale = 1 }));
		r->gain[nr].mode = mode_of(r, best);
		replay_together(&g->p, &apart);
	}
	free(time);
}

static int by_part(const void *a, const void *b)
{
	const struct gain *x = a, *y = b;

	return x->part > y->part ? -1 : x->part < y->part;
}

/* NULL: predictions are worth telling. */
static const char *why_not(const struct gains *g)
{
	const struct report *r = g->r;

	if (r->info.slices_lost || r->skipped || r->is_cut)
		return "bodies are missing";
	if (r->has_window)
		return "it is a window of a recording";
	if (!r->has.ready && !r->has.edges)
		return "the recording does not say who made tasks ready";
	if (!g->p.is_sure)
		return "several threads of the program submit and wait";
	if (g->base <= 0)
		return "the replay did not come to an end";
	if (r->drift > MOST_DRIFT || r->drift < -MOST_DRIFT)
		return "the replay is not close enough";
	if (find_share(r, TIME_TAKEN) > MOST_TAKEN)
		return "other threads took the CPUs of workers";
	return NULL;
}

static void try_all(struct gains *g)
{
	try_limits(g);
	try_data(g);
	try_program(g);
	try_without(g, "no-sleep", g->r->time[TIME_ASLEEP] - g->r->futex_ns,
		    asleep_in);
	try_without(g, "no-lock", g->r->futex_ns, locked_in);
	try_without(g, "no-kernel", g->r->time[TIME_KERNEL], kernel_in);
	try_kinds(g);
	try_waits(g);
	try_workers(g);
	qsort(g->r->gain, g->r->nr_gains, sizeof(*g->r->gain), by_part);
}

/* Replays it as it was: how far is that from the recording? */
static void replay_base(struct gains *g)
{
	struct report *r = g->r;

	g->error = replay_build(&g->p, r);
	g->base = run(g, &g->p, &(struct change){ .scale = 1 });
	r->has_replay = !g->error;
	r->drift = g->base / (double)r->wall - 1;
	r->no_gains = g->error ? NULL : why_not(g);
}

static bool has_work(const struct report *r)
{
	return r->nr_workers && r->wall && r->nr_slices;
}

int report_gains(struct report *r)
{
	struct gains g = { .r = r, .left = MOST_BODIES };

	if (!has_work(r))
		return 0;
	replay_base(&g);
	if (!g.error && !r->no_gains)
		try_all(&g);
	replay_free(&g.p);
	return g.error;
}

int report_predict(struct report *r, change_fn *fn, void *u, double *gain)
{
	struct gains g = { .r = r, .left = MOST_BODIES };
	struct change c = { .scale = 1 };
	double wall = 0;

	*gain = 0;
	if (!has_work(r)) {
		r->no_gains = "no body was recorded";
		return 0;
	}
	replay_base(&g);
	if (!g.error && !r->no_gains)
		r->no_gains = fn(u, &g.p, &c);
	if (!g.error && !r->no_gains)
		wall = run(&g, &g.p, &c);
	if (!g.error && !r->no_gains && wall <= 0)
		r->no_gains = "the replay did not come to an end";
	*gain = gain_of(&g, wall);
	replay_free(&g.p);
	return g.error;
}

static const struct gain *find_gain(const struct report *r, const char *verb,
				    const char *object)
{
	const struct gain *g;

	for (g = r->gain; g < r->gain + r->nr_gains; g++)
		if (!strcmp(g->verb, verb) &&
		    !strncmp(g->object, object, sizeof(g->object) - 1))
			return g;
	return NULL;
}

bool find_is_refuted(const struct report *r, const char *verb,
		     const char *object)
{
	const struct gain *g = find_gain(r, verb, object);

	return g && g->part < WORTH_TELLING;
}

void find_weigh(const struct report *r, struct finding *f, const char *verb)
{
	const struct gain *g = find_gain(r, verb, "");

	if (!g)
		return;
	f->gain = g->part > 0 ? g->part : 0;
	f->is_refuted = g->part < WORTH_TELLING;
	f->rank = f->gain;
}

void find_predict(const struct report *r, struct finding *f, const char *verb,
		  const char *object)
{
	const struct gain *g = find_gain(r, verb, object);

	if (g && g->part > f->gain)
		f->rank = f->gain = g->part;
}
