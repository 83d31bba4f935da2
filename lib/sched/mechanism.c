/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "sched/mechanism.h"

#include "base/util.h"
#include "sched/phase.h"

#include <string.h>

/* ---- what happens where no row says otherwise ---------------------------- */

static enum keeping keeps_nothing(const struct worker *w)
{
	(void)w;
	return KEEPS_NOTHING;
}

static bool answers_nobody(struct worker *w, bool is_short)
{
	(void)w;
	(void)is_short;
	return false;
}

static bool wakes_all(struct sched_node *node)
{
	(void)node;
	return true;
}

/* Nobody has to be woken so that somebody comes by. */
static bool needs_no_watch(struct sched *s)
{
	(void)s;
	return true;
}

static void watches_nothing(struct worker *w)
{
	(void)w;
}

static bool has_nothing(struct worker *w)
{
	(void)w;
	return false;
}

static bool pops_nothing(struct worker *w, uint64_t *item)
{
	(void)w;
	(void)item;
	return false;
}

static bool is_free(const struct worker *w)
{
	(void)w;
	return false;
}

static bool may_stay(struct worker *w, bool is_idle)
{
	(void)w;
	(void)is_idle;
	return false;
}

static void goes_on(struct worker *w)
{
	(void)w;
}

/* ---- the sort ------------------------------------------------------------ */

typedef void (*any_fn)(void);

/* A field of a row, and the list that it goes to. */
struct field {
	size_t from, to;
};

#define FIELD(name)                                            \
	{                                                      \
		offsetof(struct mechanism, name),              \
			offsetof(struct mechanism_calls, name) \
	}

static const struct field lists[] = {
	FIELD(take), FIELD(enter),	FIELD(announce), FIELD(before_sleep),
	FIELD(nap),  FIELD(after_wake), FIELD(leave),	 FIELD(release),
};

static const struct field singles[] = {
	FIELD(keeps),	   FIELD(answers),    FIELD(wakes_others),
	FIELD(is_watched), FIELD(watch),      FIELD(has_news),
	FIELD(pop),	   FIELD(must_leave), FIELD(stand_by),
	FIELD(is_due),	   FIELD(take_due),
};

static any_fn fn_at(const void *base, size_t offset)
{
	any_fn fn;

	memcpy(&fn, (const char *)base + offset, sizeof(fn));
	return fn;
}

static void put_fn(void *base, size_t offset, any_fn fn)
{
	memcpy((char *)base + offset, &fn, sizeof(fn));
}

/* Behind the last one of the list. */
static void append_fn(void *base, size_t offset, any_fn fn)
{
	while (fn_at(base, offset))
		offset += sizeof(fn);
	put_fn(base, offset, fn);
}

static void add_place(struct mechanism_calls *c, const struct mechanism *m)
{
	size_t nr = 0;

	while (c->has[nr])
		nr++;
	c->has[nr] = m->has;
	c->has_name[nr] = m->name;
}

static void add_spin(struct mechanism_calls *c, const struct mechanism *m,
		     uint32_t ticks_per_1024ns)
{
	size_t nr = 0;

	while (c->spin[nr])
		nr++;
	c->spin[nr] = m->spin;
	c->spin_ticks[nr] = (uint64_t)m->spin_ns * ticks_per_1024ns / 1024;
}

static void add_row(struct mechanism_calls *c, const struct mechanism *m,
		    uint32_t ticks_per_1024ns)
{
	any_fn fn;
	size_t i;

	phase_check_row(m);
	for (i = 0; i < ARRAY_SIZE(lists); i++) {
		fn = fn_at(m, lists[i].from);
		if (fn)
			append_fn(c, lists[i].to, fn);
	}
	for (i = 0; i < ARRAY_SIZE(singles); i++) {
		fn = fn_at(m, singles[i].from);
		if (fn)
			put_fn(c, singles[i].to, fn);
	}
	if (m->has)
		add_place(c, m);
	if (m->spin)
		add_spin(c, m, ticks_per_1024ns);
}

void mechanism_sort(struct mechanism_calls *c,
		    const struct mechanism *const *rows,
		    uint32_t ticks_per_1024ns)
{
	size_t nr;

	*c = (struct mechanism_calls){
		.keeps = keeps_nothing,
		.answers = answers_nobody,
		.wakes_others = wakes_all,
		.is_watched = needs_no_watch,
		.watch = watches_nothing,
		.has_news = has_nothing,
		.pop = pops_nothing,
		.must_leave = may_stay,
		.stand_by = goes_on,
		.is_due = is_free,
		.take_due = pops_nothing,
	};
	for (nr = 0; rows[nr]; nr++) {
		check(nr < MAX_MECHANISMS);
		phase_check_alone(rows, nr);
		add_row(c, rows[nr], ticks_per_1024ns);
	}
}

/* ---- data ---------------------------------------------------------------- */

static const struct mechanism_data *data_of(const struct mechanism *m,
					    enum mechanism_owner owner)
{
	switch (owner) {
	case OWNER_WORKER:
		return &m->of_worker;
	case OWNER_NODE:
		return &m->of_node;
	case OWNER_SCHED:
		break;
	}
	return &m->of_sched;
}

size_t mechanism_lay(const struct mechanism *const *rows,
		     enum mechanism_owner owner, int nr_nodes, void **data,
		     char *at)
{
	const struct mechanism_data *d;
	size_t size = 0, i;

	for (i = 0; rows[i]; i++) {
		d = data_of(rows[i], owner);
		if (!d->size)
			continue;
		size = round_up(size, d->align);
		if (at)
			data[i] = at + size;
		size += d->size + d->per_node * (size_t)nr_nodes;
	}
	return round_up(size, CACHE_LINE);
}

/* ---- life ---------------------------------------------------------------- */

int mechanisms_open(struct sched *s, const struct sched_setup *a)
{
	size_t i;
	int rc = 0;

	for (i = 0; s->rows[i] && !rc; i++)
		if (s->rows[i]->open)
			rc = s->rows[i]->open(s, a);
	return rc;
}

void mechanisms_started(struct sched *s)
{
	size_t i;

	for (i = 0; s->rows[i]; i++)
		if (s->rows[i]->started)
			s->rows[i]->started(s);
}

void mechanisms_stop(struct sched *s)
{
	size_t i;

	for (i = 0; s->rows[i]; i++)
		if (s->rows[i]->stop)
			s->rows[i]->stop(s);
}

void mechanisms_close(struct sched *s)
{
	size_t i;

	for (i = 0; s->rows && s->rows[i]; i++)
		if (s->rows[i]->close)
			s->rows[i]->close(s);
}
