/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A thread outside the runtime takes its place among the tasks: it writes the
 * first bytes, and reads what has become of them. Prints:
 *
 *   not yet: 1
 *   now: hello, world
 *   in a body: Resource deadlock avoided
 */
#include <errno.h>
#include <lkdf/lkdf.h>
#include <stdio.h>
#include <string.h>

enum {
	BYTES = 32
};

static int append(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	strcat(lkdf_ptr(c, 0), ", world");
	return 0;
}

/* Appends when the event has fired, so that there is something to wait for. */
static int append_later(struct lkdf_ctx *c, void *arg)
{
	return lkdf_then(c, append, *(struct lkdf_event *)arg);
}

static int acquire(struct lkdf_ctx *c, void *arg)
{
	int rc = lkdf_data_acquire(arg, LKDF_READ, -1, NULL);

	(void)c;
	printf("in a body: %s\n", strerror(-rc));
	return rc == -EDEADLK ? 0 : -EBADMSG;
}

static int submit(struct lkdf *rt, lkdf_fn fn, void *arg,
		  const struct lkdf_use *use)
{
	struct lkdf_kind_attr a = { .size = sizeof(a), .name = "body" };
	struct lkdf_task t = { .size = sizeof(t), .arg = arg, .use = use };
	int rc;

	a.fn = fn;
	t.nr_use = use ? 1 : 0;
	rc = lkdf_kind_create(rt, &a, &t.kind);
	if (!rc)
		rc = lkdf_submit(rt, NULL, &t, NULL);
	lkdf_kind_put(t.kind);
	return rc;
}

static int write_first(struct lkdf_data *d)
{
	void *bytes;
	int rc;

	rc = lkdf_data_acquire(d, LKDF_WRITE, -1, &bytes);
	if (rc)
		return rc;
	strcpy(bytes, "hello");
	return lkdf_data_release(d);
}

/* Looks once, then waits. */
static int read_last(struct lkdf_data *d, struct lkdf_event go)
{
	void *bytes;
	int rc;

	rc = lkdf_data_acquire(d, LKDF_READ, 0, &bytes);
	printf("not yet: %d\n", rc);
	if (rc == 1)
		rc = lkdf_event_signal(go, 0);
	if (!rc)
		rc = lkdf_data_acquire(d, LKDF_READ, -1, &bytes);
	if (rc)
		return rc;
	printf("now: %s\n", (char *)bytes);
	return lkdf_data_release(d);
}

static int run(struct lkdf *rt, struct lkdf_data *d)
{
	struct lkdf_use rw = { d, LKDF_RW, 0 };
	struct lkdf_event go;
	int rc, all;

	rc = write_first(d);
	if (!rc)
		rc = lkdf_event_create(rt, 1, 0, &go);
	if (rc)
		return rc;
	rc = submit(rt, append_later, &go, &rw);
	if (!rc)
		rc = read_last(d, go);
	if (!rc)
		rc = submit(rt, acquire, d, NULL);
	all = lkdf_scope_wait(rt, NULL, -1);
	return rc ? rc : all;
}

int main(void)
{
	struct lkdf_data_attr a = { .size = sizeof(a), .bytes = BYTES };
	struct lkdf_data *d = NULL;
	struct lkdf *rt;
	int rc;

	if (lkdf_open(NULL, &rt))
		return 1;
	rc = lkdf_data_create(rt, &a, &d);
	if (!rc)
		rc = run(rt, d);
	if (rc)
		fprintf(stderr, "%s\n", lkdf_errmsg());
	lkdf_data_put(d);
	return lkdf_close(rt) || rc ? 1 : 0;
}
