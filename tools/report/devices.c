/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* How long each device was at kernels and at copies, at both, and at nothing.
 */
#include "report/find.h"
#include "utf8.h"
#include "words.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void devices_note_room(struct lane *l, const struct span *at)
{
	struct room *room = &l->room;
	uint64_t size = at->end - at->begin;

	room->nr++;
	room->total += size;
	if (size < room->max)
		return;
	room->max = size;
	room->at = (struct place){ at->begin, at->end, -1 };
}

void devices_note_name(struct report *r, const char *key, const char *value)
{
	unsigned number;
	char *name;

	if (sscanf(key, "device.%u", &number) != 1 || number >= MAX_DEVICES)
		return;
	name = r->device_name[number];
	snprintf(name, sizeof(r->device_name[0]), "%s", value);
	utf8_tame(name);
}

/* Where a row of the device begins or ends to be busy. */
struct edge {
	uint64_t at;
	int kernels, copies; /* +1, -1 */
};

static int by_time(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

static bool is_row_of(const struct lane *l, uint32_t number)
{
	return l->kind == LANE_DEVICE && l->device == number;
}

static struct device *device_of(struct report *r, uint32_t number)
{
	uint32_t i;

	for (i = 0; i < r->nr_devices; i++)
		if (r->device[i].number == number)
			return &r->device[i];
	r->device[r->nr_devices] = (struct device){ .number = number };
	return &r->device[r->nr_devices++];
}

static void add_room(struct room *to, const struct room *from)
{
	to->nr += from->nr;
	to->total += from->total;
	if (from->max <= to->max)
		return;
	to->max = from->max;
	to->at = from->at;
}

static void add_row(struct report *r, const struct lane *l)
{
	struct device *d = device_of(r, l->device);
	const char *last = strrchr(l->label, ' ');

	if (l->device < MAX_DEVICES && r->device_name[l->device][0])
		snprintf(d->name, sizeof(d->name), "%s",
			 r->device_name[l->device]);
	/* None was told: the label of a row without its last word. */
	if (!d->name[0])
		snprintf(d->name, sizeof(d->name), "%.*s",
			 (int)(last ? last - l->label : 60), l->label);
	add_room(&d->room, &l->room);
	if (l->sort != LKDF_LANE_COPIES) {
		d->nr_kernels += l->nr_slices;
		return;
	}
	d->nr_copies += l->nr_slices;
	if (last && !strcmp(last, " fetch"))
		d->down += l->bytes;
	else
		d->up += l->bytes;
}

static uint32_t add_edges(const struct report *r, const struct lane *l,
			  struct edge *e)
{
	bool is_copy = l->sort == LKDF_LANE_COPIES;
	const struct slice *s = r->slice + l->first;
	uint32_t i;

	for (i = 0; i < l->nr_slices; i++, s++) {
		e[2 * i] = (struct edge){ s->begin, !is_copy, is_copy };
		e[2 * i + 1] = (struct edge){ s->end, -!is_copy, -is_copy };
	}
	return 2 * l->nr_slices;
}

static uint32_t all_edges(const struct report *r, uint32_t number,
			  struct edge *e)
{
	uint32_t i, nr = 0;

	for (i = 0; i < r->nr_lanes; i++)
		if (is_row_of(&r->lane[i], number))
			nr += add_edges(r, &r->lane[i], e + nr);
	qsort(e, nr, sizeof(*e), by_time);
	return nr;
}

static void sweep_edges(struct report *r, struct device *d,
			const struct edge *e, uint32_t nr)
{
	int64_t kernels = 0, copies = 0;
	uint64_t since = 0, size, any = 0;
	uint32_t i;

	for (i = 0; i < nr; since = e[i++].at) {
		size = e[i].at - since;
		d->busy += kernels ? size : 0;
		d->copying += copies ? size : 0;
		d->both += kernels && copies ? size : 0;
		any += kernels || copies ? size : 0;
		kernels += e[i].kernels;
		copies += e[i].copies;
	}
	d->idle = r->wall > any ? r->wall - any : 0;
}

static int by_number(const void *a, const void *b)
{
	const struct device *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

int report_devices(struct report *r)
{
	uint32_t i, nr = 0;
	uint64_t nr_slices = 0;
	struct edge *e;

	for (i = 0; i < r->nr_lanes; i++) {
		if (r->lane[i].kind != LANE_DEVICE)
			continue;
		nr++;
		nr_slices += r->lane[i].nr_slices;
	}
	e = malloc((2 * nr_slices + 1) * sizeof(*e));
	r->device = calloc(nr + 1ull, sizeof(*r->device));
	if (!e || !r->device) {
		free(e);
		return -ENOMEM;
	}
	for (i = 0; i < r->nr_lanes; i++)
		if (r->lane[i].kind == LANE_DEVICE)
			add_row(r, &r->lane[i]);
	qsort(r->device, r->nr_devices, sizeof(*r->device), by_number);
	for (i = 0; i < r->nr_devices; i++) {
		nr = all_edges(r, r->device[i].number, e);
		sweep_edges(r, &r->device[i], e, nr);
	}
	free(e);
	return 0;
}

#define PUT(field, ...) snprintf(field, sizeof(field), __VA_ARGS__)

static uint64_t work_of(const struct report *r, const struct device *d)
{
	return r->wall - d->idle;
}

static const struct device *busiest(const struct report *r)
{
	const struct device *d, *best = NULL;

	for (d = r->device; d < r->device + r->nr_devices; d++)
		if (!best || work_of(r, d) > work_of(r, best))
			best = d;
	return best;
}

bool find_device(struct report *r)
{
	const struct device *d = busiest(r);
	struct finding *f;

	if (!d)
		return false;
	f = find_add(r, "device", FINDING_COST, find_part(r, STARVE_DEVICE));
	f->at = r->starved_gap.at;
	PUT(f->title, "Workers wait for device %u, %.96s", d->number, d->name);
	PUT(f->why,
	    "For %s of worker time no task was ready, and for %s of that a "
	    "device was at work. This one is at kernels for %s of the run and "
	    "at copies for %s, at both for %s.",
	    words_time(r->time[TIME_STARVED]).text,
	    words_share(
		    share_of(r->starved[STARVE_DEVICE], r->time[TIME_STARVED]))
		    .text,
	    words_share(share_of(d->busy, r->wall)).text,
	    words_share(share_of(d->copying, r->wall)).text,
	    words_share(share_of(d->both, r->wall)).text);
	if (d->copying > d->busy)
		PUT(f->fix, "copy less: data that stays on the device, "
			    "LKDF_DATA_ONCE, lkdf_data_prefetch()");
	else
		PUT(f->fix,
		    "work for the CPUs beside it: a kind with fn, tasks "
		    "with the place of a node");
	return true;
}
