/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A body leaves for an event of another runtime and goes on, also in serial
 * mode, where no thread but the one that makes the event fire looks for it.
 */
#include "tests/api/api.h"

#include <pthread.h>
#include <string.h>

struct other {
	struct lkdf *rt;
	struct lkdf_kind *kind;
	struct lkdf_event on;
	atomic_int has_left;
	int nr;
};

static int go_on(struct lkdf_ctx *c, void *arg)
{
	struct other *o = arg;

	o->nr++;
	return lkdf_input_error(c, 0);
}

static int leave(struct lkdf_ctx *c, void *arg)
{
	struct other *o = arg;

	return lkdf_then(c, go_on, o->on);
}

/* By then the program waits for the one that has left. */
static int end_late(struct lkdf_ctx *c, void *arg)
{
	struct other *o = arg;

	(void)c;
	api_until(&o->has_left);
	api_nap_ns(20000000);
	return 0;
}

static void *signal_late(void *arg)
{
	struct other *o = arg;

	api_until(&o->has_left);
	api_nap_ns(20000000);
	must(lkdf_event_signal(o->on, 0));
	return NULL;
}

static void wait_for_it(struct lkdf *rt, struct other *o, const char *what)
{
	struct lkdf_kind *k = api_kind(rt, "leaves", leave, 0, 0);
	struct lkdf_event done;

	o->nr = 0;
	must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k, .arg = o),
			 &done));
	atomic_store(&o->has_left, 1);
	is(lkdf_event_wait(done, -1), 0, "%s ends", what);
	is(o->nr, 1, "it went on");
	atomic_store(&o->has_left, 0);
	lkdf_kind_put(k);
}

static void goes_on(const char *options, const char *other)
{
	struct lkdf *rt = api_open(options);
	struct other o = { .rt = api_open(other) };
	pthread_t thread;

	printf("# %s, %s\n", options, other);
	must(lkdf_event_create(o.rt, 1, 0, &o.on));
	pthread_create(&thread, NULL, signal_late, &o);
	wait_for_it(rt, &o, "a body that left for a signal");
	pthread_join(thread, NULL);
	if (strcmp(other, "serial=yes")) {
		o.kind = api_kind(o.rt, "late", end_late, 0, 0);
		must(lkdf_submit(o.rt, NULL,
				 ATTR(lkdf_task, .kind = o.kind, .arg = &o),
				 &o.on));
		wait_for_it(rt, &o, "one that left for a task");
		lkdf_kind_put(o.kind);
	}
	is(lkdf_close(rt), 0, "the runtime closes");
	is(lkdf_close(o.rt), 0, "and the other");
}

int main(void)
{
	tap_start(60);
	goes_on("serial=yes", "workers=1");
	goes_on("serial=yes", "serial=yes");
	goes_on("workers=1", "workers=2");
	goes_on("workers=2", "serial=yes");
	return tap_end();
}
