/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "trace/condition.h"
#include "times.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct metric_row metrics[NR_METRICS] = {
	[COUNT] = { "count", "count", false, false },
	[COUNT_S] = { "count/s", "count_per_s", false, true },
	[TOTAL] = { "total", "total", true, false },
	[TOTAL_S] = { "total/s", "total_per_s", true, true },
	[MEAN] = { "mean", "mean", true, false },
	[P50] = { "p50", "p50", true, false },
	[P99] = { "p99", "p99", true, false },
	[MAX] = { "max", "max", true, false },
	[WALL] = { "wall", "wall", true, false },
	[LOST] = { "lost", "lost", false, false },
	[LOST_S] = { "lost/s", "lost_per_s", false, true },
};

/* "+10%", "3ms", "5". NULL, or what is wrong. */
static const char *read_bound(const char *text, struct condition *c)
{
	double unit_ns;
	char *end;

	c->bound = strtod(text, &end);
	if (end == text || !isfinite(c->bound))
		return "the bound is no number";
	c->is_relative = !strcmp(end, "%");
	if (c->is_relative) {
		c->bound /= 100;
		return text[0] == '+' || text[0] == '-'
			       ? NULL
			       : "a share of A is +N% or -N%";
	}
	unit_ns = *end ? times_unit(end) : 1;
	if (*end && (unit_ns == 0 || !metrics[c->metric].is_time))
		return "the unit is none of ns, us, ms, s, m, h, d, %";
	c->bound *= unit_ns;
	return NULL;
}

const char *condition_read(char *text, struct condition *c)
{
	char *bound = text + strcspn(text, "<>"), *kind;
	int m;

	if (!*bound)
		return "no < or >";
	/* The last one: names of kinds may hold such signs. */
	while (bound[1 + strcspn(bound + 1, "<>")])
		bound += 1 + strcspn(bound + 1, "<>");
	c->is_above = *bound == '>';
	*bound++ = '\0';
	kind = strchr(text, ':');
	if (kind)
		*kind++ = '\0';
	for (m = 0; m < NR_METRICS && strcmp(text, metrics[m].name); m++)
		continue;
	if (m == NR_METRICS)
		return "the metric is none of count, total, mean, p50, p99, "
		       "max, wall, lost, count/s, total/s, lost/s";
	c->metric = (enum metric)m;
	if ((m < WALL) != (kind && *kind))
		return m < WALL ? "the kind is missing" : "it has no kind";
	snprintf(c->kind, sizeof(c->kind), "%s", kind ? kind : "");
	return read_bound(bound, c);
}

bool condition_holds(const struct condition *c, double a, double b)
{
	double bound = c->is_relative ? a * (1 + c->bound) : c->bound;

	return c->is_above ? b > bound : b < bound;
}
