/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A list of lkdf_submit_many() beside a thread that uses the data which the
 * list is the first to write. Refused, again and again, it disturbs nobody;
 * taken, nobody reads before it has written.
 */
#include "tests/api/task/list.h"
#include "tests/api/using.h"

#include <pthread.h>
#include <sched.h>

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

struct reader {
	struct lkdf *rt;
	struct lkdf_data *fresh;
	struct lkdf_kind *k;
	int nr_other;
};

static int set_seven(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	*(uint64_t *)lkdf_ptr(c, 0) = 7;
	return 0;
}

static int expect_seven(struct lkdf_ctx *c, void *arg)
{
	const uint64_t *at = lkdf_ptr(c, 0);

	(void)arg;
	return at && *at == 7 ? 0 : -EPROTO;
}

/* Once a reader is taken it sees what the list has written. */
static void *read_when_taken(void *arg)
{
	struct reader *r = arg;
	struct lkdf_use use = ON(r->fresh, LKDF_READ);
	struct lkdf_event done;
	int rc;

	do
		rc = submit_on(r->rt, r->k, NULL, use, &done);
	while (rc == -ENODATA);
	if (!rc)
		rc = lkdf_event_wait(done, -1);
	r->nr_other += rc != 0;
	return NULL;
}

static void a_list_is_read_once_it_is_taken(struct lkdf *rt)
{
	struct lkdf_kind *sets = api_kind(rt, "sets", set_seven, 0, 0);
	struct lkdf_kind *idle = api_kind(rt, "idle", api_nothing, 0, 0);
	struct reader r = { .rt = rt };
	struct lkdf_use use;
	pthread_t thread;
	struct list l;
	int i;

	r.k = api_kind(rt, "expects", expect_seven, 0, 0);
	for (i = 0; i < 300; i++) {
		r.fresh = number(rt, NULL, NULL);
		use = ON(r.fresh, LKDF_WRITE);
		list_init(&l, (struct lkdf_task){ .kind = idle });
		l.task[NR_LIST - 1].kind = sets;
		l.task[NR_LIST - 1].use = &use;
		l.task[NR_LIST - 1].nr_use = 1;
		if (pthread_create(&thread, NULL, read_when_taken, &r))
			exit(1);
		must(lkdf_submit_many(rt, NULL, l.at, NR_LIST, NULL));
		pthread_join(thread, NULL);
		lkdf_scope_wait(rt, NULL, -1);
		lkdf_data_put(r.fresh);
	}
	is(r.nr_other, 0, "a reader beside a list sees what it has written");
	lkdf_kind_put(idle);
	lkdf_kind_put(sets);
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
		a_list_is_read_once_it_is_taken(rt);
		is(lkdf_close(rt), 0, "the runtime closes");
	}
	return tap_end();
}
