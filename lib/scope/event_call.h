/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A function of the user, or a descriptor of the user's own loop, that is told
 * when an event fires.
 */
#ifndef SCOPE_EVENT_CALL_H
#define SCOPE_EVENT_CALL_H

#include "scope/event.h"

/* As lkdf_event_call(). */
int event_call(struct lkdf_event e, void (*fn)(void *u, int error), void *u);

/* As lkdf_event_fd(). */
int event_fd(struct lkdf_event e);

#endif
