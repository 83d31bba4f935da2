/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "rt/watch.h"

#include "base/err.h"
#include "base/helper.h"
#include "base/options.h"
#include "core/watch.h"
#include "rt/stuck.h"
#include "rt/why.h"
#include "scope/scope.h"

#include <errno.h>
#include <lkdf/runtime.h>
#include <stdlib.h>
#include <string.h>

#define SECOND_NS 1000000000ll

/* It looks so often in the time that all may stand still. */
#define NR_LOOKS 4

/* The state that the last look has seen. */
struct seen {
	uint64_t nr_ended;
	int64_t since_ns; /* it ended, as far as is known */
	bool is_told;
};

/* ---- telling ------------------------------------------------------------ */

static void tell_stall(struct lkdf *rt)
{
	log_text(&rt->log, LKDF_LOG_ERROR,
		 "stall: nothing has ended for %d s, lkdf_why() says:",
		 (int)rt->options->stall);
	why_log(rt, "stall");
}

/* ---- looking ------------------------------------------------------------ */

static uint64_t count_ended(struct watch *w)
{
	uint64_t sum = a_load(&w->rt->root->departed, relaxed);
	int i;

	for (i = 0; i < w->nr_slots; i++)
		sum += a_load(&w->slot[i].nr_ended, relaxed);
	return sum;
}

static void look_at_runtime(struct watch *w, struct seen *seen)
{
	uint64_t nr = count_ended(w);
	int64_t now = clock_now_ns();

	if (nr != seen->nr_ended) {
		seen->nr_ended = nr;
		seen->since_ns = now;
		seen->is_told = false;
	} else if (!seen->is_told && now - seen->since_ns >= w->patience_ns) {
		seen->is_told = true;
		tell_stall(w->rt);
		if (w->rt->sched.order.is_on)
			stuck_stalled(w->rt);
	}
}

/* False: nothing is open, and it has slept until something was, or STOP. */
static bool has_open(struct watch *w)
{
	uint32_t word = watch_clear(w);

	/* The seats of a gang never end of themselves. */
	if (scope_live(w->rt->root) > a_load(&w->rt->nr_seats, relaxed))
		return true;
	futex_wait(&w->word, word, -1);
	return false;
}

static void *watch_main(void *arg)
{
	struct watch *w = arg;
	struct seen seen = { count_ended(w), clock_now_ns(), false };

	pthread_setname_np(pthread_self(), "lkdf/stall");
	while (!(a_load(&w->word, relaxed) & WATCH_STOP)) {
		if (!has_open(w)) {
			seen = (struct seen){ count_ended(w), clock_now_ns(),
					      false };
			continue;
		}
		a_or(&w->word, WATCH_OPEN, relaxed);
		futex_wait(&w->word, WATCH_OPEN, w->patience_ns / NR_LOOKS);
		look_at_runtime(w, &seen);
	}
	thread_retire();
	return NULL;
}

/* ---- life --------------------------------------------------------------- */

int watch_init(struct lkdf *rt)
{
	size_t nr = (size_t)rt->nr_executors, size;
	struct watch *w;

	if (!rt->options->stall)
		return 0;
	size = sizeof(*w) + nr * sizeof(w->slot[0]);
	w = aligned_alloc(CACHE_LINE, size);
	if (!w)
		return err(-ENOMEM, "stall: no memory for %zu executors", nr);
	memset((void *)w, 0, size);
	w->rt = rt;
	w->nr_slots = rt->nr_executors;
	w->patience_ns = rt->options->stall * SECOND_NS;
	rt->watch = w;
	/* A submitter takes the long way, and comes by. */
	rt->root->is_limited = true;
	return 0;
}

/* The new thread starts with all signals blocked. */
int watch_start(struct lkdf *rt)
{
	struct watch *w = rt->watch;
	int rc;

	if (!w)
		return 0;
	rc = helper_start(&w->thread, NULL, watch_main, w);
	return rc ? err(-EAGAIN, "stall: no thread to watch: %s", strerror(rc))
		  : 0;
}

void watch_stop(struct lkdf *rt)
{
	struct watch *w = rt->watch;

	if (!w)
		return;
	check(!(a_load(&w->word, relaxed) & WATCH_STOP));
	a_or(&w->word, WATCH_STOP, relaxed);
	futex_wake(&w->word, 1);
	pthread_join(w->thread, NULL);
}

void watch_fini(struct lkdf *rt)
{
	free(rt->watch);
	rt->watch = NULL;
}
