/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Loads the library as a plugin's program does, see test_check.sh. */
#include <dlfcn.h>

struct lkdf;

int main(int argc, char **argv)
{
	int (*open_runtime)(const char *options, struct lkdf **out);
	int (*close_runtime)(struct lkdf * rt);
	void *library = dlopen(argv[argc - 1], RTLD_NOW);
	struct lkdf *rt;

	if (!library)
		return 3;
	*(void **)&open_runtime = dlsym(library, "lkdf_open");
	*(void **)&close_runtime = dlsym(library, "lkdf_close");
	return open_runtime("", &rt) || close_runtime(rt);
}
