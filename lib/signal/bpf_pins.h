/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The mapped pins of the probe: what src_bpf.c and bpf_record.c share. */
#ifndef SIGNAL_BPF_PINS_H
#define SIGNAL_BPF_PINS_H

#include "base/own_fd.h"
#include "signal/workers.h"

#include <lkdf_probe.h>

struct mapped {
	void *at;
	size_t bytes;
	uint32_t nr;
};

struct bpf_pins {
	struct mapped head, slots, words;
	struct mapped stacks; /* nr 0: an older probe has none */
	struct own_fd program; /* "register" */
	uint64_t key;
};

#define word_of(field) \
	a_load((const _Atomic(uint64_t) *)(const void *)&(field), relaxed)
#define half_of(field) \
	a_load((const _Atomic(uint32_t) *)(const void *)&(field), relaxed)

/* Its slot, if that is still its own. */
static inline const struct lkdf_probe_slot *bpf_slot_of(const struct workers *b,
							int executor)
{
	uint64_t id = a_load(&b->of[executor].slot, relaxed);
	const struct lkdf_probe_slot *s = b->bpf->slots.at;

	if (!id)
		return NULL;
	s += (uint32_t)id - 1;
	return half_of(s->gen) == id >> 32 && half_of(s->tgid) ? s : NULL;
}

static inline uint64_t bpf_show(const struct bpf_pins *p, uint64_t id)
{
	return id ? lkdf_probe_show(id, p->key) : 0;
}

static inline bool bpf_is_ours(const struct workers *b, uint32_t slot,
			       uint32_t gen)
{
	uint64_t id = (uint64_t)gen << 32 | (slot + 1ull);
	int i;

	for (i = 0; i < b->nr; i++)
		if (a_load(&b->of[i].slot, relaxed) == id)
			return true;
	return false;
}

#endif
