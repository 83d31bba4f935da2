/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Messages when a task fails, and when a graph has a cycle. In the chain first
 * -> second -> third the second fails, so the third is skipped. Prints:
 *
 *   first
 *   run: Input/output error
 *   task second of graph chain: second: line 12 is too long
 *   1 failed, 1 skipped
 *   seal: Too many levels of symbolic links
 */
#include <errno.h>
#include <lkdf/lkdf.h>
#include <stdio.h>
#include <string.h>

static int body(struct lkdf_ctx *c, void *arg)
{
	if (!strcmp(arg, "second"))
		return lkdf_fail(c, -EIO, "line %d is too long", 12);
	puts(arg);
	return 0;
}

/* first -> second -> third, and back to the first if asked to. */
static int build(struct lkdf *rt, struct lkdf_kind *k, int cycle,
		 struct lkdf_graph **out)
{
	static const char *const names[] = { "first", "second", "third" };
	struct lkdf_graph_attr a = { .size = sizeof(a), .name = "chain" };
	int task[3], i;

	if (lkdf_graph_create(rt, &a, out))
		return -ENOMEM;
	for (i = 0; i < 3; i++) {
		task[i] = lkdf_graph_add(*out, k, names[i], NULL, 0);
		lkdf_graph_label(*out, task[i], names[i]);
		if (i)
			lkdf_graph_order(*out, task[i - 1], task[i]);
	}
	if (cycle)
		lkdf_graph_order(*out, task[2], task[0]);
	return lkdf_graph_seal(*out, NULL);
}

static void run(struct lkdf *rt, struct lkdf_graph *g)
{
	struct lkdf_error e = { .size = sizeof(e) };
	int rc = lkdf_graph_run(g, NULL, NULL, NULL);

	if (!rc)
		rc = lkdf_scope_wait(rt, NULL, -1);
	printf("run: %s\n", strerror(-rc));
	lkdf_scope_error(rt, NULL, &e);
	printf("task %s of graph %s: %s\n", e.task, e.graph, e.why);
	printf("%d failed, %d skipped\n", (int)e.nr_failed, (int)e.nr_skipped);
}

int main(void)
{
	struct lkdf_kind_attr a = { .size = sizeof(a), .name = "body" };
	struct lkdf_graph *g = NULL;
	struct lkdf_kind *k;
	struct lkdf *rt;

	if (lkdf_open(NULL, &rt))
		return 1;
	a.fn = body;
	if (lkdf_kind_create(rt, &a, &k))
		return 1;
	if (!build(rt, k, 0, &g))
		run(rt, g);
	lkdf_graph_put(g);
	g = NULL;
	printf("seal: %s\n", strerror(-build(rt, k, 1, &g)));
	lkdf_graph_put(g);
	lkdf_kind_put(k);
	return lkdf_close(rt) ? 1 : 0;
}
