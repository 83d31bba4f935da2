/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* A library of a tool is told of loops, blocks and copies; see lkdf/hooks.h. */
#include "tests/api/api.h"
#include "tests/api/hooks.h"

#include <stdlib.h>

static int block(uint64_t begin, uint64_t end, void *u)
{
	atomic_fetch_add((atomic_ulong *)u, end - begin);
	return 0;
}

static int add(uint64_t begin, uint64_t end, void *acc, void *u)
{
	(void)u;
	*(uint64_t *)acc += end - begin;
	return 0;
}

static int join(void *acc, const void *x, void *u)
{
	(void)u;
	*(uint64_t *)acc += *(const uint64_t *)x;
	return 0;
}

static int inside(struct lkdf_ctx *c, void *arg)
{
	return lkdf_for_in(c, ATTR(lkdf_for_attr, .range = { 0, 50, 0 },
				   .fn = block, .u = *(void **)arg,
				   .name = "inner"));
}

static void run_loops(struct lkdf *rt)
{
	struct lkdf_range r = { .end = 1000 };
	atomic_ulong sum = 0;
	void *at = &sum;
	uint64_t acc = 0;
	struct lkdf_kind *k = api_kind(rt, "inside", inside, sizeof(at), 0);

	must(lkdf_for(rt, r, block, &sum));
	must(lkdf_for_with(rt, ATTR(lkdf_for_attr, .range = r, .fn = block,
				    .u = &sum, .name = "named")));
	must(lkdf_reduce(rt, ATTR(lkdf_reduce_attr, .range = { 0, 100, 10 },
				  .fn = add, .join = join, .acc = &acc,
				  .acc_bytes = sizeof(acc), .name = "sum")));
	must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k, .arg = &at),
			 NULL));
	must(lkdf_scope_wait(rt, NULL, -1));
	is(atomic_load(&sum), 2050, "the loops do what they do");
	is(acc, 100, "and the reduction");
	lkdf_kind_put(k);
}

static void run_blocks(struct lkdf *rt)
{
	struct lkdf_place *p = lkdf_place_node(rt, 0);
	void *a, *b;

	must(lkdf_alloc(p, LKDF_MEM_OWN, 100, 0, "small", &a));
	must(lkdf_alloc(p, LKDF_MEM_INTERLEAVED, 1 << 20, 0, "large", &b));
	lkdf_free(rt, a);
	lkdf_free(rt, b);
}

static void a_tool_is_told(const char *library, const char *options)
{
	char text[600];
	struct lkdf *rt;
	FILE *f = tmpfile();
	int old;

	snprintf(text, sizeof(text), "%s,hooks=%s", options, library);
	rt = api_open(text);
	old = redirect(f);
	run_loops(rt);
	run_blocks(rt);
	is(lkdf_close(rt), 0, "%s: the runtime closes", options);
	take_stderr(f, old);
	ok(strstr(said, "hooks: 4 loops over 2060 iterations, 0 not ended"),
	   "it was told of each loop, begin and end");
	is(hooks_nr("loop", NULL), 4, "four have an id");
	is(hooks_nr_odd(), 0, "used once, and ended once");
	ok(strstr(said, "lkdf_for\n") && strstr(said, "named\n") &&
		   strstr(said, "sum\n") && strstr(said, "inner\n"),
	   "by name, or by the function called");
	ok(strstr(said, "hooks: 2 blocks of 1048676 bytes, 2 freed"),
	   "and of each block");
	ok(strstr(said, "block small on node 0") &&
		   strstr(said, "block large on node -1"),
	   "with label and place");
}

static void the_variable_names_it(const char *library)
{
	FILE *f = tmpfile();
	struct lkdf *rt;
	int old;

	setenv("LKDF_HOOKS", library, 1);
	rt = api_open("workers=1");
	old = redirect(f);
	run_loops(rt);
	is(lkdf_close(rt), 0, "a runtime of LKDF_HOOKS closes");
	take_stderr(f, old);
	has(said, "hooks: 4 loops over 2060 iterations, 0 not ended",
	    "its library was told");
	unsetenv("LKDF_HOOKS");
}

static int leaf_body(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	return 0;
}

static struct lkdf_kind *leaf;

static int root_body(struct lkdf_ctx *c, void *arg)
{
	int i, rc = 0;

	(void)arg;
	for (i = 0; i < 20 && !rc; i++)
		rc = lkdf_spawn(c, leaf, NULL);
	return rc ? rc : lkdf_join(c);
}

#define NR_STATES 64

/* Lines of bodies that begin; -1: some do not end, or end twice. */
static int count_states(const char *path, const char *label)
{
	int open[NR_STATES] = { 0 }, nr = 0, i;
	char line[256], name[64];
	FILE *f = fopen(path, "re");
	unsigned e;

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "3 %*f B e%u \"%63[^\"]", &e, name) == 2) {
			nr += !strcmp(name, label);
			open[e % NR_STATES]++;
		} else if (sscanf(line, "4 %*f B e%u", &e) == 1 &&
			   open[e % NR_STATES]-- <= 0) {
			nr = -1000000;
		}
	}
	for (i = 0; i < NR_STATES; i++)
		nr = open[i] ? -1000000 : nr;
	if (f)
		fclose(f);
	return nr;
}

static void run_bodies(struct lkdf *rt, struct lkdf_kind *blocking)
{
	struct lkdf_kind *root = api_kind(rt, "root", root_body, 0, 0);
	struct lkdf_graph *g;
	uint32_t i;

	must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = root), NULL));
	must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = blocking), NULL));
	must(lkdf_scope_wait(rt, NULL, -1));
	g = api_graph(rt, 1);
	for (i = 0; i < 5; i++)
		lkdf_graph_add(g, leaf, NULL, NULL, 0);
	must(lkdf_graph_seal(g, NULL));
	must(api_run(g, NULL, NULL));
	lkdf_graph_put(g);
	lkdf_kind_put(root);
}

/* Spawned, in the blocking pool, of graphs. */
static void bodies_are_told(const char *build, const char *options)
{
	char text[600], path[] = "/tmp/lkdf-paje-XXXXXX";
	struct lkdf_kind *blocking;
	struct lkdf *rt;
	int fd = mkstemp(path);

	close(fd);
	setenv("HOOKS_PAJE", path, 1);
	snprintf(text, sizeof(text), "%s,hooks=%s/examples/hooks_paje.so",
		 options, build);
	rt = api_open(text);
	leaf = api_kind(rt, "leaf", leaf_body, 0, 0);
	blocking = api_kind(rt, "blocking", leaf_body, 0, LKDF_BLOCKING);
	run_bodies(rt, blocking);
	lkdf_kind_put(leaf);
	lkdf_kind_put(blocking);
	must(lkdf_close(rt));
	is(count_states(path, "root"), 1, "%s: the root is told", options);
	is(count_states(path, "leaf"), 25, "each leaf, begin and end");
	is(count_states(path, "blocking"), 1, "and that of the pool");
	unlink(path);
}

static void what_is_no_tool_is_refused(const char *build)
{
	struct lkdf *rt = NULL;
	char text[600];

	is(lkdf_open("workers=1,hooks=/nonexistent.so", &rt), -ENOENT,
	   "a library that is not there is refused");
	ok(strstr(lkdf_errmsg(), "/nonexistent.so"), "by name: %s",
	   lkdf_errmsg());
	snprintf(text, sizeof(text), "workers=1,hooks=%s/liblkdf.so", build);
	is(lkdf_open(text, &rt), -EINVAL, "so is one without a table");
	ok(strstr(lkdf_errmsg(), "lkdf_hooks"), "which says so: %s",
	   lkdf_errmsg());
	ok(!rt, "no runtime is made");
}

int main(void)
{
	const char *build = getenv("BUILD") ? getenv("BUILD") : "build";
	const char *library = hooks_library();

	tap_start(60);
	a_tool_is_told(library, "workers=1");
	a_tool_is_told(library, "workers=2");
	a_tool_is_told(library, "serial");
	the_variable_names_it(library);
	bodies_are_told(build, "workers=1");
	bodies_are_told(build, "workers=2");
	bodies_are_told(build, "workers=2,stall=60");
	bodies_are_told(build, "serial");
	what_is_no_tool_is_refused(build);
	return tap_end();
}
