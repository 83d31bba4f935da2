/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Graphs. */
#include "tests/cuda/conformance/check.h"

#include <stdatomic.h>

static atomic_int nr_called;

static void count_call(void *u)
{
	(void)u;
	atomic_fetch_add(&nr_called, 1);
}

static cu_result clear(void)
{
	cu_result r = cu.cuMemsetD8Async(mem, 0, 4, s1);

	return r ? r : cu.cuStreamSynchronize(s1);
}

static void graph_run(void)
{
	cu_graph g;
	cu_exec x;
	cu_result r;

	if (failed(clear()))
		return;
	if (failed(chain(3, 1, &g)))
		return;
	if (failed(cu.cuGraphInstantiateWithFlags(&x, g, 0)))
		return;
	if (failed(cu.cuGraphLaunch(x, s1)))
		return;
	r = cu.cuStreamSynchronize(s1);
	say(r, "three steps: %u", word(mem));
}

static void graph_host_function(void)
{
	cu_graph g;
	cu_exec x;
	cu_result r;

	atomic_store(&nr_called, 0);
	if (failed(cu.cuStreamBeginCapture(s1, CU_CAPTURE_THREAD)))
		return;
	if (failed(cu.cuLaunchHostFunc(s1, count_call, NULL)))
		return;
	if (failed(cu.cuStreamEndCapture(s1, &g)))
		return;
	if (failed(cu.cuGraphInstantiateWithFlags(&x, g, 0)))
		return;
	if (failed(cu.cuGraphLaunch(x, s1)))
		return;
	r = cu.cuStreamSynchronize(s1);
	say(r, "called %d", atomic_load(&nr_called));
}

static void graph_write_value(void)
{
	cu_graph g = NULL;
	cu_exec x;
	cu_result r;

	set_flag(0);
	if (failed(cu.cuStreamBeginCapture(s1, CU_CAPTURE_THREAD)))
		return;
	r = cu.cuStreamWriteValue32(s1, flag_there, 9, 0);
	if (failed(cu.cuStreamEndCapture(s1, &g)))
		return;
	if (failed(cu.cuGraphInstantiateWithFlags(&x, g, 0)))
		return;
	if (failed(cu.cuGraphLaunch(x, s1)))
		return;
	cu.cuStreamSynchronize(s1);
	say(r, "captured, launched: %u", get_flag());
}

static void graph_pageable(void)
{
	static char host[64];
	cu_graph g = NULL;
	cu_result r, e;

	if (failed(cu.cuStreamBeginCapture(s1, CU_CAPTURE_THREAD)))
		return;
	r = cu.cuMemcpyHtoDAsync(mem, host, 64, s1);
	e = cu.cuStreamEndCapture(s1, &g);
	say(r, "a copy of pageable memory captured; end %u", e);
}

static void graph_update(void)
{
	struct cu_update u;
	cu_graph g, h;
	cu_exec x;
	cu_result r;

	if (failed(clear()))
		return;
	if (failed(chain(3, 1, &g)))
		return;
	if (failed(chain(3, 10, &h)))
		return;
	if (failed(cu.cuGraphInstantiateWithFlags(&x, g, 0)))
		return;
	r = cu.cuGraphExecUpdate(x, h, &u);
	if (failed(cu.cuGraphLaunch(x, s1)))
		return;
	cu.cuStreamSynchronize(s1);
	say(r, "other values: result %u, %u", u.result, word(mem));
}

static void graph_update_shape(void)
{
	struct cu_update u;
	cu_graph g, h;
	cu_exec x;
	cu_result r;

	if (failed(chain(3, 1, &g)))
		return;
	if (failed(chain(4, 1, &h)))
		return;
	if (failed(cu.cuGraphInstantiateWithFlags(&x, g, 0)))
		return;
	r = cu.cuGraphExecUpdate(x, h, &u);
	say(r, "one node more: result %u", u.result);
}

static void graph_update_function(void)
{
	struct cu_update u;
	cu_graph g, h;
	cu_exec x;
	cu_result r;

	if (failed(chain(1, 1, &g)))
		return;
	if (failed(cu.cuStreamBeginCapture(s1, CU_CAPTURE_THREAD)))
		return;
	if (failed(launch(f_empty, s1, NULL)))
		return;
	if (failed(cu.cuStreamEndCapture(s1, &h)))
		return;
	if (failed(cu.cuGraphInstantiateWithFlags(&x, g, 0)))
		return;
	r = cu.cuGraphExecUpdate(x, h, &u);
	say(r, "another function: result %u", u.result);
}

static void graph_twice_at_once(void)
{
	cu_graph g;
	cu_exec x;
	cu_result r, q;

	if (failed(clear()))
		return;
	if (failed(cu.cuStreamBeginCapture(s1, CU_CAPTURE_THREAD)))
		return;
	if (failed(gate(s1)))
		return;
	if (failed(cu.cuStreamEndCapture(s1, &g)))
		return;
	if (failed(cu.cuGraphInstantiateWithFlags(&x, g, 0)))
		return;
	if (failed(cu.cuGraphLaunch(x, s1)))
		return;
	r = cu.cuGraphLaunch(x, s2);
	nap_ms(20);
	q = cu.cuStreamQuery(s2);
	open_gate();
	if (failed(cu.cuCtxSynchronize()))
		return;
	say(r, "one exec on two streams: second is then %u", q);
}

static void graph_destroy_busy(void)
{
	cu_graph g;
	cu_exec x;
	cu_result r, q;

	if (failed(cu.cuStreamBeginCapture(s1, CU_CAPTURE_THREAD)))
		return;
	if (failed(gate(s1)))
		return;
	if (failed(cu.cuStreamEndCapture(s1, &g)))
		return;
	if (failed(cu.cuGraphInstantiateWithFlags(&x, g, 0)))
		return;
	if (failed(cu.cuGraphLaunch(x, s1)))
		return;
	r = cu.cuGraphExecDestroy(x);
	q = cu.cuGraphDestroy(g);
	open_gate();
	say(r, "while it runs; its graph %u, stream then %u", q,
	    cu.cuStreamSynchronize(s1));
}

static void graph_update_busy(void)
{
	struct cu_update u;
	cu_graph g, h;
	cu_exec x;
	cu_result r, q;

	if (failed(cu.cuStreamBeginCapture(s1, CU_CAPTURE_THREAD)))
		return;
	if (failed(gate(s1)))
		return;
	if (failed(cu.cuStreamEndCapture(s1, &g)))
		return;
	if (failed(cu.cuStreamBeginCapture(s1, CU_CAPTURE_THREAD)))
		return;
	if (failed(gate(s1)))
		return;
	if (failed(cu.cuStreamEndCapture(s1, &h)))
		return;
	if (failed(cu.cuGraphInstantiateWithFlags(&x, g, 0)))
		return;
	if (failed(cu.cuGraphLaunch(x, s1)))
		return;
	r = cu.cuGraphExecUpdate(x, h, &u);
	q = cu.cuStreamQuery(s1);
	open_gate();
	cu.cuStreamSynchronize(s1);
	say(r, "while it runs: %s", q == 600 ? "at once" : "waits");
}

static void graph_empty(void)
{
	cu_graph g;
	cu_exec x;

	if (failed(cu.cuGraphCreate(&g, 0)))
		return;
	if (failed(cu.cuGraphInstantiateWithFlags(&x, g, 0)))
		return;
	say(cu.cuGraphLaunch(x, s1), NULL);
}

const struct check graph_checks[] = {
	{ "graph_run", graph_run, 0 },
	{ "graph_host_function", graph_host_function, 0 },
	{ "graph_write_value", graph_write_value, 0 },
	{ "graph_pageable", graph_pageable, OWN },
	{ "graph_update", graph_update, 0 },
	{ "graph_update_shape", graph_update_shape, 0 },
	{ "graph_update_function", graph_update_function, 0 },
	{ "graph_twice_at_once", graph_twice_at_once, 0 },
	{ "graph_destroy_busy", graph_destroy_busy, 0 },
	{ "graph_update_busy", graph_update_busy, 0 },
	{ "graph_empty", graph_empty, 0 },
	{ NULL, NULL, 0 },
};
