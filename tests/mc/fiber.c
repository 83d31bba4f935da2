/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Stacks of scenario threads. On x86-64 a switch is six pushes and pops;
 * elsewhere ucontext, some ten times slower because it saves the signal mask.
 */
#include "checker.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define STACK_SIZE (256 * 1024)

static void *stack_of(struct thread *t)
{
	if (t->stack)
		return t->stack;
	t->stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (t->stack == MAP_FAILED) {
		perror("# mc: stack");
		exit(2);
	}
	mprotect(t->stack, 4096, PROT_NONE);
	return t->stack;
}

#ifdef __x86_64__
void fiber_switch_asm(void **from, void *to);

__asm__(".text\n"
	".globl fiber_switch_asm\n"
	".type fiber_switch_asm,@function\n"
	"fiber_switch_asm:\n"
	"	pushq %rbp\n"
	"	pushq %rbx\n"
	"	pushq %r12\n"
	"	pushq %r13\n"
	"	pushq %r14\n"
	"	pushq %r15\n"
	"	movq %rsp, (%rdi)\n"
	"	movq %rsi, %rsp\n"
	"	popq %r15\n"
	"	popq %r14\n"
	"	popq %r13\n"
	"	popq %r12\n"
	"	popq %rbx\n"
	"	popq %rbp\n"
	"	ret\n"
	".size fiber_switch_asm,.-fiber_switch_asm\n");

void fiber_prepare(struct thread *t, void (*entry)(void))
{
	uint64_t *top = (uint64_t *)((char *)stack_of(t) + STACK_SIZE);

	/* Six registers and the entry; aligned as after a call. */
	top[-2] = (uint64_t)(uintptr_t)entry;
	t->sp = top - 8;
}

void fiber_switch(void **from, void *to)
{
	fiber_switch_asm(from, to);
}
#else
#include <ucontext.h>

/* A saved stack pointer is a ucontext; those of fibers live at the bottom. */
void fiber_prepare(struct thread *t, void (*entry)(void))
{
	ucontext_t *u = (ucontext_t *)((char *)stack_of(t) + 4096);

	getcontext(u);
	u->uc_stack.ss_sp = (char *)(u + 1);
	u->uc_stack.ss_size = STACK_SIZE - 4096 - sizeof(*u);
	u->uc_link = NULL;
	makecontext(u, entry, 0);
	t->sp = u;
}

void fiber_switch(void **from, void *to)
{
	static ucontext_t main_context;

	if (!*from)
		*from = &main_context;
	swapcontext(*from, to);
}
#endif
