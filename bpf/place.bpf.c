// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Pages that move, for machines without the kernel module: how many on the
 * whole machine, and how many a registered thread was made to move itself, as
 * AutoNUMA does. Other threads of the kernel move pages, too: of those nobody
 * can say here whose they are.
 */
#include "common.bpf.h"

SEC("?tp_btf/mm_migrate_pages")
int BPF_PROG(lkdf_moved, unsigned long nr_moved)
{
	struct lkdf_probe_head *h = get_head();
	struct task_struct *task = bpf_get_current_task_btf();
	struct lkdf_probe_slot *s;
	struct thread *t;

	if (h)
		__sync_fetch_and_add(&h->moved_pages, nr_moved);
	t = bpf_task_storage_get(&threads, task, 0, 0);
	s = t ? get_slot(t) : 0;
	if (s)
		s->moved_pages += nr_moved;
	return 0;
}
