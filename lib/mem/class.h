/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Size classes: multiples of 16 up to 128 bytes, then four per doubling up to
 * 2 MiB, so that a block wastes at most a fifth. A class that serves a
 * multiple of 64 is one, too: what asks for 64-byte alignment rounds its size
 * up first. Above 2 MiB a block is a mapping of its own (mem/large.h).
 */
#ifndef MEM_CLASS_H
#define MEM_CLASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NR_SIZES 64
#define CLASS_LARGE NR_SIZES /* stands for all that are larger */
#define CLASS_MAX_SIZE ((size_t)2 << 20)

/* Memory is handed to classes in pages of this size. */
#define HEAP_PAGE_SHIFT 16
#define HEAP_PAGE ((size_t)1 << HEAP_PAGE_SHIFT)

/* Most blocks of a class that one thread keeps: one less than slots. */
#define BIN_SLOTS 128
#define BIN_MAX (BIN_SLOTS - 1)

struct size_class {
	uint64_t inverse; /* of size, in 2^-64, rounded up */
	uint32_t size;
	uint32_t nr_blocks; /* per span */
	uint16_t nr_pages; /* per span */
	uint16_t bin_max; /* most blocks a thread keeps */
	uint32_t depot_max; /* blocks the depot keeps */
};

/* limit: bytes of a memory; 0: none. */
void class_table_init(struct size_class *table, uint64_t limit);

/* Classes of sizes to 1024, in steps of 16. */
#define CLASS_SMALL_SIZE ((size_t)1024)
extern const uint8_t class_small[CLASS_SMALL_SIZE / 16];

/* size 1 .. CLASS_MAX_SIZE. */
static inline unsigned class_of(size_t size)
{
	unsigned log;

	if (size - 1 < CLASS_SMALL_SIZE)
		return class_small[(size - 1) / 16];
	log = 63u ^ (unsigned)__builtin_clzl(size - 1);
	return 8 + (log - 7) * 4 + (unsigned)(((size - 1) >> (log - 2)) & 3);
}

/*
 * Whether offset is a multiple of the size whose inverse it is: the fraction
 * that the product leaves is smaller than one step (Lemire, Kaser and Kurz,
 * "Faster remainder by direct computation", 2019). For offsets below 2^32.
 */
static inline bool is_multiple(uint64_t offset, uint64_t inverse)
{
	return offset * inverse < inverse;
}

/* The smallest class for size whose blocks lie on multiples of align. */
unsigned class_of_aligned(size_t size, size_t align);

#endif
