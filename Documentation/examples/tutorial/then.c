/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Going on later without keeping a stack: the body spawns three children and
 * leaves; finish() is called with the same argument when all of them are
 * complete. Prints:
 *
 *   1 + 4 + 9 = 14
 */
#include <lkdf/lkdf.h>
#include <stdio.h>

struct part {
	int n, square;
};

struct job {
	struct lkdf_kind *square;
	struct part part[3];
};

static int square(struct lkdf_ctx *c, void *arg)
{
	struct part *p = arg;

	(void)c;
	p->square = p->n * p->n;
	return 0;
}

static int finish(struct lkdf_ctx *c, void *arg)
{
	const struct job *j = arg;
	int rc = lkdf_input_error(c, 0);

	if (rc)
		return rc;
	printf("%d + %d + %d = %d\n", j->part[0].square, j->part[1].square,
	       j->part[2].square,
	       j->part[0].square + j->part[1].square + j->part[2].square);
	return 0;
}

static int start(struct lkdf_ctx *c, void *arg)
{
	struct lkdf_event children = { 0 };
	struct job *j = arg;
	int i, rc;

	for (i = 0; i < 3; i++) {
		j->part[i].n = i + 1;
		rc = lkdf_spawn(c, j->square, &j->part[i]);
		if (rc)
			return rc;
	}
	return lkdf_then(c, finish, children);
}

static struct lkdf_kind *make(struct lkdf *rt, const char *name, lkdf_fn fn)
{
	struct lkdf_kind_attr a = { .size = sizeof(a), .name = name, .fn = fn };
	struct lkdf_kind *k = NULL;

	return lkdf_kind_create(rt, &a, &k) ? NULL : k;
}

int main(void)
{
	struct lkdf_task t = { .size = sizeof(t) };
	struct lkdf_event done;
	struct job j;
	struct lkdf *rt;
	int rc;

	rc = lkdf_open(NULL, &rt);
	if (rc) {
		fprintf(stderr, "%s\n", lkdf_errmsg());
		return 1;
	}
	j.square = make(rt, "square", square);
	t.kind = make(rt, "start", start);
	t.arg = &j;
	rc = j.square && t.kind ? lkdf_submit(rt, NULL, &t, &done) : -1;
	if (!rc)
		rc = lkdf_event_wait(done, -1);
	if (rc)
		fprintf(stderr, "%s\n", lkdf_errmsg());
	lkdf_kind_put(t.kind);
	lkdf_kind_put(j.square);
	lkdf_close(rt);
	return rc ? 1 : 0;
}
