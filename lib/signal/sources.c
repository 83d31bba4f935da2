/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "signal/sources.h"

#include "base/util.h"
#include "signal/src_bpf.h"
#include "signal/src_kmod.h"
#include "signal/src_proc.h"
#include "signal/src_self.h"

static const struct signal_source rows[] = {
	{ .name = "kmod",
	  .help = "/dev/lkdf: where pages are, exactly and at once",
	  .has_rights = true,
	  .open_pages = src_kmod_open },
	{ .name = "proc",
	  .help = "asking the kernel: where pages are, by samples",
	  .open_pages = src_proc_open },
	{ .name = "bpf",
	  .help = "lkdf probe: workers preempted, blocked, in which futex word",
	  .has_rights = true,
	  .open_workers = src_bpf_open,
	  .close_workers = src_bpf_close,
	  .enter = src_bpf_enter },
	{ .name = "self",
	  .help = "getrusage(2), schedstat, cgroup: times of workers, quota",
	  .open_workers = src_self_open,
	  .close_workers = src_self_close,
	  .enter = src_self_enter },
};

const struct signal_source *signal_sources(size_t *nr)
{
	*nr = ARRAY_SIZE(rows);
	return rows;
}
