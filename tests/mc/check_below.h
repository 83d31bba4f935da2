/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Rooms that the product's code calls with options check and order only. */
#ifndef TESTS_MC_CHECK_BELOW_H
#define TESTS_MC_CHECK_BELOW_H

#include "check/fiber.h"
#include "mc.h"
#include "run/checked_run.h"

uint64_t *event_token(struct check *ch, const void *slot, uint32_t gen)
{
	(void)ch;
	(void)slot;
	(void)gen;
	mc_assert(!"no option check");
	return NULL;
}

uint64_t *check_tokens(size_t nr)
{
	(void)nr;
	mc_assert(!"no option check");
	return NULL;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"

#define NOT_CALLED(name, ...)                  \
	void name(__VA_ARGS__)                 \
	{                                      \
		mc_assert(!"no option check"); \
	}

NOT_CALLED(check_forget, uint64_t *t)
NOT_CALLED(check_acquire, struct check *ch, uint64_t *t)
NOT_CALLED(check_release, struct check *ch, uint64_t *t)
NOT_CALLED(check_pass, struct check *ch, uint64_t *from, uint64_t *to)
NOT_CALLED(check_reads, struct check *ch, const void *p, size_t size)
NOT_CALLED(check_writes, struct check *ch, void *p, size_t size)
NOT_CALLED(checked_run_begins, struct frame *f)
NOT_CALLED(checked_run_again, struct frame *f)
NOT_CALLED(checked_stream_begins, struct lkdf_graph *g)
NOT_CALLED(checked_run_drop, struct frame *f, void (*drop)(void *v), void *v)

#pragma GCC diagnostic pop

bool checked_run_until(struct frame *f, bool (*until)(void *u), void *u)
{
	(void)f;
	mc_assert(!"no option check");
	return until(u);
}

#endif
