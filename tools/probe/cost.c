/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The cost of the programs, by the kernel's own statistics:
 * run_time_ns/run_cnt.
 */
#include "probe/probe.h"

#ifdef LKDF_HAVE_BPF
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static int read_program(int fd, struct probe_cost *c)
{
	struct bpf_prog_info prog = { 0 };
	uint32_t size = sizeof(prog);

	if (bpf_obj_get_info_by_fd(fd, &prog, &size))
		return -errno;
	snprintf(c->name, sizeof(c->name), "%s", prog.name);
	c->nr_runs = prog.run_cnt;
	c->ns = prog.run_time_ns;
	return 0;
}

static void nap(int64_t ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

int probe_empty_cost(int64_t ms, struct probe_cost *cost)
{
	static const struct bpf_insn nothing[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	int stats = bpf_enable_stats(BPF_STATS_RUN_TIME), fd = -1, link = -1;
	int rc = stats < 0 ? -errno : 0;

	if (!rc) {
		fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "lkdf_empty",
				   "GPL", nothing, 2, NULL);
		link = fd < 0 ? -1
			      : bpf_raw_tracepoint_open("sched_switch", fd);
		rc = link < 0 ? -errno : 0;
	}
	if (!rc) {
		nap(ms);
		rc = read_program(fd, cost);
	}
	if (link >= 0)
		close(link);
	if (fd >= 0)
		close(fd);
	if (stats >= 0)
		close(stats);
	return rc;
}

/* The link's program: its statistics until now. */
static int read_cost(const char *dir, const char *pin, struct probe_cost *c)
{
	struct bpf_link_info link = { 0 };
	uint32_t size = sizeof(link);
	int fd = pins_get(dir, pin), rc;

	if (fd < 0)
		return fd;
	rc = bpf_obj_get_info_by_fd(fd, &link, &size);
	close(fd);
	if (rc)
		return -errno;
	fd = bpf_prog_get_fd_by_id(link.prog_id);
	if (fd < 0)
		return -errno;
	rc = read_program(fd, c);
	close(fd);
	return rc;
}

int probe_costs(const char *dir, int64_t ms, struct probe_cost *cost, int max)
{
	static const char *const pins[] = { "link_sched_switch",
					    "link_sample_0",
					    "link_mm_migrate_pages",
					    "link_exit" };
	struct probe_cost now;
	int fd = bpf_enable_stats(BPF_STATS_RUN_TIME), nr = 0, i;
	bool has[4];

	if (fd < 0)
		return -errno;
	for (i = 0; i < 4 && i < max; i++)
		has[i] = !read_cost(dir, pins[i], &cost[i]);
	nap(ms);
	for (i = 0; i < 4 && i < max; i++) {
		if (!has[i] || read_cost(dir, pins[i], &now))
			continue;
		now.nr_runs -= cost[i].nr_runs;
		now.ns -= cost[i].ns;
		cost[nr++] = now;
	}
	close(fd);
	return nr;
}
#endif
