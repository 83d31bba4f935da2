/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf pages --move between nodes: the pages asked for go and no others, what
 * is told has happened, and what cannot go is told with the reason.
 */
#include "tests/vm/mem.h"

#include <libgen.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define NR_PAGES 64

static char tool[PATH_MAX + 16], out[] = "/tmp/lkdf-move-XXXXXX";

/* The tool's exit code; what it says is in out. */
static int move(int node, const char *words)
{
	char line[2 * PATH_MAX];
	int status;

	snprintf(line, sizeof(line), "'%s' pages -p %d --move %d %s >%s 2>&1",
		 tool, (int)getpid(), node, words, out);
	status = system(line);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool says(const char *text)
{
	char line[256];

	snprintf(line, sizeof(line), "grep -q '%s' %s", text, out);
	return system(line) == 0;
}

static int nr_on(const char *at, int nr, int node)
{
	void *page[NR_PAGES];
	int on[NR_PAGES], i, sum = 0;

	for (i = 0; i < nr; i++)
		page[i] = (char *)(uintptr_t)at + i * MEM_PAGE;
	if (move_pages(0, (unsigned long)nr, page, NULL, on, 0))
		vm_die("cannot ask", "move_pages");
	for (i = 0; i < nr; i++)
		sum += on[i] == node;
	return sum;
}

/* Pages on the first node. */
static char *map_there(int flags)
{
	size_t bytes = NR_PAGES * MEM_PAGE;
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       flags | MAP_ANONYMOUS, -1, 0);
	unsigned long mask = 1ul << mem_node[0];

	if (p == MAP_FAILED || mbind(p, bytes, MPOL_PREFERRED, &mask, 64, 0))
		vm_die("cannot map", "memory");
	madvise(p, bytes, MADV_NOHUGEPAGE);
	memset(p, 1, bytes);
	return p;
}

static const char *range_of(const char *p, int nr)
{
	static char text[64];

	snprintf(text, sizeof(text), "%lx+%dK", (unsigned long)p, 4 * nr);
	return text;
}

static void a_range_moves(void)
{
	char *p = map_there(MAP_PRIVATE), words[96];

	is(nr_on(p, NR_PAGES, mem_node[0]), NR_PAGES, "pages on one node");
	snprintf(words, sizeof(words), "--dry-run %s", range_of(p, 16));
	is(move(mem_node[1], words), 0, "a dry run");
	ok(says("would move 0.06 MiB"), "says how much");
	is(nr_on(p, NR_PAGES, mem_node[0]), NR_PAGES, "and moves nothing");
	is(move(mem_node[1], range_of(p, 16)), 0, "a part of it moves");
	ok(says("moved 0.06 MiB") && says("0.06 MiB from node"),
	   "which is told");
	is(nr_on(p, 16, mem_node[1]), 16, "and has happened");
	is(nr_on(p + 16 * MEM_PAGE, NR_PAGES - 16, mem_node[0]), NR_PAGES - 16,
	   "nothing else has moved");
	is(move(mem_node[1], range_of(p, 32)), 0, "more of it");
	ok(says("0.06 MiB were there"), "of which a part was there");
	munmap(p, NR_PAGES * MEM_PAGE);
}

static void shared_pages_are_refused(void)
{
	char *p = map_there(MAP_SHARED);
	int told[2];
	pid_t child;
	char c;

	if (pipe(told))
		vm_die("cannot make", "a pipe");
	child = fork();
	if (!child) {
		/* Its own page tables have the page from then on. */
		c = *(volatile char *)p;
		if (write(told[1], &c, 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	if (read(told[0], &c, 1) != 1)
		vm_die("cannot read", "from the child");
	is(move(mem_node[1], range_of(p, 1)), 1,
	   "a page of two processes: findings");
	ok(says("refused: shared with other processes"), "with the reason");
	is(nr_on(p, 1, mem_node[0]), 1, "it stays");
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	munmap(p, NR_PAGES * MEM_PAGE);
}

/* Both blocks may lie in one huge page, which moves as a whole. */
static void a_label_moves(void)
{
	int off = prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	struct lkdf *rt = api_open("workers=1");
	void *block, *other;
	int nr;

	is(off, 0, "without huge pages");
	must(lkdf_alloc(lkdf_place_node(rt, 0), LKDF_MEM_OWN, 8 * MEM_PAGE, 0,
			"table", &block));
	must(lkdf_alloc(lkdf_place_node(rt, 0), LKDF_MEM_OWN, 8 * MEM_PAGE, 0,
			"other", &other));
	memset(block, 1, 8 * MEM_PAGE);
	memset(other, 1, 8 * MEM_PAGE);
	/* Where node 0 is full the kernel has taken them from the next one. */
	nr = (int)nr_on(other, 8, mem_node[1]);
	is(move(mem_node[1], "--label table"), 0, "blocks with a label move");
	is(nr_on(block, 8, mem_node[1]), 8, "all pages of it");
	is(nr_on(other, 8, mem_node[1]), nr, "and none of another");
	lkdf_free(rt, block);
	lkdf_free(rt, other);
	is(lkdf_close(rt), 0, "it closes");
}

static void a_process_moves(void)
{
	char *p = map_there(MAP_PRIVATE);
	int rc = move(mem_node[1], "");

	ok(rc == 0 || rc == 1, "a whole process, what can go");
	is(nr_on(p, NR_PAGES, mem_node[1]), NR_PAGES, "its memory has gone");
	munmap(p, NR_PAGES * MEM_PAGE);
}

int main(int argc, char **argv)
{
	char path[PATH_MAX];

	(void)argc;
	mem_start(120);
	snprintf(path, sizeof(path), "%s", argv[0]);
	snprintf(tool, sizeof(tool), "%s/../lkdf", dirname(path));
	close(mkstemp(out));
	a_range_moves();
	shared_pages_are_refused();
	a_label_moves();
	a_process_moves();
	unlink(out);
	return tap_end();
}
