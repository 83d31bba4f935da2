/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "rt/check_part.h"

#include "base/err.h"
#include "base/options.h"
#include "check/fiber.h"
#include "check/notes.h"
#include "core/runtime.h"
#include "mem/heap.h"

#include <errno.h>
#include <lkdf/runtime.h>

int check_part_open(struct lkdf *rt)
{
	int rc;

	rt->notes = notes_open(rt->options->check_log);
	rt->heap->notes = rt->notes;
	if (!rt->options->check) {
		notes_runtime(rt->notes, "none");
		return 0;
	}
	rc = check_open(&rt->sched.order, rt->options->check == CHECK_ATOMICS,
			&rt->check);
	if (rc == -ENOMEM)
		return rc;
	notes_runtime(rt->notes, rt->check	     ? "sanitizer"
				 : check_is_linked() ? "linked"
						     : "none");
	if (rc)
		log_text(&rt->log, LKDF_LOG_ERROR, "%s", err_text());
	if (!rt->check)
		return 0;
	rt->heap->fresh = check_alloc;
	rt->heap->forget = check_free;
	return 0;
}

void check_part_close(struct lkdf *rt)
{
	uint64_t bodies, shared;

	notes_close(rt->notes);
	rt->notes = rt->heap->notes = NULL;
	if (!rt->check)
		return;
	check_count(rt->check, &bodies, &shared);
	log_text(&rt->log, LKDF_LOG_INFO,
		 "check: %llu bodies, of which %llu shared a fiber",
		 (unsigned long long)bodies, (unsigned long long)shared);
	check_close(rt->check);
	rt->check = NULL;
}
