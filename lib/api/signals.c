/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include <lkdf/signals.h>

#include "api/border.h"
#include "core/signals.h"
#include "data/facts.h"
#include "signal/workers.h"
#include "task/narrowing.h"

#include <string.h>

_Static_assert(sizeof(struct lkdf_fact) == 24, "fact");

int lkdf_signals(struct lkdf *rt, int worker, struct lkdf_facts *out)
{
	struct lkdf_facts s;
	uint32_t size;
	int rc = border_runtime(rt);

	if (rc)
		return rc;
	if (!out || out->size < offsetof(struct lkdf_facts, user_ns))
		return err(-EINVAL,
			   "signals: out is NULL, or its size not set");
	if (worker < -1 || worker >= rt->nr_executors)
		return err(-ENOENT, "signals: worker %d, there are %d", worker,
			   rt->nr_executors);
	size = out->size;
	workers_read(&rt->signals, worker, &s);
	facts_tell(rt, worker, &s);
	if (worker < 0) {
		signals_tell(rt, &s);
		narrowing_tell(rt, &s);
	}
	s.size = size;
	/* A caller of a later version finds that nobody knows the rest. */
	memset(out, 0, size);
	memcpy(out, &s, size < sizeof(s) ? size : sizeof(s));
	return 0;
}
