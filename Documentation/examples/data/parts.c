/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * An array in ten parts, the last one shorter. Tasks of different parts run
 * side by side; a task that uses the whole waits for them all, and the next
 * use of a part waits for it. Prints:
 *
 *   parts: 950 elements, sum 4050
 *   part 3 again: sum 4250
 */
#include <lkdf/lkdf.h>
#include <stdio.h>

enum {
	NR = 950,
	PART = 100,
	NR_PARTS = 10
};

struct job {
	int part, value; /* part 1 .. NR_PARTS, what to fill it with */
};

static int fill(struct lkdf_ctx *c, void *arg)
{
	const struct job *j = arg;
	int *v = lkdf_ptr(c, 0), nr = j->part == NR_PARTS ? NR % PART : PART;

	while (nr--)
		*v++ = j->value;
	return 0;
}

static int print_sum(struct lkdf_ctx *c, void *arg)
{
	const int *v = lkdf_ptr(c, 0);
	int i, sum = 0;

	for (i = 0; i < NR; i++)
		sum += v[i];
	printf("%s sum %d\n", (const char *)arg, sum);
	return 0;
}

static int make(struct lkdf *rt, struct lkdf_data **out)
{
	struct lkdf_data_attr a = { .size = sizeof(a), .name = "array" };
	int rc;

	a.bytes = NR * sizeof(int);
	rc = lkdf_data_create(rt, &a, out);
	return rc ? rc : lkdf_data_split(*out, NR_PARTS, PART * sizeof(int));
}

static int program(struct lkdf *rt, struct lkdf_kind *kfill,
		   struct lkdf_kind *kprint, struct lkdf_data *d)
{
	struct lkdf_use part = { .data = d, .mode = LKDF_WRITE };
	struct lkdf_use whole = { .data = d, .mode = LKDF_READ };
	struct lkdf_task t = { .size = sizeof(t), .kind = kfill };
	struct lkdf_task p = { .size = sizeof(p), .kind = kprint };
	struct job j;
	int i, rc = 0;

	t.arg = &j;
	t.use = &part;
	p.use = &whole;
	t.nr_use = p.nr_use = 1;
	for (i = 1; i <= NR_PARTS && !rc; i++) {
		j.part = i;
		j.value = i - 1;
		part.part = i;
		rc = lkdf_submit(rt, NULL, &t, NULL);
	}
	p.arg = "parts: 950 elements,";
	if (!rc)
		rc = lkdf_submit(rt, NULL, &p, NULL);
	j.part = 3;
	j.value = 4;
	part.part = 3;
	if (!rc)
		rc = lkdf_submit(rt, NULL, &t, NULL);
	p.arg = "part 3 again:";
	return rc ? rc : lkdf_submit(rt, NULL, &p, NULL);
}

int main(void)
{
	struct lkdf_kind_attr f = { .size = sizeof(f), .name = "fill" };
	struct lkdf_kind_attr p = { .size = sizeof(p), .name = "print" };
	struct lkdf_kind *kfill = NULL, *kprint = NULL;
	struct lkdf_data *d = NULL;
	struct lkdf *rt;
	int rc, all;

	if (lkdf_open(NULL, &rt))
		return 1;
	f.fn = fill;
	f.arg_size = sizeof(struct job);
	p.fn = print_sum;
	rc = lkdf_kind_create(rt, &f, &kfill);
	if (!rc)
		rc = lkdf_kind_create(rt, &p, &kprint);
	if (!rc)
		rc = make(rt, &d);
	if (!rc)
		rc = program(rt, kfill, kprint, d);
	if (rc)
		fprintf(stderr, "%s\n", lkdf_errmsg());
	/* It goes after the last task that uses it: nobody waits here */
	lkdf_data_put(d);
	lkdf_kind_put(kfill);
	lkdf_kind_put(kprint);
	all = lkdf_scope_wait(rt, NULL, -1);
	return lkdf_close(rt) || rc || all ? 1 : 0;
}
