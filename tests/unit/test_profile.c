/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A task with LKDF_PROFILE leaves an event for each of its bodies, without any
 * recording; others of its kind leave none.
 */
#include "core/runtime.h"
#include "task/kind.h"
#include "tests/api/api.h"
#include "trace/ring.h"

#define NR_TASKS 40
#define NAP_NS 2000000

static int go_on(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	return 0;
}

static int body(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	api_nap_ns(NAP_NS);
	return lkdf_then(c, go_on, (struct lkdf_event){ 0 });
}

/* Of all rings; *longest: ns. The ring holds more than there are. */
static int nr_events(struct lkdf *rt, uint32_t name, uint64_t *longest)
{
	struct trace_ring *r;
	uint64_t i, head, word, ns;
	int nr = 0, e;

	for (e = 0; e < rt->nr_workers; e++) {
		r = rt->executors[e].ring;
		head = a_load(&r->event_head, relaxed);
		for (i = 0; i < head && i < EVENT_RECORDS; i++) {
			word = a_load(&r->events[3 * i + 1], relaxed);
			if ((uint32_t)word != EVENT_TASK || word >> 32 != name)
				continue;
			nr++;
			ns = a_load(&r->events[3 * i + 2], relaxed);
			*longest = ns > *longest ? ns : *longest;
		}
	}
	return nr;
}

static void submit(struct lkdf *rt, struct lkdf_kind *k, uint32_t flags)
{
	struct lkdf_task t = { .size = sizeof(t), .kind = k, .flags = flags };

	if (lkdf_submit(rt, NULL, &t, NULL))
		abort();
}

static void events_are_of_profiled_tasks(const char *options)
{
	struct lkdf *rt = api_open(options);
	struct lkdf_kind *k = api_kind(rt, "nap", body, 0, LKDF_SHARED);
	uint64_t longest = 0;
	int i;

	for (i = 0; i < NR_TASKS; i++)
		submit(rt, k, i % 10 ? 0 : LKDF_PROFILE);
	is(lkdf_scope_wait(rt, NULL, -1), 0, "%s: tasks end", options);
	is(nr_events(rt, k->trace_name, &longest), 2 * NR_TASKS / 10,
	   "two events for each that is profiled");
	/* Two clocks; an emulated one may be far off. */
	ok(longest >= NAP_NS / 4, "the longest has its nap in it, in ns");
	lkdf_kind_put(k);
	is(lkdf_close(rt), 0, "the runtime closes");
}

int main(void)
{
	events_are_of_profiled_tasks("workers=2");
	events_are_of_profiled_tasks("serial");
	return tap_end();
}
