/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Blocks: what they are like, who may free them. test_place.c has what
 * lkdf_alloc() refuses, test_blame.c what is reported and counted.
 */
#include "tests/api/heard.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <sys/wait.h>

static void blocks_are_aligned_and_apart(void)
{
	struct lkdf *rt = open_heard("topology=numa:2 core:1");
	static const uint64_t size[] = {
		1, 63, 64, 65, 129, 4095, 32768, 100000, 1 << 21, 3 << 20
	};
	struct lkdf_place *p = lkdf_place_node(rt, 1);
	unsigned char *v[20][10];
	int i, j, bad = 0, shift;

	for (i = 0; i < 20; i++)
		for (j = 0; j < 10; j++) {
			v[i][j] = alloc(p, size[j], i % 3 ? NULL : "x");
			bad += (uintptr_t)v[i][j] % 64 != 0;
			memset(v[i][j], i * 10 + j, size[j]);
		}
	is(bad, 0, "each block lies on a multiple of 64");
	for (i = 0; i < 20; i++)
		for (j = 0; j < 10; j++) {
			bad += v[i][j][0] != (i * 10 + j) % 256 ||
			       v[i][j][size[j] - 1] != (i * 10 + j) % 256;
			lkdf_free(rt, v[i][j]);
		}
	is(bad, 0, "and keeps its bytes");
	for (shift = 0; shift <= 30; shift++) {
		must(lkdf_alloc(p, LKDF_MEM_OWN, 1000, 1ull << shift, NULL,
				(void **)&v[0][0]));
		bad += (uintptr_t)v[0][0] % (1ull << shift) != 0;
		bad += (uintptr_t)v[0][0] % 64 != 0;
		v[0][0][999] = 1;
		lkdf_free(rt, v[0][0]);
	}
	is(bad, 0, "alignments up to 2^30 are kept");
	is(lkdf_close(rt), 0, "the runtime closes");
	is(said.nr, 0, "nothing was said");
}

/* Blocks go from hand to hand. */
#define NR_THREADS 6
#define NR_SLOTS 512

struct exchange {
	struct lkdf *rt;
	struct lkdf_place *place[4];
	_Atomic(uint64_t *) slot[NR_SLOTS];
	atomic_int bad;
};

static void give_and_take(struct exchange *x, unsigned *rng, uint64_t *new)
{
	uint64_t *old;

	*rng = *rng * 1664525 + 1013904223;
	old = atomic_exchange(&x->slot[*rng / 65536 % NR_SLOTS], new);
	if (!old)
		return;
	if (old[0] != ~old[2])
		atomic_fetch_add(&x->bad, 1);
	lkdf_free(x->rt, old);
}

static void *exchange_blocks(void *arg)
{
	unsigned rng = (unsigned)(uintptr_t)&rng;
	struct exchange *x = arg;
	uint64_t *new, bytes;
	int i;

	for (i = 0; i < 20000; i++) {
		rng = rng * 1664525 + 1013904223;
		bytes = 64 + (rng >> 8) % (i % 100 ? 2000 : 3000000);
		if (lkdf_alloc(x->place[rng >> 30], LKDF_MEM_OWN, bytes, 0,
			       i % 7 ? NULL : "label", (void **)&new)) {
			atomic_fetch_add(&x->bad, 1);
			continue;
		}
		new[0] = rng;
		new[2] = ~new[0];
		give_and_take(x, &rng, new);
	}
	return NULL;
}

static void many_threads_hand_blocks_around(void)
{
	static struct exchange x;
	pthread_t thread[NR_THREADS];
	char name[64];
	int i;

	x.rt = open_heard("topology=numa:4 core:1");
	for (i = 0; i < 4; i++)
		x.place[i] = lkdf_place_node(x.rt, i);
	for (i = 0; i < NR_THREADS; i++)
		pthread_create(&thread[i], NULL, exchange_blocks, &x);
	for (i = 0; i < NR_THREADS; i++)
		pthread_join(thread[i], NULL);
	is(x.bad, 0, "no block has two owners");
	for (i = 0; i < NR_SLOTS; i++)
		lkdf_free(x.rt, x.slot[i]);
	for (i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "lkdf.node.%d.memory.used", i);
		is(stat_of(x.rt, name), 0, "node %d has all back", i);
	}
	is(lkdf_close(x.rt), 0, "the runtime closes");
	is(said.nr, 0, "nothing was said");
}

struct leaver {
	struct lkdf *rt;
	struct lkdf_place *p;
	void *v[100];
};

/* Every other block is left to others. */
static void *alloc_and_leave(void *arg)
{
	struct leaver *l = arg;
	int i;

	for (i = 0; i < 100; i++)
		l->v[i] = alloc(l->p, 256, NULL);
	for (i = 0; i < 100; i += 2)
		lkdf_free(l->rt, l->v[i]);
	return NULL;
}

static void a_block_outlives_its_thread(void)
{
	struct leaver l = { .rt = open_heard("topology=numa:2 core:1") };
	pthread_t t;
	int i, n;

	l.p = lkdf_place_node(l.rt, 1);
	for (n = 0; n < 20; n++) {
		pthread_create(&t, NULL, alloc_and_leave, &l);
		pthread_join(t, NULL);
		for (i = 1; i < 100; i += 2) {
			memset(l.v[i], n, 256);
			lkdf_free(l.rt, l.v[i]);
		}
	}
	is(stat_of(l.rt, "lkdf.node.1.memory.used"), 0, "all came back");
	ok(stat_of(l.rt, "lkdf.node.1.memory.mapped") <= 8 << 20,
	   "and were used again");
	is(lkdf_close(l.rt), 0, "the runtime closes");
	is(said.nr, 0, "nothing was said");
}

/* Bits of what went wrong. */
static int in_child(struct lkdf *rt, struct lkdf_place *p, void *of_parent)
{
	struct lkdf_place *part;
	int i, bad = 0;
	void *v[200];

	for (i = 0; i < 200; i++) {
		bad |= lkdf_alloc(p, LKDF_MEM_OWN, 700, 0,
				  i % 2 ? "child" : NULL, &v[i]) != 0;
		memset(v[i], 1, 700);
	}
	for (i = 0; i < 200; i++)
		lkdf_free(rt, v[i]);
	lkdf_free(rt, of_parent);
	bad |= said.nr ? 2 : 0;
	lkdf_free(rt, of_parent);
	bad |= said.nr == 1 ? 0 : 4;
	bad |= lkdf_place_node(rt, 1) == p ? 0 : 8;
	bad |= lkdf_place_part(p, 0, 2, &part) == -EOWNERDEAD ? 0 : 16;
	bad |= lkdf_first_touch(rt, v, 1, 0, NULL, NULL) == -EOWNERDEAD ? 0
									: 32;
	bad |= lkdf_close(rt) ? 64 : 0;
	/* Of what the parent has not freed the child says nothing. */
	bad |= said.nr == 1 ? 0 : 128;
	return bad;
}

static void a_forked_child_allocates(void)
{
	struct lkdf *rt = open_heard("topology=numa:2 core:1");
	struct lkdf_place *p = lkdf_place_node(rt, 1);
	char *block = alloc(p, 1000, "parent");
	int status;
	pid_t pid;

	strcpy(block, "mine");
	pid = fork();
	if (!pid)
		_exit(in_child(rt, p, block));
	waitpid(pid, &status, 0);
	is(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0,
	   "a child allocates, frees its own and its parent's, closes");
	ok(!strcmp(block, "mine"), "the parent still has its block");
	lkdf_free(rt, block);
	is(stat_of(rt, "lkdf.node.1.memory.used"), 0, "until it frees it");
	is(lkdf_close(rt), 0, "the runtime closes");
	is(said.nr, 0, "nothing was said");
}

/* Python has not linked the library. */
static const char *const python =
	"import ctypes, sys, threading\n"
	"l = ctypes.CDLL(sys.argv[1])\n"
	"P = ctypes.c_void_p\n"
	"l.lkdf_place_node.restype = P\n"
	"l.lkdf_place_node.argtypes = [P, ctypes.c_int]\n"
	"l.lkdf_alloc.argtypes = [P, ctypes.c_int, ctypes.c_uint64,\n"
	"    ctypes.c_uint64, ctypes.c_char_p, P]\n"
	"l.lkdf_free.argtypes = [P, P]\n"
	"l.lkdf_close.argtypes = [P]\n"
	"rt = P()\n"
	"assert l.lkdf_open(b'topology=numa:2 core:1', ctypes.byref(rt)) == 0\n"
	"p = l.lkdf_place_node(rt, 1)\n"
	"bad = []\n"
	"def use():\n"
	"    v = []\n"
	"    for i in range(1000):\n"
	"        b = P()\n"
	"        if l.lkdf_alloc(p, 0, 100 + i, 0, None, ctypes.byref(b)):\n"
	"            bad.append(i)\n"
	"        ctypes.memset(b, 1, 100 + i)\n"
	"        v.append(b)\n"
	"    for b in v: l.lkdf_free(rt, b)\n"
	"t = [threading.Thread(target=use) for i in range(4)]\n"
	"for i in t: i.start()\n"
	"for i in t: i.join()\n"
	"use()\n"
	"assert not bad and l.lkdf_close(rt) == 0\n";

static void a_library_loaded_later_allocates(void)
{
	char path[PATH_MAX];
	Dl_info info;
	int status;

	if (HAS_SANITIZER) {
		skip("a library loaded later allocates",
		     "a sanitizer must be there from the start");
		return;
	}
	if (!dladdr((void *)(uintptr_t)lkdf_open, &info) ||
	    !realpath(info.dli_fname, path)) {
		ok(false, "the library is a file");
		return;
	}
	fflush(stdout);
	if (!fork()) {
		execlp("python3", "python3", "-c", python, path, NULL);
		_exit(127);
	}
	wait(&status);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127) {
		skip("a library loaded later allocates", "no python3");
		return;
	}
	is(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0,
	   "a program that has loaded the library allocates in 5 threads");
}

int main(void)
{
	tap_start(120);
	blocks_are_aligned_and_apart();
	many_threads_hand_blocks_around();
	a_block_outlives_its_thread();
	a_forked_child_allocates();
	a_library_loaded_later_allocates();
	return tap_end();
}
