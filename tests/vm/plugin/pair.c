/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Tells the access counter, in the machine, which CPU and which memory is on
 * which node, and then proves it: pair [WORDS] pins itself to each CPU, binds
 * memory to each node and walks through so many words of it (reads, then
 * writes), between marks. The report must show exactly these bytes in the cell
 * of that pair of nodes and none elsewhere; test_counter judges it. "pair 0"
 * only tells the map, for programs that follow.
 *
 * Needs root: guest-physical addresses come from /proc/self/pagemap.
 */
#include "tests/vm/plugin/guest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096ull
#define SAMPLES 256 /* pages of each node */
#define STEP 16 /* of which it looks at one, so that they lie apart */
#define MAX_CPUS 64
#define MAX_BLOCKS 4096

static int read_number(const char *path, int base, unsigned long long *out)
{
	FILE *file = fopen(path, "re");
	char text[64];
	int rc = file && fgets(text, sizeof(text), file) ? 0 : -EIO;

	if (file)
		fclose(file);
	if (!rc)
		*out = strtoull(text, NULL, base);
	else
		fprintf(stderr, "pair: cannot read %s\n", path);
	return rc;
}

/* The kernel's memory blocks of a node, neighbours joined. */
static void say_memory(int node, unsigned long long size)
{
	char path[96];
	unsigned long long i, from = 0;
	int inside = 0, is_here;

	for (i = 0; i <= MAX_BLOCKS; i++) {
		snprintf(path, sizeof(path),
			 "/sys/devices/system/node/node%d/memory%llu", node, i);
		is_here = !access(path, F_OK);
		if (is_here && !inside) {
			from = i * size;
		} else if (!is_here && inside) {
			guest_say("memory %d %llx %llx", node, from, i * size);
		}
		inside = is_here;
	}
}

static int say_page(int pagemap, volatile uint64_t *at)
{
	uint64_t entry, number;

	*at = 1;
	if (pread(pagemap, &entry, 8, (off_t)((uintptr_t)at / PAGE * 8)) != 8)
		return -EIO;
	number = entry & ((1ull << 55) - 1);
	if (!(entry >> 63) || !number)
		return -EPERM;
	guest_say("page %llx", (unsigned long long)(number * PAGE));
	(void)*at;
	return 0;
}

/* Pages of the node, confirmed by the kernel, of known address. */
static int say_pages(int pagemap, int node)
{
	char *at = guest_arena(SAMPLES * STEP * PAGE, NULL);
	int rc = at ? guest_bind(at, SAMPLES * STEP * PAGE, node) : -ENOMEM;
	int i, where;

	if (!rc)
		memset(at, 1, SAMPLES * STEP * PAGE);
	for (i = 0; !rc && i < SAMPLES; i++) {
		rc = guest_nodes(at + i * STEP * PAGE, 1, &where);
		if (!rc && where != node)
			rc = -ENXIO;
		if (!rc)
			rc = say_page(pagemap, (void *)(at + i * STEP * PAGE));
	}
	if (rc)
		fprintf(stderr, "pair: node %d: %s\n", node, strerror(-rc));
	guest_arena_free();
	return rc;
}

/* What the kernel says of the way from a node to each one. */
static void say_distances(int node)
{
	char path[96], text[128];
	FILE *file;

	snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/distance",
		 node);
	file = fopen(path, "re");
	if (file && fgets(text, sizeof(text), file))
		guest_say("note distance %d %.*s", node,
			  (int)strcspn(text, "\n"), text);
	if (file)
		fclose(file);
}

static int say_map(void)
{
	int cpu, node, rc = 0;
	int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);

	if (pagemap < 0)
		return -errno;
	for (cpu = 0; cpu < MAX_CPUS && !rc; cpu++) {
		node = guest_node_of_cpu(cpu);
		if (node < 0)
			continue;
		rc = guest_pin(cpu);
		if (!rc)
			guest_say("cpu %d %d", cpu, node);
	}
	for (node = 0; node < CONTROL_MAX_NODES && !rc; node++)
		if (guest_has_memory(node))
			rc = say_pages(pagemap, node);
	close(pagemap);
	guest_say("map");
	return rc;
}

/* Half of the words are loads, half are stores, of 8 bytes each. */
static void walk(volatile uint64_t *at, size_t nr_words)
{
	size_t i;

	for (i = 0; i < nr_words / 2; i++)
		(void)at[i];
	for (i = 0; i < nr_words / 2; i++)
		at[i] = i;
}

static int prove(int cpu, int node, size_t nr_words)
{
	size_t size = nr_words / 2 * 8;
	void *at = guest_arena(size, NULL);
	int rc = at ? guest_bind(at, size, node) : -ENOMEM;

	if (!rc)
		rc = guest_pin(cpu);
	if (rc)
		return rc;
	memset(at, 1, size);
	guest_say("label pair cpu%d node%d", cpu, node);
	guest_say("note expect %d %d %zu %zu", guest_node_of_cpu(cpu), node,
		  nr_words * 8, nr_words);
	guest_mark(CONTROL_START);
	walk(at, nr_words);
	guest_mark(CONTROL_STOP);
	rc = guest_verify();
	guest_arena_free();
	return rc;
}

int main(int argc, char **argv)
{
	size_t nr_words = argc > 1 ? strtoul(argv[1], NULL, 0) : 65536;
	int cpu, node, rc;
	unsigned long long size;

	rc = guest_open();
	if (!rc)
		rc = read_number("/sys/devices/system/memory/block_size_bytes",
				 16, &size);
	if (rc)
		return 1;
	for (node = 0; node < CONTROL_MAX_NODES; node++)
		say_memory(node, size);
	rc = say_map();
	guest_say("label machine");
	for (node = 0; node < CONTROL_MAX_NODES; node++)
		say_distances(node);
	for (cpu = 0; nr_words && !rc && cpu < MAX_CPUS; cpu++) {
		for (node = 0; !rc && node < CONTROL_MAX_NODES; node++)
			if (guest_has_memory(node) &&
			    guest_node_of_cpu(cpu) >= 0)
				rc = prove(cpu, node, nr_words);
	}
	printf("pair: %s\n", rc ? strerror(-rc) : "done");
	return rc != 0;
}
