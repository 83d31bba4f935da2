/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * One completion that has happened or will. A value of 16 bytes: a slot and
 * the generation in it, so a stale one is recognised, never followed.
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
};

enum lkdf_event_flag {
	LKDF_EVENT_PULSE = 1, /* may be signalled again and again */
};

/**
 * lkdf_event_create() - an event that user code signals
 * @rt:    runtime, borrowed; must outlive the event
 * @count: fires at the count'th signal; 0 is taken as 1
 * @flags: 0
 * @out:   event with two references: one that lkdf_event_wait() or
 *         lkdf_event_put() drops, one that the last signal drops
 *
 * Return: 0; -EAGAIN all slots are in use; -EOPNOTSUPP PULSE; -ENOMEM.
 */
int lkdf_event_create(struct lkdf *rt, uint32_t count, uint32_t flags,
		      struct lkdf_event *out);

/**
 * lkdf_event_signal() - one of count completions has happened
 * @e:   event
 * @err: 0 or a negative errno; the first error stays
 *
 * Context: any thread, bodies included, no signal handler.
 * Return: 0; -ESTALE it has fired already or its slot was given on; -EPERM it
 * belongs to a task or a run; -EINVAL.
 */
int lkdf_event_signal(struct lkdf_event e, int err);

/**
 * lkdf_event_wait() - wait until it has fired and drop the reference
 * @e:          event
 * @timeout_ns: >= 0, or -1 for ever
 *
 * Context: any thread that is not in a body.
 * Return: 0 or the event's error, reference dropped; 1 still pending,
 * reference kept; -EDEADLK in a body, -ESTALE no such event.
 */
int lkdf_event_wait(struct lkdf_event e, int64_t timeout_ns);

/**
 * lkdf_event_error() - which task failed and why
 * @e:   event, fired, before its reference is dropped
 * @out: size set by the caller
 *
 * Return: 0; 1 still pending; -ESTALE; -EINVAL.
 */
int lkdf_event_error(struct lkdf_event e, struct lkdf_error *out);

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
