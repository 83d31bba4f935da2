/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Loops, branches and streams as sealed graphs, by the public interface only.
 */
#ifndef TESTS_BENCH_LKDF_CONTROL_H
#define TESTS_BENCH_LKDF_CONTROL_H

#include "tests/bench/control.h"

#include <lkdf/lkdf.h>

/* Borrows the runtime and the steps; builds and seals. 0 or -errno. */
int lkdf_control_open(struct lkdf *rt, struct control *c,
		      struct lkdf_graph **out);
/* All iterations or runs of a control that is new. 0 or -errno. */
int lkdf_control_run(const struct control *c, struct lkdf_graph *g);

struct lkdf_stream_stage {
	struct lkdf_stream *of;
	uint32_t stage;
};

struct lkdf_stream {
	struct stream *stream;
	struct lkdf_graph *graph;
	uint64_t first; /* lkdf_seq() of token 0 */
	struct lkdf_stream_stage arg[STREAM_STAGES];
	struct lkdf_feed *feed; /* of a stream that is fed */
};

int lkdf_stream_open(struct lkdf_stream *l, struct lkdf *rt, struct stream *s);
void lkdf_stream_close(struct lkdf_stream *l);
/* All tokens of a stream that is new. 0 or -errno. */
int lkdf_stream_run(struct lkdf_stream *l);

#endif
