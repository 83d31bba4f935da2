/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Texts in CUDA C through NVRTC, which needs no card: names as the text has
 * them, logs that name lines, options, libraries that are none.
 */
#include "cuda/code.h"

#include "tests/tap.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ARCH 90

static const char *cache = "";
static char log_text[2048];
static const struct code_log the_log = { log_text, sizeof(log_text) };

static int compile(const char *library, const struct lkdf_code *c,
		   struct code_made *m)
{
	memset(m, 0, sizeof(*m));
	memset(log_text, 0, sizeof(log_text));
	return nvrtc_compile(&(struct nvrtc_settings){ library, cache, ARCH,
						       0 },
			     c, m, the_log);
}

static void another_library_says_so(void)
{
	const struct lkdf_code c = { .image = "__global__ void f() {}" };
	struct code_made m;

	is(compile("libno-such.so", &c, &m), -ENOEXEC, "no such library");
	has(log_text, "libno-such.so", "the text names it");
	is(compile("libm.so.6", &c, &m), -ENOEXEC, "another library");
	has(log_text, "has no nvrtc", "the text names what it lacks");
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
	becomes("f",
		"int two(void) { return 2; }\n"
		"extern \"C\" __global__ void f(int *x) { *x = two(); }",
		"f");
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

/* The second time there is no compiler. */
static void a_text_is_compiled_once(void)
{
	const struct lkdf_code c = { .image = "__global__ void f(int *x) {}",
				     .entry = "f" };
	char dir[] = "/tmp/test_nvrtc.XXXXXX", path[400];
	struct code_made first, second;
	struct dirent *e;
	DIR *d;

	cache = mkdtemp(dir);
	is(compile(NVRTC, &c, &first), 0, "a text is compiled");
	is(compile("libno-such.so", &c, &second), 0, "and kept");
	ok(second.bytes == first.bytes &&
		   !memcmp(first.image, second.image, first.bytes) &&
		   !strcmp(first.entry, second.entry),
	   "the same image under the same name");
	free(first.image);
	free(first.entry);
	free(second.image);
	free(second.entry);
	d = opendir(dir);
	while (d && (e = readdir(d))) {
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		unlink(path);
	}
	closedir(d);
	is(rmdir(dir), 0, "and nothing else is there");
	cache = "";
}
#else
static void a_text_is_compiled_once(void)
{
	skip("a text is compiled once", "no NVRTC");
}

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
	a_text_is_compiled_once();
	return tap_end();
}
