/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A list of lkdf_submit_many() that is refused, again and again, beside a
 * thread that uses the data which the list would have been the first to write:
 * that thread notices nothing.
 */
#include "tests/api/using.h"

#include <pthread.h>
#include <sched.h>

#define NR_LIST 40

struct list {
	struct lkdf_task task[NR_LIST];
	const struct lkdf_task *at[NR_LIST];
};

/* All alike, to begin with. */
static void list_init(struct list *l, struct lkdf_task t)
{
	int i;

	t.size = sizeof(t);
	for (i = 0; i < NR_LIST; i++) {
		l->task[i] = t;
		l->at[i] = &l->task[i];
	}
}

struct refused {
	struct lkdf *rt;
	struct lkdf_data *fresh, *never;
	struct lkdf_kind *k;
	atomic_int go, is_over;
	int nr_wrong;
};

static void *refuse_lists(void *arg)
{
	struct refused *r = arg;
	struct lkdf_use use[2] = { ON(r->fresh, LKDF_WRITE),
				   ON(r->never, LKDF_READ) };
	struct list l;
	int i;

	list_init(&l, (struct lkdf_task){ .kind = r->k, .nr_use = 1 });
	for (i = 0; i < NR_LIST; i++)
		l.task[i].use = &use[i == NR_LIST - 1];
	atomic_store(&r->go, 1);
	while (!atomic_load(&r->is_over))
		r->nr_wrong += lkdf_submit_many(r->rt, NULL, l.at, NR_LIST,
						NULL) != -ENODATA;
	return NULL;
}

/* What the list would have written first, another writes or reads. */
static void a_refused_list_disturbs_nobody(struct lkdf *rt, uint32_t mode)
{
	struct refused r = { .rt = rt };
	int i, rc, nr_refused = 0, want = mode == LKDF_READ ? -ENODATA : 0;
	pthread_t thread;

	r.k = api_kind(rt, "nothing", api_nothing, 0, 0);
	r.never = number(rt, NULL, NULL);
	for (i = 0; i < 300; i++) {
		r.fresh = number(rt, NULL, NULL);
		atomic_store(&r.is_over, 0);
		atomic_store(&r.go, 0);
		if (pthread_create(&thread, NULL, refuse_lists, &r))
			exit(1);
		while (!atomic_load(&r.go))
			sched_yield();
		rc = submit_on(rt, r.k, NULL, ON(r.fresh, mode), NULL);
		atomic_store(&r.is_over, 1);
		pthread_join(thread, NULL);
		nr_refused += rc != want;
		rc = submit_on(rt, r.k, NULL, ON(r.fresh, LKDF_READ), NULL);
		nr_refused += rc != want;
		lkdf_data_put(r.fresh);
	}
	is(nr_refused, 0, "beside refused lists %s is as ever",
	   mode == LKDF_READ ? "what nobody writes" : "what one writes");
	is(r.nr_wrong, 0, "which all are");
	is(lkdf_scope_wait(rt, NULL, -1), 0, "all end");
	lkdf_data_put(r.never);
	lkdf_kind_put(r.k);
}

int main(void)
{
	static const char *const options[] = {
		"workers=1",
		"workers=2",
		"workers=4",
		"serial=yes",
	};
	struct lkdf *rt;
	size_t i;

	tap_start(240);
	for (i = 0; i < LENGTH(options); i++) {
		printf("# %s\n", options[i]);
		rt = api_open(options[i]);
		a_refused_list_disturbs_nobody(rt, LKDF_WRITE);
		a_refused_list_disturbs_nobody(rt, LKDF_READ);
		is(lkdf_close(rt), 0, "the runtime closes");
	}
	return tap_end();
}
