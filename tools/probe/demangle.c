/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "probe/demangle.h"

#include "utf8.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The Itanium ABI of C++, 3.4 there. */
typedef char *(*demangler)(const char *name, char *to, size_t *size,
			   int *status);

static demangler find_demangler(void)
{
	static const char *const files[] = { "libstdc++.so.6",
					     "libc++abi.so.1" };
	void *library, *found = NULL;
	demangler fn = NULL;
	size_t i;

	for (i = 0; !found && i < sizeof(files) / sizeof(files[0]); i++) {
		library = dlopen(files[i], RTLD_NOW | RTLD_LOCAL);
		found = library ? dlsym(library, "__cxa_demangle") : NULL;
	}
	memcpy(&fn, &found, sizeof(fn));
	return fn;
}

void demangle(char *name, size_t size)
{
	static bool is_found;
	static demangler fn;
	int status = -1;
	char *text;

	/* A name of C may begin with _Z as well: the library says what it is.
	 */
	if (strncmp(name, "_Z", 2))
		return;
	if (!is_found)
		fn = find_demangler();
	is_found = true;
	text = fn ? fn(name, NULL, NULL, &status) : NULL;
	if (text && !status) {
		snprintf(name, size, "%s", text);
		utf8_tame(name);
	}
	free(text);
}
