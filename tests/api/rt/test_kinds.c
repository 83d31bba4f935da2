/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Option kinds: each body is counted under its kind, once, on each way on which
 * bodies are called, also while something is recorded and while its start is
 * put off; what was timed stands for all.
 */
#include "tests/api/family.h"

#include <inttypes.h>
#include <limits.h>

#define NR 1000u
#define NR_RUNS 40u

static uint64_t stat_of(struct lkdf *rt, const char *kind, const char *field)
{
	uint64_t v = UINT64_MAX;
	char name[128];

	snprintf(name, sizeof(name), "lkdf.kind.%s.%s", kind, field);
	if (lkdf_stat(rt, name, &v))
		printf("# %s: %s\n", name, lkdf_errmsg());
	return v;
}

static int nothing(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	return 0;
}

static int spawn_all(struct lkdf_ctx *c, void *arg)
{
	struct lkdf_kind *k = *(struct lkdf_kind **)arg;
	unsigned i;

	for (i = 0; i < NR; i++)
		must(lkdf_spawn(c, k, NULL));
	return lkdf_join(c);
}

static void children_are_counted(struct lkdf *rt)
{
	struct lkdf_kind *child = api_kind(rt, "child", nothing, 0, 0);
	struct lkdf_kind *root =
		api_kind(rt, "root", spawn_all, sizeof(child), 0);
	unsigned i;

	for (i = 0; i < NR_RUNS; i++)
		must(api_call(rt, root, &child));
	is(stat_of(rt, "child", "bodies"), NR_RUNS * NR, "children");
	is(stat_of(rt, "root", "bodies"), NR_RUNS, "and who has spawned them");
	lkdf_kind_put(child);
	lkdf_kind_put(root);
}

static void submitted_ones_are_counted(struct lkdf *rt)
{
	struct lkdf_data *d = zeros(rt, NULL, 1);
	struct lkdf_kind *plain = api_kind(rt, "plain", nothing, 0, 0);
	struct lkdf_kind *uses = api_kind(rt, "uses", add_one, 0, 0);
	struct lkdf_kind *pool =
		api_kind(rt, "pool", nothing, 0, LKDF_BLOCKING);
	struct lkdf_use use = ON(d, LKDF_RW);
	unsigned i;

	for (i = 0; i < NR; i++) {
		must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = plain),
				 NULL));
		must(lkdf_submit(rt, NULL,
				 ATTR(lkdf_task, .kind = uses, .use = &use,
				      .nr_use = 1),
				 NULL));
		if (i % 16 == 0)
			must(lkdf_submit(rt, NULL,
					 ATTR(lkdf_task, .kind = pool), NULL));
	}
	must(lkdf_scope_wait(rt, NULL, -1));
	is(stat_of(rt, "plain", "bodies"), NR, "tasks");
	is(stat_of(rt, "uses", "bodies"), NR, "tasks with data");
	is(stat_of(rt, "pool", "bodies"), (NR + 15) / 16,
	   "tasks of the blocking pool");
	lkdf_data_put(d);
	lkdf_kind_put(plain);
	lkdf_kind_put(uses);
	lkdf_kind_put(pool);
}

/* Those in turn and those that nobody orders, of one data. */
static void tasks_of_graphs_are_counted(struct lkdf *rt)
{
	struct lkdf_data *d = zeros(rt, NULL, 1), *e = zeros(rt, NULL, 1);
	struct lkdf_kind *chain = api_kind(rt, "chain", add_one, 0, 0);
	struct lkdf_kind *any = api_kind(rt, "any", add_one, 0, 0);
	struct lkdf_kind *free = api_kind(rt, "free", nothing, 0, 0);
	struct lkdf_graph *g = api_graph(rt, 1);
	unsigned i;

	for (i = 0; i < NR; i++) {
		must(add_on(g, chain, NULL, ON(d, LKDF_RW)));
		must(add_on(g, any, NULL, ON(e, LKDF_COMMUTE)));
		must(lkdf_graph_add(g, free, NULL, NULL, 0));
	}
	must(lkdf_graph_seal(g, NULL));
	for (i = 0; i < NR_RUNS; i++)
		must(api_run(g, NULL, NULL));
	is(stat_of(rt, "chain", "bodies"), NR_RUNS * NR, "a chain of a graph");
	is(stat_of(rt, "any", "bodies"), NR_RUNS * NR,
	   "one at a time in any order, put off or not");
	is(stat_of(rt, "free", "bodies"), NR_RUNS * NR, "and free ones");
	lkdf_graph_put(g);
	lkdf_data_put(d);
	lkdf_data_put(e);
	lkdf_kind_put(chain);
	lkdf_kind_put(any);
	lkdf_kind_put(free);
}

static uint64_t sum;

static int work(struct lkdf_ctx *c, void *arg)
{
	const uint64_t *steps = arg;
	uint64_t i, v = 1;

	(void)c;
	for (i = 0; i < *steps; i++)
		v = v * 6364136223846793005u + i;
	__atomic_fetch_add(&sum, v, __ATOMIC_RELAXED);
	return 0;
}

/* Of two kinds the one with 64 times the steps takes longer. */
static void time_is_told(struct lkdf *rt)
{
	struct lkdf_kind *brief = api_kind(rt, "brief", work, 8, 0);
	struct lkdf_kind *lengthy = api_kind(rt, "lengthy", work, 8, 0);
	const uint64_t few = 64, many = 64 * 64;
	uint64_t timed;
	unsigned i;

	for (i = 0; i < NR; i++) {
		must(lkdf_submit(rt, NULL,
				 ATTR(lkdf_task, .kind = brief, .arg = &few),
				 NULL));
		must(lkdf_submit(rt, NULL,
				 ATTR(lkdf_task, .kind = lengthy, .arg = &many),
				 NULL));
	}
	must(lkdf_scope_wait(rt, NULL, -1));
	timed = stat_of(rt, "brief", "timed");
	printf("# brief %" PRIu64 " ns by %" PRIu64 ", lengthy %" PRIu64
	       " ns by %" PRIu64 "\n",
	       stat_of(rt, "brief", "ns"), timed, stat_of(rt, "lengthy", "ns"),
	       stat_of(rt, "lengthy", "timed"));
	ok(timed >= 1 && timed <= NR, "some of them are timed");
	ok(stat_of(rt, "lengthy", "ns") > 0, "and tell how long all took");
	lkdf_kind_put(brief);
	lkdf_kind_put(lengthy);
}

static void names_may_be_any(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "a.\"b\".c", nothing, 0, 0);
	char text[1 << 16];
	ssize_t size;
	int fd[2];

	must(api_call(rt, k, NULL));
	is(stat_of(rt, "a.\"b\".c", "bodies"), 1, "a name with dots");
	is(stat_of(rt, "a", "bodies"), UINT64_MAX,
	   "is not what it begins with");
	if (pipe(fd))
		exit(1);
	must(lkdf_describe(rt, "stats", "json", fd[1]));
	size = read(fd[0], text, sizeof(text) - 1);
	text[size > 0 ? size : 0] = '\0';
	ok(strstr(text, "\n\"lkdf.kind.a.\\\"b\\\".c.bodies\":1"),
	   "and is quoted in JSON");
	close(fd[0]);
	close(fd[1]);
	lkdf_kind_put(k);
}

static void test_one(const char *options)
{
	struct lkdf *rt = api_open(options);

	printf("# %s\n", options);
	children_are_counted(rt);
	submitted_ones_are_counted(rt);
	tasks_of_graphs_are_counted(rt);
	time_is_told(rt);
	names_may_be_any(rt);
	is(lkdf_close(rt), 0, "the runtime closes");
}

static void without_the_option_nobody_counts(void)
{
	struct lkdf *rt = api_open("workers=1");
	struct lkdf_kind *k = api_kind(rt, "some", nothing, 0, 0);

	must(api_call(rt, k, NULL));
	is(stat_of(rt, "some", "bodies"), UINT64_MAX, "no such counter");
	lkdf_kind_put(k);
	is(lkdf_close(rt), 0, "the runtime closes");
}

static void recorded_ones_are_counted(void)
{
	char file[] = "/tmp/lkdf-test-kinds.XXXXXX", options[PATH_MAX + 64];
	int fd = mkstemp(file);

	if (fd < 0)
		exit(1);
	snprintf(options, sizeof(options), "workers=2,kinds=yes,trace=%s",
		 file);
	test_one(options);
	close(fd);
	unlink(file);
}

int main(void)
{
	tap_start(60);
	unsetenv("LKDF_TRACE");
	unsetenv("LKDF_KINDS");
	test_one("workers=1,kinds=yes");
	test_one("workers=2,kinds=yes");
	test_one("workers=4,kinds=yes,solo_runs=no");
	test_one("serial=yes,kinds=yes");
	recorded_ones_are_counted();
	without_the_option_nobody_counts();
	return tap_end();
}
