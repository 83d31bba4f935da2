/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * An OpenBLAS that makes threads itself, which the program is here: its number
 * of them becomes one, so workers that call it are never more threads than
 * workers.
 */
#include "tests/api/api.h"

static atomic_int nr_all = 8;

void openblas_set_num_threads(int nr);
int openblas_get_parallel(void);

void openblas_set_num_threads(int nr)
{
	atomic_store(&nr_all, nr);
}

int openblas_get_parallel(void)
{
	return 1; /* by threads of its own */
}

static int nr_threads(void)
{
	return atomic_load(&nr_all);
}

static atomic_int nr_running, most, nr_called, nr_wrong;

/* As a product of matrices: so many threads run for a while. */
static void multiply(void)
{
	int nr = nr_threads();
	int now = atomic_fetch_add(&nr_running, nr) + nr, was, i;

	was = atomic_load(&most);
	while (now > was && !atomic_compare_exchange_weak(&most, &was, now))
		;
	for (i = 0; i < 1000; i++)
		atomic_load(&nr_running);
	atomic_fetch_sub(&nr_running, nr);
}

static int body(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	if (nr_threads() != 1)
		atomic_fetch_add(&nr_wrong, 1);
	multiply();
	atomic_fetch_add(&nr_called, 1);
	(void)c;
	return 0;
}

static struct lkdf_kind *kind(struct lkdf *rt, const char *name, uint32_t flags,
			      uint32_t nr_cpus)
{
	struct lkdf_kind *k = NULL;

	must(lkdf_kind_create(rt,
			      LKDF_KIND(.name = name, .fn = body,
					.flags = flags | LKDF_SHARED,
					.nr_cpus = nr_cpus),
			      &k));
	return k;
}

int main(void)
{
	struct lkdf_kind *k[2];
	struct lkdf *rt;
	int i;

	tap_start(120);
	rt = api_open("workers=4,pin=no");
	k[0] = kind(rt, "plain", 0, 0);
	k[1] = kind(rt, "team", LKDF_TEAM, 3);
	for (i = 0; i < 3000; i++)
		must(lkdf_submit(rt, NULL,
				 ATTR(lkdf_task, .kind = k[i % 7 == 0]), NULL));
	is(lkdf_scope_wait(rt, NULL, -1), 0, "4 workers call OpenBLAS");
	is(atomic_load(&nr_called), 3000, "as often as they are to");
	is(atomic_load(&nr_wrong), 0, "each one thread");
	ok(atomic_load(&most) <= 4, "%d threads at most ran at a time",
	   (int)atomic_load(&most));
	lkdf_kind_put(k[0]);
	lkdf_kind_put(k[1]);
	must(lkdf_close(rt));
	return tap_end();
}
