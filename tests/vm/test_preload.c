/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * liblkdf-malloc.so where nodes are real: this program starts itself again
 * under LD_PRELOAD. A thread's blocks are on the node it runs on; what a
 * thread of another node frees goes home and is never that thread's.
 */
#include "tests/vm/mem.h"

#include <malloc.h>
#include <sys/wait.h>

#define LIBRARY "liblkdf-malloc.so"
#define NR 20000
/* The program's tests are ours: its exit status is their number, and this. */
#define FAILED 128

/* Blocks of one thread; freed by another. */
static void *block[NR];

static struct {
	int node; /* where its blocks must be */
	uint64_t refused;
	struct mem_pages pages;
} taken;

static size_t size_of(int i)
{
	static const size_t size[] = { 24, 64, 200, 1000, 40, 3000, 150, 500 };

	return i % 1000 ? size[i % 8] : 100000;
}

/* By pages that the blocks begin in. */
static void take_all(void *u)
{
	void *page[MEM_BATCH];
	int i, nr = 0;

	(void)u;
	for (i = 0; i < NR; i++) {
		block[i] = malloc(size_of(i));
		taken.refused += !block[i];
		if (!block[i])
			continue;
		memset(block[i], i, size_of(i));
		page[nr++] = block[i];
		if (nr < MEM_BATCH && i + 1 < NR)
			continue;
		mem_ask(&taken.pages, page, nr, taken.node);
		nr = 0;
	}
}

static void free_all(void *u)
{
	int i;

	(void)u;
	for (i = 0; i < NR; i++)
		free(block[i]);
}

/* A node without memory has that of the nearest; the first of several. */
static int nearest(int node)
{
	int i, best = mem_node[0];

	if (vm.mib_of[node])
		return node;
	for (i = 1; i < nr_mem_nodes; i++)
		if (vm.distance[node][mem_node[i]] < vm.distance[node][best])
			best = mem_node[i];
	return best;
}

/* Round by round from node to node: the last round's blocks are in use. */
static void thread_gets_blocks_of_its_node(int round)
{
	int nr = nr_mem_cpu_nodes, at, next;

	at = mem_cpu_node[round % nr];
	taken.node = nearest(at);
	taken.refused = 0;
	memset(&taken.pages, 0, sizeof(taken.pages));
	mem_on_node(at, take_all, NULL);
	is(taken.refused, 0, "round %d: node %d: none is refused", round, at);
	ok(taken.pages.wrong * 1000 <= taken.pages.right,
	   "round %d: node %d: %llu blocks are on node %d, %llu are not", round,
	   at, (unsigned long long)taken.pages.right, taken.node,
	   (unsigned long long)taken.pages.wrong);
	next = mem_cpu_node[(round + 1) % nr];
	mem_on_node(next, free_all, NULL);
}

static void large(void *u)
{
	int node = *(int *)u;
	uint64_t bytes = 16 * MEM_MIB;
	struct mem_pages s;
	char *p = malloc(bytes);

	if (!p)
		vm_die("cannot allocate", "16 MiB");
	mem_touch(p, bytes, 1);
	s = mem_where(p, bytes, node);
	is(s.right, bytes / MEM_PAGE, "node %d: 16 MiB are on it", node);
	free(p);
}

static void is_our_library(void)
{
	FILE *f = fopen("/proc/self/maps", "re");
	bool is_there = false;
	char text[512];

	while (f && fgets(text, sizeof(text), f))
		is_there |= strstr(text, LIBRARY) != NULL;
	if (f)
		fclose(f);
	ok(is_there, "%s is in the process", LIBRARY);
}

static void run_preloaded(void)
{
	int i;

	is_our_library();
	for (i = 0; i < 3 * nr_mem_cpu_nodes; i++)
		thread_gets_blocks_of_its_node(i);
	for (i = 0; i < nr_mem_cpu_nodes; i++)
		if (vm.mib_of[mem_cpu_node[i]])
			mem_on_node(mem_cpu_node[i], large, &mem_cpu_node[i]);
}

/* Blocks that threads of other nodes freed, by the library's lines at exit. */
static void remote_frees_are_told(FILE *f)
{
	unsigned long long n, sum = 0;
	char text[512], *at;
	int lines = 0;

	rewind(f);
	while (fgets(text, sizeof(text), f)) {
		at = strstr(text, " bytes, ");
		if (strncmp(text, "lkdf-malloc: node", 17) || !at ||
		    sscanf(at, " bytes, %llu remote frees", &n) != 1)
			continue;
		printf("# %s", text);
		lines++;
		sum += n;
	}
	is(lines, nr_mem_nodes, "it tells of each node with memory");
	/* The program's own few blocks are freed at home. */
	ok(sum >= 3ull * (unsigned)nr_mem_cpu_nodes * NR,
	   "%llu remote frees are counted, at least %llu", sum,
	   3ull * (unsigned)nr_mem_cpu_nodes * NR);
}

static void start_preloaded(const char *self)
{
	FILE *f = tmpfile();
	int status = -1;
	char path[64];
	pid_t pid;

	if (!f)
		vm_die("cannot make", "a file");
	snprintf(path, sizeof(path), "/t/%s", LIBRARY);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		dup2(fileno(f), 2);
		setenv("LD_PRELOAD", path, 1);
		setenv("LKDF_MALLOC", "stats", 1);
		execl(self, self, "preloaded", NULL);
		_exit(99);
	}
	waitpid(pid, &status, 0);
	status = WIFEXITED(status) ? WEXITSTATUS(status) : FAILED;
	tap_nr = status % FAILED;
	ok(tap_nr > 0 && status < FAILED,
	   "the program under LD_PRELOAD ends well");
	remote_frees_are_told(f);
	fclose(f);
}

int main(int argc, char **argv)
{
	mem_start(60);
	if (argc == 2 && !strcmp(argv[1], "preloaded")) {
		run_preloaded();
		return tap_nr + (tap_failed ? FAILED : 0);
	}
	start_preloaded(argv[0]);
	return tap_end();
}
