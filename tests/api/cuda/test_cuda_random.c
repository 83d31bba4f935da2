/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Random sealed graphs of kernels and tasks on CPUs on the driver of CUDA for
 * tests, run several times: pieces of any shape, data that has no room on the
 * card, runs that are cancelled or fail in the middle. After each run that ends
 * well all values are those of a model. A program is of its seed:
 *
 *	RANDOM_SEED=4711 RANDOM_PROGRAMS=1 build/tests/api/cuda/test_cuda_random
 */
#include "tests/api/device/region.h"
#include "tests/cuda/text.h"
#include "tests/oracle/random.h"

#define MAX_DATA 24
#define MAX_OPS 400
#define BIG (64 << 10) /* bytes of a data, where some have no room */
#define SECONDS 4

static const char text[] =
	"extern \"C\" __global__ void mix(unsigned long *x,\n"
	"	const unsigned long *a, const unsigned long *b,\n"
	"	unsigned long by)\n"
	"{\n"
	"	x[0] = 3 * x[0] + 5 * a[0] + 7 * b[0] + by;\n"
	"}\n";

enum op_sort {
	OP_MIX,
	OP_SEE,
	OP_CHANGE,
};

struct op {
	enum op_sort sort;
	unsigned x, a, b; /* data */
	uint64_t by, want; /* want: of x behind it, in this run */
};

/* A program, and the run of it. */
static struct program {
	struct rng rng;
	struct op op[MAX_OPS];
	struct lkdf_data *d[MAX_DATA];
	uint64_t model[MAX_DATA];
	unsigned nr, nr_data;
	size_t bytes; /* of each data */
	struct lkdf_scope *scope;
	unsigned fails, cancels; /* of these ops a body does so; nr: none */
} p;

static struct lkdf *rt;
static struct lkdf_place *place;
static struct lkdf_kind *kernel, *see, *change;
static atomic_uint nr_wrong;

static bool is_at(const struct op *o, unsigned which)
{
	return which < p.nr && o == &p.op[which];
}

static int see_value(struct lkdf_ctx *c, void *arg)
{
	const uint64_t *x = lkdf_ptr(c, 0);
	const struct op *o;

	memcpy(&o, arg, sizeof(o));
	nr_wrong += *x != o->want;
	return 0;
}

static int change_value(struct lkdf_ctx *c, void *arg)
{
	uint64_t *x = lkdf_ptr(c, 0);
	const struct op *o;

	memcpy(&o, arg, sizeof(o));
	if (is_at(o, p.cancels))
		lkdf_scope_cancel(rt, p.scope, -ECANCELED);
	if (is_at(o, p.fails))
		return -EDOM;
	*x += o->by;
	return 0;
}

/* ---- a program ---------------------------------------------------------- */

static unsigned other_than(unsigned a, unsigned b)
{
	unsigned x;

	do
		x = rng_range(&p.rng, 0, p.nr_data - 1);
	while (x == a || x == b);
	return x;
}

/* Mostly near the one before, so that there are long chains. */
static void make_op(struct op *o, unsigned rarely)
{
	o->sort = !rng_one_in(&p.rng, rarely) ? OP_MIX
		  : rng_one_in(&p.rng, 2)     ? OP_SEE
					      : OP_CHANGE;
	o->x = other_than(UINT_MAX, UINT_MAX);
	o->a = other_than(o->x, UINT_MAX);
	o->b = other_than(o->x, o->a);
	o->by = rng_range(&p.rng, 1, 1000);
}

static void make_program(uint64_t seed)
{
	unsigned i, rarely;

	memset((void *)&p, 0, sizeof(p));
	p.rng.state = seed;
	p.nr_data = rng_range(&p.rng, 3, MAX_DATA);
	p.nr = rng_range(&p.rng, 2, rng_one_in(&p.rng, 3) ? 20 : MAX_OPS);
	p.bytes = rng_one_in(&p.rng, 3) ? BIG : sizeof(uint64_t);
	rarely = rng_range(&p.rng, 3, 60);
	for (i = 0; i < p.nr; i++)
		make_op(&p.op[i], rarely);
}

static void run_model(void)
{
	struct op *o;

	for (o = p.op; o < p.op + p.nr; o++) {
		if (o->sort == OP_MIX)
			p.model[o->x] = 3 * p.model[o->x] + 5 * p.model[o->a] +
					7 * p.model[o->b] + o->by;
		else if (o->sort == OP_CHANGE)
			p.model[o->x] += o->by;
		o->want = p.model[o->x];
	}
}

static void add_op(struct lkdf_graph *g, const struct op *o)
{
	const struct lkdf_use uses[] = { { p.d[o->x], LKDF_RW, 0 },
					 { p.d[o->a], LKDF_READ, 0 },
					 { p.d[o->b], LKDF_READ, 0 } };
	const struct lkdf_use read = { p.d[o->x], LKDF_READ, 0 };

	if (o->sort == OP_MIX)
		add_task(g, kernel, place, uses, 3, o->by);
	else if (o->sort == OP_SEE)
		add_task(g, see, NULL, &read, 1, (uintptr_t)o);
	else
		add_task(g, change, NULL, uses, 1, (uintptr_t)o);
}

/* ---- its runs ----------------------------------------------------------- */

static void set_data(void)
{
	unsigned i;
	void *at;

	for (i = 0; i < p.nr_data; i++) {
		p.model[i] = i + 1;
		must(lkdf_data_acquire(p.d[i], LKDF_WRITE, -1, &at));
		memset(at, 0, p.bytes);
		memcpy(at, &p.model[i], sizeof(p.model[i]));
		lkdf_data_release(p.d[i]);
	}
}

static bool is_right(void)
{
	unsigned i, nr = 0;
	void *at;

	for (i = 0; i < p.nr_data; i++) {
		must(lkdf_data_acquire(p.d[i], LKDF_READ, -1, &at));
		nr += memcmp(at, &p.model[i], sizeof(p.model[i])) != 0;
		lkdf_data_release(p.d[i]);
	}
	return !nr && !nr_wrong;
}

/* Does a body of it do that? Then the op, else nr. */
static unsigned find_change(void)
{
	unsigned i = rng_range(&p.rng, 0, p.nr - 1), n;

	for (n = 0; n < p.nr && p.op[i].sort != OP_CHANGE; n++)
		i = (i + 1) % p.nr;
	return n < p.nr ? i : p.nr;
}

/* True: it ended as it should. */
static bool run_program(struct lkdf_graph *g)
{
	bool is_bad = false, is_ok;
	int rc;

	p.fails = p.cancels = p.nr;
	if (rng_one_in(&p.rng, 6))
		p.fails = find_change();
	else if (rng_one_in(&p.rng, 6))
		p.cancels = find_change();
	is_bad = p.fails < p.nr || p.cancels < p.nr;
	run_model();
	must(lkdf_scope_create(rt, NULL, &p.scope));
	rc = run(g, p.scope);
	lkdf_scope_wait(rt, p.scope, -1);
	lkdf_scope_put(p.scope);
	is_ok = p.fails < p.nr ? rc == -EDOM : is_bad || !rc;
	if (is_bad) {
		nr_wrong = 0;
		set_data();
		return is_ok;
	}
	return is_ok && (rng_one_in(&p.rng, 3) ? is_right() : !nr_wrong);
}

/* True: all was right. */
static bool try_program(uint64_t seed)
{
	unsigned i, runs;
	struct lkdf_graph *g;
	bool is_ok = true;

	make_program(seed);
	nr_wrong = 0;
	must(lkdf_graph_create(rt, NULL, &g));
	for (i = 0; i < p.nr_data; i++)
		must(lkdf_data_create(
			rt, ATTR(lkdf_data_attr, .bytes = p.bytes), &p.d[i]));
	set_data();
	for (i = 0; i < p.nr; i++)
		add_op(g, &p.op[i]);
	must(lkdf_graph_seal(g, NULL));
	runs = rng_range(&p.rng, 2, 7);
	for (i = 0; i < runs && is_ok; i++)
		is_ok = run_program(g);
	is_ok = is_ok && is_right();
	for (i = 0; i < p.nr_data; i++)
		lkdf_data_put(p.d[i]);
	lkdf_graph_put(g);
	return is_ok;
}

static uint64_t number(const char *name, uint64_t otherwise)
{
	const char *s = getenv(name);

	return s && s[0] ? strtoull(s, NULL, 10) : otherwise;
}

/* From the seed on, until the time is over; how many there were. */
static uint64_t try_some(const char *options, uint64_t seed, uint64_t most,
			 double seconds)
{
	struct timespec from, now;
	uint64_t nr, nr_bad = 0;

	rt = api_open(driver_options(options));
	if (lkdf_places(rt, LKDF_PLACE_GPU, &place, 1) != 1) {
		skip("random graphs on CUDA", lkdf_errmsg());
		lkdf_close(rt);
		return 0;
	}
	kernel = text_kind(rt, "mix", text);
	see = api_kind(rt, "see", see_value, sizeof(uint64_t), 0);
	change = api_kind(rt, "change", change_value, sizeof(uint64_t), 0);
	clock_gettime(CLOCK_MONOTONIC, &from);
	for (nr = 0; nr < most && !nr_bad; nr++) {
		nr_bad = !try_program(seed + nr);
		if (nr_bad)
			printf("# %s: RANDOM_SEED=%llu is wrong\n", options,
			       (unsigned long long)(seed + nr));
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (now.tv_sec - from.tv_sec >= seconds)
			most = nr;
	}
	is(nr_bad, 0, "%s: %llu random graphs are right, %llu CUDA graphs",
	   options, (unsigned long long)nr,
	   (unsigned long long)stat_of(rt, "lkdf.cuda.graphs"));
	lkdf_kind_put(kernel);
	lkdf_kind_put(see);
	lkdf_kind_put(change);
	is(device_close(rt), 0, "%s: it closes", options);
	return nr;
}

int main(void)
{
	static const char *const options[] = {
		"workers=2", "workers=1,device_memory=1,log=none", "serial=yes",
		"workers=3,device_queues=1"
	};
	uint64_t seed = number("RANDOM_SEED", number("ORACLE_BASE", 1));
	uint64_t most = number("RANDOM_PROGRAMS", 60);
	uint64_t seconds = number("RANDOM_SECONDS", SECONDS);
	unsigned i;

	tap_start(200 + (int)seconds);
	setenv("LKDF_TEST_DEVICE", "cuda", 1);
	printf("# RANDOM_SEED=%llu\n", (unsigned long long)seed);
	for (i = (unsigned)number("RANDOM_FIRST", 0); i < 4; i++)
		try_some(options[i], seed + i * 1000000, most,
			 (double)seconds / 4);
	return tap_end();
}
