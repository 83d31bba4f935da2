/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* For mc_loop.c: a sealed graph with loops, by hand. */
#ifndef LOOP_GRAPH_H
#define LOOP_GRAPH_H

#include "graph/control.h"
#include "seal/edge_order.h"

#include <string.h>

#define MAX_NR 7 /* tasks */

#define BACK 0 /* the branch that goes round */
#define STAY 0 /* the branch to a task of the same iteration */
#define OUT 1 /* the branch that leaves */
#define CHOICE (CONTROL_BRANCH | CONTROL_COUNTS)

static struct lkdf_graph graph;
static struct control control;
static struct rec recs[MAX_NR];
static struct control_edge out[8], exits[4];
static struct graph_loop loops[2];
static uint32_t loop_of[MAX_NR];

static void begin_graph(uint32_t nr_tasks, uint32_t nr_loops)
{
	uint32_t i;

	memset(&graph, 0, sizeof(graph));
	memset(&control, 0, sizeof(control));
	memset(recs, 0, sizeof(recs));
	memset(out, 0, sizeof(out));
	memset(exits, 0, sizeof(exits));
	memset(loops, 0, sizeof(loops));
	graph.nr_tasks = graph.nr_recs = nr_tasks;
	graph.control = &control;
	control.out = out;
	control.exits = exits;
	control.loops = loops;
	control.loop_of = loop_of;
	control.nr_loops = nr_loops;
	for (i = 0; i < MAX_NR; i++)
		loop_of[i] = NO_LOOP;
}

static void add_loop(uint32_t l, uint32_t parent, uint32_t head,
		     uint32_t nr_members, uint32_t nr_backs)
{
	loops[l] = (struct graph_loop){
		.head = head,
		.parent = parent,
		.nr_members = nr_members,
		.nr_backs = nr_backs,
		.first_exit = control.nr_exits,
	};
}

static void add_task(uint32_t index, uint32_t l, uint16_t nr_in)
{
	recs[index].nr_in = nr_in;
	recs[index].flags = l == NO_LOOP ? REC_CHOSEN : REC_MEMBER;
	rec_rearm(&recs[index], nr_in);
	loop_of[index] = l;
}

static void add_plain(uint32_t from, uint32_t first, uint32_t second)
{
	recs[from].nr_succ = 2;
	recs[from].succ[0] = first;
	recs[from].succ[1] = second;
}

static void add_only(uint32_t from, uint32_t to)
{
	recs[from].nr_succ = 1;
	recs[from].succ[0] = to;
}

/* One after another, for all of a task's. */
static void add_control(struct control_edge e)
{
	struct rec *r = &recs[e.from];

	if (r->nr_succ != REC_CONTROL)
		r->succ[0] = control.nr_out;
	r->nr_succ = REC_CONTROL;
	r->succ[1]++;
	out[control.nr_out++] = e;
}

static void add_back(uint32_t from, uint32_t l)
{
	add_control((struct control_edge){ .from = from,
					   .to = loops[l].head,
					   .loop = l,
					   .branch = BACK,
					   .flags = CONTROL_BACK });
}

/* A branch that leaves the task's loop; to: of a BACK edge the head. */
static void add_exit(uint32_t from, uint32_t to, uint16_t branch, uint8_t flags)
{
	struct control_edge e = { .from = from,
				  .to = to,
				  .loop = loop_of[from],
				  .branch = branch,
				  .flags = flags | CONTROL_EXIT };

	exits[control.nr_exits] = e;
	if (flags & CONTROL_BACK)
		exits[control.nr_exits].loop = loops[e.loop].parent;
	e.to = control.nr_exits++;
	loops[e.loop].nr_exits++;
	if (flags)
		add_control(e);
}

/* Edges of each task as seal lays them out. */
static void order_edges(void)
{
	struct control_edge copy[sizeof(out) / sizeof(*out)];
	uint32_t t;

	memcpy(copy, out, sizeof(copy));
	for (t = 0; t < graph.nr_tasks; t++)
		if (recs[t].nr_succ == REC_CONTROL)
			edge_order_copy(&out[recs[t].succ[0]],
					&copy[recs[t].succ[0]],
					recs[t].succ[1]);
}

/* 0 is the head, 1 and 2 its latches, either leads to 3 outside. */
static void add_two_latches(void)
{
	begin_graph(4, 1);
	add_loop(0, NO_LOOP, 0, 3, 2);
	add_task(0, 0, 1);
	add_task(1, 0, 1);
	add_task(2, 0, 1);
	add_task(3, NO_LOOP, 2);
	add_plain(0, 1, 2);
	add_back(1, 0);
	add_exit(1, 3, OUT, CHOICE);
	add_back(2, 0);
	add_exit(2, 3, OUT, CHOICE);
}

/* 0 is the head of 1 and 2, after both of which the latches 3 and 4 come. */
static void add_four_members(void)
{
	begin_graph(6, 1);
	add_loop(0, NO_LOOP, 0, 5, 2);
	add_task(0, 0, 1);
	add_task(1, 0, 1);
	add_task(2, 0, 1);
	add_task(3, 0, 2);
	add_task(4, 0, 2);
	add_task(5, NO_LOOP, 2);
	add_plain(0, 1, 2);
	add_plain(1, 3, 4);
	add_plain(2, 3, 4);
	add_back(3, 0);
	add_exit(3, 5, OUT, CHOICE);
	add_back(4, 0);
	add_exit(4, 5, OUT, CHOICE);
}

/* In the loop of 0 the loop of 1, its latches 2 and 3; behind each one of the
 * outer loop's latches 4 and 5. */
static void add_nested(void)
{
	begin_graph(7, 2);
	add_loop(0, NO_LOOP, 0, 6, 2);
	add_task(0, 0, 1);
	add_task(4, 0, 1);
	add_task(5, 0, 1);
	add_task(6, NO_LOOP, 2);
	add_only(0, 1);
	add_back(4, 0);
	add_exit(4, 6, OUT, CHOICE);
	add_back(5, 0);
	add_exit(5, 6, OUT, CHOICE);
	add_loop(1, 0, 1, 3, 2);
	add_task(1, 1, 1);
	add_task(2, 1, 1);
	add_task(3, 1, 1);
	add_plain(1, 2, 3);
	add_back(2, 1);
	add_exit(2, 4, 0, 0);
	add_back(3, 1);
	add_exit(3, 5, 0, 0);
}

/* The same with one outer latch, 4; 3 may go on with the outer loop at once. */
static void add_nested_continue(void)
{
	begin_graph(6, 2);
	add_loop(0, NO_LOOP, 0, 5, 2);
	add_task(0, 0, 1);
	add_task(4, 0, 1);
	add_task(5, NO_LOOP, 1);
	add_only(0, 1);
	add_back(4, 0);
	add_exit(4, 5, OUT, CHOICE);
	add_loop(1, 0, 1, 3, 2);
	add_task(1, 1, 1);
	add_task(2, 1, 1);
	add_task(3, 1, 1);
	add_plain(1, 2, 3);
	add_back(2, 1);
	add_exit(2, 4, 0, 0);
	add_back(3, 1);
	add_exit(3, 0, OUT, CONTROL_BACK);
}

/*
 * 0 is the head of 1 and 2, either of which is enough for 3, before the latch
 * 4. 1 may leave the loop while 2 runs beside it.
 */
static void add_exit_beside(void)
{
	begin_graph(6, 1);
	add_loop(0, NO_LOOP, 0, 5, 1);
	loops[0].has_one_latch = true;
	add_task(0, 0, 1);
	add_task(1, 0, 1);
	add_task(2, 0, 1);
	add_task(3, 0, 2);
	recs[3].flags |= REC_CHOSEN;
	add_task(4, 0, 1);
	add_task(5, NO_LOOP, 1);
	add_plain(0, 1, 2);
	add_control((struct control_edge){
		.from = 1, .to = 3, .branch = STAY, .flags = CHOICE });
	add_exit(1, 5, OUT, CHOICE);
	add_control((struct control_edge){
		.from = 2, .to = 3, .flags = CONTROL_COUNTS });
	add_only(3, 4);
	add_back(4, 0);
}

/* 0 is the head, 1 leaves the loop or goes on to the latch 2; 3 is outside. */
static void add_exit_alone(void)
{
	begin_graph(4, 1);
	add_loop(0, NO_LOOP, 0, 3, 1);
	loops[0].has_one_latch = true;
	add_task(0, 0, 1);
	add_task(1, 0, 1);
	add_task(2, 0, 1);
	recs[2].flags |= REC_CHOSEN;
	add_task(3, NO_LOOP, 1);
	add_only(0, 1);
	add_control((struct control_edge){
		.from = 1, .to = 2, .branch = STAY, .flags = CHOICE });
	add_exit(1, 3, OUT, CHOICE);
	add_back(2, 0);
}

#endif
