/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The n-th allocation of lkdf_submit_many() and of a recording fails, for
 * n = 1, 2, .. until none is left: all or none, and all works afterwards.
 */
#include "tests/api/using.h"
#include "tests/faults/inject.h"

#define MAX_FAULTS 4000
#define NR_LIST 600
#define NR_DATA 5

struct faulty {
	struct lkdf *rt;
	struct lkdf_kind *adds;
	struct lkdf_data *d[NR_DATA], *fresh;
	struct lkdf_use use[NR_LIST][2];
	struct lkdf_task task[NR_LIST];
	const struct lkdf_task *at[NR_LIST];
	/* Copied; larger than what a task has room for. */
	char arg[300];
	int bad, broken, nr_refused, nr_failed;
};

static atomic_int nr_ran;

static int add_to(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	atomic_fetch_add(&nr_ran, 1);
	*(uint64_t *)lkdf_ptr(c, 0) += 1;
	return 0;
}

static void open_one(struct faulty *f)
{
	int i;

	memset(f, 0, sizeof(*f));
	f->rt = api_open_workers(2);
	f->adds = api_kind(f->rt, "adds", add_to, sizeof(f->arg), 0);
	for (i = 0; i < NR_DATA; i++)
		f->d[i] = number(f->rt, NULL, &(uint64_t){ 0 });
	f->fresh = number(f->rt, NULL, NULL);
	for (i = 0; i < NR_LIST; i++) {
		f->use[i][0] = ON(f->d[i % NR_DATA], LKDF_RW);
		f->use[i][1] = ON(f->fresh, i ? LKDF_READ : LKDF_WRITE);
		f->task[i] = (struct lkdf_task){ .size = sizeof(f->task[i]),
						 .kind = f->adds,
						 .arg = f->arg,
						 .use = f->use[i],
						 .nr_use = 2 };
		f->at[i] = &f->task[i];
	}
}

static int close_one(struct faulty *f)
{
	int i;

	for (i = 0; i < NR_DATA; i++)
		lkdf_data_put(f->d[i]);
	lkdf_data_put(f->fresh);
	lkdf_kind_put(f->adds);
	return lkdf_close(f->rt);
}

/* Each task adds one to one data. */
static uint64_t sum_of(struct faulty *f)
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i < NR_DATA; i++)
		sum += value_of(f->d[i]);
	return sum;
}

/* Without faults: all of the list. */
static bool is_whole(struct faulty *f)
{
	uint64_t before = sum_of(f);
	struct lkdf_event done;

	return !lkdf_submit_many(f->rt, NULL, f->at, NR_LIST, &done) &&
	       !lkdf_event_wait(done, -1) && sum_of(f) == before + NR_LIST;
}

/* Return: has the fault come? */
static bool submit_with_fault(struct faulty *f, int n)
{
	struct lkdf_event done;
	int rc, end = 0;
	bool came;

	atomic_store(&nr_ran, 0);
	inject(n);
	rc = lkdf_submit_many(f->rt, NULL, f->at, NR_LIST, &done);
	if (!rc)
		end = lkdf_event_wait(done, -1);
	came = inject_came();
	inject(0);
	lkdf_scope_wait(f->rt, NULL, -1);
	f->nr_refused = rc != 0;
	f->nr_failed = end != 0;
	f->bad = rc && rc != -ENOMEM && rc != -EAGAIN;
	f->bad += end && end != -ENOMEM;
	if (!rc && !end)
		f->bad += atomic_load(&nr_ran) != NR_LIST;
	if (rc)
		f->bad += atomic_load(&nr_ran) || sum_of(f) ||
			  submit_on(f->rt, f->adds, f->arg,
				    ON(f->fresh, LKDF_READ), NULL) != -ENODATA;
	return came;
}

/* Where a task has failed for want of memory its data is written anew. */
static void heal(struct faulty *f)
{
	void *bytes;
	int i;

	for (i = 0; i < NR_DATA; i++) {
		must(lkdf_data_acquire(f->d[i], LKDF_WRITE, -1, &bytes));
		*(uint64_t *)bytes = 0;
		must(lkdf_data_release(f->d[i]));
	}
}

static void a_list_is_all_or_none(void)
{
	int n, bad = 0, broken = 0, nr_refused = 0, nr_failed = 0;
	struct faulty f;
	bool came = true;

	for (n = 1; n < MAX_FAULTS && came; n++) {
		open_one(&f);
		came = submit_with_fault(&f, n);
		if (f.bad)
			printf("# fault %d: %s\n", n, lkdf_errmsg());
		if (f.nr_failed)
			heal(&f);
		bad += f.bad != 0;
		nr_refused += f.nr_refused;
		nr_failed += f.nr_failed;
		broken += !is_whole(&f);
		broken += close_one(&f) != 0;
	}
	ok(!came, "a list: all %d faults came (%d refused, %d failed later)",
	   n - 2, nr_refused, nr_failed);
	ok(nr_refused > 0, "some were refused");
	is(bad, 0, "each ran all or none");
	is(broken, 0, "all worked afterwards");
}

/* Records, seals, runs twice. Return: 0 or the first error. */
static int record(struct faulty *f)
{
	struct lkdf_graph *g = NULL;
	struct lkdf_scope *s = NULL;
	struct lkdf_event done;
	int i, rc = 0, first = 0, sealed;

	rc = lkdf_scope_create(f->rt, NULL, &s);
	if (!rc)
		rc = lkdf_graph_create(f->rt, NULL, &g);
	if (!rc)
		rc = lkdf_graph_record(g, s);
	for (i = 0; i < NR_LIST && rc >= 0; i++)
		rc = lkdf_submit(f->rt, s, &f->task[i], NULL);
	first = rc < 0 ? rc : 0;
	if (g) {
		sealed = lkdf_graph_seal(g, NULL);
		if (first && i && !sealed)
			first = -EPROTO; /* it had been refused */
		else if (sealed)
			first = sealed;
	}
	for (i = 0; i < 2 && !first; i++) {
		first = lkdf_graph_run(g, s, NULL, &done);
		if (!first)
			first = lkdf_event_wait(done, -1);
	}
	lkdf_scope_wait(f->rt, NULL, -1);
	lkdf_graph_put(g);
	lkdf_scope_put(s);
	return first;
}

static void a_recording_is_whole(void)
{
	int n, rc, bad = 0, broken = 0, nr_errors = 0;
	struct faulty f;
	bool came = true;

	for (n = 1; n < MAX_FAULTS && came; n++) {
		open_one(&f);
		atomic_store(&nr_ran, 0);
		inject(n);
		rc = record(&f);
		came = inject_came();
		inject(0);
		nr_errors += rc != 0;
		bad += rc && rc != -ENOMEM && rc != -EAGAIN;
		bad += !rc && atomic_load(&nr_ran) != 2 * NR_LIST;
		if (rc && rc != -ENOMEM && rc != -EAGAIN)
			printf("# fault %d: %d %s\n", n, rc, lkdf_errmsg());
		heal(&f);
		broken += record(&f) != 0;
		broken += sum_of(&f) != 2 * NR_LIST;
		broken += close_one(&f) != 0;
	}
	ok(!came, "a recording: all %d faults came (%d gave an error)", n - 2,
	   nr_errors);
	ok(nr_errors > 0, "some gave an error");
	is(bad, 0, "each gave -ENOMEM or -EAGAIN or was got around");
	is(broken, 0, "all worked afterwards");
}

int main(void)
{
	tap_start(240);
	if (!inject_init((void *)(uintptr_t)lkdf_open)) {
		printf("1..0 # SKIP faults cannot be injected here\n");
		return 0;
	}
	a_list_is_all_or_none();
	a_recording_is_whole();
	return tap_end();
}
