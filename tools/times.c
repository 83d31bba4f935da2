/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "times.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

double times_unit(const char *word)
{
	static const struct {
		const char *word;
		double ns;
	} units[] = {
		{ "ns", 1 },
		{ "us", 1e3 },
		{ "µs", 1e3 }, /* the micro sign, and the Greek letter */
		{ "μs", 1e3 },
		{ "ms", NS_PER_MS },
		{ "s", NS_PER_S },
		{ "m", 60.0 * NS_PER_S },
		{ "min", 60.0 * NS_PER_S },
		{ "h", NS_PER_HOUR },
		{ "d", 24.0 * NS_PER_HOUR },
	};
	size_t i;

	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(word, units[i].word))
			return units[i].ns;
	return 0;
}

/* strtod() knows more: signs, hexadecimal numbers, infinity. */
static const char *end_of_number(const char *text)
{
	size_t whole = strspn(text, "0123456789"), part;

	if (text[whole] != '.')
		return whole ? text + whole : NULL;
	part = strspn(text + whole + 1, "0123456789");
	return whole + part ? text + whole + 1 + part : NULL;
}

const char *times_read(const char *text, double unit_ns, int64_t *ns)
{
	const char *end = end_of_number(text);
	double v;

	if (!end)
		return "is no time, as 1.5s, 250ms, 2m";
	v = strtod(text, NULL);
	while (*end == ' ')
		end++;
	if (*end)
		unit_ns = times_unit(end);
	if (unit_ns == 0)
		return "has a unit that is none of ns, us, ms, s, m, h, d";
	if (v * unit_ns > 100.0 * NS_PER_YEAR)
		return "is longer than a hundred years";
	if (v > 0 && v * unit_ns < 0.5)
		return "is shorter than a nanosecond";
	*ns = (int64_t)(v * unit_ns + 0.5);
	return NULL;
}
