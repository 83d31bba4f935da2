/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* What the tests of channels share. */
#ifndef TESTS_API_CHANNEL_H
#define TESTS_API_CHANNEL_H

#include "tests/api/api.h"

#include <pthread.h>

__attribute__((unused)) static struct lkdf_channel *
channel_of(struct lkdf *rt, uint32_t value_size, uint32_t depth, uint32_t flags)
{
	struct lkdf_channel *ch = NULL;

	must(lkdf_channel_create(rt,
				 LKDF_CHANNEL(.name = "a channel",
					      .value_size = value_size,
					      .depth = depth, .flags = flags),
				 &ch));
	return ch;
}

__attribute__((unused)) static struct lkdf_channel *
named(struct lkdf *rt, const char *name, uint32_t depth)
{
	struct lkdf_channel *ch = NULL;

	must(lkdf_channel_create(
		rt, LKDF_CHANNEL(.name = name, .value_size = 8, .depth = depth),
		&ch));
	return ch;
}

/* What bodies know of a channel and tell of themselves. */
struct pipe {
	struct lkdf_channel *ch;
	atomic_int nr_begun, nr_calls, nr_again;
	_Atomic(uint64_t) sum, nr_values;
};

__attribute__((unused)) static struct lkdf_kind *
pipe_kind(struct lkdf *rt, const char *name, lkdf_fn fn, uint32_t flags)
{
	return api_kind(rt, name, fn, sizeof(struct pipe *), flags);
}

__attribute__((unused)) static void pipe_submit(struct lkdf *rt,
						struct lkdf_scope *s,
						struct lkdf_kind *k,
						struct pipe *p)
{
	must(lkdf_submit(rt, s, ATTR(lkdf_task, .kind = k, .arg = &p), NULL));
}

/* A task between two channels. */
struct side {
	struct lkdf_channel *from, *to;
	bool has_value;
};

/* What it has received it sends on. */
__attribute__((unused)) static int hand_on(struct lkdf_ctx *c, void *arg)
{
	struct side *s = *(struct side **)arg;
	uint64_t v = 1;
	int rc = s->has_value ? 0 : lkdf_recv(c, s->from, &v);

	s->has_value |= !rc;
	if (!rc)
		rc = lkdf_send(c, s->to, &v);
	return rc == -EAGAIN ? LKDF_AGAIN : rc;
}

__attribute__((unused)) static void
submit_side(struct lkdf *rt, const char *name, struct side *s)
{
	struct lkdf_kind *k = api_kind(rt, name, hand_on, sizeof(s), 0);

	must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k, .arg = &s),
			 NULL));
	lkdf_kind_put(k);
}

/* So many bodies have found nothing, and are about to wait or do. */
__attribute__((unused)) static void pipe_until(struct pipe *p, int nr_again)
{
	while (p->nr_again < nr_again)
		api_nap_ns(10000);
}

__attribute__((unused)) static int pipe_receive_one(struct lkdf_ctx *c,
						    void *arg)
{
	struct pipe *p = *(struct pipe **)arg;
	uint64_t v;
	int rc = lkdf_recv(c, p->ch, &v);

	atomic_fetch_add(&p->nr_calls, 1);
	if (rc == -EAGAIN) {
		atomic_fetch_add(&p->nr_again, 1);
		return LKDF_AGAIN;
	}
	if (rc)
		return rc;
	atomic_fetch_add(&p->sum, v);
	atomic_fetch_add(&p->nr_values, 1);
	return 0;
}

#endif
