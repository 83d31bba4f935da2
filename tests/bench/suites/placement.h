/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * State that the parts of lkdf bench placement share: a range of memory, and
 * /dev/lkdf with that range watched, as far as this machine has them.
 */
#ifndef TESTS_BENCH_SUITES_PLACEMENT_H
#define TESTS_BENCH_SUITES_PLACEMENT_H

#include "bench/bench.h"

#include <stddef.h>
#include <stdint.h>

#define PLACE_BLOCK_SHIFT 21
#define PLACE_BLOCK ((size_t)1 << PLACE_BLOCK_SHIFT)
#define PLACE_NODES 1024

struct lkdf_map_desc;

struct place {
	/* Memory: whole blocks, aligned; every page is touched. */
	char *mem;
	size_t len, page;
	char *whole;
	size_t whole_len;

	/* The device; fd < 0: why says what is missing, for one line. */
	int fd;
	char why[64];
	void *map; /* NULL: none */
	size_t map_bytes;
	const volatile struct lkdf_map_desc *desc;
	unsigned id;

	/* A word for each block: the device's, or of a map in memory. */
	const uint16_t *words;
	uint16_t *own_words;
};

/* Two nodes that have memory; fewer: how many there are. */
unsigned place_two_nodes(int node[2]);

/* @advice: MADV_NOHUGEPAGE or MADV_HUGEPAGE. 0, or -errno said on stderr. */
int place_memory(struct place *p, size_t len, int advice);
/* The device of a place with memory; leaves fd < 0 and why without it. */
void place_device(struct place *p);
void place_drop(struct place *p);

/* The range is watched, every block stale; 0 or -errno. */
int place_watch(struct place *p);
void place_unwatch(struct place *p);
/* Blocks looked at, or -errno. */
long place_refresh(const struct place *p, unsigned flags);
/* Pages on a node, or -errno. */
long place_query(const struct place *p);
/* Blocks that the map says are mapped by huge pages only. */
unsigned place_huge_blocks(const struct place *p);

/*
 * The cost of migrating pages of @step bytes, the range watched and not.
 */
void place_mover(struct bench *b, struct place *p, const char *pages,
		 size_t step);
double place_mover_steps(const struct bench *b);

#endif
