/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * An event is a completion, past or future. It is a value of 16 bytes: a slot
 * of the runtime and a generation number. So the library recognises a stale
 * event, and a call with one returns -ESTALE.
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
	int32_t id, worker; /* id: task number in its graph; -1: not of a
			     * graph */
	char graph[32], task[64], why[160];
	uint64_t nr_unchosen; /* tasks that no branch has chosen */
};

enum lkdf_event_flag {
	LKDF_EVENT_PULSE = 1, /* may be signalled many times, see
			       * lkdf_event_create() */
};

/**
 * lkdf_event_create() - make an event that the program signals
 * @rt:    runtime, borrowed; must outlive the event
 * @count: the event fires at this signal; 0 counts as 1
 * @flags: 0 or LKDF_EVENT_PULSE
 * @out:   event with two references: lkdf_event_wait() or lkdf_event_put()
 *         drops one, the last signal the other. With PULSE it has one
 *         reference, which lkdf_event_put() drops
 *
 * An event with PULSE can be signalled many times. lkdf_event_signal() with
 * error 0 releases everything that waits for the event at that moment: threads
 * in lkdf_event_wait() and lkdf_event_next(), tasks that start after the event
 * or wait for it with lkdf_then(), events of lkdf_event_any() and descriptors
 * of lkdf_event_fd(). Later waits wait for the next signal. Functions of
 * lkdf_event_call() stay registered: the runtime calls each of them once for
 * each signal. No signal allocates memory. A signal with an error ends the
 * event: it fires once and for all, as other events do.
 *
 * A wait and lkdf_then() leave the caller its reference to a PULSE event. A
 * thread that signals must hold a reference: without any, the call returns
 * -ESTALE.
 *
 * Return: 0; -EAGAIN all event slots are in use; -EINVAL unknown flags, or
 * @count is more than 2^20 - 1, with PULSE more than 1; -ENOMEM.
 */
int lkdf_event_create(struct lkdf *rt, uint32_t count, uint32_t flags,
		      struct lkdf_event *out);

/**
 * lkdf_event_label() - name an event
 * @e:     event, the caller keeps its reference
 * @label: copied, 63 bytes at most; NULL or "" removes the name
 *
 * The name is in lkdf_why() and in the error text of a wait.
 *
 * Context: any thread, bodies included, does not block.
 * Return: 0; -ESTALE no such event; -EINVAL; -ENOMEM.
 */
int lkdf_event_label(struct lkdf_event e, const char *label);

/**
 * lkdf_event_signal() - count one completion of an event
 * @e:   event
 * @err: 0 or a negative errno; the event keeps the first error
 *
 * Context: any thread, bodies included, but not a signal handler.
 * Return: 0; -ESTALE the event has fired before or has no reference left;
 * -EPERM it is not an event of lkdf_event_create() or lkdf_hold(); -EINVAL.
 */
int lkdf_event_signal(struct lkdf_event e, int err);

/**
 * lkdf_event_pulses() - how often a PULSE event has been signalled
 * @e:  event with LKDF_EVENT_PULSE
 * @nr: signals so far, including one that has ended the event
 *
 * A body that calls lkdf_then() and then this function misses no signal: a
 * signal before lkdf_then() is counted, and a later one calls the continuation.
 *
 * Context: any thread, bodies included, does not block.
 * Return: 0; -EINVAL @nr is NULL, or the event has no PULSE; -ESTALE no such
 * event.
 */
int lkdf_event_pulses(struct lkdf_event e, uint64_t *nr);

/**
 * lkdf_event_next() - wait until an event has more signals than the caller has
 * seen
 * @e:          event with LKDF_EVENT_PULSE, the caller keeps its reference
 * @seen:       number of signals that the caller has seen, see
 *              lkdf_event_pulses()
 * @timeout_ns: >= 0, or -1 for ever
 *
 * The call returns at once if there were more than @seen, so no signal between
 * two calls is lost. lkdf_event_wait(), in contrast, waits for the next one.
 *
 * Context: any thread that is not in a body; with @timeout_ns 0 bodies as well.
 * Return: 0 there are more signals; 1 the time is over; the error that has
 * ended the event; -EDEADLK in a body; -ESTALE the event has no reference left;
 * -EINVAL.
 */
int lkdf_event_next(struct lkdf_event e, uint64_t seen, int64_t timeout_ns);

/**
 * lkdf_event_wait() - wait until an event has fired, and drop the reference
 * @e:          event
 * @timeout_ns: >= 0, or -1 for ever
 *
 * For an event with LKDF_EVENT_PULSE the call waits for the next signal, and
 * the caller always keeps the reference.
 *
 * Context: any thread that is not in a body.
 * Return: 0 or the event's error: the reference is dropped; 1 the time is over:
 * the caller keeps the reference; -EDEADLK in a body; -ESTALE the event has no
 * reference left; -EINVAL @timeout_ns is less than -1, or @e is { 0 }.
 */
int lkdf_event_wait(struct lkdf_event e, int64_t timeout_ns);

/**
 * lkdf_event_error() - which task failed and why
 * @e:   event, fired, before its reference is dropped
 * @out: size set by the caller
 *
 * After a run without errors err is 0, and the counts are valid, for instance
 * that of tasks that no branch chose; they are totals of all repetitions or
 * waves. If a body calls this for the event of its own child, the child's error
 * counts as handled: the body's task does not end with it.
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
 * error; lkdf_event_error() has the details. If several have fired before the
 * call, the first of them in @v counts. When the new event fires or loses its
 * last reference, it is removed from the lists of the others: a long-lived
 * event may be in any number of calls.
 *
 * Context: any thread, bodies included, does not block.
 * Return: 0; -ESTALE an event has no reference left; -EINVAL; -E2BIG too many
 * events, or they are nested more than 64 deep; -EAGAIN all event slots are in
 * use; -ENOMEM.
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
 * The new event fires when all events of @v have fired. Its error is that of
 * the first to fail; lkdf_event_error() has the details. If it loses its last
 * reference before, it is removed from the lists of the others.
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
 * @which:      receives the index in @v of the first event
 *
 * Context: as lkdf_event_wait(); with a timeout of 0 any thread, bodies
 * included.
 * Return: 0, also if the event has an error; 1 the time is over; -EINVAL not an
 * event of lkdf_event_any(), or @timeout_ns is less than -1; -EDEADLK in a
 * body; -ESTALE the event has no reference left.
 */
int lkdf_event_which(struct lkdf_event e, int64_t timeout_ns, unsigned *which);

/**
 * lkdf_event_call() - call a function when an event has fired
 * @e:  event, the caller keeps its reference
 * @fn: called once with u and the event's error
 * @u:  argument of @fn; must stay valid until then
 *
 * The library keeps a reference until @fn has returned, so @fn may use a copy
 * of @e. The library does not call @fn if the runtime closes first. With
 * LKDF_EVENT_PULSE the library calls @fn for each signal, one call at a time,
 * and for the last time with the error that ends the event, which drops the
 * reference.
 *
 * Context: any thread, bodies included. @fn runs on the thread that makes the
 * event fire: a thread of the runtime, or one that calls for instance
 * lkdf_event_signal(). If the event has fired before, @fn runs at once on the
 * calling thread. Keep @fn short, because it delays its thread. It may signal,
 * submit, run graphs and put handles; it must not wait or close the runtime.
 * While the runtime closes, it must not start anything.
 * Return: 0; -ESTALE no such event; -EINVAL; -ENOMEM.
 */
int lkdf_event_call(struct lkdf_event e, void (*fn)(void *u, int err), void *u);

/**
 * lkdf_event_fd() - get a descriptor of an event for poll and epoll
 * @e: event, the caller keeps its reference
 *
 * When the event fires, or the runtime closes, the descriptor becomes readable
 * and stays so: poll(2) reports POLLIN and POLLHUP, and a read returns 0. The
 * program may close the descriptor at any time, also while epoll watches it; it
 * has O_CLOEXEC. The library keeps a second descriptor open until the event
 * fires.
 *
 * Context: any thread, bodies included. The event fires without a thread that
 * waits for it, except with serial=yes: then it fires only while a thread is in
 * a call of the library.
 * Return: the descriptor, which the caller closes; -EMFILE, -ENFILE; -ESTALE
 * the event has no reference left; -EINVAL; -ENOMEM.
 */
int lkdf_event_fd(struct lkdf_event e);

/**
 * lkdf_event_from_fd() - an event that fires when a descriptor is ready
 * @rt:          runtime, borrowed; must outlive the event
 * @fd:          descriptor, owned by the caller; must stay open until the event
 *               has fired or has no reference left
 * @poll_events: POLLIN, POLLOUT, POLLPRI, POLLRDHUP; 0 means POLLIN
 * @out:         event with one reference, dropped by lkdf_event_wait() or
 *               lkdf_event_put(); untouched on failure
 *
 * The event fires once. Its error is 0 even if the other side has hung up; a
 * read of the descriptor reports that. The poll belongs to no scope, so
 * lkdf_scope_wait() does not wait for it. It ends when the event has no
 * reference left, or with lkdf_close(): then the event fires with -ECANCELED.
 *
 * Context: any thread, bodies included, does not block; may create threads.
 * With serial=yes the library polls only while a thread waits in one of its
 * calls.
 * Return: 0; -EBADF; -EINVAL; -EAGAIN all event slots are in use, or the system
 * has no more threads; -ENOMEM.
 */
int lkdf_event_from_fd(struct lkdf *rt, int fd, short poll_events,
		       struct lkdf_event *out);

/**
 * lkdf_poll_add() - let workers call a function that polls for completions
 * @rt: runtime, borrowed
 * @fn: polls something that cannot notify the runtime, such as a message
 *      library or a device. It must not wait. It signals events and submits
 *      tasks for what it finds. It returns a positive number if it has found
 *      something, 0 if not, and a negative number to be removed
 * @u:  argument of @fn; valid until @fn has returned a negative number or
 *      lkdf_poll_remove() has returned
 *
 * Idle workers call @fn while they look for tasks, busy workers between two
 * bodies. When @fn has found something, an idle worker calls it again without a
 * pause until @fn has found nothing for 5 us, until a task is ready, or for 50
 * us at most. While all workers sleep, one of them wakes to call @fn: after 20
 * us, then after twice the time, up to 1 ms, and after 20 us again when @fn has
 * found something. The runtime calls only one such function at a time, so @fn
 * may call a library that is not thread-safe if no other code does. Each call
 * of lkdf_poll_add() adds an entry.
 *
 * Context: any thread, bodies and such functions included, does not block. @fn
 * must not close the runtime. With serial=yes the runtime calls @fn while a
 * thread waits in a call of the library.
 * Return: 0; -EINVAL; -ENOMEM.
 */
int lkdf_poll_add(struct lkdf *rt, int (*fn)(void *u), void *u);

/**
 * lkdf_poll_remove() - undo lkdf_poll_add()
 * @rt: runtime
 * @fn: as it was added
 * @u:  as it was added
 *
 * The call removes all entries with this @fn and @u. When it returns, no other
 * thread runs @fn with @u. lkdf_close() removes the entries that are left.
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
