/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The readers of numa_maps and maps: lines of several kernels, and damaged
 * ones, which are refused whole.
 */
#include "mem/numa_maps.h"

#include "mem/vma.h"
#include "tests/tap.h"

#include <errno.h>
#include <sys/mman.h>

#define DIR "tests/fixtures/numa_maps/"
#define BASE 0x100000000000ull
#define MIB (1ull << 20)

static void read_fixture(const char *name, struct numa_maps *m)
{
	char root[64];

	snprintf(root, sizeof(root), DIR "%s", name);
	memset(m, 0, sizeof(*m));
	is(numa_maps_read(root, 0, UINT64_MAX, m), 0, "%s is read", name);
}

static uint64_t on(const struct numa_maps *m, uint64_t start, uint32_t node)
{
	const struct numa_vma *v = numa_maps_find(m, start);
	uint32_t i;

	for (i = 0; v && i < v->nr_shares; i++) {
		if (m->share[v->first + i].node == node)
			return m->share[v->first + i].bytes;
	}
	return 0;
}

static void pages_count_in_the_units_of_their_line(void)
{
	struct numa_maps m;

	read_fixture("small", &m);
	is(m.nr, 8, "eight mappings");
	is(on(&m, BASE, 0), 2 * 4096, "pages of a file");
	is(on(&m, BASE + 0x2000, 1), 2 * 4096, "a name with blanks");
	is(on(&m, BASE + 0xa000, 0), 4 * 4096, "the heap");
	is(on(&m, BASE + 0x400000, 0), 3 * 4096, "the stack");
	ok(!numa_maps_find(&m, BASE + 0x1000), "a mapping is found by start");
	is(numa_maps_find(&m, BASE + 0x100000)->nr_shares, 0,
	   "a mapping without pages has no node");
	is(numa_maps_find(&m, BASE + 0x300000)->bytes, 24 * 4096, "the sum");
	numa_maps_fini(&m);

	read_fixture("huge", &m);
	is(on(&m, BASE, 1), 4 * MIB,
	   "transparent huge pages count 512 of 4 kB");
	ok(!numa_maps_find(&m, BASE)->is_hugetlb, "and are no hugetlb");
	is(on(&m, BASE + 8 * MIB, 1), 4 * MIB, "hugetlb pages of 2 MiB");
	ok(numa_maps_find(&m, BASE + 8 * MIB)->is_hugetlb, "are hugetlb");
	is(on(&m, BASE + 1024 * MIB, 3), 1024 * MIB, "hugetlb pages of 1 GiB");
	ok(numa_maps_find(&m, BASE + 3072 * MIB)->is_hugetlb,
	   "hugetlb without a page");
	numa_maps_fini(&m);
}

static void policies_with_blanks_are_read(void)
{
	struct numa_maps m;

	read_fixture("policies", &m);
	is(m.nr, 8, "eight mappings");
	is(on(&m, BASE + 0x20000, 1), 4096, "prefer (many)");
	is(on(&m, BASE + 0x30000, 0), 8192, "prefer (many) with a mode");
	is(on(&m, BASE + 0x40000, 2), 4096, "weighted interleave");
	is(on(&m, BASE + 0x50000, 3), 4096, "interleave=static");
	is(on(&m, BASE + 0x70000, 252), 65536,
	   "a field of a later kernel, a high node, pages of 64 kB");
	numa_maps_fini(&m);
}

static void reading_stops_at_the_end_of_the_range(void)
{
	struct numa_maps m = { 0 };

	is(numa_maps_read(DIR "small", 0, BASE + 0x8000, &m), 0, "it is read");
	is(m.nr, 3, "one line beyond the end at most");
	numa_maps_fini(&m);
}

static void a_file_cut_short_is_damaged(void)
{
	struct numa_maps m = { 0 };

	is(numa_maps_read(DIR "cut", 0, UINT64_MAX, &m), -EBADMSG, "refused");
	numa_maps_fini(&m);
	is(numa_maps_read(DIR "none", 0, UINT64_MAX, &m), -ENOENT,
	   "a file that is not there says so");
}

/* The kernel lists a mapping again that grows while the file is read. */
static void the_later_line_of_a_mapping_counts(void)
{
	struct numa_maps m;

	read_fixture("changing", &m);
	is(m.nr, 3, "three mappings in four lines");
	is(on(&m, BASE, 0), 4096, "the one before is as it was");
	is(on(&m, BASE + 0x4000, 0), 2 * 4096, "the later line, node 0");
	is(on(&m, BASE + 0x4000, 1), 4096, "the later line, node 1");
	is(numa_maps_find(&m, BASE + 0x4000)->bytes, 3 * 4096, "its sum");
	is(numa_maps_find(&m, BASE + 0x10000)->bytes, 0, "the one behind");
	is(numa_maps_add(&m, "100000003000 default"), 0,
	   "one that grew downwards");
	is(m.nr, 2, "takes the place of those behind its start");
	numa_maps_fini(&m);
}

static void mappings_that_change_do_not_overlap(void)
{
	static const uint64_t expect[][2] = {
		{ 0, 0x2000 },	      { 0x4000, 0x8000 },
		{ 0x10000, 0x18000 }, { 0x18000, 0x20000 },
		{ 0x2f000, 0x34000 },
	};
	struct vma_list l = { 0 };
	size_t i;

	is(vma_read(DIR "changing", 0, 0, UINT64_MAX, &l), 0, "maps are read");
	is(l.nr, 5, "five mappings in eight lines");
	for (i = 0; i < 5 && i < l.nr; i++) {
		is(l.v[i].start - BASE, expect[i][0], "start of mapping %zu",
		   i);
		is(l.v[i].end - BASE, expect[i][1], "end of mapping %zu", i);
	}
	has(l.names + l.v[1].name, "[heap]", "the later name");
	vma_fini(&l);
}

/* Calls fn for each line of the file, cut at each length too if asked. */
static int each_line(const char *path, int (*fn)(const char *line), bool cut)
{
	FILE *f = fopen(path, "r");
	size_t len, i;
	char line[512];
	int wrong = 0;

	while (f && fgets(line, sizeof(line), f)) {
		len = strcspn(line, "\n");
		line[len] = '\0';
		if (!cut && fn(line) != -EBADMSG) {
			printf("# \"%s\" is accepted\n", line);
			wrong++;
		}
		for (i = len; cut && i; i--) {
			line[i - 1] = '\0';
			fn(line);
		}
	}
	if (f)
		fclose(f);
	return f ? wrong : -1;
}

static int add_line(const char *line)
{
	struct numa_maps m = { 0 };
	int rc = numa_maps_add(&m, line);

	if (rc && (m.nr || m.nr_shares))
		rc = 1;
	numa_maps_fini(&m);
	return rc;
}

static int parse_vma(const char *line)
{
	const char *name;
	struct vma v;

	return vma_parse(line, &v, &name);
}

static void damaged_lines_are_refused_whole(void)
{
	is(each_line(DIR "damaged.lines", add_line, false), 0,
	   "each damaged line of numa_maps is refused");
	is(each_line(DIR "damaged.maps", parse_vma, false), 0,
	   "each damaged line of maps is refused");
	is(each_line(DIR "policies/self/numa_maps", add_line, true), 0,
	   "lines of numa_maps cut anywhere do no harm");
	is(each_line(DIR "small/self/maps", parse_vma, true), 0,
	   "lines of maps cut anywhere do no harm");
}

/* Each byte of a line replaced by each of a few others. */
static void damaged_bytes_do_no_harm(void)
{
	static const char line[] =
		"7f0000000000 prefer (many):0-1 file=/a huge anon=3 mapped=3 "
		"N0=1 N1=2 kernelpagesize_kB=2048";
	static const char bytes[] = " =N0f-\t\xff(x\x01";
	char copy[sizeof(line)];
	int refused = 0;
	size_t i, j;

	for (i = 0; i + 1 < sizeof(line); i++) {
		for (j = 0; j + 1 < sizeof(bytes); j++) {
			memcpy(copy, line, sizeof(line));
			copy[i] = bytes[j];
			refused += add_line(copy) == -EBADMSG;
		}
	}
	is(add_line(line), 0, "the line itself is good");
	ok(refused > 100, "%d changed lines are refused", refused);
}

static void maps_tell_ends_and_names(void)
{
	struct vma_list l = { 0 };

	is(vma_read(DIR "small", 0, 0, UINT64_MAX, &l), 0, "maps are read");
	is(l.nr, 8, "without the kernel's half");
	is(l.v[1].end, BASE + 0x8000, "an end");
	has(l.names + l.v[1].name, "/usr/lib/a b=c (deleted)", "blanks stay");
	is(strlen(l.names + l.v[4].name), 0, "an anonymous one has no name");
	vma_fini(&l);
	is(vma_read(DIR "small", 0, BASE + 0x2001, BASE + 0x8001, &l), 0,
	   "a part of maps is read");
	is(l.nr, 2, "what overlaps the range");
	is(l.v[0].start, BASE + 0x2000, "begins where the mapping does");
	vma_fini(&l);
}

/* The real files of this process agree with what we have just touched. */
static void this_kernel_is_understood(void)
{
	size_t size = 64 * 4096, i;
	struct numa_maps m = { 0 };
	const struct numa_vma *v;
	char *p;

	p = mmap(NULL, size + 2 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
		 -1, 0);
	p += 4096;
	mprotect(p, size, PROT_READ | PROT_WRITE);
	for (i = 0; i < size / 2; i += 4096)
		p[i] = 1;
	if (access("/proc/self/numa_maps", R_OK)) {
		skip("this kernel is understood", "no numa_maps here");
		return;
	}
	is(numa_maps_read(NULL, 0, UINT64_MAX, &m), 0, "numa_maps is read");
	v = numa_maps_find(&m, (uint64_t)(uintptr_t)p);
	is(v ? v->bytes : 0, size / 2, "half of it is present");
	numa_maps_fini(&m);
}

int main(void)
{
	tap_start(60);
	pages_count_in_the_units_of_their_line();
	policies_with_blanks_are_read();
	reading_stops_at_the_end_of_the_range();
	a_file_cut_short_is_damaged();
	the_later_line_of_a_mapping_counts();
	mappings_that_change_do_not_overlap();
	damaged_lines_are_refused_whole();
	damaged_bytes_do_no_harm();
	maps_tell_ends_and_names();
	this_kernel_is_understood();
	return tap_end();
}
