/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Bytes of data that a device alone has (device/offhost.h), and the host's
 * users of the data. A claim that was granted waits until they are home before
 * its holder is told; so no thread waits on its stack. Where no kernel has used
 * any data yet, that is one load.
 */
#ifndef DATA_OFFHOST_H
#define DATA_OFFHOST_H

#include "core/runtime.h"
#include "data/data.h"
#include "device/offhost.h"

/* NULL: no kernel has used it. */
static inline struct copies *data_copies(const struct lkdf_data *d)
{
	/* [copies.made] pairs with itself. */
	return a_load(&d->copies, acquire);
}

/* A driver knows their pages, and they stay. The asker has a use of them all.
 */
static inline bool data_is_pinned(const struct lkdf_data *d)
{
	const struct copies *c = data_copies(d);

	return c && pins_hold(&c->pinned);
}

/* Made with the first kernel. NULL: no memory. */
struct copies *data_make_copies(struct lkdf_data *d,
				struct device *const *devices);

/*
 * The use was granted; true: its bytes are away, and waiter is run when they
 * may be home. Then ask again, with all uses. Uses of a run with USE_LATER are
 * none of them: see run/offhost_run.h.
 */
bool offhost_use_waits(const struct use *u, struct blocking_item *waiter);
bool offhost_claim_waits(const struct claim *c, struct blocking_item *waiter);

static inline bool offhost_is_possible(const struct lkdf *rt)
{
	return unlikely(a_load(&rt->has_copies, relaxed));
}

/*
 * Granted, and home: an error of bytes that were lost becomes one of the var,
 * and copies are stale if the host is to write.
 */
void offhost_begin(const struct use *u, bool writes);
void offhost_begin_all(const struct claim *c);

#endif
