/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Two threads wait for one scope: the text that a thread gets is whole though
 * the other one takes the next error while the first is still on its way out.
 * This program has a pthread_mutex_unlock() of its own, in which the first
 * thread stands still until the other one has waited.
 */
#include "tests/api/api.h"

#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>

/* The first thread stands still at so many unlocks of one wait at most. */
#define MAX_UNLOCKS 4

static struct lkdf *rt;
static struct lkdf_scope *scope;
static struct lkdf_kind *kind;

/* The first thread's: stop after so many unlocks; 0: not. */
static __thread int nr_to_go;

static int fail_with(struct lkdf_ctx *c, void *arg)
{
	return lkdf_fail(c, -EIO, "%s", *(const char **)arg);
}

static void fail_once(const char *text)
{
	must(lkdf_submit(rt, scope, ATTR(lkdf_task, .kind = kind, .arg = &text),
			 NULL));
}

/*
 * Each wait with an error frees the failure of the one before, here and in the
 * root.
 */
static void *take_two_errors(void *unused)
{
	int i;

	(void)unused;
	for (i = 0; i < 2; i++) {
		fail_once("a later text");
		is(lkdf_scope_wait(rt, scope, -1), -EIO, "the other waits");
		is(lkdf_scope_wait(rt, NULL, -1), 0, "and the root");
	}
	return NULL;
}

__attribute__((unused)) static void let_other_wait(void)
{
	pthread_t t;

	must(-pthread_create(&t, NULL, take_two_errors, NULL));
	pthread_join(t, NULL);
}

#if !HAS_SANITIZER
int pthread_mutex_unlock(pthread_mutex_t *m)
{
	static int (*real)(pthread_mutex_t * m);
	int rc;

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "pthread_mutex_unlock");
	rc = real(m);
	if (nr_to_go && !--nr_to_go)
		let_other_wait();
	return rc;
}
#endif

/* The other thread may have taken the error: then there is none. */
static void text_is_whole(int nr_unlocks)
{
	const char *text;
	int rc;

	fail_once("the first text");
	/* Until it has failed: the wait itself has no other unlock then. */
	is(lkdf_scope_wait(rt, NULL, -1), -EIO, "the task has failed");
	nr_to_go = nr_unlocks;
	rc = lkdf_scope_wait(rt, scope, -1);
	nr_to_go = 0;
	text = lkdf_errmsg();
	ok(!rc || (rc == -EIO && strstr(text, "the first text")),
	   "after unlock %d its own text or no error (%d: %.20s)", nr_unlocks,
	   rc, rc ? text : "");
}

int main(void)
{
	int i;

	tap_start(30);
	if (HAS_SANITIZER) {
		skip("the text is whole", "the sanitizer has the unlock");
		return tap_end();
	}
	mallopt(M_PERTURB, 0x55);
	rt = api_open("workers=1");
	must(lkdf_scope_create(rt, ATTR(lkdf_scope_attr, .name = "shared"),
			       &scope));
	kind = api_kind(rt, "fails", fail_with, sizeof(char *), 0);
	for (i = 1; i <= MAX_UNLOCKS; i++)
		text_is_whole(i);
	lkdf_scope_put(scope);
	lkdf_kind_put(kind);
	is(lkdf_close(rt), 0, "the runtime closes");
	return tap_end();
}
