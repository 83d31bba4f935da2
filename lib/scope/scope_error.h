/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The errors of a scope: the first that nobody has seen, which a wait returns;
 * one that a scope below has kept, and those that no scope has kept, for when
 * the first is seen elsewhere: by an event, or by a scope below.
 */
#ifndef SCOPE_SCOPE_ERROR_H
#define SCOPE_SCOPE_ERROR_H

#include "scope/scope.h"

/* The scope is empty: its error, or why it was cancelled, or 0; it is told. */
int scope_take_error(struct lkdf_scope *s);

/* With the scope: what nobody has seen goes to the log. */
void scope_fini_errors(struct lkdf_scope *s);

#endif
