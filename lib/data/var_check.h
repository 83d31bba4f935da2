/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Option check: what uses of a var hear of those before them, see var_check.c.
 */
#ifndef DATA_VAR_CHECK_H
#define DATA_VAR_CHECK_H

#include "data/var.h"

#define TURN_HELD NR_TURNS /* the token of those that commute */

struct check;

/* The token that one of those that commute has at a time; NULL: no memory. */
uint64_t *var_held(struct var *v);

/* A use of that way begins, or ends: enum turn. */
void var_hear(struct check *ch, struct var *v, unsigned turn);
void var_tell(struct check *ch, struct var *v, unsigned turn);

/* Nobody uses it any more. */
void var_forget(struct var *v);

#endif
