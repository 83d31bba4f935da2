/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "base/err.h"
#include "base/util.h"
#include "tests/fixtures/topo/tree.h"
#include "tests/tap.h"
#include "topo/cpulist.h"
#include "topo/topo.h"

#include <errno.h>
#include <sched.h>

static struct topo *must_open(const char *synthetic, const char *cpus)
{
	struct topo_attr a = { .synthetic = synthetic, .cpus = cpus };
	struct topo *t = NULL;

	if (topo_open(&a, &t)) {
		printf("Bail out! %s: %s\n", synthetic, err_text());
		exit(1);
	}
	return t;
}

static int refused(const char *synthetic, const char *cpus)
{
	struct topo_attr a = { .synthetic = synthetic, .cpus = cpus };
	struct topo *t = NULL;
	int rc = topo_open(&a, &t);

	ok(!t, "out is untouched");
	return rc;
}

static void synthetic_machines_have_their_size(void)
{
	static const int nodes[] = { 1, 2, 4, 8 };
	char text[32];
	struct topo *t;
	size_t i;
	int n;

	for (i = 0; i < ARRAY_SIZE(nodes); i++) {
		n = nodes[i];
		snprintf(text, sizeof(text), "numa:%d core:2 pu:2", n);
		t = must_open(text, NULL);
		is(t->nr_nodes, n, "%s: nodes", text);
		is(t->nr_cpus, 4 * n, "%s: CPUs", text);
		is(t->nr_cores, 2 * n, "%s: cores", text);
		is(t->nr_l3, n, "%s: without L3 a node is a group", text);
		is(t->node[n - 1].nr_cpus, 4, "%s: CPUs of the last", text);
		is(t->cpu[4 * n - 1].node, n - 1, "%s: last CPU", text);
		is(topo_distance(t, 0, 0), 10, "%s: local", text);
		is(topo_distance(t, n - 1, 0), n > 1 ? 20 : 10,
		   "%s: remote without a matrix", text);
		ok(t->is_synthetic, "%s: is synthetic", text);
		is(t->quota, 0, "%s: no quota", text);
		has(t->source, text, "the source names the text");
		topo_close(t);
	}
}

static void synthetic_caches_group_cpus(void)
{
	struct topo *t = must_open("numa:2 l3:2 core:2", "0-2,4-7");

	is(t->nr_l3, 4, "two L3 on each of two nodes");
	is(t->nr_cpus, 7, "one CPU is cut away, no pu means one per core");
	is(t->l3[1].nr_cpus, 1, "its L3 keeps one CPU");
	ok(t->l3[0].bytes > 0, "the size is known");
	is(t->cpu[6].l3, 3, "the last CPU is in the last L3");
	topo_close(t);
}

static void a_matrix_gives_distances(void)
{
	struct topo *t;

	t = must_open("numa:2 core:1 distances:10,21,31,11", NULL);
	is(topo_distance(t, 0, 1), 21, "row 0");
	is(topo_distance(t, 1, 0), 31, "row 1");
	is(topo_distance(t, 1, 1), 11, "even local ones");
	topo_close(t);
}

#define SETS(MASK)                                                         \
	"cpuset=\"" MASK "\" complete_cpuset=\"" MASK "\" nodeset=\"" MASK \
	"\" complete_nodeset=\"" MASK "\" "
#define OBJECT(KIND, INDEX, MASK, MORE) \
	"<object type=\"" KIND "\" os_index=\"" INDEX "\" " SETS(MASK) MORE ">"
#define NODE(INDEX, MASK)                                      \
	OBJECT("Package", INDEX, MASK, "")                     \
	OBJECT("NUMANode", INDEX, MASK, "local_memory=\"0\"/") \
	OBJECT("PU", INDEX, MASK, "/")                         \
	"</object>\n"

/* clang-format off */
static const char three_nodes[] =
	"<topology version=\"2.0\">\n"
	OBJECT("Machine", "0", "0x7",
	       "allowed_cpuset=\"0x7\" allowed_nodeset=\"0x7\"")
	NODE("0", "0x1") NODE("1", "0x2") NODE("2", "0x4")
	"</object>\n"
	"<distances2 type=\"NUMANode\" nbobjs=\"3\" kind=\"5\" indexing=\"os\">\n"
	"<indexes length=\"6\">0 1 2 </indexes>\n"
	"<u64values length=\"27\">10 20 30 20 10 40 30 40 10 </u64values>\n"
	"</distances2></topology>\n";
/* clang-format on */

/* Synthetic nodes have memory with some releases of hwloc. */
static void a_node_without_use_is_dropped(void)
{
	char text[PATH_MAX + 8];
	struct tree tree;
	struct topo *t;

	tree_init(&tree);
	tree_write(&tree, "a.xml", three_nodes);
	snprintf(text, sizeof(text), "xml:%s", tree_path(&tree, "a.xml"));
	t = must_open(text, NULL);
	is(t->nr_nodes, 3, "three nodes of a CPU each, without memory");
	is(topo_distance(t, 1, 2), 40, "and their distances");
	topo_close(t);
	t = must_open(text, "0,2");
	is(t->nr_nodes, 2, "a node without use is dropped");
	is(t->node[1].os_node, 2, "the third one remains");
	is(topo_distance(t, 0, 1), 30, "and keeps its distance");
	topo_close(t);
	tree_remove(&tree);
}

static void bad_machines_are_refused(void)
{
	static char text[2000];

	is(refused("numa:2 distances:10,20,20", NULL), -EINVAL, "3 of 4");
	has(err_text(), "3 numbers, 2 nodes need 4", "both counts are named");
	is(refused("numa:2 distances:10,20,20,10,5", NULL), -EINVAL, "5 of 4");
	is(refused("numa:2 distances:", NULL), -EINVAL, "0 of 4");
	is(refused("numa:1 distances:0", NULL), -EINVAL, "a zero");
	is(refused("numa:1 distances:-1", NULL), -EINVAL, "a negative one");
	is(refused("numa:2 distances:10,x,20,10", NULL), -EINVAL, "a letter");
	has(err_text(), "at \"x,20,10\"", "the place is named");
	is(refused("bogus:2", NULL), -EINVAL, "an unknown level");
	has(err_text(), "synthetic=bogus:2", "the text is named");
	is(refused("xml:/nonexistent", NULL), -EINVAL, "a missing XML file");
	memset(text, 'x', sizeof(text) - 1);
	is(refused(text, NULL), -EINVAL, "a text without end");
	has(err_text(), "longer than", "the limit is named");
}

static void a_damaged_xml_file_is_refused(void)
{
	char text[PATH_MAX + 8];
	struct tree tree;
	int rc;

	tree_init(&tree);
	tree_write(&tree, "a.xml", "<topology version=\"2.0\"><object");
	snprintf(text, sizeof(text), "xml:%s", tree_path(&tree, "a.xml"));
	rc = refused(text, NULL);
	ok(rc == -EINVAL || rc == -EIO, "a torn XML file is refused: %d", rc);
	has(err_text(), "topo: ", "with a message");
	tree_remove(&tree);
}

static void bad_lists_are_refused(void)
{
	static const char *const bad[] = {
		"x",   "0,",	",0",  "0,,1", "1-",	      "-1",  "3-1",
		"0 1", "0-1-2", "0x1", "+1",   "99999999999", "1,x", "0;1",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		is(refused("numa:1 core:4", bad[i]), -EINVAL, "\"%s\"", bad[i]);
		has(err_text(), "expected a list such as 0,2-5",
		    "the message shows a good one");
	}
	is(refused("numa:1 core:4", "0-4"), -EINVAL, "one CPU too many");
	has(err_text(), "topo: cpus=4: this process may use 0-3",
	    "the message names it");
	is(refused("numa:1 core:4", "0-1000000"), -EINVAL, "far too many");
	has(err_text(), "cpus=4:", "the first one is named");
}

static void good_lists_are_taken(void)
{
	static const struct {
		const char *list;
		int nr;
	} good[] = {
		{ "0", 1 },	{ "0-3", 4 },	  { "3,1", 2 },
		{ "1,1,1", 1 }, { "0-2,1-3", 4 }, { " 2 \n", 1 },
		{ "2-2", 1 },	{ "", 4 },	  { " ", 4 },
	};
	struct topo *t;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(good); i++) {
		t = must_open("numa:1 core:4", good[i].list);
		is(t->nr_cpus, good[i].nr, "list %zu", i);
		topo_close(t);
	}
}

static void lists_are_written_short(void)
{
	static const int v[] = { 0, 1, 2, 5, 7, 8, 100 };
	char buf[32];

	cpulist_text(v, ARRAY_SIZE(v), buf, sizeof(buf));
	ok(!strcmp(buf, "0-2,5,7-8,100"), "ranges are joined: %s", buf);
	cpulist_text(v, 0, buf, sizeof(buf));
	ok(!strcmp(buf, ""), "nothing is empty");
	cpulist_text(v, ARRAY_SIZE(v), buf, 10);
	ok(!strcmp(buf, "0-2,5..."), "a cut list says so: %s", buf);
}

static void workers_follow_cores_and_quota(void)
{
	struct topo *t = must_open("numa:2 core:4 pu:2", NULL);

	is(topo_default_workers(t, false), 8, "one per core");
	t->quota = 3;
	is(topo_default_workers(t, false), 3, "the quota limits");
	is(topo_default_workers(t, true), 8, "not those in reserve");
	t->quota = 100;
	is(topo_default_workers(t, false), 8, "a large one does not");
	topo_close(t);
}

/* How many of the workers are on a node. */
static int count_on(const struct topo *t, const int *where, int nr, int node)
{
	int w, n = 0;

	for (w = 0; w < nr; w++)
		n += t->cpu[where[w]].node == node;
	return n;
}

static void every_count_of_workers_is_fair(void)
{
	struct topo *t = must_open("numa:3 core:4 pu:2", "0-7,8-9,16-17,20");
	int where[64], nr, w, used[16], i, most, cores;
	bool is_own, is_fair = true, is_sorted = true, is_spread = true;

	is(t->nr_cpus, 13, "nodes of 8, 2 and 3 CPUs");
	is(t->nr_cores, 7, "of 4, 1 and 2 cores");
	for (nr = 1; nr <= 40; nr++) {
		memset(used, 0, sizeof(used));
		is_own = topo_place_workers(t, nr, false, NULL, where) ==
			 TOPO_DEAL_OWN;
		for (w = 0; w < nr; w++) {
			used[where[w]]++;
			is_sorted = is_sorted &&
				    (!w || t->cpu[where[w]].node >=
						   t->cpu[where[w - 1]].node);
		}
		for (i = most = cores = 0; i < t->nr_cpus; i++) {
			most = used[i] > most ? used[i] : most;
			cores += t->cpu[i].smt == 0 && used[i];
		}
		is_fair = is_fair && most == (nr + 12) / 13 &&
			  is_own == (nr <= 13);
		is_spread = is_spread && cores == (nr < 7 ? nr : 7);
	}
	ok(is_fair, "no CPU has two workers more than needed");
	ok(is_spread, "no core has two while another has none");
	ok(is_sorted, "workers of a node are neighbours");
	topo_place_workers(t, 7, false, NULL, where);
	is(count_on(t, where, 7, 0), 4, "node 0 has 4 of 7 workers");
	is(count_on(t, where, 7, 1), 1, "node 1 has 1 of 7 workers");
	topo_close(t);
}

static void few_workers_are_spread(void)
{
	struct topo *t = must_open("numa:4 core:8", NULL);
	int where[8];

	is(topo_place_workers(t, 2, false, NULL, where), TOPO_DEAL_OWN,
	   "two workers fit");
	is(t->cpu[where[0]].node, 0, "the first is on node 0");
	is(t->cpu[where[1]].node, 2, "the second is on node 2");
	topo_close(t);
}

static void workers_per_node_are_equal(void)
{
	struct topo *t = must_open("numa:2 core:4", "0-3,4");
	int where[6];

	is(topo_place_workers(t, 6, true, NULL, where), TOPO_DEAL_CROWDED,
	   "node 1 has one CPU for 3");
	is(count_on(t, where, 6, 0), 3, "three on node 0");
	is(count_on(t, where, 6, 1), 3, "three on node 1");
	is(where[5], 4, "they share its CPU");
	is(topo_place_workers(t, 2, true, NULL, where), TOPO_DEAL_OWN,
	   "one on each node fits");
	topo_close(t);
}

/* Of two nodes with two cores of two threads each: CPUs 0-3 and 4-7. */
static void taken_cpus_are_left_alone(void)
{
	struct topo *t = must_open("numa:2 core:2 pu:2", NULL);
	bool is_taken[8] = { true, true, false, false, true };
	int where[9], w;

	is(topo_place_workers(t, 1, false, is_taken, where), TOPO_DEAL_OWN,
	   "one worker of five taken CPUs beside");
	is(where[0], 5, "it has the only core that is free");
	is(topo_place_workers(t, 5, false, is_taken, where), TOPO_DEAL_OWN,
	   "five workers have the five that are left");
	for (w = 0; w < 5 && !is_taken[where[w]]; w++)
		;
	is(w, 5, "and none that is taken");
	is(count_on(t, where, 5, 1), 3, "three of them on node 1");
	is(topo_place_workers(t, 6, false, is_taken, where), TOPO_DEAL_SHARED,
	   "six have to share");
	is(count_on(t, where, 6, 1), 3, "as if none were taken");
	is(topo_place_workers(t, 6, true, is_taken, where), TOPO_DEAL_SHARED,
	   "nor has node 0 three for three");
	is(topo_place_workers(t, 9, false, is_taken, where), TOPO_DEAL_CROWDED,
	   "nine do not fit");
	memset(is_taken, true, sizeof(is_taken));
	is(topo_place_workers(t, 8, false, is_taken, where), TOPO_DEAL_SHARED,
	   "where all are taken all are shared");
	topo_close(t);
}

static void descriptions_tell_it_all(void)
{
	struct topo *t = must_open("numa:2 l3:1 core:2 pu:2 "
				   "distances:10,21,22,10",
				   NULL);
	int where[3];
	char *text;

	topo_place_workers(t, 3, false, NULL, where);
	is(topo_describe(t, "text", where, 3, &text), 0, "as text");
	has(text, "2 nodes, 4 cores, 8 cpus", "the sum");
	has(text, "cpus 0-3  workers 0-1", "CPUs and workers of an L3");
	has(text, "        1   22   10\n", "the matrix");
	has(text, "not pinned", "that it is not real");
	free(text);
	is(topo_describe(t, "json", where, 3, &text), 0, "as JSON");
	has(text, "\"schema\":\"lkdf/topo/1\"", "its schema");
	has(text, "\"cpus\":[4,5,6,7],\"distances\":[22,10]}", "a node");
	has(text,
	    "{\"cpu\":4,\"node\":1,\"core\":2,\"l3\":1,\"smt\":0,"
	    "\"workers\":[2]}",
	    "a CPU with its worker");
	free(text);
	is(topo_describe(t, "text", NULL, 0, &text), 0, "without workers");
	ok(!strstr(text, "workers 0"), "none are shown");
	free(text);
	text = NULL;
	is(topo_describe(t, "yaml", NULL, 0, &text), -EINVAL, "as YAML");
	has(err_text(), "expected text or json", "the formats are named");
	ok(!text, "out is untouched");
	topo_close(t);
}

static void json_hides_quotes(void)
{
	struct topo *t = must_open("numa:1", NULL);
	char *text;

	snprintf(t->source, sizeof(t->source), "a\"b\\c\td");
	is(topo_describe(t, "json", NULL, 0, &text), 0, "an odd source");
	has(text, "\"a\\\"b\\\\c\\u0009d\"", "is escaped");
	free(text);
	topo_close(t);
}

static void this_machine_agrees_with_sysfs(void)
{
	struct topo *t = must_open(NULL, NULL);
	char why[256];
	int rc;

	ok(!t->is_synthetic, "this machine is real");
	has(t->source, "sysfs", "it is read from /sys");
	rc = topo_check_sysfs(t, NULL, why, sizeof(why));
	if (rc == -EIO)
		skip("hwloc and sysfs agree", err_text());
	else
		ok(rc == 0, "hwloc and sysfs agree%s%s", *why ? ": " : "", why);
	topo_close(t);
}

static void affinity_is_obeyed(void)
{
	cpu_set_t before, now;
	struct topo *t;
	char list[16];
	int i, cpu = -1, other = -1;

	is(sched_getaffinity(0, sizeof(before), &before), 0,
	   "the affinity can be read");
	t = must_open(NULL, NULL);
	is(t->nr_cpus, CPU_COUNT(&before), "all CPUs of the affinity");
	topo_close(t);
	for (i = 0; i < CPU_SETSIZE; i++) {
		if (CPU_ISSET(i, &before)) {
			other = cpu;
			cpu = i;
		}
	}
	if (other < 0) {
		skip("a smaller affinity is obeyed", "only one CPU allowed");
		return;
	}
	CPU_ZERO(&now);
	CPU_SET(cpu, &now);
	is(sched_setaffinity(0, sizeof(now), &now), 0, "one CPU remains");
	t = must_open(NULL, NULL);
	is(t->nr_cpus, 1, "one CPU is found");
	is(t->cpu[0].os_cpu, cpu, "the right one");
	is(topo_default_workers(t, false), 1, "for one worker");
	topo_close(t);
	snprintf(list, sizeof(list), "%d", other);
	is(refused(NULL, list), -EINVAL, "the other one is refused");
	has(err_text(), "this process may use", "with a message");
	sched_getaffinity(0, sizeof(now), &now);
	is(CPU_COUNT(&now), 1, "opening leaves the affinity alone");
	sched_setaffinity(0, sizeof(before), &before);
}

static void the_quota_is_taken_over(void)
{
	char proc[PATH_MAX], group[PATH_MAX];
	struct topo_attr a = { .proc_root = proc, .cgroup_root = group };
	struct topo *t = NULL;
	struct tree tree;

	tree_init(&tree);
	tree_write(&tree, "proc/self/cgroup", "0::/x");
	tree_write(&tree, "cg/x/cpu.max", "20000 100000");
	snprintf(proc, sizeof(proc), "%s", tree_path(&tree, "proc"));
	snprintf(group, sizeof(group), "%s", tree_path(&tree, "cg"));
	is(topo_open(&a, &t), 0, "with a quota of a fifth of a CPU");
	is(t->quota, 1, "rounded up to a CPU");
	is(t->quota_milli, 200, "exact in thousandths");
	is(topo_default_workers(t, false), 1, "for one worker");
	topo_close(t);
	topo_close(NULL);
	tree_remove(&tree);
}

int main(void)
{
	tap_start(60);
	synthetic_machines_have_their_size();
	synthetic_caches_group_cpus();
	a_matrix_gives_distances();
	a_node_without_use_is_dropped();
	bad_machines_are_refused();
	a_damaged_xml_file_is_refused();
	bad_lists_are_refused();
	good_lists_are_taken();
	lists_are_written_short();
	workers_follow_cores_and_quota();
	every_count_of_workers_is_fair();
	few_workers_are_spread();
	workers_per_node_are_equal();
	taken_cpus_are_left_alone();
	descriptions_tell_it_all();
	json_hides_quotes();
	this_machine_agrees_with_sysfs();
	affinity_is_obeyed();
	the_quota_is_taken_over();
	return tap_end();
}
