/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What lkdf report finds takes a machine of its own here: tasks that read the
 * bytes of another node, and more workers than the quota of a cgroup has CPUs.
 * Programs that are right have no such finding. Where tasks run and bytes lie
 * is said by hand, so that chance has no part in it.
 */
#include "tests/api/recorded.h"
#include "tests/api/report/spin.h"
#include "tests/vm/vm.h"

#include <lkdf/data.h>
#include <lkdf/place.h>

#define FILE_NAME "/tmp/report.lkdf"
#define GROUP "/sys/fs/cgroup/report"
#define BYTES ((uint64_t)8 << 20)
#define NR_PARTS 32
#define NR_ROUNDS 4

static struct lkdf *open_recorded(int workers)
{
	char options[64];

	unlink(FILE_NAME);
	snprintf(options, sizeof(options), "workers=%d,trace=" FILE_NAME,
		 workers);
	return api_open(options);
}

static int fill_part(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	memset(lkdf_ptr(c, 0), 1, BYTES / NR_PARTS);
	return 0;
}

static int sum_part(struct lkdf_ctx *c, void *arg)
{
	const uint64_t *word = lkdf_ptr(c, 0);
	uint64_t i, sum = 0;

	(void)arg;
	for (i = 0; i < BYTES / NR_PARTS / sizeof(*word); i++)
		sum += word[i];
	return sum == 0;
}

/* A task for each part, on that node. */
static void use_parts(struct lkdf *rt, struct lkdf_kind *k, uint32_t mode,
		      struct lkdf_data *d, int node)
{
	struct lkdf_use use = { d, mode, 0 };

	for (use.part = 1; use.part <= NR_PARTS; use.part++)
		must(lkdf_submit(rt, NULL,
				 ATTR(lkdf_task, .kind = k, .use = &use,
				      .nr_use = 1, .flags = LKDF_PINNED,
				      .place = lkdf_place_node(rt, node)),
				 NULL));
	must(lkdf_scope_wait(rt, NULL, -1));
}

/* Bytes of one node, which tasks of another one read again and again. */
static void record_reads(int owner, int user)
{
	struct lkdf *rt = open_recorded(0);
	struct lkdf_kind *fill = api_kind(rt, "fill_part", fill_part, 0, 0);
	struct lkdf_kind *sum = api_kind(rt, "sum_part", sum_part, 0, 0);
	struct lkdf_data *d;
	int i;

	must(lkdf_data_create(rt,
			      ATTR(lkdf_data_attr, .name = "array",
				   .bytes = BYTES,
				   .home = lkdf_place_node(rt, owner)),
			      &d));
	must(lkdf_data_split(d, NR_PARTS, BYTES / NR_PARTS));
	use_parts(rt, fill, LKDF_WRITE, d, owner);
	for (i = 0; i < NR_ROUNDS; i++)
		use_parts(rt, sum, LKDF_READ, d, user);
	lkdf_data_put(d);
	lkdf_kind_put(fill);
	lkdf_kind_put(sum);
	is(lkdf_close(rt), 0, "node %d reads bytes of node %d", user, owner);
	recorded_read(FILE_NAME);
}

static void far_bytes_are_found(int owner, int user)
{
	char words[80];

	record_reads(owner, user);
	snprintf(words, sizeof(words),
		 "data of sum_part lie on node %d:", owner);
	has(recorded_finding("remote"), words,
	    "the report says which kind reads, and where its bytes are");
	snprintf(words, sizeof(words),
		 "Node %d takes 100 %% of its bytes from node %d.", user,
		 owner);
	has(recorded_finding("remote"), words, "and who takes them");
	has(recorded_finding("remote"), "32.0 MiB of its 32.0 MiB",
	    "and how many");
}

static void near_bytes_are_not(int node)
{
	record_reads(node, node);
	is(recorded_finding("remote")[0], 0, "bytes are near, and none is far");
}

/* -1: there is no node with both memory and CPUs after that one. */
static int next_node(int node)
{
	for (node++; node < vm.nr_nodes; node++)
		if (vm.nr_cpus_of[node] && vm.mib_of[node])
			return node;
	return -1;
}

static void bytes_of_nodes(void)
{
	int a = next_node(-1), b = next_node(a);

	if (b < 0) {
		skip("bytes of other nodes are found", "there is one node");
		return;
	}
	far_bytes_are_found(a, b);
	far_bytes_are_found(b, a);
	near_bytes_are_not(a);
	near_bytes_are_not(b);
}

static void join_group(const char *procs)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", getpid());
	vm_write(procs, pid);
}

/* As many workers as there are CPUs, which never rest. */
static void record_spins(const char *max)
{
	struct lkdf *rt;

	vm_write(GROUP "/cpu.max", max);
	rt = open_recorded(vm.nr_cpus);
	spin_all(rt);
	is(lkdf_close(rt), 0, "cpu.max is %s: %d workers are recorded", max,
	   vm.nr_cpus);
	recorded_read(FILE_NAME);
}

static void a_quota(void)
{
	vm_try_write("/sys/fs/cgroup/cgroup.subtree_control", "+cpu");
	if (mkdir(GROUP, 0755) || access(GROUP "/cpu.max", W_OK)) {
		skip("a quota is found", "the kernel has none");
		return;
	}
	join_group(GROUP "/cgroup.procs");
	record_spins("100000 100000");
	has(recorded_finding("cpu"), "LKDF_WORKERS=1:",
	    "workers are more than the quota has CPUs, and the report says so");
	record_spins("max 100000");
	ok(!strstr(recorded_finding("cpu"), "LKDF_WORKERS="),
	   "without a quota they are not too many");
	join_group("/sys/fs/cgroup/cgroup.procs");
}

int main(int argc, char **argv)
{
	(void)argc;
	vm_start(120);
	probe_find(argv[0]);
	bytes_of_nodes();
	a_quota();
	unlink(FILE_NAME);
	return tap_end();
}
