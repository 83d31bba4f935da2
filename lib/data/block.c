/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "data/block.h"

#include "check/notes.h"

#include <lkdf/runtime.h>
#include <stdio.h>
#include <string.h>

/* Lines of the report at close. */
#define MAX_LEAKS 16

/*
 * The number of a text, with a reference; this thread remembers the last one,
 * and has one to it.
 */
static uint32_t label_number_of(struct heap *h, struct cache *c,
				const char *label)
{
	size_t size;

	if (!label || !label[0])
		return 0;
	if (!c)
		return label_take(&h->labels, label);
	if (!c->label_number || strncmp(c->label_text, label, LABEL_MAX)) {
		label_put(&h->labels, c->label_number);
		c->label_number = label_take(&h->labels, label);
		size = strnlen(label, LABEL_MAX);
		memcpy(c->label_text, label, size);
		c->label_text[size] = '\0';
	}
	label_hold(&h->labels, c->label_number);
	return c->label_number;
}

static uint32_t number_in(const struct span *s, const void *p)
{
	size_t offset = (size_t)((const char *)p - s->base);

	return s->block_size ? (uint32_t)offset / s->block_size : 0;
}

void block_set_label(struct heap *h, struct cache *c, void *p,
		     const char *label)
{
	struct span *s = entry_span(index_entry(&h->index, p));

	if (likely(s != NULL))
		label_set(s, number_in(s, p), label_number_of(h, c, label));
	else
		notes_bytes(h->notes, label, p, 0);
}

void block_find(struct heap *h, const void *p, struct block *out)
{
	uint64_t entry = index_entry(&h->index, p);
	struct span *s = entry_span(entry);
	uint32_t i;

	memset(out, 0, sizeof(*out));
	if (!entry)
		return;
	i = number_in(s, p);
	out->is_ours = true;
	out->size = s->class == CLASS_LARGE ? s->size : s->block_size;
	out->offset = (size_t)((const char *)p - s->base);
	if (s->class != CLASS_LARGE)
		out->offset -= (size_t)i * s->block_size;
	label_text(&h->labels, label_get(s, i), out->label);
	block_memory_text(h, entry_memory(entry), out->where);
}

void block_memory_text(const struct heap *h, unsigned memory,
		       char text[BLOCK_WHERE])
{
	if (memory < heap_interleaved(h))
		snprintf(text, BLOCK_WHERE, "on node %d", h->os_node[memory]);
	else if (memory == heap_interleaved(h))
		snprintf(text, BLOCK_WHERE, "interleaved");
	else
		snprintf(text, BLOCK_WHERE, "pinned on node %d",
			 h->os_node[memory - heap_pinned(h, 0)]);
}

struct leak {
	unsigned memory;
	char label[LABEL_MAX + 1];
	uint64_t nr, bytes;
};

/* The largest, largest first. */
struct leaks {
	struct leak leak[MAX_LEAKS];
	unsigned nr;
	uint64_t nr_more, blocks_more, bytes_more;
};

static void note_leak(void *u, unsigned memory, const char *label, uint64_t nr,
		      uint64_t bytes)
{
	struct leak new = { .memory = memory, .nr = nr, .bytes = bytes };
	struct leaks *k = u;
	unsigned i = k->nr;

	snprintf(new.label, sizeof(new.label), "%s", label);
	if (i == MAX_LEAKS) {
		i--;
		k->nr_more++;
		if (k->leak[i].bytes >= bytes) {
			k->blocks_more += nr;
			k->bytes_more += bytes;
			return;
		}
		k->blocks_more += k->leak[i].nr;
		k->bytes_more += k->leak[i].bytes;
	} else {
		k->nr++;
	}
	for (; i > 0 && k->leak[i - 1].bytes < bytes; i--)
		k->leak[i] = k->leak[i - 1];
	k->leak[i] = new;
}

static void say_leak(struct heap *h, const struct log *log,
		     const struct leak *l)
{
	char where[BLOCK_WHERE];

	block_memory_text(h, l->memory, where);
	log_text(log, LKDF_LOG_INFO,
		 "close: memory not freed: \"%s\" %llu block%s, %llu bytes, %s",
		 l->label, (unsigned long long)l->nr, l->nr == 1 ? "" : "s",
		 (unsigned long long)l->bytes, where);
}

void block_report_leaks(struct heap *h, const struct log *log)
{
	struct leaks k = { .nr = 0 };
	unsigned i;

	if (log->level < LKDF_LOG_INFO)
		return;
	heap_leaks(h, note_leak, &k);
	for (i = 0; i < k.nr; i++)
		say_leak(h, log, &k.leak[i]);
	if (k.nr_more)
		log_text(log, LKDF_LOG_INFO,
			 "close: and %llu more labels: %llu blocks, %llu bytes",
			 (unsigned long long)k.nr_more,
			 (unsigned long long)k.blocks_more,
			 (unsigned long long)k.bytes_more);
}
