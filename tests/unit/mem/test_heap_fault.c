/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Memory that ends: limits, nodes without memory, a kernel that refuses, and
 * what a heap gives back. mmap() and mlock() are ours here, so that the call
 * that fails can be chosen.
 */
#include "tests/unit/heap.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static int64_t fail_at = -1; /* that call fails, and later ones */
static int64_t nr_calls;

#ifndef __SANITIZE_THREAD__
void *mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset)
{
	if (fail_at >= 0 && nr_calls++ >= fail_at) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	return (void *)syscall(SYS_mmap, at, size, prot, flags, fd, offset);
}
#endif

#define MANY 4096

/* As many blocks as there are, but at most MANY; *error why no more. */
static int take_all(struct heap *h, struct cache *c, unsigned memory,
		    size_t size, void **p, int *error)
{
	struct heap_want w = { .memory = memory, .size = size, .align = 16 };
	bool is_zero;
	int nr;

	for (nr = 0; nr < MANY; nr++) {
		p[nr] = heap_alloc_slow(h, c, &w, &is_zero, error);
		if (!p[nr])
			break;
	}
	return nr;
}

static int free_all(struct heap *h, struct cache *c, void **p, int nr)
{
	int bad = 0;

	while (nr > 0)
		bad += heap_free(h, c, p[--nr]) != 0;
	return bad;
}

static void limit_holds_for(size_t size, size_t next)
{
	struct heap *h = heap_of(
		&(struct heap_attr){ .limit = 40 * MIB, .is_strict = true });
	struct cache *c = heap_cache_create(h, 0);
	static void *p[MANY];
	int nr, again, error = 0;
	size_t room = heap_size(h, take(h, c, 2, size));

	nr = take_all(h, c, 1, size, p, &error);
	is(error, EDQUOT, "%zu: the limit is reached", size);
	ok(nr * room > 40 * MIB * 3 / 5 && nr * room <= 40 * MIB,
	   "%zu: after most of it", size);
	ok(stat_of(h, 1).mapped <= 40 * MIB, "%zu: no more is mapped", size);
	is(take_error(h, c, 3, size), 0, "%zu: other memories have theirs",
	   size);
	is(free_all(h, c, p, nr), 0, "%zu: all can be freed", size);
	again = take_all(h, c, 1, size, p, &error);
	is(again, nr, "%zu: then there are as many again", size);
	free_all(h, c, p, again);
	again = take_all(h, c, 1, next, p, &error);
	ok(again * next > 40 * MIB * 3 / 5, "%zu: or of %zu bytes", size, next);
	free_all(h, c, p, again);
	heap_cache_destroy(c);
	is(stat_of(h, 1).used, 0, "%zu: nothing is used", size);
	heap_destroy(h);
}

static void limit_falls_back(void)
{
	struct heap *h = heap_of(&(struct heap_attr){ .limit = 12 * MIB });
	static void *p[MANY];
	int i, nr, error = 0, nr_in[NR_NODES] = { 0 };

	nr = take_all(h, NULL, 2, 1 * MIB, p, &error);
	is(error, EDQUOT, "not strict: the limit of all is reached");
	for (i = 0; i < nr; i++)
		nr_in[heap_memory_of(h, p[i])]++;
	for (i = 0; i < NR_NODES; i++)
		is(nr_in[i], 12, "node %d gave all it has", i);
	ok(nr == 48 && heap_memory_of(h, p[0]) == 2 &&
		   heap_memory_of(h, p[12]) != 2,
	   "the node asked for gave first");
	is(free_all(h, NULL, p, nr), 0, "all can be freed");
	heap_destroy(h);
}

static void nearest_node_stands_in(void)
{
	static const struct heap_node node[] = {
		{ 0, true }, { 1, false }, { 2, true }, { 3, true }
	};
	static const int distance[] = { 10, 20, 30, 30, 40, 10, 30, 20,
					20, 20, 10, 20, 20, 20, 20, 10 };
	struct heap_attr a = { .node = node,
			       .nr_nodes = 4,
			       .distance = distance };
	struct heap *h = heap_of(&a), *strict;
	struct cache *c = heap_cache_create(h, 1);
	void *p = take(h, c, 1, 100), *q = take(h, c, 1, 3 * MIB);

	is(heap_memory_of(h, p), 3, "a node without memory: its nearest");
	is(heap_memory_of(h, q), 3, "for large ones, too");
	is(heap_free(h, c, p) | heap_free(h, c, q), 0, "they can be freed");
	a.is_strict = true;
	strict = heap_of(&a);
	is(take_error(strict, NULL, 1, 100), ENXIO, "strict: refused");
	is(take_error(strict, NULL, 1, 3 * MIB), ENXIO, "large ones, too");
	is(take_error(strict, NULL, 0, 100), 0, "another node is not");
	is(take_error(strict, NULL, heap_interleaved(strict), 100), 0,
	   "nor is interleaved memory");
	heap_cache_destroy(c);
	heap_destroy(h);
	heap_destroy(strict);
}

/* Errors that may be met while calls fail: none, or this. */
static int bad_errors(int error)
{
	return error != 0 && error != ENOMEM;
}

/* One of each kind, as far as there is memory. */
static int use_a_little(struct heap *h, struct cache *c)
{
	static const size_t size[] = { 16, 5000, 100000, 2 * MIB, 3 * MIB };
	struct heap_want w = { .align = 16 };
	int bad = 0, error;
	bool is_zero;
	void *p[ARRAY_SIZE(size)], *q;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(size); i++) {
		w.size = size[i];
		w.memory = (unsigned)i % NR_NODES;
		error = 0;
		p[i] = heap_alloc_slow(h, c, &w, &is_zero, &error);
		bad += !p[i] && bad_errors(error);
		if (!p[i])
			continue;
		memset(p[i], 1, size[i]);
		error = 0;
		q = heap_resize(h, c, p[i], size[i] * 3, &error);
		bad += !q && bad_errors(error);
		p[i] = q ? q : p[i];
		bad += ((char *)p[i])[size[i] - 1] != 1;
	}
	for (i = 0; i < ARRAY_SIZE(size); i++)
		bad += p[i] && heap_free(h, c, p[i]) != 0;
	return bad;
}

static int with_failure_at(int64_t nr, bool *is_over)
{
	struct heap_attr a = { .node = test_node, .nr_nodes = NR_NODES };
	struct heap *h = NULL;
	struct cache *c;
	int bad = 0;

	nr_calls = 0;
	fail_at = nr;
	if (!heap_create(&a, &h)) {
		c = heap_cache_create(h, 0);
		bad += use_a_little(h, c);
		*is_over = nr_calls <= nr;
		fail_at = -1;
		bad += use_a_little(h, c);
		heap_cache_destroy(c);
		bad += used_in_all(h) != 0;
		heap_trim(h, true);
		bad += mapped_in_all(h) != 0;
		heap_destroy(h);
	}
	fail_at = -1;
	return bad;
}

static void kernel_refuses_at_each_call(void)
{
	bool is_over = false;
	int64_t nr;
	int bad = 0;

#ifdef __SANITIZE_THREAD__
	skip("mmap() that fails", "ThreadSanitizer needs its own");
	return;
#endif
	for (nr = 0; !is_over && nr < 1000; nr++)
		bad += with_failure_at(nr, &is_over);
	ok(is_over && nr > 10, "mmap() fails at each of %d calls", (int)nr - 1);
	is(bad, 0, "each time it is an error, and all is well afterwards");
}

static _Noreturn void live_in_limit(void)
{
	struct heap *h = plain_heap();
	struct rlimit limit = { 0, 0 };
	static void *p[MANY];
	int nr, again, error = 0;

	fclose(stdout);
	limit.rlim_cur = limit.rlim_max = 600 * MIB;
	setrlimit(RLIMIT_AS, &limit);
	nr = take_all(h, NULL, 0, MIB, p, &error);
	if (error != ENOMEM || nr < 50)
		_exit(1);
	if (free_all(h, NULL, p, nr))
		_exit(2);
	again = take_all(h, NULL, 0, 4 * MIB, p, &error);
	_exit(again * 4 >= nr / 2 && error == ENOMEM ? 0 : 3);
}

static int status_of_child(void (*fn)(void))
{
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		fn();
		_exit(99);
	}
	return waitpid(pid, &status, 0) == pid ? status : -1;
}

static void address_space_ends(void)
{
	if (HAS_SANITIZER) {
		skip("RLIMIT_AS", "the sanitizer needs address space");
		return;
	}
	is(status_of_child(live_in_limit), 0,
	   "at RLIMIT_AS there is ENOMEM, and memory again after frees");
}

static _Noreturn void lock_too_much(void)
{
	struct rlimit limit = { 64 << 10, 64 << 10 };
	struct heap *h = heap_of(&(struct heap_attr){ .is_strict = true });
	int error;

	setrlimit(RLIMIT_MEMLOCK, &limit);
	if (setgid(65534) || setuid(65534))
		_exit(1);
	error = take_error(h, NULL, heap_pinned(h, 0), 100);
	if (error != ENOMEM && error != EPERM && error != EAGAIN)
		_exit(2);
	if (mapped_in_all(h) || used_in_all(h))
		_exit(3);
	error = take_error(h, NULL, heap_pinned(h, 0), 3 * MIB);
	if (error != ENOMEM && error != EPERM && error != EAGAIN)
		_exit(4);
	_exit(take_error(h, NULL, 0, 100) ? 5 : 0);
}

static bool is_locked(void *p)
{
	unsigned char here = 0;

	return !mincore((void *)((uintptr_t)p & ~4095ul), 4096, &here) &&
	       here & 1;
}

static void pinned_memory_is_locked(void)
{
	struct heap *h = plain_heap();
	struct cache *c = heap_cache_create(h, 0);
	char *p = take(h, c, heap_pinned(h, 1), 2 * MIB);
	char *q = take(h, c, heap_pinned(h, 2), 3 * MIB);

	if (HAS_SANITIZER) {
		skip("pinned memory", "the sanitizer makes mlock() do nothing");
		heap_cache_destroy(c);
		heap_destroy(h);
		return;
	}
	if (!p || !q) {
		skip("pinned memory", "this user may not lock memory");
	} else {
		ok(is_locked(p + MIB) && is_locked(q + 2 * MIB),
		   "pages of pinned memory are there untouched");
		is(heap_memory_of(h, p), (int)heap_pinned(h, 1), "its number");
		heap_free(h, c, p);
		heap_free(h, c, q);
		is(stat_of(h, heap_pinned(h, 2)).mapped, 0,
		   "a large pinned block is not cached");
	}
	heap_cache_destroy(c);
	heap_trim(h, true);
	is(mapped_in_all(h), 0, "a trim gives pinned memory back");
	heap_destroy(h);
	if (geteuid()) {
		skip("RLIMIT_MEMLOCK", "needs root to become uid 65534");
		return;
	}
	is(status_of_child(lock_too_much), 0,
	   "above RLIMIT_MEMLOCK there is an error, and nothing is mapped");
}

/* Resident pages of a mapping, by mincore. */
static size_t resident(const char *at, size_t size)
{
	static unsigned char here[4096];
	size_t i, nr = 0;

	if (size / 4096 > sizeof(here) ||
	    mincore((void *)(uintptr_t)at, size, here))
		return SIZE_MAX;
	for (i = 0; i < size / 4096; i++)
		nr += here[i] & 1;
	return nr;
}

static void trim_gives_back(void)
{
	struct heap *h = plain_heap();
	struct cache *c = heap_cache_create(h, 0);
	static void *p[MANY];
	int error, nr, i;
	struct segment *g;
	uint64_t mapped;

	nr = take_all(h, c, 0, 60000, p, &error);
	for (i = 0; i < nr; i++)
		memset(p[i], 1, 60000);
	mapped = stat_of(h, 0).mapped;
	ok(mapped >= MANY * 60000ul, "4096 blocks of 60000 bytes are mapped");
	/* One stays, so its segment does. */
	free_all(h, c, p + 1, nr - 1);
	cache_flush(c);
	g = entry_span(index_entry(&h->index, p[0]))->segment;
	heap_trim(h, true);
	is(stat_of(h, 0).mapped, SEGMENT_SIZE, "a trim leaves one segment");
	ok(resident(g->base, SEGMENT_SIZE) <= 60000 / 4096 + 2,
	   "of which only the block is resident");
	is(stat_of(h, 0).cached, 0, "nothing is cached");
	is(stat_of(h, 0).used, 65536, "one block is used");
	for (i = 1; i < 60; i++)
		p[i] = take(h, c, 0, 60000);
	is(stat_of(h, 0).mapped, SEGMENT_SIZE, "its pages are used again");
	for (i = 0; i < 60; i++)
		heap_free(h, c, p[i]);
	heap_cache_destroy(c);
	heap_trim(h, true);
	is(stat_of(h, 0).mapped, 0, "in the end nothing is mapped");
	heap_destroy(h);
}

static void numbers_are_exact(void)
{
	static const size_t size[] = { 16, 100, 5000, 70000, 2 * MIB, 3 * MIB };
	struct heap *h = plain_heap();
	struct cache *c = heap_cache_create(h, 1), *far;
	uint64_t sum = 0, mapped;
	void *p[60];
	int i;

	far = heap_cache_create(h, 3);
	for (i = 0; i < 60; i++) {
		p[i] = take(h, c, 1, size[i % 6]);
		sum += heap_size(h, p[i]);
	}
	is(stat_of(h, 1).used, sum, "used is the sum of sizes");
	ok(stat_of(h, 1).peak >= sum, "the peak is not below");
	mapped = stat_of(h, 1).mapped;
	ok(mapped >= sum, "as much is mapped at least");
	for (i = 0; i < 30; i++) {
		sum -= heap_size(h, p[i]);
		heap_free(h, far, p[i]);
	}
	is(stat_of(h, 1).used, sum, "used falls with frees elsewhere");
	ok(stat_of(h, 1).cached > 0, "what was freed is cached");
	ok(stat_of(h, 1).used + stat_of(h, 1).cached <= stat_of(h, 1).mapped,
	   "used and cached are mapped");
	for (; i < 60; i++)
		heap_free(h, c, p[i]);
	is(stat_of(h, 1).used, 0, "nothing is used after all frees");
	is(stat_of(h, 0).used + stat_of(h, 2).used, 0, "others never were");
	ok(stat_of(h, 1).peak < 60 * 4 * MIB, "the peak stays sane");
	cache_flush(far);
	is(stat_of(h, 1).remote_frees, 30, "30 were freed on another node");
	heap_cache_destroy(far);
	heap_cache_destroy(c);
	heap_destroy(h);
}

static void too_many_nodes(void)
{
	static struct heap_node node[200];
	struct heap_attr a = { .node = node, .nr_nodes = 128 };
	struct heap *h = NULL;
	int i;

	for (i = 0; i < 200; i++)
		node[i] = (struct heap_node){ i, true };
	is(heap_create(&a, &h), -EINVAL, "128 nodes are too many");
	a.nr_nodes = 127;
	is(heap_create(&a, &h), 0, "127 are not");
	is(take_error(h, NULL, heap_pinned(h, 126) - 127, 64), 0,
	   "the last one has memory");
	heap_destroy(h);
}

int main(void)
{
	tap_start(120);
	limit_holds_for(12000, 100000);
	limit_holds_for(30000, 1 * MIB);
	limit_holds_for(1 * MIB, 3 * MIB);
	limit_holds_for(3 * MIB, 1 * MIB);
	limit_falls_back();
	nearest_node_stands_in();
	kernel_refuses_at_each_call();
	address_space_ends();
	pinned_memory_is_locked();
	trim_gives_back();
	numbers_are_exact();
	too_many_nodes();
	return tap_end();
}
