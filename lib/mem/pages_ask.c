/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "mem/pages_ask.h"

#include "base/util.h"
#include "mem/procfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <numaif.h>
#include <string.h>
#include <unistd.h>

#define NR_PROBES 4
#define BLOCK (2ull << 20)
#define MAX_BLOCKS 65536
#define FULL_BLOCKS 128 /* of mixed blocks, as many pages as PAGES_FULL */

/* Instead of a node. */
#define ABSENT (-1)
#define HIDDEN (-2)
#define VAGUE (-3)

/* Bits of an entry of pagemap. The zero page has neither of the latter two. */
#define PAGEMAP_PRESENT (1ull << 63)
#define PAGEMAP_FILE (1ull << 61)
#define PAGEMAP_EXCLUSIVE (1ull << 56)

void pages_ask_init(struct pages_ask *a, const char *proc_root, int32_t pid)
{
	char path[PATH_MAX];

	a->pid = pid;
	a->page_size = (uint64_t)sysconf(_SC_PAGESIZE);
	a->refused = 0;
	a->budget = FULL_BLOCKS;
	a->batch.nr = 0;
	a->probe.nr = 0;
	a->pagemap = -1;
	if (!procfile_path(proc_root, pid, "pagemap", path, sizeof(path)))
		a->pagemap = open(path, O_RDONLY | O_CLOEXEC);
}

void pages_ask_fini(struct pages_ask *a)
{
	if (a->pagemap >= 0)
		close(a->pagemap);
	a->pagemap = -1;
}

static uint64_t address_of(const struct pages_batch *b, unsigned i)
{
	return (uint64_t)(uintptr_t)b->page[i];
}

static void add_page(struct pages_batch *b, uint64_t page, uint64_t bytes)
{
	b->page[b->nr] = (void *)(uintptr_t)page;
	b->bytes[b->nr++] = bytes;
}

/* Those without a node that follow each other from i on. */
static unsigned run_length(const struct pages_ask *a,
			   const struct pages_batch *b, unsigned i)
{
	unsigned nr = 1;

	while (i + nr < b->nr && b->status[i + nr] < 0 &&
	       address_of(b, i + nr) == address_of(b, i) + nr * a->page_size)
		nr++;
	return nr;
}

/* Reads the entries of nr pages. Return: how many were read, at most nr. */
static unsigned read_entries(const struct pages_ask *a, uint64_t page,
			     uint64_t *entry, unsigned nr)
{
	ssize_t got;

	if (a->pagemap < 0)
		return 0;
	got = pread(a->pagemap, entry, nr * sizeof(*entry),
		    (off_t)(page / a->page_size * sizeof(*entry)));
	return got < 0 ? 0 : (unsigned)((size_t)got / sizeof(*entry));
}

static int judge_entry(uint64_t entry)
{
	if (!(entry & PAGEMAP_PRESENT))
		return ABSENT;
	return entry & (PAGEMAP_FILE | PAGEMAP_EXCLUSIVE) ? HIDDEN : VAGUE;
}

/* Negative statuses become ABSENT, HIDDEN or VAGUE. */
static void tell_hidden(struct pages_ask *a, struct pages_batch *b)
{
	uint64_t entry[512];
	unsigned i, j, nr, got;

	for (i = 0; i < b->nr; i += nr) {
		nr = 1;
		if (b->status[i] >= 0)
			continue;
		nr = (unsigned)min_u64(run_length(a, b, i), ARRAY_SIZE(entry));
		got = read_entries(a, address_of(b, i), entry, nr);
		for (j = 0; j < nr; j++)
			b->status[i + j] =
				j < got ? judge_entry(entry[j]) : VAGUE;
	}
}

static bool is_refusal(int err)
{
	return err == EPERM || err == EACCES || err == ENOSYS;
}

/* Fills the statuses: a node, ABSENT, HIDDEN or VAGUE. */
static int locate_pages(struct pages_ask *a, struct pages_batch *b)
{
	unsigned i;

	if (!b->nr)
		return 0;
	if (!a->refused &&
	    move_pages(a->pid, b->nr, b->page, NULL, b->status, 0) < 0) {
		if (!is_refusal(errno))
			return -errno;
		a->refused = errno;
	}
	for (i = 0; i < b->nr; i++) {
		if (a->refused || b->status[i] >= PAGES_MAX_NODES)
			b->status[i] = -ENOENT;
	}
	tell_hidden(a, b);
	return 0;
}

static void tally_page(struct pages_tally *t, int status, uint64_t bytes)
{
	if (status >= 0)
		t->on[status] += bytes;
	else if (status == ABSENT)
		t->absent += bytes;
	else if (status == HIDDEN)
		t->hidden += bytes;
	else
		t->vague += bytes;
}

static int flush_pages(struct pages_ask *a, struct pages_tally *t)
{
	struct pages_batch *b = &a->batch;
	unsigned i;
	int rc;

	rc = locate_pages(a, b);
	for (i = 0; !rc && i < b->nr; i++)
		tally_page(t, b->status[i], b->bytes[i]);
	b->nr = 0;
	return rc;
}

/* Each page of start .. end; the first and the last may count in part. */
static int ask_full(struct pages_ask *a, uint64_t start, uint64_t end,
		    struct pages_tally *t)
{
	uint64_t page = start & ~(a->page_size - 1), to;
	int rc = 0;

	for (; !rc && page < end; page += a->page_size) {
		to = min_u64(end, page + a->page_size);
		add_page(&a->batch, page, to - max_u64(start, page));
		if (a->batch.nr == PAGES_BATCH)
			rc = flush_pages(a, t);
	}
	return rc ? rc : flush_pages(a, t);
}

/*
 * The choice is the same page each time, not at the same place in each block.
 */
static uint64_t pick_page(uint64_t from, uint64_t pages)
{
	uint64_t state = from * 0x9e3779b97f4a7c15ull + 1;

	state += !state;
	return random_next(&state) % pages;
}

/* A page of each quarter of the block. */
static void add_probes(struct pages_ask *a, uint64_t start, uint64_t end)
{
	uint64_t first = start / a->page_size, from, pages;
	uint64_t nr = (end + a->page_size - 1) / a->page_size - first;
	unsigned i;

	for (i = 0; i < NR_PROBES; i++) {
		from = first + nr * i / NR_PROBES;
		pages = first + nr * (i + 1) / NR_PROBES - from;
		if (pages)
			from += pick_page(from, pages);
		add_page(&a->probe, from * a->page_size,
			 (end - start) * (i + 1) / NR_PROBES -
				 (end - start) * i / NR_PROBES);
	}
}

static bool all_same(const int *status)
{
	unsigned i;

	for (i = 1; i < NR_PROBES; i++) {
		if (status[i] != status[0])
			return false;
	}
	return true;
}

/* The blocks of block bytes whose probes are in the batch, from start on. */
static int judge_page(struct pages_ask *a, uint64_t start, uint64_t end,
		      uint64_t block, struct pages_tally *t)
{
	struct pages_batch *b = &a->probe;
	unsigned i, j;
	int rc;

	rc = locate_pages(a, b);
	for (i = 0; !rc && i < b->nr; i += NR_PROBES) {
		uint64_t to = min_u64(end, (start / block + 1) * block);

		if (block == BLOCK && a->budget && !all_same(b->status + i)) {
			a->budget--;
			rc = ask_full(a, start, to, t);
		} else {
			for (j = 0; j < NR_PROBES; j++)
				tally_page(t, b->status[i + j],
					   b->bytes[i + j]);
		}
		start = to;
	}
	b->nr = 0;
	return rc;
}

static int ask_sampled(struct pages_ask *a, uint64_t start, uint64_t end,
		       struct pages_tally *t)
{
	uint64_t block = BLOCK, at = start, judged = start;
	int rc = 0;

	while ((end - start) / block > MAX_BLOCKS)
		block *= 2;
	t->is_sampled = true;
	while (!rc && at < end) {
		uint64_t to = min_u64(end, (at / block + 1) * block);

		add_probes(a, at, to);
		at = to;
		if (a->probe.nr + NR_PROBES > PAGES_BATCH || at == end) {
			rc = judge_page(a, judged, at, block, t);
			judged = at;
		}
	}
	return rc;
}

int pages_ask(struct pages_ask *a, uint64_t start, uint64_t end,
	      struct pages_tally *t)
{
	if ((end - start) / a->page_size <= PAGES_FULL)
		return ask_full(a, start, end, t);
	return ask_sampled(a, start, end, t);
}

int64_t pages_present(const struct pages_ask *a, uint64_t start, uint64_t end)
{
	uint64_t entry[512], page = start;
	int64_t present = 0;
	unsigned i, nr;

	while (page < end) {
		nr = (unsigned)min_u64((end - page) / a->page_size,
				       ARRAY_SIZE(entry));
		nr = read_entries(a, page, entry, nr);
		if (!nr)
			return -1;
		for (i = 0; i < nr; i++)
			present += (entry[i] & PAGEMAP_PRESENT) != 0;
		page += nr * a->page_size;
	}
	return present * (int64_t)a->page_size;
}
