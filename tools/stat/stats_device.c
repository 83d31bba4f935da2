/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The table of devices in the memfd of a runtime. */
#include "stat/stats.h"

#include "utf8.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static bool has_devices(const struct stats *s)
{
	const uint64_t at = s->h.device_table_offset;

	return at && at % 8 == 0 && at <= s->size &&
	       LKDF_STATS_DEVICES * sizeof(struct lkdf_stats_device) <=
		       s->size - at;
}

bool stats_device(const struct stats *s, uint32_t i,
		  struct lkdf_stats_device *to)
{
	const struct lkdf_stats_device *d;

	if (i >= LKDF_STATS_DEVICES || !has_devices(s))
		return false;
	d = (const void *)(s->base + s->h.device_table_offset);
	d += i;
	/* [device.told] as above. */
	if (!atomic_load_explicit(
		    (const _Atomic(uint32_t) *)(const void *)&d->is_there,
		    memory_order_acquire))
		return false;
	memcpy(to, d, sizeof(*to));
	to->sort[sizeof(to->sort) - 1] = '\0';
	to->name[sizeof(to->name) - 1] = '\0';
	utf8_tame(to->sort);
	utf8_tame(to->name);
	return true;
}

bool stats_launcher(const struct stats *s, uint32_t executor, char *to,
		    size_t size)
{
	struct lkdf_stats_device d;
	uint32_t i;

	for (i = 0; i < LKDF_STATS_DEVICES && stats_device(s, i, &d); i++) {
		if (d.executor != executor + 1)
			continue;
		snprintf(to, size, "d%u %s", i, d.sort);
		return true;
	}
	return false;
}

uint64_t stats_device_counter(const struct stats *s,
			      const struct lkdf_stats_device *d,
			      const char *name)
{
	uint32_t i = stats_counter_find(s, name);

	if (!d->executor || d->executor > s->h.nr_executors ||
	    i == s->h.nr_counters)
		return 0;
	return stats_counter(s, d->executor - 1, i);
}
