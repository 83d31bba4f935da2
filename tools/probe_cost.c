/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* What the programs cost, by the kernel's own statistics: run_time_ns/run_cnt.
 */
#include "probe.h"

#ifdef LKDF_HAVE_BPF
#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* The link's program: its statistics until now. */
static int read_cost(const char *dir, const char *pin, struct probe_cost *c)
{
	struct bpf_link_info link = { 0 };
	struct bpf_prog_info prog = { 0 };
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
	size = sizeof(prog);
	rc = bpf_obj_get_info_by_fd(fd, &prog, &size);
	close(fd);
	if (rc)
		return -errno;
	snprintf(c->name, sizeof(c->name), "%s", prog.name);
	c->nr_runs = prog.run_cnt;
	c->ns = prog.run_time_ns;
	return 0;
}

int probe_costs(const char *dir, int64_t ms, struct probe_cost *cost, int max)
{
	static const char *const pins[] = { "link_switch", "link_sample_0",
					    "link_moved", "link_exit" };
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };
	struct probe_cost now;
	int fd = bpf_enable_stats(BPF_STATS_RUN_TIME), nr = 0, i;
	bool has[4];

	if (fd < 0)
		return -errno;
	for (i = 0; i < 4 && i < max; i++)
		has[i] = !read_cost(dir, pins[i], &cost[i]);
	nanosleep(&t, NULL);
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
