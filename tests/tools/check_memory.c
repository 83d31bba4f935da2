/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Scopes, limits and data that come and go below option check: their tokens go
 * with them. Prints "kept" if most of the memory has been given back.
 */
#include <lkdf/lkdf.h>
#include <stdio.h>
#include <stdlib.h>

#define NR_WARM 2000
#define NR_ROUNDS 10000
#define MOST_KIB 12000 /* without the tokens 4,500, with them 34,000 */

static void must(int rc)
{
	if (rc >= 0)
		return;
	fprintf(stderr, "%s\n", lkdf_errmsg());
	exit(1);
}

static int nothing(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	return 0;
}

static long resident_kib(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	long all = 0, resident = 0;

	if (!f || fscanf(f, "%ld %ld", &all, &resident) != 2)
		exit(1);
	fclose(f);
	return resident * 4;
}

static void come_and_go(struct lkdf *rt)
{
	struct lkdf_limit_use held = { .tokens = 1 };
	struct lkdf_use use = { .mode = LKDF_WRITE };
	struct lkdf_scope *s;
	struct lkdf_kind *k;

	must(lkdf_scope_create(rt, LKDF_ATTR(lkdf_scope_attr, .name = "s"),
			       &s));
	must(lkdf_limit_create(rt, 1, &held.limit));
	must(lkdf_kind_create(rt,
			      LKDF_KIND(.name = "nothing", .fn = nothing,
					.limit = &held, .nr_limit = 1),
			      &k));
	must(lkdf_data_create(rt, LKDF_ATTR(lkdf_data_attr, .bytes = 8),
			      &use.data));
	must(lkdf_submit(rt, s, LKDF_TASK(.kind = k, .use = &use, .nr_use = 1),
			 NULL));
	must(lkdf_scope_wait(rt, s, -1));
	lkdf_data_put(use.data);
	lkdf_kind_put(k);
	lkdf_limit_put(held.limit);
	lkdf_scope_put(s);
}

int main(void)
{
	long warm_kib = 0;
	struct lkdf *rt;
	int i;

	must(lkdf_open("", &rt));
	for (i = 0; i < NR_WARM + NR_ROUNDS; i++) {
		if (i == NR_WARM)
			warm_kib = resident_kib();
		come_and_go(rt);
	}
	i = (int)(resident_kib() - warm_kib);
	puts(i < MOST_KIB ? "kept" : "grew");
	fprintf(stderr, "%d KiB more\n", i);
	must(lkdf_close(rt));
	return 0;
}
