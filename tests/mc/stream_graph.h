/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* For mc_stream.c: the sealed graph S -> T, S -> U with a value, by hand. */
#ifndef STREAM_GRAPH_H
#define STREAM_GRAPH_H

#include "frame_below.h"
#include "graph/port.h"

#include <string.h>

#define MAX_FRAMES 3
#define S 0
#define T 1
#define U 2
#define NR_TASKS 3

static struct lkdf rt;
static struct lkdf_graph graph;
static struct lkdf_kind kind;
static struct frame frames[MAX_FRAMES];
static struct rec recs[MAX_FRAMES][NR_TASKS];
static uint32_t sources[1] = { S };

static struct ports ports;
static struct port_in in[2] = { { 0, 1, NO_PORT, sizeof(int) },
				{ 0, 1, NO_PORT, sizeof(int) } };
static struct port_source source = { 0, NO_PORT };
static struct port_out out;
static uint32_t first_in[NR_TASKS + 1] = { 0, 0, 1, 2 };
static uint32_t first_out[NR_TASKS + 1] = { 0, 1, 1, 1 };
static _Alignas(16) char bytes[MAX_FRAMES][16];
static _Atomic(uint8_t) state[MAX_FRAMES][1];

static void init_ports(void (*drop)(void *value))
{
	memset(&ports, 0, sizeof(ports));
	out = (struct port_out){ .slot = 0,
				 .next = NO_PORT,
				 .size = sizeof(int),
				 .state = 0,
				 .drop = drop };
	ports.first_in = first_in;
	ports.first_out = first_out;
	ports.in = in;
	ports.out = &out;
	ports.source = &source;
	ports.nr_in = 2;
	ports.nr_out = 1;
	ports.nr_states = 1;
	ports.has_hooks = true;
}

static void init_frame(uint32_t i)
{
	struct frame *f = &frames[i];

	memset(f, 0, sizeof(*f));
	memset(recs[i], 0, sizeof(recs[i]));
	f->graph = &graph;
	f->index = i;
	f->recs = recs[i];
	recs[i][S].kind = &kind;
	recs[i][S].nr_in = 2;
	recs[i][S].flags = REC_TOKEN;
	/* The first wave has none before it: give_first_tokens(). */
	rec_rearm(&recs[i][S], i == 0 ? 1 : 2);
	f->port.bytes = bytes[i];
	f->port.state = state[i];
	a_store(&state[i][0], PORT_EMPTY, relaxed);
}

static void init_graph(uint32_t nr_frames, void (*drop)(void *value))
{
	uint32_t i;

	memset(&graph, 0, sizeof(graph));
	kind.width = 1;
	graph.rt = &rt;
	graph.nr_frames = nr_frames;
	graph.frames = frames;
	graph.recs = recs[0];
	graph.nr_tasks = graph.nr_recs = NR_TASKS;
	graph.nr_sources = 1;
	graph.sources = sources;
	graph.ports = &ports;
	graph.has_tokens = true;
	graph.stream = mc_alloc(sizeof(*graph.stream));
	memset((void *)graph.stream, 0, sizeof(*graph.stream));
	init_ports(drop);
	for (i = 0; i < nr_frames; i++)
		init_frame(i);
}

#endif
