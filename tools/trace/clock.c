/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "trace/clock.h"

#include <errno.h>
#include <stdlib.h>

int trace_clock_add(struct trace_clock *c, uint64_t ticks, uint64_t ns)
{
	size_t cap = c->cap * 2 + 64;
	struct trace_pair *p;

	if (c->nr_pairs == c->cap) {
		p = realloc(c->pair, cap * sizeof(*p));
		if (!p)
			return -ENOMEM;
		c->pair = p;
		c->cap = cap;
	}
	c->pair[c->nr_pairs++] = (struct trace_pair){ ticks, ns };
	return 0;
}

int trace_clock_init(struct trace_clock *c, const struct lkdf_file_header *h)
{
	*c = (struct trace_clock){ .ticks_per_1024ns = h->ticks_per_1024ns };
	return trace_clock_add(c, h->start_ticks, h->start_ns);
}

/* The last pair that is not after ticks, but not the last of all. */
static size_t find_pair(struct trace_clock *c, uint64_t ticks)
{
	size_t low = 0, high = c->nr_pairs, mid;

	if (c->near + 1 < c->nr_pairs && c->pair[c->near].ticks <= ticks &&
	    ticks < c->pair[c->near + 1].ticks)
		return c->near;
	while (low < high) {
		mid = low + (high - low) / 2;
		if (c->pair[mid].ticks <= ticks)
			low = mid + 1;
		else
			high = mid;
	}
	if (low)
		low--;
	if (low && low + 1 == c->nr_pairs)
		low--;
	c->near = low;
	return low;
}

/* The product of two of these fits into 128 bits. */
static __int128 clipped(__int128 v)
{
	const __int128 most = INT64_MAX;

	return v > most ? most : v < -most ? -most : v;
}

int64_t trace_clock_ns(struct trace_clock *c, uint64_t ticks)
{
	size_t i = find_pair(c, ticks);
	const struct trace_pair *p = &c->pair[i];
	__int128 ns = 1024, per = c->ticks_per_1024ns;

	if (i + 1 < c->nr_pairs) {
		ns = clipped(p[1].ns - p[0].ns);
		per = p[1].ticks - p[0].ticks;
	}
	ns *= clipped((__int128)ticks - p->ticks);
	/* Down, also before the pair. */
	ns = ns < 0 ? -((-ns + per - 1) / per) : ns / per;
	ns += p->ns;
	if (ns > INT64_MAX)
		return INT64_MAX;
	return ns < INT64_MIN ? INT64_MIN : (int64_t)ns;
}

void trace_clock_fini(struct trace_clock *c)
{
	free(c->pair);
	*c = (struct trace_clock){ .pair = NULL };
}
