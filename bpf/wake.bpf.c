// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A thread wakes another one of its process, which sleeps in a futex word, by a
 * call of futex(2) on that word. A sleep that
 * a signal or its own time ends has no waker.
 */
#include "common.bpf.h"

SEC("?tp_btf/sched_waking")
int BPF_PROG(lkdf_waking, struct task_struct *p)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread *t, *by;
	struct futex_call c;

	beat();
	if (p->tgid != task->tgid || p->pid == task->pid)
		return 0;
	t = bpf_task_storage_get(&threads, p, 0, 0);
	if (!t || !t->is_off || !t->word)
		return 0;
	if (!in_futex((struct pt_regs___lkdf *)bpf_task_pt_regs(task), &c) ||
	    c.waits || c.word != t->word)
		return 0;
	by = bpf_task_storage_get(&threads, task, 0, 0);
	t->waker_slot = by && by->slot != LKDF_NO_SLOT ? by->slot + 1 : 0;
	t->waker_kind = by ? kind_of(by) : 0;
	t->waker_tid = task->pid;
	return 0;
}
