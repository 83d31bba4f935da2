/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A task whose end comes from elsewhere: the body starts something that
 * answers later (here a thread, it may be any callback), holds, and returns.
 * The task is complete when the event has been signalled, and whoever waits
 * for the task waits for that. Prints:
 *
 *   body: asked
 *   answer: 42
 *   main: the task is complete
 */
#include <lkdf/lkdf.h>
#include <pthread.h>
#include <stdio.h>

struct question {
	struct lkdf_event answered;
	pthread_mutex_t lock; /* orders the two lines */
	pthread_t thread;
};

static void *answer(void *arg)
{
	struct question *q = arg;

	pthread_mutex_lock(&q->lock);
	puts("answer: 42");
	pthread_mutex_unlock(&q->lock);
	lkdf_event_signal(q->answered, 0);
	return NULL;
}

static int ask(struct lkdf_ctx *c, void *arg)
{
	struct question *q = arg;
	int rc;

	rc = lkdf_hold(c, &q->answered);
	if (rc)
		return rc;
	pthread_mutex_lock(&q->lock);
	rc = -pthread_create(&q->thread, NULL, answer, q);
	if (rc)
		lkdf_event_signal(q->answered, rc);
	else
		puts("body: asked");
	pthread_mutex_unlock(&q->lock);
	return 0;
}

int main(void)
{
	struct lkdf_kind_attr a = { .size = sizeof(a), .name = "ask" };
	struct question q = { .lock = PTHREAD_MUTEX_INITIALIZER };
	struct lkdf_task t = { .size = sizeof(t) };
	struct lkdf_event done;
	struct lkdf *rt;
	int rc;

	rc = lkdf_open(NULL, &rt);
	if (rc) {
		fprintf(stderr, "%s\n", lkdf_errmsg());
		return 1;
	}
	a.fn = ask;
	t.arg = &q;
	rc = lkdf_kind_create(rt, &a, &t.kind);
	if (!rc)
		rc = lkdf_submit(rt, NULL, &t, &done);
	if (!rc)
		rc = lkdf_event_wait(done, -1);
	if (!rc) {
		pthread_join(q.thread, NULL);
		puts("main: the task is complete");
	} else {
		fprintf(stderr, "%s\n", lkdf_errmsg());
	}
	lkdf_kind_put(t.kind);
	lkdf_close(rt);
	return rc ? 1 : 0;
}
