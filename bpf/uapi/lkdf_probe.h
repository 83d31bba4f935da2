/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Facts from the BPF programs of lkdf: four arrays that "lkdf probe start"
 * pins and freezes, so that members of the group map them read-only and nobody
 * but the programs writes them. A thread that wants to be seen registers itself
 * with the pinned program "register"; the kernel knows who calls it, so nobody
 * can register anybody else.
 *
 *	head	one struct lkdf_probe_head
 *	slots	struct lkdf_probe_slot for each registered thread
 *	words	struct lkdf_probe_word for each futex word and kind of body
 *	stacks	struct lkdf_probe_stack: callers of waits and of bodies
 *
 * Addresses are hidden with a key of the thread's choice, see
 * lkdf_probe_hide(): whoever has the key reads them back, others see a number.
 * That is no cipher. Counters are racy and lossy: several CPUs may add to one
 * word, and a word for which there is no room is counted in head.lost only. A
 * sample that finds a registered thread's entry busy, as Linux 6.1 has it, is
 * counted in head.missed only.
 * Times are CLOCK_MONOTONIC in ns. All fields are in the machine's byte order.
 */
#ifndef LKDF_PROBE_H
#define LKDF_PROBE_H

#include <linux/types.h>

#define LKDF_PROBE_DIR "/run/lkdf/bpf"
#define LKDF_PROBE_MAGIC 0x626f727066646b6cull /* "lkdfprob" */
#define LKDF_PROBE_ABI_MAJOR 1
#define LKDF_PROBE_ABI_MINOR 3

/* For one lkdf_probe_register: ranges of its own words. */
#define LKDF_PROBE_OWN 2

/* Slots of a word's table that are looked at for it. */
#define LKDF_PROBE_LOOKS 8

/* Callers of a stack, at most. */
#define LKDF_PROBE_IPS 12

/* A thread has its stack taken at the first of so many sleeps, and at the first
 * of so many samples. */
#define LKDF_PROBE_STACK_EACH 16

/* Hooks that are attached, in lkdf_probe_head.hooks. */
#define LKDF_PROBE_SWITCH 1u /* states, blocked time, CPUs */
#define LKDF_PROBE_SAMPLE 2u /* words inside futex(2) */
#define LKDF_PROBE_PLACE 4u /* pages that move */
#define LKDF_PROBE_CPUS 8u /* CPUs that go offline and come */
#define LKDF_PROBE_WAKE 16u /* who wakes those that sleep in a word */
#define LKDF_PROBE_STACK 32u /* switches and samples take stacks */

struct lkdf_probe_head {
	/* Set before the maps are frozen, constant afterwards. */
	__u64 magic;
	__u16 abi_major, abi_minor;
	__u32 hooks;
	__u32 nr_slots, nr_words;
	__u32 sample_hz, nr_cpus; /* CPUs that are sampled */
	__u64 started_ns;
	__u64 reserved[3];

	/* Programs write. */
	__u64 beat_ns; /* a thread was switched or sampled; see below */
	__u64 stopped_ns; /* "lkdf probe stop" came; 0: not yet */
	__u64 lost; /* words there was no room for */
	__u64 refused; /* threads there was no slot for */
	__u64 moved_pages; /* on the whole machine */
	__u64 cpus_ns; /* a CPU went or came, which is not sampled then; 0 */
	__u64 missed; /* samples whose thread was registered and busy */
	__u64 reserved2[1];
};

enum lkdf_probe_state {
	LKDF_PROBE_FREE = 0,
	LKDF_PROBE_RUNS = 1,
	LKDF_PROBE_PREEMPTED = 2, /* could run, another thread has its CPU */
	LKDF_PROBE_BLOCKED = 3,
	LKDF_PROBE_FUTEX = 4, /* blocked in futex(2) */
};

/* A registered thread. The CPU on which it is switched or sampled writes. */
struct lkdf_probe_slot {
	__u32 tgid, tid; /* of the first pid namespace; 0: free */
	__u32 gen; /* grows with each registration */
	__u32 state; /* enum lkdf_probe_state */
	__u64 since_ns; /* it is in that state */
	__u64 word; /* hidden; of FUTEX; 0: not known, or its own */
	__u64 nr_preempt, preempt_ns;
	__u64 nr_block, block_ns;

	__u64 nr_futex_block, futex_block_ns; /* of these, on words of others */
	__u64 nr_migrate, nr_xnode; /* came to another CPU, another node */
	__u64 samples, user, kernel, futex; /* while it was on a CPU */

	__u64 last_word; /* hidden; of the last sample inside futex(2) */
	__u64 own; /* samples inside futex(2) on its own words */
	__u64 moved_pages; /* it moved itself, as AutoNUMA makes it do */
	__u32 cpu, node; /* where it runs or ran */
	/* The thread that got its CPU when it was preempted last; 0: never. */
	__u32 by_tid, by_tgid;
	char by_comm[16];
	__u32 kind; /* of the body in which it left the CPU; of FUTEX */
	__u32 reserved;
};

/* A word, in bodies of one kind, for one runtime. Any CPU writes. */
struct lkdf_probe_word {
	__u64 tag; /* of word and kind; 0: free */
	__u64 id; /* the word's address, hidden */
	__u32 slot, gen; /* who met it first */
	__u32 kind; /* what that thread's kind_at held */
	__u32 reserved;
	__u64 samples; /* inside futex(2) on it */
	__u64 wait_samples; /* of these, to wait; the others wake */
	__u64 blocks, block_ns; /* slept on it */

	__u64 last_ns;
	__u64 wait_nodes, wake_nodes; /* bits: CPUs' nodes, of samples */
	__u64 wakes; /* sleeps that a call of futex(2) on it ended, so seen */
	__u32 waker_tid; /* of the last one; of the first pid namespace */
	__u32 waker_slot; /* plus 1; 0: that thread is not registered */
	__u32 waker_kind; /* of the body in which that was; 0: in none */
	__u32 reserved2[5];
};

enum lkdf_probe_sort {
	LKDF_PROBE_WAITS = 1, /* when it went to sleep in a word, in a body */
	LKDF_PROBE_RUNS_BODY = 2, /* when a CPU was sampled, in a body */
};

/* Callers, the innermost first, by frame pointers. Any CPU writes. */
struct lkdf_probe_stack {
	__u64 tag; /* of addresses, kind and sort; 0: free */
	__u32 slot, gen; /* who was met there first */
	__u32 kind, sort; /* enum lkdf_probe_sort */
	__u64 word; /* hidden; of WAITS: the last one */
	__u64 count; /* stacks that were taken and are this one */
	__u64 last_ns;
	__u64 ip[LKDF_PROBE_IPS]; /* hidden; 0: there are no more */
	__u64 reserved[2];
};

/*
 * The argument of the program "register", BPF_PROG_RUN's ctx. Its return value
 * is 0; -ENOSPC: no slot is free; -EDQUOT: the user or group has too many;
 * -EINVAL: size or flags. Once more in a registered thread changes nothing but
 * what is given.
 */
struct lkdf_probe_register {
	__u32 size, flags; /* flags: 0 */
	__u64 key;
	__u64 kind_at; /* address of a __u32, the kind of the running body */
	__u64 own[LKDF_PROBE_OWN][2]; /* from, to: words that are its own */
	/* Out. */
	__u32 slot, gen;
};

#define LKDF_PROBE_MUL 0x9e3779b97f4a7c15ull
#define LKDF_PROBE_INV 0xf1de83e19937733dull /* MUL * INV = 1 modulo 2^64 */

static inline __u64 lkdf_probe_hide(__u64 address, __u64 key)
{
	__u64 x = (address ^ key) * LKDF_PROBE_MUL;

	x ^= x >> 32;
	x = (x + key) * LKDF_PROBE_MUL;
	return x ^ x >> 32;
}

static inline __u64 lkdf_probe_show(__u64 id, __u64 key)
{
	__u64 x = (id ^ id >> 32) * LKDF_PROBE_INV - key;

	x = (x ^ x >> 32) * LKDF_PROBE_INV;
	return x ^ key;
}

/* Switches have not been seen for so long: the programs are gone. */
#define LKDF_PROBE_LIVE_NS 2000000000ull

/*
 * Is a probe alive that has these hooks? The thread that asks has come to its
 * CPU by a switch. Without that hook silence tells nothing: idle CPUs are not
 * sampled, and pages need not move.
 */
static inline int lkdf_probe_is_live(__u32 hooks, __u64 stopped_ns,
				     __u64 beat_ns, __u64 now_ns)
{
	return !stopped_ns && (!(hooks & LKDF_PROBE_SWITCH) ||
			       now_ns < beat_ns + LKDF_PROBE_LIVE_NS);
}

#ifdef __cplusplus
#define LKDF_PROBE_LAYOUT(cond) static_assert(cond, #cond)
#else
#define LKDF_PROBE_LAYOUT(cond) _Static_assert(cond, #cond)
#endif
LKDF_PROBE_LAYOUT(sizeof(struct lkdf_probe_head) == 128);
LKDF_PROBE_LAYOUT(sizeof(struct lkdf_probe_slot) == 192);
LKDF_PROBE_LAYOUT(sizeof(struct lkdf_probe_word) == 128);
LKDF_PROBE_LAYOUT(sizeof(struct lkdf_probe_stack) == 160);
LKDF_PROBE_LAYOUT(sizeof(struct lkdf_probe_register) == 64);

#endif
