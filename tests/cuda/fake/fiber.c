/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Each round lets every fiber run up to its next barrier, in order. A fiber
 * stays for the next block of the same thread of the CPU, so that a switch is a
 * jump from stack to stack and no call of the kernel; a fault leaves all as
 * they are. This file is compiled without sanitizers: they know one stack of a
 * thread.
 */
#include "tests/cuda/fake/fiber.h"

#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

/* Launches have up to 32 KiB of values, which a loop's body copies. The lowest
 * part is a guard: a kernel that needs more ends the process. */
#define STACK 262144
#define GUARD 65536 /* a page, wherever */
#define MAX_FIBERS 1024

struct fiber {
	void *at[5]; /* where it goes on */
	bool is_there, is_done;
};

/* Of one of the CPU's threads. */
struct fibers {
	struct fiber fiber[MAX_FIBERS];
	void *back[5];
	size_t i; /* runs */
	void (*run)(void *arg, size_t i);
	void *arg;
	char *stacks;
	ucontext_t begin;
};

static __thread struct fibers *all;
static __thread bool is_block; /* a block of fibers runs on this thread */

static struct fibers *make_fibers(void)
{
	struct fibers *f = calloc(1, sizeof(*f));

	if (!f)
		abort();
	f->stacks = mmap(NULL, (size_t)MAX_FIBERS * STACK, PROT_NONE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (f->stacks == MAP_FAILED)
		abort();
	return f;
}

/* The compiler wants it in a function without a __builtin_setjmp. */
__attribute__((noinline, noreturn)) static void jump(void **to)
{
	__builtin_longjmp(to, 1);
}

__attribute__((noinline)) static void leave_fiber(struct fibers *f)
{
	if (!__builtin_setjmp(f->fiber[f->i].at))
		jump(f->back);
}

void fiber_barrier(void)
{
	if (is_block)
		leave_fiber(all);
}

/* One thread of each block, for ever. */
static void run_fiber(void)
{
	struct fibers *f = all;

	for (;;) {
		f->run(f->arg, f->i);
		f->fiber[f->i].is_done = true;
		leave_fiber(f);
	}
}

static void begin_fiber(struct fibers *f)
{
	char *stack = f->stacks + f->i * STACK;

	f->fiber[f->i].is_there = true;
	if (mprotect(stack + GUARD, STACK - GUARD, PROT_READ | PROT_WRITE))
		abort();
	getcontext(&f->begin);
	f->begin.uc_stack.ss_sp = stack + GUARD;
	f->begin.uc_stack.ss_size = STACK - GUARD;
	f->begin.uc_link = NULL;
	makecontext(&f->begin, run_fiber, 0);
	setcontext(&f->begin);
}

/* Until it comes to a barrier or ends. */
__attribute__((noinline)) static void enter_fiber(struct fibers *f)
{
	if (__builtin_setjmp(f->back))
		return;
	if (f->fiber[f->i].is_there)
		jump(f->fiber[f->i].at);
	begin_fiber(f);
}

void fiber_run(size_t n, void (*run)(void *arg, size_t i),
	       void (*resume)(void *arg, size_t i), void *arg)
{
	struct fibers *f = all ? all : (all = make_fibers());
	size_t nr_left = n, i;

	f->run = run;
	f->arg = arg;
	is_block = true;
	for (i = 0; i < n; i++)
		f->fiber[i].is_done = false;
	while (nr_left) {
		for (i = 0; i < n; i++) {
			if (f->fiber[i].is_done)
				continue;
			f->i = i;
			resume(arg, i);
			enter_fiber(f);
			nr_left -= f->fiber[i].is_done;
		}
	}
	is_block = false;
}

void fiber_end(void)
{
	if (all)
		munmap(all->stacks, (size_t)MAX_FIBERS * STACK);
	free(all);
	all = NULL;
}
