/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Runs in the machine after pair: known numbers of accesses of every sort that
 * the access counter must get right to the byte. Each section of the report
 * carries what it must hold ("note expect", "note buffer"); test_counter
 * judges it.
 */
#include "tests/vm/plugin/guest.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE 4096ull
#define SIZE (64 * PAGE)
#define MAX_CPUS 64

static void begin(const char *label)
{
	guest_say("label fact %s", label);
}

/* No accesses: any number. */
static void expect(int from, int to, size_t bytes, size_t accesses)
{
	guest_say("note expect %d %d %zu %zu", from, to, bytes, accesses);
}

static char *memory_on(int node)
{
	char *at = guest_arena(SIZE, NULL);

	if (!at || guest_bind(at, SIZE, node))
		return NULL;
	memset(at, 1, SIZE);
	return at;
}

/* Loads of 1, 2, 4 and 8 bytes, and a string copy that goes byte by byte. */
static int sizes_are_bytes(void)
{
	char *near = memory_on(0), *far = memory_on(1);
	size_t i, size = 1000;
	void *to = near, *from = far;

	if (!near || !far)
		return -ENOMEM;
	begin("sizes are bytes");
	expect(0, 0, 300 * (1 + 2 + 4 + 8) + 1000, 1200 + 1000);
	expect(0, 1, 1000, 1000);
	guest_mark(CONTROL_START);
	for (i = 0; i < 300; i++) {
		(void)*(volatile uint8_t *)(near + i * 8);
		(void)*(volatile uint16_t *)(near + i * 8);
		(void)*(volatile uint32_t *)(near + i * 8);
		(void)*(volatile uint64_t *)(near + i * 8);
	}
	__asm__ volatile("rep movsb"
			 : "+D"(to), "+S"(from), "+c"(size)::"memory");
	guest_mark(CONTROL_STOP);
	return 0;
}

/* Vector loads of 16 bytes; in how many parts is the emulator's affair. */
static int vectors_are_bytes(void)
{
	char *at = memory_on(1);
	size_t i;

	if (!at)
		return -ENOMEM;
	begin("vectors are bytes");
	expect(0, 1, 300 * 16, 0);
	guest_mark(CONTROL_START);
	for (i = 0; i < 300; i++)
		__asm__ volatile("movups (%0), %%xmm0" ::"r"(at + i * 16)
				 : "xmm0", "memory");
	guest_mark(CONTROL_STOP);
	return 0;
}

/* The access that faults is repeated by the CPU, not by the program. */
static int a_fault_counts_once(void)
{
	char *at = guest_arena(SIZE, NULL);
	size_t i;

	if (!at || guest_bind(at, SIZE, 1))
		return -ENOMEM;
	begin("a fault counts once");
	expect(0, 1, SIZE / PAGE * 8, SIZE / PAGE);
	guest_mark(CONTROL_START);
	for (i = 0; i < SIZE; i += PAGE)
		*(volatile uint64_t *)(at + i) = 1;
	guest_mark(CONTROL_STOP);
	return 0;
}

static int an_atomic_counts_once(void)
{
	char *at = memory_on(1);
	size_t i;

	if (!at)
		return -ENOMEM;
	begin("a read-modify-write counts once");
	expect(0, 1, 500 * 8, 500);
	guest_mark(CONTROL_START);
	for (i = 0; i < 500; i++)
		__atomic_fetch_add((uint64_t *)at, 1, __ATOMIC_SEQ_CST);
	guest_mark(CONTROL_STOP);
	return 0;
}

static void walk(char *at)
{
	size_t i;

	for (i = 0; i < SIZE; i += 8)
		(void)*(volatile uint64_t *)(at + i);
}

/* What was known of a page is forgotten when the kernel moves it. */
static int a_moved_page_is_followed(void)
{
	void *page[SIZE / PAGE];
	int nodes[SIZE / PAGE], status[SIZE / PAGE];
	char *at = memory_on(0);
	size_t i;

	if (!at)
		return -ENOMEM;
	for (i = 0; i < SIZE / PAGE; i++) {
		page[i] = at + i * PAGE;
		nodes[i] = 1;
	}
	begin("a moved page is followed");
	expect(0, 0, SIZE, SIZE / 8);
	expect(0, 1, SIZE, SIZE / 8);
	guest_mark(CONTROL_START);
	walk(at);
	if (syscall(SYS_move_pages, 0, SIZE / PAGE, page, nodes, status, 2))
		return -errno;
	walk(at);
	guest_mark(CONTROL_STOP);
	return guest_verify();
}

static int buffers_are_told_apart(void)
{
	char *one = memory_on(0), *two = memory_on(1);

	if (!one || !two)
		return -ENOMEM;
	guest_say("ranges");
	guest_say("range one %llx %llx", (unsigned long long)(uintptr_t)one,
		  (unsigned long long)(uintptr_t)(one + SIZE));
	guest_say("range half %llx %llx", (unsigned long long)(uintptr_t)two,
		  (unsigned long long)(uintptr_t)(two + SIZE / 2));
	begin("buffers are told apart");
	expect(0, 0, 2 * SIZE, 2 * SIZE / 8);
	expect(0, 1, SIZE, SIZE / 8);
	guest_say("note buffer one 0 0 %llu %llu", 2 * SIZE, 2 * SIZE / 8);
	guest_say("note buffer half 0 1 %llu %llu", SIZE / 2, SIZE / 2 / 8);
	guest_mark(CONTROL_START);
	walk(one);
	walk(two);
	walk(one);
	guest_mark(CONTROL_STOP);
	guest_say("ranges");
	return 0;
}

/* Words outside of the arena are the body's between its marks. */
static int bodies_have_their_own_words(void)
{
	volatile uint64_t *at = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t i;

	if (at == MAP_FAILED)
		return -ENOMEM;
	at[0] = 1;
	begin("bodies have their own words");
	guest_say("note body %d", 4000 * 8);
	guest_mark(CONTROL_START);
	for (i = 0; i < 3000; i++)
		(void)at[0];
	guest_mark(CONTROL_ENTER);
	for (i = 0; i < 4000; i++)
		(void)at[0];
	guest_mark(CONTROL_LEAVE);
	guest_mark(CONTROL_STOP);
	return 0;
}

/* Those of the heap are data there, and the runtime's otherwise. */
static int a_heap_is_data_in_bodies(void)
{
	char *at = guest_heap(SIZE, PAGE);

	if (!at || guest_bind(at, SIZE, 1))
		return -ENOMEM;
	memset(at, 1, SIZE);
	begin("a heap is data in bodies");
	expect(0, 1, SIZE, SIZE / 8);
	guest_mark(CONTROL_START);
	walk(at);
	guest_mark(CONTROL_ENTER);
	walk(at);
	guest_mark(CONTROL_LEAVE);
	guest_mark(CONTROL_STOP);
	return guest_verify();
}

/* A page that is said to be where it is not: the verification must see it. */
static int a_wrong_map_is_seen(void)
{
	char *at = memory_on(1);

	if (!at)
		return -ENOMEM;
	begin("a wrong map is seen");
	guest_say("note wrong %llu", SIZE / PAGE);
	guest_mark(CONTROL_VERIFY + 0);
	for (size_t i = 0; i < SIZE; i += PAGE)
		(void)*(volatile uint64_t *)(at + i);
	guest_mark(CONTROL_VERIFIED);
	guest_say("note pages %llu", SIZE / PAGE);
	return 0;
}

struct walker {
	pthread_t thread;
	pthread_barrier_t *barrier;
	int cpu;
	char *at;
};

static void *walk_pinned(void *arg)
{
	struct walker *w = arg;
	int i;

	guest_pin(w->cpu);
	pthread_barrier_wait(w->barrier);
	for (i = 0; i < 8; i++)
		walk(w->at);
	pthread_barrier_wait(w->barrier);
	return NULL;
}

/* Nothing is lost or doubled when all CPUs count at once. */
static int all_cpus_count_at_once(void)
{
	static struct walker walkers[MAX_CPUS];
	static pthread_barrier_t barrier;
	int cpu, nr = 0, sum[CONTROL_MAX_NODES][CONTROL_MAX_NODES] = { 0 };
	int from, to;

	begin("all CPUs count at once");
	for (cpu = 0; cpu < MAX_CPUS; cpu++) {
		from = guest_node_of_cpu(cpu);
		if (from < 0)
			continue;
		to = (from + cpu) % CONTROL_MAX_NODES;
		while (!guest_has_memory(to))
			to = (to + 1) % CONTROL_MAX_NODES;
		walkers[nr].cpu = cpu;
		walkers[nr].at = memory_on(to);
		walkers[nr].barrier = &barrier;
		if (!walkers[nr++].at)
			return -ENOMEM;
		sum[from][to]++;
	}
	for (from = 0; from < CONTROL_MAX_NODES; from++)
		for (to = 0; to < CONTROL_MAX_NODES; to++)
			if (sum[from][to])
				expect(from, to,
				       (size_t)sum[from][to] * 8 * SIZE,
				       (size_t)sum[from][to] * SIZE);
	pthread_barrier_init(&barrier, NULL, (unsigned)nr);
	guest_mark(CONTROL_START);
	for (cpu = 0; cpu < nr; cpu++)
		if (pthread_create(&walkers[cpu].thread, NULL, walk_pinned,
				   &walkers[cpu]))
			return -EAGAIN;
	for (cpu = 0; cpu < nr; cpu++)
		pthread_join(walkers[cpu].thread, NULL);
	guest_mark(CONTROL_STOP);
	return guest_verify();
}

int main(void)
{
	static int (*const facts[])(void) = {
		sizes_are_bytes,
		vectors_are_bytes,
		a_fault_counts_once,
		an_atomic_counts_once,
		a_moved_page_is_followed,
		buffers_are_told_apart,
		bodies_have_their_own_words,
		a_heap_is_data_in_bodies,
		a_wrong_map_is_seen,
	};
	int rc = guest_open();
	size_t i;

	if (!rc)
		rc = guest_pin(0);
	for (i = 0; !rc && i < sizeof(facts) / sizeof(facts[0]); i++) {
		rc = facts[i]();
		guest_arena_free();
	}
	if (!rc)
		rc = all_cpus_count_at_once();
	printf("facts: %s\n", rc ? strerror(-rc) : "done");
	return rc != 0;
}
