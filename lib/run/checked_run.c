/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "run/checked_run.h"

#include "check/device.h"
#include "check/notes.h"
#include "core/runtime.h"
#include "data/data.h"
#include "data/var_check.h"
#include "graph/access.h"
#include "graph/control.h"
#include "graph/port.h"
#include "run/frame.h"
#include "run/stream.h"
#include "task/checked.h"
#include "task/kind.h"

#include <stdio.h>
#include <stdlib.h>

struct frame_check {
	uint64_t *begin; /* what its caller has told */
	uint64_t *end, *before; /* of this run, and of the one before */
	uint64_t *tokens; /* by index */
	struct check_place *last; /* by index: the body that told it last */
	bool owns_begin;
};

static struct check *check_of(const struct frame *f)
{
	return f->graph->rt->check;
}

/* ---- runs --------------------------------------------------------------- */

static void renew_tokens(struct frame *f)
{
	struct frame_check *fc = f->check;
	uint32_t nr = f->graph->nr_recs, i;

	check_forget(fc->before);
	check_forget(fc->tokens);
	fc->before = fc->end;
	fc->end = check_tokens(1);
	fc->tokens = check_tokens(nr + 1ul);
	for (i = 0; fc->last && i < nr; i++)
		fc->last[i] = (struct check_place){ 0 };
}

/* Reports name the bytes of values by their ports. */
static void note_ports(struct frame *f)
{
	struct lkdf_graph *g = f->graph;
	const struct ports *p = g->ports;
	char name[NAME_SIZE], label[2 * NAME_SIZE];
	const struct port_out *out;
	uint32_t i, nr;

	for (i = 0; p && g->rt->notes && i < p->nr_indices; i++)
		for (nr = p->first_out[i]; nr < p->first_out[i + 1]; nr++) {
			out = &p->out[nr];
			snprintf(label, sizeof(label), "port %u of %s",
				 nr - p->first_out[i],
				 graph_task_name(g, graph_number(g, i), name,
						 sizeof(name)));
			notes_bytes(g->rt->notes, label,
				    f->port.bytes + out->slot, out->size);
		}
}

static struct frame_check *record_of(struct frame *f)
{
	struct frame_check *fc = f->check;

	if (fc)
		return fc;
	fc = calloc(1, sizeof(*fc));
	if (fc)
		fc->last = calloc(f->graph->nr_recs + 1ul, sizeof(*fc->last));
	f->check = fc;
	note_ports(f);
	return fc;
}

static void forget_begin(struct frame_check *fc)
{
	if (fc->owns_begin)
		check_forget(fc->begin);
	fc->owns_begin = false;
	fc->begin = NULL;
}

void checked_run_begins(struct frame *f)
{
	struct frame_check *fc = record_of(f);

	if (!fc)
		return;
	renew_tokens(f);
	forget_begin(fc);
	fc->begin = check_tokens(1);
	fc->owns_begin = true;
	check_release(check_of(f), fc->begin);
}

void checked_run_again(struct frame *f)
{
	struct frame_check *fc = record_of(f);

	if (!fc)
		return;
	renew_tokens(f);
	if (!f->stream)
		return;
	forget_begin(fc);
	fc->begin = f->graph->check_begin;
}

void checked_stream_begins(struct lkdf_graph *g)
{
	if (!g->check_begin)
		g->check_begin = check_tokens(1);
	check_release(g->rt->check, g->check_begin);
}

void checked_run_free(struct frame *f)
{
	struct frame_check *fc = f->check;

	if (!fc)
		return;
	forget_begin(fc);
	check_forget(fc->before);
	check_forget(fc->end);
	check_forget(fc->tokens);
	free(fc->last);
	free(fc);
	f->check = NULL;
}

/* ---- data --------------------------------------------------------------- */

static unsigned turn_of(const struct access_use *u)
{
	if (u->mode & LKDF_REDUCE)
		return TURN_REDUCE;
	if (u->mode & LKDF_COMMUTE)
		return TURN_COMMUTE;
	return u->mode & LKDF_WRITE ? TURN_WRITE : TURN_READ;
}

/* Its var, and for a part that of the whole. */
static void each_use(struct frame *f, uint32_t index,
		     void (*fn)(struct check *ch, struct var *v, unsigned turn))
{
	const struct access_table *w = f->graph->accesses;
	const struct access_use *u, *end;
	const struct access_var *v;
	struct domain *d;

	if (!w)
		return;
	for (u = access_uses(w, index, &end); u < end; u++) {
		v = access_var(w, u->var);
		d = &v->data->domain;
		if (v->part)
			fn(check_of(f), &d->whole, TURN_PARTS);
		fn(check_of(f), domain_var(d, v->part), turn_of(u));
	}
}

/* ---- a task ------------------------------------------------------------- */

/* NULL: bodies of this task in several runs need not take turns. */
static uint64_t *turn_token(struct frame *f, uint32_t index)
{
	struct lkdf_graph *g = f->graph;

	if (!(f->recs[index].flags & REC_TOKEN) ||
	    graph_stride(g, f->recs[index].kind) != 1)
		return NULL;
	if (!g->check_turns)
		g->check_turns = check_tokens(g->nr_recs);
	return g->check_turns ? &g->check_turns[index] : NULL;
}

/* It may start although a task before it has had no body, or none was chosen.
 */
static bool may_lack_inputs(const struct rec *r)
{
	return r->kind->flags & LKDF_ALWAYS || r->flags & REC_CHOSEN;
}

void checked_run_hear(struct frame *f, uint32_t index)
{
	struct check *ch = check_of(f);
	struct frame_check *fc = f->check;

	if (!fc || !fc->tokens)
		return;
	check_acquire(ch, fc->begin);
	check_acquire(ch, fc->before);
	check_acquire(ch, &fc->tokens[index]);
	check_acquire(ch, turn_token(f, index));
	if (may_lack_inputs(&f->recs[index]))
		check_acquire(ch, fc->end);
	each_use(f, index, var_hear);
	/* Its bytes may have come from a device. */
	if (f->graph->accesses)
		check_device_hear(ch, DEVICE_CAME);
}

static void tell_record(struct frame *f, uint32_t to,
			const struct check_place *at)
{
	struct frame_check *fc = f->check;

	check_release(check_of(f), &fc->tokens[to]);
	if (at)
		fc->last[to] = *at;
}

static void tell_successors(struct frame *f, uint32_t index,
			    const struct check_place *at)
{
	const struct rec *r = &f->recs[index];
	const struct control *c = f->graph->control;
	const uint32_t *succ;
	uint32_t nr, i;

	if (r->nr_succ == REC_CONTROL) {
		for (i = 0; i < r->succ[1]; i++)
			tell_record(f, c->out[r->succ[0] + i].to, at);
		return;
	}
	succ = graph_succ(f->graph, r, &nr);
	for (i = 0; i < nr; i++)
		tell_record(f, succ[i], at);
}

/*
 * A loop goes round, or is left, when all of the iteration is over: so its head
 * and what comes after it come after each member.
 */
static void tell_loops(struct frame *f, uint32_t index)
{
	const struct control *c = f->graph->control;
	const struct graph_loop *l;
	uint32_t loop, i;

	if (!c || !c->nr_loops || !(f->recs[index].flags & REC_MEMBER))
		return;
	for (loop = c->loop_of[index]; loop != NO_LOOP; loop = l->parent) {
		l = &c->loops[loop];
		tell_record(f, l->head, NULL);
		for (i = 0; i < l->nr_exits; i++)
			tell_record(f, c->exits[l->first_exit + i].to, NULL);
	}
}

static void tell_event(struct check *ch, struct lkdf_event e)
{
	if (e.slot)
		check_release(ch, event_token(ch, e.slot, e.gen));
}

/* Those who come after the run: its event, the scope, the body above. */
static void tell_end(struct frame *f)
{
	struct check *ch = check_of(f);

	check_release(ch, f->check->end);
	tell_event(ch, f->stream ? f->stream->done : f->done);
	checked_tell_scope(f->scope);
	if (f->parent)
		checked_tell_parent(f->parent);
}

void checked_run_tell(struct frame *f, uint32_t index,
		      const struct check_place *at)
{
	struct check *ch = check_of(f);
	struct frame_check *fc = f->check;

	if (!fc || !fc->tokens)
		return;
	tell_successors(f, index, at);
	tell_loops(f, index);
	check_release(ch, turn_token(f, index));
	each_use(f, index, var_tell);
	tell_end(f);
}

struct check_place checked_run_after(const struct frame *f, uint32_t index)
{
	const struct frame_check *fc = f->check;

	return fc && fc->last ? fc->last[index] : (struct check_place){ 0 };
}

/* ---- without a body ----------------------------------------------------- */

struct passed {
	struct check_call call;
	struct frame *f;
	uint32_t index;
};

static void run_passed(struct check_call *call)
{
	struct passed *p = container_of(call, struct passed, call);

	checked_run_hear(p->f, p->index);
	checked_run_tell(p->f, p->index, &call->place);
}

void checked_run_passed(struct frame *f, uint32_t index)
{
	struct passed p = { .f = f, .index = index };

	p.call.run = run_passed;
	p.call.name = "task that was passed over";
	fiber_run(check_of(f), &p.call, checked_run_after(f, index));
}

struct asked {
	struct check_call call;
	struct frame *f;
	bool (*until)(void *u);
	void (*drop)(void *value);
	void *u;
	bool answer;
};

static void run_asked(struct check_call *call)
{
	struct asked *a = container_of(call, struct asked, call);
	struct frame_check *fc = a->f->check;
	struct check *ch = check_of(a->f);

	check_acquire(ch, fc->begin);
	/* A repetition may have no body. */
	check_acquire(ch, fc->before);
	check_acquire(ch, fc->end);
	check_enter(ch);
	if (a->until)
		a->answer = a->until(a->u);
	else
		a->drop(a->u);
	check_leave(ch);
	/* The next repetition comes after it, or who waits for the last. */
	tell_end(a->f);
}

static bool ask_program(struct asked *a, const char *name)
{
	a->call.run = run_asked;
	a->call.name = name;
	return a->f->check &&
	       !fiber_run(check_of(a->f), &a->call, (struct check_place){ 0 });
}

bool checked_run_until(struct frame *f, bool (*until)(void *u), void *u)
{
	struct asked a = { .f = f, .until = until, .u = u };

	return ask_program(&a, "until of a run") ? a.answer : until(u);
}

void checked_run_drop(struct frame *f, void (*drop)(void *value), void *value)
{
	struct asked a = { .f = f, .drop = drop, .u = value };

	if (!ask_program(&a, "drop of a value"))
		drop(value);
}
