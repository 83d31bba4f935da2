/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * TAP for tests: each test is a function named as a sentence in the present,
 * with one fact per ok(). A watchdog ends a program that hangs and says where,
 * see hang.h.
 */
#ifndef TESTS_TAP_H
#define TESTS_TAP_H

#include "tests/hang.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int tap_nr, tap_failed;

/* Of the last fact: for who hangs. */
static struct {
	char text[160];
	const char *file;
	int line;
} tap_last;

/* Also while a fact is being told: it is the text that is torn then. */
__attribute__((unused)) static void tap_say_at(void)
{
	if (tap_last.file)
		printf("# hangs: after fact %d, \"%s\" at %s:%d\n", tap_nr,
		       tap_last.text, tap_last.file, tap_last.line);
	else
		printf("# hangs: before its first fact\n");
	fflush(stdout);
}

__attribute__((format(printf, 4, 5), unused)) static bool
tap_ok(bool good, const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(tap_last.text, sizeof(tap_last.text), fmt, ap);
	va_end(ap);
	tap_last.file = file;
	tap_last.line = line;
	printf("%sok %d - ", good ? "" : "not ", ++tap_nr);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	if (!good) {
		tap_failed++;
		printf("# failed at %s:%d\n", file, line);
	}
	fflush(stdout);
	return good;
}

#define ok(cond, ...) tap_ok(!!(cond), __FILE__, __LINE__, __VA_ARGS__)

/* Equal integers; says both when they differ. */
#define is(got, want, ...)                                              \
	tap_is((long long)(got), (long long)(want), __FILE__, __LINE__, \
	       __VA_ARGS__)

__attribute__((format(printf, 5, 6), unused)) static bool
tap_is(long long got, long long want, const char *file, int line,
       const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (tap_ok(got == want, file, line, "%s", text))
		return true;
	printf("# got %lld, expected %lld\n", got, want);
	return false;
}

/* The text holds the part; says the text when it does not. */
#define has(text, part, ...)                                               \
	do {                                                               \
		if (!ok(strstr(text, part) != NULL, __VA_ARGS__))          \
			printf("# \"%s\" is not in \"%s\"\n", part, text); \
	} while (0)

__attribute__((unused)) static void skip(const char *what, const char *why)
{
	printf("ok %d - %s # SKIP %s\n", ++tap_nr, what, why);
}

/* A number of the environment; 0: none. */
__attribute__((unused)) static unsigned tap_number(const char *name)
{
	const char *text = getenv(name);

	return text ? (unsigned)strtoul(text, NULL, 10) : 0;
}

/*
 * First line of main: the program ends after so many seconds of an idle
 * machine, and LKDF_TIME_SCALE times that on a slow one; earlier where
 * tests/run.sh knows how long it takes.
 */
__attribute__((unused)) static void tap_start(unsigned watchdog_s)
{
	unsigned times = tap_number("LKDF_TIME_SCALE");
	unsigned limit = tap_number("TAP_LIMIT");

	setvbuf(stdout, NULL, _IOLBF, 0);
	hang_at = tap_say_at;
	watchdog_s *= times ? times : 1;
	hang_watch(limit && limit < watchdog_s ? limit : watchdog_s);
}

/* Last line of main. */
__attribute__((unused)) static int tap_end(void)
{
	printf("1..%d\n", tap_nr);
	return tap_failed ? 1 : 0;
}

#endif
