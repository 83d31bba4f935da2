/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Tasks. A team of several threads spawns them, below the member or task that
 * makes them; a thread outside of such a team runs them at once.
 */
#include "gomp/task.h"

#include "gomp/calls.h"
#include "gomp/cancel.h"
#include "gomp/depend.h"
#include "gomp/detach.h"

#include <stdlib.h>
#include <string.h>

#define ARG_ALIGN 16

/* As libgomp: beyond so many for each thread a task runs at once. */
#define MANY_WAIT 64

/* So many tasks are made between two counts of those that wait. */
#define COUNT_EVERY 32

/* Small, so that an argument of some words has room beside it in a task. */
struct head {
	void (*fn)(void *data);
	struct team *team;
	struct env *env; /* a copy for this task; NULL: as the team's */
	struct reduction *reductions;
	struct task_group *group;
	struct detach *detach; /* or NULL */
	void *block; /* the argument; NULL: it follows */
	unsigned depth;
	bool is_final, is_copied; /* by the program, which ends the copy */
};

struct task {
	struct head head;
	_Alignas(ARG_ALIGN) char arg[];
};

static void begin_task(const struct head *h, struct lkdf_ctx *c, unsigned num,
		       const void *task)
{
	struct self *self = &gomp_self;

	self->team = h->team;
	self->c = c;
	self->task = task;
	self->is_explicit = true;
	self->env = h->env ? *h->env : h->team->env;
	self->num = num;
	self->is_final = h->is_final;
	self->depends = NULL;
	self->reductions = h->reductions;
	self->group = h->group;
	self->depth = h->depth;
	if (unlikely(h->env != NULL))
		free(h->env);
}

/* All that a task changes; in the rest of it the thread is as it was. */
static void end_task(const struct self *before)
{
	struct self *self = &gomp_self;

	if (unlikely(self->depends != NULL))
		depends_free(self->depends);
	self->team = before->team;
	self->c = before->c;
	self->task = before->task;
	self->is_explicit = before->is_explicit;
	self->env = before->env;
	self->num = before->num;
	self->is_final = before->is_final;
	self->depends = before->depends;
	self->reductions = before->reductions;
	self->group = before->group;
	self->depth = before->depth;
}

static void count_begun(struct tally *t)
{
	a_store(&t->nr_begun, a_load(&t->nr_begun, relaxed) + 1, relaxed);
}

/* A task that somebody waits for by its event, or whose copy it ends, runs. */
static bool is_cancelled(const struct head *h)
{
	return unlikely(h->team->cancels) && !h->is_copied && !h->detach &&
	       cancel_drops(h->team, h->group);
}

int task_run(struct lkdf_ctx *c, void *arg)
{
	struct self before = gomp_self;
	struct task *t = arg;
	unsigned num = (unsigned)lkdf_worker(c);
	struct detach *d = t->head.detach;

	count_begun(&t->head.team->pool->tally[num]);
	begin_task(&t->head, c, num, &before);
	if (d && detach_hold(d, c))
		d = NULL;
	if (likely(!is_cancelled(&t->head)))
		t->head.fn(t->head.block ? t->head.block : t->arg);
	end_task(&before);
	if (t->head.block)
		free(t->head.block);
	if (d)
		detach_await(d);
	return 0;
}

/* ---- how many wait ------------------------------------------------------ */

static bool many_wait(const struct team *t)
{
	const struct tally *tally = t->pool->tally;
	uint64_t nr = 0;
	unsigned i;

	for (i = 0; i < t->nr; i++)
		nr += a_load(&tally[i].nr_made, relaxed) -
		      a_load(&tally[i].nr_begun, relaxed);
	return nr > (uint64_t)MANY_WAIT * t->nr;
}

/* A thread has the number of the worker that it is. */
static struct tally *own_tally(void)
{
	return &gomp_self.team->pool->tally[gomp_self.num];
}

static void count_made(int nr)
{
	struct tally *t = own_tally();

	a_store(&t->nr_made, a_load(&t->nr_made, relaxed) + (uint64_t)nr,
		relaxed);
}

/* A task is about to be made. True: there are enough. */
static bool note_made(const struct team *t)
{
	if (a_load(&own_tally()->nr_made, relaxed) % COUNT_EVERY == 0 &&
	    many_wait(t))
		return true;
	count_made(1);
	return false;
}

/* ---- making one --------------------------------------------------------- */

/* A task's event, and the events that it starts after. */
struct order {
	struct lkdf_event after[LKDF_MAX_AFTER];
	unsigned nr;
	bool is_made;
	struct lkdf_event done;
};

static size_t align_up(size_t n, size_t align)
{
	return (n + align - 1) & ~(align - 1);
}

static void set_bounds(const struct task_args *a, void *arg)
{
	if (a->is_bounded)
		memcpy(arg, a->bounds, sizeof(a->bounds));
}

static void fill_arg(const struct task_args *a, void *to)
{
	if (a->copy)
		a->copy(to, a->data);
	else
		memcpy(to, a->data, a->size);
	set_bounds(a, to);
}

static bool is_same_env(const struct env *a, const struct env *b)
{
	return a->nr_threads == b->nr_threads && a->schedule == b->schedule &&
	       a->chunk == b->chunk && a->max_levels == b->max_levels &&
	       a->bind == b->bind && a->thread_limit == b->thread_limit &&
	       a->nr_teams == b->nr_teams && a->team_num == b->team_num &&
	       a->is_dynamic == b->is_dynamic && a->device == b->device &&
	       a->allocator == b->allocator;
}

static __attribute__((noinline)) struct env *copy_env(void)
{
	struct env *e = malloc(sizeof(*e));

	if (e)
		*e = gomp_self.env;
	return e;
}

static bool will_be_final(const struct task_args *a)
{
	return gomp_self.is_final || a->flags & TASK_FINAL;
}

/* False: no memory. */
static bool fill_head(const struct task_args *a, struct head *h)
{
	const struct self *self = &gomp_self;

	h->fn = a->fn;
	h->team = self->team;
	h->env = NULL;
	h->reductions = self->reductions;
	h->group = self->group;
	h->detach = a->detach;
	h->block = NULL;
	h->depth = self->depth;
	h->is_final = will_be_final(a);
	h->is_copied = a->copy != NULL;
	if (likely(is_same_env(&self->env, &self->team->env)))
		return true;
	h->env = copy_env();
	return h->env != NULL;
}

/* After a function that this thread has run itself. */
static void end_detached(struct detach *d)
{
	struct team *t = team_self();

	if (d && t->nr == 1)
		detach_keep(t, d);
	else if (d)
		detach_await(d);
}

/* In the thread that meets it, before that goes on. */
static void run_now(const struct task_args *a)
{
	struct self before = gomp_self;

	gomp_self.task = &before;
	gomp_self.is_explicit = true;
	gomp_self.is_final = will_be_final(a);
	gomp_self.depends = NULL;
	if (a->copy) {
		char room[a->size + a->align];
		char *arg = (char *)align_up((uintptr_t)room, a->align);

		fill_arg(a, arg);
		a->fn(arg);
	} else {
		set_bounds(a, a->data);
		a->fn(a->data);
	}
	end_task(&before);
	end_detached(a->detach);
}

static bool spawn_task(const struct task_args *a, struct lkdf_kind *k,
		       const void *task)
{
	struct order *o = a->order;
	struct lkdf_task t = { .size = sizeof(t), .kind = k, .arg = task };

	if (!o)
		return !lkdf_spawn(gomp_self.c, k, task);
	t.after = o->after;
	t.nr_after = o->nr;
	o->is_made = !lkdf_spawn_task(gomp_self.c, &t, &o->done);
	return o->is_made;
}

/*
 * An argument that a constructor has made stays where it was made: it has a
 * block of its own. False: no memory.
 */
static bool spawn_block(const struct task_args *a)
{
	size_t align = a->align < ARG_ALIGN ? ARG_ALIGN : a->align;
	char task[TASK_ROOM] __attribute__((aligned(ARG_ALIGN))) = { 0 };
	struct task *t = (struct task *)task;
	struct lkdf_kind *k;
	uint32_t room;
	void *block = aligned_alloc(align, align_up(a->size, align));

	if (!block || !fill_head(a, &t->head)) {
		free(block);
		return false;
	}
	k = kinds_find(t->head.team->pool, a->fn, sizeof(task), &room);
	fill_arg(a, block);
	t->head.block = block;
	if (spawn_task(a, k, task))
		return true;
	/* It was made here, so it runs here. */
	free(t->head.env);
	if (a->order)
		task_wait();
	a->fn(block);
	free(block);
	end_detached(a->detach);
	return true;
}

static bool spawn_filled(const struct task_args *a, struct lkdf_kind *k,
			 struct task *t)
{
	if (!fill_head(a, &t->head))
		return false;
	fill_arg(a, t->arg);
	if (likely(spawn_task(a, k, t)))
		return true;
	free(t->head.env);
	return false;
}

static bool spawn_copied(const struct task_args *a)
{
	char small[TASK_ROOM] __attribute__((aligned(ARG_ALIGN)));
	uint32_t room;
	struct lkdf_kind *k = kinds_find(team_self()->pool, a->fn,
					 sizeof(struct task) + a->size, &room);

	if (!k)
		return spawn_block(a);
	if (likely(room == TASK_ROOM))
		return spawn_filled(a, k, (struct task *)small);
	{
		char large[room] __attribute__((aligned(ARG_ALIGN)));

		return spawn_filled(a, k, (struct task *)large);
	}
}

static bool spawn_any(const struct task_args *a)
{
	return a->copy || a->align > ARG_ALIGN ? spawn_block(a)
					       : spawn_copied(a);
}

void task_make(const struct task_args *a, bool is_deferred)
{
	const struct team *t = team_self();

	if (!is_deferred || t->nr == 1 || gomp_self.is_final || note_made(t)) {
		run_now(a);
		return;
	}
	if (!spawn_any(a))
		run_now(a);
}

/* After all children: whatever it depends on has ended. */
static void run_last(const struct task_args *a)
{
	task_wait();
	run_now(a);
}

static void spawn_in_order(struct task_args *a, struct depends *d,
			   void **depend)
{
	struct order o;

	o.is_made = false;
	if (!depends_look(d, depend, o.after, &o.nr)) {
		run_last(a);
		return;
	}
	a->order = &o;
	count_made(1);
	if (!spawn_any(a)) {
		count_made(-1);
		run_last(a);
	} else if (o.is_made && !depends_note(d, depend, o.done)) {
		task_wait();
	}
}

static void make_in_order(struct task_args *a, void **depend, bool is_deferred)
{
	if (team_self()->nr == 1 || gomp_self.is_final) {
		detach_wait(team_self());
		run_now(a);
		return;
	}
	if (!gomp_self.depends)
		gomp_self.depends = calloc(1, sizeof(*gomp_self.depends));
	if (is_deferred && gomp_self.depends)
		spawn_in_order(a, gomp_self.depends, depend);
	else
		run_last(a);
}

/*
 * Others may be what fulfills the event, so it is a task of its own where that
 * can be, however many wait.
 */
static void make_detached(struct task_args *a, void **depend, bool is_deferred)
{
	if (a->flags & TASK_DEPEND) {
		make_in_order(a, depend, true);
	} else if (team_self()->nr == 1 || gomp_self.is_final) {
		run_now(a);
	} else {
		count_made(1);
		if (!spawn_any(a)) {
			count_made(-1);
			run_now(a);
		}
	}
	if (!is_deferred)
		task_wait();
}

void GOMP_task(void (*fn)(void *), void *data, void (*copy)(void *, void *),
	       long size, long align, bool is_deferred, unsigned flags,
	       void **depend, int priority, void *detach)
{
	struct task_args a = { .fn = fn,
			       .data = data,
			       .copy = copy,
			       .size = (size_t)size,
			       .align = (size_t)align,
			       .flags = flags };

	(void)priority;
	if (unlikely(cancel_drops(team_self(), gomp_self.group)))
		return;
	if (flags & TASK_DETACH) {
		a.detach = detach_make(detach, data);
		make_detached(&a, depend, is_deferred);
	} else if (flags & TASK_DEPEND) {
		make_in_order(&a, depend, is_deferred);
	} else {
		task_make(&a, is_deferred);
	}
}

void task_wait(void)
{
	struct team *t = team_self();

	if (t->nr == 1) {
		detach_wait(t);
		return;
	}
	lkdf_join(gomp_self.c);
	depends_forget(gomp_self.depends);
}

void GOMP_taskwait(void)
{
	task_wait();
}

/* All children, not only those that it names. */
void GOMP_taskwait_depend(void **depend)
{
	(void)depend;
	task_wait();
}

static void do_nothing(void *data)
{
	(void)data;
}

/* A task that has nothing to do, but for what it waits for and who for it. */
void GOMP_taskwait_depend_nowait(void **depend)
{
	char none = 0;

	GOMP_task(do_nothing, &none, NULL, 0, 1, true, TASK_DEPEND, depend, 0,
		  NULL);
}

void GOMP_taskyield(void)
{
}
