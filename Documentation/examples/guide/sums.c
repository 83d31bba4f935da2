/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The program that Documentation/tuning.rst tunes: an array from mmap(2), 64
 * parts of it, and tasks that add up a part each, ten rounds of them. With
 * "main" the main thread fills the array, so all pages lie on its node; with
 * "spread" the workers of all nodes do. "plan", which is also what happens
 * without an argument, records a round as a graph besides. Prints:
 *
 *   10 rounds of 64 tasks: right
 */
#include <lkdf/lkdf.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define NR_PARTS 64
#define NR_ROUNDS 10
#define NR_WORDS 65536 /* of a part: 512 KiB */
#define BYTES ((size_t)NR_PARTS * NR_WORDS * sizeof(uint64_t))

static int fill(void *at, uint64_t bytes, void *u)
{
	uint64_t *word = at, i;

	(void)u;
	for (i = 0; i < bytes / sizeof(*word); i++)
		word[i] = 3;
	return 0;
}

static int touch(struct lkdf *rt, void *array, bool spread)
{
	if (!spread)
		return fill(array, BYTES, NULL);
	return lkdf_first_touch(rt, array, BYTES, sizeof(uint64_t), fill, NULL);
}

static int add_up(struct lkdf_ctx *c, void *arg)
{
	const uint64_t *word = lkdf_ptr(c, 0);
	uint64_t i, sum = 0;

	for (i = 0; i < NR_WORDS; i++)
		sum += word[i];
	(*(uint64_t **)arg)[lkdf_seq(c) * NR_PARTS] = sum;
	return 0;
}

/* A round: a task for each part, whose sum goes to to[part]. */
static int submit(struct lkdf *rt, struct lkdf_scope *s,
		  const struct lkdf_task *task, struct lkdf_data *x,
		  uint64_t *to)
{
	struct lkdf_use use = { x, LKDF_READ, 0 };
	struct lkdf_task t = *task;
	int i, rc = 0;

	t.use = &use;
	t.nr_use = 1;
	t.arg = &to;
	for (i = 0; i < NR_PARTS && rc >= 0; i++, to++) {
		use.part = (uint32_t)i + 1;
		rc = lkdf_submit(rt, s, &t, NULL);
	}
	return rc < 0 ? rc : 0;
}

static int submit_rounds(struct lkdf *rt, struct lkdf_task *t,
			 struct lkdf_data *x, uint64_t *sum)
{
	int i, rc = 0;

	for (i = 0; i < NR_ROUNDS && !rc; i++)
		rc = submit(rt, NULL, t, x, sum + (size_t)i * NR_PARTS);
	return rc;
}

/* A round is recorded once and run ten times. */
static int record_rounds(struct lkdf *rt, struct lkdf_task *t,
			 struct lkdf_data *x, uint64_t *sum)
{
	struct lkdf_graph *g = NULL;
	struct lkdf_scope *s = NULL;
	int rc;

	rc = lkdf_scope_create(rt, NULL, &s);
	if (!rc)
		rc = lkdf_graph_create(rt, NULL, &g);
	if (!rc)
		rc = lkdf_graph_record(g, s);
	if (!rc)
		rc = submit(rt, s, t, x, sum);
	if (!rc)
		rc = lkdf_graph_seal(g, NULL);
	if (!rc)
		rc = lkdf_graph_run(
			g, NULL, LKDF_ATTR(lkdf_run, .times = NR_ROUNDS), NULL);
	lkdf_graph_put(g);
	lkdf_scope_put(s);
	return rc;
}

static int run(struct lkdf *rt, struct lkdf_data *x, uint64_t *sum, bool plan)
{
	struct lkdf_task t = { .size = sizeof(t) };
	int rc, end;

	rc = lkdf_kind_create(rt,
			      LKDF_KIND(.name = "add_up", .fn = add_up,
					.arg_size = sizeof(sum)),
			      &t.kind);
	if (rc)
		return rc;
	rc = plan ? record_rounds(rt, &t, x, sum)
		  : submit_rounds(rt, &t, x, sum);
	end = lkdf_scope_wait(rt, NULL, -1);
	lkdf_kind_put(t.kind);
	return rc ? rc : end;
}

static int check(const uint64_t *sum)
{
	int i, right = 1;

	for (i = 0; i < NR_ROUNDS * NR_PARTS; i++)
		right &= sum[i] == 3 * NR_WORDS;
	printf("%d rounds of %d tasks: %s\n", NR_ROUNDS, NR_PARTS,
	       right ? "right" : "wrong");
	return !right;
}

static int all(struct lkdf *rt, void *array, bool spread, bool plan)
{
	static uint64_t sum[NR_ROUNDS * NR_PARTS];
	struct lkdf_data *x = NULL;
	int rc = touch(rt, array, spread);

	if (!rc)
		rc = lkdf_data_create(rt,
				      LKDF_ATTR(lkdf_data_attr, .name = "array",
						.bytes = BYTES, .wrap = array),
				      &x);
	if (!rc)
		rc = lkdf_data_split(x, NR_PARTS, BYTES / NR_PARTS);
	if (!rc)
		rc = run(rt, x, sum, plan);
	if (rc)
		fprintf(stderr, "sums: %s (%d)\n", lkdf_errmsg(), rc);
	lkdf_data_put(x);
	return rc ? rc : check(sum);
}

int main(int argc, char **argv)
{
	void *array = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const char *how;
	struct lkdf *rt;
	int rc;

	if (array == MAP_FAILED || lkdf_open(NULL, &rt))
		return 1;
	how = argc > 1 ? argv[1] : "plan";
	rc = all(rt, array, strcmp(how, "main"), !strcmp(how, "plan"));
	return lkdf_close(rt) || rc;
}
