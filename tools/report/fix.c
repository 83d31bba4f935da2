/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "report/fix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name, *object;
} verbs[NR_FIX_VERBS] = {
	[FIX_WORKERS] = { "workers", NULL },
	[FIX_TOKENS] = { "tokens", "limit" },
	[FIX_WINDOW] = { "window", "scope" },
	[FIX_DEPTH] = { "depth", "channel" },
	[FIX_GRAIN] = { "grain", "loop" },
	[FIX_PRIORITY] = { "priority", "kind" },
};

/* ---- the list ----------------------------------------------------------- */

/* "tokens=NAME:4" or "workers=4"; spoils the text. */
static const char *parse_one(struct fix *f, char *text)
{
	char *name = strchr(text, '='), *value = strrchr(text, ':');
	int v;

	snprintf(f->text, sizeof(f->text), "%s", text);
	if (!name)
		return "expected VERB=NAME:VALUE";
	*name++ = '\0';
	for (v = 0; v < NR_FIX_VERBS && strcmp(text, verbs[v].name); v++)
		continue;
	if (v == NR_FIX_VERBS)
		return "expected one of workers, tokens, window, depth, "
		       "grain, priority";
	f->verb = (enum fix_verb)v;
	if (v == FIX_WORKERS)
		value = name;
	else if (!value || value <= name)
		return "expected VERB=NAME:VALUE";
	else
		*value++ = '\0';
	if (v != FIX_WORKERS)
		snprintf(f->name, sizeof(f->name), "%s", name);
	snprintf(f->value, sizeof(f->value), "%s", value);
	if (v != FIX_PRIORITY && strtoull(value, NULL, 10) == 0)
		return "the value is no number from 1 on";
	return NULL;
}

/* The library takes the later one, and a replay knows nothing of that. */
static bool is_twice(const struct fix_list *l)
{
	const struct fix *last = &l->fix[l->nr - 1], *f;

	for (f = l->fix; f < last; f++)
		if (f->verb == last->verb && !strcmp(f->name, last->name))
			return true;
	return false;
}

const char *fix_parse(struct fix_list *l, const char *text)
{
	char *copy = strdup(text), *at, *rest = NULL;
	const char *wrong = copy ? NULL : "no memory";

	for (at = copy ? strtok_r(copy, ",", &rest) : NULL; at && !wrong;
	     at = strtok_r(NULL, ",", &rest)) {
		wrong = l->nr == MAX_FIXES ? "there are more than 16"
					   : parse_one(&l->fix[l->nr++], at);
		if (!wrong && is_twice(l))
			wrong = "it changes the same number twice";
	}
	free(copy);
	return wrong || l->nr ? wrong : "which change?";
}

const char *fix_object(const struct fix *f)
{
	return verbs[f->verb].object;
}

bool fix_is_made(const struct fix *f, const struct report *r)
{
	char text[sizeof(f->text) + 8];
	uint32_t i;

	if (f->verb == FIX_WORKERS)
		return true;
	snprintf(text, sizeof(text), "fix: %s", f->text);
	for (i = 0; i < LKDF_MAX_NAMES; i++)
		if (r->info.name[i] && !strcmp(r->info.name[i], text))
			return true;
	return false;
}

void fix_option(const struct fix_list *l, const char *before, char *to,
		size_t size)
{
	size_t used;
	unsigned i;

	snprintf(to, size, "%s", before ? before : "");
	for (i = 0; i < l->nr; i++) {
		used = strlen(to);
		if (l->fix[i].verb != FIX_WORKERS)
			snprintf(to + used, size - used, "%s%s",
				 used ? "," : "", l->fix[i].text);
	}
}

/* ---- the prediction ------------------------------------------------------ */

static uint32_t find_kind(const struct report *r, const char *name)
{
	uint32_t i;

	for (i = 0; i < r->nr_kinds; i++)
		if (!strcmp(kind_name(r, i), name))
			return i + 1;
	return 0;
}

static const char *more_workers(const struct fix *f, struct change *c)
{
	c->workers = (uint32_t)strtoul(f->value, NULL, 10);
	return NULL;
}

/*
 * A limit is recorded as 'limit "NAME" of 2 tokens', and only if tasks waited
 * for them.
 */
static const char *more_tokens(const struct fix *f, struct replay *p)
{
	unsigned long long now, then = strtoull(f->value, NULL, 10);
	char text[128];
	uint32_t l;
	size_t nr;

	nr = (size_t)snprintf(text, sizeof(text), "limit \"%.31s\" of ",
			      f->name);
	for (l = 0; l < p->nr_limits; l++)
		if (!strncmp(p->r->info.name[p->limit_name[l]], text, nr))
			break;
	if (l == p->nr_limits)
		return "no task waited for tokens of that limit";
	now = strtoull(p->r->info.name[p->limit_name[l]] + nr, NULL, 10);
	p->cap[l] = (uint32_t)(p->cap[l] * then / (now ? now : 1));
	p->cap[l] += !p->cap[l];
	return NULL;
}

/* A thread of the program waited for room there: it does not. */
static const char *more_room(const struct fix *f, const struct replay *p,
			     struct change *c)
{
	const struct wait_sum *w = p->r->wait_sum;
	char text[80];
	uint32_t i;

	snprintf(text, sizeof(text), "\"%.24s\"", f->name);
	for (i = 0; i < p->r->nr_wait_sums; i++, w++)
		if (w->fits && strstr(p->r->info.name[w->name], text))
			break;
	if (i == p->r->nr_wait_sums)
		return "no thread of the program waited for room there";
	if (c->no_wait)
		return "of two windows or depths it tells nothing";
	if (strtoull(f->value, NULL, 10) < w->fits)
		return "a replay does not know what less room costs";
	c->no_wait = 1 + w->name;
	return NULL;
}

static const char *other_grain(const struct fix *f, const struct replay *p,
			       struct change *c)
{
	uint32_t kind = find_kind(p->r, f->name);

	if (!kind || !p->r->kind[kind - 1].is_loop)
		return "no loop of that name was recorded";
	if (c->split)
		return "of two grains it tells nothing";
	c->split = kind;
	return NULL;
}

static const char *other_priority(const struct fix *f, const struct replay *p,
				  struct change *c)
{
	uint32_t kind = find_kind(p->r, f->name);

	if (!kind)
		return "no body of that kind was recorded";
	if (strcmp(f->value, "high") && strcmp(f->value, "urgent"))
		return "a replay knows only what goes first";
	if (c->first)
		return "of two priorities it tells nothing";
	c->first = kind;
	return NULL;
}

static const char *set_change(void *u, struct replay *p, struct change *c)
{
	struct fix_list *l = u;
	const char *why = NULL;
	struct fix *f;

	for (f = l->fix; f < l->fix + l->nr && !why; f++) {
		if (f->verb == FIX_WORKERS) {
			why = more_workers(f, c);
		} else if (f->verb == FIX_TOKENS) {
			why = more_tokens(f, p);
		} else if (f->verb == FIX_PRIORITY) {
			why = other_priority(f, p, c);
		} else if (f->verb == FIX_GRAIN) {
			why = other_grain(f, p, c);
		} else {
			l->is_bound = true;
			why = more_room(f, p, c);
		}
	}
	return why;
}

int fix_predict(struct fix_list *l, struct report *r, double *gain)
{
	return report_predict(r, set_change, l, gain);
}
