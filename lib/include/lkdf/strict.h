/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Strict tasks from plain C functions: all parameters are in ports, the result
 * is the out port.
 *
 *	static int add(int a, int b) { return a + b; }
 *	LKDF_STRICT2(sum, add, int, int, int);
 *	...
 *	rc = lkdf_kind_create(rt, &sum_kind, &k);
 *
 * LKDF_STRICTn(id, fn, R, A1 .. An) makes id_body and id_kind, a struct
 * lkdf_kind_attr whose name is "id", for a function of n parameters (0 to 4)
 * with result type R. Types are copied as bytes, at most LKDF_MAX_VALUE each.
 * Such a task needs all its inputs: an edge that is dead skips it.
 */
#ifndef LKDF_STRICT_H
#define LKDF_STRICT_H

#include <lkdf/port.h>

#define LKDF_STRICT_IN(n, T) (*(const T *)lkdf_in(c, n))
#define LKDF_STRICT_COMMA ,

#define LKDF_STRICT_KIND(id, nr, ins, R, call)                 \
	static int id##_body(struct lkdf_ctx *c, void *arg)    \
	{                                                      \
		(void)arg;                                     \
		*(R *)lkdf_out(c, 0) = call;                   \
		return 0;                                      \
	}                                                      \
	static const uint32_t id##_in_size[] = { ins };        \
	static const uint32_t id##_out_size[] = { sizeof(R) }; \
	static const struct lkdf_kind_attr id##_kind = {       \
		.size = sizeof(struct lkdf_kind_attr),         \
		.name = #id,                                   \
		.fn = id##_body,                               \
		.nr_in = nr,                                   \
		.nr_out = 1,                                   \
		.in_size = id##_in_size,                       \
		.out_size = id##_out_size,                     \
	}

#define LKDF_STRICT0(id, fn, R) LKDF_STRICT_KIND(id, 0, 0, R, fn())
#define LKDF_STRICT1(id, fn, R, A) \
	LKDF_STRICT_KIND(id, 1, sizeof(A), R, fn(LKDF_STRICT_IN(0, A)))
#define LKDF_STRICT2(id, fn, R, A, B)                                     \
	LKDF_STRICT_KIND(id, 2, sizeof(A) LKDF_STRICT_COMMA sizeof(B), R, \
			 fn(LKDF_STRICT_IN(0, A), LKDF_STRICT_IN(1, B)))
#define LKDF_STRICT3(id, fn, R, A, B, C)                                \
	LKDF_STRICT_KIND(id, 3,                                         \
			 sizeof(A) LKDF_STRICT_COMMA sizeof(B)          \
				 LKDF_STRICT_COMMA sizeof(C),           \
			 R,                                             \
			 fn(LKDF_STRICT_IN(0, A), LKDF_STRICT_IN(1, B), \
			    LKDF_STRICT_IN(2, C)))
#define LKDF_STRICT4(id, fn, R, A, B, C, D)                             \
	LKDF_STRICT_KIND(id, 4,                                         \
			 sizeof(A) LKDF_STRICT_COMMA sizeof(B)          \
				 LKDF_STRICT_COMMA sizeof(C)            \
					 LKDF_STRICT_COMMA sizeof(D),   \
			 R,                                             \
			 fn(LKDF_STRICT_IN(0, A), LKDF_STRICT_IN(1, B), \
			    LKDF_STRICT_IN(2, C), LKDF_STRICT_IN(3, D)))

#endif
