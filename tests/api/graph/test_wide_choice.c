/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Choices among many branches, whatever their numbers are, and joins of more
 * edges than a counter of live ones would hold. Each case runs where a worker
 * goes through the loop by itself and where it does not. And what a body must
 * not return.
 */
#include "tests/api/api.h"
#include "tests/oracle/random.h"

#define MOST 4000
#define TURNS 200

/* How branches are numbered; n: of nr. */
enum numbers {
	FROM_0,
	FROM_1,
	FROM_1000,
	UP_TO_65535,
	EVERY_16TH,
	WITH_GAPS, /* 0 .. 9, then every third number */
	AT_RANDOM,
	NR_NUMBERS,
};

static const char *const names[] = {
	"from 0",     "from 1",	   "from 1000", "up to 65535",
	"every 16th", "with gaps", "at random",
};

static struct {
	int nr, number[MOST], turn;
	atomic_int calls[MOST], nr_latch, nr_joins;
	int value; /* that the only chooser of a graph without a loop returns */
} at;

static int number_of(enum numbers how, int n)
{
	switch (how) {
	case FROM_0:
		return n;
	case FROM_1:
		return n + 1;
	case FROM_1000:
		return n + 1000;
	case UP_TO_65535:
		return 65535 - n;
	case EVERY_16TH:
		return 16 * n + 5;
	case WITH_GAPS:
		return n < 10 ? n : 3 * n;
	default:
		return mix16((uint16_t)(n + 77));
	}
}

/* The arm of a turn. */
static int arm_of(int turn)
{
	return (int)((unsigned)turn * 2654435761u % (unsigned)at.nr);
}

static int head(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	return at.number[arm_of(at.turn)];
}

static int arm(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	atomic_fetch_add(&at.calls[*(int *)arg], 1);
	return 0;
}

static int latch(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	atomic_fetch_add(&at.nr_latch, 1);
	return ++at.turn % TURNS ? 0 : LKDF_NO_BRANCH;
}

static struct lkdf_graph *machine(struct lkdf *rt, int nr, enum numbers how)
{
	struct lkdf_kind *h = api_kind(rt, "head", head, 0, 0);
	struct lkdf_kind *a = api_kind(rt, "arm", arm, sizeof(int), 0);
	struct lkdf_kind *l = api_kind(rt, "latch", latch, 0, LKDF_ANY);
	struct lkdf_graph *g = api_graph(rt, 1);
	int first = must(lkdf_graph_add(g, h, NULL, NULL, 0)), task, i;
	int last = must(lkdf_graph_add(g, l, NULL, NULL, 0));

	for (i = 0; i < nr; i++) {
		at.number[i] = number_of(how, i);
		task = must(lkdf_graph_add(g, a, &i, NULL, 0));
		must(lkdf_graph_branch(g, first, (uint16_t)at.number[i], task));
		must(lkdf_graph_order(g, task, last));
	}
	must(lkdf_graph_back(g, last, 0, first));
	lkdf_kind_put(h);
	lkdf_kind_put(a);
	lkdf_kind_put(l);
	return g;
}

static void a_machine(struct lkdf *rt, int nr, enum numbers how,
		      const char *options)
{
	struct lkdf_graph *g;
	int i, calls[MOST] = { 0 }, wrong = 0, rc;

	at.nr = nr;
	at.turn = 0;
	atomic_store(&at.nr_latch, 0);
	for (i = 0; i < nr; i++)
		atomic_store(&at.calls[i], 0);
	g = machine(rt, nr, how);
	must(lkdf_graph_seal(g, NULL));
	rc = api_run(g, NULL, NULL);
	for (i = 0; i < TURNS; i++)
		calls[arm_of(i)]++;
	for (i = 0; i < nr; i++)
		wrong += atomic_load(&at.calls[i]) != calls[i];
	ok(!rc && !wrong && atomic_load(&at.nr_latch) == TURNS,
	   "%s: a machine of %d states, numbered %s: %d, %d wrong", options, nr,
	   names[how], rc, wrong);
	lkdf_graph_put(g);
}

static void machines(struct lkdf *rt, const char *options)
{
	static const int sizes[] = { 1, 2, 20, 511, 512, 513, MOST };
	enum numbers how;
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (how = 0; how < NR_NUMBERS; how++)
			a_machine(rt, sizes[i], how, options);
}

/* ---- wide joins ---------------------------------------------------------- */

static int before(struct lkdf_ctx *c, void *arg)
{
	int n = *(int *)arg;

	(void)c;
	return at.value && n >= at.value ? -EIO : 0;
}

static int join(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	atomic_fetch_add(&at.nr_joins, 1);
	return 0;
}

/* So many tasks run before a join that wants one live edge; value: the first
 * of them that fails, 0: none does. */
static int run_join(struct lkdf *rt, int nr, int value)
{
	struct lkdf_kind *b = api_kind(rt, "before", before, sizeof(int), 0);
	struct lkdf_kind *j = api_kind(rt, "join", join, 0, LKDF_ANY);
	struct lkdf_graph *g = api_graph(rt, 1);
	int last = must(lkdf_graph_add(g, j, NULL, NULL, 0)), i, rc;

	for (i = 1; i <= nr; i++)
		must(lkdf_graph_order(
			g, must(lkdf_graph_add(g, b, &i, NULL, 0)), last));
	must(lkdf_graph_seal(g, NULL));
	at.value = value;
	atomic_store(&at.nr_joins, 0);
	rc = api_run(g, NULL, NULL);
	is(api_run(g, NULL, NULL), rc, "%d edges: the next run ends alike", nr);
	lkdf_graph_put(g);
	lkdf_kind_put(b);
	lkdf_kind_put(j);
	return rc;
}

static void wide_joins(struct lkdf *rt)
{
	/* 3 times 512: nothing would be left of a sum of nine bits. */
	static const int sizes[] = {
		199, 200, 201, 511, 512, 1024, 1536, 5000
	};
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		is(run_join(rt, sizes[i], 0), 0, "%d live edges", sizes[i]);
		is(atomic_load(&at.nr_joins), 2, "it runs once in each run");
		is(run_join(rt, sizes[i], 2), -EIO, "all but one fail");
		is(atomic_load(&at.nr_joins), 2, "it runs all the same");
		is(run_join(rt, sizes[i], 1), -EIO, "all of them fail");
		is(atomic_load(&at.nr_joins), 0, "it does not run");
	}
}

/* ---- what a body returns ------------------------------------------------- */

static int choose(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	return at.value;
}

/* Branches in this order; the arm of number[i] is i. In a loop, which ends. */
static struct lkdf_graph *choice(struct lkdf *rt, const int *number, int nr)
{
	struct lkdf_kind *h = api_kind(rt, "choose", choose, 0, 0);
	struct lkdf_kind *a = api_kind(rt, "arm", arm, sizeof(int), 0);
	struct lkdf_kind *l = api_kind(rt, "latch", latch, 0, LKDF_ANY);
	struct lkdf_graph *g = api_graph(rt, 1);
	int first = must(lkdf_graph_add(g, h, NULL, NULL, 0)), task, i;
	int last = must(lkdf_graph_add(g, l, NULL, NULL, 0));

	for (i = 0; i < nr; i++) {
		task = must(lkdf_graph_add(g, a, &i, NULL, 0));
		must(lkdf_graph_branch(g, first, (uint16_t)number[i], task));
		must(lkdf_graph_order(g, task, last));
	}
	must(lkdf_graph_order(g, first, last));
	must(lkdf_graph_back(g, last, 0, first));
	must(lkdf_graph_seal(g, NULL));
	lkdf_kind_put(h);
	lkdf_kind_put(a);
	lkdf_kind_put(l);
	return g;
}

/* mask: the arms that the value runs. */
static void returns(struct lkdf_graph *g, int nr, int value, int want,
		    unsigned mask)
{
	unsigned ran = 0;
	int i, rc;

	for (i = 0; i < nr; i++)
		atomic_store(&at.calls[i], 0);
	at.turn = TURNS - 1;
	at.value = value;
	rc = api_run(g, NULL, NULL);
	for (i = 0; i < nr; i++)
		ran |= (unsigned)atomic_load(&at.calls[i]) << 4 * i;
	is(rc, want, "%#x: the run ends with %d", (unsigned)value, rc);
	is((int)ran, (int)mask, "%#x: arms that ran", (unsigned)value);
}

static void numbers_that_nobody_has(struct lkdf *rt)
{
	/* The first two in a row, then gaps, and the highest there is. */
	static const int number[] = { 1001, 2000, 1000, 65535, 1500 };
	static const int wrong[] = { 0,	   1,	 999,	1002,  1499,  1501,
				     1999, 2001, 65534, 65536, 100000 };
	struct lkdf_graph *g = choice(rt, number, 5);
	size_t i;

	for (i = 0; i < 5; i++)
		returns(g, 5, number[i], 0, 1u << 4 * i);
	returns(g, 5, LKDF_NO_BRANCH, 0, 0);
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		returns(g, 5, wrong[i], -ERANGE, 0);
	has(lkdf_errmsg(), "1000, 1001, 1500, 2000, 65535",
	    "the text lists the numbers there are");
	returns(g, 5, LKDF_BRANCHES(1), -ERANGE, 0);
	returns(g, 5, LKDF_BRANCHES(0), 0, 0);
	lkdf_graph_put(g);
}

/* Of 700 numbers at random; number n is no branch unless it is one of them. */
static void no_other_number_is_taken(struct lkdf *rt)
{
	static int number[700];
	struct lkdf_graph *g;
	int i, n, wrong = 0, rc;

	for (i = 0; i < 700; i++)
		number[i] = number_of(AT_RANDOM, i);
	g = choice(rt, number, 700);
	for (n = 0; n <= UINT16_MAX; n += 23) {
		for (i = 0; i < 700 && number[i] != n;)
			atomic_store(&at.calls[i++], 0);
		if (i < 700)
			atomic_store(&at.calls[i], 0);
		at.turn = TURNS - 1;
		at.value = n;
		rc = api_run(g, NULL, NULL);
		if (i < 700)
			wrong += rc || !atomic_exchange(&at.calls[i], 0);
		else
			wrong += rc != -ERANGE;
	}
	is(wrong, 0, "each number takes its own branch or none");
	lkdf_graph_put(g);
}

static void a_number_of_several_edges(struct lkdf *rt)
{
	static const int number[] = { 7, 28, 7, 3, 7 };
	struct lkdf_graph *g = choice(rt, number, 5);

	returns(g, 5, 7, 0, 0x10101);
	returns(g, 5, 3, 0, 0x01000);
	returns(g, 5, LKDF_BRANCHES(1 << 7 | 1 << 28), 0, 0x10111);
	returns(g, 5, LKDF_BRANCHES(1 << 3), 0, 0x01000);
	returns(g, 5, LKDF_BRANCHES(1 << 3 | 1 << 4), -ERANGE, 0);
	returns(g, 5, 4, -ERANGE, 0);
	lkdf_graph_put(g);
}

static void a_text_has_some_of_many_numbers(struct lkdf *rt)
{
	struct lkdf_graph *g;
	int number[600], i;

	for (i = 0; i < 600; i++)
		number[i] = number_of(EVERY_16TH, 599 - i);
	g = choice(rt, number, 600);
	at.turn = TURNS - 1;
	at.value = 6;
	is(api_run(g, NULL, NULL), -ERANGE, "none of 600 is 6");
	has(lkdf_errmsg(), "no branch of it: 5, 21, 37, 53,",
	    "the text begins with the lowest numbers");
	has(lkdf_errmsg(), " ...", "and says that there are more");
	lkdf_graph_put(g);
}

static void all_of_it(const char *options)
{
	struct lkdf *rt = api_open(options);

	machines(rt, options);
	wide_joins(rt);
	numbers_that_nobody_has(rt);
	no_other_number_is_taken(rt);
	a_number_of_several_edges(rt);
	a_text_has_some_of_many_numbers(rt);
	is(lkdf_close(rt), 0, "the runtime closes");
}

int main(void)
{
	tap_start(240);
	all_of_it("workers=1,loop_regions=yes");
	all_of_it("workers=1,loop_regions=no");
	all_of_it("workers=3,loop_regions=yes");
	all_of_it("workers=3,loop_regions=no");
	return tap_end();
}
