/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Calls that are refused, and their errors. Prints:
 *
 *   no bytes: Invalid argument
 *   an alignment that is no power of two: Invalid argument
 *   a name that is taken: File exists
 *   a name that there is not: No such file or directory
 *   reading what nobody has written: No data available
 *   acquiring that: No data available
 *   a mode that there is not: Invalid argument
 *   more uses than a task may have: Argument list too long
 *   parts that do not cover it: Numerical result out of range
 *   splitting it again: File exists
 *   a part that there is not: Numerical result out of range
 *   acquiring it twice: Resource deadlock avoided
 *   releasing what is not held: Operation not permitted
 */
#include <lkdf/lkdf.h>
#include <stdio.h>
#include <string.h>

static void show(const char *what, int rc)
{
	printf("%s: %s\n", what, rc < 0 ? strerror(-rc) : "not refused");
}

static int nothing(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	return 0;
}

static int submit(struct lkdf *rt, struct lkdf_kind *k, struct lkdf_data *d,
		  uint32_t mode, uint32_t part)
{
	struct lkdf_use use = { d, mode, part };
	struct lkdf_task t = { .size = sizeof(t), .kind = k, .use = &use };

	t.nr_use = 1;
	return lkdf_submit(rt, NULL, &t, NULL);
}

static void names(struct lkdf *rt)
{
	struct lkdf_data_attr a = { .size = sizeof(a), .name = "x" };
	struct lkdf_data *other;

	show("no bytes", lkdf_data_create(rt, &a, &other));
	a.bytes = 64;
	a.align = 48;
	show("an alignment that is no power of two",
	     lkdf_data_create(rt, &a, &other));
	a.align = 0;
	show("a name that is taken", lkdf_data_create(rt, &a, &other));
	show("a name that there is not", lkdf_data_find(rt, "y", &other));
}

static int submit_many(struct lkdf *rt, struct lkdf_kind *k,
		       struct lkdf_data *d)
{
	static struct lkdf_use use[LKDF_MAX_USES + 1];
	struct lkdf_task t = { .size = sizeof(t), .kind = k, .use = use };

	for (t.nr_use = 0; t.nr_use <= LKDF_MAX_USES; t.nr_use++) {
		use[t.nr_use].data = d;
		use[t.nr_use].mode = LKDF_WRITE;
	}
	return lkdf_submit(rt, NULL, &t, NULL);
}

static void uses(struct lkdf *rt, struct lkdf_kind *k, struct lkdf_data *d)
{
	show("reading what nobody has written", submit(rt, k, d, LKDF_READ, 0));
	show("acquiring that", lkdf_data_acquire(d, LKDF_READ, -1, NULL));
	show("a mode that there is not", submit(rt, k, d, 64, 0));
	show("more uses than a task may have", submit_many(rt, k, d));
	show("parts that do not cover it", lkdf_data_split(d, 4, 15));
	if (lkdf_data_split(d, 4, 16))
		return;
	show("splitting it again", lkdf_data_split(d, 4, 16));
	show("a part that there is not", submit(rt, k, d, LKDF_WRITE, 5));
}

static void threads(struct lkdf_data *d)
{
	if (lkdf_data_acquire(d, LKDF_WRITE, -1, NULL))
		return;
	show("acquiring it twice", lkdf_data_acquire(d, LKDF_READ, -1, NULL));
	if (lkdf_data_release(d))
		return;
	show("releasing what is not held", lkdf_data_release(d));
}

int main(void)
{
	struct lkdf_data_attr a = { .size = sizeof(a), .name = "x" };
	struct lkdf_kind_attr ka = { .size = sizeof(ka), .name = "nothing" };
	struct lkdf_data *d = NULL;
	struct lkdf_kind *k = NULL;
	struct lkdf *rt;
	int rc;

	if (lkdf_open(NULL, &rt))
		return 1;
	a.bytes = 64;
	ka.fn = nothing;
	rc = lkdf_data_create(rt, &a, &d);
	if (!rc)
		rc = lkdf_kind_create(rt, &ka, &k);
	if (!rc) {
		names(rt);
		uses(rt, k, d);
		threads(d);
	}
	lkdf_data_put(d);
	lkdf_kind_put(k);
	if (!rc)
		rc = lkdf_scope_wait(rt, NULL, -1);
	return lkdf_close(rt) || rc ? 1 : 0;
}
