/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Code that the programs share: views of the kernel's structs with the used
 * fields only, relocated when they are loaded, so that neither a generated
 * header of one kernel nor one per kernel is needed; registers of a system call
 * behind macros; the maps.
 */
#ifndef LKDF_COMMON_BPF_H
#define LKDF_COMMON_BPF_H

#include <linux/bpf.h>
#include <stdbool.h>

typedef int pid_t;

#define LKDF_VIEW __attribute__((preserve_access_index))

typedef struct {
	unsigned int val;
} kuid_t, kgid_t;

struct user_namespace {
	struct user_namespace *parent;
	int level;
	kuid_t owner;
	kgid_t group;
} LKDF_VIEW;

struct cred {
	struct user_namespace *user_ns;
} LKDF_VIEW;

struct task_struct {
	int pid, tgid;
	char comm[16];
	const struct cred *cred;
} LKDF_VIEW;

/* Every other name is the kernel's own. ___lkdf is cut off by the loader. */
struct pt_regs___lkdf {
#if defined(__TARGET_ARCH_x86)
	unsigned long orig_ax, di, si;
#elif defined(__TARGET_ARCH_arm64)
	unsigned long long regs[31];
	unsigned long long orig_x0;
	int syscallno;
#else
#error "registers of a system call: say here where this machine has them"
#endif
} LKDF_VIEW;

/* Those of an interrupt, as every kernel of the machine hands them out. Not
 * from <asm/ptrace.h>: who compiles may have another machine. */
struct user_regs {
#if defined(__TARGET_ARCH_x86)
	unsigned long long rest[17], cs;
#else
	unsigned long long rest[33], pstate;
#endif
};

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include <lkdf_probe.h>

#if defined(__TARGET_ARCH_x86)
#define LKDF_SYSCALL_NR(r) ((long)(r)->orig_ax)
#define LKDF_SYSCALL_ARG0(r) ((r)->di)
#define LKDF_SYSCALL_ARG1(r) ((r)->si)
#define LKDF_FROM_USER(r) ((r)->cs & 3)
#define LKDF_NR_FUTEX 202
#else
#define LKDF_SYSCALL_NR(r) ((long)(r)->syscallno)
#define LKDF_SYSCALL_ARG0(r) ((r)->orig_x0)
#define LKDF_SYSCALL_ARG1(r) ((r)->regs[1])
#define LKDF_FROM_USER(r) (((r)->pstate & 0xf) == 0)
#define LKDF_NR_FUTEX 98
#endif
/*
 * Numbers that are the same on every machine. waitv has a vector of words: none
 * is named.
 */
#define LKDF_NR_FUTEX_WAITV 449
#define LKDF_NR_FUTEX_WAKE 454
#define LKDF_NR_FUTEX_WAIT 455
#define LKDF_NR_FUTEX_REQUEUE 456

#define LKDF_NO_SLOT 0xffffffffu
#define LKDF_NR_STACKS 1024

/* A registered thread has it; it goes with the thread. */
struct thread {
	__u32 slot; /* or LKDF_NO_SLOT: it is about to end */
	__u32 gen;
	__u32 user, group; /* who pay for the slot; user 0: nobody does */
	__u32 is_off; /* it left a CPU at slot.since_ns */
	__u32 kind; /* of the body in which it left */
	__u32 nr_sleeps, nr_samples; /* that may have their stack taken */
	__u64 word; /* in which it sleeps; 0: in none, or its own */
	__u32 waker_tid, waker_slot, waker_kind; /* of that sleep; tid 0 */
	__u32 reserved;
	__u64 key, kind_at;
	__u64 own[LKDF_PROBE_OWN][2];
};

/* The one definition is in slots.bpf.c. */
#ifndef LKDF_MAP
#define LKDF_MAP extern
#endif

LKDF_MAP struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct lkdf_probe_head);
} head SEC(".maps");

LKDF_MAP struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, struct lkdf_probe_slot);
} slots SEC(".maps");

LKDF_MAP struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, struct lkdf_probe_word);
} words SEC(".maps");

LKDF_MAP struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, LKDF_NR_STACKS);
	__type(key, __u32);
	__type(value, struct lkdf_probe_stack);
} stacks SEC(".maps");

LKDF_MAP struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread);
} threads SEC(".maps");

/*
 * By number of a thread: its slot. The storage of a thread cannot be read on a
 * CPU that works on some at that time, as Linux 6.1 does it, and a thread that
 * has none looks the same: this map tells them apart.
 */
LKDF_MAP struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, __u32);
} tids SEC(".maps");

static inline struct lkdf_probe_head *get_head(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&head, &zero);
}

/* Some tens of ms, whatever the kernel's HZ is. */
#define BEAT_JIFFIES 16

extern __u64 beat_turn;

/* Every hook calls it: a load and a look at the jiffies in most cases. */
static inline void beat(void)
{
	__u64 turn = bpf_jiffies64() / BEAT_JIFFIES;
	struct lkdf_probe_head *h;

	if (turn == beat_turn)
		return;
	beat_turn = turn;
	h = get_head();
	if (h)
		h->beat_ns = bpf_ktime_get_ns();
}

static inline struct lkdf_probe_slot *get_slot(const struct thread *t)
{
	__u32 slot = t->slot;

	return bpf_map_lookup_elem(&slots, &slot);
}

/* For a thread that is in a system call. Not a futex call: false. */
struct futex_call {
	__u64 word; /* 0: not known which */
	bool waits; /* or it wakes */
};

static inline bool in_futex(const struct pt_regs___lkdf *r,
			    struct futex_call *c)
{
	unsigned int op;

	c->word = LKDF_SYSCALL_ARG0(r);
	c->waits = true;
	switch (LKDF_SYSCALL_NR(r)) {
	case LKDF_NR_FUTEX:
		/* WAIT, LOCK_PI, WAIT_BITSET, WAIT_REQUEUE_PI, LOCK_PI2 */
		op = LKDF_SYSCALL_ARG1(r) & 0x7f;
		c->waits = op < 32 && (1u << op & 0x2a41u);
		return true;
	case LKDF_NR_FUTEX_WAKE:
		c->waits = false;
		return true;
	case LKDF_NR_FUTEX_WAIT:
		return true;
	case LKDF_NR_FUTEX_REQUEUE:
		c->waits = false;
		c->word = 0;
		return true;
	case LKDF_NR_FUTEX_WAITV:
		c->word = 0;
		return true;
	}
	return false;
}

/* A wait outside of a body is the runtime's own, too. */
static inline bool is_own(const struct thread *t, __u64 word, __u32 kind)
{
	return (!kind && t->kind_at) ||
	       (word >= t->own[0][0] && word < t->own[0][1]) ||
	       (word >= t->own[1][0] && word < t->own[1][1]);
}

static inline __u64 hide(const struct thread *t, __u64 word)
{
	return word ? lkdf_probe_hide(word, t->key) : 0;
}

/*
 * The facts of the body that the current thread runs, whose memory is there; 0:
 * none, or it cannot be read. For the one that is about to run it is not there
 * yet.
 */
static inline __u32 kind_of(const struct thread *t)
{
	__u32 kind = 0;

	if (t->kind_at)
		bpf_probe_read_user(&kind, sizeof(kind),
				    (const void *)t->kind_at);
	return kind;
}

#endif
