/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Choices of several workers: arms that are not chosen are passed over in one
 * step (lib/graph/choice.h), whatever they are made of. Each task runs as often
 * as the choices say, and all others are counted as not chosen.
 */
#include "tests/api/api.h"

#define ROUNDS 120
#define MAX 32

/* Who chooses; NOBODY's value is 0. */
enum chooser {
	NOBODY,
	OUTER, /* 0, 1, 2 in turn */
	INNER, /* 0, 1 in turn, of its own calls */
	PAIRS, /* two of four branches, then none */
	LATCH, /* 0, and no branch in the end */
};

static struct {
	struct lkdf *rt;
	struct lkdf_graph *g;
	enum chooser chooser[MAX];
	atomic_int calls[MAX];
	int nr, rounds;
} at;

static int pair_of(int n)
{
	return n % 5 == 4 ? LKDF_NO_BRANCH
			  : LKDF_BRANCHES(1u << n % 4 | 1u << (n + 1) % 4);
}

static int choose(struct lkdf_ctx *c, void *arg)
{
	int task = *(int *)arg, n = atomic_fetch_add(&at.calls[task], 1);

	(void)c;
	switch (at.chooser[task]) {
	case OUTER:
		return n % 3;
	case INNER:
		return n % 2;
	case PAIRS:
		return pair_of(n);
	case LATCH:
		return n % ROUNDS == ROUNDS - 1 ? LKDF_NO_BRANCH : 0;
	default:
		return 0;
	}
}

static int add(enum chooser chooser, uint32_t flags)
{
	struct lkdf_kind *k =
		api_kind(at.rt, "choose", choose, sizeof(int), flags);
	int task = must(lkdf_graph_add(at.g, k, &at.nr, NULL, 0));

	at.chooser[task] = chooser;
	at.nr++;
	lkdf_kind_put(k);
	return task;
}

static void order(int from, int to)
{
	must(lkdf_graph_order(at.g, from, to));
}

static void branch(int from, int value, int to)
{
	must(lkdf_graph_branch(at.g, from, (uint16_t)value, to));
}

/* How often tasks are to run in a round of six; not chosen: all others. */
struct shape {
	const char *name;
	/* Adds it behind the head. Returns what comes last. */
	int (*make)(int head, int *in_six);
};

/*
 * Branch 0: a chain with a choice in it; 1: a task; 2: straight to the join.
 */
static int make_nested(int head, int *in_six)
{
	int choice = add(OUTER, 0), first = add(NOBODY, 0),
	    inner = add(INNER, 0), a = add(NOBODY, 0), b = add(NOBODY, 0),
	    meet = add(NOBODY, LKDF_ANY), last = add(NOBODY, 0),
	    one = add(NOBODY, 0), join = add(NOBODY, LKDF_ANY);

	order(head, choice);
	branch(choice, 0, first);
	branch(choice, 1, one);
	branch(choice, 2, join);
	order(first, inner);
	branch(inner, 0, a);
	branch(inner, 1, b);
	order(a, meet);
	order(b, meet);
	order(meet, last);
	order(last, join);
	order(one, join);
	in_six[choice] = in_six[join] = 6;
	in_six[first] = in_six[inner] = in_six[meet] = in_six[last] = 2;
	in_six[a] = in_six[b] = 1;
	in_six[one] = 2;
	return join;
}

/*
 * A task behind one arm and the choice itself: it runs with that arm only, and
 * its own follower, too. Another has no way on at all.
 */
static int make_strong(int head, int *in_six)
{
	int choice = add(OUTER, 0), a = add(NOBODY, 0), b = add(NOBODY, 0),
	    end = add(NOBODY, 0), both = add(NOBODY, 0),
	    follower = add(NOBODY, 0), join = add(NOBODY, LKDF_ANY);

	order(head, choice);
	branch(choice, 0, a);
	branch(choice, 1, b);
	branch(choice, 2, end);
	order(a, both);
	order(head, both);
	order(both, follower);
	order(follower, join);
	order(a, join);
	order(b, join);
	order(end, join);
	in_six[choice] = in_six[join] = 6;
	in_six[a] = in_six[b] = in_six[end] = 2;
	in_six[both] = in_six[follower] = 2;
	return join;
}

/* Two branches of four at a time, with a join for each half, or none. */
static int make_pairs(int head, int *in_six)
{
	int choice = add(PAIRS, 0), arm[4], low, high, last, i;

	for (i = 0; i < 4; i++)
		arm[i] = add(NOBODY, 0);
	low = add(NOBODY, LKDF_ANY);
	high = add(NOBODY, LKDF_ANY);
	last = add(NOBODY, LKDF_ANY);
	order(head, choice);
	for (i = 0; i < 4; i++) {
		branch(choice, i, arm[i]);
		order(arm[i], i < 2 ? low : high);
	}
	order(low, last);
	order(high, last);
	order(head, last);
	in_six[choice] = in_six[last] = 6;
	/* Counted below: the round of pairs is another one. */
	for (i = 0; i < 4; i++)
		in_six[arm[i]] = -1 - i;
	in_six[low] = -5;
	in_six[high] = -6;
	return last;
}

/* How often a task of make_pairs() runs in so many rounds. */
static int runs_of_pairs(int task, int rounds)
{
	int n, nr = 0, mask;

	for (n = 0; n < rounds; n++) {
		mask = n % 5 == 4 ? 0 : 1 << n % 4 | 1 << (n + 1) % 4;
		if (task < 4)
			nr += mask >> task & 1;
		else
			nr += (mask & (task == 4 ? 3 : 12)) != 0;
	}
	return nr;
}

/* ---- in a loop, or as runs of their own ---------------------------------- */

static uint64_t counter(const char *name)
{
	uint64_t v = 0;

	must(lkdf_stat(at.rt, name, &v));
	return v;
}

static void make_graph(const struct shape *s, bool is_loop, uint32_t inflight,
		       int *in_six)
{
	int head, last, i;

	at.nr = 0;
	for (i = 0; i < MAX; i++) {
		atomic_store(&at.calls[i], 0);
		in_six[i] = 0;
	}
	at.g = api_graph(at.rt, inflight);
	head = add(NOBODY, 0);
	in_six[head] = 6;
	last = s->make(head, in_six);
	at.chooser[last] = LATCH;
	if (is_loop)
		must(lkdf_graph_back(at.g, last, 0, head));
	must(lkdf_graph_seal(at.g, NULL));
}

static void check_calls(const struct shape *s, const char *how,
			const int *in_six, uint64_t unchosen)
{
	uint64_t want_unchosen = 0;
	int i, want, bad = 0;

	for (i = 0; i < at.nr; i++) {
		want = in_six[i] < 0 ? runs_of_pairs(-1 - in_six[i], ROUNDS)
				     : in_six[i] * ROUNDS / 6;
		want_unchosen += (uint64_t)(ROUNDS - want);
		bad += atomic_load(&at.calls[i]) != want;
	}
	is(bad, 0, "%s, %s: each task runs as often as it is chosen", how,
	   s->name);
	is(unchosen, want_unchosen, "%s, %s: all others are counted", how,
	   s->name);
}

static void choices_are_exact(const struct shape *s, const char *options,
			      bool is_loop)
{
	int in_six[MAX];
	uint64_t before;
	char how[80];

	snprintf(how, sizeof(how), "%s, %s", options,
		 is_loop ? "a loop" : "runs");
	make_graph(s, is_loop, 1, in_six);
	before = counter("lkdf.unchosen");
	is(api_run(at.g, NULL, ATTR(lkdf_run, .times = is_loop ? 1 : ROUNDS)),
	   0, "%s, %s: it ends", how, s->name);
	check_calls(s, how, in_six, counter("lkdf.unchosen") - before);
	lkdf_graph_put(at.g);
}

/* The graph goes with its run: who passes over its last tasks is the last. */
static void a_graph_ends_with_its_choice(const struct shape *s, bool is_loop)
{
	int in_six[MAX], i;

	for (i = 0; i < 20; i++) {
		make_graph(s, is_loop, 1, in_six);
		must(lkdf_graph_run(at.g, NULL, NULL, NULL));
		lkdf_graph_put(at.g);
		must(lkdf_scope_wait(at.rt, NULL, -1));
	}
}

static const struct shape shapes[] = {
	{ "an arm with a choice", make_nested },
	{ "an arm that others need", make_strong },
	{ "several arms at once", make_pairs },
};

static void run_all(const char *options)
{
	size_t i;

	at.rt = api_open(options);
	for (i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		choices_are_exact(&shapes[i], options, true);
		choices_are_exact(&shapes[i], options, false);
		a_graph_ends_with_its_choice(&shapes[i], true);
		a_graph_ends_with_its_choice(&shapes[i], false);
	}
	is(lkdf_close(at.rt), 0, "%s: close", options);
}

int main(void)
{
	tap_start(60);
	run_all("workers=1");
	run_all("workers=1,loop_regions=no");
	run_all("workers=2,loop_regions=no");
	run_all("workers=4,loop_regions=no");
	run_all("serial=yes,loop_regions=no");
	return tap_end();
}
