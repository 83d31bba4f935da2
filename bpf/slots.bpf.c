// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Threads come and go: the one that calls "register" gets a slot, and gives it
 * back when it ends or becomes another program. A child of fork(2) has none.
 */
#define LKDF_MAP
#include "common.bpf.h"

#define EINVAL 22
#define ENOMEM 12
#define ENOSPC 28
#define EDQUOT 122

/* The kernel takes 32 user namespaces within each other. */
#define MAX_LEVELS 32

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Slots of one user, of whom root is none, and of one group. */
const volatile __u32 max_user_slots = 256, max_group_slots = 512;

/* Stacks of callers are taken, see stacks.bpf.h. */
const volatile bool takes_stacks = true;

/* Where a payer is counted differs from start to start. */
const volatile __u64 seed = 1;

/* The time of the last beat, in BEAT_JIFFIES. */
__u64 beat_turn;

/* By slot: 1, it is somebody's. No queue: Linux 6.1 has none for a program that
 * may sleep, as one that is called is. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, __u32);
} taken SEC(".maps");

/*
 * How many slots users have, and groups behind them. The number is hashed:
 * there are no entries that could run out or have to be freed. Two that meet
 * share a share; more than 1024 counts at a time are rare.
 */
#define NR_COUNTS 8192

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 2 * NR_COUNTS);
	__type(key, __u32);
	__type(value, __s32);
} shares SEC(".maps");

/*
 * Counts a slot more or less. False: that would be too many. Threads register
 * at a time: counted first and given back, so that two do not see the same
 * number.
 */
static bool count_share(__u32 id, bool is_group, __s32 by)
{
	__u32 at = (__u32)((id ^ seed) * LKDF_PROBE_MUL >> 32) % NR_COUNTS;
	__s32 *nr, was;

	at += is_group ? NR_COUNTS : 0;
	nr = bpf_map_lookup_elem(&shares, &at);
	if (!nr)
		return false;
	was = __sync_fetch_and_add(nr, by);
	if (by < 0 ||
	    was < (__s32)(is_group ? max_group_slots : max_user_slots))
		return true;
	__sync_fetch_and_add(nr, -by);
	return false;
}

/* A slot more or less for who pays for it, see find_payer(). */
static bool count_slot(const struct thread *t, __s32 by)
{
	if (!t->user)
		return true;
	if (!count_share(t->user, false, by))
		return false;
	if (count_share(t->group, true, by))
		return true;
	count_share(t->user, false, -by);
	return false;
}

/*
 * The user and the group of the thread, as the first user namespace numbers
 * them. In another one anybody may be many users: there the owner of the
 * outermost pays.
 */
static void find_payer(struct thread *t, struct task_struct *task)
{
	struct user_namespace *ns = task->cred->user_ns;
	__u64 ids = bpf_get_current_uid_gid();
	int i;

	t->user = (__u32)ids;
	t->group = (__u32)(ids >> 32);
	if (!ns->level)
		return;
	for (i = 0; i < MAX_LEVELS && ns->level > 1; i++)
		ns = ns->parent;
	t->user = ns->owner.val;
	t->group = ns->group.val;
}

static void give_back(struct task_struct *task)
{
	struct thread *t = bpf_task_storage_get(&threads, task, 0, 0);
	struct lkdf_probe_slot *s;
	__u32 slot, tid, *mark;

	if (!t || t->slot == LKDF_NO_SLOT)
		return;
	s = get_slot(t);
	slot = t->slot;
	t->slot = LKDF_NO_SLOT;
	if (!s)
		return;
	tid = s->tid;
	bpf_map_delete_elem(&tids, &tid);
	s->state = LKDF_PROBE_FREE;
	s->tgid = s->tid = 0;
	count_slot(t, -1);
	mark = bpf_map_lookup_elem(&taken, &slot);
	if (mark)
		__sync_val_compare_and_swap(mark, 1, 0);
}

struct search {
	__u32 slot, found;
};

/* Ends with the first that is free. */
static long try_slot(__u32 slot, void *ctx)
{
	__u32 *mark = bpf_map_lookup_elem(&taken, &slot);
	struct search *s = ctx;

	if (!mark)
		return 1;
	if (__sync_val_compare_and_swap(mark, 0, 1))
		return 0;
	s->slot = slot;
	s->found = 1;
	return 1;
}

/* A slot for the thread; its old facts are gone. */
static int take_slot(struct thread *t)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct lkdf_probe_slot *s, fresh = {};
	struct lkdf_probe_head *h = get_head();
	struct search found = {};
	__u32 slot;

	find_payer(t, bpf_get_current_task_btf());
	if (!count_slot(t, 1)) {
		if (h)
			__sync_fetch_and_add(&h->refused, 1);
		return -EDQUOT;
	}
	if (h)
		bpf_loop(h->nr_slots, try_slot, &found, 0);
	slot = found.slot;
	if (!found.found) {
		count_slot(t, -1);
		if (h)
			__sync_fetch_and_add(&h->refused, 1);
		return -ENOSPC;
	}
	s = bpf_map_lookup_elem(&slots, &slot);
	if (!s)
		return -ENOSPC;
	/* No generation is one of an earlier start: who still maps the old
	 * slots is not mistaken for somebody here. */
	fresh.gen = s->gen + 1;
	if (!s->gen && h)
		fresh.gen = (__u32)(h->started_ns >> 20) | 1;
	fresh.state = LKDF_PROBE_RUNS;
	fresh.since_ns = bpf_ktime_get_ns();
	fresh.cpu = bpf_get_smp_processor_id();
	fresh.node = bpf_get_numa_node_id();
	fresh.tgid = id >> 32;
	fresh.tid = (__u32)id;
	__builtin_memcpy(s, &fresh, sizeof(fresh));
	t->gen = fresh.gen;
	t->slot = slot;
	bpf_map_update_elem(&tids, &fresh.tid, &slot, BPF_ANY);
	return 0;
}

SEC("syscall")
int lkdf_register(struct lkdf_probe_register *r)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread fresh = { .slot = LKDF_NO_SLOT }, *t;
	int rc = 0;

	if (r->size != sizeof(*r) || r->flags)
		return -EINVAL;
	t = bpf_task_storage_get(&threads, task, &fresh,
				 BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!t)
		return -ENOMEM;
	t->key = r->key;
	t->kind_at = r->kind_at;
	t->own[0][0] = r->own[0][0];
	t->own[0][1] = r->own[0][1];
	t->own[1][0] = r->own[1][0];
	t->own[1][1] = r->own[1][1];
	if (t->slot == LKDF_NO_SLOT)
		rc = take_slot(t);
	r->slot = t->slot;
	r->gen = t->gen;
	return rc;
}

/* The loader runs it before it takes the pins away: readers see the end. */
SEC("syscall")
int lkdf_stop(void *unused_ctx)
{
	struct lkdf_probe_head *h = get_head();

	if (h)
		h->stopped_ns = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(lkdf_exit, struct task_struct *task)
{
	give_back(task);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(lkdf_exec, struct task_struct *task)
{
	give_back(task);
	return 0;
}
