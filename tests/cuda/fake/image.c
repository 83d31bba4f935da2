/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Images are loaded as shared objects. A kernel runs on the thread of its
 * stream; a wrong address in it is a fault of the card: the signal's handler
 * leaves the kernel.
 */
#include "tests/cuda/fake/image.h"

#include "tests/cuda/fake/cubin.h"
#include "tests/cuda/fake/fiber.h"
#include "tests/cuda/fake/kernel.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#define FAT_MAGIC 0xba55ed50u

static struct sigaction before[NSIG];
static bool has_handlers;

/* The kernel that this thread runs: where to go when it faults. */
static _Thread_local void *back[5];
static _Thread_local bool is_running;
static _Thread_local cu_result error;

bool image_is(const void *image)
{
	uint32_t first;

	memcpy(&first, image, strnlen(image, sizeof(first)));
	return !strncmp(image, ELFMAG, SELFMAG) ||
	       (strnlen(image, sizeof(first)) == sizeof(first) &&
		first == FAT_MAGIC);
}

/* ---- faults ------------------------------------------------------------- */

/* On the stack of the kernel, behind the handler. */
__attribute__((noreturn)) static void leave_kernel(void)
{
	__builtin_longjmp(back, 1);
}

static void fault(unsigned result)
{
	error = result;
	leave_kernel();
}

static void go_back(ucontext_t *u)
{
#if defined(__x86_64__)
	greg_t *r = u->uc_mcontext.gregs;

	r[REG_RSP] = ((r[REG_RSP] - 256) & ~(greg_t)15) - 8;
	r[REG_RIP] = (greg_t)leave_kernel;
#elif defined(__aarch64__)
	u->uc_mcontext.sp = (u->uc_mcontext.sp - 256) & ~15ull;
	u->uc_mcontext.pc = (uintptr_t)leave_kernel;
#else
#error "go_back() sets the stack pointer and the program counter"
#endif
}

static void on_signal(int sig, siginfo_t *info, void *context)
{
	const struct sigaction *b = &before[sig];

	if (is_running) {
		is_running = false;
		error = sig == SIGSEGV || sig == SIGBUS ? 700 : 719;
		go_back(context);
	} else if (b->sa_flags & SA_SIGINFO) {
		b->sa_sigaction(sig, info, context);
	} else {
		signal(sig, SIG_DFL);
	}
}

static const int signals[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE };
#define NR_SIGNALS (sizeof(signals) / sizeof(signals[0]))

/* The thread of a stream has the mask of its maker, which may block all. */
static void let_signals(void)
{
	static _Thread_local bool is_let;
	sigset_t set;
	size_t i;

	if (is_let)
		return;
	is_let = true;
	sigemptyset(&set);
	for (i = 0; i < NR_SIGNALS; i++)
		sigaddset(&set, signals[i]);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static void set_handlers(void)
{
	struct sigaction a = { .sa_flags = SA_SIGINFO | SA_NODEFER };
	size_t i;

	if (has_handlers)
		return;
	has_handlers = true;
	a.sa_sigaction = on_signal;
	for (i = 0; i < NR_SIGNALS; i++)
		sigaction(signals[i], &a, &before[signals[i]]);
}

/* ---- loading ------------------------------------------------------------ */

/* A file that the loader has seen under no other name, and then no file. */
static void *load_object(const struct cubin *c)
{
	const char *folder = getenv("TMPDIR");
	char path[512];
	void *handle = NULL;
	int fd;

	snprintf(path, sizeof(path), "%s/fake-image-XXXXXX",
		 folder && folder[0] ? folder : "/tmp");
	fd = mkstemp(path);
	if (fd < 0)
		return NULL;
	if (write(fd, c->bytes, c->size) == (ssize_t)c->size)
		handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	close(fd);
	unlink(path);
	return handle;
}

static void add_kernel(struct CUmod_st *m, const struct fake_kernel *k)
{
	struct CUfunc_st *f;
	unsigned i;
	Dl_info at;

	if (!dladdr(k->function, &at) || !at.dli_sname)
		abort();
	for (f = m->funcs; f && strcmp(f->name, at.dli_sname); f = f->next)
		;
	if (f) { /* also by the name that the program gave */
		if (k->max_threads)
			f->max_threads = k->max_threads;
		return;
	}
	f = module_add(m, at.dli_sname, strlen(at.dli_sname));
	f->compiled = k;
	if (k->max_threads)
		f->max_threads = k->max_threads;
	for (i = 0; i < k->nr_params; i++)
		module_param(f, k->size[i], k->align[i]);
}

cu_result image_load(struct CUmod_st *m, const void *image)
{
	static const struct fake_calls calls = { fiber_barrier, fault };
	const struct cubin *c = image;
	const struct fake_kernel *k;
	void *object, *symbol;

	if (memcmp(image, ELFMAG, SELFMAG) ||
	    c->elf.e_machine != CUBIN_MACHINE || c->magic != CUBIN_MAGIC ||
	    c->sum != cubin_sum(c->bytes, c->size))
		return 200;
	if ((c->elf.e_flags & 0xff) != CUBIN_SM)
		return 209;
	object = load_object(c);
	if (!object)
		return 200;
	symbol = dlsym(object, "fake_image");
	if (!symbol)
		return 200;
	set_handlers();
	m->image = symbol;
	m->image->set_calls(&calls);
	for (k = *m->image->first; k; k = k->next)
		add_kernel(m, k);
	return 0;
}

/* ---- running ------------------------------------------------------------ */

struct work {
	const struct op *op;
	struct fake_place *place;
	struct fake_place at;
};

static struct fake_index index_at(size_t i, const unsigned size[3])
{
	return (struct fake_index){ (unsigned)(i % size[0]),
				    (unsigned)(i / size[0] % size[1]),
				    (unsigned)(i / size[0] / size[1]) };
}

static void run_thread(void *arg, size_t i)
{
	const struct work *w = arg;
	const struct fake_kernel *k = w->op->func->compiled;

	*w->place = w->at;
	w->place->thread = index_at(i, w->op->block);
	k->call(k->function, w->op->bytes);
}

/* A thread goes on behind a barrier: its place is set again. */
static void resume_thread(void *arg, size_t i)
{
	const struct work *w = arg;

	*w->place = w->at;
	w->place->thread = index_at(i, w->op->block);
}

static void run_block(struct work *w, size_t block)
{
	const unsigned *b = w->op->block;
	size_t n = (size_t)b[0] * b[1] * b[2], i;

	w->at.block = index_at(block, w->op->grid);
	if (w->op->func->mod->image->has_barriers && n > 1) {
		fiber_run(n, run_thread, resume_thread, w);
		return;
	}
	for (i = 0; i < n; i++)
		run_thread(w, i);
}

static void run_grid(const struct op *o)
{
	const unsigned *g = o->grid, *b = o->block;
	struct work w = { .op = o, .place = o->func->mod->image->place() };
	size_t n = (size_t)g[0] * g[1] * g[2], i;

	w.at.grid = (struct fake_index){ g[0], g[1], g[2] };
	w.at.block_size = (struct fake_index){ b[0], b[1], b[2] };
	for (i = 0; i < n; i++)
		run_block(&w, i);
}

/* Not inlined: a function that has __builtin_setjmp calls no other that has. */
__attribute__((noinline)) cu_result image_run(const struct op *o)
{
	error = 0;
	let_signals();
	if (!__builtin_setjmp(back)) {
		is_running = true;
		run_grid(o);
	}
	is_running = false;
	return error;
}
