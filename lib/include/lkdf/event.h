/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * An event is a completion that has happened or will. It is a value of 16
 * bytes, a slot and the generation in it: the library recognises a stale event
 * and never follows it.
 */
#ifndef LKDF_EVENT_H
#define LKDF_EVENT_H

#include <lkdf/base.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct lkdf_error {
	uint32_t size;
	int err;
	uint64_t seq, nr_failed, nr_skipped, nr_cancelled;
	int32_t id, worker; /* task number in its graph, -1: dynamic */
	char graph[32], task[64], why[160];
	uint64_t nr_unchosen; /* tasks that no branch has chosen */
};

enum lkdf_event_flag {
	LKDF_EVENT_PULSE = 1, /* may be signalled again and again, see below */
};

/**
 * lkdf_event_create() - an event that user code signals
 * @rt:    runtime, borrowed; must outlive the event
 * @count: fires at the count'th signal; 0 is taken as 1
 * @flags: 0 or LKDF_EVENT_PULSE
 * @out:   event with two references: lkdf_event_wait() or lkdf_event_put()
 *         drops the first, the last signal the second; with PULSE one
 *         reference, which lkdf_event_put() drops
 *
 * An event with PULSE is a signal. lkdf_event_signal() with error 0 lets all go
 * on that wait for the event at that moment: threads in lkdf_event_wait() and
 * lkdf_event_next(), tasks that start after the event or left with lkdf_then(),
 * lkdf_event_any() and lkdf_event_fd(). Waiters that come later wait for the
 * next signal. Functions of lkdf_event_call() stay: the runtime calls each of
 * them once for each signal. No signal allocates memory. An error ends the
 * event: it fires for good, as other events do.
 *
 * A wait and lkdf_then() keep the caller's reference of a PULSE event. The
 * thread that signals holds a reference, or the call returns -ESTALE.
 *
 * Return: 0; -EAGAIN all slots are in use; -EINVAL unknown flags, @count is
 * above 2^20 - 1, with PULSE above 1; -ENOMEM.
 */
int lkdf_event_create(struct lkdf *rt, uint32_t count, uint32_t flags,
		      struct lkdf_event *out);

/**
 * lkdf_event_label() - name an event
 * @e:     event, the caller keeps its reference
 * @label: copied, 63 bytes of it; NULL or "": no name any more
 *
 * lkdf_why() and the text of a wait that ends with an error name the event.
 *
 * Context: any thread, bodies included, does not block.
 * Return: 0; -ESTALE no such event; -EINVAL; -ENOMEM.
 */
int lkdf_event_label(struct lkdf_event e, const char *label);

/**
 * lkdf_event_signal() - one of count completions has happened
 * @e:   event
 * @err: 0 or a negative errno; the first error stays
 *
 * Context: any thread, bodies included, no signal handler.
 * Return: 0; -ESTALE it has fired already or its slot was given on; -EPERM it
 * is not one of lkdf_event_create() or lkdf_hold(); -EINVAL.
 */
int lkdf_event_signal(struct lkdf_event e, int err);

/**
 * lkdf_event_pulses() - how often a PULSE event was signalled
 * @e:  event with LKDF_EVENT_PULSE
 * @nr: signals so far; the one that has ended it counts, too
 *
 * A body that leaves with lkdf_then() and asks afterwards misses no signal: a
 * signal that came before lkdf_then() has counted, a later one calls the
 * continuation.
 *
 * Context: any thread, bodies included, does not block.
 * Return: 0; -EINVAL @nr is NULL, or the event has no PULSE; -ESTALE no such
 * event.
 */
int lkdf_event_pulses(struct lkdf_event e, uint64_t *nr);

/**
 * lkdf_event_next() - wait for a signal after those that were seen
 * @e:          event with LKDF_EVENT_PULSE, the caller keeps its reference
 * @seen:       signals that the caller knows of, as lkdf_event_pulses() counts
 * @timeout_ns: >= 0, or -1 for ever
 *
 * The call returns at once if there were more than @seen, so no signal between
 * two calls is lost, whereas lkdf_event_wait() waits for one that comes later.
 *
 * Context: any thread that is not in a body; with @timeout_ns 0 bodies as well.
 * Return: 0 there were more; 1 the time is up; the error that has ended the
 * event; -EDEADLK in a body; -ESTALE no such event; -EINVAL.
 */
int lkdf_event_next(struct lkdf_event e, uint64_t seen, int64_t timeout_ns);

/**
 * lkdf_event_wait() - wait until it has fired and drop the reference
 * @e:          event
 * @timeout_ns: >= 0, or -1 for ever
 *
 * For an event with LKDF_EVENT_PULSE the call waits for the next signal, and
 * the caller keeps the reference whatever comes.
 *
 * Context: any thread that is not in a body.
 * Return: 0 or the event's error, reference dropped; 1 still pending,
 * reference kept; -EDEADLK in a body; -ESTALE no such event; -EINVAL
 * @timeout_ns is below -1, or @e is { 0 }.
 */
int lkdf_event_wait(struct lkdf_event e, int64_t timeout_ns);

/**
 * lkdf_event_error() - which task failed and why
 * @e:   event, fired, before its reference is dropped
 * @out: size set by the caller
 *
 * If a run ended well, err is 0 and the counts are there all the same: those of
 * tasks that no branch has chosen, say, in all repetitions or waves. A body
 * that asks for the event of its own child has seen the child's error, and does
 * not end with it.
 *
 * Return: 0; 1 still pending; -ESTALE; -EINVAL.
 */
int lkdf_event_error(struct lkdf_event e, struct lkdf_error *out);

/**
 * lkdf_event_any() - an event that fires with the first of several
 * @rt:  runtime, borrowed; must outlive the event
 * @v:   nr events of the runtime; the caller keeps its references
 * @nr:  1 .. LKDF_MAX_AFTER
 * @out: event with one reference, dropped by lkdf_event_wait() or
 *       lkdf_event_put(); untouched on failure
 *
 * The new event fires when the first event of @v fires, and has that event's
 * error, of which lkdf_event_error() tells the details; of several events that
 * have fired before the call the first in @v counts. When the new event fires,
 * or loses its last reference, it lets go of the others: an event that lives
 * long may be in the lists of many short-lived ones.
 *
 * Context: any thread, bodies included, does not block.
 * Return: 0; -ESTALE one has no reference left; -EINVAL; -E2BIG too many, or
 * more than 64 of them one in the other; -EAGAIN all slots are in use;
 * -ENOMEM.
 */
int lkdf_event_any(struct lkdf *rt, const struct lkdf_event *v, unsigned nr,
		   struct lkdf_event *out);

/**
 * lkdf_event_all() - an event that fires with the last of several
 * @rt:  runtime, borrowed; must outlive the event
 * @v:   nr events of the runtime; the caller keeps its references
 * @nr:  1 .. LKDF_MAX_AFTER
 * @out: event with one reference, dropped by lkdf_event_wait() or
 *       lkdf_event_put(); untouched on failure
 *
 * The new event fires when all events of @v have fired, with the error of the
 * first of them to fail, of which lkdf_event_error() tells the details. When
 * the new event loses its last reference before, it lets go of the others.
 *
 * Context: any thread, bodies included, does not block.
 * Return: as lkdf_event_any().
 */
int lkdf_event_all(struct lkdf *rt, const struct lkdf_event *v, unsigned nr,
		   struct lkdf_event *out);

/**
 * lkdf_event_which() - wait for the first of several and keep the reference
 * @e:          event of lkdf_event_any()
 * @timeout_ns: >= 0, or -1 for ever
 * @which:      its number in v
 *
 * Context: as lkdf_event_wait(); with a timeout of 0 any thread, bodies
 * included.
 * Return: 0, whatever the event's error; 1 still pending; -EINVAL not such an
 * event, or @timeout_ns is below -1; -EDEADLK in a body; -ESTALE no such event.
 */
int lkdf_event_which(struct lkdf_event e, int64_t timeout_ns, unsigned *which);

/**
 * lkdf_event_call() - call a function when an event has fired
 * @e:  event, the caller keeps its reference
 * @fn: called once with u and the event's error
 * @u:  the caller's; must live until then
 *
 * The library keeps a reference until @fn has returned, so @fn may use a copy
 * of @e. The library does not call @fn if the runtime closes first. With
 * LKDF_EVENT_PULSE the library calls @fn for each signal, one call at a time,
 * and for the last time with the error that ends the event, which drops the
 * reference.
 *
 * Context: any thread, bodies included. fn runs on the thread that makes the
 * event fire: a worker or another thread of the runtime, or one in a call such
 * as lkdf_event_signal(); at once on this one if it has fired already. It is
 * short, since it holds up that thread; it may signal, submit, run graphs and
 * put, but must not wait, nor close the runtime. With a runtime that is about
 * to close it must not start anything.
 * Return: 0; -ESTALE no such event; -EINVAL; -ENOMEM.
 */
int lkdf_event_call(struct lkdf_event e, void (*fn)(void *u, int err), void *u);

/**
 * lkdf_event_fd() - a descriptor for poll and epoll
 * @e: event, the caller keeps its reference
 *
 * The descriptor becomes readable when the event fires, or when the runtime
 * closes first, and stays readable: poll(2) reports EPOLLIN and EPOLLHUP, and a
 * read returns 0. The program may close the descriptor at any time, also while
 * epoll watches it. An exec closes it. The library has a second descriptor open
 * until the event fires.
 *
 * Context: any thread, bodies included. The event fires though no thread waits
 * for it; with serial=yes it fires only while a thread is in a call of the
 * library.
 * Return: descriptor, the caller's to close; -EMFILE, -ENFILE; -ESTALE no such
 * event; -EINVAL; -ENOMEM.
 */
int lkdf_event_fd(struct lkdf_event e);

/**
 * lkdf_event_from_fd() - an event that fires when a descriptor is ready
 * @rt:          runtime, borrowed; must outlive the event
 * @fd:          descriptor, the caller's; stays open until the event has fired
 *               or its last reference is dropped
 * @poll_events: POLLIN, POLLOUT, POLLPRI, POLLRDHUP; 0 is taken as POLLIN
 * @out:         event with one reference, dropped by lkdf_event_wait() or
 *               lkdf_event_put(); untouched on failure
 *
 * The event fires once, with error 0 also where the other side has hung up,
 * which a read tells then. The polling lives in no scope of the program: only a
 * wait for the event waits for it. The polling ends when the event has no
 * reference left, or with lkdf_close(): then the event fires with -ECANCELED.
 *
 * Context: any thread, bodies included, does not block; may create threads.
 * With serial=yes the descriptor is looked at while a thread waits in a call
 * of the library.
 * Return: 0; -EBADF; -EINVAL; -EAGAIN all slots are in use, or no thread to be
 * had; -ENOMEM.
 */
int lkdf_event_from_fd(struct lkdf *rt, int fd, short poll_events,
		       struct lkdf_event *out);

/**
 * lkdf_poll_add() - let the runtime call a function that looks for completions
 * @rt: runtime, borrowed
 * @fn: asks, without waiting, what nobody tells the runtime: a message library,
 *      a device. It returns a positive number if it has found something, 0 if
 *      not, a negative number if it is to be called no more. It signals events
 *      and submits tasks for what it finds
 * @u:  the caller's; lives until @fn has returned a negative number or
 *      lkdf_poll_remove() has returned
 *
 * Workers that look for work call @fn each time round, busy ones between two
 * bodies. Once @fn has found something, an idle worker calls it again without a
 * pause, until it has found nothing for 5 us or the worker has a task to run,
 * and for 50 us at most. While all workers sleep, one of them wakes for it:
 * after 20 us, then after twice as long up to 1 ms, and after 20 us again once
 * @fn has found something. The runtime calls one such function at a time, on
 * one thread, so a library that wants to be called by one thread at a time may
 * be called there and nowhere else. An entry for each call of lkdf_poll_add()
 * is kept.
 *
 * Context: any thread, bodies and such functions included, does not block. @fn
 * must not wait, nor close the runtime. With serial=yes the runtime calls @fn
 * while a thread waits in a call of the library.
 * Return: 0; -EINVAL; -ENOMEM.
 */
int lkdf_poll_add(struct lkdf *rt, int (*fn)(void *u), void *u);

/**
 * lkdf_poll_remove() - undo lkdf_poll_add()
 * @rt: runtime
 * @fn: as it was added
 * @u:  as it was added
 *
 * All entries with this @fn and @u go. When the call returns, no other thread
 * is in @fn with @u. lkdf_close() removes the entries that are left.
 *
 * Context: any thread, bodies and such functions included; waits for a call of
 * @fn that is under way on another thread.
 * Return: 0; -ENOENT there is none; -EINVAL.
 */
int lkdf_poll_remove(struct lkdf *rt, int (*fn)(void *u), void *u);

/**
 * lkdf_event_put() - drop a reference without waiting
 * @e: event; { 0 } is ignored
 */
void lkdf_event_put(struct lkdf_event e);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
