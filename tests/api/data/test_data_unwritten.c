/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Weak parents whose children write nothing, or some parts only: data that
 * were bad stay bad where nobody has written, however many weak parents lie
 * between, and a reduction begins there from neutral bytes.
 */
#include "tests/api/family.h"
#include "tests/api/product.h"

#define MAX_DEPTH 3
#define NOTHING UINT32_MAX

/* A data of two words, split or not. */
struct chain {
	struct lkdf_data *d;
	struct lkdf_kind *parent, *sets, *counts;
	uint32_t written; /* part that the innermost parent's child writes */
	uint32_t read; /* part that the outermost parent's last child reads */
	atomic_int nr_read;
};

struct level {
	struct chain *chain;
	uint32_t depth; /* weak parents below this one */
	bool is_outermost;
};

static int set_words(struct lkdf_ctx *c, void *arg)
{
	const struct chain *chain = *(struct chain **)arg;
	uint64_t *v = lkdf_ptr(c, 0);

	v[0] = 7;
	if (!chain->written)
		v[1] = 7;
	return 0;
}

static int weak_parent(struct lkdf_ctx *c, void *arg)
{
	const struct level *l = arg;
	struct level next = { l->chain, l->depth - 1, false };
	struct chain *chain = l->chain;

	if (l->depth)
		must(spawn_on(c, chain->parent, &next,
			      ON(chain->d, LKDF_RW | LKDF_WEAK)));
	else if (chain->written != NOTHING)
		must(spawn_on(c, chain->sets, &chain,
			      ON_PART(chain->d, LKDF_WRITE, chain->written)));
	if (l->is_outermost && chain->counts)
		must(spawn_on(c, chain->counts, &chain->nr_read,
			      ON_PART(chain->d, LKDF_READ, chain->read)));
	return 0;
}

static void chain_init(struct chain *chain, struct lkdf *rt)
{
	chain->parent =
		api_kind(rt, "parent", weak_parent, sizeof(struct level), 0);
	chain->sets = api_kind(rt, "sets", set_words, sizeof(chain), 0);
}

static void chain_fini(struct chain *chain)
{
	lkdf_data_put(chain->d);
	lkdf_kind_put(chain->parent);
	lkdf_kind_put(chain->sets);
	lkdf_kind_put(chain->counts);
}

static void submit_chain(struct lkdf *rt, struct chain *chain, uint32_t depth)
{
	struct level top = { chain, depth, true };

	must(submit_on(rt, chain->parent, &top,
		       ON(chain->d, LKDF_RW | LKDF_WEAK), NULL));
}

/* ---- what was bad -------------------------------------------------------- */

static const struct {
	uint32_t nr_parts, written, read;
	bool is_good; /* what is read */
	int left; /* the whole's error in the end */
} healing[] = {
	{ 0, NOTHING, 0, false, -EIO }, { 0, 0, 0, true, 0 },
	{ 2, NOTHING, 0, false, -EIO }, { 2, NOTHING, 1, false, -EIO },
	{ 2, NOTHING, 2, false, -EIO }, { 2, 1, 0, false, -EIO },
	{ 2, 1, 1, true, -EIO },	{ 2, 1, 2, false, -EIO },
	{ 2, 0, 0, true, 0 },		{ 2, 0, 1, true, 0 },
	{ 2, 0, 2, true, 0 },
};

/* All of it was bad. A child of the outermost and a task behind it read it. */
static void what_is_written_is_healed(struct lkdf *rt, size_t i, uint32_t depth)
{
	struct chain chain = { .written = healing[i].written,
			       .read = healing[i].read };
	struct lkdf_kind *fails = api_kind(rt, "fails", fail_child, 0, 0);
	atomic_int nr_behind = 0;
	int rc;

	chain_init(&chain, rt);
	chain.counts = api_kind(rt, "counts", api_count, 0, 0);
	chain.d = zeros(rt, NULL, 2);
	if (healing[i].nr_parts)
		must(lkdf_data_split(chain.d, 2, sizeof(uint64_t)));
	must(submit_on(rt, fails, NULL, ON(chain.d, LKDF_WRITE), NULL));
	submit_chain(rt, &chain, depth);
	must(submit_on(rt, chain.counts, &nr_behind,
		       ON_PART(chain.d, LKDF_READ, chain.read), NULL));
	is(lkdf_scope_wait(rt, NULL, -1), -EIO,
	   "case %zu, %u weak parents: the data were bad", i, depth + 1);
	is(chain.nr_read, healing[i].is_good, "a child reads what is good");
	is(nr_behind, healing[i].is_good, "and so does a task behind");
	rc = lkdf_data_acquire(chain.d, LKDF_READ, -1, NULL);
	is(rc, healing[i].left, "the whole is bad where nobody has written");
	if (!rc)
		must(lkdf_data_release(chain.d));
	chain_fini(&chain);
	lkdf_kind_put(fails);
}

/* ---- what nobody has written --------------------------------------------- */

static int times_five(struct lkdf_ctx *c, void *arg)
{
	uint64_t *v = lkdf_ptr(c, 0);

	(void)arg;
	v[0] *= 5;
	v[1] *= 5;
	return 0;
}

static void reduce_behind(struct lkdf *rt, struct chain *chain)
{
	struct lkdf_kind *five = api_kind(rt, "five", times_five, 0, 0);

	must(submit_on(rt, five, NULL, ON(chain->d, LKDF_REDUCE), NULL));
	is(lkdf_scope_wait(rt, NULL, -1), 0, "all run");
	lkdf_kind_put(five);
}

static void the_rest_is_neutral(struct lkdf *rt, uint32_t nr_parts,
				uint32_t written, uint32_t depth)
{
	struct chain chain = { .written = written };
	void *bytes = NULL;
	uint64_t *v;
	uint32_t i;

	chain_init(&chain, rt);
	chain.d = DATA(rt, .bytes = 2 * sizeof(uint64_t), .reduce = multiply,
		       .neutral = ones);
	if (nr_parts)
		must(lkdf_data_split(chain.d, 2, sizeof(uint64_t)));
	submit_chain(rt, &chain, depth);
	reduce_behind(rt, &chain);
	must(lkdf_data_acquire(chain.d, LKDF_READ, -1, &bytes));
	v = bytes;
	for (i = 0; i < 2; i++)
		is(v[i], written == 0 || written == i + 1 ? 35 : 5,
		   "%u parts, %u weak parents: word %u, part %d was written",
		   nr_parts, depth + 1, i, (int)written);
	must(lkdf_data_release(chain.d));
	chain_fini(&chain);
}

/* No byte of it is there: whoever should have written was skipped. */
static void poison_unwritten(struct lkdf *rt, struct lkdf_data *d)
{
	struct lkdf_data *bad = zeros(rt, NULL, 1);
	struct lkdf_use use[] = { ON(bad, LKDF_READ), ON(d, LKDF_WRITE) };
	struct lkdf_kind *fails = api_kind(rt, "fails", fail_child, 0, 0);

	must(submit_on(rt, fails, NULL, ON(bad, LKDF_WRITE), NULL));
	must(lkdf_submit(
		rt, NULL,
		ATTR(lkdf_task, .kind = fails, .use = use, .nr_use = 2), NULL));
	is(lkdf_scope_wait(rt, NULL, -1), -EIO, "the data are bad");
	lkdf_data_put(bad);
	lkdf_kind_put(fails);
}

/* The parent says that it writes, and has no child that does. */
static void there_are_bytes_to_reduce_into(struct lkdf *rt, uint32_t nr_parts,
					   bool was_bad)
{
	struct chain chain = { .written = NOTHING };
	struct level top = { .chain = &chain };
	void *bytes = NULL;
	uint64_t *v;

	chain_init(&chain, rt);
	chain.d = DATA(rt, .bytes = 2 * sizeof(uint64_t), .reduce = multiply,
		       .neutral = ones);
	if (nr_parts)
		must(lkdf_data_split(chain.d, 2, sizeof(uint64_t)));
	if (was_bad)
		poison_unwritten(rt, chain.d);
	must(submit_on(rt, chain.parent, &top,
		       ON(chain.d, LKDF_WRITE | LKDF_WEAK), NULL));
	reduce_behind(rt, &chain);
	must(lkdf_data_acquire(chain.d, LKDF_READ, -1, &bytes));
	v = bytes;
	ok(v[0] == 5 && v[1] == 5, "%u parts, %s: a weak WRITE without a child",
	   nr_parts, was_bad ? "bad" : "good");
	must(lkdf_data_release(chain.d));
	chain_fini(&chain);
}

static void all_tests(struct lkdf *rt, const char *options)
{
	uint32_t depth;
	size_t i;

	(void)options;
	for (depth = 0; depth < MAX_DEPTH; depth++) {
		for (i = 0; i < LENGTH(healing); i++)
			what_is_written_is_healed(rt, i, depth);
		the_rest_is_neutral(rt, 0, NOTHING, depth);
		the_rest_is_neutral(rt, 2, NOTHING, depth);
		the_rest_is_neutral(rt, 2, 1, depth);
		the_rest_is_neutral(rt, 2, 2, depth);
		the_rest_is_neutral(rt, 2, 0, depth);
	}
	there_are_bytes_to_reduce_into(rt, 0, false);
	there_are_bytes_to_reduce_into(rt, 0, true);
	there_are_bytes_to_reduce_into(rt, 2, false);
	there_are_bytes_to_reduce_into(rt, 2, true);
}

int main(void)
{
	tap_start(120);
	api_each(all_tests);
	return tap_end();
}
