/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The pieces of lkdf bench device --device cuda: runtimes with a card and their
 * kernels (device_cuda_side.c), what is measured (device_cuda_parts.c,
 * device_cuda_fault.c), and the rows (device_cuda.c).
 */
#ifndef TESTS_BENCH_SUITES_DEVICE_CUDA_H
#define TESTS_BENCH_SUITES_DEVICE_CUDA_H

#include "bench/bench.h"
#include "tests/bench/raw_cuda.h"

#include <lkdf/device.h>
#include <lkdf/lkdf.h>

#include <stdatomic.h>

#define CARD_WORKERS 2
#define CARD_NR 1000 /* kernels of a chain, and side by side */
#define CARD_REGION 10 /* kernels of a short graph */
#define CARD_IN_A_ROW 20 /* runs of it */
#define CARD_BLOCKS 8 /* of copies that overlap */
#define CARD_BLOCK_NS 600000 /* of their kernels */
#define CARD_LARGE_MIB 256

/* A runtime and what its tasks need. */
struct side {
	struct lkdf *rt;
	struct lkdf_place *place;
	struct lkdf_kind *empty, *step, *gate, *spin, *scratch, *stamp, *touch;
	struct lkdf_kind *wild; /* loses the card */
	struct lkdf_data *data;
	struct lkdf_graph *chain, *region;
};

struct cards {
	struct raw_cuda *raw;
	struct side plain, spinning; /* spinning: all threads do */
	unsigned large_mib; /* of each of these */
	void *pinned, *pageable, *block; /* block: the card's */
	struct lkdf_data *pair, *blocks[CARD_BLOCKS]; /* in pinned memory */
	_Atomic(int64_t) stamped_ns;
	int64_t raw_fault_ns, lkdf_fault_ns; /* or -errno */
	char why[96]; /* why there is no card */
};

/* A row. Both functions return ns of one sample, or -errno. */
struct card_part {
	const char *name, *peer;
	int64_t (*by_raw)(struct cards *c, const struct card_part *p);
	int64_t (*by_lkdf)(struct cards *c, const struct card_part *p);
	unsigned per; /* kernels of one sample */
	double more_us; /* on top of raw */
	double bar; /* at most, of the ratio */
	unsigned mib; /* of copies; CARD_LARGE_MIB: as many as there are */
	bool is_once; /* one round */
};

/* The last one has no name. */
extern const struct card_part card_parts[];

uint64_t card_bytes(const struct cards *c, const struct card_part *p);

/*
 * From a launch to the error of its fault, by the driver and by the library.
 * First: each is measured in a process of its own, for a fault ends all calls
 * of one.
 */
void device_cuda_faults(struct cards *c);

/* ---- runtimes ----------------------------------------------------------- */

/* -ENODEV: there is no card, which lkdf_errmsg() explains. */
int side_open(struct side *s, const char *options, const struct raw_cuda *r);
void side_close(struct side *s);

/* d: NULL, or what the task reads and writes; done: NULL, or its event. */
int side_submit(struct side *s, struct lkdf_kind *k, struct lkdf_data *d,
		struct lkdf_event *done);

/* The first word of the data is 0. */
int side_clear(struct lkdf_data *d);

/* The time since start, or an error: rc, or that the word is another one. */
int64_t side_check(struct lkdf_data *d, int64_t start, int rc, uint32_t word);

/* bench_fail() with the library's text. */
int64_t side_failed(const char *what, int rc);

#endif
