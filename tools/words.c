/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Half up, as Math.floor(x + 0.5) is in the page. */
static double rounded(double v, int digits)
{
	double scale = digits == 2 ? 100 : digits == 1 ? 10 : 1;

	return floor(v * scale + 0.5) / scale;
}

/* Three digits: 1.23, 12.3, 123. */
static struct words three(double v, const char *unit)
{
	int digits = v < 9.995 ? 2 : v < 99.95 ? 1 : 0;
	struct words w;

	snprintf(w.text, sizeof(w.text), "%.*f %s", digits, rounded(v, digits),
		 unit);
	return w;
}

struct words words_time(uint64_t ns)
{
	double v = (double)ns;
	struct words w;

	if (v < 999.5) {
		snprintf(w.text, sizeof(w.text), "%.0f ns", v);
		return w;
	}
	if (v < 999.5e3)
		return three(v / 1e3, "µs");
	return v < 999.5e6 ? three(v / 1e6, "ms") : three(v / 1e9, "s");
}

struct words words_share(double share)
{
	double v = share * 100;
	int digits = v < 9.95 && v >= 0.05 ? 1 : 0;
	struct words w;

	snprintf(w.text, sizeof(w.text), "%.*f %%", digits, rounded(v, digits));
	return w;
}

struct words words_count(uint64_t n)
{
	char digits[24];
	struct words w;
	int len =
		snprintf(digits, sizeof(digits), "%llu", (unsigned long long)n);
	int i, used = 0;

	for (i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			w.text[used++] = ' ';
		w.text[used++] = digits[i];
	}
	w.text[used] = '\0';
	return w;
}

struct words words_bytes(uint64_t n)
{
	static const char *const units[] = { "KiB", "MiB", "GiB", "TiB" };
	double v = (double)n / 1024;
	struct words w;
	int i;

	if (n < 1024) {
		snprintf(w.text, sizeof(w.text), "%u B", (unsigned)n);
		return w;
	}
	for (i = 0; v >= 999.5 && i < 3; i++)
		v /= 1024;
	return three(v, units[i]);
}
