/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A compute engine: variables with names, functions that say once what they
 * read and what they write, pushed again and again without waiting, each push
 * with a context of its own. A thread pushes a plain sequential program; what
 * may run side by side does so. A function is a launcher: it gives work to a
 * device (device.c) and returns, and ends when the device has called back.
 *
 *   engine [--nr N] [--rounds R] [--help]
 */
#include "device.h"

#include <errno.h>
#include <lkdf/lkdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* State that the functions share. */
struct vectors {
	uint64_t nr; /* elements of x, y and z */
	struct device *device;
};

/* A function with its variables: made once, pushed many times. */
struct func {
	struct lkdf_kind *kind;
	struct lkdf_use use[4];
	unsigned nr_use;
};

/* Values that may differ from push to push. */
struct exec {
	struct lkdf_place *place; /* where it should run; NULL: anywhere */
	int prio;
};

enum {
	IOTA,
	ONES,
	AXPY,
	MUL,
	SUM,
	NEXT,
	NR_FUNCS
};

struct engine {
	struct lkdf *rt;
	struct vectors vectors;
	struct func func[NR_FUNCS];
	uint64_t nr_pushed;
};

/* x = 0 1 2 ... 15 0 1 2 ... */
static int iota(struct lkdf_ctx *c, void *arg)
{
	const struct vectors *v = arg;
	double *x = lkdf_ptr(c, 0);
	uint64_t i;

	for (i = 0; i < v->nr; i++)
		x[i] = (double)(i % 16);
	return 0;
}

/* y = 1 1 1 ... */
static int ones(struct lkdf_ctx *c, void *arg)
{
	const struct vectors *v = arg;
	double *y = lkdf_ptr(c, 0);
	uint64_t i;

	for (i = 0; i < v->nr; i++)
		y[i] = 1;
	return 0;
}

/* y = y + 2 x. The function reads y and writes y, and names it twice. */
static int axpy(struct lkdf_ctx *c, void *arg)
{
	const struct vectors *v = arg;
	const double *x = lkdf_ptr(c, 0);
	double *y = lkdf_ptr(c, 2);
	uint64_t i;

	for (i = 0; i < v->nr; i++)
		y[i] += 2 * x[i];
	return 0;
}

/* z = x y, on the device's thread. */
static void mul_on_device(struct job *j)
{
	uint64_t i;

	for (i = 0; i < j->nr; i++)
		j->out[i] = j->in[0][i] * j->in[1][i];
}

/* The device calls this when the job is done: so the task ends. */
static void job_done(struct job *j)
{
	int rc = lkdf_event_signal(j->done, 0);

	if (rc)
		fprintf(stderr, "engine: signal: %s\n", strerror(-rc));
	free(j);
}

/*
 * The launcher. The bytes stay this task's own until the event is signalled,
 * so the device may use them after the body has returned.
 */
static int mul(struct lkdf_ctx *c, void *arg)
{
	const struct vectors *v = arg;
	struct job *j = calloc(1, sizeof(*j));
	int rc;

	if (!j)
		return -ENOMEM;
	j->in[0] = lkdf_ptr(c, 0);
	j->in[1] = lkdf_ptr(c, 1);
	j->out = lkdf_ptr(c, 2);
	j->nr = v->nr;
	j->run = mul_on_device;
	j->finish = job_done;
	rc = lkdf_hold(c, &j->done);
	if (rc) {
		free(j);
		return rc;
	}
	device_launch(v->device, j);
	return 0;
}

/* sum = sum + z[0] + z[1] + ... */
static int sum(struct lkdf_ctx *c, void *arg)
{
	const struct vectors *v = arg;
	const double *z = lkdf_ptr(c, 0);
	double *total = lkdf_ptr(c, 1);
	uint64_t i;

	for (i = 0; i < v->nr; i++)
		*total += z[i];
	return 0;
}

/* x = x + 1 */
static int next(struct lkdf_ctx *c, void *arg)
{
	const struct vectors *v = arg;
	double *x = lkdf_ptr(c, 0);
	uint64_t i;

	for (i = 0; i < v->nr; i++)
		x[i] += 1;
	return 0;
}

/* A variable with a name. The name keeps it: var_delete() gives it back. */
static int var_new(struct lkdf *rt, const char *name, uint64_t bytes,
		   const void *init)
{
	struct lkdf_data_attr a = { .size = sizeof(a), .name = name };
	struct lkdf_data *d;

	a.bytes = bytes;
	a.init = init;
	return lkdf_data_create(rt, &a, &d);
}

/* It goes after the last push that uses it; nobody waits. */
static void var_delete(struct lkdf *rt, const char *name)
{
	struct lkdf_data *d;

	if (lkdf_data_find(rt, name, &d))
		return;
	lkdf_data_put(d); /* of find */
	lkdf_data_put(d); /* of create */
}

/* "x y > z": reads x and y, writes z. "!z": writes all of z, old bytes go. */
static int func_vars(struct lkdf *rt, struct func *f, const char *vars)
{
	uint32_t mode = LKDF_READ;
	char text[64], *rest, *word;
	struct lkdf_use *u;
	int rc = 0;

	snprintf(text, sizeof(text), "%s", vars);
	word = strtok_r(text, " ", &rest);
	for (; word && !rc; word = strtok_r(NULL, " ", &rest)) {
		if (!strcmp(word, ">")) {
			mode = LKDF_RW;
			continue;
		}
		u = &f->use[f->nr_use];
		u->mode = *word == '!' ? LKDF_WRITE : mode;
		rc = lkdf_data_find(rt, word + (*word == '!'), &u->data);
		f->nr_use += !rc;
	}
	return rc;
}

static int func_new(struct engine *e, struct func *f, const char *name,
		    lkdf_fn fn, const char *vars)
{
	struct lkdf_kind_attr a = { .size = sizeof(a), .name = name };
	int rc;

	a.fn = fn;
	rc = lkdf_kind_create(e->rt, &a, &f->kind);
	return rc ? rc : func_vars(e->rt, f, vars);
}

static void func_delete(struct func *f)
{
	while (f->nr_use)
		lkdf_data_put(f->use[--f->nr_use].data);
	lkdf_kind_put(f->kind);
}

/* Returns at once. The order of the calls is the order of the program. */
static int push_async(struct engine *e, const struct func *f,
		      const struct exec *x, struct lkdf_event *done)
{
	struct lkdf_task t = { .size = sizeof(t), .kind = f->kind };

	t.arg = &e->vectors;
	t.use = f->use;
	t.nr_use = f->nr_use;
	t.place = x->place;
	t.prio = x->prio;
	e->nr_pushed++;
	return lkdf_submit(e->rt, NULL, &t, done);
}

static int setup(struct engine *e)
{
	static const struct {
		const char *name;
		lkdf_fn fn;
		const char *vars;
	} funcs[NR_FUNCS] = {
		[IOTA] = { "iota", iota, "> !x" },
		[ONES] = { "ones", ones, "> !y" },
		[AXPY] = { "axpy", axpy, "x y > y" },
		[MUL] = { "mul", mul, "x y > !z" },
		[SUM] = { "sum", sum, "z > sum" },
		[NEXT] = { "next", next, "> x" },
	};
	static const double zero;
	uint64_t bytes = e->vectors.nr * sizeof(double);
	int rc, i;

	rc = var_new(e->rt, "x", bytes, NULL);
	if (!rc)
		rc = var_new(e->rt, "y", bytes, NULL);
	if (!rc)
		rc = var_new(e->rt, "z", bytes, NULL);
	if (!rc)
		rc = var_new(e->rt, "sum", sizeof(zero), &zero);
	for (i = 0; i < NR_FUNCS && !rc; i++)
		rc = func_new(e, &e->func[i], funcs[i].name, funcs[i].fn,
			      funcs[i].vars);
	return rc;
}

static void teardown(struct engine *e)
{
	static const char *const names[] = { "x", "y", "z", "sum" };
	unsigned i;

	for (i = 0; i < 4; i++)
		var_delete(e->rt, names[i]);
	for (i = 0; i < NR_FUNCS; i++)
		func_delete(&e->func[i]);
}

/*
 * The program. While the device multiplies in one round, "next" waits, because
 * the device reads x; "sum" of that round runs beside "next" and "axpy" of the
 * following one. A launcher is URGENT: a device that waits for a launch idles.
 */
static int program(struct engine *e, uint64_t rounds, struct lkdf_event *last)
{
	struct exec plain = { 0 }, launch = { .prio = LKDF_URGENT };
	struct exec near = { .prio = LKDF_HIGH };
	uint64_t i;
	int rc;

	/* The first node that there is: a wish, not a must */
	if (lkdf_places(e->rt, LKDF_PLACE_NODE, &near.place, 1) < 1)
		return -ENODEV;
	rc = push_async(e, &e->func[IOTA], &near, NULL);
	if (!rc)
		rc = push_async(e, &e->func[ONES], &plain, NULL);
	for (i = 0; i < rounds && !rc; i++) {
		rc = push_async(e, &e->func[AXPY], &near, NULL);
		if (!rc)
			rc = push_async(e, &e->func[MUL], &launch, NULL);
		if (!rc)
			rc = push_async(e, &e->func[NEXT], &plain, NULL);
		if (!rc)
			rc = push_async(e, &e->func[SUM], &plain,
					i + 1 == rounds ? last : NULL);
	}
	return rc;
}

/* Runs the program for one element after another. */
static double expected(uint64_t nr, uint64_t rounds)
{
	double total = 0, x, y;
	uint64_t i, r;

	for (i = 0; i < nr; i++) {
		x = (double)(i % 16);
		y = 1;
		for (r = 0; r < rounds; r++) {
			y += 2 * x;
			total += x * y;
			x += 1;
		}
	}
	return total;
}

/* Waits for one variable: for what was pushed before and writes it. */
static int read_sum(struct engine *e, double *out)
{
	struct lkdf_data *d;
	void *bytes;
	int rc;

	rc = lkdf_data_find(e->rt, "sum", &d);
	if (rc)
		return rc;
	rc = lkdf_data_acquire(d, LKDF_READ, -1, &bytes);
	if (!rc) {
		*out = *(double *)bytes;
		rc = lkdf_data_release(d);
	}
	lkdf_data_put(d);
	return rc;
}

static int run(struct engine *e, uint64_t rounds)
{
	double want = expected(e->vectors.nr, rounds), got = 0;
	struct lkdf_event last;
	int rc, all;

	rc = program(e, rounds, &last);
	if (!rc)
		rc = lkdf_event_wait(last, -1);
	if (!rc)
		rc = read_sum(e, &got);
	/* Whatever went wrong, what was pushed ends before the runtime does */
	all = lkdf_scope_wait(e->rt, NULL, -1);
	rc = rc ? rc : all;
	if (rc) {
		fprintf(stderr, "engine: %s (%d)\n", lkdf_errmsg(), rc);
		return rc;
	}
	printf("%llu pushes, %llu on the device: sum %.0f, %s\n",
	       (unsigned long long)e->nr_pushed, (unsigned long long)rounds,
	       got, got == want ? "right" : "wrong");
	return got == want ? 0 : -EBADMSG;
}

static int usage(const char *arg)
{
	FILE *to = arg ? stderr : stdout;

	if (arg)
		fprintf(to, "engine: %s: not understood\n", arg);
	fputs("usage: engine [--nr N] [--rounds R]\n"
	      "  --nr N      elements of each vector, 1 to 10^8 (65536)\n"
	      "  --rounds R  rounds of four pushes, 1 to 1000 (20)\n"
	      "Pushes a program of vector operations and checks its sum.\n",
	      to);
	return arg ? 2 : 0;
}

static int number(const char *text, uint64_t max, uint64_t *out)
{
	char *end;

	if (!text || *text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	*out = strtoull(text, &end, 10);
	return errno || *end || !*out || *out > max ? -EINVAL : 0;
}

int main(int argc, char **argv)
{
	struct engine e = { .vectors.nr = 65536 };
	uint64_t rounds = 20;
	int i, rc;

	for (i = 1; i < argc; i += 2) {
		if (!strcmp(argv[i], "--help"))
			return usage(NULL);
		if (!strcmp(argv[i], "--nr"))
			rc = number(argv[i + 1], 100000000, &e.vectors.nr);
		else if (!strcmp(argv[i], "--rounds"))
			rc = number(argv[i + 1], 1000, &rounds);
		else
			rc = -EINVAL;
		if (rc)
			return usage(argv[i]);
	}
	rc = device_open(&e.vectors.device);
	if (rc)
		return 1;
	rc = lkdf_open(NULL, &e.rt);
	if (!rc) {
		rc = setup(&e);
		if (rc)
			fprintf(stderr, "engine: %s (%d)\n", lkdf_errmsg(), rc);
		else
			rc = run(&e, rounds);
		teardown(&e);
		if (lkdf_close(e.rt))
			rc = -EBUSY;
	} else {
		fprintf(stderr, "engine: %s (%d)\n", lkdf_errmsg(), rc);
	}
	device_close(e.vectors.device);
	return rc ? 1 : 0;
}
