/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "api/memstat.h"

#include "mem/heap.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define FIELD(name)                                     \
	{                                               \
#name, offsetof(struct heap_stat, name) \
	}

static const struct field {
	const char *name;
	size_t offset;
} fields[] = {
	FIELD(used),   FIELD(cached),	    FIELD(peak),
	FIELD(mapped), FIELD(remote_frees),
};

static uint64_t value_of(const struct heap_stat *s, const struct field *f)
{
	uint64_t v;

	memcpy(&v, (const char *)s + f->offset, sizeof(v));
	return v;
}

/* "node.3.memory.", "node.3.pinned.", "memory.interleaved.". */
static int prefix_of(const struct heap *h, unsigned memory, char *buf,
		     size_t size)
{
	unsigned first_pinned = heap_pinned(h, 0);

	if (memory == heap_interleaved(h))
		return snprintf(buf, size, "memory.interleaved.");
	if (memory >= first_pinned)
		return snprintf(buf, size, "node.%d.pinned.",
				h->os_node[memory - first_pinned]);
	return snprintf(buf, size, "node.%d.memory.", h->os_node[memory]);
}

static int find_field(struct heap *h, unsigned memory, const char *name,
		      uint64_t *out)
{
	struct heap_stat s;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		if (strcmp(name, fields[i].name))
			continue;
		heap_stat(h, memory, &s);
		*out = value_of(&s, &fields[i]);
		return 0;
	}
	return -ENOENT;
}

int memstat_find(struct heap *h, const char *name, uint64_t *out)
{
	char prefix[64];
	unsigned i;
	int size;

	for (i = 0; i < h->nr_memories; i++) {
		size = prefix_of(h, i, prefix, sizeof(prefix));
		if (!strncmp(name, prefix, (size_t)size))
			return find_field(h, i, name + size, out);
	}
	return -ENOENT;
}

void memstat_each(struct heap *h,
		  void (*fn)(void *u, const char *name, uint64_t v), void *u)
{
	char prefix[64], name[128];
	struct heap_stat s;
	unsigned i;
	size_t j;

	for (i = 0; i < h->nr_memories; i++) {
		if (!h->memory[i]->is_present)
			continue;
		prefix_of(h, i, prefix, sizeof(prefix));
		heap_stat(h, i, &s);
		for (j = 0; j < ARRAY_SIZE(fields); j++) {
			snprintf(name, sizeof(name), "lkdf.%s%s", prefix,
				 fields[j].name);
			fn(u, name, value_of(&s, &fields[j]));
		}
	}
}
