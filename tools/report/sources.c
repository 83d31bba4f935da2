/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The facts of the recording on which findings rest. */
#include "report/find.h"

#include <stdio.h>
#include <string.h>

/* The CPU's counts have sources of their own. */
const char *find_cpu_source(const struct report *r)
{
	double seen = share_of(r->probe_ns, worker_time(r));

	if (!r->has.cpu)
		return NULL;
	if (seen < LEAST_SEEN)
		return "schedstat";
	return seen < MOST_SEEN ? "probe and schedstat" : "probe";
}

static const char *source_of(const char *id)
{
	static const struct {
		const char *id, *source;
	} rows[] = {
		{ "starved", "bodies, since when tasks were ready, waits" },
		{ "late", "bodies, since when tasks were ready" },
		{ "region", "bodies, since when tasks were ready" },
		{ "load", "bodies, since when tasks were ready" },
		{ "idle", "bodies" },
		{ "short", "bodies" },
		{ "workers", "bodies" },
		{ "chain", "bodies, who made them ready" },
		{ "order", "bodies, the data that they waited for" },
		{ "narrow", "events of option narrow" },
		{ "pool", "bodies, since when tasks were ready" },
		{ "limit", "waits for tokens" },
		{ "window", "waits for room" },
		{ "io", "operations" },
		{ "enter", "calls of io_uring_enter(2)" },
		{ "device", "rows of devices" },
		{ "remote", "bytes of bodies, by node" },
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strcmp(rows[i].id, id))
			return rows[i].source;
	return "the recording as a whole";
}

void find_source(struct finding *f, const char *source)
{
	size_t used = strlen(f->why);

	f->source = source ? source : source_of(f->id);
	snprintf(f->why + used, sizeof(f->why) - used, " Source: %s.",
		 f->source);
}

void find_sources(struct report *r)
{
	unsigned i;

	for (i = 0; i < r->nr_findings; i++)
		if (!r->finding[i].source)
			find_source(&r->finding[i], NULL);
}
