/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A load that must not lose a task while CPUs come and go: trees of bodies,
 * one after another from a thread of its own until it is told to stop, each
 * counted to the last one.
 */
#ifndef TESTS_VM_LOAD_H
#define TESTS_VM_LOAD_H

#include "tests/vm/vm.h"

#include <pthread.h>

#define LOAD_DEPTH 7

struct load {
	struct lkdf *rt;
	pthread_t thread;
	atomic_int is_over, nr_trees, nr_bodies, nr_errors;
};

static struct lkdf_kind *load_kind;
static struct load *load_now;

static int load_body(struct lkdf_ctx *c, void *arg)
{
	int depth = *(int *)arg - 1, i;
	volatile int work;

	atomic_fetch_add(&load_now->nr_bodies, 1);
	for (work = 0; work < 2000; work++)
		;
	for (i = 0; i < 2 && depth > 0; i++)
		must(lkdf_spawn(c, load_kind, &depth));
	return 0;
}

static void *load_main(void *arg)
{
	struct load *l = arg;
	int depth = LOAD_DEPTH;

	do {
		if (api_call(l->rt, load_kind, &depth))
			atomic_fetch_add(&l->nr_errors, 1);
		atomic_fetch_add(&l->nr_trees, 1);
	} while (!atomic_load(&l->is_over));
	return NULL;
}

__attribute__((unused)) static void load_start(struct load *l, struct lkdf *rt)
{
	memset(l, 0, sizeof(*l));
	l->rt = rt;
	load_now = l;
	load_kind = api_kind(rt, "load", load_body, sizeof(int), 0);
	if (pthread_create(&l->thread, NULL, load_main, l))
		vm_die("cannot start", "a thread");
}

/* Until so many more trees have run to their end. */
__attribute__((unused)) static void load_goes_on(struct load *l, int nr)
{
	int want = atomic_load(&l->nr_trees) + nr;

	while (atomic_load(&l->nr_trees) < want)
		api_nap_ns(200000);
}

__attribute__((unused)) static void load_stop(struct load *l)
{
	atomic_store(&l->is_over, 1);
	pthread_join(l->thread, NULL);
	is(l->nr_errors, 0, "no tree ended with an error");
	is(l->nr_bodies, l->nr_trees * ((1 << LOAD_DEPTH) - 1),
	   "no body of %d trees was lost", l->nr_trees);
	lkdf_kind_put(load_kind);
}

#endif
