/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Loops, reductions and scans made of texts are compiled and run by an OpenCL
 * driver: each item once whatever the grid is, also at the end of the numbers;
 * sums and scans are those of the host; errors of a body name its line.
 */
#include "offload/fold_text.h"
#include "tests/unit/device/cl_program.h"

#include "base/err.h"

static struct cl_run run;

/* Ends the program if the text does not compile. */
static void build(struct text *t, int rc)
{
	if (rc || cl_build(&run, t->buf)) {
		printf("# %s\n# %s\n# %s\n", err_text(), run.log, t->buf);
		exit(99);
	}
	free(t->buf);
	*t = (struct text){ 0 };
}

/* How often each item was there: nr items from begin on, grid threads. */
static bool counts_once(uint64_t begin, uint64_t nr, size_t grid, size_t block)
{
	static uint32_t count[1024];
	uint64_t i, bad = 0;
	ocl_mem m;

	memset(count, 0, sizeof(count));
	m = cl_memory(&run, count, sizeof(count));
	cl_begin(&run, "count");
	cl_args(&run, m);
	cl_args(&run, begin);
	cl_args(&run, begin);
	cl_args(&run, nr);
	if (cl_run(&run, 1, &grid, &block))
		return false;
	cl_fetch(&run, m, count, sizeof(count));
	run.cl.clReleaseMemObject(m);
	for (i = 0; i < 1024; i++)
		bad += count[i] != (i < nr ? 1 + i % 3 : 0);
	return !bad;
}

static void each_item_is_there_once(void)
{
	/* A return ends the item, not those that the thread has left. */
	static const struct loop_param params[] = {
		{ .type = "GLOBAL unsigned *" },
		{ .type = "unsigned long", .bytes = 8 },
	};
	static const struct loop_text l = {
		.head = { .entry = "count", .param = params, .nr_param = 2 },
		.body = "unsigned long at = i - p1;\n"
			"p0[at] += 1 + j + k;\n"
			"if (at % 3 == 0)\n\treturn;\n"
			"p0[at] += at % 3;",
		.nr_dims = 1,
	};
	struct text t = { 0 };

	build(&t, loop_text(&l, &t));
	ok(counts_once(0, 1000, 1024, 64), "more threads than items");
	ok(counts_once(0, 1000, 64, 64), "one block for all items");
	ok(counts_once(0, 1000, 96, 32), "a grid that divides nothing");
	ok(counts_once(0, 1, 64, 64), "one item");
	ok(counts_once(0, 0, 64, 64), "no item");
	ok(counts_once(12345, 777, 128, 32), "items that begin later");
	ok(counts_once(UINT64_MAX - 1000, 1000, 128, 32),
	   "items that end with the numbers");
	cl_drop(&run);
}

static void three_dimensions_are_covered(void)
{
	enum {
		NX = 7,
		NY = 5,
		NZ = 3
	};
	static const struct loop_param params[] = {
		{ .type = "GLOBAL uint *" }
	};
	static const struct loop_text l = {
		.head = { .entry = "grid", .param = params, .nr_param = 1 },
		.body = "p0[(k * 5 + j) * 7 + i] += 1 + i + 10 * j + 100 * k;",
		.nr_dims = 3,
		.block = { 2, 2, 1 },
	};
	static uint32_t v[NX * NY * NZ];
	uint64_t begin = 0, n[3] = { NX, NY, NZ }, bad = 0;
	size_t all[3] = { 4, 2, 2 }, block[3] = { 2, 2, 1 },
	       wrong[3] = { 4, 1, 1 };
	struct text t = { 0 };
	uint32_t d, i, j, k;
	ocl_mem m;

	build(&t, loop_text(&l, &t));
	m = cl_memory(&run, v, sizeof(v));
	cl_begin(&run, "grid");
	cl_args(&run, m);
	for (d = 0; d < 3; d++) {
		cl_args(&run, begin);
		cl_args(&run, n[d]);
	}
	is(cl_run(&run, 3, all, block), 0, "three dimensions are launched");
	cl_fetch(&run, m, v, sizeof(v));
	for (k = 0; k < NZ; k++)
		for (j = 0; j < NY; j++)
			for (i = 0; i < NX; i++)
				bad += v[(k * NY + j) * NX + i] !=
				       1 + i + 10 * j + 100 * k;
	is(bad, 0, "each of 105 items once");
	cl_begin(&run, "grid");
	cl_args(&run, m);
	for (d = 0; d < 3; d++) {
		cl_args(&run, begin);
		cl_args(&run, n[d]);
	}
	is(cl_run(&run, 3, all, wrong), OCL_INVALID_WORK_GROUP_SIZE,
	   "another block than was said is refused");
	run.cl.clReleaseMemObject(m);
	cl_drop(&run);
}

static void errors_name_their_line(void)
{
	static struct loop_param param = { .type = "float", .bytes = 4 };
	struct loop_text l = {
		.head = { .entry = "bad", .param = &param, .nr_param = 1 },
		.body = "float x = p0;\nx = oops;\n",
		.nr_dims = 1,
	};
	struct text t = { 0 };

	loop_text(&l, &t);
	is(cl_build(&run, t.buf), OCL_BUILD_PROGRAM_FAILURE,
	   "a body that is no C does not compile");
	has(run.log, "bad:2:", "the compiler names the body's line");
	cl_drop(&run);
	free(t.buf);

	t = (struct text){ 0 };
	param.bytes = 8;
	l.body = ";";
	loop_text(&l, &t);
	is(cl_build(&run, t.buf), OCL_BUILD_PROGRAM_FAILURE,
	   "8 bytes for a float do not compile");
	has(run.log, "lkdf_bad_has_bytes_of_p0", "the compiler says which");
	cl_drop(&run);
	free(t.buf);
}

/* Affine maps x -> a x + b: their composition does not commute. */
struct map {
	uint64_t a, b;
};

static struct map then(struct map f, struct map g)
{
	return (struct map){ f.a * g.a, f.b * g.a + g.b };
}

enum {
	MOST = 5000
};
static struct map in[MOST], out[MOST];

/* Level by level; the result of level two comes back. */
static struct map fold(uint64_t begin, uint64_t n, uint32_t block, bool scans)
{
	uint64_t piece = fold_piece(n, block);
	size_t one = block, all = (size_t)fold_pieces(n, block) * block;
	static struct map parts[1024];
	uint32_t nr = fold_pieces(n, block);
	struct map result = { 0, 0 };
	ocl_mem m, part, last;

	m = cl_memory(&run, in, sizeof(in));
	part = cl_memory(&run, parts, sizeof(parts));
	last = cl_memory(&run, &result, sizeof(result));
	if (n) {
		cl_begin(&run, "maps_part");
		cl_args(&run, m);
		cl_args(&run, begin);
		cl_args(&run, n);
		cl_args(&run, piece);
		cl_args(&run, part);
		if (cl_run(&run, 1, &all, &one))
			exit(99);
	}
	cl_begin(&run, "maps_last");
	cl_args(&run, part);
	cl_args(&run, nr);
	cl_args(&run, last);
	if (cl_run(&run, 1, &one, &one))
		exit(99);
	cl_fetch(&run, last, &result, sizeof(result));
	if (n && scans) {
		ocl_mem to = cl_memory(&run, out, sizeof(out));

		cl_begin(&run, "maps_scan");
		cl_args(&run, m);
		cl_args(&run, begin);
		cl_args(&run, n);
		cl_args(&run, piece);
		cl_args(&run, part);
		cl_args(&run, to);
		if (cl_run(&run, 1, &all, &one))
			exit(99);
		cl_fetch(&run, to, out, sizeof(out));
		run.cl.clReleaseMemObject(to);
	}
	run.cl.clReleaseMemObject(m);
	run.cl.clReleaseMemObject(part);
	run.cl.clReleaseMemObject(last);
	return result;
}

static void build_maps(enum fold_sort sort, uint32_t block)
{
	static const struct loop_param params[] = {
		{ .type = "GLOBAL const struct map *" },
	};
	struct fold_text f = {
		.head = { .entry = "maps",
			  .param = params,
			  .nr_param = 1,
			  .top = "struct map { unsigned long a, b; };\n"
				 "DEVICE struct map then(struct map f, "
				 "struct map g)\n{\n"
				 "struct map r;\n"
				 "r.a = f.a * g.a;\nr.b = f.b * g.a + g.b;\n"
				 "return r;\n}\n"
				 "DEVICE struct map same(void)\n{\n"
				 "struct map r;\nr.a = 1;\nr.b = 0;\n"
				 "return r;\n}\n"
				 "DEVICE struct map plus(struct map f, "
				 "struct map g)\n{\n"
				 "f.a += g.a;\nf.b ^= g.b;\nreturn f;\n}\n"
				 "DEVICE struct map none(void)\n{\n"
				 "struct map r;\nr.a = 0;\nr.b = 0;\n"
				 "return r;\n}" },
		.sort = sort,
		.type = "struct map",
		.value_size = sizeof(struct map),
		.item = "p0[i]",
		.join = sort == FOLD_REDUCE ? "plus(a, b)" : "then(a, b)",
		.neutral = sort == FOLD_REDUCE ? "none()" : "same()",
		.block = block,
	};
	struct text t = { 0 };

	build(&t, fold_text(&f, &t));
}

static const uint64_t lengths[] = { 0, 1, 2, 15, 16, 17, 255, 256, 257, 4999 };
#define NR_LENGTHS (sizeof(lengths) / sizeof(*lengths))

static void reductions_are_those_of_the_host(void)
{
	struct map want, got;
	uint64_t bad = 0, i, n;
	size_t l;

	build_maps(FOLD_REDUCE, 16);
	for (l = 0; l < NR_LENGTHS; l++) {
		n = lengths[l];
		want = (struct map){ 0, 0 };
		for (i = 1; i <= n && i < MOST; i++) {
			want.a += in[i].a;
			want.b ^= in[i].b;
		}
		got = fold(1, n, 16, false);
		bad += got.a != want.a || got.b != want.b;
	}
	is(bad, 0, "0 to 4999 items are joined, each once");
	cl_drop(&run);
}

static void scans_keep_the_order(enum fold_sort sort, const char *name)
{
	uint64_t wrong = 0, total = 0, i, n;
	struct map sum, got;
	size_t l;

	build_maps(sort, 16);
	for (l = 0; l < NR_LENGTHS; l++) {
		n = lengths[l];
		got = fold(1, n, 16, true);
		sum = (struct map){ 1, 0 };
		for (i = 0; i < n; i++) {
			if (sort == FOLD_SCAN)
				sum = then(sum, in[i + 1]);
			wrong += out[i].a != sum.a || out[i].b != sum.b;
			if (sort != FOLD_SCAN)
				sum = then(sum, in[i + 1]);
		}
		total += got.a != sum.a || got.b != sum.b;
	}
	is(wrong, 0, "%s scan: each element is that of the host", name);
	is(total, 0, "%s scan: so is the join of all", name);
	cl_drop(&run);
}

static void sums_of_doubles_are_the_same_each_time(void)
{
	static const struct loop_param params[] = {
		{ .type = "GLOBAL const double *" },
	};
	static const struct fold_text f = {
		.head = { .entry = "maps", .param = params, .nr_param = 1 },
		.type = "double",
		.value_size = 8,
		.item = "1.0 / (1.0 + i)",
		.join = "a + b",
		.neutral = "0",
		.block = 64,
	};
	struct text t = { 0 };
	struct map first, again;
	int i, bad = 0;
	double sum;

	build(&t, fold_text(&f, &t));
	first = fold(0, 4999, 64, false);
	for (i = 0; i < 20; i++) {
		again = fold(0, 4999, 64, false);
		bad += again.a != first.a;
	}
	is(bad, 0, "20 sums of 4999 doubles have the same bits");
	memcpy(&sum, &first.a, sizeof(sum));
	ok(sum > 9.094 && sum < 9.095, "they are the harmonic number: %f", sum);
	cl_drop(&run);
}

int main(void)
{
	uint64_t i;

	tap_start(200);
	if (!cl_open(&run)) {
		skip("loops, reductions and scans run as OpenCL C",
		     "no OpenCL driver");
		return tap_end();
	}
	for (i = 0; i < MOST; i++)
		in[i] = (struct map){ i * 2 + 3, i * i + 7 };
	each_item_is_there_once();
	three_dimensions_are_covered();
	errors_name_their_line();
	reductions_are_those_of_the_host();
	scans_keep_the_order(FOLD_SCAN, "inclusive");
	scans_keep_the_order(FOLD_SCAN_EXCLUSIVE, "exclusive");
	sums_of_doubles_are_the_same_each_time();
	cl_close(&run);
	return tap_end();
}
