/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Bytes are brought to another node before tasks need them there, and a table
 * is spread over all nodes. The machine is made up, with two nodes. Prints:
 *
 *   moved: 65536 bytes
 *   sum: 8192
 *   spread: 8192
 */
#include <errno.h>
#include <lkdf/lkdf.h>
#include <stdio.h>

enum {
	NR = 8192
};

static int fill(struct lkdf_ctx *c, void *arg)
{
	uint64_t *v = lkdf_ptr(c, 0);
	int i;

	(void)arg;
	for (i = 0; i < NR; i++)
		v[i] = 1;
	return 0;
}

static int write_on(struct lkdf *rt, struct lkdf_data *d, struct lkdf_place *p)
{
	struct lkdf_kind_attr a = { .size = sizeof(a), .name = "fill" };
	struct lkdf_use use = { .data = d, .mode = LKDF_WRITE };
	struct lkdf_task t = { .size = sizeof(t), .use = &use, .nr_use = 1 };
	int rc;

	a.fn = fill;
	t.place = p;
	rc = lkdf_kind_create(rt, &a, &t.kind);
	if (!rc)
		rc = lkdf_submit(rt, NULL, &t, NULL);
	lkdf_kind_put(t.kind);
	return rc;
}

static int print_sum(struct lkdf_data *d, const char *what)
{
	uint64_t *v, sum = 0;
	int i, rc;

	rc = lkdf_data_acquire(d, LKDF_READ, -1, (void **)&v);
	if (rc)
		return rc;
	for (i = 0; i < NR; i++)
		sum += v[i];
	printf("%s: %d\n", what, (int)sum);
	return lkdf_data_release(d);
}

/* Behind the writer, before whoever comes next. */
static int bring(struct lkdf_data *d, struct lkdf_place *to)
{
	struct lkdf_event done;
	int rc;

	rc = lkdf_data_prefetch(d, to, &done);
	return rc ? rc : lkdf_event_wait(done, -1);
}

static int move(struct lkdf *rt, struct lkdf_place *from, struct lkdf_place *to)
{
	struct lkdf_data_attr a = { .size = sizeof(a), .bytes = NR * 8 };
	struct lkdf_data *d;
	uint64_t moved;
	int rc;

	a.home = from;
	rc = lkdf_data_create(rt, &a, &d);
	if (rc)
		return rc;
	rc = write_on(rt, d, from);
	if (!rc)
		rc = bring(d, to);
	if (!rc)
		rc = lkdf_stat(rt, "lkdf.data.migrated_bytes", &moved);
	if (!rc) {
		printf("moved: %d bytes\n", (int)moved);
		rc = print_sum(d, "sum");
	}
	lkdf_data_put(d);
	return rc;
}

static int make_spread(struct lkdf *rt, struct lkdf_place *any,
		       struct lkdf_data **out)
{
	struct lkdf_data_attr a = { .size = sizeof(a), .bytes = NR * 8 };
	int rc;

	rc = lkdf_alloc(any, LKDF_MEM_INTERLEAVED, a.bytes, 0, "table",
			&a.wrap);
	if (rc)
		return rc;
	rc = lkdf_data_create(rt, &a, out);
	if (rc)
		lkdf_free(rt, a.wrap);
	return rc;
}

static int spread(struct lkdf *rt, struct lkdf_place *any)
{
	struct lkdf_data *d;
	void *bytes;
	int rc;

	rc = make_spread(rt, any, &d);
	if (rc)
		return rc;
	rc = write_on(rt, d, any);
	if (!rc)
		rc = print_sum(d, "spread");
	if (!rc)
		rc = lkdf_data_acquire(d, LKDF_RW, -1, &bytes);
	if (!rc)
		rc = lkdf_data_release(d);
	lkdf_data_put(d);
	/* Wrapped bytes are the program's: nobody uses them any more. */
	if (!rc)
		lkdf_free(rt, bytes);
	return rc;
}

int main(void)
{
	struct lkdf_place *p[2];
	struct lkdf *rt;
	int rc;

	rc = lkdf_open("topology=numa:2 core:1", &rt);
	if (!rc) {
		rc = lkdf_places(rt, 0, p, 2);
		rc = rc < 2 ? -ENODEV : move(rt, p[0], p[1]);
		if (!rc)
			rc = spread(rt, p[0]);
		if (!rc)
			rc = lkdf_scope_wait(rt, NULL, -1);
		lkdf_close(rt);
	}
	if (rc)
		fprintf(stderr, "%s\n", lkdf_errmsg());
	return rc ? 1 : 0;
}
