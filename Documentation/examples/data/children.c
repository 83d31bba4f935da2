/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A task has children that use its data. They are ordered among themselves,
 * nobody outside comes between them, and what is submitted later waits for
 * them all. Their uses lie within those of the parent. Prints:
 *
 *   children: 1 2 3 4
 *   a child that writes what the parent only reads: Permission denied
 */
#include <errno.h>
#include <lkdf/lkdf.h>
#include <stdio.h>
#include <string.h>

enum {
	NR = 4
};

struct kinds {
	struct lkdf_kind *one, *all, *print;
};

struct job {
	const struct kinds *k;
	struct lkdf_data *d;
	int part;
};

static int set_one(struct lkdf_ctx *c, void *arg)
{
	const struct job *j = arg;

	*(int *)lkdf_ptr(c, 0) = j->part;
	return 0;
}

/* A child for each part. There is nothing to wait for: it ends after them. */
static int set_all(struct lkdf_ctx *c, void *arg)
{
	struct job j = *(const struct job *)arg;
	struct lkdf_use use = { .data = j.d, .mode = LKDF_WRITE };
	struct lkdf_task t = { .size = sizeof(t), .kind = j.k->one };
	int i, rc = 0;

	t.arg = &j;
	t.use = &use;
	t.nr_use = 1;
	for (i = 1; i <= NR && !rc; i++) {
		use.part = j.part = i;
		rc = lkdf_spawn_task(c, &t, NULL);
	}
	return rc;
}

static int print(struct lkdf_ctx *c, void *arg)
{
	const struct job *j = arg;
	const int *v = lkdf_ptr(c, 0);
	struct lkdf_use use = { .data = j->d, .mode = LKDF_WRITE };
	struct lkdf_task t = { .size = sizeof(t), .kind = j->k->one };
	int rc;

	printf("children: %d %d %d %d\n", v[0], v[1], v[2], v[3]);
	t.arg = j;
	t.use = &use;
	t.nr_use = 1;
	rc = lkdf_spawn_task(c, &t, NULL);
	printf("a child that writes what the parent only reads: %s\n",
	       strerror(-rc));
	return rc == -EACCES ? 0 : -EBADMSG;
}

static int program(struct lkdf *rt, struct job *j)
{
	struct lkdf_use rw = { j->d, LKDF_RW, 0 }, r = { j->d, LKDF_READ, 0 };
	struct lkdf_task t = { .size = sizeof(t), .kind = j->k->all };
	struct lkdf_task p = { .size = sizeof(p), .kind = j->k->print };
	int rc;

	t.arg = p.arg = j;
	t.use = &rw;
	p.use = &r;
	t.nr_use = p.nr_use = 1;
	rc = lkdf_submit(rt, NULL, &t, NULL);
	return rc ? rc : lkdf_submit(rt, NULL, &p, NULL);
}

static int make(struct lkdf *rt, struct kinds *k, struct lkdf_data **out)
{
	static const int zeroes[NR];
	struct lkdf_data_attr d = { .size = sizeof(d), .name = "array" };
	struct lkdf_kind_attr a = { .size = sizeof(a), .name = "one" };
	int rc;

	d.bytes = sizeof(zeroes);
	d.init = zeroes;
	rc = lkdf_data_create(rt, &d, out);
	if (!rc)
		rc = lkdf_data_split(*out, NR, sizeof(int));
	a.arg_size = sizeof(struct job);
	a.fn = set_one;
	if (!rc)
		rc = lkdf_kind_create(rt, &a, &k->one);
	a.name = "all";
	a.fn = set_all;
	if (!rc)
		rc = lkdf_kind_create(rt, &a, &k->all);
	a.name = "print";
	a.fn = print;
	return rc ? rc : lkdf_kind_create(rt, &a, &k->print);
}

int main(void)
{
	struct kinds k = { 0 };
	struct job j = { .k = &k };
	struct lkdf *rt;
	int rc, all;

	if (lkdf_open(NULL, &rt))
		return 1;
	rc = make(rt, &k, &j.d);
	if (!rc)
		rc = program(rt, &j);
	if (rc)
		fprintf(stderr, "%s\n", lkdf_errmsg());
	all = lkdf_scope_wait(rt, NULL, -1);
	lkdf_data_put(j.d);
	lkdf_kind_put(k.one);
	lkdf_kind_put(k.all);
	lkdf_kind_put(k.print);
	return lkdf_close(rt) || rc || all ? 1 : 0;
}
