/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The source of recordings: threads, words and stacks as the probe has them. */
#include "signal/src_bpf.h"

#include "base/clock.h"
#include "signal/bpf_pins.h"

static uint32_t source_sees(const void *u, uint32_t *hz)
{
	const struct workers *b = u;
	const struct lkdf_probe_head *h = b->bpf->head.at;
	uint64_t age;

	if (!src_bpf_is_live(b, clock_now_ns(), &age))
		return 0;
	*hz = h->sample_hz;
	return (h->hooks & LKDF_PROBE_SWITCH ? LKDF_PROBED_SEES_SWITCHES : 0) |
	       (h->hooks & LKDF_PROBE_SAMPLE ? LKDF_PROBED_SEES_SAMPLES : 0) |
	       (h->hooks & LKDF_PROBE_PLACE ? LKDF_PROBED_SEES_PAGES : 0);
}

/* Another CPU may write it meanwhile: the text ends where it has to. */
static void copy_preemptor(const struct lkdf_probe_slot *s,
			   struct probed_thread *out)
{
	const volatile char *from = s->by_comm;
	size_t i;

	out->by_tid = half_of(s->by_tid);
	for (i = 0; i + 1 < sizeof(out->by); i++)
		out->by[i] = from[i];
	out->by[i] = '\0';
}

static bool source_thread(const void *u, int executor,
			  struct probed_thread *out)
{
	const struct workers *b = u;
	const struct lkdf_probe_slot *s = bpf_slot_of(b, executor);
	uint64_t now = (uint64_t)clock_now_ns(), since;
	uint64_t *c = out->count;

	if (!s)
		return false;
	out->id = a_load(&b->of[executor].slot, relaxed);
	since = word_of(s->since_ns);
	out->state = half_of(s->state);
	out->state_ns = now > since ? now - since : 0;
	out->word = bpf_show(b->bpf, word_of(s->word));
	copy_preemptor(s, out);
	c[LKDF_PROBED_PREEMPTS] = word_of(s->nr_preempt);
	c[LKDF_PROBED_PREEMPTED_NS] = word_of(s->preempt_ns);
	c[LKDF_PROBED_BLOCKS] = word_of(s->nr_block);
	c[LKDF_PROBED_BLOCKED_NS] = word_of(s->block_ns);
	c[LKDF_PROBED_FUTEXES] = word_of(s->nr_futex_block);
	c[LKDF_PROBED_FUTEX_NS] = word_of(s->futex_block_ns);
	c[LKDF_PROBED_CPUS] = word_of(s->nr_migrate);
	c[LKDF_PROBED_NODES] = word_of(s->nr_xnode);
	c[LKDF_PROBED_SAMPLES] = word_of(s->samples);
	c[LKDF_PROBED_FUTEX_SAMPLES] = word_of(s->futex);
	c[LKDF_PROBED_OWN_SAMPLES] = word_of(s->own);
	c[LKDF_PROBED_PAGES] = word_of(s->moved_pages);
	return true;
}

/* Whose slot it was, plus 1 as the probe has it; -1: nobody's of ours. */
static int executor_at(const struct workers *b, uint32_t slot)
{
	int i;

	for (i = 0; slot && i < b->nr; i++)
		if ((uint32_t)a_load(&b->of[i].slot, relaxed) == slot)
			return i;
	return -1;
}

/* A word that another thread has met since it was free counts anew. */
static bool source_word(const void *u, uint32_t i, struct probed_word *out)
{
	const struct workers *b = u;
	const struct lkdf_probe_word *w = b->bpf->words.at;
	uint32_t slot, gen;
	uint64_t tag;

	w += i;
	tag = word_of(w->tag);
	if (!tag)
		return false;
	slot = half_of(w->slot);
	gen = half_of(w->gen);
	if (!bpf_is_ours(b, slot, gen))
		return false;
	out->id = (tag + ((uint64_t)gen << 32 | slot) * LKDF_PROBE_MUL) | 1;
	out->address = bpf_show(b->bpf, word_of(w->id));
	out->kind = half_of(w->kind);
	out->count[WORD_SLEEPS] = word_of(w->blocks);
	out->count[WORD_SLEPT_NS] = word_of(w->block_ns);
	out->count[WORD_SAMPLES] = word_of(w->samples);
	out->count[WORD_WAITS] = word_of(w->wait_samples);
	out->wait_nodes = word_of(w->wait_nodes);
	out->wake_nodes = word_of(w->wake_nodes);
	out->wakes = word_of(w->wakes);
	out->waker_tid = half_of(w->waker_tid);
	out->waker_kind = half_of(w->waker_kind);
	out->waker = executor_at(b, half_of(w->waker_slot));
	return out->address != 0;
}

/* Another CPU may give the place to another stack meanwhile: that one counts
 * the next time. */
static bool source_stack(const void *u, uint32_t i, struct probed_stack *out)
{
	const struct workers *b = u;
	const struct lkdf_probe_stack *k = b->bpf->stacks.at;
	uint64_t tag, owner;
	int n;

	k += i;
	tag = word_of(k->tag);
	if (!tag || !bpf_is_ours(b, half_of(k->slot), half_of(k->gen)))
		return false;
	owner = (uint64_t)half_of(k->gen) << 32 | half_of(k->slot);
	*out = (struct probed_stack){
		.id = (tag + owner * LKDF_PROBE_MUL) | 1,
		.sort = half_of(k->sort),
		.kind = half_of(k->kind),
		.word = bpf_show(b->bpf, word_of(k->word)),
		.count = word_of(k->count),
	};
	for (n = 0; n < LKDF_STACK_IPS; n++)
		out->ip[n] = bpf_show(b->bpf, word_of(k->ip[n]));
	return word_of(k->tag) == tag;
}

bool src_bpf_source(const struct workers *b, struct probed_source *out)
{
	if (!b->bpf)
		return false;
	*out = (struct probed_source){
		.u = b,
		.nr_words = b->bpf->words.nr,
		.sees = source_sees,
		.thread = source_thread,
		.word = source_word,
		.nr_stacks = b->bpf->stacks.nr,
		.stack = source_stack,
	};
	return true;
}
