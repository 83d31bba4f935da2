/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Loops, reductions and scans made of texts compile as CUDA C for sm_90, where
 * nvcc is; no GPU is needed, so none of them runs. A body that is no C does not
 * compile, and the message names its line.
 */
#include "offload/fold_text.h"

#include "tests/tap.h"

static const struct loop_param params[] = {
	{ .type = "float", .bytes = 4 },
	{ .type = "GLOBAL const double *" },
	{ .type = "GLOBAL double *" },
};

static char folder[] = "/tmp/lkdf-loop-XXXXXX", nvcc[512], said[4096];

/* The status of nvcc for the text; what it says is in said. */
static int compile(const char *text)
{
	char path[64], command[1024];
	size_t n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/text.cu", folder);
	f = fopen(path, "w");
	if (!f || fputs(text, f) < 0 || fclose(f))
		exit(99);
	snprintf(command, sizeof(command),
		 "cd %s && %s -arch=sm_90 -cubin -o text.cubin text.cu 2>&1",
		 folder, nvcc);
	f = popen(command, "r");
	if (!f)
		exit(99);
	n = fread(said, 1, sizeof(said) - 1, f);
	said[n] = 0;
	while (fgetc(f) != EOF)
		;
	return pclose(f);
}

/* nvcc of PATH, of CUDA_HOME or where it usually lies, and it works. */
static bool has_nvcc(void)
{
	static const char *const usual[] = { "/usr/local/cuda", "/opt/cuda" };
	const char *home = getenv("CUDA_HOME");
	size_t i;

	snprintf(nvcc, sizeof(nvcc), "nvcc");
	if (system("command -v nvcc >/dev/null 2>&1")) {
		nvcc[0] = 0;
		if (home && home[0])
			snprintf(nvcc, sizeof(nvcc), "%s/bin/nvcc", home);
		for (i = 0; i < 2 && (!nvcc[0] || access(nvcc, X_OK)); i++)
			snprintf(nvcc, sizeof(nvcc), "%s/bin/nvcc", usual[i]);
		if (access(nvcc, X_OK))
			return false;
	}
	return !compile("extern \"C\" __global__ void empty(void) {}\n");
}

static void put_loops(struct text *t)
{
	struct loop_text l = {
		.head = { .language = LOOP_CUDA,
			  .entry = "one",
			  .param = params,
			  .nr_param = 3,
			  .top = "DEVICE double twice(double x)\n"
				 "{\nreturn 2 * x;\n}" },
		.body = "ulong at = i;\nuint n = 1u;\nushort s = 1;\n"
			"uchar c = 1;\n"
			"if (!at)\n\treturn;\n"
			"p2[i] = p0 * twice(p1[i]) * n * s * c;",
		.nr_dims = 1,
		.block = { 256, 1, 1 },
		.min_blocks = 2,
	};

	loop_text(&l, t);
	l.head.top = NULL;
	l.head.entry = "two";
	l.nr_dims = 2;
	l.block[0] = 0;
	loop_text(&l, t);
	l.head.entry = "three";
	l.head.nr_param = 0;
	l.nr_dims = 3;
	l.body = "(void)k;";
	loop_text(&l, t);
}

static void put_folds(struct text *t)
{
	struct fold_text f = {
		.head = { .language = LOOP_CUDA,
			  .entry = "sum",
			  .param = params,
			  .nr_param = 2 },
		.type = "double",
		.value_size = 8,
		.item = "p0 * p1[i]",
		.join = "a + b",
		.neutral = "0",
		.block = 256,
	};

	fold_text(&f, t);
	f.sort = FOLD_SCAN;
	f.head.entry = "scan";
	fold_text(&f, t);
	f.sort = FOLD_SCAN_EXCLUSIVE;
	f.head.entry = "before";
	f.type = "unsigned long";
	f.item = "(unsigned long)p1[i]";
	fold_text(&f, t);
}

static void all_compile_for_sm_90(void)
{
	struct text t = { 0 };

	put_loops(&t);
	put_folds(&t);
	ok(!t.has_failed, "three loops, a reduction and two scans are made");
	if (!ok(!compile(t.buf), "nvcc compiles them for sm_90"))
		printf("# %s\n", said);
	free(t.buf);
}

static void errors_name_their_line(void)
{
	struct loop_text l = {
		.head = { .language = LOOP_CUDA,
			  .entry = "bad",
			  .param = params,
			  .nr_param = 1 },
		.body = "float x = p0;\nx = oops;\n",
		.nr_dims = 1,
	};
	struct text t = { 0 };

	loop_text(&l, &t);
	ok(compile(t.buf), "a body that is no C does not compile");
	has(said, "bad(2)", "nvcc names the body's line");
	free(t.buf);
}

int main(void)
{
	char path[64];

	tap_start(200);
	if (!mkdtemp(folder))
		exit(99);
	if (has_nvcc()) {
		all_compile_for_sm_90();
		errors_name_their_line();
	} else {
		skip("loops, reductions and scans compile for sm_90",
		     "no nvcc that works");
	}
	snprintf(path, sizeof(path), "%s/text.cu", folder);
	unlink(path);
	snprintf(path, sizeof(path), "%s/text.cubin", folder);
	unlink(path);
	rmdir(folder);
	return tap_end();
}
