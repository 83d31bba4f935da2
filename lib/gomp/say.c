/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Lines on standard error, for the user of a program that knows nothing of
 * lkdf.
 */
#include "gomp/gomp.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

void gomp_write(const char *text)
{
	dprintf(STDERR_FILENO, "%s\n", text);
}

void gomp_say(const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	dprintf(2, "liblkdf-gomp: %s\n", text);
}

void gomp_die(const char *why)
{
	gomp_say("%s", why);
	_exit(1);
}

void gomp_refuse(const char *what)
{
	gomp_say("%s is not built: run the program without liblkdf-gomp.so "
		 "(LD_PRELOAD, lkdf run --openmp)",
		 what);
	_exit(1);
}
