/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Places: nodes by the system's numbers, parts, distances; what lkdf_alloc()
 * refuses and with which words. On this machine, on made-up ones, and on one
 * whose nodes are 5, 9 without memory, and 12.
 */
#include "tests/api/api.h"

#include <sys/resource.h>
#include <sys/wait.h>

#define FOUR                                \
	"topology=numa:4 core:2 distances:" \
	"10 12 20 30 14 10 22 32 20 22 10 12 30 32 12 10"

/* A topology file of hwloc: one core on each of the three nodes. */
static void write_machine(char *path)
{
	static const int node[] = { 5, 9, 12 };
	FILE *f = fdopen(mkstemp(path), "w");
	unsigned cpus, nodes;
	int i;

	fprintf(f, "<topology version=\"2.0\">\n<object type=\"Machine\" "
		   "os_index=\"0\" cpuset=\"0x7\" complete_cpuset=\"0x7\" "
		   "allowed_cpuset=\"0x7\" nodeset=\"0x1220\" "
		   "complete_nodeset=\"0x1220\" allowed_nodeset=\"0x1220\" "
		   "gp_index=\"1\">\n");
	for (i = 0; i < 3; i++) {
		static const char *const type[] = { "Package", "NUMANode",
						    "Core", "PU" };
		int os[] = { i, node[i], i, i }, j;

		cpus = 1u << i;
		nodes = 1u << node[i];
		for (j = 0; j < 4; j++)
			fprintf(f,
				"<object type=\"%s\" os_index=\"%d\" "
				"cpuset=\"%#x\" complete_cpuset=\"%#x\" "
				"nodeset=\"%#x\" complete_nodeset=\"%#x\" "
				"gp_index=\"%d\"%s%s>\n",
				type[j], os[j], cpus, cpus, nodes, nodes,
				10 * i + j + 2,
				j == 1 && i != 1 ? " local_memory=\"1048576\""
						 : "",
				j % 2 ? "/" : "");
		fprintf(f, "</object>\n</object>\n");
	}
	fprintf(f, "</object>\n</topology>\n");
	fclose(f);
}

static struct lkdf *open_sparse(void)
{
	char path[] = "/tmp/lkdf-test-XXXXXX", options[64];
	struct lkdf *rt;

	write_machine(path);
	snprintf(options, sizeof(options), "topology=xml:%s", path);
	rt = api_open(options);
	unlink(path);
	return rt;
}

static void all_nodes_are_places(void)
{
	struct lkdf *rt = api_open(FOUR);
	struct lkdf_place *v[5] = { NULL };
	int i;

	is(lkdf_places(rt, LKDF_PLACE_NODE, NULL, 0), 4, "there are four");
	is(lkdf_places(rt, 0, v, 2), 4, "also where there is room for two");
	ok(v[0] && v[1] && !v[2], "which are filled in");
	is(lkdf_places(rt, 0, v, 5), 4, "and with room for five");
	for (i = 0; i < 4; i++)
		ok(v[i] && lkdf_place_id(v[i]) == i &&
			   lkdf_place_node(rt, i) == v[i],
		   "node %d is a place, always the same", i);
	ok(!v[4], "there is no fifth");
	is(lkdf_close(rt), 0, "the runtime closes");
}

static void this_machine_has_places(void)
{
	struct lkdf *rt = api_open("workers=1");
	struct lkdf_place *p;
	void *block;

	ok(lkdf_places(rt, 0, &p, 1) >= 1, "one at least");
	ok(lkdf_place_node(rt, lkdf_place_id(p)) == p,
	   "found by the system's number");
	is(lkdf_alloc(p, LKDF_MEM_OWN, 100, 0, NULL, &block), 0,
	   "it has memory");
	lkdf_free(rt, block);
	is(lkdf_close(rt), 0, "the runtime closes");
}

static void kinds_that_are_not_built_are_named(void)
{
	struct lkdf *rt = api_open(FOUR);

	is(lkdf_places(rt, LKDF_PLACE_IO, NULL, 0), -EOPNOTSUPP, "rings");
	has(lkdf_errmsg(), "LKDF_PLACE_IO", "by name");
	is(lkdf_places(rt, LKDF_PLACE_NODE | LKDF_PLACE_IO, NULL, 0),
	   -EOPNOTSUPP, "rings, with nodes");
	is(lkdf_places(rt, LKDF_PLACE_NODE | LKDF_PLACE_GPU, NULL, 0), 4,
	   "no GPU beside four nodes");
	is(lkdf_places(rt, LKDF_PLACE_USER, NULL, 0), 0,
	   "no device of the user's");
	is(lkdf_places(rt, 64, NULL, 0), -EINVAL, "unknown ones");
	has(lkdf_errmsg(), "0x40", "with the bits");
	is(lkdf_places(rt, 0, NULL, 3), -EINVAL, "room, but no array");
	is(lkdf_places(NULL, 0, NULL, 0), -EINVAL, "no runtime");
	is(lkdf_close(rt), 0, "the runtime closes");
}

static void nodes_go_by_the_systems_numbers(void)
{
	struct lkdf *rt = open_sparse();

	is(lkdf_places(rt, 0, NULL, 0), 3, "there are three");
	is(lkdf_place_id(lkdf_place_node(rt, 12)), 12, "one is node 12");
	ok(!lkdf_place_node(rt, 0), "none is node 0");
	has(lkdf_errmsg(), "no node 0", "it says which");
	has(lkdf_errmsg(), "5,9,12", "and which there are");
	ok(!lkdf_place_node(rt, -1), "there is no node -1");
	ok(!lkdf_place_node(NULL, 5), "NULL has none");
	is(lkdf_place_id(NULL), -EINVAL, "no place has no number");
	is(lkdf_close(rt), 0, "the runtime closes");
}

static void distances_are_those_of_the_machine(void)
{
	struct lkdf *rt = api_open(FOUR), *other = api_open("workers=1");
	struct lkdf_place *p0 = lkdf_place_node(rt, 0), *foreign;
	struct lkdf_place *p1 = lkdf_place_node(rt, 1);

	is(lkdf_place_distance(p0, p0), 10, "local");
	is(lkdf_place_distance(p0, p1), 12, "from 0 to 1");
	is(lkdf_place_distance(p1, p0), 14, "from 1 to 0 it is another");
	is(lkdf_place_distance(p1, lkdf_place_node(rt, 3)), 32, "far");
	is(lkdf_place_distance(p0, NULL), -EINVAL, "NULL is refused");
	must(lkdf_places(other, 0, &foreign, 1));
	is(lkdf_place_distance(p0, foreign), -EINVAL,
	   "so is a place of another runtime");
	has(lkdf_errmsg(), "different runtimes", "with the reason");
	is(lkdf_close(other), 0, "the other closes");
	is(lkdf_close(rt), 0, "the runtime closes");
}

static void bad_parts_are_refused(void)
{
	struct lkdf *rt = api_open(FOUR);
	struct lkdf_place *p = lkdf_place_node(rt, 2), *q = NULL;

	is(lkdf_place_part(p, 2, 2, &q), -EINVAL, "part 2 of 2 is refused");
	has(lkdf_errmsg(), "part 2 of 2", "by its numbers");
	is(lkdf_place_part(p, 0, 0, &q), -EINVAL, "so are no parts");
	is(lkdf_place_part(p, 0, 1025, &q), -EINVAL, "and too many");
	is(lkdf_place_part(NULL, 0, 1, &q), -EINVAL, "and parts of nothing");
	is(lkdf_place_part(p, 0, 1, NULL), -EINVAL, "and nowhere to put it");
	ok(!q, "nothing was given");
	must(lkdf_place_part(p, 0, 1, &q));
	ok(q == p, "all of one part is the place");
	is(lkdf_close(rt), 0, "the runtime closes");
}

static void bad_requests_are_refused(void)
{
	static const struct {
		uint64_t bytes, align;
		enum lkdf_mem_kind m;
		int rc;
		const char *text;
	} rows[] = {
		{ 0, 0, LKDF_MEM_OWN, -EINVAL, "0 bytes" },
		{ (1ull << 46) + 1, 0, LKDF_MEM_OWN, -EINVAL, "2^46" },
		{ UINT64_MAX, 0, LKDF_MEM_OWN, -EINVAL, "2^46" },
		{ UINT64_MAX - 62, 64, LKDF_MEM_OWN, -EINVAL, "2^46" },
		{ 64, 3, LKDF_MEM_OWN, -EINVAL, "alignment 3" },
		{ 64, 96, LKDF_MEM_OWN, -EINVAL, "alignment 96" },
		{ 64, 1ull << 31, LKDF_MEM_OWN, -EINVAL, "up to 2^30" },
		{ 64, UINT64_MAX, LKDF_MEM_OWN, -EINVAL, "alignment" },
		{ 64, 0, LKDF_MEM_MANAGED, -EOPNOTSUPP, "LKDF_MEM_MANAGED" },
		{ 64, 0, (enum lkdf_mem_kind)17, -EINVAL, "kind 17" },
	};
	struct lkdf *rt = api_open(FOUR);
	struct lkdf_place *p = lkdf_place_node(rt, 1);
	void *block = rt;
	int rc = 0;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		is(lkdf_alloc(p, rows[i].m, rows[i].bytes, rows[i].align, NULL,
			      &block),
		   rows[i].rc, "%s", rows[i].text);
		has(lkdf_errmsg(), rows[i].text, "is what it says");
	}
	is(lkdf_alloc(NULL, LKDF_MEM_OWN, 64, 0, NULL, &block), -EINVAL,
	   "no place");
	is(lkdf_alloc(p, LKDF_MEM_OWN, 64, 0, NULL, NULL), -EINVAL,
	   "nowhere to put it");
	ok(block == rt, "out is not touched");
	/* Address space for two of them is not left. */
	for (i = 0; i < 2 && !rc; i++)
		rc = lkdf_alloc(p, LKDF_MEM_OWN, 1ull << 46, 0, NULL, &block);
	is(rc, -ENOMEM, "more than there can be");
	has(lkdf_errmsg(), "on node 1", "says where");
	is(lkdf_close(rt), 0, "the runtime closes");
}

static void a_node_without_memory_says_which_has(void)
{
	static const enum lkdf_mem_kind kinds[] = { LKDF_MEM_OWN,
						    LKDF_MEM_HOST_PINNED };
	static const uint64_t bytes[] = { 64, 8 << 20 };
	struct lkdf *rt = open_sparse();
	struct lkdf_place *p = lkdf_place_node(rt, 9);
	void *block;
	int i;

	for (i = 0; i < 4; i++) {
		is(lkdf_alloc(p, kinds[i / 2], bytes[i % 2], 0, NULL, &block),
		   -ENOMEM, "node 9 has none");
		has(lkdf_errmsg(), "node 9 has no memory", "it says so");
		has(lkdf_errmsg(), "node 5", "and which is the nearest");
	}
	is(lkdf_alloc(p, LKDF_MEM_INTERLEAVED, 64, 0, NULL, &block), 0,
	   "interleaved memory is of the others");
	lkdf_free(rt, block);
	is(lkdf_close(rt), 0, "the runtime closes");
}

static void a_limit_is_told(void)
{
	struct lkdf *rt = api_open(FOUR ",memory_limit=8");
	struct lkdf_place *p = lkdf_place_node(rt, 3);
	void *block, *other;

	is(lkdf_alloc(p, LKDF_MEM_OWN, 9 << 20, 0, "big", &block), -ENOMEM,
	   "more than the limit");
	has(lkdf_errmsg(), "memory_limit=8 MiB", "names the option");
	has(lkdf_errmsg(), "9437184 bytes on node 3", "and what was asked for");
	is(lkdf_alloc(p, LKDF_MEM_OWN, 6 << 20, 0, "big", &block), 0,
	   "less than the limit");
	is(lkdf_alloc(p, LKDF_MEM_OWN, 6 << 20, 0, "big", &other), 0,
	   "the next one comes from another node");
	lkdf_free(rt, other);
	lkdf_free(rt, block);
	is(lkdf_close(rt), 0, "the runtime closes");
	rt = api_open(FOUR ",memory_limit=8,memory_strict=yes");
	p = lkdf_place_node(rt, 3);
	must(lkdf_alloc(p, LKDF_MEM_OWN, 6 << 20, 0, "big", &block));
	is(lkdf_alloc(p, LKDF_MEM_OWN, 6 << 20, 0, "big", &other), -ENOMEM,
	   "but not where that is forbidden");
	has(lkdf_errmsg(), "memory_limit=8 MiB", "which names the option");
	lkdf_free(rt, block);
	is(lkdf_alloc(p, LKDF_MEM_OWN, 7 << 20, 0, "big", &block), 0,
	   "what was freed can be had again");
	lkdf_free(rt, block);
	is(lkdf_close(rt), 0, "the runtime closes");
}

/* In a process of its own: limits and users do not come back. */
static int lock_as_nobody(rlim_t limit, int want)
{
	struct rlimit r = { limit, limit };
	void *block;
	struct lkdf *rt;
	int rc;

	if (setrlimit(RLIMIT_MEMLOCK, &r) || (geteuid() == 0 && setuid(65534)))
		return 10;
	if (lkdf_open("serial=yes,memory_limit=1000", &rt))
		return 11;
	rc = lkdf_alloc(lkdf_place_node(rt, 0), LKDF_MEM_HOST_PINNED, 6 << 20,
			0, NULL, &block);
	if (rc != want || !strstr(lkdf_errmsg(), "ulimit -l"))
		printf("# %d: %s\n", rc, lkdf_errmsg());
	if (rc != want)
		return 12;
	if (!strstr(lkdf_errmsg(), "ulimit -l"))
		return 13;
	return lkdf_close(rt) ? 14 : 0;
}

static void locked_memory_has_a_limit(void)
{
	int status, i;

	if (HAS_SANITIZER) {
		skip("locked memory has a limit",
		     "a sanitizer locks nothing, and says it does");
		return;
	}
	for (i = 0; i < 2; i++) {
		fflush(stdout);
		if (!fork())
			_exit(lock_as_nobody(i ? 65536 : 0,
					     i ? -ENOMEM : -EPERM));
		wait(&status);
		is(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0,
		   "%s locked: %s", i ? "64 KiB may be" : "nothing may be",
		   i ? "-ENOMEM" : "-EPERM");
	}
}

int main(void)
{
	tap_start(60);
	all_nodes_are_places();
	this_machine_has_places();
	kinds_that_are_not_built_are_named();
	nodes_go_by_the_systems_numbers();
	distances_are_those_of_the_machine();
	bad_parts_are_refused();
	bad_requests_are_refused();
	a_node_without_memory_says_which_has();
	a_limit_is_told();
	locked_memory_has_a_limit();
	return tap_end();
}
