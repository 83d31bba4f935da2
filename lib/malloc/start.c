/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "malloc/start.h"

#include "malloc/malloc.h"
#include "topo/raw.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BOOT_SIZE 65536
#define MAX_NODES 64

enum {
	NEW,
	STARTING,
	READY
};

CHECK_ONLY static const uint8_t legal[] = {
	[NEW] = MOVE_TO(STARTING),
	[STARTING] = MOVE_TO(READY),
	[READY] = 0,
};

static struct {
	_Atomic(uint32_t) state;
	struct heap *heap;
	pthread_key_t key;
	_Atomic(size_t) boot_used;
	_Alignas(4096) char boot[BOOT_SIZE];
} global;

_Noreturn void start_die(const char *what)
{
	ssize_t ignored = write(STDERR_FILENO, what, strlen(what));

	(void)ignored;
	abort();
}

void *start_boot_alloc(size_t size, size_t align)
{
	size_t room = round_up(size, 16) + align;
	size_t at = a_add(&global.boot_used, room, relaxed);

	if (room < size || at > BOOT_SIZE || room > BOOT_SIZE - at)
		start_die("lkdf-malloc: too much is allocated at start\n");
	return (void *)round_up((uintptr_t)&global.boot[at], align);
}

bool start_is_boot(const void *p)
{
	return (uintptr_t)p - (uintptr_t)global.boot < BOOT_SIZE;
}

size_t start_boot_size(const void *p)
{
	return (size_t)(global.boot + BOOT_SIZE - (const char *)p);
}

void start_watch_thread(struct cache *c)
{
	pthread_setspecific(global.key, c);
}

static void print_stats(void)
{
	struct heap_stat s;
	char line[256];
	ssize_t ignored;
	int i, n;

	for (i = 0; i < global.heap->nr_nodes; i++) {
		if (!global.heap->memory[i]->is_present)
			continue;
		heap_stat(global.heap, (unsigned)i, &s);
		n = snprintf(line, sizeof(line),
			     "lkdf-malloc: node %d: used %llu cached %llu "
			     "peak %llu mapped %llu bytes, %llu remote frees\n",
			     global.heap->os_node[i],
			     (unsigned long long)s.used,
			     (unsigned long long)s.cached,
			     (unsigned long long)s.peak,
			     (unsigned long long)s.mapped,
			     (unsigned long long)s.remote_frees);
		ignored = write(STDERR_FILENO, line, (size_t)n);
		(void)ignored;
	}
}

/* Those without memory, too: threads run there. */
static void list_nodes(struct heap_attr *a, struct heap_node *node)
{
	bool is_node[MAX_NODES], has_memory[MAX_NODES];
	int i, nr_with_memory = 0;

	if (!topo_raw_memory_nodes(has_memory, MAX_NODES))
		has_memory[0] = true;
	if (!topo_raw_nodes(is_node, MAX_NODES))
		memcpy(is_node, has_memory, sizeof(is_node));
	for (i = 0; i < MAX_NODES; i++) {
		if (!is_node[i])
			continue;
		node[a->nr_nodes++] = (struct heap_node){ i, has_memory[i] };
		nr_with_memory += has_memory[i];
	}
	check(a->nr_nodes <= MAX_NODES && nr_with_memory <= a->nr_nodes);
	a->node = node;
	/* With one node there is nothing to bind. */
	a->is_bound = nr_with_memory > 1;
}

static void read_distances(struct heap_attr *a)
{
	static int distance[MAX_NODES * MAX_NODES];
	int i;

	for (i = 0; i < a->nr_nodes; i++)
		if (!topo_raw_distances(a->node[i].os_node,
					distance + i * a->nr_nodes,
					a->nr_nodes))
			return;
	a->distance = distance;
}

/* The wishes in LKDF_MALLOC. */
struct wishes {
	bool stats, strict, huge;
};

static void refuse_word(const char *word, size_t size)
{
	char line[160];
	int n = snprintf(line, sizeof(line),
			 "lkdf-malloc: LKDF_MALLOC: unknown word \"%.*s\": "
			 "expected stats, strict or huge\n",
			 (int)(size < 64 ? size : 64), word);
	ssize_t ignored = write(STDERR_FILENO, line, (size_t)n);

	(void)ignored;
}

static void read_word(const char *word, size_t size, struct wishes *w)
{
	struct {
		const char *name;
		bool *wish;
	} known[] = { { "stats", &w->stats },
		      { "strict", &w->strict },
		      { "huge", &w->huge } };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(known); i++) {
		if (size == strlen(known[i].name) &&
		    !memcmp(word, known[i].name, size)) {
			*known[i].wish = true;
			return;
		}
	}
	if (size)
		refuse_word(word, size);
}

static struct wishes read_wishes(const char *list)
{
	struct wishes w = { false, false, false };
	size_t size;

	for (; list && *list; list += size + (list[size] == ',')) {
		size = strcspn(list, ",");
		read_word(list, size, &w);
	}
	return w;
}

static void create_runtime(void)
{
	struct wishes w = read_wishes(secure_getenv("LKDF_MALLOC"));
	struct heap_node node[MAX_NODES];
	struct heap_attr a = { .node_free = topo_raw_node_free };

	list_nodes(&a, node);
	read_distances(&a);
	a.is_strict = w.strict;
	if (w.huge)
		a.huge = OS_HUGE_ALWAYS;
	if (heap_create(&a, &global.heap))
		start_die("lkdf-malloc: no memory for the heap\n");
	if (pthread_key_create(&global.key, malloc_thread_end))
		start_die("lkdf-malloc: no thread key is left\n");
	if (w.stats)
		atexit(print_stats);
}

struct heap *start_heap(void)
{
	/* [malloc.seen] all of the heap; pairs with [malloc.made]. */
	uint32_t state = a_load(&global.state, acquire);

	if (likely(state == READY))
		return global.heap;
	if (state == NEW &&
	    a_cas(&global.state, &state, STARTING, relaxed, relaxed)) {
		create_runtime();
		check(global.heap);
		check_move(legal, a_load(&global.state, relaxed), READY);
		/* [malloc.made] pairs with [malloc.seen]. */
		a_store(&global.state, READY, release);
		return global.heap;
	}
	return NULL;
}
