/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Memory stays flat: submissions with two uses each over 64 data, in portions
 * that are waited for. What is resident after the first tenth is what there is
 * at the end, but for a small bound that does not grow with the number. So it
 * is with lists that are refused and graphs that are not sealed.
 *
 * test_flat [TASKS]
 */
#include "tests/api/using.h"

#define NR_DATA 64
#define PORTION 2000
#define BOUND (4 << 20)

struct flat {
	struct lkdf *rt;
	struct lkdf_kind *k;
	struct lkdf_data *d[NR_DATA];
	uint64_t nr_done;
};

/* Bytes of this process that are in memory. */
static int64_t resident(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	long pages = -1;

	if (!f || fscanf(f, "%*d %ld", &pages) != 1)
		pages = -1;
	if (f)
		fclose(f);
	return pages < 0 ? -1 : pages * sysconf(_SC_PAGESIZE);
}

/* What lkdf_alloc() has in blocks, on all nodes. */
static uint64_t used(struct lkdf *rt)
{
	uint64_t sum = 0, v;
	char name[64];
	int i;

	for (i = 0; i < 64; i++) {
		snprintf(name, sizeof(name), "lkdf.node.%d.memory.used", i);
		if (!lkdf_stat(rt, name, &v))
			sum += v;
	}
	return sum;
}

static int read_and_add(struct lkdf_ctx *c, void *arg)
{
	const uint64_t *from = lkdf_ptr(c, 0);
	uint64_t *to = lkdf_ptr(c, 1);

	(void)arg;
	to[1] += from[1] ^ to[0];
	to[0]++;
	return 0;
}

/* Two different data each; one of five is part of a list. */
static void submit_portion(struct flat *f, uint64_t nr)
{
	const struct lkdf_task *at[5];
	struct lkdf_use use[5][2];
	struct lkdf_task t[5];
	uint64_t i, j, n;

	for (i = 0; i < nr; i++) {
		n = f->nr_done + i;
		j = i % 5;
		use[j][0] =
			ON(f->d[(n + 1 + n / 64 % 63) % NR_DATA], LKDF_READ);
		use[j][1] = ON(f->d[n % NR_DATA], LKDF_RW);
		t[j] = (struct lkdf_task){ .size = sizeof(t[j]),
					   .kind = f->k,
					   .use = use[j],
					   .nr_use = 2 };
		at[j] = &t[j];
		if (i % 25 >= 5)
			must(lkdf_submit(f->rt, NULL, &t[j], NULL));
		else if (j == 4)
			must(lkdf_submit_many(f->rt, NULL, at, 5, NULL));
	}
	must(lkdf_scope_wait(f->rt, NULL, -1));
	f->nr_done += nr;
}

static void submit_up_to(struct flat *f, uint64_t nr)
{
	while (f->nr_done < nr)
		submit_portion(f, PORTION);
}

static void memory_stays_flat(const char *options, uint64_t nr)
{
	struct flat f = { .rt = api_open(options) };
	uint64_t sum = 0, used_before;
	int64_t before, after;
	int i;

	f.k = api_kind(f.rt, "adds", read_and_add, 0, 0);
	for (i = 0; i < NR_DATA; i++)
		f.d[i] = zeros(f.rt, NULL, 2);
	submit_up_to(&f, nr / 10);
	before = resident();
	used_before = used(f.rt);
	submit_up_to(&f, nr);
	after = resident();
	printf("# %s: %llu tasks: %lld KiB resident, then %lld; %llu used\n",
	       options, (unsigned long long)f.nr_done, (long long)before >> 10,
	       (long long)after >> 10, (unsigned long long)used_before);
	ok(before > 0 && after > 0, "%s: what is resident is known", options);
	if (HAS_SANITIZER)
		skip("it stays", "a sanitizer keeps what is freed");
	else
		ok(after - before < BOUND, "it stays, but for %d KiB",
		   BOUND >> 10);
	is(used(f.rt), used_before, "the library's blocks, exactly");
	for (i = 0; i < NR_DATA; i++)
		sum += value_of(f.d[i]);
	is(sum, f.nr_done, "each task has run once");
	for (i = 0; i < NR_DATA; i++)
		lkdf_data_put(f.d[i]);
	lkdf_kind_put(f.k);
	is(lkdf_close(f.rt), 0, "the runtime closes");
}

/* A list whose last task reads what nobody has written. */
static void submit_refused(struct flat *f, struct lkdf_data *never)
{
	const struct lkdf_task *at[20];
	struct lkdf_task t[20];
	struct lkdf_use use[20];
	struct lkdf_event done;
	int i;

	for (i = 0; i < 20; i++) {
		use[i] = ON(i < 19 ? f->d[i] : never, LKDF_RW);
		t[i] = (struct lkdf_task){ .size = sizeof(t[i]),
					   .kind = f->k,
					   .use = &use[i],
					   .nr_use = 1 };
		at[i] = &t[i];
	}
	if (lkdf_submit_many(f->rt, NULL, at, 20, &done) == -ENODATA)
		f->nr_done++;
}

/* Neither sealed nor run. */
static void record_and_put(struct flat *f)
{
	struct lkdf_graph *g = api_graph(f->rt, 1);
	struct lkdf_use use = ON(f->d[0], LKDF_RW);
	struct lkdf_scope *s;
	int i;

	must(lkdf_scope_create(f->rt, NULL, &s));
	must(lkdf_graph_record(g, s));
	for (i = 0; i < 20; i++)
		if (lkdf_submit(f->rt, s,
				ATTR(lkdf_task, .kind = f->k, .use = &use,
				     .nr_use = 1),
				NULL) != i)
			exit(1);
	lkdf_graph_put(g);
	lkdf_scope_put(s);
}

static void what_does_not_run_leaves_nothing(void)
{
	struct flat f = { .rt = api_open_workers(2) };
	struct lkdf_data *never = number(f.rt, NULL, NULL);
	int i, nr = HAS_SANITIZER ? 2000 : 20000;
	int64_t before = 0, after;

	f.k = api_kind(f.rt, "adds", read_and_add, 0, 0);
	for (i = 0; i < NR_DATA; i++)
		f.d[i] = zeros(f.rt, NULL, 2);
	for (i = 0; i < nr; i++) {
		submit_refused(&f, never);
		record_and_put(&f);
		if (i == nr / 10)
			before = resident();
	}
	after = resident();
	printf("# %lld KiB resident, then %lld\n", (long long)before >> 10,
	       (long long)after >> 10);
	is(f.nr_done, nr, "lists are refused, recordings given up");
	if (HAS_SANITIZER)
		skip("no memory is left", "a sanitizer keeps what is freed");
	else
		ok(after - before < BOUND, "it stays, but for %d KiB",
		   BOUND >> 10);
	is(lkdf_scope_wait(f.rt, NULL, -1), 0, "nothing has run");
	for (i = 0; i < NR_DATA; i++)
		lkdf_data_put(f.d[i]);
	lkdf_data_put(never);
	lkdf_kind_put(f.k);
	is(lkdf_close(f.rt), 0, "the runtime closes");
}

int main(int argc, char **argv)
{
	uint64_t nr = HAS_SANITIZER ? 100000 : 1000000;

	if (argc > 1)
		nr = strtoull(argv[1], NULL, 0);
	tap_start(argc > 1 ? 7200 : 240);
	memory_stays_flat("workers=2", nr);
	memory_stays_flat("serial=yes", nr);
	what_does_not_run_leaves_nothing();
	return tap_end();
}
