/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "core/completion.h"

#include "core/runtime.h"

static const struct completion_ops *const *rows_of(const struct worker *w)
{
	const struct lkdf *rt = w->executor->rt;

	return rt->completions;
}

void completion_look(struct worker *w, uint64_t next)
{
	struct completions *c;

	for (c = w->io.completions; c; c = c->next)
		c->ops->look(c, next);
}

void completion_guard(struct worker *w)
{
	const struct completion_ops *const *row;

	for (row = rows_of(w); *row; row++)
		(*row)->guard(w);
}

bool completion_poll(struct worker *w)
{
	const struct completion_ops *const *row;
	bool has_some = false;

	for (row = rows_of(w); *row; row++)
		has_some |= (*row)->poll(w);
	return has_some;
}

int64_t completion_nap(struct worker *w)
{
	const struct completion_ops *const *row;
	uint64_t nap = UINT64_MAX;

	for (row = rows_of(w); *row && nap; row++)
		nap = min_u64(nap, (uint64_t)(*row)->nap(w));
	return (int64_t)nap;
}

void completion_leave(struct worker *w)
{
	const struct completion_ops *const *row;

	for (row = rows_of(w); *row; row++)
		(*row)->leave(w);
}

bool completion_stays(struct worker *w)
{
	const struct completions *c = w->io.completions;

	while (c && !c->ops->stays(c))
		c = c->next;
	return c != NULL;
}

bool completion_wait(struct worker *w, int64_t nap_ns)
{
	const struct completion_ops *const *row;
	bool has_waited = false;

	for (row = rows_of(w); *row; row++)
		has_waited |= (*row)->wait(w, has_waited ? 0 : nap_ns);
	return has_waited;
}

bool completion_sleep(struct lkdf *rt, int64_t timeout_ns)
{
	const struct completion_ops *const *row;
	bool has_slept = false;

	for (row = rt->completions; *row; row++)
		if ((*row)->sleep(rt, has_slept ? 0 : timeout_ns))
			has_slept = true;
	return has_slept;
}

void completion_kick(struct lkdf *rt)
{
	const struct completion_ops *const *row;

	for (row = rt->completions; *row; row++)
		(*row)->kick(rt);
}
