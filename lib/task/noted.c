/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "task/noted.h"

#include "base/clock.h"

int noted_time(const struct lkdf_kind *k, struct lkdf_ctx *c, lkdf_fn fn,
	       void *arg, struct kind_row *row)
{
	uint64_t stands_for = kind_row_begin(row);
	uint64_t begin = clock_ticks(), ticks;
	int rc = body_call(fn, c, arg);

	ticks = clock_ticks() - begin;
	if (unlikely(c->after < 0) && c->put_off) {
		kind_row_uncount(row, stands_for);
		return rc;
	}
	ticks -= min_u64(ticks, k->clock_ticks);
	/* Beside that the clock is nothing. */
	kind_row_end(row, stands_for, ticks, ticks >= k->spin_ticks / 8);
	return rc;
}

int noted_count(const struct lkdf_kind *k, struct lkdf_ctx *c, lkdf_fn fn,
		void *arg)
{
	_Atomic(uint32_t) *noted = &c->ex->noted;
	uint32_t outer = a_load(noted, relaxed);
	int rc;

	a_store(noted, k->trace_name, relaxed);
	rc = noted_body(k, c, fn, arg);
	a_store(noted, outer, relaxed);
	return rc;
}
