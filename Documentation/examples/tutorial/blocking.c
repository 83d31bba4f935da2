/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Bodies that block run on threads of their own, made when needed, so that
 * they do not take a worker away. Four bodies meet at a barrier though there
 * is one worker. Prints:
 *
 *   four bodies have met, with one worker
 */
#include <lkdf/lkdf.h>
#include <pthread.h>
#include <stdio.h>

static int meet(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	pthread_barrier_wait(arg);
	return 0;
}

static int run(struct lkdf *rt, pthread_barrier_t *barrier)
{
	struct lkdf_kind_attr a = { .size = sizeof(a), .name = "meet" };
	struct lkdf_task t = { .size = sizeof(t), .arg = barrier };
	int i, rc;

	a.fn = meet;
	a.flags = LKDF_BLOCKING;
	rc = lkdf_kind_create(rt, &a, &t.kind);
	for (i = 0; i < 4 && !rc; i++)
		rc = lkdf_submit(rt, NULL, &t, NULL);
	if (!rc)
		rc = lkdf_scope_wait(rt, NULL, -1);
	lkdf_kind_put(t.kind);
	return rc;
}

int main(void)
{
	pthread_barrier_t barrier;
	struct lkdf *rt;
	int rc;

	rc = lkdf_open("workers=1,final", &rt);
	if (rc) {
		fprintf(stderr, "%s\n", lkdf_errmsg());
		return 1;
	}
	pthread_barrier_init(&barrier, NULL, 4);
	rc = run(rt, &barrier);
	if (rc)
		fprintf(stderr, "%s\n", lkdf_errmsg());
	else
		puts("four bodies have met, with one worker");
	lkdf_close(rt);
	pthread_barrier_destroy(&barrier);
	return rc ? 1 : 0;
}
