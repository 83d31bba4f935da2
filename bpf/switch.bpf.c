// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Registered threads that leave and enter a CPU: preempted or blocked, since
 * when, on which futex word. The word is read from the registers with which the
 * thread made its system call, so that no system call is hooked. A futex call
 * that does not sleep is not seen here; sample.bpf.c sees those.
 */
#include "stacks.bpf.h"

/* next has got the CPU of a thread that could go on. */
static void note_preemptor(struct lkdf_probe_slot *s, struct task_struct *next)
{
	s->by_tid = next->pid;
	s->by_tgid = next->tgid;
	bpf_probe_read_kernel_str(s->by_comm, sizeof(s->by_comm), next->comm);
}

static void leave(void *ctx, struct thread *t, struct task_struct *prev,
		  struct task_struct *next, bool is_forced)
{
	struct lkdf_probe_slot *s = get_slot(t);
	struct futex_call c;

	if (!s)
		return;
	t->is_off = 1;
	s->since_ns = bpf_ktime_get_ns();
	s->word = 0;
	t->word = 0;
	if (is_forced) {
		note_preemptor(s, next);
		s->state = LKDF_PROBE_PREEMPTED;
		return;
	}
	s->state = LKDF_PROBE_BLOCKED;
	if (!in_futex((struct pt_regs___lkdf *)bpf_task_pt_regs(prev), &c))
		return;
	t->kind = kind_of(t);
	if (is_own(t, c.word, t->kind))
		return;
	s->word = hide(t, c.word);
	s->kind = t->kind;
	s->state = LKDF_PROBE_FUTEX;
	s->nr_futex_block++;
	t->word = c.word;
	t->waker_tid = 0;
	if (takes_stacks && t->kind &&
	    t->nr_sleeps++ % LKDF_PROBE_STACK_EACH == 0)
		take_stack(ctx, t, t->kind, LKDF_PROBE_WAITS, s->word);
}

/* The sort of the last sleep, for those that ask about the word. */
static void end_futex(struct thread *t, struct lkdf_probe_slot *s, __u64 now,
		      __u64 slept)
{
	struct lkdf_probe_word *w;

	s->futex_block_ns += slept;
	w = find_word(t, s->word, t->kind, now);
	if (!w)
		return;
	__sync_fetch_and_add(&w->blocks, 1);
	__sync_fetch_and_add(&w->block_ns, slept);
	__sync_fetch_and_or(&w->wait_nodes, 1ull << (s->node & 63));
	if (!t->waker_tid)
		return;
	w->waker_tid = t->waker_tid;
	w->waker_slot = t->waker_slot;
	w->waker_kind = t->waker_kind;
	__sync_fetch_and_add(&w->wakes, 1);
}

static void enter(struct thread *t)
{
	__u32 cpu = bpf_get_smp_processor_id(), node = bpf_get_numa_node_id();
	struct lkdf_probe_slot *s = get_slot(t);
	__u64 now, slept;

	if (!s || !t->is_off)
		return;
	now = bpf_ktime_get_ns();
	slept = now - s->since_ns;
	if (s->state == LKDF_PROBE_PREEMPTED) {
		s->nr_preempt++;
		s->preempt_ns += slept;
	} else {
		s->nr_block++;
		s->block_ns += slept;
	}
	if (s->state == LKDF_PROBE_FUTEX)
		end_futex(t, s, now, slept);
	s->nr_migrate += s->cpu != cpu;
	s->nr_xnode += s->node != node;
	s->cpu = cpu;
	s->node = node;
	s->since_ns = now;
	s->word = 0;
	s->state = LKDF_PROBE_RUNS;
	t->is_off = 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(lkdf_switch, bool preempt, struct task_struct *prev,
	     struct task_struct *next, unsigned int prev_state)
{
	struct thread *t;

	beat();
	t = bpf_task_storage_get(&threads, prev, 0, 0);
	if (t)
		leave(ctx, t, prev, next, preempt || !prev_state);
	t = bpf_task_storage_get(&threads, next, 0, 0);
	if (t)
		enter(t);
	return 0;
}
