/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "data/data.h"

#include "base/err.h"
#include "core/handle.h"
#include "core/runtime.h"
#include "data/facts.h"
#include "data/offhost.h"
#include "data/place.h"
#include "data/replica.h"
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

/* Into the list of all, under its name. */
static int publish_name(struct lkdf_data *d)
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
	for (i = 0; i < d->nr_parts; i++) {
		var_failure_put(d->rt, a_load(&d->parts[i].failure, relaxed));
		reduction_free(d->parts[i].reduction);
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
	free(d->last);
}

static void bury_data(void *u)
{
	struct lkdf_data *d = u;
	struct lkdf *rt = d->rt;

	empty_data(d);
	d->rt = d->domain.rt = NULL;
	handle_bury(rt, d);
}

/* Now, or when devices have let go of it. */
static void destroy_data(struct lkdf_data *d)
{
	copies_forget(data_copies(d), bury_data, d);
}

static void last_ready(struct executor *ex, struct claim *c)
{
	struct lkdf_data *d = c->use[0].domain->data;

	(void)ex;
	withdraw_data(d);
	destroy_data(d);
}

/* Bytes that the user gave at create. */
static int set_bytes(struct lkdf_data *d, const struct lkdf_data_attr *a)
{
	int32_t node = -1;
	void *p;

	if (!a->wrap && !a->init)
		return 0;
	d->domain.whole.is_written = d->domain.whole.has_value = true;
	a_store(&d->domain.version, 1, relaxed);
	if (a->wrap) {
		d->is_wrapped = true;
		a_store(&d->domain.at, a->wrap, relaxed);
		facts_watch(d, a->wrap, true);
		return 0;
	}
	/* The first user is not known: spread over the nodes. */
	if (d->home < 0)
		node = (int32_t)(a_add(&d->rt->next_spread, 1, relaxed) %
				 (uint32_t)d->rt->topo->nr_nodes);
	p = data_bytes(d, node);
	if (!p)
		return -ENOMEM;
	memcpy(p, a->init, d->bytes);
	return 0;
}

static struct lkdf_data *allocate_data(void)
{
	struct lkdf_data *d = aligned_alloc(
		CACHE_LINE, round_up(sizeof(struct lkdf_data), CACHE_LINE));

	if (!d)
		return NULL;
	memset(d, 0, sizeof(*d));
	d->last = calloc(1, sizeof(*d->last) + sizeof(d->last->use[0]));
	if (!d->last) {
		free(d);
		return NULL;
	}
	return d;
}

int data_create(struct lkdf *rt, const struct lkdf_data_attr *a,
		struct lkdf_data **out)
{
	struct lkdf_data *d = allocate_data();
	int rc;

	if (!d)
		return err(-ENOMEM, "data: no memory");
	domain_init(&d->domain, rt, d, NULL);
	d->rt = rt;
	d->bytes = a->bytes;
	d->align = max_u64(a->align, HEAP_ALIGN);
	d->flags = a->flags;
	if (rt->topo->nr_nodes == 1)
		d->flags &= ~(uint32_t)DATA_MOVES;
	d->home = a->home ? a->home->node : -1;
	d->drop = a->drop;
	d->reduce = a->reduce;
	d->neutral = a->neutral;
	snprintf(d->name, sizeof(d->name), "%s", a->name ? a->name : "");
	a_store(&d->domain.whole.is_plain,
		!(d->flags & ~(uint32_t)LKDF_DATA_HUGE) && !d->reduce, relaxed);
	a_store(&d->node, -1, relaxed);
	a_store(&d->nr_refs, 1, relaxed);
	rc = replicas_create(d);
	if (rc)
		err(rc, "data: no memory");
	if (!rc)
		rc = set_bytes(d, a);
	if (!rc)
		rc = publish_name(d);
	if (rc) {
		d->drop = NULL;
		destroy_data(d);
		return rc;
	}
	*out = d;
	return 0;
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

void data_put(struct lkdf_data *d)
{
	struct claim *c;
	struct use *why;

	if (!d || drop_reference(d) != 1)
		return;
	c = d->last;
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
		free(d);
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
		destroy_data(d);
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
