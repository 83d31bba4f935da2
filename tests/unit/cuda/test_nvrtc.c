/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Texts in CUDA C through NVRTC, which needs no card: names as the text has
 * them, logs that name lines, options, libraries that are none.
 */
#include "cuda/code.h"

#include "tests/tap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ARCH 90

static char log_text[2048];
static const struct code_log the_log = { log_text, sizeof(log_text) };

static int compile(const char *library, const struct lkdf_code *c,
		   struct code_made *m)
{
	memset(m, 0, sizeof(*m));
	memset(log_text, 0, sizeof(log_text));
	return nvrtc_compile(library, ARCH, c, m, the_log);
}

static void another_library_says_so(void)
{
	const struct lkdf_code c = { .image = "__global__ void f() {}" };
	struct code_made m;

	is(compile("libno-such.so", &c, &m), -ENOEXEC, "no such library");
	has(log_text, "libno-such.so", "the text names it");
	is(compile("libm.so.6", &c, &m), -ENOEXEC, "another library");
	has(log_text, "nvrtcCreateProgram", "the text names what it lacks");
}

#ifdef NVRTC
static void becomes(const char *entry, const char *text, const char *name)
{
	const struct lkdf_code c = { .image = text, .entry = entry };
	enum code_sort sort;
	struct code_made m;
	int rc = compile(NVRTC, &c, &m);

	is(rc, 0, "%s: compiles: %s", text, log_text);
	if (rc)
		return;
	ok(name ? m.entry && !strcmp(m.entry, name) : !m.entry,
	   "%s: its name is %s", text, m.entry ? m.entry : "not asked for");
	is(code_sort(&(struct lkdf_code){ .image = m.image, .bytes = m.bytes },
		     &sort, the_log),
	   0, "%s: the image is whole", text);
	is(sort, CODE_BINARY, "%s: and a cubin", text);
	free(m.image);
	free(m.entry);
}

static void names_are_as_in_the_text(void)
{
	becomes("f", "__global__ void f(float *x) { x[0] = 1; }", "_Z1fPf");
	becomes("f", "extern \"C\" __global__ void f(float *x) { x[0] = 1; }",
		"f");
	becomes(NULL, "__global__ void f(float *x) { x[0] = 1; }", NULL);
	becomes("f<int>",
		"template <typename T> __global__ void f(T *x) { *x = 1; }",
		"_Z1fIiEvPT_");
}

static void errors_name_their_line(void)
{
	struct lkdf_code c = { .image = "__global__ void add(int *x)\n"
					"{\n\tx[0] = nothing;\n}\n",
			       .entry = "add" };
	struct code_made m;

	is(compile(NVRTC, &c, &m), -ENOEXEC, "a text that is wrong");
	has(log_text, "add:3: error", "the text names the line");
	c.entry = "sub";
	c.image = "__global__ void add() {}";
	is(compile(NVRTC, &c, &m), -ENOEXEC, "an entry that is not there");
	has(log_text, "sub", "the text names it");
	c.entry = "add";
	c.options = "--no-such-option";
	is(compile(NVRTC, &c, &m), -ENOEXEC, "an unknown option");
	has(log_text, "no-such-option", "the text names it");
	c.options = NULL;
	c.bytes = 10;
	is(compile(NVRTC, &c, &m), -ENOEXEC, "a text that is cut off");
}

static void options_are_passed_on(void)
{
	struct lkdf_code c = {
		.image = "__global__ void f(int *x) { x[0] = VALUE + OTHER; }",
		.entry = "f",
		.options = " -DVALUE=2\t-DOTHER=3\n",
	};
	char many[400] = "";
	struct code_made m;
	int i;

	is(compile(NVRTC, &c, &m), 0, "two options: %s", log_text);
	free(m.image);
	free(m.entry);
	for (i = 0; i < 64; i++)
		strcat(many, "-DA=1 ");
	c.options = many;
	is(compile(NVRTC, &c, &m), -EINVAL, "64 options");
	has(log_text, "more than 63", "the text says how many there may be");
}
#else
static void names_are_as_in_the_text(void)
{
	skip("names are as in the text", "no NVRTC");
}

static void errors_name_their_line(void)
{
	skip("errors name their line", "no NVRTC");
}

static void options_are_passed_on(void)
{
	skip("options are passed on", "no NVRTC");
}
#endif

int main(void)
{
	tap_start(120);
	another_library_says_so();
	names_are_as_in_the_text();
	errors_name_their_line();
	options_are_passed_on();
	return tap_end();
}
