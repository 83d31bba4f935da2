/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The table of futex words: a few places are looked at for each, and an entry
 * whose thread has ended is taken over. Any CPU at any time.
 */
#ifndef LKDF_WORDS_BPF_H
#define LKDF_WORDS_BPF_H

#include "common.bpf.h"

#define LKDF_OLD_NS 60000000000ull

/* The thread that met it is not here any more, or it was a minute ago. */
static bool is_old(const struct lkdf_probe_word *w, __u64 now)
{
	struct lkdf_probe_slot *s;
	__u32 slot = w->slot;

	if (now - w->last_ns > LKDF_OLD_NS)
		return true;
	s = bpf_map_lookup_elem(&slots, &slot);
	return !s || s->gen != w->gen || !s->tgid;
}

static void begin_word(struct lkdf_probe_word *w, const struct thread *t,
		       __u64 id, __u32 kind)
{
	w->id = id;
	w->slot = t->slot;
	w->gen = t->gen;
	w->kind = kind;
	w->samples = w->wait_samples = 0;
	w->blocks = w->block_ns = 0;
	w->wait_nodes = w->wake_nodes = 0;
}

/*
 * The entry of a thread's word in bodies of a kind. NULL: there is no
 * room, and head.lost counts it. Entries whose thread has ended are taken over.
 */
static struct lkdf_probe_word *find_word(const struct thread *t, __u64 id,
					 __u32 kind, __u64 now)
{
	struct lkdf_probe_head *h = get_head();
	struct lkdf_probe_word *w;
	__u32 i, at;
	__u64 tag, old;

	if (!h || !h->nr_words || !id)
		return 0;
	tag = id ^ (kind + 1ull) * LKDF_PROBE_MUL;
	for (i = 0; i < LKDF_PROBE_LOOKS; i++) {
		at = ((__u32)(tag >> 32) + i) % h->nr_words;
		w = bpf_map_lookup_elem(&words, &at);
		if (!w)
			return 0;
		old = w->tag;
		if (old == tag)
			goto found;
		if (old && !is_old(w, now))
			continue;
		if (__sync_val_compare_and_swap(&w->tag, old, tag) == old) {
			begin_word(w, t, id, kind);
			goto found;
		}
	}
	__sync_fetch_and_add(&h->lost, 1);
	return 0;
found:
	w->last_ns = now;
	return w;
}

#endif
