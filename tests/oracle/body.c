/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What the nodes do: say when they start and end, look at what came before
 * them, spawn, wait in one of the ways there are, and leave a value.
 */
#include "tests/oracle/world.h"

#include <errno.h>
#include <string.h>

/* A body that runs: found again from its argument in each function. */
struct me {
	struct world *w;
	const struct node *n;
	struct cell *cell;
	uint32_t call, rep, node;
	bool fails;
	void *arg;
};

static uint8_t pattern(uint32_t id, uint32_t i)
{
	return (uint8_t)(id * 31 + i * 7);
}

static uint32_t read_id(const void *arg)
{
	uint32_t id;

	memcpy(&id, arg, sizeof(id));
	return id;
}

static void find_me(struct me *me, struct lkdf_ctx *c, void *arg)
{
	uint32_t id = read_id(arg);
	const struct run *run;

	me->w = world_now();
	me->node = id & ((1u << ID_NODE_BITS) - 1);
	me->call = id >> ID_NODE_BITS;
	if (me->call == ID_OF_GRAPH) {
		run = lkdf_run_arg(c);
		me->call = (uint32_t)(run - me->w->run);
	}
	me->n = &me->w->p->node[me->node];
	me->rep = me->w->run[me->call].rep;
	me->cell = cell_of(me->w, me->call, me->rep, me->node);
	me->fails = node_fails(me->n, me->call, me->rep);
	me->arg = arg;
}

uint64_t cells_sum(struct world *w, uint32_t call, uint32_t rep, uint32_t first,
		   uint32_t end)
{
	const struct cell *cell;
	uint64_t sum = 0;

	for (; first < end; first++) {
		cell = cell_of(w, call, rep, first);
		if (cell->value)
			sum += model_part(cell->value, cell->extra);
	}
	return sum;
}

static void look_at_arg(struct me *me)
{
	const uint8_t *byte = me->arg;
	uint32_t size = me->w->p->kind[me->n->kind].arg_size, i;
	uint32_t id = read_id(me->arg);

	for (i = sizeof(id); i < size; i++) {
		if (byte[i] == pattern(id, i))
			continue;
		wrong(me->w, "node %u: byte %u of its argument is %u", me->node,
		      i, byte[i]);
		return;
	}
}

/* What all that came before has left; nobody of them may be missing. */
static void look_back(struct me *me)
{
	const struct program *p = me->w->p;
	uint32_t i, from, first;
	struct cell *cell;

	for (i = p->pred_at[me->node]; i < p->pred_at[me->node + 1]; i++) {
		from = p->pred[i];
		cell = cell_of(me->w, me->call, me->rep, from);
		if (atomic_load_explicit(&cell->state, memory_order_relaxed) !=
		    CELL_ENDED)
			wrong(me->w,
			      "call %u rep %u: task %u runs before task %u",
			      me->call, me->rep, me->node, from);
		first = p->node[from].below;
		me->cell->in +=
			cells_sum(me->w, me->call, me->rep, from, from + 1);
		me->cell->in += cells_sum(me->w, me->call, me->rep, first,
					  first + p->node[from].nr_below);
	}
}

/* Tasks that may not overlap themselves go in the order of the runs. */
static void take_turn(struct me *me, struct lkdf_ctx *c)
{
	const struct p_kind *k = &me->w->p->kind[me->n->kind];
	struct run *run = &me->w->run[me->call];
	uint64_t seq = lkdf_seq(c) + 1, other = 0, turn;
	uint32_t nr;

	if (!atomic_compare_exchange_strong(&run->seq[me->rep], &other, seq) &&
	    other != seq)
		wrong(me->w, "call %u rep %u: seq %llu and %llu", me->call,
		      me->rep, (unsigned long long)seq,
		      (unsigned long long)other);
	nr = atomic_fetch_add(&me->w->nr_active[me->node], 1) + 1;
	if (nr > 1 && !k->is_shared)
		wrong(me->w, "task %u overlaps itself", me->node);
	if (k->is_shared && k->width && nr > k->width)
		wrong(me->w, "task %u: %u at a time, its width is %u", me->node,
		      nr, k->width);
	if (k->is_shared)
		return;
	turn = atomic_load(&run->seq[0]) << 8 | (me->rep + 1);
	if (turn <= me->w->last_turn[me->node])
		wrong(me->w, "task %u: run %llu rep %u after run %llu",
		      me->node, (unsigned long long)(turn >> 8), me->rep,
		      (unsigned long long)(me->w->last_turn[me->node] >> 8));
	me->w->last_turn[me->node] = turn;
}

static void take_limits(struct me *me)
{
	const struct p_kind *k = &me->w->p->kind[me->n->kind];
	const struct p_limit_use *use;
	uint32_t i, nr;

	for (i = 0; i < k->nr_limits; i++) {
		use = &k->limit[i];
		nr = atomic_fetch_add(&me->w->limit_used[use->limit],
				      use->tokens);
		if (nr + use->tokens > me->w->p->limit[use->limit])
			wrong(me->w, "limit %u: %u tokens used, it has %u",
			      use->limit, nr + use->tokens,
			      me->w->p->limit[use->limit]);
	}
}

static void give_limits(struct me *me)
{
	const struct p_kind *k = &me->w->p->kind[me->n->kind];
	uint32_t i;

	for (i = 0; i < k->nr_limits; i++)
		atomic_fetch_sub(&me->w->limit_used[k->limit[i].limit],
				 k->limit[i].tokens);
}

static bool is_of_graph(const struct me *me)
{
	return me->node < me->w->p->nr_tasks;
}

static void cancel_in_time(struct world *w)
{
	uint32_t nr = atomic_fetch_add(&w->nr_started, 1);

	if (!w->p->cancels || nr != w->p->cancel_at || w->phase)
		return;
	atomic_store(&w->is_cancelled, 1);
	lkdf_scope_cancel(w->rt, w->p->cancels_outer ? w->outer : w->scope,
			  -ECANCELED);
}

static void look_at_place(struct me *me, int worker)
{
	struct world *w = me->w;
	int place = me->n->place % w->nr_places;

	if (!me->n->place || !me->n->is_pinned || !w->nr_workers)
		return;
	if (!world_may_run(w, worker, place))
		wrong(w, "node %u: pinned to place %d, runs on worker %d",
		      me->node, place, worker);
}

static void begin(struct me *me, struct lkdf_ctx *c)
{
	struct world *w = me->w;
	int worker = lkdf_worker(c);

	if (atomic_exchange_explicit(&me->cell->state, CELL_STARTED,
				     memory_order_relaxed) != CELL_NEW)
		wrong(w, "call %u rep %u: node %u runs twice", me->call,
		      me->rep, me->node);
	me->cell->start = atomic_fetch_add(&w->clock, 1) + 1;
	if (worker < 0 || worker >= lkdf_nr_executors(w->rt))
		wrong(w, "node %u: worker %d", me->node, worker);
	look_at_place(me, worker);
	look_at_arg(me);
	take_limits(me);
	if (is_of_graph(me)) {
		take_turn(me, c);
		look_back(me);
	}
	cancel_in_time(w);
}

static void spawn(struct me *me, struct lkdf_ctx *c, uint32_t child,
		  struct lkdf_event *done)
{
	const struct node *n = &me->w->p->node[child];
	uint32_t size = me->w->p->kind[n->kind].arg_size, i;
	uint32_t id = me->call << ID_NODE_BITS | child;
	struct lkdf_kind *k = me->w->kind[n->kind];
	struct run *run = &me->w->run[me->call];
	uint8_t copy[256];
	void *arg = copy;
	int rc;

	memcpy(copy, &id, sizeof(id));
	for (i = sizeof(id); i < size; i++)
		copy[i] = pattern(id, i);
	if (!size) {
		arg = &run->id[child - me->w->p->call[me->call].first];
		memcpy(arg, &id, sizeof(id));
	}
	rc = n->prio || n->place || done
		     ? lkdf_spawn_task(c,
				       ATTR(lkdf_task, .kind = k, .arg = arg,
					    .prio = n->prio,
					    .place = world_place(me->w, n),
					    .flags = world_task_flags(n)),
				       done)
		     : lkdf_spawn(c, k, arg);
	if (rc)
		wrong(me->w, "node %u: spawn: %d %s", child, rc, lkdf_errmsg());
}

static void spawn_all(struct me *me, struct lkdf_ctx *c,
		      struct lkdf_event *done)
{
	uint32_t child = me->n->below, end = child + me->n->nr_below, next;

	for (; child < end; child = next) {
		next = child + 1 + me->w->p->node[child].nr_below;
		spawn(me, c, child, next == end ? done : NULL);
	}
}

/* Asks a thread or a task for the nr'th signal. */
static void ask(struct me *me, struct lkdf_event e, uint32_t nr, int error)
{
	struct cell *cell = me->cell;
	int rc;

	cell->event = e;
	cell->error = error;
	cell->bring = model_signal(me->w->p, me->node, me->call, me->rep, nr);
	if (!me->n->by_task) {
		/* Serial: the thread could come to run a body that waits for
		 * its own next signal. */
		if (me->w->is_serial)
			cell_signal(cell);
		else
			signaller_ask(cell);
		return;
	}
	rc = lkdf_submit(
		me->w->rt, NULL,
		ATTR(lkdf_task, .kind = me->w->signal_kind, .arg = cell), NULL);
	if (rc)
		wrong(me->w, "submit of a signal: %d %s", rc, lkdf_errmsg());
}

static int signal_error(const struct me *me)
{
	if (me->n->signal_error == NO_ERROR ||
	    !node_fails_now(me->n, me->call, me->rep))
		return 0;
	return model_errno(me->n->signal_error);
}

/* The value, once nothing is waited for any more. */
static void leave(struct me *me)
{
	struct world *w = me->w;
	uint32_t first, end;
	uint64_t waited;

	model_waited(w->p, me->node, me->fails, &first, &end);
	waited = cells_sum(w, me->call, me->rep, first, end);
	if (model_goes_on(me->n, me->fails))
		waited += me->cell->extra;
	me->cell->value = model_value(w->p, me->node, me->call, me->rep,
				      me->cell->in, waited);
	give_limits(me);
	if (is_of_graph(me))
		atomic_fetch_sub(&w->nr_active[me->node], 1);
	me->cell->end = atomic_fetch_add(&w->clock, 1) + 1;
	if (atomic_exchange_explicit(&me->cell->state, CELL_ENDED,
				     memory_order_relaxed) != CELL_STARTED)
		wrong(w, "call %u rep %u: node %u ends twice", me->call,
		      me->rep, me->node);
}

static int end_with(struct me *me, struct lkdf_ctx *c, int seen)
{
	int rc = 0;

	if (me->fails)
		rc = model_errno(me->n->error);
	else if (seen && (!me->n->swallows || me->n->mode == MODE_THEN_DONE))
		return seen;
	if (rc && me->node & 2)
		return lkdf_fail(c, rc, "node %u", me->node);
	return rc;
}

/* One of the errors that the model allows, if any. */
static void look_at_error(struct me *me, const char *what, int rc,
			  uint32_t errors)
{
	if (me->w->p->cancels)
		return;
	if (rc ? !(model_bit(rc) & errors) : errors != 0)
		wrong(me->w, "call %u rep %u: node %u: %s says %d, not of %#x",
		      me->call, me->rep, me->node, what, rc, errors);
}

static const struct result *expected(const struct me *me, uint32_t node)
{
	const struct call *call = &me->w->p->call[me->call];

	return &me->w->run[me->call]
			.expect.result[me->rep * call_nr_cells(me->w->p, call) +
				       node - call->first];
}

static int go_on_again(struct lkdf_ctx *c, void *arg)
{
	struct me me;

	find_me(&me, c, arg);
	atomic_fetch_add(&me.w->nr_calls, 1);
	look_at_error(&me, "second event", lkdf_input_error(c, 0), 0);
	leave(&me);
	return end_with(&me, c, me.cell->seen);
}

static void then_on_signal(struct me *me, struct lkdf_ctx *c, lkdf_fn fn,
			   uint32_t nr)
{
	int error = nr == 1 && me->n->mode == MODE_THEN_EVENT ? signal_error(me)
							      : 0;
	struct lkdf_event e;
	int rc;

	rc = lkdf_event_create(me->w->rt, 1, 0, &e);
	if (rc) {
		wrong(me->w, "event: %d %s", rc, lkdf_errmsg());
		return;
	}
	if (me->node & 1)
		ask(me, e, nr, error);
	rc = lkdf_then(c, fn, e);
	if (rc)
		wrong(me->w, "then: %d %s", rc, lkdf_errmsg());
	if (!(me->node & 1))
		ask(me, e, nr, error);
}

static int go_on(struct lkdf_ctx *c, void *arg)
{
	const struct program *p;
	uint32_t errors = 0;
	struct me me;
	int error;

	find_me(&me, c, arg);
	atomic_fetch_add(&me.w->nr_calls, 1);
	p = me.w->p;
	error = lkdf_input_error(c, 0);
	if (me.n->mode == MODE_THEN) {
		errors = expected(&me, me.node)->child_errors;
		me.cell->seen = error;
	} else if (me.n->mode == MODE_THEN_EVENT) {
		errors = model_bit(signal_error(&me));
	} else {
		errors = expected(&me, model_last_child(p, me.node))->errors;
		me.cell->seen = error;
	}
	look_at_error(&me, "input", error, errors);
	if (me.n->again) {
		then_on_signal(&me, c, go_on_again,
			       me.n->mode == MODE_THEN_EVENT ? 2 : 1);
		return 0;
	}
	leave(&me);
	return end_with(&me, c, me.cell->seen);
}

static int begin_hold(struct me *me, struct lkdf_ctx *c)
{
	struct lkdf_event e;
	int rc = lkdf_hold(c, &e);

	if (rc)
		wrong(me->w, "hold: %d %s", rc, lkdf_errmsg());
	else
		ask(me, e, 1, signal_error(me));
	return rc;
}

/* Leaves, now or when what it waits for is there. */
static int leave_by_then(struct me *me, struct lkdf_ctx *c,
			 struct lkdf_event done)
{
	bool goes_on = model_goes_on(me->n, me->fails);
	int rc = 0;

	/* Once signals are asked for, the cell may be another's. */
	if (!goes_on)
		leave(me);
	if (me->n->mode == MODE_THEN_EVENT)
		then_on_signal(me, c, go_on, 1);
	else
		rc = lkdf_then(c, go_on, done);
	if (rc)
		wrong(me->w, "then: %d %s", rc, lkdf_errmsg());
	return goes_on ? 0 : end_with(me, c, 0);
}

int body_run(struct lkdf_ctx *c, void *arg)
{
	struct lkdf_event done = { 0 };
	int seen = 0;
	struct me me;

	find_me(&me, c, arg);
	atomic_fetch_add(&me.w->nr_calls, 1);
	begin(&me, c);
	if (me.n->mode == MODE_HOLD && me.node & 1)
		begin_hold(&me, c);
	spawn_all(&me, c, me.n->mode == MODE_THEN_DONE ? &done : NULL);
	if (me.n->mode == MODE_HOLD && !(me.node & 1))
		begin_hold(&me, c);
	if (me.n->mode >= MODE_THEN && me.n->mode <= MODE_THEN_DONE)
		return leave_by_then(&me, c, done);
	if (me.n->mode == MODE_JOIN) {
		seen = me.cell->seen = lkdf_join(c);
		look_at_error(&me, "join", seen,
			      expected(&me, me.node)->child_errors);
	}
	leave(&me);
	return end_with(&me, c, seen);
}

void body_drop(void *arg)
{
	uint32_t id = read_id(arg), call = id >> ID_NODE_BITS;
	uint32_t node = id & ((1u << ID_NODE_BITS) - 1);
	struct world *w = world_now();

	if (call == ID_OF_GRAPH)
		atomic_fetch_add(&w->nr_drops[node], 1);
	else
		atomic_fetch_add(
			&cell_of(w, call, w->run[call].rep, node)->nr_drops, 1);
}

void cell_signal(struct cell *cell)
{
	struct lkdf_event e = cell->event;
	int rc;

	cell->extra += cell->bring;
	cell->signal_end = atomic_fetch_add(&world_now()->clock, 1) + 1;
	rc = lkdf_event_signal(e, cell->error);
	if (rc)
		wrong(world_now(), "signal: %d %s", rc, lkdf_errmsg());
}

int body_signal(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	atomic_fetch_add(&world_now()->nr_calls, 1);
	cell_signal(arg);
	return 0;
}
