/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* What lkdf_why() says, and programs that wait for ever. */
#ifndef TESTS_API_WHY_H
#define TESTS_API_WHY_H

#include "tests/api/api.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>

#define WHY_SIZE (1 << 16)

/* All of it, in a buffer that the next call overwrites. */
__attribute__((unused)) static const char *why_says(struct lkdf *rt,
						    const char *format)
{
	static char text[WHY_SIZE];
	int fd = must(memfd_create("why", MFD_CLOEXEC));
	ssize_t n;

	must(lkdf_why(rt, format, fd));
	must(lseek(fd, 0, SEEK_SET) ? -1 : 0);
	n = read(fd, text, sizeof(text) - 1);
	text[must((int)n)] = 0;
	close(fd);
	return text;
}

/* Looks until it says so; the watchdog ends a test in which it never does. */
__attribute__((unused)) static const char *why_until(struct lkdf *rt,
						     const char *part)
{
	const char *text = why_says(rt, "text");
	int i;

	for (i = 0; i < 40000 && !strstr(text, part); i++) {
		api_nap_ns(200000);
		text = why_says(rt, "text");
	}
	has(text, part, "it says: %s", part);
	return text;
}

#endif
