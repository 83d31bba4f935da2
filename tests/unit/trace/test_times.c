/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Times that users write, with fractions and units. */
#include "tests/tap.h"
#include "tools/times.c"

static bool reads(const char *text, double unit_ns, int64_t want)
{
	int64_t ns = -1;
	const char *wrong = times_read(text, unit_ns, &ns);

	if (!wrong && ns == want)
		return true;
	printf("# %s: %s, %lld ns\n", text, wrong ? wrong : "read",
	       (long long)ns);
	return false;
}

static bool refuses(const char *text, const char *why)
{
	int64_t ns = -1;
	const char *wrong = times_read(text, NS_PER_S, &ns);

	if (wrong && strstr(wrong, why) && ns == -1)
		return true;
	printf("# \"%s\": %s, %lld ns\n", text, wrong ? wrong : "read",
	       (long long)ns);
	return false;
}

int main(void)
{
	tap_start(10);
	ok(reads("3", NS_PER_S, 3 * NS_PER_S) && reads("3", NS_PER_MS, 3000000),
	   "a number alone has the unit of its option");
	ok(reads("1.5", NS_PER_S, 1500000000) &&
		   reads(".5", NS_PER_MS, 500000) &&
		   reads("2.", NS_PER_S, 2 * NS_PER_S),
	   "a number has a fraction");
	ok(reads("7ns", NS_PER_S, 7) && reads("30us", NS_PER_S, 30000) &&
		   reads("30µs", NS_PER_S, 30000) &&
		   reads("30μs", NS_PER_S, 30000) &&
		   reads("1.25ms", NS_PER_S, 1250000) &&
		   reads("0.2s", NS_PER_MS, 200000000) &&
		   reads("1.5m", NS_PER_S, 90 * NS_PER_S) &&
		   reads("2min", NS_PER_S, 120 * NS_PER_S) &&
		   reads("2h", NS_PER_S, 2 * NS_PER_HOUR) &&
		   reads("365d", NS_PER_S, NS_PER_YEAR),
	   "and a unit from ns to d");
	ok(reads("250 ms", NS_PER_S, 250000000), "a space stands before it");
	ok(reads("0", NS_PER_S, 0) && reads("0.0ms", NS_PER_S, 0),
	   "0 is a time");
	ok(refuses("", "no time") && refuses("s", "no time") &&
		   refuses("-1", "no time") && refuses("+1", "no time") &&
		   refuses(".", "no time") && refuses("inf", "no time") &&
		   refuses("nan", "no time"),
	   "a text without a number is refused, a sign too");
	ok(refuses("1.5x", "unit") && refuses("1,5", "unit") &&
		   refuses("0x10", "unit") && refuses("1e3", "unit") &&
		   refuses("1 s s", "unit") && refuses("1.2.3", "unit"),
	   "another unit is refused with those that there are");
	ok(refuses("1000000d", "hundred years") &&
		   refuses("99999999999999999999999999", "hundred years"),
	   "a time that no clock counts is refused");
	ok(refuses("0.1ns", "nanosecond"), "so is one that rounds to nothing");
	return tap_end();
}
