/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Memory: wrong frees, leaks and labels are reported, bytes are counted. */
#include "tests/api/heard.h"

static void wrong_frees_are_reported(void)
{
	struct lkdf *rt = open_heard("topology=numa:2 core:1");
	struct lkdf *other = api_open("workers=1");
	struct lkdf_place *p = lkdf_place_node(rt, 1), *q;
	char *small, *large, *foreign;
	int on_stack, i;

	small = alloc(p, 1000, "a matrix");
	large = alloc(p, 5 << 20, "a field");
	must(lkdf_places(other, 0, &q, 1));
	foreign = alloc(q, 100, NULL);
	lkdf_free(rt, NULL);
	is(said.nr, 0, "NULL may be freed");
	lkdf_free(rt, &on_stack);
	lkdf_free(rt, foreign);
	lkdf_free(rt, (void *)8);
	lkdf_free(rt, (void *)(UINTPTR_MAX & ~63ul));
	is(said.nr, 4, "foreign pointers are reported, four times");
	for (i = 0; i < said.nr; i++) {
		has(line(i), "is no block of this runtime", "as foreign");
		is(said.level[i], LKDF_LOG_ERROR, "as an error");
	}
	has(lkdf_errmsg(), "is no block of this runtime", "errmsg, too");
	said.nr = 0;
	lkdf_free(rt, small + 16);
	has(line(0),
	    "16 bytes inside a block of 1024 bytes \"a matrix\" "
	    "on node 1",
	    "inside a small block");
	lkdf_free(rt, large + 64);
	has(line(1), "64 bytes inside a block of", "inside a large block");
	has(line(1), "\"a field\" on node 1", "by its label");
	said.nr = 0;
	lkdf_free(rt, small);
	lkdf_free(rt, large);
	is(said.nr, 0, "they can still be freed");
	lkdf_free(rt, small);
	has(line(0), "1024 bytes \"a matrix\" on node 1, is free already",
	    "a small one freed twice");
	lkdf_free(rt, large);
	has(line(1), "\"a field\" on node 1, is free already",
	    "a large one freed twice");
	is(said.nr, 2, "each once");
	lkdf_free(other, foreign);
	is(lkdf_close(other), 0, "the other closes");
	is(lkdf_close(rt), 0, "the runtime closes");
	is(said.nr, 2, "nothing is left");
}

static void leaks_are_told_by_label(void)
{
	struct lkdf *rt = open_heard("topology=numa:2 core:1");
	struct lkdf_place *p = lkdf_place_node(rt, 0);
	struct lkdf_place *q = lkdf_place_node(rt, 1);
	void *block;
	int i;

	for (i = 0; i < 100; i++)
		lkdf_free(rt, alloc(p, 64, "freed"));
	for (i = 0; i < 3; i++)
		alloc(q, 200, "three");
	alloc(p, 64, NULL);
	must(lkdf_alloc(p, LKDF_MEM_INTERLEAVED, 3 << 20, 0, "wide", &block));
	alloc(p, 1024,
	      "a label of more than sixty-three bytes, of which the "
	      "last ones do not count");
	is(lkdf_close(rt), 0, "the runtime closes");
	is(said.nr, 4, "one line for each label and node");
	has(line(0), "\"wide\" 1 block, 3145728 bytes, interleaved",
	    "the largest first");
	has(line(1),
	    "\"a label of more than sixty-three bytes, of which the "
	    "last ones \" 1 block, 1024 bytes, on node 0",
	    "63 bytes of a label");
	has(line(2), "\"three\" 3 blocks, 768 bytes, on node 1",
	    "sizes as rounded up");
	has(line(3), "\"\" 1 block, 64 bytes, on node 0", "one has no label");
	is(said.level[0], LKDF_LOG_INFO, "it is no error");
}

static void many_leaks_are_summed_up(void)
{
	struct lkdf *rt = open_heard("topology=numa:2 core:1");
	struct lkdf_place *p = lkdf_place_node(rt, 0);
	char label[16];
	int i, n;

	for (i = 1; i <= 20; i++) {
		snprintf(label, sizeof(label), "l%d", i * 7 % 20 + 1);
		for (n = 0; n < i * 7 % 20 + 1; n++)
			alloc(p, 3 << 20, label);
	}
	is(lkdf_close(rt), 0, "the runtime closes");
	is(said.nr, 17, "16 lines and one");
	has(line(0), "\"l20\" 20 blocks, 62914560 bytes", "the largest");
	has(line(15), "\"l5\" 5 blocks, 15728640 bytes", "the 16th");
	has(line(16), "4 more labels: 10 blocks, 31457280 bytes", "the others");
}

static void a_label_does_not_stick(void)
{
	struct lkdf *rt = open_heard("topology=numa:2 core:1");
	struct lkdf_place *p = lkdf_place_node(rt, 0);
	static const uint64_t size[] = { 64, 5 << 20 };
	void *old, *new;
	int i;

	for (i = 0; i < 2; i++) {
		old = alloc(p, size[i], "old");
		lkdf_free(rt, old);
		new = alloc(p, size[i], NULL);
		ok(new == old, "a block is used again");
		lkdf_free(rt, new);
		lkdf_free(rt, new);
		has(line(i), "\"\" on node 0", "without its old label");
	}
	lkdf_free(rt, alloc(p, 64, "old"));
	new = alloc(p, 64, "new");
	lkdf_free(rt, new);
	lkdf_free(rt, new);
	has(line(2), "\"new\" on node 0", "or with its new one");
	is(lkdf_close(rt), 0, "the runtime closes");
}

static void used_bytes_are_counted_exactly(void)
{
	struct lkdf *rt = open_heard("topology=numa:2 core:1");
	struct lkdf_place *p = lkdf_place_node(rt, 1);
	void *v[100], *block;
	uint64_t peak;
	int i;

	is(stat_of(rt, "lkdf.node.1.memory.used"), 0, "nothing at first");
	for (i = 0; i < 100; i++)
		v[i] = alloc(p, 100, i % 2 ? "odd" : NULL);
	is(stat_of(rt, "lkdf.node.1.memory.used"), 12800,
	   "100 blocks of 100 bytes are 12800");
	is(stat_of(rt, "lkdf.node.0.memory.used"), 0, "on node 1 only");
	is(stat_of(rt, "lkdf.node.0.memory.mapped"), 0, "0 has nothing");
	for (i = 0; i < 50; i++)
		lkdf_free(rt, v[i]);
	is(stat_of(rt, "lkdf.node.1.memory.used"), 6400, "half is freed");
	block = alloc(p, 16 << 20, NULL);
	is(stat_of(rt, "lkdf.node.1.memory.used"), 6400 + (16 << 20),
	   "a large one counts");
	peak = stat_of(rt, "lkdf.node.1.memory.peak");
	lkdf_free(rt, block);
	is(stat_of(rt, "lkdf.node.1.memory.used"), 6400, "and is gone");
	ok(peak >= 6400 + (16 << 20) &&
		   stat_of(rt, "lkdf.node.1.memory.peak") == peak,
	   "the peak stays");
	ok(stat_of(rt, "lkdf.node.1.memory.cached") >= 16 << 20,
	   "it is cached");
	ok(stat_of(rt, "lkdf.node.1.memory.mapped") >=
		   6400 + stat_of(rt, "lkdf.node.1.memory.cached"),
	   "what is mapped is more");
	must(lkdf_alloc(p, LKDF_MEM_INTERLEAVED, 3000, 0, NULL, &block));
	is(stat_of(rt, "lkdf.memory.interleaved.used"), 3072, "interleaved");
	lkdf_free(rt, block);
	must(lkdf_alloc(p, LKDF_MEM_HOST_PINNED, 100, 0, NULL, &block));
	is(stat_of(rt, "lkdf.node.1.pinned.used"), 128, "pinned");
	lkdf_free(rt, block);
	is(stat_of(rt, "lkdf.node.1.memory.used"), 6400, "apart");
	for (i = 50; i < 100; i++)
		lkdf_free(rt, v[i]);
	is(stat_of(rt, "lkdf.node.1.memory.used"), 0, "nothing at last");
	is(lkdf_close(rt), 0, "the runtime closes");
}

static void unknown_stats_are_refused(void)
{
	static const char *const bad[] = {
		"lkdf.node.2.memory.used",  "lkdf.node.1.memory.",
		"lkdf.node.1.memory",	    "lkdf.node.1.memory.usedx",
		"lkdf.node.01.memory.used", "lkdf.memory.interleaved",
		"lkdf.node.-1.memory.used", "lkdf.memory.used",
	};
	struct lkdf *rt = open_heard("topology=numa:2 core:1");
	uint64_t v = 5;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		is(lkdf_stat(rt, bad[i], &v), -ENOENT, "there is no %s",
		   bad[i]);
	is(v, 5, "the value is not touched");
	is(lkdf_close(rt), 0, "the runtime closes");
}

/* This thread is on node 0, as all are on a made-up machine. */
static void frees_from_elsewhere_are_counted(void)
{
	struct lkdf *rt = open_heard("topology=numa:2 core:1");
	struct lkdf_place *near = lkdf_place_node(rt, 0);
	struct lkdf_place *far = lkdf_place_node(rt, 1);
	enum {
		NR = 3000
	};
	static void *v[2][NR];
	int i;

	if (stat_of(rt, "lkdf.node.1.memory.remote_frees")) {
		ok(false, "nothing was freed yet");
		return;
	}
	for (i = 0; i < NR; i++) {
		v[0][i] = alloc(near, 64, NULL);
		v[1][i] = alloc(far, 64, NULL);
	}
	for (i = 0; i < NR; i++) {
		lkdf_free(rt, v[0][i]);
		lkdf_free(rt, v[1][i]);
	}
	is(stat_of(rt, "lkdf.node.0.memory.remote_frees"), 0, "none at home");
	ok(stat_of(rt, "lkdf.node.1.memory.remote_frees") >= NR / 2,
	   "most of the others' are counted by now");
	is(lkdf_close(rt), 0, "the runtime closes");
}

int main(void)
{
	tap_start(60);
	wrong_frees_are_reported();
	leaks_are_told_by_label();
	many_leaks_are_summed_up();
	a_label_does_not_stick();
	used_bytes_are_counted_exactly();
	unknown_stats_are_refused();
	frees_from_elsewhere_are_counted();
	return tap_end();
}
