/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "scope/event.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/futex.h"
#include "check/fiber.h"
#include "core/completion.h"
#include "core/failure.h"
#include "core/runtime.h"
#include "core/waits.h"
#include "mem/heap.h"
#include "scope/deadline.h"
#include "scope/event_any.h"
#include "scope/event_pulse.h"
#include "scope/event_tap.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

/* How long a waiting thread spins before it sleeps. */
#define WAIT_SPIN_NS 20000

#define COUNT_MASK EVENT_MAX_COUNT

static uint32_t word_gen(uint64_t word)
{
	return (uint32_t)(word >> 32);
}

static uint32_t word_count(uint64_t word)
{
	return (uint32_t)word & COUNT_MASK;
}

static int word_error(uint64_t word)
{
	return -(int)((uint32_t)word >> EVENT_COUNT_BITS);
}

static uint64_t word_make(uint32_t gen, int error, uint32_t count)
{
	return (uint64_t)gen << 32 | (uint32_t)-error << EVENT_COUNT_BITS |
	       count;
}

/* The half that the kernel compares: error and count. */
static _Atomic(uint32_t) *futex_of(struct event *ev)
{
	_Atomic(uint32_t) *half = (_Atomic(uint32_t) *)(void *)&ev->word;

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	half++;
#endif
	return half;
}

/*
 * A slot's life: FREE -> PENDING -> FIRED -> FREE, and PENDING -> FREE where
 * its last user leaves before. Nothing but the word tells.
 */
enum event_state {
	EVENT_FREE, /* of no generation that anybody has */
	EVENT_PENDING,
	EVENT_FIRED,
};

CHECK_ONLY static const uint8_t legal[] = {
	[EVENT_FREE] = MOVE_TO(EVENT_PENDING) | MOVE_TO(EVENT_FIRED),
	[EVENT_PENDING] = MOVE_TO(EVENT_PENDING) | MOVE_TO(EVENT_FIRED) |
			  MOVE_TO(EVENT_FREE),
	[EVENT_FIRED] = MOVE_TO(EVENT_FREE),
};

static enum event_state state_of(uint64_t word)
{
	return word_count(word) ? EVENT_PENDING : EVENT_FIRED;
}

/* A signal less in its life. */
static uint64_t event_signalled(uint64_t word, int error)
{
	uint64_t next = word_make(word_gen(word), error, word_count(word) - 1);

	check_move(legal, state_of(word), state_of(next));
	check(!word_error(word) || word_error(next) == word_error(word));
	return next;
}

/* The life ends or begins: nobody has a handle of the next generation. */
static uint64_t next_life(uint64_t word, enum event_state from,
			  enum event_state to, uint32_t count)
{
	uint32_t gen = word_gen(word) + 1;

	(void)from;
	(void)to;
	check_move(legal, from, to);
	check(from == EVENT_FREE || from == state_of(word));
	gen += !gen;
	return word_make(gen, 0, count);
}

int event_create(struct lkdf *rt, struct executor *ex, uint32_t count,
		 uint32_t nr_refs, struct lkdf_event *out)
{
	struct event *ev = runtime_alloc(rt, ex, POOL_EVENT);
	uint64_t word;

	check(count <= EVENT_MAX_COUNT && nr_refs);
	if (!ev)
		return err(-EAGAIN, "event: no slot, %llu are in use",
			   (unsigned long long)pool_nr_objects(
				   &rt->pool[POOL_EVENT]));
	check(!ev->rt || ev->rt == rt);
	word = next_life(a_load(&ev->word, relaxed), EVENT_FREE,
			 count ? EVENT_PENDING : EVENT_FIRED, count);
	/* Stale handles look at it, so it is written once. */
	if (!ev->rt)
		ev->rt = rt;
	ev->failure = NULL;
	a_store(&ev->is_users, false, relaxed);
	a_store(&ev->is_pulse, false, relaxed);
	a_store(&ev->nr_refs, nr_refs, relaxed);
	a_store(&ev->waiters, NULL, relaxed);
	a_store(&ev->taps, NULL, relaxed);
	ev->any = NULL;
	/* [event.born] the fields before the generation; pairs with
	 * [event.look]. */
	a_store(&ev->word, word, release);
	out->slot = ev;
	out->gen = word_gen(word);
	return 0;
}

static uint64_t look_at_event(struct lkdf_event e)
{
	/* [event.look] pairs with [event.born] and [event.fire]. */
	return a_load(&event_of(e)->word, acquire);
}

bool event_is_valid(struct lkdf_event e)
{
	return e.slot && word_gen(look_at_event(e)) == e.gen;
}

bool event_has_fired(struct lkdf_event e)
{
	return word_count(look_at_event(e)) == 0;
}

bool event_look(struct event *ev, int *error)
{
	/* [tap.d] after the list; pairs with [event.fire]. */
	uint64_t word = a_load(&ev->word, seq_cst);

	*error = word_error(word);
	return word_count(word) == 0;
}

/*
 * Drops a reference of an any. When nobody but what it waits for is left, it
 * need not wait. True: it was the last.
 */
static bool drop_any(struct event *ev)
{
	uint32_t nr = a_load(&ev->nr_refs, relaxed);

	do {
		if (nr == 2)
			event_any_leave(ev->any);
		/* Then nobody but us can make it 1. [event.drop] as below. */
	} while (!a_cas(&ev->nr_refs, &nr, nr - 1, acq_rel, relaxed));
	if (nr != 1)
		return false;
	event_any_put(ev->any);
	return true;
}

/* Takes over the number. */
static void set_label(struct event *ev, uint32_t number)
{
	label_put(&ev->rt->heap->labels, a_xchg(&ev->label, number, relaxed));
}

int event_label(struct lkdf_event e, const char *label)
{
	struct event *ev = event_of(e);
	uint32_t number = label_take(&ev->rt->heap->labels, label);

	if (!number && label && label[0])
		return err(-ENOMEM, "event: no memory for the label");
	set_label(ev, number);
	return 0;
}

void event_text(const struct event *ev, char *text)
{
	label_text(&ev->rt->heap->labels, a_load(&ev->label, relaxed), text);
}

static void drop_event(struct event *ev)
{
	uint64_t word;

	check(a_load(&ev->nr_refs, relaxed));
	if (unlikely(ev->any != NULL)) {
		if (!drop_any(ev))
			return;
		/* [event.drop] all uses before the next life; pairs with
		 * itself. */
	} else if (a_sub(&ev->nr_refs, 1, acq_rel) != 1) {
		return;
	}
	failure_put(event_failure(ev), &ev->rt->log);
	ev->failure = NULL;
	if (unlikely(a_load(&ev->label, relaxed)))
		set_label(ev, 0);
	check(!a_load(&ev->nr_sleepers, relaxed));
	word = a_load(&ev->word, relaxed);
	/* Count 0 in a generation nobody has: stale to everyone. */
	a_store(&ev->word, next_life(word, state_of(word), EVENT_FREE, 0),
		relaxed);
	runtime_free(ev->rt, runtime_executor(ev->rt), POOL_EVENT, ev);
}

/* It has just fired: tell everybody. The caller holds a reference. */
static void tell_waiters(struct event *ev, int error)
{
	struct event_waiter *w, *next;

	check(state_of(a_load(&ev->word, relaxed)) == EVENT_FIRED);
	check(a_load(&ev->nr_refs, relaxed));
	wait_is_over(ev->rt);
	/* [event.close] pairs with [event.add]. */
	w = a_xchg(&ev->waiters, EVENT_CLOSED, acq_rel);
	for (; w; w = next) {
		next = w->next;
		w->fn(w, error);
		drop_event(ev);
	}
	/* [tap.b] after the word; pairs with [tap.c]. */
	if (unlikely(a_load(&ev->taps, seq_cst) != NULL)) {
		if (a_load(&ev->is_pulse, relaxed))
			event_tap_pulse(ev, error);
		else
			event_tap_fire(ev, error);
	}
	/* [event.b] after the word; pairs with [event.c]. */
	if (a_load(&ev->nr_sleepers, seq_cst))
		futex_wake(futex_of(ev), INT_MAX);
}

/* Counts a signal that has come. 1: fired by us, 0: not yet, -ESTALE. */
static int count_down(struct event *ev, uint64_t gen, int *error)
{
	uint64_t word = a_load(&ev->word, relaxed), next;
	int e;

	do {
		if (word_gen(word) != gen || !word_count(word))
			return -ESTALE;
		e = word_error(word) ? word_error(word) : *error;
		next = event_signalled(word, e);
		/* [event.fire] what was done before; pairs with
		 * [event.look]. seq_cst: before nr_sleepers. */
	} while (!a_cas(&ev->word, &word, next, seq_cst, relaxed));
	*error = e;
	return word_count(next) == 0;
}

int event_fire(struct lkdf_event e, int error)
{
	struct event *ev = event_of(e);
	int rc = count_down(ev, e.gen, &error);

	if (rc < 0)
		return err(-ESTALE,
			   "event: it has fired already, and fires once");
	if (rc)
		tell_waiters(ev, error);
	return rc;
}

int event_signal(struct lkdf_event e, int error)
{
	struct event *ev = event_of(e);
	int rc;

	/*
	 * The event in the slot now may be another life: only read is_users of
	 * ours.
	 */
	if (!event_is_valid(e) || event_has_fired(e))
		return err(-ESTALE,
			   "event: it has fired already, and fires once");
	if (!a_load(&ev->is_users, relaxed) && event_is_valid(e))
		return err(-EPERM, "event: it belongs to a task, a run or "
				   "what it waits for");
	if (unlikely(ev->rt->check != NULL))
		event_told(e);
	if (a_load(&ev->is_pulse, relaxed))
		return event_pulse(e, error);
	rc = event_fire(e, error);
	if (rc > 0)
		drop_event(ev);
	return rc < 0 ? rc : 0;
}

/* ---- option check ------------------------------------------------------- */

static uint64_t *token_of(struct lkdf_event e)
{
	return event_token(event_of(e)->rt->check, e.slot, e.gen);
}

void event_told(struct lkdf_event e)
{
	check_release(event_of(e)->rt->check, token_of(e));
}

void event_heard(struct lkdf_event e)
{
	check_acquire(event_of(e)->rt->check, token_of(e));
}

void event_passes(struct lkdf_event from, struct lkdf_event to)
{
	check_pass(event_of(to)->rt->check, token_of(from), token_of(to));
}

/* ---- the end ------------------------------------------------------------ */

void event_finish(struct lkdf_event e, int error, struct failure *f)
{
	struct event *ev = event_of(e);
	int rc;

	ev->failure = failure_get(f);
	rc = count_down(ev, e.gen, &error);
	check(rc == 1);
	(void)rc;
	tell_waiters(ev, error);
	drop_event(ev);
}

/* 0: fired; 1: the time is up. */
static int wait_spinning(struct lkdf_event e, int64_t timeout_ns)
{
	int64_t end;

	if (event_has_fired(e))
		return 0;
	end = clock_now_ns() + (timeout_ns >= 0 && timeout_ns < WAIT_SPIN_NS
					? timeout_ns
					: WAIT_SPIN_NS);
	do {
		a_delay();
		if (event_has_fired(e))
			return 0;
	} while (clock_now_ns() < end);
	return 1;
}

static int wait_sleeping(struct lkdf_event e, int64_t timeout_ns)
{
	struct event *ev = event_of(e);
	const struct timers *ts = &ev->rt->sched.timers;
	int64_t end = timers_end_of(ts, timeout_ns);
	int64_t left;
	uint64_t word;
	int rc = 0;

	/* [event.c] before we look again; pairs with [event.b]. */
	a_add(&ev->nr_sleepers, 1, seq_cst);
	for (;;) {
		word = a_load(&ev->word, seq_cst);
		if (!word_count(word))
			break;
		if (timers_are_over(ts, end, &left)) {
			rc = 1;
			break;
		}
		deadline_sleep(ev->rt, futex_of(ev), (uint32_t)word, left);
	}
	a_sub(&ev->nr_sleepers, 1, relaxed);
	return rc;
}

int event_look_for(struct lkdf_event e, int64_t timeout_ns)
{
	struct lkdf *rt = event_of(e)->rt;

	if (unlikely(rt->sched.is_serial)) {
		completion_sleep(rt, 0);
		sched_drain(&rt->sched);
	}
	return wait_spinning(e, timeout_ns) && wait_sleeping(e, timeout_ns);
}

int event_wait_as(struct lkdf_event e, int64_t timeout_ns, const char *call)
{
	struct event *ev = event_of(e);
	uint64_t begin = event_has_fired(e) ? 0 : wait_begins(ev->rt);
	int rc = event_look_for(e, timeout_ns);
	char label[LABEL_MAX + 1];
	struct failure *f;
	const char *why;

	wait_ended(ev->rt, call, begin);
	if (rc)
		return 1;
	if (unlikely(ev->rt->check != NULL))
		event_heard(e);
	rc = word_error(look_at_event(e));
	if (rc) {
		f = event_failure(ev);
		failure_observe(f);
		event_text(ev, label);
		why = f ? f->error.why : strerror(-rc);
		if (label[0])
			err(rc, "event \"%s\": %s", label, why);
		else
			err(rc, "%s", why);
	}
	drop_event(ev);
	return rc;
}

int event_wait(struct lkdf_event e, int64_t timeout_ns)
{
	return event_wait_as(e, timeout_ns, "lkdf_event_wait");
}

int event_error(struct lkdf_event e, struct lkdf_error *out)
{
	struct lkdf_error error = { .size = sizeof(error), .id = -1 };
	struct event *ev = event_of(e);
	struct failure *f;

	if (!event_has_fired(e))
		return 1;
	if (unlikely(ev->rt->check != NULL))
		event_heard(e);
	f = event_failure(ev);
	failure_observe(f);
	error.err = word_error(look_at_event(e));
	error.worker = -1;
	if (f)
		error = failure_error(f);
	return failure_copy(&error, out);
}

bool event_get(struct lkdf_event e)
{
	if (!event_is_valid(e))
		return false;
	a_add(&event_of(e)->nr_refs, 1, relaxed);
	return true;
}

void event_put(struct lkdf_event e)
{
	drop_event(event_of(e));
}

int event_call_give(struct lkdf_event e, struct event_waiter *w)
{
	struct event *ev = event_of(e);
	struct event_waiter *head;

	if (!event_is_valid(e))
		return err(-ESTALE, "event: its slot was given on");
	/* [event.seen] what was done before it fired; pairs with
	 * [event.close]. */
	head = a_load(&ev->waiters, acquire);
	do {
		if (head == EVENT_CLOSED) {
			w->fn(w, word_error(look_at_event(e)));
			drop_event(ev);
			return 0;
		}
		w->next = head;
		/* [event.add] pairs with [event.close]. */
	} while (!a_cas(&ev->waiters, &head, w, acq_rel, acquire));
	return 0;
}
