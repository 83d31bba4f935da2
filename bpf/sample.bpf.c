// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A clock of each CPU looks what runs there. A registered thread inside
 * futex(2) is charged to the word, in bodies of its kind: this sees calls that
 * come back at once, which no count of sleeps can see and which are what
 * convoys of short sections are made of.
 */
#include "stacks.bpf.h"

static void count_word(struct thread *t, struct lkdf_probe_slot *s,
		       const struct futex_call *c, __u32 kind, __u64 now)
{
	__u64 bit = 1ull << (bpf_get_numa_node_id() & 63);
	struct lkdf_probe_word *w;

	s->futex++;
	s->last_word = hide(t, c->word);
	w = find_word(t, s->last_word, kind, now);
	if (!w)
		return;
	__sync_fetch_and_add(&w->samples, 1);
	if (c->waits) {
		__sync_fetch_and_add(&w->wait_samples, 1);
		__sync_fetch_and_or(&w->wait_nodes, bit);
	} else {
		__sync_fetch_and_or(&w->wake_nodes, bit);
	}
}

/* A CPU that has been offline has lost its clock, which nobody gives back. */
SEC("?tp_btf/cpuhp_enter")
int BPF_PROG(lkdf_cpus)
{
	struct lkdf_probe_head *h = get_head();

	if (h)
		h->cpus_ns = bpf_ktime_get_ns();
	return 0;
}

static void count_missed(void)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct lkdf_probe_head *h = get_head();

	if (h && bpf_map_lookup_elem(&tids, &tid))
		__sync_fetch_and_add(&h->missed, 1);
}

SEC("perf_event")
int lkdf_sample(struct user_regs *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct lkdf_probe_slot *s;
	struct futex_call c;
	struct thread *t;
	__u32 kind;

	beat();
	t = bpf_task_storage_get(&threads, task, 0, 0);
	if (!t) {
		count_missed();
		return 0;
	}
	s = get_slot(t);
	if (!s)
		return 0;
	s->samples++;
	kind = kind_of(t);
	if (takes_stacks && kind &&
	    t->nr_samples++ % LKDF_PROBE_STACK_EACH == 0)
		take_stack(ctx, t, kind, LKDF_PROBE_RUNS_BODY, 0);
	/* There, what the registers say of a system call is of an old one. */
	if (LKDF_FROM_USER(ctx)) {
		s->user++;
		return 0;
	}
	s->kernel++;
	if (!in_futex((struct pt_regs___lkdf *)bpf_task_pt_regs(task), &c))
		return 0;
	if (is_own(t, c.word, kind))
		s->own++;
	else
		count_word(t, s, &c, kind, bpf_ktime_get_ns());
	return 0;
}
