/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A task that only makes children need not wait for what they use. Here it
 * must not: the writer before it ends because of it. Prints:
 *
 *   parent: has made a child
 *   writer: 1
 *   child: 2
 */
#include <lkdf/lkdf.h>
#include <stdio.h>

struct program {
	struct lkdf_data *d;
	struct lkdf_kind *write, *parent, *child;
	struct lkdf_event parent_is_done;
};

static int write_now(struct lkdf_ctx *c, void *arg)
{
	int *v = lkdf_ptr(c, 0);

	(void)arg;
	*v = 1;
	printf("writer: %d\n", *v);
	return 0;
}

/* Writes after the parent, which comes behind it in the program. */
static int write_later(struct lkdf_ctx *c, void *arg)
{
	const struct program *p = arg;

	return lkdf_then(c, write_now, p->parent_is_done);
}

static int child(struct lkdf_ctx *c, void *arg)
{
	int *v = lkdf_ptr(c, 0);

	(void)arg;
	*v += 1;
	printf("child: %d\n", *v);
	return 0;
}

static int parent(struct lkdf_ctx *c, void *arg)
{
	const struct program *p = arg;
	struct lkdf_use use = { .data = p->d, .mode = LKDF_RW };
	struct lkdf_task t = { .size = sizeof(t), .kind = p->child };
	int rc;

	t.arg = p;
	t.use = &use;
	t.nr_use = 1;
	rc = lkdf_spawn_task(c, &t, NULL);
	puts("parent: has made a child");
	lkdf_event_signal(p->parent_is_done, 0);
	return rc;
}

static int submit_both(struct lkdf *rt, struct program *p)
{
	struct lkdf_use write = { .data = p->d, .mode = LKDF_WRITE };
	struct lkdf_use weak = { .data = p->d, .mode = LKDF_RW | LKDF_WEAK };
	struct lkdf_task t = { .size = sizeof(t), .arg = p, .nr_use = 1 };
	int rc;

	t.kind = p->write;
	t.use = &write;
	rc = lkdf_submit(rt, NULL, &t, NULL);
	t.kind = p->parent;
	t.use = &weak;
	return rc ? rc : lkdf_submit(rt, NULL, &t, NULL);
}

static int run(struct lkdf *rt, struct program *p)
{
	struct lkdf_data_attr d = { .size = sizeof(d), .bytes = sizeof(int) };
	struct lkdf_kind_attr a = { .size = sizeof(a), .name = "write" };
	int rc, all;

	a.fn = write_later;
	rc = lkdf_kind_create(rt, &a, &p->write);
	a.name = "parent";
	a.fn = parent;
	if (!rc)
		rc = lkdf_kind_create(rt, &a, &p->parent);
	a.name = "child";
	a.fn = child;
	if (!rc)
		rc = lkdf_kind_create(rt, &a, &p->child);
	if (!rc)
		rc = lkdf_data_create(rt, &d, &p->d);
	if (!rc)
		rc = lkdf_event_create(rt, 1, 0, &p->parent_is_done);
	if (!rc)
		rc = submit_both(rt, p);
	all = lkdf_scope_wait(rt, NULL, -1);
	return rc ? rc : all;
}

int main(void)
{
	struct program p = { 0 };
	struct lkdf *rt;
	int rc;

	if (lkdf_open(NULL, &rt))
		return 1;
	rc = run(rt, &p);
	if (rc)
		fprintf(stderr, "%s\n", lkdf_errmsg());
	lkdf_data_put(p.d);
	lkdf_kind_put(p.write);
	lkdf_kind_put(p.parent);
	lkdf_kind_put(p.child);
	return lkdf_close(rt) || rc ? 1 : 0;
}
