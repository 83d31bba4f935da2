/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Which NVRTC compiles, and for what: a compiler that does not know the card
 * yet gives PTX, one that does not know it any more says so; the compiler of
 * the driver's major version is found wherever it lies, before another one; a
 * text that includes files is compiled each time. With the compiler for tests.
 */
#include "cuda/code.h"

#include "tests/cuda/load.h"
#include "tests/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#define ARCH 90
#define DRIVER 12040
#define PIP "lib/python3.11/site-packages/nvidia/"

static char log_text[2048], nvrtc[PATH_MAX + 64], base[64], cache[128];
static const struct code_log the_log = { log_text, sizeof(log_text) };
static const struct lkdf_code plain = {
	.image = "extern \"C\" __global__ void f(int *x) { x[0] = 1; }",
	.entry = "f",
};

static int compile(const char *library, const char *dir,
		   const struct lkdf_code *c, struct code_made *m)
{
	memset(m, 0, sizeof(*m));
	memset(log_text, 0, sizeof(log_text));
	return nvrtc_compile(&(struct nvrtc_settings){ library, dir, ARCH,
						       DRIVER },
			     c, m, the_log);
}

static void drop(struct code_made *m)
{
	free(m->image);
	free(m->entry);
}

/* ---- for what ------------------------------------------------------------ */

static const char *(*target_of)(void);
static int (*took_ptx)(void), (*nr_compiled)(void);

static void find_control(const char *name, void *to)
{
	void *f = dlsym(dlopen(nvrtc, RTLD_NOW), name);

	memcpy(to, &f, sizeof(f));
}

static void compiles_for(const char *archs, const char *target, int is_ptx)
{
	struct code_made m;

	setenv("FAKE_NVRTC_ARCHS", archs, 1);
	is(compile(nvrtc, "", &plain, &m), 0, "of %s, for sm_90: %s", archs,
	   log_text);
	is(strcmp(target_of(), target), 0, "%s is chosen: %s", target,
	   target_of());
	is(took_ptx(), is_ptx, "its PTX is %staken", is_ptx ? "" : "not ");
	unsetenv("FAKE_NVRTC_ARCHS");
	drop(&m);
}

static void a_card_that_is_gone_is_named(void)
{
	struct code_made m;

	setenv("FAKE_NVRTC_ARCHS", "100,120", 1);
	is(compile(nvrtc, "", &plain, &m), -ENOEXEC, "a card that is too old");
	has(log_text, "sm_90", "the text names it");
	has(log_text, "13.0", "and the compiler");
	unsetenv("FAKE_NVRTC_ARCHS");
}

/* ---- where --------------------------------------------------------------- */

static void make_folders(const char *path)
{
	char part[PATH_MAX];
	size_t i;

	for (i = strlen(base) + 1; i < strlen(path); i++) {
		snprintf(part, sizeof(part), "%.*s", (int)i, path);
		if (path[i] == '/')
			mkdir(part, 0700);
	}
}

/* A link to target below base; its path for the variable. */
static void link_library(const char *below, const char *target)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", base, below);
	make_folders(path);
	ok(!symlink(target, path), "a link %s", below);
}

static void set_path(const char *variable, const char *below)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", base, below);
	setenv(variable, path, 1);
}

/* Has the compiler for tests compiled it? The machine may have another one. */
static bool is_ours(void)
{
	int nr = nr_compiled();
	struct code_made m;

	if (!compile("", "", &plain, &m))
		drop(&m);
	return nr_compiled() > nr;
}

static void is_found_by(const char *variable, const char *root,
			const char *below)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", root, below);
	link_library(path, nvrtc);
	set_path(variable, root);
	ok(is_ours(), "by %s: %s", variable, log_text);
	unsetenv(variable);
	ok(!is_ours(), "and by that alone");
}

static void libraries_are_found(void)
{
	if (dlopen("libnvrtc.so.12", RTLD_NOW | RTLD_LOCAL)) {
		skip("where libraries are", "the dynamic linker finds one");
		return;
	}
	unsetenv("CUDA_HOME");
	unsetenv("CUDA_PATH");
	unsetenv("CONDA_PREFIX");
	unsetenv("VIRTUAL_ENV");
	setenv("HOME", base, 1);
	is_found_by("CUDA_HOME", "home", "lib64/libnvrtc.so.12");
	is_found_by("CUDA_PATH", "path", "lib64/libnvrtc.so.12");
	is_found_by("CONDA_PREFIX", "conda", "lib/libnvrtc.so.12");
	is_found_by("VIRTUAL_ENV", "venv", PIP "cu12/lib/libnvrtc.so.12");
	is_found_by("HOME", "user",
		    ".local/" PIP "cuda_nvrtc/lib/libnvrtc.so.12");
	/* Another major version, nearer, which is none at all. */
	link_library("old/lib64/libnvrtc.so.11.2", "/dev/null");
	set_path("CUDA_HOME", "old");
	set_path("VIRTUAL_ENV", "venv");
	ok(is_ours(), "that of the driver comes first: %s", log_text);
	unsetenv("CUDA_HOME");
	unsetenv("VIRTUAL_ENV");
}

/* ---- what is kept -------------------------------------------------------- */

static void write_header(int value)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/value.h", base);
	f = fopen(path, "we");
	if (!f)
		abort();
	fprintf(f, "#define VALUE %d\n", value);
	fclose(f);
}

static void an_included_file_changes(void)
{
	char options[128];
	const struct lkdf_code c = {
		.image = "#include \"value.h\"\n"
			 "extern \"C\" __global__ void f(int *x)\n"
			 "{ x[0] = VALUE; }",
		.entry = "f",
		.options = options,
	};
	struct code_made first, second;

	snprintf(options, sizeof(options), "-I%s", base);
	write_header(47);
	is(compile(nvrtc, cache, &c, &first), 0, "a text with a header: %s",
	   log_text);
	write_header(11);
	is(compile(nvrtc, cache, &c, &second), 0, "with another one");
	ok(first.bytes != second.bytes ||
		   memcmp(first.image, second.image, first.bytes),
	   "is other code");
	drop(&first);
	drop(&second);
	is(compile(nvrtc, cache, &plain, &first), 0, "a text without one");
	is(compile("libno-such.so", cache, &plain, &second), 0, "is kept");
	drop(&first);
	drop(&second);
}

int main(void)
{
	char command[128];

	tap_start(120);
	snprintf(base, sizeof(base), "/tmp/test_nvrtc_find.XXXXXX");
	if (!mkdtemp(base))
		return 1;
	snprintf(cache, sizeof(cache), "%s/cache", base);
	snprintf(nvrtc, sizeof(nvrtc), "%s", cuda_file("libnvrtc.so"));
	find_control("fake_nvrtc_target", &target_of);
	find_control("fake_nvrtc_took_ptx", &took_ptx);
	find_control("fake_nvrtc_compiled", &nr_compiled);
	compiles_for("75,80,90,100", "sm_90", 0);
	compiles_for("75,89,80,100", "compute_89", 1);
	a_card_that_is_gone_is_named();
	an_included_file_changes();
	libraries_are_found();
	snprintf(command, sizeof(command), "rm -rf '%s'", base);
	is(system(command), 0, "nothing is left");
	return tap_end();
}
