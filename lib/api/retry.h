/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Bodies that are called again when they fail, by count: the function of such a
 * kind is ours and calls the user's, so that no other kind pays for it.
 */
#ifndef API_RETRY_H
#define API_RETRY_H

#include "task/kind.h"

/* Creates a plain kind whose nr_tries is more than 1. As kind_create(). */
int retry_create_kind(struct lkdf *rt, const struct lkdf_kind_attr *a,
		      struct lkdf_kind **out);

#endif
