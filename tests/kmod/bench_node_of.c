/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What node_of() costs: reader.h over a map that this program writes itself
 * into a memfd and maps once more, read-only; no module is needed. A loop over
 * addresses, with node_of() and with a plain load of the address's own array
 * in its place (the floor). TAP: the nodes are right, times are comments.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "reader.h"

#define SHIFT 21
#define NR_BLOCKS (1U << 16)
#define NR_ADDRESSES (1U << 16)
#define ROUNDS 20
#define SPAN ((uint64_t)NR_BLOCKS << SHIFT)
#define BASE ((uintptr_t)1 << 45)

static const void *addresses[NR_ADDRESSES];

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static unsigned node_by_rule(uintptr_t block)
{
	return block * 7 % 61;
}

/* A map as the kernel writes it: a descriptor, then words. */
static struct reader make_map(void)
{
	size_t bytes = 4096 + NR_BLOCKS * sizeof(uint16_t);
	int fd = memfd_create("map", MFD_CLOEXEC);
	struct reader r = { .start = BASE, .shift = SHIFT };
	struct lkdf_map_desc *desc;
	uint16_t *words;
	unsigned i;

	if (fd < 0 || ftruncate(fd, bytes))
		exit(1);
	desc = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (desc == MAP_FAILED)
		exit(1);
	words = (uint16_t *)((char *)desc + 4096);
	for (i = 0; i < NR_BLOCKS; i++)
		words[i] = node_by_rule(i) | LKDF_BLOCK_HUGE;
	r.desc = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
	if (r.desc == MAP_FAILED)
		exit(1);
	r.words = (const uint16_t *)((const char *)r.desc + 4096);
	close(fd);
	return r;
}

static double time_lookups(const struct reader *r, unsigned *sum)
{
	double start = seconds();
	unsigned i, k;

	for (k = 0; k < ROUNDS; k++) {
		for (i = 0; i < NR_ADDRESSES; i++)
			*sum += node_of(r, addresses[i]);
	}
	return (seconds() - start) * 1e9 / ROUNDS / NR_ADDRESSES;
}

static double time_floor(unsigned *sum)
{
	double start = seconds();
	unsigned i, k;

	for (k = 0; k < ROUNDS; k++) {
		for (i = 0; i < NR_ADDRESSES; i++)
			*sum += (uintptr_t)__atomic_load_n(&addresses[i],
							   __ATOMIC_RELAXED);
	}
	return (seconds() - start) * 1e9 / ROUNDS / NR_ADDRESSES;
}

static double best(double a, double b)
{
	return b < a ? b : a;
}

static unsigned measure(const struct reader *r, const char *what)
{
	double look = 1e9, bare = 1e9;
	unsigned sum = 0, wrong = 0, i;

	for (i = 0; i < NR_ADDRESSES; i++)
		wrong +=
			node_of(r, addresses[i]) !=
			node_by_rule(((uintptr_t)addresses[i] - BASE) >> SHIFT);
	for (i = 0; i < 9; i++) {
		look = best(look, time_lookups(r, &sum));
		bare = best(bare, time_floor(&sum));
	}
	printf("# %s: %.2f ns a lookup, loop included; the loop alone %.2f ns\n",
	       what, look, bare);
	/* So that nothing is left out. */
	return wrong + (sum == 1);
}

int main(void)
{
	struct reader r = make_map();
	unsigned i, seed = 1, wrong;

	for (i = 0; i < NR_ADDRESSES; i++)
		addresses[i] =
			(void *)(BASE + (uintptr_t)i * (SPAN / NR_ADDRESSES));
	wrong = measure(&r, "in order");
	for (i = 0; i < NR_ADDRESSES; i++)
		addresses[i] = (void *)(BASE + ((uint64_t)rand_r(&seed) << 21 ^
						(uint64_t)rand_r(&seed)) %
						       SPAN);
	wrong += measure(&r, "at random");
	printf("%sok 1 - nodes are read as they were written\n1..1\n",
	       wrong ? "not " : "");
	return wrong != 0;
}
