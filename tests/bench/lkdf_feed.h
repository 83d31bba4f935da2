/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A stream that is fed: a task sends messages to a channel, as many as may be
 * under way, and goes on when there is room; the stream's first stage receives
 * them. By the public interface only.
 */
#ifndef TESTS_BENCH_LKDF_FEED_H
#define TESTS_BENCH_LKDF_FEED_H

#include "tests/bench/control.h"

#include <lkdf/lkdf.h>

struct lkdf_feed;

/* Borrows the runtime and the stream; builds and seals. 0 or -errno. */
int lkdf_feed_open(struct lkdf *rt, struct stream *s, struct lkdf_feed **out);
void lkdf_feed_close(struct lkdf_feed *f);
/* All tokens of a stream that is new. 0 or -errno. */
int lkdf_feed_run(struct lkdf_feed *f);

#endif
