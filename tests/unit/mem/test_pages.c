/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What is made of sources that disagree or are missing. The process is made
 * up: maps, numa_maps and pagemap in a folder, at addresses where this one has
 * nothing, so that move_pages(2) locates no page, as Linux 6.1 does while
 * AutoNUMA hints are pending.
 */
#include "mem/pages.h"

#include "base/err.h"
#include "mem/pages_ask.h"
#include "tests/forbid.h"
#include "tests/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define BASE 0x10000000000ull
#define PAGE 4096ull
#define PRESENT (1ull << 63)
#define EXCLUSIVE (1ull << 56)

static char root[64];

struct answer {
	uint64_t on[PAGES_MAX_NODES], absent, unknown;
	uint32_t flags, sources;
	int rc, nr;
};

static int add(void *u, const struct lkdf_mapping *m)
{
	struct answer *s = u;
	uint32_t i;

	for (i = 0; i < m->nr_nodes; i++)
		s->on[i] += m->bytes_on_node[i];
	s->absent += m->absent;
	s->unknown += m->unknown;
	s->flags |= m->flags;
	s->sources |= m->sources;
	s->nr++;
	return 0;
}

static struct answer ask(uint64_t from, uint64_t to,
			 const struct pages_own *own, size_t nr_own)
{
	struct pages_attr a = {
		.start = BASE + from * PAGE,
		.end = BASE + to * PAGE,
		.own = own,
		.nr_own = nr_own,
		.proc_root = root,
	};
	struct answer s;

	memset(&s, 0, sizeof(s));
	s.rc = pages_walk(&a, add, &s);
	return s;
}

static const char *file(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/self/%s", root, name);
	return path;
}

static void write_file(const char *name, const char *text)
{
	FILE *f = fopen(file(name), "w");

	if (!f || fputs(text, f) < 0 || fclose(f)) {
		printf("Bail out! cannot write %s\n", file(name));
		exit(1);
	}
}

/* Of a mapping of 100 pages the first nr are present in that way. */
static void make_pagemap(uint64_t entry, unsigned nr)
{
	int fd = open(file("pagemap"), O_CREAT | O_WRONLY, 0600);
	unsigned i;

	if (ftruncate(fd, (off_t)((BASE / PAGE + 100) * 8)))
		printf("Bail out! cannot write a sparse file\n");
	for (i = 0; i < nr; i++) {
		if (pwrite(fd, &entry, 8, (off_t)((BASE / PAGE + i) * 8)) < 0)
			printf("Bail out! cannot write pagemap\n");
	}
	close(fd);
}

/*
 * Of 100 pages the first nr_zero may be the zero page, those up to nr are
 * certainly not. Without any there is no pagemap.
 */
static void make_process(const char *counts, unsigned nr_zero, unsigned nr)
{
	char line[128];

	write_file("maps", "10000000000-10000064000 rw-p 00000000 00:00 0\n");
	unlink(file("numa_maps"));
	unlink(file("pagemap"));
	if (counts) {
		snprintf(line, sizeof(line), "10000000000 default%s\n", counts);
		write_file("numa_maps", line);
	}
	if (nr)
		make_pagemap(PRESENT | EXCLUSIVE, nr);
	if (nr_zero)
		make_pagemap(PRESENT, nr_zero);
}

static void hidden_pages_are_found_in_numa_maps(void)
{
	struct answer s;

	make_process(" anon=60 N0=20 N1=40 kernelpagesize_kB=4", 0, 60);
	s = ask(0, 100, NULL, 0);
	is(s.on[0], 20 * PAGE, "a whole mapping: node 0");
	is(s.on[1], 40 * PAGE, "node 1");
	is(s.absent, 40 * PAGE, "the rest is absent");
	is(s.flags, 0, "exactly");
	is(s.sources, LKDF_PAGES_NUMA_MAPS, "numa_maps said so");
	s = ask(0, 30, NULL, 0);
	is(s.on[0], 10 * PAGE, "a part has its share of node 0");
	is(s.on[1], 20 * PAGE, "and of node 1");
	is(s.flags, LKDF_MAPPING_ESTIMATED, "which is an estimate");
	s = ask(60, 100, NULL, 0);
	is(s.absent, 40 * PAGE, "an absent part is absent");
	is(s.flags, 0, "exactly");
}

static void hidden_pages_of_one_node_are_exact(void)
{
	struct answer s;

	make_process(" anon=60 N1=60 kernelpagesize_kB=4", 0, 60);
	s = ask(50, 70, NULL, 0);
	is(s.on[1], 10 * PAGE, "a part of pages that are all on one node");
	is(s.absent, 10 * PAGE, "with absent ones behind");
	is(s.flags, 0, "exactly");
}

static void zero_pages_are_told_from_hidden_ones(void)
{
	struct answer s;

	make_process(" anon=30 N1=30 kernelpagesize_kB=4", 30, 60);
	s = ask(0, 60, NULL, 0);
	is(s.on[1], 30 * PAGE, "where numa_maps tells of no more");
	is(s.absent, 30 * PAGE, "zero pages are absent");
	is(s.flags, 0, "exactly");
	s = ask(0, 40, NULL, 0);
	is(s.on[1], 10 * PAGE, "also in a smaller part");
	is(s.absent, 30 * PAGE, "with the zero pages");
	is(s.flags, 0, "exactly");
	make_process("", 60, 60);
	s = ask(0, 60, NULL, 0);
	is(s.absent, 60 * PAGE, "where it tells of none, all are absent");
	is(s.flags, 0, "exactly");
	make_process(" anon=60 N1=60 kernelpagesize_kB=4", 30, 60);
	s = ask(0, 61, NULL, 0);
	is(s.on[1], 60 * PAGE, "where it tells of all, none is a zero page");
	is(s.flags, 0, "exactly");
	make_process(" anon=40 N1=40 kernelpagesize_kB=4", 30, 60);
	s = ask(0, 15, NULL, 0);
	is(s.on[1], 5 * PAGE, "else each is with the same probability");
	is(s.absent, 10 * PAGE, "and the others are absent");
	is(s.flags, LKDF_MAPPING_ESTIMATED, "which is an estimate");
}

static void hidden_pages_that_numa_maps_lacks_are_unknown(void)
{
	struct answer s;

	make_process(" anon=15 N1=15 kernelpagesize_kB=4", 0, 60);
	s = ask(0, 40, NULL, 0);
	is(s.on[1], 10 * PAGE, "their share is on a node");
	is(s.unknown, 30 * PAGE, "of the others it is not known");
	is(s.absent, 0, "they are not absent");
}

/* 160 MiB, of which the second half is there but hidden. */
static void large_ranges_are_sampled_in_pagemap_too(void)
{
	const uint64_t half = 20480;
	uint64_t entry[512], i;
	struct answer s;
	int fd;

	make_process(" anon=20480 N1=20480 kernelpagesize_kB=4", 0, 0);
	write_file("maps", "10000000000-1000a000000 rw-p 00000000 00:00 0\n");
	for (i = 0; i < 512; i++)
		entry[i] = PRESENT | EXCLUSIVE;
	fd = open(file("pagemap"), O_CREAT | O_WRONLY, 0600);
	for (i = 0; i < half; i += 512) {
		if (pwrite(fd, entry, sizeof(entry),
			   (off_t)((BASE / PAGE + half + i) * 8)) < 0)
			printf("Bail out! cannot write pagemap\n");
	}
	close(fd);
	s = ask(1, 2 * half, NULL, 0);
	is(s.on[1], half * PAGE, "the present half is on its node");
	is(s.absent, (half - 1) * PAGE, "the other half is absent");
	is(s.flags, LKDF_MAPPING_SAMPLED | LKDF_MAPPING_ESTIMATED,
	   "by samples");
}

static void without_pagemap_numa_maps_is_still_right(void)
{
	struct answer s;

	make_process(" anon=60 N0=20 N1=40 kernelpagesize_kB=4", 0, 0);
	s = ask(0, 100, NULL, 0);
	is(s.on[1], 40 * PAGE, "for a whole mapping");
	is(s.flags, 0, "exactly");
	s = ask(0, 50, NULL, 0);
	is(s.on[0] + s.on[1], 30 * PAGE, "half of it by its share");
	is(s.flags, LKDF_MAPPING_ESTIMATED, "which is an estimate");
}

static void without_numa_maps_hidden_pages_are_unknown(void)
{
	struct answer s;

	make_process(NULL, 0, 60);
	s = ask(0, 100, NULL, 0);
	is(s.unknown, 60 * PAGE, "what is present has no node");
	is(s.absent, 40 * PAGE, "what is absent is known to be");
	make_process(NULL, 0, 0);
	s = ask(0, 100, NULL, 0);
	is(s.absent, 100 * PAGE, "without pagemap all are absent");
	is(s.flags, LKDF_MAPPING_UNCHECKED, "unchecked");
	make_process(" anon=60 N0=nonsense kernelpagesize_kB=4", 0, 60);
	s = ask(0, 100, NULL, 0);
	is(s.unknown, 60 * PAGE, "a damaged numa_maps is as none");
}

static void a_mapping_that_has_grown_is_not_overcounted(void)
{
	struct answer s;

	make_process(" anon=150 N0=80 N1=70 kernelpagesize_kB=4", 0, 100);
	s = ask(0, 100, NULL, 0);
	is(s.on[0] + s.on[1] + s.absent, 100 * PAGE, "the whole adds up");
	s = ask(0, 50, NULL, 0);
	is(s.on[0] + s.on[1] + s.absent + s.unknown, 50 * PAGE,
	   "a part adds up");
}

static void without_maps_only_small_ranges_are_asked(void)
{
	struct answer s;

	make_process(NULL, 0, 0);
	unlink(file("maps"));
	s = ask(0, 100, NULL, 0);
	is(s.rc, 0, "a hundred pages");
	is(s.absent, 100 * PAGE, "all absent");
	is(s.flags, LKDF_MAPPING_UNCHECKED, "unchecked");
	s = ask(0, 1ull << 40, NULL, 0);
	is(s.rc, -EPERM, "a petabyte is refused");
	write_file("maps", "10000000000-10000064000 rw-p 000\n");
	s = ask(0, 100, NULL, 0);
	is(s.rc, -EBADMSG, "damaged maps are an error");
}

static void own_records_answer_where_move_pages_is_refused(void)
{
	const struct pages_own own[] = {
		{ BASE - 5 * PAGE, BASE - PAGE, 9 },
		{ BASE + 10 * PAGE, BASE + 20 * PAGE, 3 },
		{ BASE + 20 * PAGE, BASE + 30 * PAGE, 1 },
		{ BASE + 90 * PAGE, BASE + 190 * PAGE, 2 },
	};
	struct answer s;

	make_process(" anon=60 N0=20 N1=40 kernelpagesize_kB=4", 0, 60);
	s = ask(0, 100, NULL, 0);
	is(s.on[1], 40 * PAGE, "without records numa_maps answers");
	is(s.flags, 0, "exactly");
	make_process(NULL, 0, 60);
	s = ask(0, 100, own, 4);
	is(s.rc, 0, "records answer without numa_maps");
	is(s.nr, 5, "the mapping is cut at their borders");
	is(s.on[3], 10 * PAGE, "the pages of one");
	is(s.on[1], 10 * PAGE, "of another");
	is(s.on[2] + s.on[9], 0, "absent pages are on no node");
	is(s.unknown, 40 * PAGE, "pages of no record are unknown");
	is(s.absent, 40 * PAGE, "and absent ones absent");
	ok(s.flags & LKDF_MAPPING_ESTIMATED, "it is an estimate");
	is(s.sources, LKDF_PAGES_OWN, "the records said so");
	s = ask(12, 15, own, 4);
	is(s.on[3], 3 * PAGE, "inside one record");
	s = ask(0, 100, NULL, 0);
	is(s.rc, -ENOSYS, "without records nobody answers");
	has(err_text(), "move_pages(2)", "the error names the call");
	has(err_text(), "numa_maps", "and the file");
}

static void remove_process(void)
{
	unlink(file("maps"));
	unlink(file("numa_maps"));
	unlink(file("pagemap"));
	rmdir(file(""));
	rmdir(root);
}

/* Even pages are on node 2, of each 8 one is absent, the others are on 5. */
static int count_by_rule(void *u, uint64_t start, uint64_t end,
			 struct pages_tally *t)
{
	uint64_t page;

	if (*(const bool *)u)
		return -EAGAIN;
	for (; start < end; start += PAGE) {
		page = (start - BASE) / PAGE;
		if (page % 8 == 7)
			t->absent += PAGE;
		else
			t->on[page % 2 ? 5 : 2] += PAGE;
	}
	return 0;
}

static struct answer ask_counter(uint64_t start, uint64_t bytes, bool fails)
{
	struct pages_attr a = {
		.start = BASE + start,
		.end = BASE + start + bytes,
		.proc_root = root,
		.query = count_by_rule,
		.query_u = &fails,
	};
	struct answer s;

	memset(&s, 0, sizeof(s));
	s.rc = pages_walk(&a, add, &s);
	return s;
}

static void who_counts_in_the_kernel_is_asked_first(void)
{
	struct answer s;

	make_process(" anon=60 N1=60 kernelpagesize_kB=4", 0, 60);
	s = ask_counter(0, 8 * PAGE, false);
	is(s.on[2], 4 * PAGE, "counted: pages of one node");
	is(s.on[5], 3 * PAGE, "of another");
	is(s.absent, PAGE, "and what is absent");
	is(s.sources, LKDF_PAGES_KMOD, "who has counted is told");
	s = ask_counter(100, 8 * PAGE - 150, false);
	is(s.on[2], 4 * PAGE - 100, "less than a page at the start");
	is(s.absent, PAGE - 50, "and at the end");
	s = ask_counter(100, 20, false);
	is(s.on[2], 20, "bytes inside of a page");
	is(s.on[5] + s.absent, 0, "and nothing else");
	s = ask_counter(0, 60 * PAGE, true);
	is(s.on[1], 60 * PAGE, "if that fails the others are asked");
	is(s.sources & LKDF_PAGES_KMOD, 0, "and named");
}

int main(void)
{
	tap_start(60);
	snprintf(root, sizeof(root), "/tmp/lkdf-pages-XXXXXX");
	if (!mkdtemp(root) || mkdir(file(""), 0700)) {
		printf("Bail out! no temporary directory\n");
		return 1;
	}
	hidden_pages_are_found_in_numa_maps();
	hidden_pages_of_one_node_are_exact();
	zero_pages_are_told_from_hidden_ones();
	hidden_pages_that_numa_maps_lacks_are_unknown();
	large_ranges_are_sampled_in_pagemap_too();
	without_pagemap_numa_maps_is_still_right();
	without_numa_maps_hidden_pages_are_unknown();
	a_mapping_that_has_grown_is_not_overcounted();
	without_maps_only_small_ranges_are_asked();
	who_counts_in_the_kernel_is_asked_first();
	/* The last one: it cannot be undone. */
	is(forbid_call(SYS_move_pages, ENOSYS), 0,
	   "from here on move_pages is refused");
	own_records_answer_where_move_pages_is_refused();
	remove_process();
	return tap_end();
}
