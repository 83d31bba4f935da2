/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Sealed graphs run as CUDA graphs from their third run on, whatever the clock
 * says: chains, columns, stencils, wavefronts, with and without tasks on CPUs,
 * of kernels that take no time and of others, on an idle machine and on one
 * that is at work. The results are right; no kernel is launched by itself, no
 * graph is captured again, and calls of the driver are counted by pieces. The
 * kit asks a card for the same, where calls are not counted.
 */
#include "tests/api/device/region.h"
#include "tests/cuda/child.h"
#include "tests/cuda/load.h"
#include "tests/cuda/text.h"

#include <dlfcn.h>
#include <pthread.h>

#define RUNS 7
#define FIRST 2 /* of the runs that count */
#define MAX_DATA 64
#define NAP ((uint64_t)1 << 40) /* in a value: the kernel takes 100 us */
#define PIECE 128 /* kernels, at most */
#define NR_BUSY 3

static const char text[] =
	"extern \"C\" __global__ void mix(unsigned long *x,\n"
	"	const unsigned long *a, const unsigned long *b,\n"
	"	unsigned long by)\n"
	"{\n"
	"	if (by >> 40)\n"
	"		__nanosleep(100000);\n"
	"	x[0] = 3 * x[0] + 5 * a[0] + 7 * b[0] + by;\n"
	"}\n";

static struct lkdf *rt;
static struct lkdf_place *place;
static struct lkdf_kind *mix, *see, *change;
static atomic_ulong nr_seen_wrong;

/* ---- what the driver is asked ------------------------------------------- */

static const char *const calls[] = {
#define NAME(name, ...) #name,
	CU_CALLS(NAME) CU_NEW_CALLS(NAME) CU_GUEST_CALLS(NAME)
#undef NAME
};

static long (*nr_calls)(const char *call); /* NULL: a card's driver */

static void find_control(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	void *f = driver ? dlsym(driver, "fake_cuda_calls") : NULL;

	memcpy(&nr_calls, &f, sizeof(f));
}

struct counted {
	uint64_t graphs, updates, refused;
	long launches, all;
};

/* Faults are asked for by the clock. */
static struct counted count_now(void)
{
	struct counted c = { .graphs = stat_of(rt, "lkdf.cuda.graphs"),
			     .updates = stat_of(rt, "lkdf.cuda.updates"),
			     .refused = stat_of(rt, "lkdf.cuda.refused") };
	size_t i;

	if (!nr_calls)
		return c;
	c.launches = nr_calls("cuLaunchKernel");
	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (strcmp(calls[i], "cuStreamQuery"))
			c.all += nr_calls(calls[i]);
	return c;
}

/* ---- graphs and their model --------------------------------------------- */

enum op_sort {
	OP_MIX,
	OP_SEE, /* on a CPU: what the data has */
	OP_CHANGE, /* on a CPU: the data has one more */
};

struct op {
	enum op_sort sort;
	unsigned x, a, b; /* data */
	uint64_t by;
};

struct shape {
	const char *what;
	struct op op[6000];
	unsigned nr, nr_kernels, nr_seen, nr_changes, nr_data, nr_pieces;
	unsigned nr_alone; /* kernels of no piece */
	uint64_t by;
};

static struct shape s;
static uint64_t model[MAX_DATA], seen_at[6000];

static void begin_shape(const char *what, unsigned nr_data, unsigned nr_pieces,
			uint64_t by)
{
	memset((void *)&s, 0, sizeof(s));
	s.what = what;
	s.nr_data = nr_data;
	s.nr_pieces = nr_pieces;
	s.by = by;
}

static void add_mix(unsigned x, unsigned a, unsigned b)
{
	s.op[s.nr++] = (struct op){ OP_MIX, x, a, b, s.by + s.nr };
	s.nr_kernels++;
}

static void add_body(enum op_sort sort, unsigned x)
{
	s.op[s.nr++] = (struct op){ .sort = sort, .x = x };
	s.nr_changes += sort == OP_CHANGE;
	s.nr_seen += sort == OP_SEE;
}

static int see_value(struct lkdf_ctx *c, void *arg)
{
	uint64_t *x = lkdf_ptr(c, 0), *want;

	memcpy(&want, arg, sizeof(want));
	nr_seen_wrong += *x != *want;
	return 0;
}

static int change_value(struct lkdf_ctx *c, void *arg)
{
	uint64_t *x = lkdf_ptr(c, 0);

	(void)arg;
	(*x)++;
	return 0;
}

static void add_to(struct lkdf_graph *g, struct lkdf_data **d, unsigned i)
{
	const struct op *o = &s.op[i];
	const struct lkdf_use uses[] = { { d[o->x], LKDF_RW, 0 },
					 { d[o->a], LKDF_READ, 0 },
					 { d[o->b], LKDF_READ, 0 } };
	const struct lkdf_use read = { d[o->x], LKDF_READ, 0 };

	if (o->sort == OP_MIX)
		add_task(g, mix, place, uses, 3, o->by);
	else if (o->sort == OP_SEE)
		add_task(g, see, NULL, &read, 1, (uintptr_t)&seen_at[i]);
	else
		add_task(g, change, NULL, uses, 1, 0);
}

static void run_model(void)
{
	const struct op *o;
	unsigned i;

	for (i = 0; i < s.nr; i++) {
		o = &s.op[i];
		if (o->sort == OP_MIX)
			model[o->x] = 3 * model[o->x] + 5 * model[o->a] +
				      7 * model[o->b] + o->by;
		else if (o->sort == OP_CHANGE)
			model[o->x]++;
		seen_at[i] = model[o->x];
	}
}

static void check_counts(const struct counted *from)
{
	struct counted to = count_now();
	unsigned nr = RUNS - FIRST;

	printf("# replay: %s, %u runs of %u kernels: %llu CUDA graphs, %llu of "
	       "them updated",
	       s.what, nr, s.nr_kernels,
	       (unsigned long long)(to.graphs - from->graphs),
	       (unsigned long long)(to.updates - from->updates));
	if (nr_calls)
		printf(", %ld kernels launched or captured anew, %ld calls",
		       to.launches - from->launches, to.all - from->all);
	printf("\n");
	is(to.graphs - from->graphs, (uint64_t)nr * s.nr_pieces,
	   "%s: all pieces are CUDA graphs", s.what);
	is(to.updates - from->updates, 0, "%s: none is updated", s.what);
	is(to.refused - from->refused, 0, "%s: none is refused", s.what);
	if (!nr_calls)
		return;
	is(to.launches - from->launches, (long)(nr * s.nr_alone),
	   "%s: no kernel of a piece goes by itself", s.what);
	/* What a task on a CPU sees comes home, with a word; what it changes
	 * goes there, too. */
	ok(to.all - from->all <= (long)nr * (3 * s.nr_pieces + 2 * s.nr_alone +
					     2 * s.nr_seen + 4 * s.nr_changes),
	   "%s: three calls for a piece at most", s.what);
}

static void run_shape(void)
{
	struct lkdf_data *d[MAX_DATA];
	struct counted from = { .graphs = 0 };
	unsigned i, nr_wrong = 0;
	struct lkdf_graph *g;

	must(lkdf_graph_create(rt, NULL, &g));
	for (i = 0; i < s.nr_data; i++) {
		model[i] = i + 1;
		d[i] = device_data(rt, 1, model[i]);
	}
	for (i = 0; i < s.nr; i++)
		add_to(g, d, i);
	must(lkdf_graph_seal(g, NULL));
	nr_seen_wrong = 0;
	for (i = 0; i < RUNS; i++) {
		if (i == FIRST)
			from = count_now();
		run_model();
		nr_wrong += run(g, NULL) != 0;
	}
	is(nr_wrong, 0, "%s: all runs end well", s.what);
	check_counts(&from);
	is(nr_seen_wrong, 0, "%s: tasks on CPUs see the right values", s.what);
	for (i = 0; i < s.nr_data; i++) {
		nr_wrong += device_first_wrong(d[i], 1, model[i]) != -1;
		lkdf_data_put(d[i]);
	}
	is(nr_wrong, 0, "%s: the values are right", s.what);
	lkdf_graph_put(g);
}

/* ---- shapes ------------------------------------------------------------- */

/* Data that nobody writes comes first. */
#define ZERO 0
#define ONE 1

static void chain(const char *what, unsigned nr, uint64_t by)
{
	unsigned i;

	begin_shape(what, 3, (nr + PIECE - 1) / PIECE, by);
	for (i = 0; i < nr; i++)
		add_mix(2, ZERO, ONE);
	run_shape();
}

static void columns(const char *what, unsigned wide, unsigned deep)
{
	unsigned i, k;

	begin_shape(what, 2 + wide, wide * ((deep + PIECE - 1) / PIECE), 1);
	for (i = 0; i < wide; i++)
		for (k = 0; k < deep; k++)
			add_mix(2 + i, ZERO, ONE);
	run_shape();
}

/* Rows in turns, each from the one before. */
static void stencil(const char *what, unsigned wide, unsigned deep)
{
	unsigned i, k, to, from;

	begin_shape(what, 2 + 2 * wide, (wide * deep + PIECE - 1) / PIECE, 1);
	for (k = 0; k < deep; k++) {
		to = 2 + k % 2 * wide;
		from = 2 + (k + 1) % 2 * wide;
		for (i = 0; i < wide; i++)
			add_mix(to + i, from + (i + wide - 1) % wide,
				from + (i + 1) % wide);
	}
	run_shape();
}

static void wavefront(const char *what, unsigned wide, unsigned deep)
{
	unsigned i, k;

	begin_shape(what, 2 + wide, (wide * deep + PIECE - 1) / PIECE, 1);
	for (k = 0; k < deep; k++)
		for (i = 0; i < wide; i++)
			add_mix(2 + i, i ? 1 + i : ZERO, ONE);
	run_shape();
}

/* A task behind each tenth kernel looks, and the next kernel waits for it. */
static void watched_chain(const char *what, unsigned nr)
{
	unsigned i;

	begin_shape(what, 3, 0, 1);
	for (i = 0; i < nr; i++) {
		add_mix(2, ZERO, ONE);
		if (i % 10 == 9)
			add_body(OP_SEE, 2);
	}
	s.nr_pieces = nr / 10;
	run_shape();
}

/* The same beside the chain: a copy of it is looked at. */
static void watched_copies(const char *what, unsigned nr)
{
	unsigned i, copy = 3;

	begin_shape(what, 3 + nr / 10, (nr + nr / 10 + PIECE - 1) / PIECE, 1);
	for (i = 0; i < nr; i++) {
		add_mix(2, ZERO, ONE);
		if (i % 10 != 9)
			continue;
		add_mix(copy, 2, ONE);
		add_body(OP_SEE, copy++);
	}
	run_shape();
}

/* Each 48 kernels a task changes the data. */
static void changed_chain(const char *what, unsigned nr)
{
	unsigned i;

	begin_shape(what, 3, 0, 1);
	for (i = 0; i < nr; i++) {
		add_mix(2, ZERO, ONE);
		if (i % 48 == 47)
			add_body(OP_CHANGE, 2);
	}
	s.nr_pieces = nr / 48;
	run_shape();
}

/*
 * Tasks make what the first row is of. Kernels with the same of them above them
 * are a piece: those from the ninth row on, of even and of odd places.
 */
static void fed_stencil(const char *what, unsigned wide, unsigned deep)
{
	unsigned i, k, to, from, each = (deep - wide / 2) * wide / 2;

	begin_shape(what, 2 + 2 * wide, 2 * ((each + PIECE - 1) / PIECE), 1);
	s.nr_alone = wide * wide / 2;
	for (i = 0; i < wide; i++)
		add_body(OP_CHANGE, 2 + wide + i);
	for (k = 0; k < deep; k++) {
		to = 2 + k % 2 * wide;
		from = 2 + (k + 1) % 2 * wide;
		for (i = 0; i < wide; i++)
			add_mix(to + i, from + (i + wide - 1) % wide,
				from + (i + 1) % wide);
	}
	run_shape();
}

/* ---- a machine that is at work ------------------------------------------ */

static atomic_bool is_over;

static void *spin(void *arg)
{
	(void)arg;
	while (!is_over)
		;
	return NULL;
}

static void beside_load(void)
{
	pthread_t t[NR_BUSY];
	int i;

	for (i = 0; i < NR_BUSY; i++)
		must(pthread_create(&t[i], NULL, spin, NULL));
	chain("a chain, beside load", 1000, 1);
	stencil("a stencil, beside load", 16, 60);
	is_over = true;
	for (i = 0; i < NR_BUSY; i++)
		pthread_join(t[i], NULL);
}

int main(void)
{
	tap_start(200);
	setenv("LKDF_TEST_DEVICE", "cuda", 1);
	rt = api_open(driver_options("workers=2"));
	if (lkdf_places(rt, LKDF_PLACE_GPU, &place, 1) != 1) {
		skip("CUDA graphs", lkdf_errmsg());
		lkdf_close(rt);
		return tap_end();
	}
	find_control();
	mix = text_kind(rt, "mix", text);
	see = api_kind(rt, "see", see_value, sizeof(uint64_t), 0);
	change = api_kind(rt, "change", change_value, sizeof(uint64_t), 0);
	chain("a chain", 1000, 1);
	chain("a long chain", 5000, 1);
	chain("a chain of kernels of 100 us", 960, NAP);
	columns("columns", 16, 60);
	stencil("a stencil", 16, 60);
	wavefront("a wavefront", 24, 40);
	watched_copies("a chain that is watched", 400);
	changed_chain("a chain that is changed", 960);
	watched_chain("a chain that waits for who looks", 400);
	fed_stencil("a stencil that is fed", 16, 60);
	beside_load();
	lkdf_kind_put(mix);
	lkdf_kind_put(see);
	lkdf_kind_put(change);
	is(device_close(rt), 0, "the runtime closes");
	return tap_end();
}
