/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Running sums, sorting and searching, on the calling thread and all workers.
 *
 * Each call consists of one or more loops, see loop.h, and may be made where
 * lkdf_for() may: on a thread of the program, in a body, in a function of a
 * loop, and in a body of another runtime. It waits only for its own blocks. In
 * a body, or a function of a loop, of the same runtime it runs in the scope of
 * that body, so a cancel of the scope ends it.
 */
#ifndef LKDF_ALGORITHM_H
#define LKDF_ALGORITHM_H

#include <lkdf/loop.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/*
 * fn adds the iterations of a block to acc, which is a copy of the neutral
 * value; join adds x, of later iterations, to acc. write gets the sum of all
 * iterations before the block in acc, which it may change, and stores the
 * results of the block.
 */
struct lkdf_scan_attr {
	uint32_t size, flags; /* flags: 0 */
	struct lkdf_range range;
	int (*fn)(uint64_t begin, uint64_t end, void *acc, void *u);
	int (*write)(uint64_t begin, uint64_t end, void *acc, void *u);
	int (*join)(void *acc, const void *x, void *u);
	void *u;
	void *acc; /* in: the neutral value; out: the sum of all */
	uint64_t acc_bytes;
	struct lkdf_scope *scope; /* NULL: the body's, or the root */
	const char *name; /* for hooks and recordings; may be NULL */
};

/**
 * lkdf_scan() - compute running sums of a range
 * @rt: runtime
 * @a:  borrowed; range, fn, write, join, acc and acc_bytes (1 .. 2^30) at least
 *
 * The library cuts the range as lkdf_reduce() does, and calls @a->fn once for
 * each block. Then it joins the sums in the order of the range on this thread,
 * and calls @a->write once for each block. So each iteration is visited twice,
 * and results are the same each time, on any number of workers, also those of
 * floating point. write() may store over what fn() reads.
 *
 * Context: as lkdf_for().
 * Return: as lkdf_reduce(). After an error acc is untouched, and write() has
 * been called for some blocks or for none.
 */
int lkdf_scan(struct lkdf *rt, const struct lkdf_scan_attr *a);

/* < 0: a comes before b; 0: either may; > 0: b comes before a. */
typedef int (*lkdf_compare)(const void *a, const void *b, void *u);

struct lkdf_sort_attr {
	uint32_t size, flags; /* flags: 0 */
	void *base; /* nr elements, without gaps */
	uint64_t nr, bytes; /* bytes: of one element, 1 .. 2^30 */
	lkdf_compare compare; /* called on many threads at once */
	void *u;
	struct lkdf_scope *scope; /* NULL: the body's, or the root */
	const char *name; /* for hooks and recordings; may be NULL */
};

/**
 * lkdf_sort() - sort an array
 * @rt: runtime
 * @a:  borrowed; base, nr, bytes and compare at least
 *
 * The sort is stable: elements that compare equal keep their order. It takes
 * memory for as many elements again. compare gets addresses in the array or in
 * that memory, which is aligned to 64 bytes, and changes nothing.
 *
 * If compare is inconsistent, the order of the elements is undefined, but the
 * call never accesses memory outside the array.
 *
 * Context: as lkdf_for().
 * Return: 0; -EINVAL; -ECANCELED or the error with which the scope was
 * cancelled; -ENOMEM; -EAGAIN more events live than the runtime has slots.
 * After an error the array holds all of its elements, in any order.
 */
int lkdf_sort(struct lkdf *rt, const struct lkdf_sort_attr *a);

/*
 * fn looks for the first hit of a block: 1 with its number in *at; 0 there is
 * none; < 0 failed with that errno.
 */
struct lkdf_find_attr {
	uint32_t size, flags; /* flags: 0 */
	struct lkdf_range range;
	int (*fn)(uint64_t begin, uint64_t end, uint64_t *at, void *u);
	void *u;
	struct lkdf_scope *scope; /* NULL: the body's, or the root */
	const char *name; /* for hooks and recordings; may be NULL */
};

/**
 * lkdf_find() - find the first iteration of a range that is a hit
 * @rt: runtime
 * @a:  borrowed; range and fn at least
 * @at: receives its number; may be NULL
 *
 * Threads take blocks of grain iterations (0: at most 1024 blocks) in the order
 * of the range. After a hit no thread begins a block of later iterations, but
 * blocks that have begun run to their end. The result is the same as that of a
 * sequential loop: an error after the first hit does not count, and neither
 * does a hit after the first error.
 *
 * Context: as lkdf_for().
 * Return: 1 found; 0 not found; the error of @a->fn; as lkdf_for(). -ERANGE
 * @a->fn has named a number outside its block.
 */
int lkdf_find(struct lkdf *rt, const struct lkdf_find_attr *a, uint64_t *at);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
