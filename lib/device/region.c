/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "device/region.h"

#include "base/util.h"
#include "device/copies.h"

#include <stdlib.h>

static bool is_writing(const struct device_operand *o)
{
	return o->mode & LKDF_WRITE;
}

/* ---- memory ------------------------------------------------------------- */

/* *is_odd: some bytes are the operand's and others are not. */
static struct region_memory *find_memory(const struct device_region *g,
					 const struct device_operand *o,
					 bool *is_odd)
{
	struct region_memory *m;
	struct list *l;

	for (l = g->memory.next; l != &g->memory; l = l->next) {
		m = container_of(l, struct region_memory, list);
		if (m->host == o->host && m->bytes == o->bytes)
			return m;
		if (m->host < o->host + o->bytes &&
		    o->host < m->host + m->bytes)
			*is_odd = true;
	}
	return NULL;
}

static void use_memory(struct device_operand *o, struct region_memory *m)
{
	o->shared = m;
	o->there = m->there;
	/* order: region.filled: whoever has brought or written it is before. */
	o->is_filled = m->nr_users != 0;
	m->nr_users++;
	m->nr_writers += is_writing(o);
}

static struct region_memory *
add_memory(struct device_region *g, const struct device_operand *o, void *there)
{
	struct region_memory *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->host = o->host;
	m->bytes = o->bytes;
	m->there = there;
	list_append(&g->memory, &m->list);
	return m;
}

static bool take_memory(struct device_region *g, struct device_operand *o)
{
	bool is_odd = false;
	struct region_memory *m = find_memory(g, o, &is_odd);
	void *there;

	if (is_odd)
		return false;
	/* The host gets what was there before. */
	if (m && m->nr_fetches && is_writing(o))
		return false;
	if (!m && copies_alloc(g->device, o->bytes, &there))
		return false;
	if (!m) {
		m = add_memory(g, o, there);
		if (!m)
			copies_free(g->device, o->bytes, there);
	}
	if (m)
		use_memory(o, m);
	return m;
}

/* Nobody uses it: a task on a CPU may write the host's bytes now. */
static void put_memory(struct device_region *g, struct device_operand *o)
{
	struct region_memory *m = o->shared;

	o->shared = NULL;
	/* order: region.users */
	if (--m->nr_users)
		return;
	list_del(&m->list);
	copies_free(g->device, m->bytes, m->there);
	free(m);
}

static void put_all(struct device_region *g, struct device_req *r)
{
	while (r->nr_reserved)
		put_memory(g, &r->operand[--r->nr_reserved]);
}

/* All of them or none; writers are taken back where there is no launch. */
static bool take_all(struct device_region *g, struct device_req *r)
{
	struct device_operand *o;

	if (device_has(g->device, LKDF_DEVICE_HOST_MEMORY))
		return true;
	while (r->nr_reserved < r->nr_operand &&
	       take_memory(g, &r->operand[r->nr_reserved]))
		r->nr_reserved++;
	if (r->nr_reserved == r->nr_operand)
		return true;
	while (r->nr_reserved) {
		o = &r->operand[--r->nr_reserved];
		o->shared->nr_writers -= is_writing(o);
		put_memory(g, o);
	}
	return false;
}

static void set_host_addresses(struct device_req *r)
{
	uint32_t i;

	for (i = 0; i < r->nr_operand; i++)
		r->operand[i].there = r->operand[i].host;
}

/* ---- the region --------------------------------------------------------- */

static void append(struct device_region *g, struct device_req *r)
{
	r->region = g;
	r->behind = NULL;
	*g->end = r;
	g->end = &r->behind;
	if (!g->next)
		g->next = r;
	g->nr_first++;
	g->nr_open++;
	request_move(r, DEVICE_UPLOAD);
}

bool region_add(struct device_region *g, struct device_req *r)
{
	struct device *d = g->device;

	r->nr_reserved = 0;
	if (!take_all(g, r))
		return false;
	if (device_has(d, LKDF_DEVICE_HOST_MEMORY))
		set_host_addresses(r);
	check(region_has_room(g));
	append(g, r);
	request_upload(r, 0);
	return true;
}

static struct device_region *create(struct device_req *r)
{
	struct device_region *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->device = r->device;
	g->ops = r->ops;
	g->end = &g->first;
	g->queue = request_queue(r->device);
	list_init(&g->memory);
	return g;
}

/* Memory that the leader has reserved is the region's. False: no memory. */
static bool adopt_memory(struct device_region *g, struct device_req *r)
{
	struct region_memory *m;
	uint32_t i;

	for (i = 0; i < r->nr_reserved; i++) {
		m = add_memory(g, &r->operand[i], r->operand[i].there);
		if (!m)
			return false;
		use_memory(&r->operand[i], m);
	}
	return true;
}

static void forget(struct device_region *g)
{
	struct region_memory *m;

	while (!list_is_empty(&g->memory)) {
		m = container_of(g->memory.next, struct region_memory, list);
		list_del(&m->list);
		free(m);
	}
	free(g);
}

static bool has_copies(const struct device_req *r)
{
	uint32_t i;

	for (i = 0; i < r->nr_operand; i++)
		if (r->operand[i].copy)
			return true;
	return false;
}

static void advance(void *executor, struct device_region *g);

bool region_begin(void *executor, struct device_req *r)
{
	struct device_region *g;

	if (!device_has(r->device, LKDF_DEVICE_ORDERED) || has_copies(r))
		return false;
	g = create(r);
	if (!g)
		return false;
	if (!adopt_memory(g, r)) {
		forget(g);
		return false;
	}
	append(g, r);
	request_upload(r, 0);
	advance(executor, g);
	return true;
}

/* ---- the end of requests ------------------------------------------------ */

static void tell_over(void *executor, struct device_req *r)
{
	r->region = NULL;
	r->ops->over(executor, r);
}

/* A request that failed waits until those that depend on it are over. */
static void put_region(void *executor, struct device_region *g)
{
	struct device_req *r, *next;

	/* order: region.failed */
	if (g->nr_open || g->nr_holds)
		return;
	check(list_is_empty(&g->memory));
	g->device->nr_under_way--;
	r = g->failed;
	free(g);
	for (; r; r = next) {
		next = r->behind;
		tell_over(executor, r);
	}
}

static void hold(struct device_region *g)
{
	g->nr_holds++;
}

static void let_go(void *executor, struct device_region *g)
{
	g->nr_holds--;
	put_region(executor, g);
}

/* Its memory is given back first: whoever is told may write the bytes. */
static void leave(void *executor, struct device_req *r)
{
	struct device_region *g = r->region;

	put_all(g, r);
	request_leave(g->device, r);
	g->nr_open--;
	if (!r->error) {
		tell_over(executor, r);
		return;
	}
	r->behind = g->failed;
	g->failed = r;
}

/* Only of a lost device: wherever it is in the chain. */
static void unlink_request(struct device_region *g, struct device_req *r)
{
	struct device_req **at;

	for (at = &g->first; *at && *at != r; at = &(*at)->behind)
		;
	if (!*at)
		return;
	if (g->next == r)
		g->next = r->behind;
	*at = r->behind;
	if (!*at)
		g->end = at;
	g->nr_first--;
}

void region_end(void *executor, struct device_req *r)
{
	struct device_region *g = r->region;

	hold(g);
	unlink_request(g, r);
	leave(executor, r);
	let_go(executor, g);
}

/* ---- its way ------------------------------------------------------------ */

static bool brings(const struct device_operand *o)
{
	return o->mode & LKDF_READ && !o->is_filled;
}

/* It has failed before its launch: the bytes may not have come. */
static void spoil(struct device_req *r)
{
	uint32_t i;

	for (i = 0; i < r->nr_reserved; i++)
		if (brings(&r->operand[i]))
			r->operand[i].shared->is_spoilt = true;
}

/* Another one was to bring some of its bytes. True: they are on their way. */
static bool brings_again(struct device_req *r)
{
	struct device_operand *o;
	bool has_some = false;
	uint32_t i;

	for (i = 0; i < r->nr_reserved; i++) {
		o = &r->operand[i];
		if (!o->shared->is_spoilt || !(o->mode & LKDF_READ))
			continue;
		o->shared->is_spoilt = false;
		o->is_filled = false;
		has_some = true;
	}
	if (has_some)
		request_upload(r, 0);
	return r->nr_ops;
}

/* It goes to the device: what it writes, nobody is to bring. */
static void replace(struct device_req *r)
{
	uint32_t i;

	for (i = 0; i < r->nr_reserved; i++)
		if (is_writing(&r->operand[i]))
			r->operand[i].shared->is_spoilt = false;
}

/* In their order, each once its bytes are there. */
static void launch_next(void *executor, struct device_region *g)
{
	struct device_req *r;

	/* order: region.launch */
	while ((r = g->next) && !r->nr_ops) {
		if (!r->error && brings_again(r))
			break;
		if (r->error)
			spoil(r);
		else
			replace(r);
		g->next = r->behind;
		request_move(r, DEVICE_RUN);
		request_run(executor, r, g->queue);
		r->has_run = !r->nr_ops;
	}
}

/* Data that no later request of the region writes goes to the host. */
static void fetch(struct device_req *r)
{
	struct device_operand *o;
	uint32_t i;

	for (i = 0; i < r->nr_reserved; i++) {
		o = &r->operand[i];
		if (!is_writing(o))
			continue;
		/* A later one is to write it, and brings it home. */
		if (--o->shared->nr_writers || r->error)
			continue;
		o->shared->nr_fetches++;
		o->is_fetching = true;
		request_fetch(r, o);
	}
}

/* Before the first is finished: a later one may write what it has written. */
static void extend(void *executor, struct device_region *g)
{
	if (g->first && g->nr_first <= REGION_AHEAD / 2 && region_has_room(g))
		g->ops->extend(executor, g);
	launch_next(executor, g);
}

/* In their order, too: whether one has failed is known before the next. */
static void finish_next(void *executor, struct device_region *g)
{
	struct device_req *r;

	/* order: region.finish */
	while ((r = g->first) && r->has_run) {
		extend(executor, g);
		g->first = r->behind;
		if (!g->first)
			g->end = &g->first;
		g->nr_first--;
		r->behind = NULL;
		if (r->error)
			g->ops->failed(r);
		request_move(r, DEVICE_FETCH);
		fetch(r);
		if (!r->nr_ops)
			leave(executor, r);
	}
}

static void advance(void *executor, struct device_region *g)
{
	hold(g);
	extend(executor, g);
	finish_next(executor, g);
	let_go(executor, g);
}

/* Its fetches are done, or have failed. */
static void end_fetches(struct device_req *r)
{
	uint32_t i;

	for (i = 0; i < r->nr_reserved; i++)
		if (r->operand[i].is_fetching)
			r->operand[i].shared->nr_fetches--;
}

void region_go_on(void *executor, struct device_req *r)
{
	struct device_region *g = r->region;

	hold(g);
	switch ((enum device_state)a_load(&r->state, relaxed)) {
	case DEVICE_RUN:
		r->has_run = true;
		break;
	case DEVICE_FETCH:
		end_fetches(r);
		leave(executor, r);
		break;
	default:
		break;
	}
	advance(executor, g);
	let_go(executor, g);
}
