/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What a program may expect of malloc(), whoever provides it; speaks TAP. Run
 * by tests/tools/test_malloc.sh with liblkdf-malloc.so and once without: what
 * glibc's own fails is no fault of ours. "abi NAME" misuses it and must die.
 */
#include "tests/tap.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/wait.h>

/* Hidden from the compiler, which knows what misuse is. */
static void *volatile sink;

static void *hide(void *p)
{
	sink = p;
	return sink;
}

static void calloc_gives_zeroes(void)
{
	static const size_t size[] = { 1, 24, 100, 5000, 70000, 3 << 20 };
	size_t i, k;
	int bad = 0, round;
	char *p;

	for (round = 0; round < 3; round++)
		for (i = 0; i < sizeof(size) / sizeof(size[0]); i++) {
			p = calloc(1, size[i]);
			for (k = 0; k < size[i]; k++)
				bad += p[k] != 0;
			memset(p, 0xff, malloc_usable_size(p));
			free(p);
		}
	is(bad, 0, "calloc() gives zeroes, also in used memory");
}

static void overflow_is_refused(void)
{
	volatile size_t huge = SIZE_MAX / 2 + 2, all = SIZE_MAX - 4096;
	void *volatile p;

	errno = 0;
	ok(!hide(calloc(huge, 2)) && errno == ENOMEM, "calloc() overflows");
	errno = 0;
	ok(!hide(malloc(all)) && errno == ENOMEM,
	   "malloc() of nearly everything");
	p = malloc(10);
	errno = 0;
	ok(!hide(reallocarray(p, huge, 2)) && errno == ENOMEM,
	   "reallocarray() overflows");
	errno = 0;
	ok(!hide(realloc(p, huge)) && errno == ENOMEM, "realloc() of too much");
	ok(malloc_usable_size(p) >= 10, "and the block is as it was");
	free(p);
	errno = 0;
	ok(!hide(aligned_alloc(64, huge)) && errno == ENOMEM,
	   "aligned_alloc() of too much");
	errno = 0;
	ok(!hide(pvalloc(SIZE_MAX - 100)) && errno == ENOMEM,
	   "pvalloc() of too much");
}

static void errno_is_kept(void)
{
	static const size_t size[] = { 10, 1000, 100000, 8 << 20, 300 << 20 };
	int bad = 0, k;
	size_t i;
	void *p;

	for (i = 0; i < sizeof(size) / sizeof(size[0]); i++)
		for (k = 0; k < 100; k++) {
			p = hide(malloc(size[i]));
			errno = 4711;
			free(p);
			bad += errno != 4711;
		}
	is(bad, 0, "free() keeps errno");
	errno = 4711;
	free(hide(NULL));
	is(errno, 4711, "free(NULL), too");
}

static void realloc_as_the_page_says(void)
{
	char *p = realloc(hide(NULL), 100);
	size_t size;
	int bad = 0;

	ok(p != NULL, "realloc(NULL) allocates");
	memset(p, 3, 100);
	for (size = 100; size < 9000000; size += size / 2) {
		p = realloc(p, size + size / 2);
		bad += p[0] != 3 || p[size - 1] != 3;
		memset(p, 3, size + size / 2);
	}
	for (; size > 10; size /= 3) {
		p = realloc(p, size / 3);
		bad += p[0] != 3 || p[size / 3 - 1] != 3;
	}
	is(bad, 0, "realloc() keeps bytes, up and down");
	ok(!realloc(p, 0), "realloc(p, 0) frees");
	p = malloc(0);
	ok(p && p != hide(malloc(0)), "malloc(0) gives a block of its own");
	free(p);
}

static void usable_is_usable(void)
{
	size_t size, room;
	int bad = 0;
	char *p;

	for (size = 0; size < 5000; size += 7) {
		p = malloc(size);
		room = malloc_usable_size(p);
		bad += room < size || (uintptr_t)p % 16;
		memset(p, 1, room);
		free(p);
	}
	is(bad, 0, "malloc_usable_size() is no less than was asked for");
	is(malloc_usable_size(hide(NULL)), 0, "of NULL it is 0");
}

static void alignments(void)
{
	size_t align, i;
	int bad = 0;
	char *p[4];

	for (align = 16; align <= 64 << 20; align *= 2) {
		p[0] = memalign(align, 100);
		p[1] = aligned_alloc(align, align * 2);
		bad += posix_memalign((void **)&p[2], align, 3000) != 0;
		p[3] = memalign(align, 1);
		for (i = 0; i < 4; i++) {
			bad += !p[i] || (uintptr_t)p[i] % align;
			p[i][0] = 1;
			bad += malloc_usable_size(p[i]) < 1;
		}
		p[1][align * 2 - 1] = 1;
		for (i = 0; i < 4; i++)
			free(p[i]);
	}
	is(bad, 0, "every power of two to 64 MiB is an alignment");
	p[0] = valloc(10);
	p[1] = pvalloc(4097);
	ok((uintptr_t)p[0] % 4096 == 0 && (uintptr_t)p[1] % 4096 == 0 &&
		   malloc_usable_size(p[1]) >= 8192,
	   "valloc() and pvalloc() mean pages");
	free(p[0]);
	free(p[1]);
}

static void posix_memalign_refuses(void)
{
	void *p = &p;

	is(posix_memalign(&p, 24, 10), EINVAL, "24 is no alignment");
	is(posix_memalign(&p, 4, 10), EINVAL, "4 is none");
	is(posix_memalign(&p, 0, 10), EINVAL, "0 is none");
	is(posix_memalign(&p, 64, SIZE_MAX / 2), ENOMEM, "too much is refused");
	ok(p == &p, "the pointer is untouched");
}

/* Destructors run several rounds; some after the allocator's own. */
#define NR_KEYS 8

static pthread_key_t key[NR_KEYS];
static _Atomic(int) nr_ended, nr_lost;

static void end_round(void *arg)
{
	char *p = arg, *q = malloc(300);
	int round = p[0] - 1;
	unsigned i;

	nr_lost += p[1] != 77 || !q;
	for (i = 0; q && i < 300; i += 100)
		q[i] = 1;
	q = realloc(q, 5000);
	free(q);
	free(hide(calloc(10, 10)));
	nr_ended++;
	if (round > 0) {
		q = malloc(2);
		q[0] = (char)round;
		q[1] = 77;
		for (i = 0; i < NR_KEYS && pthread_getspecific(key[i]); i++)
			;
		if (i == NR_KEYS || pthread_setspecific(key[i], q))
			free(q);
	}
	free(p);
}

static void *with_destructors(void *arg)
{
	char *p;
	int i;

	for (i = 0; i < NR_KEYS; i++) {
		p = malloc(2);
		p[0] = 3;
		p[1] = 77;
		pthread_setspecific(key[i], p);
	}
	free(hide(malloc(100)));
	return arg;
}

static void key_destructors_may_allocate(void)
{
	pthread_t t;
	int i;

	for (i = 0; i < NR_KEYS; i++)
		pthread_key_create(&key[i], end_round);
	for (i = 0; i < 20; i++) {
		pthread_create(&t, NULL, with_destructors, NULL);
		pthread_join(t, NULL);
	}
	ok(nr_ended >= 20 * NR_KEYS, "%d destructors allocate and free",
	   nr_ended);
	is(nr_lost, 0, "none loses what it had");
	for (i = 0; i < NR_KEYS; i++)
		pthread_key_delete(key[i]);
}

/* Threads allocate while others fork. */
static _Atomic(int) is_over, nr_bad_children;

static void *churn(void *arg)
{
	void *p[50] = { NULL };
	unsigned i = 0;

	while (!is_over) {
		i = (i * 17 + 5) % 50;
		free(p[i]);
		p[i] = malloc((size_t)16 << (i % 18));
	}
	for (i = 0; i < 50; i++)
		free(p[i]);
	return arg;
}

static void child(void)
{
	char *p[100];
	int i;

	watchdog_set(20);
	for (i = 0; i < 100; i++) {
		p[i] = malloc((size_t)16 << (i % 18));
		p[i][0] = 1;
	}
	for (i = 0; i < 100; i++)
		free(p[i]);
	_exit(0);
}

static void *fork_often(void *arg)
{
	int i, status;
	pid_t pid;

	for (i = 0; i < 30; i++) {
		pid = fork();
		if (!pid)
			child();
		if (waitpid(pid, &status, 0) != pid || status)
			nr_bad_children++;
	}
	return arg;
}

static void fork_in_threads(void)
{
	pthread_t t[4];
	int i;

	for (i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, i < 2 ? churn : fork_often, NULL);
	pthread_join(t[2], NULL);
	pthread_join(t[3], NULL);
	is_over = 1;
	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
	is(nr_bad_children, 0, "60 children of threads allocate and free");
}

static void at_exit(void)
{
	void *p = malloc(1000);

	free(hide(p));
	free(hide(malloc(3 << 20)));
}

static void twice(size_t size)
{
	void *p = hide(malloc(size));

	free(p);
	free(hide(sink));
	(void)p;
}

static int misuse(const char *how)
{
	char local[64];
	char *p = malloc(5000);

	if (!strcmp(how, "twice"))
		twice(100);
	else if (!strcmp(how, "twice-large"))
		twice(5 << 20);
	else if (!strcmp(how, "inside"))
		free(hide(p + 16));
	else if (!strcmp(how, "stack"))
		free(hide(local + 16 - (uintptr_t)local % 16));
	else if (!strcmp(how, "realloc"))
		sink = realloc(hide(p + 32), 100);
	return 3;
}

int main(int argc, char **argv)
{
	tap_start(120);
	if (argc > 1)
		return misuse(argv[1]);
	atexit(at_exit);
	calloc_gives_zeroes();
	overflow_is_refused();
	errno_is_kept();
	realloc_as_the_page_says();
	usable_is_usable();
	alignments();
	posix_memalign_refuses();
	key_destructors_may_allocate();
	fork_in_threads();
	return tap_end();
}
