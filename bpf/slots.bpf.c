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

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Slots of one user, of whom root is none. */
const volatile __u32 max_user_slots = 256;

/* Of the last beat, in BEAT_JIFFIES. */
__u64 beat_turn;

/* By slot: 1, it is somebody's. No queue: Linux 6.1 has none for a program that
 * may sleep, as one that is called is. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, __u32);
} taken SEC(".maps");

/* How many slots a user has. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, __s32);
} users SEC(".maps");

/*
 * Counts a slot more or less. False: that would be too many. Threads register
 * at a time: counted first and given back, so that two do not see the same
 * number.
 */
static bool count_user(__u32 uid, __s32 by)
{
	__s32 zero = 0, *nr, was;

	if (!uid)
		return true;
	bpf_map_update_elem(&users, &uid, &zero, BPF_NOEXIST);
	nr = bpf_map_lookup_elem(&users, &uid);
	if (!nr)
		return false;
	was = __sync_fetch_and_add(nr, by);
	if (by < 0 || was < (__s32)max_user_slots)
		return true;
	__sync_fetch_and_add(nr, -by);
	return false;
}

static void give_back(struct task_struct *task)
{
	struct thread *t = bpf_task_storage_get(&threads, task, 0, 0);
	struct lkdf_probe_slot *s;
	__u32 slot, *mark;

	if (!t || t->slot == LKDF_NO_SLOT)
		return;
	s = get_slot(t);
	slot = t->slot;
	t->slot = LKDF_NO_SLOT;
	if (!s)
		return;
	s->state = LKDF_PROBE_FREE;
	s->tgid = s->tid = 0;
	count_user(t->uid, -1);
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

	t->uid = (__u32)bpf_get_current_uid_gid();
	if (!count_user(t->uid, 1)) {
		if (h)
			__sync_fetch_and_add(&h->refused, 1);
		return -EDQUOT;
	}
	if (h)
		bpf_loop(h->nr_slots, try_slot, &found, 0);
	slot = found.slot;
	if (!found.found) {
		count_user(t->uid, -1);
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
