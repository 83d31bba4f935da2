/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What lkdf check costs, see check_cost.py: check_cost chains|loose|bodies.
 * Chains are 100,000 tasks that change ten data in turn, loose are as many
 * without any order, bodies are 2,000 in ten chains that read and write 8 KiB
 * of their data several times, about 10 us each without a sanitizer.
 */
#include <lkdf/lkdf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define ATTR(T, ...) (&(struct T){ .size = sizeof(struct T), __VA_ARGS__ })
#define NR_CHAINS 10
#define NR_WORDS 1024
#define NR_SWEEPS 16

/* Of one task: its data's words, or one word of its own. */
static uint64_t word[NR_CHAINS][NR_WORDS], own[100000];

static int touch(struct lkdf_ctx *c, void *arg)
{
	uint64_t *w = *(uint64_t **)arg;

	(void)c;
	(*w)++;
	return 0;
}

static int sweep(struct lkdf_ctx *c, void *arg)
{
	uint64_t *w = *(uint64_t **)arg;
	int i, j;

	(void)c;
	for (i = 0; i < NR_SWEEPS; i++)
		for (j = 0; j < NR_WORDS; j++)
			w[j] = w[j] * 5 + (uint64_t)i;
	return 0;
}

static int run(struct lkdf *rt, const char *what)
{
	bool is_loose = !strcmp(what, "loose"),
	     sweeps = !strcmp(what, "bodies");
	const struct lkdf_kind_attr a = {
		.size = sizeof(a),
		.name = what,
		.fn = sweeps ? sweep : touch,
		.arg_size = sizeof(uint64_t *),
	};
	struct lkdf_data *d[NR_CHAINS] = { NULL };
	int i, nr = sweeps ? 2000 : 100000, rc = 0;
	struct lkdf_kind *k = NULL;

	rc = lkdf_kind_create(rt, &a, &k);
	for (i = 0; i < NR_CHAINS && !rc; i++)
		rc = lkdf_data_create(rt,
				      ATTR(lkdf_data_attr, .wrap = word[i],
					   .bytes = sizeof(word[i])),
				      &d[i]);
	for (i = 0; i < nr && !rc; i++) {
		uint64_t *w = is_loose ? &own[i] : word[i % NR_CHAINS];
		struct lkdf_use use = { .data = d[i % NR_CHAINS],
					.mode = LKDF_RW };

		rc = lkdf_submit(rt, NULL,
				 ATTR(lkdf_task, .kind = k, .arg = &w,
				      .use = &use, .nr_use = !is_loose),
				 NULL);
	}
	if (!rc)
		rc = lkdf_scope_wait(rt, NULL, -1);
	for (i = 0; i < NR_CHAINS; i++)
		lkdf_data_put(d[i]);
	lkdf_kind_put(k);
	return rc;
}

int main(int argc, char **argv)
{
	struct lkdf *rt;

	if (argc != 2 ||
	    (strcmp(argv[1], "chains") && strcmp(argv[1], "loose") &&
	     strcmp(argv[1], "bodies"))) {
		fprintf(stderr, "usage: check_cost chains|loose|bodies\n");
		return 2;
	}
	if (lkdf_open("serial=yes", &rt) || run(rt, argv[1])) {
		fprintf(stderr, "check_cost: %s\n", lkdf_errmsg());
		return 1;
	}
	return lkdf_close(rt) ? 1 : 0;
}
