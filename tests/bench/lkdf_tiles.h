/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The operations on tiles as tasks of lkdf: one data for each tile. */
#ifndef TESTS_BENCH_LKDF_TILES_H
#define TESTS_BENCH_LKDF_TILES_H

#include "tests/bench/tiles.h"

#include <lkdf/lkdf.h>

struct lkdf_tiles {
	struct lkdf *rt;
	struct lkdf_kind *kind;
	struct tiles *tiles;
	struct lkdf_data **data;
};

/* Borrows the runtime and the tiles. 0 or -errno. */
int lkdf_tiles_open(struct lkdf_tiles *l, struct lkdf *rt, struct tiles *t);
void lkdf_tiles_close(struct lkdf_tiles *l);

/* Submits all operations and waits. 0 or -errno. */
int lkdf_tiles_run(struct lkdf_tiles *l);

#endif
