/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "tests/vm/plugin/guest.h"

#include <errno.h>
#include <linux/mempolicy.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE 4096ull
#define BATCH 512
#define MAX_NAMES 16

static struct {
	pthread_mutex_t lock; /* of the text */
	size_t arena_size;
	size_t heap_size; /* atomic */
	struct {
		const char *name;
		uint64_t from, to;
	} named[MAX_NAMES];
	unsigned nr_named;
} guest = { .lock = PTHREAD_MUTEX_INITIALIZER };

static int complain(const char *what)
{
	int rc = -errno;

	fprintf(stderr, "guest: %s: %s\n", what, strerror(-rc));
	return rc;
}

static void *map(uint64_t at, size_t size)
{
	void *p = mmap((void *)(uintptr_t)at, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
			       MAP_FIXED_NOREPLACE,
		       -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

int guest_open(void)
{
	return map(CONTROL_AT, CONTROL_SIZE) ? 0 : complain("control page");
}

void guest_say(const char *fmt, ...)
{
	char text[200];
	const char *c;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	pthread_mutex_lock(&guest.lock);
	for (c = text; *c; c++)
		guest_mark((unsigned char)*c);
	guest_mark('\n');
	pthread_mutex_unlock(&guest.lock);
}

/* The last part of the path, or the size, and a number. */
static const char *name_of(const char *path, unsigned long long size,
			   unsigned nr, char *to, size_t room)
{
	const char *slash = strrchr(path, '/');

	if (*path)
		snprintf(to, room, "%u:%s", nr, slash ? slash + 1 : path);
	else
		snprintf(to, room, "%u:%lluK", nr, size / 1024);
	return to;
}

int guest_say_ranges(void)
{
	char line[512], path[256], name[48];
	unsigned long long from, to;
	unsigned i, nr = 0;
	FILE *maps = fopen("/proc/self/maps", "re");

	if (!maps)
		return complain("/proc/self/maps");
	guest_say("ranges");
	for (i = 0; i < guest.nr_named; i++)
		guest_say("range %s %llx %llx", guest.named[i].name,
			  (unsigned long long)guest.named[i].from,
			  (unsigned long long)guest.named[i].to);
	while (fgets(line, sizeof(line), maps)) {
		path[0] = '\0';
		if (sscanf(line, "%llx-%llx %*s %*s %*s %*s %255s", &from, &to,
			   path) < 2 ||
		    from == CONTROL_AT || from >= USER_END)
			continue;
		if (from - ARENA_AT >= ARENA_SIZE + HEAP_SIZE)
			guest_say("range %s %llx %llx",
				  name_of(path, to - from, nr++, name,
					  sizeof(name)),
				  from, to);
	}
	fclose(maps);
	return 0;
}

void *guest_arena(size_t size, const char *name)
{
	uint64_t at = ARENA_AT + guest.arena_size;
	void *p;

	size = (size + PAGE - 1) & ~(PAGE - 1);
	p = map(at, size);
	if (!p) {
		complain("arena");
		return NULL;
	}
	guest.arena_size += size;
	if (name && guest.nr_named < MAX_NAMES) {
		guest.named[guest.nr_named].name = name;
		guest.named[guest.nr_named].from = at;
		guest.named[guest.nr_named++].to = at + size;
	}
	return p;
}

void guest_arena_free(void)
{
	munmap((void *)(uintptr_t)ARENA_AT, guest.arena_size);
	guest.arena_size = 0;
	guest.nr_named = 0;
}

/* Addresses are never given twice: there are plenty. */
void *guest_heap(size_t size, size_t align)
{
	size_t at = __atomic_load_n(&guest.heap_size, __ATOMIC_RELAXED), from;
	void *p;

	do
		from = (at + align - 1) & ~(align - 1);
	while (!__atomic_compare_exchange_n(&guest.heap_size, &at, from + size,
					    0, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED));
	p = map(HEAP_AT + from, size);
	if (!p)
		complain("heap");
	return p;
}

int guest_bind(void *at, size_t size, int node)
{
	unsigned long mask = 1ul << node;

	if (syscall(SYS_mbind, at, size, MPOL_BIND, &mask,
		    CONTROL_MAX_NODES + 1, 0))
		return complain("mbind");
	return 0;
}

int guest_nodes(void *at, size_t nr, int *nodes)
{
	void *page[BATCH];
	size_t i, done, part;

	for (done = 0; done < nr; done += part) {
		part = nr - done < BATCH ? nr - done : BATCH;
		for (i = 0; i < part; i++)
			page[i] = (char *)at + (done + i) * PAGE;
		if (syscall(SYS_move_pages, 0, part, page, NULL, nodes + done,
			    0))
			return complain("move_pages");
	}
	return 0;
}

/* The pages that there are from @at on; adds up how many. */
static int verify(uint64_t at, size_t nr, size_t *nr_touched)
{
	volatile uint64_t *word = (void *)(uintptr_t)at;
	int node, *nodes = malloc((nr + 1) * sizeof(*nodes));
	int rc = nodes ? guest_nodes((void *)word, nr, nodes) : -ENOMEM;
	size_t i;

	for (node = 0; !rc && node < CONTROL_MAX_NODES; node++) {
		guest_mark(CONTROL_VERIFY + (unsigned)node);
		for (i = 0; i < nr; i++) {
			if (nodes[i] != node)
				continue;
			(void)word[i * (PAGE / 8)];
			(*nr_touched)++;
		}
	}
	free(nodes);
	return rc;
}

int guest_verify(void)
{
	size_t nr = 0;
	int rc = verify(ARENA_AT, guest.arena_size / PAGE, &nr);

	if (!rc)
		rc = verify(HEAP_AT, guest.heap_size / PAGE, &nr);
	guest_mark(CONTROL_VERIFIED);
	guest_say("note pages %zu", nr);
	return rc;
}

int guest_pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set) ? complain("affinity")
						       : 0;
}

int guest_node_of_cpu(int cpu)
{
	char path[64];
	int node;

	for (node = 0; node < CONTROL_MAX_NODES; node++) {
		snprintf(path, sizeof(path),
			 "/sys/devices/system/cpu/cpu%d/node%d", cpu, node);
		if (!access(path, F_OK))
			return node;
	}
	return -1;
}

int guest_has_memory(int node)
{
	char path[64];
	long kib = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/meminfo",
		 node);
	file = fopen(path, "re");
	if (file) {
		if (fscanf(file, "Node %*d MemTotal: %ld", &kib) != 1)
			kib = 0;
		fclose(file);
	}
	return kib > 0;
}
