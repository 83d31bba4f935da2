/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "device/region_memory.h"

#include "base/util.h"
#include "device/copies.h"
#include "device/region.h"

#include <stdlib.h>

static bool is_writing(const struct device_operand *o)
{
	return o->mode & LKDF_WRITE;
}

/* ---- who has it ---------------------------------------------------------- */

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

static bool operand_brings(const struct device_operand *o)
{
	return o->mode & LKDF_READ && !o->is_filled;
}

/* Requests beside the region wait for a copy that changes. */
static void note_changes(struct region_memory *m)
{
	if (m->copy)
		m->copy->is_changing = m->nr_writers || m->nr_fills;
}

static void use_memory(struct device_operand *o, struct region_memory *m)
{
	o->shared = m;
	o->copy = NULL;
	o->device_ptr = m->device_ptr;
	/* order: region.filled: whoever has brought or written it is before. */
	o->is_filled = m->nr_users != 0 || m->is_filled;
	m->nr_users++;
	m->nr_writers += is_writing(o);
	m->nr_fills += operand_brings(o);
	note_changes(m);
}

/* Memory that the operand has; a copy stays pinned. */
static struct region_memory *add_memory(struct device_region *g,
					const struct device_operand *o)
{
	struct region_memory *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->host = o->host;
	m->bytes = o->bytes;
	m->device_ptr = o->device_ptr;
	m->copy = o->copy;
	m->is_filled = o->copy && o->is_filled;
	list_append(&g->memory, &m->list);
	return m;
}

static struct region_memory *make_memory(struct device_region *g,
					 struct device_operand *o)
{
	struct device *d = g->device;
	struct region_memory *m;

	if (o->is_kept ? copies_pin(d, o)
		       : copies_alloc(d, o->bytes, &o->device_ptr))
		return NULL;
	m = add_memory(g, o);
	if (m)
		return m;
	if (o->is_kept)
		copies_unpin(d, o, COPY_UNTOUCHED);
	else
		copies_free(d, o->bytes, o->device_ptr);
	return NULL;
}

/* The host gets what was there before. */
static bool is_fetched(const struct region_memory *m)
{
	return m->nr_fetches || (m->copy && m->copy->is_leaving);
}

static bool take_memory(struct device_region *g, struct device_operand *o)
{
	bool is_odd = false;
	struct region_memory *m = find_memory(g, o, &is_odd);

	if (is_odd)
		return false;
	if (m && is_fetched(m) && is_writing(o))
		return false;
	if (!m)
		m = make_memory(g, o);
	if (m)
		use_memory(o, m);
	return m;
}

static void free_memory(struct device_region *g, struct region_memory *m)
{
	list_del(&m->list);
	if (m->copy) {
		m->copy->is_changing = false;
		copies_let_go(g->device, m->copy);
	} else {
		copies_free(g->device, m->bytes, m->device_ptr);
	}
	free(m);
}

/* Nobody uses it: a task on a CPU may write the host's bytes now. */
static void put_memory(struct device_region *g, struct device_operand *o)
{
	struct region_memory *m = o->shared;

	copies_drop_source(o);
	o->shared = NULL;
	/* order: region.users */
	if (--m->nr_users)
		return;
	free_memory(g, m);
}

void region_put(struct device_region *g, struct device_req *r)
{
	while (r->nr_reserved)
		put_memory(g, &r->operand[--r->nr_reserved]);
}

/* Its launch is not to come: it neither writes nor brings. */
static void take_back(struct device_operand *o)
{
	o->shared->nr_writers -= is_writing(o);
	o->shared->nr_fills -= operand_brings(o);
	note_changes(o->shared);
}

bool region_take(struct device_region *g, struct device_req *r)
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
		take_back(o);
		put_memory(g, o);
	}
	return false;
}

bool region_adopt(struct device_region *g, struct device_req *r)
{
	uint32_t i;

	for (i = 0; i < r->nr_reserved; i++) {
		r->operand[i].shared = add_memory(g, &r->operand[i]);
		/* They are forgotten with the region. */
		if (!r->operand[i].shared)
			return false;
	}
	for (i = 0; i < r->nr_reserved; i++)
		use_memory(&r->operand[i], r->operand[i].shared);
	return true;
}

void region_forget(struct device_region *g)
{
	struct region_memory *m;

	while (!list_is_empty(&g->memory)) {
		m = container_of(g->memory.next, struct region_memory, list);
		list_del(&m->list);
		free(m);
	}
}

/* ---- its bytes ----------------------------------------------------------- */

/* It has failed before its launch: the bytes may not have come. */
static void spoil_copy(const struct device_operand *o)
{
	if (operand_brings(o))
		o->shared->is_spoilt = true;
}

/* It goes to the device: what it writes, nobody is to bring. */
static void replace_memory(const struct device_operand *o)
{
	if (is_writing(o))
		o->shared->is_spoilt = false;
	if (operand_brings(o) && o->shared->copy)
		copies_fill(o->shared->copy);
}

void region_uploaded(struct device_req *r)
{
	struct device_operand *o;
	uint32_t i;

	request_filled(r);
	for (i = 0; i < r->nr_reserved; i++) {
		o = &r->operand[i];
		if (r->error)
			spoil_copy(o);
		else
			replace_memory(o);
		o->shared->nr_fills -= operand_brings(o);
		note_changes(o->shared);
	}
}

bool region_is_spoilt(const struct device_req *r)
{
	const struct device_operand *o;
	uint32_t i;

	for (i = 0; i < r->nr_reserved; i++) {
		o = &r->operand[i];
		if (o->shared->is_spoilt && o->mode & LKDF_READ)
			return true;
	}
	return false;
}

bool region_bring_again(struct device_req *r)
{
	struct device_operand *o;
	bool has_some = false;
	uint32_t i;

	for (i = 0; i < r->nr_reserved; i++) {
		o = &r->operand[i];
		if (!o->shared->is_spoilt || !(o->mode & LKDF_READ))
			continue;
		o->shared->is_spoilt = false;
		o->shared->nr_fills += !operand_brings(o);
		o->is_filled = false;
		if (o->shared->copy)
			copies_find_source(r->device, o);
		note_changes(o->shared);
		has_some = true;
	}
	if (has_some)
		request_upload(r, 0);
	return r->nr_ops;
}

/* Its launch is done, or was not to be: what the copy has is known. */
static void note_written(struct device_region *g, const struct device_req *r,
			 const struct device_operand *o)
{
	struct device_copy *c = o->shared->copy;

	/* order: region.published */
	if (!r->error && !o->is_through)
		copies_publish(g->device, c, false);
	else if (!r->error)
		/* Until it is home. */
		c->version = 0;
	else if (r->has_launched)
		copies_spoil(g->device, c);
}

/* Does the host get the bytes when the request has written them? */
static bool is_for_host(const struct device_operand *o)
{
	/* A later one is to write them, and brings them home. */
	return !o->shared->nr_writers && (!o->shared->copy || o->is_through);
}

/* Only data that no later request of the region writes. */
void region_fetch(struct device_region *g, struct device_req *r)
{
	struct device_operand *o;
	uint32_t i;

	for (i = 0; i < r->nr_reserved; i++) {
		o = &r->operand[i];
		if (!is_writing(o))
			continue;
		o->shared->nr_writers--;
		note_changes(o->shared);
		if (o->shared->copy)
			note_written(g, r, o);
		if (r->error || !is_for_host(o))
			continue;
		o->shared->nr_fetches++;
		o->is_fetching = true;
		request_fetch(r, o);
	}
}

void region_fetched(struct device_region *g, struct device_req *r)
{
	struct device_operand *o;
	uint32_t i;

	for (i = 0; i < r->nr_reserved; i++) {
		o = &r->operand[i];
		if (!o->is_fetching)
			continue;
		o->is_fetching = false;
		o->shared->nr_fetches--;
		if (o->shared->copy && r->error)
			copies_spoil(g->device, o->shared->copy);
		else if (o->shared->copy)
			copies_publish(g->device, o->shared->copy, true);
	}
}

void region_give_up(struct device_region *g, struct device_req *r)
{
	struct device_operand *o;
	uint32_t i;

	for (i = 0; i < r->nr_reserved; i++) {
		o = &r->operand[i];
		if (is_writing(o) && r->has_launched && o->shared->copy)
			copies_spoil(g->device, o->shared->copy);
	}
}
