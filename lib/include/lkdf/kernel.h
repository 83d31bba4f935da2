/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Reductions and scans on devices, from expressions as text: one text for
 * OpenCL C and for CUDA C, as with LKDF_KERNEL_LOOP (device.h).
 *
 * The items are cut into pieces, a piece for each block, and joined in two
 * levels. The number of items and the threads of a block decide the order of
 * the joins, and nothing else does: the result has the same bits each time.
 */
#ifndef LKDF_KERNEL_H
#define LKDF_KERNEL_H

#include <lkdf/device.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#define LKDF_FOLD_BLOCK 128 /* threads, where the user gives none */
#define LKDF_MAX_FOLD_BLOCK 1024

enum lkdf_fold_sort {
	LKDF_FOLD_REDUCE, /* the join of all items; it commutes */
	LKDF_FOLD_SCAN, /* for each item the join of it and those before */
	LKDF_FOLD_SCAN_EXCLUSIVE, /* for each item the join of those before */
};

struct lkdf_fold_attr {
	uint32_t size, sort; /* sort: enum lkdf_fold_sort */

	/*
	 * kind, param, range, type, top and begin as with LKDF_KERNEL_LOOP; one
	 * dimension; block[0] a power of two, 2 .. LKDF_MAX_FOLD_BLOCK; no
	 * code, no flags. With param NULL the parameters are all uses but
	 * result, in their order, and then the argument.
	 */
	const struct lkdf_kernel_attr *kernel;

	const char *value; /* type of the values, which top may declare */
	const char *init; /* expression of i, p0, p1 ...: value of an item */
	const char *join; /* expression of a and b, associative */
	const char *neutral; /* expression: join with it does not change a
			      * value */
	uint32_t value_size; /* bytes of a value; the compiler checks it */
	uint32_t result; /* number of the use that gets it, written: one value,
			  * or as many as there are items */
};

/* Attributes for one call, in C: LKDF_FOLD(.kernel = &k, .join = "a + b"). */
#define LKDF_FOLD(...) LKDF_ATTR(lkdf_fold_attr, __VA_ARGS__)

/**
 * lkdf_kind_create_fold() - make a kind whose tasks reduce or scan items on a
 * device
 * @rt:  runtime, borrowed; must outlive the kind
 * @a:   copied
 * @out: new kind, owned by the caller
 *
 * Tasks of the kind are kernels and fail as those of lkdf_kind_create_kernel()
 * do. A reduction of no items gives the neutral value; a scan of no items
 * changes nothing. The result may be the data that init reads: a thread reads
 * an item before it writes it.
 *
 * A device that runs such tasks has the name "opencl" or "cuda", ranges and
 * build; build gets one text and three entries, NAME_part, NAME_last and, for
 * scans, NAME_scan, where NAME is the name of the kind with _ for what is
 * neither a letter nor a digit.
 *
 * Context: any thread, does not block.
 * Return: 0; -EINVAL a field, named in lkdf_errmsg(); -E2BIG too many
 * parameters; -ENOMEM.
 */
int lkdf_kind_create_fold(struct lkdf *rt, const struct lkdf_fold_attr *a,
			  struct lkdf_kind **out);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
