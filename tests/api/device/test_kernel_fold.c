/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Reductions and scans: each item is joined once and in order, for 0 to a
 * million items, in both levels; sums of floats have the same bits each time.
 * On the emulated device the kernels are functions here, on OpenCL the
 * compiler's.
 */
#include "tests/api/device/device.h"

#include <lkdf/kernel.h>

/* Affine maps x -> a x + b: their composition does not commute. */
struct map {
	uint64_t a, b;
};

static struct map then(struct map f, struct map g)
{
	return (struct map){ f.a * g.a, f.b * g.a + g.b };
}

/* What the texts below say, of item i. */
static struct map item(uint64_t i, uint64_t by)
{
	return (struct map){ 2 * i + by, i * i };
}

static const char top[] =
	"struct map { unsigned long a, b; };\n"
	"DEVICE struct map make(unsigned long a, unsigned long b)\n"
	"{\n\tstruct map r;\n\tr.a = a;\n\tr.b = b;\n\treturn r;\n}\n";

/* ---- kernels of the emulated device ------------------------------------- */

static uint64_t number(const struct lkdf_launch *l, unsigned i)
{
	uint64_t v = 0;

	memcpy(&v, l->arg[i].value, l->arg[i].bytes);
	return v;
}

/* by, begin, n, piece, part[, out] */
static void maps_part(struct emu *e, const struct lkdf_launch *l)
{
	uint64_t by = number(l, 0), begin = number(l, 1), n = number(l, 2);
	uint64_t piece = number(l, 3), i, p;
	struct map *part = emu_at(e, l, 4);

	for (p = 0; p * piece < n; p++) {
		part[p] = (struct map){ 1, 0 };
		for (i = p * piece; i < n && i < (p + 1) * piece; i++)
			part[p] = then(part[p], item(begin + i, by));
	}
}

/* What precedes each part; the join of all goes out. */
static void maps_last(struct emu *e, const struct lkdf_launch *l)
{
	struct map *part = emu_at(e, l, 0), *out = emu_at(e, l, 2), next;
	struct map sum = { 1, 0 };
	uint64_t p;

	for (p = 0; p < number(l, 1); p++) {
		next = then(sum, part[p]);
		part[p] = sum;
		sum = next;
	}
	*out = sum;
}

static void scan(struct emu *e, const struct lkdf_launch *l, bool is_exclusive)
{
	uint64_t by = number(l, 0), begin = number(l, 1), n = number(l, 2);
	uint64_t piece = number(l, 3), i, p;
	struct map *part = emu_at(e, l, 4), *out = emu_at(e, l, 5), sum;

	for (p = 0; p * piece < n; p++) {
		sum = part[p];
		for (i = p * piece; i < n && i < (p + 1) * piece; i++) {
			if (is_exclusive)
				out[i] = sum;
			sum = then(sum, item(begin + i, by));
			if (!is_exclusive)
				out[i] = sum;
		}
	}
}

static void maps_scan(struct emu *e, const struct lkdf_launch *l)
{
	scan(e, l, false);
}

static void before_scan(struct emu *e, const struct lkdf_launch *l)
{
	scan(e, l, true);
}

static const struct emu_kernel kernels[] = {
	{ "maps_1_part", maps_part },
	{ "maps_1_last", maps_last },
	{ "maps_1_scan", maps_scan },
	{ "before_part", maps_part },
	{ "before_last", maps_last },
	{ "before_scan", before_scan },
	{ "sum_all_part", maps_part },
	{ "sum_all_last", maps_last },
	{ NULL, NULL },
};

/* ---- maps --------------------------------------------------------------- */

/* The argument: items, then what is added. */
struct maps_arg {
	uint64_t range[3], by;
};

#define BEGIN 3

static struct lkdf_kind *maps_kind(struct lkdf *rt, const char *name,
				   uint32_t sort, uint32_t block)
{
	static const char *const types[] = { "unsigned long" };
	const struct lkdf_param param = { .from = LKDF_PARAM_TASK,
					  .first =
						  offsetof(struct maps_arg, by),
					  .bytes = 8 };
	struct lkdf_kind *k = NULL;

	must(lkdf_kind_create_fold(
		rt,
		LKDF_FOLD(.sort = sort,
			  .kernel = LKDF_KERNEL(
					  .kind = LKDF_KIND(.name = name,
							    .arg_size = sizeof(
								    struct
								    maps_arg)),
					  .param = &param, .nr_param = 1,
					  .range_from = LKDF_RANGE_TASK,
					  .begin = { BEGIN },
					  .block = { block }, .type = types,
					  .nr_type = 1, .top = top),
			  .value = "struct map",
			  .value_size = sizeof(struct map),
			  .init = "make(2 * i + p0, i * i)",
			  .join = "make(a.a * b.a, a.b * b.a + b.b)",
			  .neutral = "make(1, 0)"),
		&k));
	return k;
}

static struct lkdf_data *maps_data(struct lkdf *rt, uint64_t nr)
{
	struct lkdf_data *d = NULL;

	must(lkdf_data_create(
		rt, ATTR(lkdf_data_attr, .bytes = nr * sizeof(struct map)),
		&d));
	return d;
}

static int fold(struct lkdf *rt, struct lkdf_kind *k, struct lkdf_place *p,
		struct lkdf_data *d, uint64_t n, uint64_t by)
{
	const struct maps_arg arg = { { n, 1, 1 }, by };
	const struct lkdf_use use = { d, LKDF_WRITE, 0 };
	struct lkdf_event done;

	must(lkdf_submit(rt, NULL,
			 LKDF_TASK(.kind = k, .arg = &arg, .place = p,
				   .use = &use, .nr_use = 1),
			 &done));
	return lkdf_event_wait(done, -1);
}

static const uint64_t lengths[] = { 1,	 2,    63,   64,    65,	    127,
				    128, 4095, 4096, 10007, 1000000 };
#define NR_LENGTHS (sizeof(lengths) / sizeof(*lengths))

/* How many of n are not those of the host. */
static uint64_t count_wrong(struct lkdf_data *d, uint64_t n, uint64_t by,
			    bool is_exclusive)
{
	struct map sum = { 1, 0 }, *v;
	uint64_t i, wrong = 0;
	void *bytes;

	must(lkdf_data_acquire(d, LKDF_READ, -1, &bytes));
	for (i = 0, v = bytes; i < n; i++) {
		if (!is_exclusive)
			sum = then(sum, item(BEGIN + i, by));
		wrong += v[i].a != sum.a || v[i].b != sum.b;
		if (is_exclusive)
			sum = then(sum, item(BEGIN + i, by));
	}
	must(lkdf_data_release(d));
	return wrong;
}

static void scans_keep_the_order(struct lkdf *rt, struct lkdf_place *p,
				 const char *how)
{
	struct lkdf_kind *k = maps_kind(rt, "maps 1", LKDF_FOLD_SCAN, 64);
	struct lkdf_kind *before =
		maps_kind(rt, "before", LKDF_FOLD_SCAN_EXCLUSIVE, 0);
	uint64_t wrong = 0, i;
	struct lkdf_data *d;
	int rc = 0;

	for (i = 0; i < NR_LENGTHS; i++) {
		d = maps_data(rt, lengths[i]);
		rc |= fold(rt, k, p, d, lengths[i], i);
		wrong += count_wrong(d, lengths[i], i, false);
		rc |= fold(rt, before, p, d, lengths[i], i);
		wrong += count_wrong(d, lengths[i], i, true);
		lkdf_data_put(d);
	}
	is(rc, 0, "%s: scans of 1 to 1000000 items end well", how);
	is(wrong, 0, "%s: each element is that of the host", how);
	d = maps_data(rt, 5);
	must(fold(rt, k, p, d, 5, 1));
	is(fold(rt, k, p, d, 0, 1), 0, "%s: a scan of nothing ends", how);
	lkdf_data_put(d);
	lkdf_kind_put(k);
	lkdf_kind_put(before);
}

static void nothing_is_neutral(struct lkdf *rt, struct lkdf_place *p,
			       const char *how)
{
	struct lkdf_kind *k = maps_kind(rt, "sum all", LKDF_FOLD_REDUCE, 32);
	struct lkdf_data *d = maps_data(rt, 1);
	struct map *v;
	void *bytes;

	is(fold(rt, k, p, d, 0, 1), 0, "%s: a reduction of nothing ends", how);
	must(lkdf_data_acquire(d, LKDF_READ, -1, &bytes));
	v = bytes;
	ok(v->a == 1 && v->b == 0, "%s: its result is the neutral value", how);
	must(lkdf_data_release(d));
	is(fold(rt, k, p, d, 1, 1), 0, "%s: one item", how);
	must(lkdf_data_acquire(d, LKDF_READ, -1, &bytes));
	v = bytes;
	ok(v->a == 7 && v->b == 9, "%s: is the result", how);
	must(lkdf_data_release(d));
	lkdf_data_put(d);
	lkdf_kind_put(k);
}

/* ---- sums of doubles, which only a compiler can make -------------------- */

static struct lkdf_kind *sum_kind(struct lkdf *rt, uint32_t block)
{
	static const char *const types[] = { "GLOBAL const double *" };
	static const struct lkdf_param param = { .from = LKDF_PARAM_USE };
	struct lkdf_kind *k = NULL;

	must(lkdf_kind_create_fold(
		rt,
		LKDF_FOLD(.sort = LKDF_FOLD_REDUCE,
			  .kernel = LKDF_KERNEL(
					  .kind = LKDF_KIND(
							  .name = "sum",
							  .arg_size =
								  3 *
								  sizeof(uint64_t)),
					  .param = &param, .nr_param = 1,
					  .range_from = LKDF_RANGE_TASK,
					  .block = { block }, .type = types,
					  .nr_type = 1),
			  .value = "double", .value_size = 8, .init = "p0[i]",
			  .join = "a + b", .neutral = "0", .result = 1),
		&k));
	return k;
}

enum {
	MOST = 1000000
};

static struct lkdf_data *numbers(struct lkdf *rt, bool is_whole)
{
	double *init = malloc(MOST * sizeof(*init));
	struct lkdf_data *d = NULL;
	uint64_t i;

	for (i = 0; i < MOST; i++)
		init[i] = is_whole ? (double)(i % 1000) : 1.0 / (double)(i + 1);
	must(lkdf_data_create(rt,
			      ATTR(lkdf_data_attr,
				   .bytes = MOST * sizeof(*init), .init = init),
			      &d));
	free(init);
	return d;
}

static uint64_t sum(struct lkdf *rt, struct lkdf_kind *k, struct lkdf_place *p,
		    struct lkdf_data *from, uint64_t n)
{
	const uint64_t range[3] = { n, 1, 1 };
	struct lkdf_data *to = device_data(rt, 1, 77);
	const struct lkdf_use use[] = { { from, LKDF_READ, 0 },
					{ to, LKDF_WRITE, 0 } };
	struct lkdf_event done;
	uint64_t bits;
	void *bytes;

	must(lkdf_submit(rt, NULL,
			 LKDF_TASK(.kind = k, .arg = range, .place = p,
				   .use = use, .nr_use = 2),
			 &done));
	must(lkdf_event_wait(done, -1));
	must(lkdf_data_acquire(to, LKDF_READ, -1, &bytes));
	memcpy(&bits, bytes, sizeof(bits));
	must(lkdf_data_release(to));
	lkdf_data_put(to);
	return bits;
}

static void sums_are_those_of_the_host(struct lkdf *rt, struct lkdf_place *p)
{
	struct lkdf_kind *k = sum_kind(rt, 0);
	struct lkdf_data *d = numbers(rt, true);
	uint64_t i, j, bits, wrong = 0;
	double got, want;

	for (i = 0; i <= NR_LENGTHS; i++) {
		uint64_t n = i ? lengths[i - 1] : 0;

		bits = sum(rt, k, p, d, n);
		memcpy(&got, &bits, sizeof(got));
		for (j = 0, want = 0; j < n; j++)
			want += (double)(j % 1000);
		wrong += got < want || got > want;
	}
	is(wrong, 0, "sums of 0 to 1000000 items");
	lkdf_data_put(d);
	lkdf_kind_put(k);
}

static void sums_have_the_same_bits(struct lkdf *rt, struct lkdf_place *p)
{
	struct lkdf_kind *k = sum_kind(rt, 0), *other = sum_kind(rt, 16);
	struct lkdf_data *d = numbers(rt, false);
	uint64_t first = sum(rt, k, p, d, MOST), wrong = 0, i;

	for (i = 0; i < 20; i++)
		wrong += sum(rt, k, p, d, MOST) != first;
	is(wrong, 0, "a sum of floats has the same bits 20 times");
	ok(sum(rt, other, p, d, MOST) != first,
	   "in another order, of another block, it has others");
	lkdf_data_put(d);
	lkdf_kind_put(k);
	lkdf_kind_put(other);
}

/* Where each value is put is where the item was read. */
static void a_scan_is_in_place(struct lkdf *rt, struct lkdf_place *p)
{
	static const char *const types[] = { "GLOBAL const unsigned long *" };
	struct lkdf_data *d = device_data(rt, MOST, 1);
	struct lkdf_kind *k = NULL;
	uint64_t *x, i, wrong = 0;
	void *bytes;

	static const struct lkdf_param param = { .from = LKDF_PARAM_USE };

	must(lkdf_kind_create_fold(
		rt,
		LKDF_FOLD(.sort = LKDF_FOLD_SCAN,
			  .kernel = LKDF_KERNEL(
					  .kind = LKDF_KIND(.name = "count"),
					  .param = &param, .nr_param = 1,
					  .range_from = LKDF_RANGE_VALUE,
					  .range = { MOST, 1, 1 },
					  .type = types, .nr_type = 1),
			  .value = "unsigned long", .value_size = 8,
			  .init = "p0[i]", .join = "a + b", .neutral = "0"),
		&k));
	is(device_call(rt, k, p, d, NULL), 0, "a scan of one data into itself");
	must(lkdf_data_acquire(d, LKDF_READ, -1, &bytes));
	for (i = 0, x = bytes; i < MOST; i++)
		wrong += x[i] != i + 1;
	must(lkdf_data_release(d));
	is(wrong, 0, "each element is right");
	lkdf_data_put(d);
	lkdf_kind_put(k);
}

/* ---- tasks -------------------------------------------------------------- */

static void bad_results_fail(struct lkdf *rt, struct lkdf_place *p)
{
	struct lkdf_kind *k = maps_kind(rt, "maps 1", LKDF_FOLD_SCAN, 64);
	struct lkdf_data *d = maps_data(rt, 5);
	const struct maps_arg arg = { { 5, 1, 1 }, 1 };
	const struct lkdf_use use = { d, LKDF_READ, 0 };
	struct lkdf_event done;

	is(fold(rt, k, p, d, 6, 1), -EINVAL, "6 values do not fit into 5");
	has(lkdf_errmsg(), "of 96", "the text has the bytes");
	must(lkdf_data_acquire(d, LKDF_WRITE, -1, NULL));
	must(lkdf_data_release(d));
	must(lkdf_submit(rt, NULL,
			 LKDF_TASK(.kind = k, .arg = &arg, .place = p,
				   .use = &use, .nr_use = 1),
			 &done));
	is(lkdf_event_wait(done, -1), -EINVAL, "a result that is read only");
	has(lkdf_errmsg(), "read only", "by name");
	must(lkdf_submit(rt, NULL,
			 LKDF_TASK(.kind = k, .arg = &arg, .place = p), &done));
	is(lkdf_event_wait(done, -1), -EINVAL, "no use at all");
	lkdf_data_put(d);
	lkdf_kind_put(k);
}

static void on_emulated_devices(void)
{
	static const unsigned flags[] = { 0, EMU_OWN, EMU_OWN | EMU_WILD,
					  EMU_OWN | EMU_POLLS };
	struct lkdf_place *p;
	struct lkdf *rt;
	struct emu e;
	size_t i;

	for (i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		const char *how = i ? "own memory" : "the host's memory";

		emu_init(&e, flags[i], kernels);
		e.name = "opencl";
		e.memory = 64 << 20;
		rt = api_open(i == 2 ? "serial=yes" : "workers=2");
		p = emu_register(rt, &e);
		scans_keep_the_order(rt, p, how);
		nothing_is_neutral(rt, p, how);
		bad_results_fail(rt, p);
		is(device_close(rt), 0, "%s: close", how);
		emu_check(&e, how);
	}
}

int main(void)
{
	struct lkdf_place *p;
	struct lkdf *rt;

	tap_start(240);
	driver_env("pthread");
	on_emulated_devices();
	rt = api_open(driver_options("workers=2"));
	if (!driver_places(rt, &p, 1)) {
		skip("folds run on OpenCL's devices", lkdf_errmsg());
		lkdf_close(rt);
		return tap_end();
	}
	scans_keep_the_order(rt, p, driver_name());
	nothing_is_neutral(rt, p, driver_name());
	sums_are_those_of_the_host(rt, p);
	sums_have_the_same_bits(rt, p);
	a_scan_is_in_place(rt, p);
	bad_results_fail(rt, p);
	is(device_close(rt), 0, "the runtime closes");
	return tap_end();
}
