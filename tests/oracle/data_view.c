/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "tests/oracle/data_view.h"

#include <lkdf/data.h>
#include <string.h>

/* ---- uses ---------------------------------------------------------------- */

static uint8_t turn_of(uint8_t mode)
{
	if (mode & LKDF_REDUCE)
		return D_TURN_REDUCE;
	if (mode & LKDF_COMMUTE)
		return D_TURN_COMMUTE;
	return mode & LKDF_WRITE ? D_TURN_WRITE : D_TURN_READ;
}

static bool uses_whole(const struct d_task *t, uint8_t var)
{
	uint32_t i;

	for (i = 0; i < t->nr_uses; i++) {
		if (t->use[i].var == var && !t->use[i].part)
			return true;
	}
	return false;
}

static void add(struct d_eff *e, const struct d_use *u)
{
	uint8_t turn = turn_of(u->mode);

	e->reads |= (u->mode & (LKDF_READ | LKDF_COMMUTE | LKDF_REDUCE)) != 0;
	e->writes |= (u->mode & (LKDF_WRITE | LKDF_COMMUTE | LKDF_REDUCE)) != 0;
	if (e->turn && e->turn != turn)
		turn = D_TURN_WRITE;
	e->turn = turn;
	e->is_weak |= (u->mode & LKDF_WEAK) != 0;
	e->ends |= u->ends;
	e->is_untouched |= u->is_untouched;
}

uint32_t d_effective(const struct d_program *p, const struct d_task *t,
		     struct d_eff *eff)
{
	const struct d_use *u;
	uint32_t i, j, nr = 0;
	uint8_t part;

	for (i = 0; i < t->nr_uses; i++) {
		u = &t->use[i];
		part = uses_whole(t, u->var) ? 0 : u->part;
		for (j = 0; j < nr; j++) {
			if (eff[j].var == u->var && eff[j].part == part)
				break;
		}
		if (j == nr) {
			memset(&eff[nr], 0, sizeof(*eff));
			eff[nr].p = p;
			eff[nr].var = u->var;
			eff[nr].part = part;
			nr++;
		}
		add(&eff[j], u);
	}
	return nr;
}

uint32_t d_eff_slots(const struct d_eff *u, uint32_t *end)
{
	uint32_t nr = u->p->var[u->var].nr_parts;

	*end = u->part ? u->part : nr ? nr : 1;
	return u->part ? u->part - 1u : 0;
}

uint32_t d_nr_produced(const struct d_program *p, uint32_t node, bool has_run)
{
	const struct d_task *t = &p->node[node];
	uint32_t i, nr = 0;

	for (i = 0; i < t->nr_uses && has_run; i++)
		nr += t->use[i].mode & LKDF_WRITE &&
		      p->var[t->use[i].var].is_once &&
		      p->var[t->use[i].var].has_drop;
	return nr;
}

/* ---- what is written ---------------------------------------------------- */

void d_view_cover(struct d_view *below, const struct d_eff *eff, uint32_t nr)
{
	uint32_t i, s, end;

	for (i = 0; i < nr; i++) {
		for (s = d_eff_slots(&eff[i], &end); s < end; s++)
			below->slot[eff[i].var][s].is_weak = eff[i].is_weak;
	}
}

bool d_view_is_written(const struct d_view *v, const struct d_eff *u)
{
	uint32_t s, end;

	for (s = d_eff_slots(u, &end); s < end; s++) {
		if (!v->slot[u->var][s].is_written)
			return false;
	}
	return true;
}

void d_view_set_written(struct d_view *v, const struct d_eff *u)
{
	uint32_t s, end;

	for (s = d_eff_slots(u, &end); s < end; s++)
		v->slot[u->var][s].is_written = true;
}

/* ---- errors ------------------------------------------------------------- */

static uint16_t slot_errors(const struct d_view *v, uint32_t var, uint32_t s)
{
	const struct d_slot *slot = &v->slot[var][s];

	/* A weak parent has not looked at what was there before. */
	while (!slot->errors && v->up && slot->is_weak && !slot->has_value) {
		v = v->up;
		slot = &v->slot[var][s];
	}
	return slot->errors;
}

uint16_t d_view_errors(const struct d_view *v, const struct d_eff *u)
{
	uint16_t errors = 0;
	uint32_t s, end;

	for (s = d_eff_slots(u, &end); s < end; s++)
		errors |= slot_errors(v, u->var, s);
	return errors;
}

uint16_t d_view_errors_here(const struct d_view *v, const struct d_eff *u)
{
	uint16_t errors = 0;
	uint32_t s, end;

	for (s = d_eff_slots(u, &end); s < end; s++)
		errors |= v->slot[u->var][s].errors;
	return errors;
}

void d_view_publish(struct d_view *v, const struct d_eff *u, uint16_t errors,
		    const struct d_view *below)
{
	struct d_slot *slot;
	uint32_t s, end;

	for (s = d_eff_slots(u, &end); s < end; s++) {
		slot = &v->slot[u->var][s];
		/* The first failure stays until it is healed. */
		if (errors && !slot->errors)
			slot->errors = errors;
		if (errors || u->turn == D_TURN_REDUCE)
			continue;
		/* Where its children have written nothing all is as before. */
		if (below && u->reads && !below->slot[u->var][s].has_value)
			continue;
		slot->errors = 0;
		slot->has_value = true;
	}
}

void d_view_take(struct d_view *v, const struct d_view *from,
		 const struct d_eff *u, uint16_t errors)
{
	uint32_t s, end;

	for (s = d_eff_slots(u, &end); s < end; s++) {
		v->slot[u->var][s].has_value |= from->slot[u->var][s].has_value;
		if (from->slot[u->var][s].errors)
			v->slot[u->var][s].errors |= errors;
		else
			v->slot[u->var][s].errors = 0;
	}
}

/* ---- groups ------------------------------------------------------------- */

/* Uses of the whole and of parts wait for each other. */
void d_view_end_groups(struct d_view *v, const struct d_eff *u)
{
	struct d_group *group = v->group[u->var];
	uint8_t keeps = u->turn == group[u->part].turn ? u->turn : D_TURN_NONE;
	uint32_t i;

	for (i = 1; !u->part && i <= D_PARTS; i++)
		group[i].turn = D_TURN_NONE;
	if (u->part)
		group[0].turn = D_TURN_NONE;
	group[u->part].turn = keeps;
}

void d_view_forget_groups(struct d_view *v)
{
	memset(v->group, 0, sizeof(v->group));
}

bool d_view_join_group(struct d_view *v, const struct d_eff *u, bool is_bad,
		       bool *starts)
{
	struct d_group *g = &v->group[u->var][u->part];

	d_view_end_groups(v, u);
	*starts = g->turn != u->turn;
	if (*starts) {
		g->turn = u->turn;
		g->is_bad = is_bad;
		g->was_bad = d_view_errors(v, u) != 0;
		return true;
	}
	g->is_bad |= is_bad;
	return g->turn < D_TURN_COMMUTE || g->was_bad || !g->is_bad;
}
