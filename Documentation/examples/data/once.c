/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A dataflow variable: in a sealed graph its one producer comes before its
 * readers, whoever was added first. Its bytes live from the producer's start
 * to the last reader's end; those that are kept can be read after the run.
 * Prints:
 *
 *   no producer: No data available
 *   two producers: File exists
 *   run 0: squares 0 1 4 9, sum 14
 *   run 1: squares 0 1 4 9, sum 14
 *   kept: 14
 */
#include <errno.h>
#include <lkdf/lkdf.h>
#include <stdio.h>
#include <string.h>

enum {
	NR = 4
};
enum {
	MAKE,
	ADD,
	PRINT,
	NR_KINDS
};

struct program {
	struct lkdf *rt;
	struct lkdf_kind *kind[NR_KINDS];
	struct lkdf_data *squares, *sum;
};

static int make(struct lkdf_ctx *c, void *arg)
{
	int *squares = lkdf_ptr(c, 0), i;

	(void)arg;
	for (i = 0; i < NR; i++)
		squares[i] = i * i;
	return 0;
}

static int add(struct lkdf_ctx *c, void *arg)
{
	const int *squares = lkdf_ptr(c, 0);
	int *sum = lkdf_ptr(c, 1), i;

	(void)arg;
	*sum = 0;
	for (i = 0; i < NR; i++)
		*sum += squares[i];
	return 0;
}

static int print(struct lkdf_ctx *c, void *arg)
{
	const int *s = lkdf_ptr(c, 0), *sum = lkdf_ptr(c, 1);

	(void)arg;
	printf("run %d: squares %d %d %d %d, sum %d\n", (int)lkdf_seq(c), s[0],
	       s[1], s[2], s[3], *sum);
	return 0;
}

/* The last is added first. The seal tells what is wrong with it. */
static int build(struct program *p, int nr_producers, struct lkdf_graph **out)
{
	struct lkdf_use out_squares[] = { { p->squares, LKDF_WRITE, 0 } };
	struct lkdf_use both[] = { { p->squares, LKDF_READ, 0 },
				   { p->sum, LKDF_READ, 0 } };
	struct lkdf_use to_sum[] = { { p->squares, LKDF_READ, 0 },
				     { p->sum, LKDF_WRITE, 0 } };
	int rc, i;

	rc = lkdf_graph_create(p->rt, NULL, out);
	if (rc)
		return rc;
	lkdf_graph_add(*out, p->kind[PRINT], NULL, both, 2);
	lkdf_graph_add(*out, p->kind[ADD], NULL, to_sum, 2);
	for (i = 0; i < nr_producers; i++)
		lkdf_graph_add(*out, p->kind[MAKE], NULL, out_squares, 1);
	return lkdf_graph_seal(*out, NULL);
}

static void refuse(struct program *p, int nr_producers, const char *what)
{
	struct lkdf_graph *g = NULL;

	printf("%s: %s\n", what, strerror(-build(p, nr_producers, &g)));
	lkdf_graph_put(g);
}

static int run(struct program *p)
{
	struct lkdf_run twice = { .size = sizeof(twice), .times = 2 };
	struct lkdf_graph *g = NULL;
	void *bytes;
	int rc;

	rc = build(p, 1, &g);
	if (!rc)
		rc = lkdf_graph_run(g, NULL, &twice, NULL);
	if (!rc)
		rc = lkdf_scope_wait(p->rt, NULL, -1);
	if (!rc)
		rc = lkdf_data_acquire(p->sum, LKDF_READ, -1, &bytes);
	if (!rc) {
		printf("kept: %d\n", *(int *)bytes);
		rc = lkdf_data_release(p->sum);
	}
	lkdf_graph_put(g);
	return rc;
}

static int make_kinds(struct program *p)
{
	static const lkdf_fn fns[NR_KINDS] = { make, add, print };
	static const char *const names[NR_KINDS] = { "make", "add", "print" };
	struct lkdf_kind_attr a = { .size = sizeof(a) };
	int i, rc = 0;

	for (i = 0; i < NR_KINDS && !rc; i++) {
		a.name = names[i];
		a.fn = fns[i];
		rc = lkdf_kind_create(p->rt, &a, &p->kind[i]);
	}
	return rc;
}

static int make_data(struct program *p)
{
	struct lkdf_data_attr a = { .size = sizeof(a), .name = "squares" };
	int rc;

	a.flags = LKDF_DATA_ONCE;
	a.bytes = NR * sizeof(int);
	rc = lkdf_data_create(p->rt, &a, &p->squares);
	a.name = "sum";
	a.flags = LKDF_DATA_ONCE | LKDF_DATA_KEEP;
	a.bytes = sizeof(int);
	return rc ? rc : lkdf_data_create(p->rt, &a, &p->sum);
}

int main(void)
{
	struct program p = { 0 };
	int rc, i;

	if (lkdf_open(NULL, &p.rt))
		return 1;
	rc = make_kinds(&p);
	if (!rc)
		rc = make_data(&p);
	if (!rc) {
		refuse(&p, 0, "no producer");
		refuse(&p, 2, "two producers");
		rc = run(&p);
	}
	if (rc)
		fprintf(stderr, "%s\n", lkdf_errmsg());
	lkdf_data_put(p.squares);
	lkdf_data_put(p.sum);
	for (i = 0; i < NR_KINDS; i++)
		lkdf_kind_put(p.kind[i]);
	return lkdf_close(p.rt) || rc ? 1 : 0;
}
