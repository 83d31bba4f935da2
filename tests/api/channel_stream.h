/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Streams whose stages send to channels or receive from them. */
#ifndef TESTS_API_CHANNEL_STREAM_H
#define TESTS_API_CHANNEL_STREAM_H

#include "tests/api/channel.h"
#include "tests/api/port.h"

/* A stage with one port or none on each side. */
__attribute__((unused)) static int stage_of(struct lkdf *rt,
					    struct lkdf_graph *g,
					    const struct lkdf_kind_attr *a,
					    void *arg)
{
	struct lkdf_kind_attr with = *a;
	struct lkdf_kind *k;
	int task;

	with.in_size = with.out_size = of_long;
	must(lkdf_kind_create(rt, &with, &k));
	task = must(lkdf_graph_add(g, k, arg, NULL, 0));
	lkdf_kind_put(k);
	return task;
}

#define STAGE(rt, g, arg, ...) \
	stage_of(rt, g, ATTR(lkdf_kind_attr, __VA_ARGS__), arg)

/* Until its source ends it. */
__attribute__((unused)) static void stream_start(struct lkdf_graph *g,
						 struct lkdf_scope *s,
						 struct lkdf_event *done)
{
	must(lkdf_graph_run(g, s,
			    ATTR(lkdf_run, .flags = LKDF_RUN_STREAM,
				 .times = UINT64_MAX),
			    done));
}

#endif
