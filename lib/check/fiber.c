/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "check/fiber.h"

#include "base/err.h"
#include "base/list.h"
#include "base/lock.h"
#include "base/thread.h"
#include "check/tsan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define STACK_BYTES ((size_t)1 << 20)
#define GUARD_BYTES 4096
#define FIRST_EVENTS 1024

struct fiber {
	void *tsan;
	char *stack; /* with a guard below it */
	ucontext_t here, back;
	uint64_t last; /* the number of the body that was the last on it */
	struct list idle; /* in the list of idle ones; empty: it is not */
	struct check *check;
	struct check_call *call;
	void *scratch; /* of its body */
	size_t scratch_size;
	bool is_deaf; /* to the program's locks, in its function */
	struct fiber *next; /* of all */
};

struct event_row {
	const void *slot; /* NULL: free */
	uint32_t gen;
	uint64_t *token;
};

struct check {
	struct order *order;
	bool hears_atomics;
	void *mother;

	/* Under lock. */
	struct lock lock;
	struct fiber *all;
	struct list idle; /* the youngest first */
	uint32_t nr_fibers, nr_idle;
	uint64_t nr_bodies, nr_shared;
	struct check_devices devices; /* any thread; see device.c */
	struct event_row *events;
	size_t nr_events, nr_rows; /* rows: a power of two */
};

/* ---- tokens ------------------------------------------------------------- */

uint64_t *check_tokens(size_t nr)
{
	return calloc(nr, sizeof(uint64_t));
}

void check_forget(uint64_t *tokens)
{
	free(tokens);
}

/* NULL: the thread is in no body. */
static struct fiber *fiber_now(void)
{
	return thread_self()->fiber;
}

static void be_heard(void)
{
	const struct fiber *f = fiber_now();

	if (f && f->is_deaf)
		tsan_hear();
}

static void be_deaf_again(void)
{
	const struct fiber *f = fiber_now();

	if (f && f->is_deaf)
		tsan_deafen();
}

void check_release(struct check *ch, uint64_t *token)
{
	(void)ch;
	if (!token)
		return;
	be_heard();
	__tsan_release(token);
	be_deaf_again();
}

void check_acquire(struct check *ch, uint64_t *token)
{
	(void)ch;
	if (!token)
		return;
	be_heard();
	__tsan_acquire(token);
	be_deaf_again();
}

void check_hold(struct check *ch, uint64_t *token)
{
	(void)ch;
	if (!token)
		return;
	tsan_deafen();
	__tsan_mutex_pre_lock(token, 0);
	__tsan_mutex_post_lock(token, 0, 0);
	tsan_hear();
}

void check_drop(struct check *ch, uint64_t *token)
{
	(void)ch;
	if (!token)
		return;
	tsan_deafen();
	__tsan_mutex_pre_unlock(token, 0);
	__tsan_mutex_post_unlock(token, 0);
	tsan_hear();
}

/* ---- events ------------------------------------------------------------- */

static struct event_row *row_of(const struct check *ch, const void *slot,
				uint32_t gen)
{
	size_t at = ((uintptr_t)slot >> 6) * 0x9e3779b97f4a7c15ull + gen;
	struct event_row *r;

	for (;; at++) {
		r = &ch->events[at & (ch->nr_rows - 1)];
		if (!r->slot || (r->slot == slot && r->gen == gen))
			return r;
	}
}

static bool grow_events(struct check *ch)
{
	struct event_row *old = ch->events;
	size_t nr = ch->nr_rows, i;

	ch->events = calloc(2 * nr, sizeof(*old));
	if (!ch->events) {
		ch->events = old;
		return false;
	}
	ch->nr_rows = 2 * nr;
	for (i = 0; i < nr; i++)
		if (old[i].slot)
			*row_of(ch, old[i].slot, old[i].gen) = old[i];
	free(old);
	return true;
}

/* Under lock. */
static uint64_t *find_event(struct check *ch, const void *slot, uint32_t gen)
{
	struct event_row *r;

	lock_assert_held(&ch->lock);
	if (!slot || (2 * ch->nr_events >= ch->nr_rows && !grow_events(ch)))
		return NULL;
	r = row_of(ch, slot, gen);
	if (!r->slot) {
		r->token = check_tokens(1);
		if (!r->token)
			return NULL;
		r->slot = slot;
		r->gen = gen;
		ch->nr_events++;
	}
	return r->token;
}

uint64_t *event_token(struct check *ch, const void *slot, uint32_t gen)
{
	uint64_t *token;

	lock_take(&ch->lock);
	token = find_event(ch, slot, gen);
	lock_give(&ch->lock);
	return token;
}

/* ---- fibers ------------------------------------------------------------- */

static void fiber_main(unsigned high, unsigned low)
{
	struct fiber *f = (struct fiber *)((uintptr_t)high << 32 | low);

	for (;;) {
		f->call->run(f->call);
		swapcontext(&f->here, &f->back);
	}
}

static void fiber_free(struct fiber *f)
{
	if (f->tsan)
		__tsan_destroy_fiber(f->tsan);
	if (f->stack)
		munmap(f->stack, STACK_BYTES);
	free(f);
}

static void *map_stack(void)
{
	char *p = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	mprotect(p, GUARD_BYTES, PROT_NONE);
	return p;
}

/* It has the clock of its maker: that of nobody. */
static void *born_of_mother(const struct check *ch)
{
	void *me = __tsan_get_current_fiber(), *born;

	__tsan_switch_to_fiber(ch->mother, TSAN_NO_SYNC);
	born = __tsan_create_fiber(0);
	__tsan_switch_to_fiber(me, TSAN_NO_SYNC);
	return born;
}

static bool init_context(struct fiber *f)
{
	if (getcontext(&f->here))
		return false;
	f->here.uc_stack.ss_sp = f->stack + GUARD_BYTES;
	f->here.uc_stack.ss_size = STACK_BYTES - GUARD_BYTES;
	makecontext(&f->here, (void (*)(void))fiber_main, 2,
		    (unsigned)((uintptr_t)f >> 32), (unsigned)(uintptr_t)f);
	return true;
}

static struct fiber *fiber_new(struct check *ch)
{
	struct fiber *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->stack = map_stack();
	if (!f->stack || !init_context(f)) {
		fiber_free(f);
		return NULL;
	}
	f->check = ch;
	f->tsan = born_of_mother(ch);
	list_init(&f->idle);
	f->next = ch->all;
	ch->all = f;
	ch->nr_fibers++;
	return f;
}

static void be_busy(struct check *ch, struct fiber *f)
{
	list_del(&f->idle);
	ch->nr_idle--;
}

static void be_idle(struct check *ch, struct fiber *f)
{
	list_append(&ch->idle, &f->idle);
	ch->nr_idle++;
}

/* Two that share one count as ordered; which two is the seed's to say. */
static struct fiber *any_idle(struct check *ch)
{
	uint64_t nr = order_below(ch->order, ch->nr_idle);
	struct list *l = ch->idle.next;

	for (; nr; nr--)
		l = l->next;
	ch->nr_shared++;
	return container_of(l, struct fiber, idle);
}

/*
 * A fiber of its own has the name of one body in reports. From CHECK_FIBERS on
 * a body goes on where one before it was the last, or shares an idle one.
 */
static struct fiber *pick_fiber(struct check *ch, bool stays,
				struct check_place after)
{
	struct fiber *f = after.fiber;
	bool is_last = f && !list_is_empty(&f->idle) && f->last == after.body;

	lock_assert_held(&ch->lock);
	if (!(stays && is_last) &&
	    (ch->nr_fibers < CHECK_FIBERS || !ch->nr_idle))
		f = NULL;
	else if (!is_last)
		f = any_idle(ch);
	if (f)
		be_busy(ch, f);
	else if (ch->nr_fibers < CHECK_DEEPEST)
		f = fiber_new(ch);
	return f;
}

static struct fiber *take_fiber(struct check *ch, struct check_call *call,
				struct check_place after)
{
	char name[CHECK_NAME];
	struct fiber *f;

	lock_take(&ch->lock);
	f = pick_fiber(ch, call->stays, after);
	if (f) {
		f->call = call;
		snprintf(name, sizeof(name), "%s%s", call->name,
			 f->last && !call->stays ? ", or one before it" : "");
		__tsan_set_fiber_name(f->tsan, name);
		f->last = ++ch->nr_bodies;
		call->stack = f->stack + GUARD_BYTES;
		call->stack_size = STACK_BYTES - GUARD_BYTES;
		call->place = (struct check_place){ f, f->last };
	}
	lock_give(&ch->lock);
	return f;
}

int fiber_run(struct check *ch, struct check_call *call,
	      struct check_place after)
{
	struct fiber *f = take_fiber(ch, call, after);
	struct thread *self = thread_self();
	void *me, *outer = self->fiber;

	if (!f)
		return err(-EOVERFLOW,
			   "check: %u bodies wait inside each other: more than "
			   "the sanitizer has fibers, or memory is out",
			   ch->nr_fibers);
	me = __tsan_get_current_fiber();
	self->fiber = f;
	__tsan_switch_to_fiber(f->tsan, TSAN_NO_SYNC);
	swapcontext(&f->back, &f->here);
	__tsan_switch_to_fiber(me, TSAN_NO_SYNC);
	self->fiber = outer;
	check_free(f->scratch);
	f->scratch = NULL;
	lock_take(&ch->lock);
	be_idle(ch, f);
	lock_give(&ch->lock);
	return 0;
}

void check_enter(struct check *ch)
{
	if (ch->hears_atomics)
		return;
	tsan_deafen();
	fiber_now()->is_deaf = true;
}

void check_confide(struct check *ch)
{
	struct fiber *f = fiber_now();

	(void)ch;
	if (!f || !f->is_deaf)
		return;
	f->is_deaf = false;
	tsan_hear();
}

void check_leave(struct check *ch)
{
	check_confide(ch);
}

struct pass {
	struct check_call call;
	struct check *check;
	uint64_t *from, *to;
};

static void run_pass(struct check_call *call)
{
	struct pass *p = container_of(call, struct pass, call);

	check_acquire(p->check, p->from);
	check_release(p->check, p->to);
}

void check_pass(struct check *ch, uint64_t *from, uint64_t *to)
{
	struct pass p = { .check = ch, .from = from, .to = to };

	p.call.run = run_pass;
	p.call.name = "order between events";
	fiber_run(ch, &p.call, (struct check_place){ 0 });
}

void *check_scratch(struct check *ch, size_t size)
{
	struct fiber *f = fiber_now();

	(void)ch;
	if (!f)
		return NULL;
	if (f->scratch && f->scratch_size >= size)
		return f->scratch;
	check_free(f->scratch);
	f->scratch = check_alloc(CACHE_LINE, size);
	f->scratch_size = size;
	return f->scratch;
}

/* ---- life --------------------------------------------------------------- */

int check_open(struct order *order, bool hears_atomics, struct check **out)
{
	struct check *ch;
	int rc;

	if (!tsan_is_there())
		return err(-ENOSYS,
			   "check: the program has no thread sanitizer: "
			   "compile and link it with -fsanitize=thread");
	rc = tsan_step_aside();
	if (rc)
		return rc;
	ch = calloc(1, sizeof(*ch));
	if (ch)
		ch->events = calloc(FIRST_EVENTS, sizeof(*ch->events));
	if (!ch || !ch->events) {
		free(ch);
		return err(-ENOMEM, "check: no memory");
	}
	ch->order = order;
	ch->hears_atomics = hears_atomics;
	ch->nr_rows = FIRST_EVENTS;
	list_init(&ch->idle);
	ch->mother = __tsan_create_fiber(0);
	__tsan_set_fiber_name(ch->mother, "mother of tasks");
	*out = ch;
	return 0;
}

bool check_is_linked(void)
{
	return tsan_is_there();
}

void check_close(struct check *ch)
{
	struct fiber *f, *next;

	if (!ch)
		return;
	for (f = ch->all; f; f = next) {
		next = f->next;
		fiber_free(f);
	}
	__tsan_destroy_fiber(ch->mother);
	/* Tokens stay: others may have heard of their addresses. */
	free(ch->events);
	free(ch);
}

struct check_devices *check_devices(struct check *ch)
{
	return &ch->devices;
}

void check_count(const struct check *ch, uint64_t *bodies, uint64_t *shared)
{
	*bodies = ch->nr_bodies;
	*shared = ch->nr_shared;
}
