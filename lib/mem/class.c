/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "mem/class.h"

#include "base/util.h"

/* Up to here several blocks share a span. */
#define SMALL_MAX ((size_t)32 << 10)

/* Bytes of one class that a thread may keep, and that a depot may keep. */
#define BIN_BYTES ((size_t)256 << 10)
#define BIN_BLOCKS_MIN ((size_t)8)
#define BIN_BYTES_MAX ((size_t)8 << 20)
/* A bin may keep one part in so many of a limit on the memory. */
#define BIN_PART 64
#define DEPOT_BYTES ((size_t)1 << 20)
#define DEPOT_BYTES_MAX ((size_t)1 << 30)
#define DEPOT_BLOCKS_MIN 1024

#define EIGHT(c, d) c, c, c, c, d, d, d, d
const uint8_t class_small[CLASS_SMALL_SIZE / 16] = {
	0,
	1,
	2,
	3,
	4,
	5,
	6,
	7, /* to 128 */
	8,
	8,
	9,
	9,
	10,
	10,
	11,
	11, /* to 256 */
	EIGHT(12, 13),
	EIGHT(14, 15), /* to 512 */
	EIGHT(16, 16),
	EIGHT(17, 17),
	EIGHT(18, 18),
	EIGHT(19, 19),
};

static size_t size_of_class(unsigned class)
{
	unsigned doubling;

	if (class < 8)
		return 16 * ((size_t) class + 1);
	doubling = (class - 8) / 4;
	return ((size_t)1 << (doubling + 7)) +
	       ((size_t)((class - 8) % 4 + 1) << (doubling + 5));
}

/* The fewest pages that waste at most a sixteenth. */
static unsigned pages_per_span(size_t size)
{
	unsigned nr;

	if (size > SMALL_MAX)
		return (unsigned)((size + HEAP_PAGE - 1) / HEAP_PAGE);
	for (nr = 1; nr * HEAP_PAGE % size * 16 > nr * HEAP_PAGE; nr++)
		;
	return nr;
}

static uint64_t bin_max(size_t size, uint64_t limit)
{
	uint64_t nr = max_u64(BIN_BYTES / size, BIN_BLOCKS_MIN);

	nr = min_u64(nr, BIN_BYTES_MAX / size);
	if (limit)
		nr = min_u64(nr, limit / BIN_PART / size);
	return min_u64(nr, BIN_MAX);
}

static uint32_t depot_max(size_t size)
{
	uint64_t nr = max_u64(DEPOT_BYTES / size, DEPOT_BLOCKS_MIN);

	return (uint32_t)min_u64(nr, DEPOT_BYTES_MAX / size);
}

void class_table_init(struct size_class *table, uint64_t limit)
{
	unsigned i, pages;
	size_t size;

	for (i = 0; i < NR_SIZES; i++) {
		size = size_of_class(i);
		pages = pages_per_span(size);
		table[i] = (struct size_class){
			.inverse = UINT64_MAX / size + 1,
			.size = (uint32_t)size,
			.nr_pages = (uint16_t)pages,
			.nr_blocks =
				size > SMALL_MAX
					? 1
					: (uint32_t)(pages * HEAP_PAGE / size),
			.bin_max = (uint16_t)bin_max(size, limit),
			.depot_max = depot_max(size),
		};
	}
}

unsigned class_of_aligned(size_t size, size_t align)
{
	unsigned class = class_of(size);

	while (class < NR_SIZES && size_of_class(class) % align)
		class ++;
	return class;
}
