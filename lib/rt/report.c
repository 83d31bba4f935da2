/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "rt/report.h"

#include "channel/channel.h"
#include "core/failure.h"
#include "core/limit.h"
#include "core/runtime.h"
#include "graph/graph.h"
#include "scope/event.h"
#include "scope/scope.h"
#include "task/kind.h"

#include <lkdf/runtime.h>
#include <stdio.h>

#define MAX_NAMED 16

static void handle_text(struct handle *h, char *to, size_t size)
{
	switch (h->sort) {
	case HANDLE_KIND:
		snprintf(to, size, "kind \"%s\"",
			 container_of(h, struct lkdf_kind, handle)->name);
		break;
	case HANDLE_GRAPH:
		snprintf(to, size, "graph \"%s\"",
			 container_of(h, struct lkdf_graph, handle)->name);
		break;
	case HANDLE_SCOPE:
		snprintf(to, size, "scope \"%s\"",
			 container_of(h, struct lkdf_scope, handle)->name);
		break;
	case HANDLE_LIMIT:
		snprintf(to, size, "%s",
			 container_of(h, struct lkdf_limit, handle)->text);
		break;
	case HANDLE_CHANNEL:
		snprintf(to, size, "channel \"%s\"",
			 container_of(h, struct lkdf_channel, handle)->name);
		break;
	}
}

void report_handles(struct lkdf *rt)
{
	uint64_t all = a_load(&rt->nr_handles, relaxed), nr = 0;
	struct handle *h;
	struct list *l;
	char text[128];

	for (l = rt->handles.next; l != &rt->handles; l = l->next) {
		h = container_of(l, struct handle, list);
		h->is_orphan = true;
		handle_text(h, text, sizeof(text));
		if (nr++ < MAX_NAMED)
			log_text(&rt->log, LKDF_LOG_INFO, "close: not put: %s",
				 text);
	}
	if (nr > MAX_NAMED)
		log_text(&rt->log, LKDF_LOG_INFO,
			 "close: not put: %llu kinds, graphs, scopes, "
			 "limits and channels more",
			 (unsigned long long)(nr - MAX_NAMED));
	if (all > nr)
		log_text(&rt->log, LKDF_LOG_INFO,
			 "close: held by what was not put: %llu kinds, graphs, "
			 "scopes, limits or channels",
			 (unsigned long long)(all - nr));
}

struct lost_events {
	struct lkdf *rt;
	uint64_t nr, nr_users;
};

static void look_at_event(void *u, void *object)
{
	struct lost_events *lost = u;
	struct event *ev = object;

	if (!a_load(&ev->nr_refs, relaxed))
		return;
	lost->nr++;
	lost->nr_users += a_load(&ev->is_users, relaxed);
	failure_put(event_failure(ev), &lost->rt->log);
	ev->failure = NULL;
}

void report_events(struct lkdf *rt)
{
	struct lost_events lost = { .rt = rt };

	pool_each(&rt->pool[POOL_EVENT], look_at_event, &lost);
	if (lost.nr)
		log_text(&rt->log, LKDF_LOG_INFO,
			 "close: not put: %llu events, %llu of them made by "
			 "lkdf_event_create() or lkdf_hold()",
			 (unsigned long long)lost.nr,
			 (unsigned long long)lost.nr_users);
}
