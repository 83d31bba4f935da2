/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Streams whose stages are short: waves are judged by policy/solo.h in turns
 * of STREAM_TURN, in waves a second, and go solo where that is faster. Then one
 * worker begins all waves and keeps what comes of them
 * (mechanism/holdoff/holdoff.h).
 */
#ifndef RUN_STREAM_SOLO_H
#define RUN_STREAM_SOLO_H

#include "run/stream.h"

struct frame;
struct lkdf_graph;

/* At seal: may its waves go solo? */
void stream_solo_init(struct lkdf_graph *g);

/* A stream is about to begin; its waves are shared at first. */
void stream_solo_begin(struct stream *s);

/* The worker has ended the last wave of a turn, which is the frame's. */
void stream_judge(struct worker *w, struct frame *f);

/* The worker is about to begin all waves. */
void stream_solo_gathered(struct worker *w, struct stream *s);

/* The worker has ended the last wave. */
void stream_solo_end(struct worker *w, struct stream *s);

#endif
