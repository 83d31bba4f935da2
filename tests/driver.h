/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The driver whose devices the tests of devices use beside the emulated one:
 * the environment variable LKDF_TEST_DEVICE says which back end of the library
 * that is, opencl by default. Texts of tests are OpenCL C; for CUDA their words
 * are replaced. A machine with one card has that card as often as a test wants
 * devices.
 */
#ifndef TESTS_DRIVER_H
#define TESTS_DRIVER_H

#include "tests/opencl.h"

#include <ctype.h>
#include <lkdf/lkdf.h>

__attribute__((unused)) static const char *driver_name(void)
{
	const char *name = getenv("LKDF_TEST_DEVICE");

	return name && name[0] ? name : "opencl";
}

__attribute__((unused)) static bool driver_is_opencl(void)
{
	return !strcmp(driver_name(), "opencl");
}

/* First, before any call; words: devices of POCL, NULL: one. */
__attribute__((unused)) static void driver_env(const char *words)
{
	if (driver_is_opencl())
		opencl_env(words);
}

/* The folder of the build's libraries for tests of CUDA. */
static void driver_folder(char *path, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", path, size - 1);
	char *tests = NULL, *p;

	path[n < 0 ? 0 : n] = 0;
	for (p = path; (p = strstr(p, "/tests/")); p++)
		tests = p;
	if (tests)
		snprintf(tests, size - (size_t)(tests - path), "/tests/cuda");
}

/*
 * The options and that of the driver, in a buffer that the next call uses. CUDA
 * is that of the library for tests, or what LKDF_TEST_CUDA names.
 */
__attribute__((unused)) static const char *driver_options(const char *options)
{
	static char all[3 * PATH_MAX];
	const char *named = getenv("LKDF_TEST_CUDA");
	char folder[PATH_MAX];
	size_t n = (size_t)snprintf(all, sizeof(all), "%s,devices=%s", options,
				    driver_name());

	if (strcmp(driver_name(), "cuda"))
		return all;
	driver_folder(folder, sizeof(folder));
	if (named && named[0])
		snprintf(all + n, sizeof(all) - n, ",cuda_library=%s", named);
	else
		snprintf(all + n, sizeof(all) - n,
			 ",cuda_library=%s/libcuda.so.1,nvrtc_library=%s/"
			 "libnvrtc.so",
			 folder, folder);
	return all;
}

/* The first nr devices, the last one again where there are fewer; 0: none. */
__attribute__((unused)) static int driver_places(struct lkdf *rt,
						 struct lkdf_place **v, int nr)
{
	int has = lkdf_places(rt, LKDF_PLACE_GPU, v, (unsigned)nr), i;

	if (has < 1)
		return 0;
	for (i = has; i < nr; i++)
		v[i] = v[has - 1];
	return nr;
}

/* Words of OpenCL C and what they are in CUDA C. */
static const struct driver_word {
	const char *word, *is;
} driver_words[] = {
	{ "kernel", "extern \"C\" __global__" },
	{ "global", "" },
	{ "local", "__shared__" },
	{ "constant", "const" },
	{ "restrict", "__restrict__" },
};

static const char driver_macros[] =
	"typedef unsigned char uchar;\n"
	"typedef unsigned short ushort;\n"
	"typedef unsigned int uint;\n"
	"typedef unsigned long ulong;\n"
	"#define LKDF_OF(v, d) ((d) == 0 ? v.x : (d) == 1 ? v.y : v.z)\n"
	"#define get_local_id(d) LKDF_OF(threadIdx, d)\n"
	"#define get_group_id(d) LKDF_OF(blockIdx, d)\n"
	"#define get_local_size(d) LKDF_OF(blockDim, d)\n"
	"#define get_num_groups(d) LKDF_OF(gridDim, d)\n"
	"#define get_global_id(d) ((ulong)get_group_id(d) * "
	"get_local_size(d) + get_local_id(d))\n"
	"#define get_global_size(d) ((ulong)get_num_groups(d) * "
	"get_local_size(d))\n"
	"#define barrier(f) __syncthreads()\n";

static bool driver_is_letter(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* The word that begins there; NULL: none that is replaced. */
static const struct driver_word *driver_find(const char *at)
{
	size_t i, n;

	for (i = 0; i < sizeof(driver_words) / sizeof(driver_words[0]); i++) {
		n = strlen(driver_words[i].word);
		if (!strncmp(at, driver_words[i].word, n) &&
		    !driver_is_letter(at[n]))
			return &driver_words[i];
	}
	return NULL;
}

/* A text of OpenCL C as CUDA C; the caller's, NULL: no memory. */
__attribute__((unused)) static char *driver_cuda(const char *text)
{
	size_t size = sizeof(driver_macros) + 8 * strlen(text) + 1, used;
	char *to = malloc(size);
	const struct driver_word *w;
	char before = 0;

	if (!to)
		return NULL;
	strcpy(to, driver_macros);
	used = sizeof(driver_macros) - 1;
	while (*text) {
		w = driver_is_letter(before) ? NULL : driver_find(text);
		before = *text;
		if (w) {
			strcpy(to + used, w->is);
			used += strlen(w->is);
			text += strlen(w->word);
		} else {
			to[used++] = *text++;
		}
	}
	to[used] = 0;
	return to;
}

/* A text of OpenCL C for the driver, until the program ends. */
__attribute__((unused)) static const char *driver_text(const char *text)
{
	static struct {
		const char *from;
		char *to;
	} made[32];
	size_t i;

	if (strcmp(driver_name(), "cuda"))
		return text;
	for (i = 0; i < 31 && made[i].from && made[i].from != text; i++)
		;
	if (made[i].from != text) {
		free(made[i].to);
		made[i].from = text;
		made[i].to = driver_cuda(text);
	}
	return made[i].to;
}

#endif
