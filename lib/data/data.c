/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "data/data.h"

#include "base/err.h"
#include "core/handle.h"
#include "core/runtime.h"
#include "data/facts.h"
#include "data/offhost.h"
#include "data/place.h"
#include "data/replica.h"
#include "data/var_check.h"
#include "mem/heap.h"
#include "topo/topo.h"

#include <errno.h>
#include <lkdf/runtime.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LEAKS 16

const char *data_text(const struct lkdf_data *d, uint32_t part,
		      char text[DATA_TEXT])
{
	char of[24] = "";

	if (part)
		snprintf(of, sizeof(of), "part %u of ", part);
	if (d->name[0])
		snprintf(text, DATA_TEXT, "%s%s", of, d->name);
	else
		snprintf(text, DATA_TEXT, "%sdata of %llu bytes", of,
			 (unsigned long long)d->bytes);
	return text;
}

/* ---- names: a tree of libc's, under the runtime's data lock ----------- */

static int by_name(const void *a, const void *b)
{
	const struct lkdf_data *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* 0; -EEXIST; -ENOMEM. */
static int add_name(struct lkdf_data *d)
{
	struct lkdf_data **at;

	if (!d->name[0])
		return 0;
	at = tsearch(d, &d->rt->data_names, by_name);
	if (!at)
		return -ENOMEM;
	return *at == d ? 0 : -EEXIST;
}

void data_publish_many(struct lkdf *rt, struct lkdf_data *const *d, uint32_t nr)
{
	uint32_t i;

	pthread_mutex_lock(&rt->data_lock);
	for (i = 0; i < nr; i++)
		list_append(&rt->all_data, &d[i]->all);
	pthread_mutex_unlock(&rt->data_lock);
}

int data_publish(struct lkdf_data *d)
{
	struct lkdf *rt = d->rt;
	int rc;

	pthread_mutex_lock(&rt->data_lock);
	rc = add_name(d);
	if (!rc)
		list_append(&rt->all_data, &d->all);
	pthread_mutex_unlock(&rt->data_lock);
	if (rc == -EEXIST)
		return err(rc, "data: the name \"%s\" is taken", d->name);
	return rc ? err(rc, "data: no memory for the name \"%s\"", d->name) : 0;
}

static void withdraw_data(struct lkdf_data *d)
{
	struct lkdf *rt = d->rt;

	pthread_mutex_lock(&rt->data_lock);
	list_del(&d->all);
	if (d->name[0])
		tdelete(d, &rt->data_names, by_name);
	pthread_mutex_unlock(&rt->data_lock);
}

/* A data that is on its way out is not found: its last reference is gone. */
static bool try_get(struct lkdf_data *d)
{
	uint32_t nr = a_load(&d->nr_refs, relaxed);

	while (nr)
		if (a_cas(&d->nr_refs, &nr, nr + 1, relaxed, relaxed))
			return true;
	return false;
}

int data_find(struct lkdf *rt, const char *name, struct lkdf_data **out)
{
	struct lkdf_data **at, key;

	if (strlen(name) < sizeof(key.name)) {
		strcpy(key.name, name);
		pthread_mutex_lock(&rt->data_lock);
		at = tfind(&key, &rt->data_names, by_name);
		if (at && try_get(*at)) {
			*out = *at;
			pthread_mutex_unlock(&rt->data_lock);
			return 0;
		}
		pthread_mutex_unlock(&rt->data_lock);
	}
	return err(-ENOENT, "data: there is none of name \"%s\"", name);
}

int data_at(struct lkdf *rt, const void *addr, struct lkdf_data **out)
{
	struct lkdf_data *d, *found = NULL;
	struct list *l;
	char *at;

	pthread_mutex_lock(&rt->data_lock);
	for (l = rt->all_data.next; l != &rt->all_data && !found; l = l->next) {
		d = container_of(l, struct lkdf_data, all);
		/* [data.look] pairs with [data.at]. */
		at = a_load(&d->domain.at, acquire);
		if (at && (uintptr_t)addr - (uintptr_t)at < d->bytes &&
		    try_get(d))
			found = d;
	}
	pthread_mutex_unlock(&rt->data_lock);
	if (!found)
		return err(-ENOENT, "data: none has bytes at %p", addr);
	*out = found;
	return 0;
}

/* ---- from create to the last writer ------------------------------------ */

static void free_vars(struct domain *d)
{
	uint32_t i;

	var_failure_put(d->rt, a_load(&d->whole.failure, relaxed));
	reduction_free(d->whole.reduction);
	var_forget(&d->whole);
	for (i = 0; i < d->nr_parts; i++) {
		var_failure_put(d->rt, a_load(&d->parts[i].failure, relaxed));
		reduction_free(d->parts[i].reduction);
		var_forget(&d->parts[i]);
	}
	free(d->parts);
}

/* All but the struct; no device has anything of it any more. */
static void empty_data(void *u)
{
	struct lkdf_data *d = u;

	replicas_destroy(d);
	data_free_bytes(d);
	free_vars(&d->domain);
}

/* The memory that is free without this data; NULL: others lie there, too. */
static void *leave_slab(struct lkdf_data *d)
{
	if (!d->slab)
		return d;
	/* [data.slab] the end of all in it; pairs with itself. */
	return a_sub(&d->slab->nr_left, 1, acq_rel) == 1 ? d->slab : NULL;
}

static void bury_data(void *u)
{
	struct lkdf_data *d = u;
	struct lkdf *rt = d->rt;
	void *memory;

	empty_data(d);
	d->rt = d->domain.rt = NULL;
	memory = leave_slab(d);
	if (memory)
		handle_bury(rt, memory);
}

void data_destroy(struct lkdf_data *d)
{
	copies_forget(data_copies(d), bury_data, d);
}

static void end_data(struct lkdf_data *d)
{
	withdraw_data(d);
	data_destroy(d);
}

static void last_ready(struct executor *ex, struct claim *c)
{
	(void)ex;
	end_data(c->use[0].domain->data);
}

void data_get(struct lkdf_data *d)
{
	a_add(&d->nr_refs, 1, relaxed);
}

static void never_free(struct claim *c)
{
	(void)c;
}

static const struct claim_ops last_ops = { last_ready, never_free };

/* How many there were; without any the put is one too many, and told. */
static uint32_t drop_reference(struct lkdf_data *d)
{
	uint32_t nr = a_load(&d->nr_refs, relaxed);

	do {
		if (!nr) {
			handle_tell_put("data_put", d->name);
			return 0;
		}
		/* [data.put] all uses before the last; pairs with itself. */
	} while (!a_cas(&d->nr_refs, &nr, nr - 1, acq_rel, relaxed));
	return nr;
}

/* It lies behind the data, see DATA_CELL. */
static struct claim *last_claim(struct lkdf_data *d)
{
	return (struct claim *)(d + 1);
}

/* Nobody can come any more, and those who came have left. */
static bool is_unused(const struct lkdf_data *d)
{
	const struct var *v = &d->domain.whole;

	/* [var.idle] what the last group did; pairs with [var.leave]. */
	return a_load(&v->active, acquire) == VAR_OPEN;
}

void data_put(struct lkdf_data *d)
{
	struct claim *c;
	struct use *why;

	if (!d || drop_reference(d) != 1)
		return;
	if (is_unused(d)) {
		end_data(d);
		return;
	}
	c = last_claim(d);
	c->nr = 1;
	c->ops = &last_ops;
	c->use[0].domain = &d->domain;
	c->use[0].mode = LKDF_WRITE;
	claim_prepare(c);
	if (claim_enter(runtime_executor(d->rt), c, &why) == 1)
		last_ready(NULL, c);
}

/* Under lock. away: taken where devices know the data already. */
static int split_data(struct lkdf_data *d, uint32_t nr, struct var *parts,
		      struct offhost **offhost)
{
	struct domain *dom = &d->domain;
	struct failure *failure = a_load(&dom->whole.failure, relaxed);
	uint32_t i;

	lock_assert_held(&dom->lock);
	if (dom->nr_parts)
		return -EEXIST;
	if (a_load(&dom->whole.active, relaxed) != VAR_OPEN)
		return -EBUSY;
	if (data_copies(d)) {
		copies_split(data_copies(d), nr, *offhost);
		*offhost = NULL;
	}
	for (i = 0; i < nr; i++) {
		var_init(&parts[i], dom);
		a_store(&parts[i].error, a_load(&dom->whole.error, relaxed),
			relaxed);
		a_store(&parts[i].failure, var_failure_get(failure), relaxed);
	}
	if (a_load(&dom->whole.error, relaxed))
		a_store(&dom->nr_poisoned, nr, relaxed);
	var_failure_put(d->rt, failure);
	a_store(&dom->whole.failure, NULL, relaxed);
	a_store(&dom->whole.error, 0, relaxed);
	a_store(&dom->whole.is_plain, false, relaxed);
	dom->parts = parts;
	dom->nr_parts = nr;
	return 0;
}

int data_split(struct lkdf_data *d, uint32_t nr, uint64_t stride)
{
	struct var *parts = calloc(nr, sizeof(*parts));
	struct offhost *offhost = calloc(nr, sizeof(*offhost));
	char text[DATA_TEXT];
	int rc = -ENOMEM;

	if (parts && offhost) {
		lock_take(&d->domain.lock);
		rc = split_data(d, nr, parts, &offhost);
		if (!rc)
			d->stride = stride;
		lock_give(&d->domain.lock);
	}
	free(offhost);
	if (!rc)
		return 0;
	free(parts);
	if (rc == -ENOMEM)
		return err(rc, "split: no memory for %u parts", nr);
	data_text(d, 0, text);
	if (rc == -EEXIST)
		return err(rc, "split: %s has %u parts already", text,
			   d->domain.nr_parts);
	return err(rc, "split: %s is in use; split it before", text);
}

/* ---- what is left at close ---------------------------------------------- */

static void no_free(void *node)
{
	(void)node;
}

/* The first of all, taken out; NULL: there is none. */
static struct lkdf_data *take_first(struct lkdf *rt)
{
	struct lkdf_data *d;

	if (list_is_empty(&rt->all_data))
		return NULL;
	d = container_of(rt->all_data.next, struct lkdf_data, all);
	list_del(&d->all);
	return d;
}

static void forget_names(struct lkdf *rt)
{
	tdestroy(rt->data_names, no_free);
	rt->data_names = NULL;
}

void data_report_leaks(struct lkdf *rt)
{
	struct lkdf_data *d;
	uint64_t nr = 0;

	forget_names(rt);
	while ((d = take_first(rt))) {
		if (nr++ < MAX_LEAKS)
			log_text(&rt->log, LKDF_LOG_INFO,
				 "close: data not put: \"%s\", %llu bytes",
				 d->name, (unsigned long long)d->bytes);
		copies_forget(data_copies(d), empty_data, d);
		d->rt = NULL;
	}
	if (nr > MAX_LEAKS)
		log_text(&rt->log, LKDF_LOG_INFO,
			 "close: and %llu more data not put",
			 (unsigned long long)(nr - MAX_LEAKS));
}

void data_put_orphan(struct lkdf_data *d)
{
	bool is_buried = !a_load(&d->nr_refs, relaxed);

	if (!is_buried)
		handle_tell_orphan("data_put");
	if (drop_reference(d) == 1)
		free(leave_slab(d));
}

bool data_is_held(struct lkdf *rt, char text[DATA_TEXT])
{
	bool is_held = false;
	struct lkdf_data *d;
	struct list *l;

	pthread_mutex_lock(&rt->data_lock);
	for (l = rt->all_data.next; l != &rt->all_data && !is_held;
	     l = l->next) {
		d = container_of(l, struct lkdf_data, all);
		is_held = d->acquisitions != NULL;
		if (is_held)
			data_text(d, 0, text);
	}
	pthread_mutex_unlock(&rt->data_lock);
	return is_held;
}

void data_abandon(struct lkdf *rt)
{
	struct lkdf_data *d;

	forget_names(rt);
	while ((d = take_first(rt))) {
		d->drop = NULL;
		data_destroy(d);
	}
}

struct failure *var_failure_get(struct failure *f)
{
	return failure_get(f);
}

void var_failure_put(struct lkdf *rt, struct failure *f)
{
	failure_put(f, &rt->log);
}
