/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The text that is made of a loop's body, of a reduction and of a scan: whole
 * where it is short, what differs between the languages, and what is refused
 * by name. How items are cut into pieces.
 */
#include "offload/fold_text.h"

#include "base/err.h"
#include "tests/tap.h"

#include <errno.h>

static const struct loop_param saxpy_params[] = {
	{ .type = "float", .bytes = 4 },
	{ .type = "GLOBAL const float *" },
	{ .type = "GLOBAL float *" },
};

static const struct loop_text saxpy = {
	.head = { .entry = "saxpy", .param = saxpy_params, .nr_param = 3 },
	.body = "p2[i] += p0 * p1[i];",
	.nr_dims = 1,
};

static void nothing_is_lost(void)
{
	static const char want[] =
		"#line 1 \"saxpy.kernel\"\n"
		"typedef char lkdf_saxpy_has_bytes_of_p0"
		"[sizeof(float) == 4 ? 1 : -1];\n"
		"DEVICE void saxpy_item(float p0, GLOBAL const float *p1, "
		"GLOBAL float *p2, "
		"unsigned long i, unsigned long j, unsigned long k)\n"
		"{\n"
		"#line 1 \"saxpy\"\n"
		"p2[i] += p0 * p1[i];\n"
		"#line 100 \"saxpy.kernel\"\n"
		"}\n"
		"LKDF_KERNEL void\n"
		"saxpy(float p0, GLOBAL const float *p1, GLOBAL float *p2, "
		"unsigned long b0, unsigned long n0)\n"
		"{\n"
		"\tunsigned long x0;\n"
		"\n"
		"\tfor (x0 = LKDF_FIRST(0); x0 < n0;\n"
		"\t     x0 = LKDF_STEP(0) < n0 - x0 ? x0 + LKDF_STEP(0) : n0)\n"
		"\t\tsaxpy_item(p0, p1, p2, b0 + x0, 0, 0);\n"
		"}\n";
	struct text t = { 0 };
	const char *from;

	is(loop_text(&saxpy, &t), 0, "the text of a loop is made");
	from = t.buf ? strstr(t.buf, "#line 1 \"saxpy.kernel\"") : NULL;
	if (!ok(from && !strcmp(from, want), "and is what is expected"))
		printf("# %s\n", t.buf);
	ok(t.buf && strstr(t.buf, "#define GLOBAL global\n"),
	   "GLOBAL is OpenCL's");
	free(t.buf);
}

static void languages_differ_in_macros_and_bounds(void)
{
	struct loop_text l = saxpy;
	struct text t = { 0 };

	l.block[0] = 32;
	l.block[1] = 4;
	l.block[2] = 1;
	l.min_blocks = 3;
	l.head.top = "typedef int number;";
	l.head.language = LOOP_CUDA;
	is(loop_text(&l, &t), 0, "the text for CUDA C is made");
	has(t.buf, "#define GLOBAL\n", "there GLOBAL is nothing");
	has(t.buf, "__launch_bounds__(128, 3)\nsaxpy(",
	    "threads and blocks on a unit are its bounds");
	has(t.buf, "#line 1 \"saxpy.top\"\ntypedef int number;\n",
	    "what the user declares comes first");
	free(t.buf);

	t = (struct text){ 0 };
	l.min_blocks = 0;
	loop_text(&l, &t);
	has(t.buf, "__launch_bounds__(128)\n", "without blocks: threads alone");
	free(t.buf);

	t = (struct text){ 0 };
	l.head.language = LOOP_OPENCL;
	loop_text(&l, &t);
	has(t.buf, "__attribute__((reqd_work_group_size(32, 4, 1)))\n",
	    "in OpenCL C the size of the block is required");
	free(t.buf);
}

static void each_dimension_is_a_loop(void)
{
	struct loop_text l = saxpy;
	struct text t = { 0 };

	l.nr_dims = 3;
	l.head.nr_param = 0;
	loop_text(&l, &t);
	has(t.buf,
	    "saxpy(unsigned long b0, unsigned long n0, unsigned long b1, "
	    "unsigned long n1, unsigned long b2, unsigned long n2)",
	    "three dimensions: three first items and numbers");
	has(t.buf, "saxpy_item(b0 + x0, b1 + x1, b2 + x2);",
	    "an item has three indices");
	ok(strstr(t.buf, "for (x2 =") < strstr(t.buf, "for (x0 ="),
	   "i is the innermost");
	free(t.buf);
}

static void refused(struct loop_text l, const char *part, const char *what)
{
	struct text t = { 0 };

	is(loop_text(&l, &t), -EINVAL, "%s: -EINVAL", what);
	has(err_text(), part, "%s: \"%s\" is in the text", what, part);
	free(t.buf);
}

static void bad_input_is_named(void)
{
	struct loop_param bad = { .type = "float (*)[4]" };
	struct loop_text l = saxpy;

	l.head.entry = "two words";
	refused(l, "two words", "an entry that is no name");
	l.head.entry = "9";
	refused(l, "\"9\"", "an entry that is a number");
	l = saxpy;
	l.head.entry = NULL;
	refused(l, "no name", "no entry");
	l = saxpy;
	l.nr_dims = 4;
	refused(l, "1 to 3", "four dimensions");
	l = saxpy;
	l.body = NULL;
	refused(l, "no body", "no body");
	l = saxpy;
	l.head.param = &bad;
	l.head.nr_param = 1;
	refused(l, "(*)[4]", "a type around a name");
	bad.type = "LOCAL float *";
	refused(l, "p0", "memory of a block");
	bad.type = " ";
	refused(l, "p0", "an empty type");
	bad.type = NULL;
	refused(l, "p0", "no type");
	l.head.nr_param = LOOP_MAX_PARAMS + 1;
	refused(l, "65 parameters", "too many");
}

static void refused_fold(struct fold_text f, const char *part, const char *what)
{
	struct text t = { 0 };

	is(fold_text(&f, &t), -EINVAL, "%s: -EINVAL", what);
	has(err_text(), part, "%s: \"%s\" is in the text", what, part);
	free(t.buf);
}

static void bad_folds_are_named(void)
{
	static const struct fold_text sum = {
		.head = { .entry = "sum",
			  .param = saxpy_params,
			  .nr_param = 2 },
		.type = "double",
		.item = "p1[i]",
		.join = "a + b",
		.neutral = "0",
		.block = 64,
	};
	struct fold_text f = sum;

	f.block = 96;
	refused_fold(f, "block of 96", "no power of two");
	f.block = 1;
	refused_fold(f, "block of 1:", "one thread");
	f.block = 2048;
	refused_fold(f, "block of 2048", "too many threads");
	f = sum;
	f.neutral = NULL;
	refused_fold(f, "neutral", "no neutral element");
	f = sum;
	f.type = "int[3]";
	refused_fold(f, "int[3]", "a type around a name");
}

/* Whole blocks, all items, and no more pieces than threads. */
static bool is_cut_well(uint64_t n, uint32_t block)
{
	uint64_t piece = fold_piece(n, block);
	uint32_t nr = fold_pieces(n, block);

	if (!n)
		return !nr;
	return piece % block == 0 && nr >= 1 && nr <= block &&
	       (nr - 1) * piece < n && n - (nr - 1) * piece <= piece;
}

static void pieces_are_whole_blocks(void)
{
	static const uint64_t large[] = { 1ull << 32, (1ull << 40) + 1,
					  (1ull << 62) - 1, UINT64_MAX / 2 };
	uint32_t block, i;
	uint64_t n, bad = 0;

	for (block = 2; block <= 1024; block *= 2) {
		for (n = 0; n < 5000; n++)
			bad += !is_cut_well(n, block);
		for (i = 0; i < sizeof(large) / sizeof(*large); i++)
			bad += !is_cut_well(large[i], block);
	}
	is(bad, 0, "0 to 4999 and very many items are cut well");
	is(fold_piece(1000, 64), 64, "1000 items of blocks of 64: 64 a piece");
	is(fold_pieces(1000, 64), 16, "16 pieces");
	is(fold_piece(5000, 64), 128, "5000 items: 128 a piece");
	is(fold_pieces(5000, 64), 40, "40 pieces");
}

int main(void)
{
	tap_start(60);
	nothing_is_lost();
	languages_differ_in_macros_and_bounds();
	each_dimension_is_a_loop();
	bad_input_is_named();
	bad_folds_are_named();
	pieces_are_whole_blocks();
	return tap_end();
}
