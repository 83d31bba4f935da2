/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* For mc_loop.c: functions that run/control.c calls in none of its scenarios.
 */
#ifndef LOOP_BELOW_H
#define LOOP_BELOW_H

#include "base/err.h"
#include "data/replica.h"
#include "graph/port.h"
#include "mc.h"
#include "run/frame.h"
#include "run/resolve.h"
#include "run/solo_run.h"
#include "run/stream.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"

#define NOT_REACHED(type, name, ...)                        \
	type name(__VA_ARGS__)                              \
	{                                                   \
		mc_fail("run/control.c has called " #name); \
	}

NOT_REACHED(void, solo_run_turn, struct worker *w, struct frame *f)
NOT_REACHED(int, err, int rc, const char *fmt, ...)
NOT_REACHED(bool, stream_takes, struct worker *w, struct frame *f,
	    uint32_t index)
NOT_REACHED(void, port_resolved, struct frame *f, uint32_t index, bool is_live)
NOT_REACHED(int, values_passes, const struct frame *f, uint32_t from,
	    uint32_t to, int verdict)
NOT_REACHED(void, replicas_drop, struct lkdf_data *d)
NOT_REACHED(void, resolve_pass_token, struct worker *w, struct frame *f,
	    uint32_t index)
NOT_REACHED(uint32_t, graph_wide_nr_in, const struct lkdf_graph *g,
	    uint32_t task)
NOT_REACHED(const char *, graph_task_name, const struct lkdf_graph *g,
	    uint32_t task, char *buf, size_t size)

#pragma GCC diagnostic pop

#endif
