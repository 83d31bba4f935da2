/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The table of stacks, as that of words: a few places are looked at for each,
 * and an entry whose thread has ended is taken over. The kernel follows frame
 * pointers; addresses are hidden as those of words are.
 */
#ifndef LKDF_STACKS_BPF_H
#define LKDF_STACKS_BPF_H

#include "words.bpf.h"

/* A kernel that refuses it still takes the programs without. */
extern const volatile bool takes_stacks;

static __u64 tag_of(const __u64 *ip, __u32 kind, __u32 sort)
{
	__u64 tag = (kind + 1ull) * LKDF_PROBE_MUL + sort;
	int i;

	for (i = 0; i < LKDF_PROBE_IPS; i++)
		tag = (tag ^ ip[i] ^ tag >> 29) * LKDF_PROBE_MUL;
	return tag ? tag : 1;
}

static bool is_old_stack(const struct lkdf_probe_stack *k, __u64 now)
{
	struct lkdf_probe_slot *s;
	__u32 slot = k->slot;

	if (now - k->last_ns > LKDF_OLD_NS)
		return true;
	s = bpf_map_lookup_elem(&slots, &slot);
	return !s || s->gen != k->gen || !s->tgid;
}

static struct lkdf_probe_stack *find_stack(const struct thread *t, __u64 tag,
					   __u64 now)
{
	struct lkdf_probe_stack *k;
	__u64 old;
	__u32 i, at;

	for (i = 0; i < LKDF_PROBE_LOOKS; i++) {
		at = ((__u32)(tag >> 32) + i) % LKDF_NR_STACKS;
		k = bpf_map_lookup_elem(&stacks, &at);
		if (!k)
			return 0;
		old = k->tag;
		if (old == tag && k->slot == t->slot && k->gen == t->gen)
			return k;
		if (old && !is_old_stack(k, now))
			continue;
		if (__sync_val_compare_and_swap(&k->tag, old, tag) == old) {
			k->slot = t->slot;
			k->gen = t->gen;
			k->count = 0;
			return k;
		}
	}
	return 0;
}

/* The stack of the current thread, in a body. Where there is no room it is
 * left out. */
static void take_stack(void *ctx, const struct thread *t, __u32 kind,
		       __u32 sort, __u64 word)
{
	__u64 ip[LKDF_PROBE_IPS] = {}, now = bpf_ktime_get_ns();
	struct lkdf_probe_stack *k;
	int i;

	if (bpf_get_stack(ctx, ip, sizeof(ip), BPF_F_USER_STACK) <= 0)
		return;
	for (i = 0; i < LKDF_PROBE_IPS; i++)
		ip[i] = hide(t, ip[i]);
	k = find_stack(t, tag_of(ip, kind, sort), now);
	if (!k)
		return;
	k->kind = kind;
	k->sort = sort;
	k->word = word;
	k->last_ns = now;
	for (i = 0; i < LKDF_PROBE_IPS; i++)
		k->ip[i] = ip[i];
	__sync_fetch_and_add(&k->count, 1);
}

#endif
