/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Each round lets every fiber run up to its next barrier, in order. Stacks are
 * kept for the next block of the same thread; a fault leaves them as they are.
 * This file is compiled without sanitizers: they know one stack of a thread.
 */
#include "tests/cuda/fake/fiber.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define STACK 65536
#define MAX_FIBERS 1024

struct fiber {
	ucontext_t context;
	bool is_done;
};

/* Of one of the CPU's threads. */
struct fibers {
	struct fiber fiber[MAX_FIBERS];
	ucontext_t back;
	size_t i; /* runs */
	void (*run)(void *arg, size_t i);
	void *arg;
	char *stacks;
};

static __thread struct fibers *all;
static __thread bool is_block; /* a block of fibers runs on this thread */

static struct fibers *make_fibers(void)
{
	struct fibers *f = calloc(1, sizeof(*f));

	if (!f)
		abort();
	f->stacks =
		mmap(NULL, (size_t)MAX_FIBERS * STACK, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (f->stacks == MAP_FAILED)
		abort();
	return f;
}

static void begin(void)
{
	struct fibers *f = all;

	f->run(f->arg, f->i);
	f->fiber[f->i].is_done = true;
	setcontext(&f->back);
}

void fiber_barrier(void)
{
	struct fibers *f = all;

	if (is_block)
		swapcontext(&f->fiber[f->i].context, &f->back);
}

static void prepare(struct fibers *f, size_t i)
{
	struct fiber *x = &f->fiber[i];

	x->is_done = false;
	getcontext(&x->context);
	x->context.uc_stack.ss_sp = f->stacks + i * STACK;
	x->context.uc_stack.ss_size = STACK;
	x->context.uc_link = NULL;
	makecontext(&x->context, begin, 0);
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
		prepare(f, i);
	while (nr_left) {
		for (i = 0; i < n; i++) {
			if (f->fiber[i].is_done)
				continue;
			f->i = i;
			resume(arg, i);
			swapcontext(&f->back, &f->fiber[i].context);
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
