/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Asks the kernel page by page where memory is, and brings none in:
 * move_pages(2) without target nodes. A page without a node may be absent, or
 * the kernel may hide it: Linux 6.1 does so with pages that wait for an
 * AutoNUMA hint and with those behind PROT_NONE; and no kernel tells a node for
 * the shared zero page. Which errno a status holds depends on the kernel, so it
 * is not looked at. Instead /proc/PID/pagemap, which whoever may trace the
 * process may read, tells what is present, and of most pages that they are not
 * the zero page.
 *
 * Up to PAGES_FULL pages each is asked. Larger ranges are taken in blocks of
 * 2 MiB, or larger ones, with four pages asked of each; a block whose four
 * answers differ is asked in full while there are not too many of them.
 */
#ifndef MEM_PAGES_ASK_H
#define MEM_PAGES_ASK_H

#include "mem/numa_maps.h"

#include <stdbool.h>
#include <stdint.h>

#define PAGES_MAX_NODES NUMA_MAPS_MAX_NODES
#define PAGES_FULL 32768
#define PAGES_BATCH 4096

/* Bytes; they add up to the range that was asked for. */
struct pages_tally {
	uint64_t on[PAGES_MAX_NODES];
	uint64_t absent;
	uint64_t hidden; /* present on some node */
	/*
	 * The zero page, or hidden and shared by a fork; without pagemap, and
	 * of the module, also absent or hidden.
	 */
	uint64_t vague;
	bool is_sampled;
};

/* Pages to ask, each standing for so many bytes. */
struct pages_batch {
	unsigned nr;
	void *page[PAGES_BATCH];
	int status[PAGES_BATCH];
	uint64_t bytes[PAGES_BATCH];
};

struct pages_ask {
	int32_t pid;
	uint64_t page_size;
	int pagemap; /* descriptor; -1: cannot be read */
	int refused; /* errno of move_pages(2) that will not change; 0: works */
	unsigned budget; /* mixed blocks that may still be asked in full */
	struct pages_batch batch; /* each page for itself */
	struct pages_batch probe; /* samples of blocks */
};

/* proc_root NULL: "/proc". Files that cannot be opened are done without. */
void pages_ask_init(struct pages_ask *a, const char *proc_root, int32_t pid);
void pages_ask_fini(struct pages_ask *a);

/*
 * Adds start .. end, inside one mapping, to t. With move_pages(2) refused all
 * that is present is hidden or vague.
 * Return: 0; -ESRCH: the process is gone; -ENOMEM.
 */
int pages_ask(struct pages_ask *a, uint64_t start, uint64_t end,
	      struct pages_tally *t);

/*
 * Bytes of the pages of start .. end, both at borders of pages, that pagemap
 * calls present. -1: it cannot be read.
 */
int64_t pages_present(const struct pages_ask *a, uint64_t start, uint64_t end);

#endif
