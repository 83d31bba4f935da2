/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Names of the runtime's threads, and the function that each of them calls
 * before its first body.
 */
#include "tests/api/api.h"

#include <pthread.h>
#include <semaphore.h>

#define MAX_BEGUN 64

static struct begun {
	sem_t posted;
	atomic_int nr, nr_bad;
	atomic_int times[MAX_BEGUN]; /* by executor */
	const char *name;
} begun;

static __thread int mine = -1;

static void thread_begins(void *u, const struct lkdf_thread *t)
{
	struct begun *b = u;
	char name[16] = "";

	pthread_getname_np(pthread_self(), name, sizeof(name));
	if (t->size != sizeof(*t) || strcmp(name, t->name) ||
	    strncmp(name, b->name, strlen(b->name)) ||
	    name[strlen(b->name)] != '/' || t->executor < 0 ||
	    t->executor >= MAX_BEGUN || mine >= 0) {
		printf("# executor %d, name %s\n", t->executor, name);
		atomic_fetch_add(&b->nr_bad, 1);
		return;
	}
	mine = t->executor;
	atomic_fetch_add(&b->times[t->executor], 1);
	atomic_fetch_add(&b->nr, 1);
	if (t->executor < 3)
		sem_post(&b->posted);
}

static int is_mine(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	return mine == lkdf_worker(c) ? 0 : -EPROTO;
}

static struct lkdf *open_with(const char *options, const char *name)
{
	struct lkdf *rt;

	memset(&begun, 0, sizeof(begun));
	sem_init(&begun.posted, 0, 0);
	begun.name = name ? name : "lkdf";
	must(lkdf_open_with(ATTR(lkdf_open_attr, .options = options,
				 .u = &begun, .thread_name = name,
				 .thread_begins = thread_begins),
			    &rt));
	return rt;
}

static void each_thread_begins_once(const char *name)
{
	struct lkdf *rt = open_with("workers=3", name);
	struct lkdf_kind *plain = api_kind(rt, "plain", is_mine, 0, 0);
	struct lkdf_kind *blocks =
		api_kind(rt, "blocks", is_mine, 0, LKDF_BLOCKING);
	int i;

	for (i = 0; i < 3; i++)
		sem_wait(&begun.posted);
	for (i = 0; i < 3; i++)
		is(atomic_load(&begun.times[i]), 1, "%s: worker %d began once",
		   begun.name, i);
	for (i = 0; i < 20; i++)
		must(lkdf_submit(
			rt, NULL,
			ATTR(lkdf_task, .kind = i % 2 ? plain : blocks), NULL));
	is(lkdf_scope_wait(rt, NULL, -1), 0,
	   "bodies run on threads that have begun");
	ok(atomic_load(&begun.nr) > 3, "those of the blocking pool, too");
	is(atomic_load(&begun.nr_bad), 0, "each has its name");
	lkdf_kind_put(plain);
	lkdf_kind_put(blocks);
	must(lkdf_close(rt));
}

static void no_thread_begins_in_serial_mode(void)
{
	struct lkdf *rt = open_with("serial=yes", "none");

	must(lkdf_scope_wait(rt, NULL, -1));
	is(atomic_load(&begun.nr), 0, "serial=yes: no thread begins");
	must(lkdf_close(rt));
}

static void a_long_name_is_refused(void)
{
	struct lkdf *rt = NULL;

	is(lkdf_open_with(ATTR(lkdf_open_attr, .thread_name = "12345678"), &rt),
	   -EINVAL, "a name of eight bytes");
	ok(strstr(lkdf_errmsg(), "thread_name \"12345678\""), "by name");
}

int main(void)
{
	tap_start(60);
	each_thread_begins_once("mine");
	each_thread_begins_once("1234567");
	each_thread_begins_once(NULL);
	no_thread_begins_in_serial_mode();
	a_long_name_is_refused();
	return tap_end();
}
