/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The program of Documentation/demo.lkdf, with a mistake for lkdf report to
 * find: 400 tasks compute an offer each from one table of prices. They only
 * read the table, but name it with LKDF_RW, so they run one after another.
 * "offers read" names it with LKDF_READ. Prints:
 *
 *   400 offers: right
 */
#include <lkdf/lkdf.h>
#include <stdio.h>
#include <string.h>

#define NR_OFFERS 400
#define NR_PRICES 1024
#define NR_MONTHS 64

static uint64_t price[NR_PRICES];

static uint64_t offer_of(const uint64_t *table, uint64_t seed)
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i < NR_PRICES * NR_MONTHS; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		sum += table[seed >> 54];
	}
	return sum;
}

static int compute_offer(struct lkdf_ctx *c, void *arg)
{
	uint64_t *offer = *(uint64_t **)arg;

	*offer = offer_of(lkdf_ptr(c, 0), *offer);
	return 0;
}

static int submit_all(struct lkdf *rt, struct lkdf_kind *kind,
		      struct lkdf_data *prices, uint32_t mode, uint64_t *offer)
{
	struct lkdf_use use = { prices, mode, 0 };
	struct lkdf_task t = { .size = sizeof(t), .kind = kind };
	int i, rc = 0, end;

	t.use = &use;
	t.nr_use = 1;
	t.arg = &offer;
	for (i = 0; i < NR_OFFERS && rc >= 0; i++, offer++) {
		*offer = (uint64_t)i;
		rc = lkdf_submit(rt, NULL, &t, NULL);
	}
	end = lkdf_scope_wait(rt, NULL, -1);
	return rc < 0 ? rc : end;
}

static int run(struct lkdf *rt, uint32_t mode, uint64_t *offer)
{
	struct lkdf_data *prices = NULL;
	struct lkdf_kind *kind = NULL;
	int rc;

	rc = lkdf_kind_create(rt,
			      LKDF_KIND(.name = "offer", .fn = compute_offer,
					.arg_size = sizeof(offer)),
			      &kind);
	if (!rc)
		rc = lkdf_data_create(
			rt,
			LKDF_ATTR(lkdf_data_attr, .name = "prices",
				  .bytes = sizeof(price), .wrap = price),
			&prices);
	if (!rc)
		rc = submit_all(rt, kind, prices, mode, offer);
	if (rc)
		fprintf(stderr, "offers: %s (%d)\n", lkdf_errmsg(), rc);
	lkdf_data_put(prices);
	lkdf_kind_put(kind);
	return rc;
}

static int check(const uint64_t *offer)
{
	int i, right = 1;

	for (i = 0; i < NR_OFFERS; i++)
		right &= offer[i] == offer_of(price, (uint64_t)i);
	printf("%d offers: %s\n", NR_OFFERS, right ? "right" : "wrong");
	return !right;
}

int main(int argc, char **argv)
{
	static uint64_t offer[NR_OFFERS];
	bool is_read = argc > 1 && !strcmp(argv[1], "read");
	struct lkdf *rt;
	int i, rc;

	for (i = 0; i < NR_PRICES; i++)
		price[i] = (uint64_t)(i * i) % 97;
	rc = lkdf_open(NULL, &rt);
	if (rc)
		return 1;
	rc = run(rt, is_read ? LKDF_READ : LKDF_RW, offer);
	return lkdf_close(rt) || rc || check(offer);
}
