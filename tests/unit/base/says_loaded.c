/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* A library that says so when a program loads it: as code of a caller would. */
#include <unistd.h>

#define SAYS "LOADED\n"

__attribute__((constructor)) static void say_loaded(void)
{
	ssize_t n = write(1, SAYS, sizeof(SAYS) - 1);

	(void)n;
}
