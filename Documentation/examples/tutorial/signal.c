/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A signal: tasks change a number and say so, a thread looks at it whenever it
 * has changed, and the end of the signal ends the thread. Prints:
 *
 *   1000 changes, and the thread has seen the last one
 */
#include <lkdf/lkdf.h>

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define NR_CHANGES 1000

struct state {
	struct lkdf_event changed;
	atomic_long number;
	long seen; /* the thread only */
};

static int must(int rc)
{
	if (rc < 0) {
		fprintf(stderr, "%s\n", lkdf_errmsg());
		exit(1);
	}
	return rc;
}

static int change(struct lkdf_ctx *c, void *arg)
{
	struct state *s = *(struct state **)arg;

	(void)c;
	atomic_fetch_add(&s->number, 1);
	return lkdf_event_signal(s->changed, 0);
}

static void look_at_what_has_changed(struct state *s)
{
	s->seen = atomic_load(&s->number);
}

static void *watch(void *arg)
{
	struct state *s = arg;
	uint64_t seen = 0;

	while (!lkdf_event_next(s->changed, seen, -1)) {
		must(lkdf_event_pulses(s->changed, &seen));
		look_at_what_has_changed(s);
	}
	look_at_what_has_changed(s);
	return NULL;
}

int main(void)
{
	struct state state = { .number = 0 }, *s = &state;
	struct lkdf_kind *k;
	pthread_t thread;
	struct lkdf *rt;
	int i;

	must(lkdf_open(NULL, &rt));
	must(lkdf_event_create(rt, 1, LKDF_EVENT_PULSE, &s->changed));
	must(lkdf_kind_create(rt,
			      LKDF_ATTR(lkdf_kind_attr, .name = "change",
					.fn = change, .arg_size = sizeof(s)),
			      &k));
	if (pthread_create(&thread, NULL, watch, s))
		return 1;
	for (i = 0; i < NR_CHANGES; i++)
		must(lkdf_submit(rt, NULL,
				 LKDF_ATTR(lkdf_task, .kind = k, .arg = &s),
				 NULL));
	must(lkdf_scope_wait(rt, NULL, -1));
	must(lkdf_event_signal(s->changed, -ECANCELED));
	pthread_join(thread, NULL);
	printf("%ld changes, and the thread has seen the last one\n", s->seen);
	lkdf_event_put(s->changed);
	lkdf_kind_put(k);
	must(lkdf_close(rt));
	return 0;
}
