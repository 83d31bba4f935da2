/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* lkdf top: what devices do, each by the counters of its launcher. */
#include "top/top.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[NR_UNIT_COUNTERS] = {
	[UNIT_KERNELS] = "device.kernels",
	[UNIT_KERNELS_NS] = "device.kernels_ns",
	[UNIT_COPIES_NS] = "device.copies_ns",
	[UNIT_UP] = "device.uploaded_bytes",
	[UNIT_DOWN] = "device.fetched_bytes",
};

/* Counters "device.*" by name, over all runtimes. */
static struct top_device *device_of(struct top *t, const struct stats *s,
				    uint32_t i)
{
	const char *name = stats_counter_name(s, i);
	struct top_device *d;

	for (d = t->device; d < t->device + t->nr_devices; d++)
		if (!strcmp(d->name, name))
			return d;
	if (t->nr_devices == TOP_DEVICE_COUNTERS)
		return NULL;
	memset(d, 0, sizeof(*d));
	snprintf(d->name, sizeof(d->name), "%s", name);
	snprintf(d->unit, sizeof(d->unit), "%s", stats_counter_unit(s, i));
	t->nr_devices++;
	return d;
}

static void look_at_counters(struct top *t)
{
	static const char prefix[] = "device.";
	uint64_t sum[TOP_DEVICE_COUNTERS] = { 0 };
	const struct stats *s;
	struct top_device *d;
	uint32_t i;

	for (s = t->stats; s < t->stats + t->nr_stats; s++)
		for (i = 0; i < s->h.nr_counters; i++) {
			if (strncmp(stats_counter_name(s, i), prefix,
				    sizeof(prefix) - 1))
				continue;
			d = device_of(t, s, i);
			if (d)
				sum[d - t->device] += stats_sum(s, i);
		}
	for (i = 0; i < t->nr_devices; i++) {
		d = &t->device[i];
		/* A runtime has gone: what is left began anew. */
		if (sum[i] < d->before)
			d->before = sum[i];
		d->rate = (double)(sum[i] - d->before) / t->seconds;
		d->before = sum[i];
	}
}

/* A device that was not there at the look before begins at 0. */
static struct top_unit *unit_of(struct top *t, uint32_t runtime,
				uint32_t number)
{
	struct top_unit *u;

	for (u = t->unit; u < t->unit + t->nr_units; u++)
		if (u->runtime == runtime && u->number == number)
			return u;
	u = realloc(t->unit, (t->nr_units + 1) * sizeof(*u));
	if (!u)
		return NULL;
	t->unit = u;
	u += t->nr_units++;
	memset(u, 0, sizeof(*u));
	u->runtime = runtime;
	u->number = number;
	return u;
}

static void look_at_unit(const struct top *t, struct top_unit *u,
			 const struct lkdf_stats_device *d)
{
	const struct stats *s = &t->stats[u->runtime];
	uint64_t v;
	int i;

	u->d = *d;
	for (i = 0; i < NR_UNIT_COUNTERS; i++) {
		v = stats_device_counter(s, d, names[i]);
		/* Another runtime has its place now. */
		if (v < u->before[i])
			u->before[i] = v;
		u->rate[i] = (double)(v - u->before[i]) / t->seconds;
		u->before[i] = v;
	}
}

void top_devices(struct top *t)
{
	struct lkdf_stats_device d;
	struct top_unit *u;
	uint32_t i;
	unsigned r;

	look_at_counters(t);
	for (r = 0; r < t->nr_stats; r++)
		for (i = 0; stats_device(&t->stats[r], i, &d); i++) {
			u = unit_of(t, r, i);
			if (u)
				look_at_unit(t, u, &d);
		}
	/* Units of a runtime that has gone. */
	while (t->nr_units && t->unit[t->nr_units - 1].runtime >= t->nr_stats)
		t->nr_units--;
}
