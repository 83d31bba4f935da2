/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "run/port_run.h"

#include "base/err.h"
#include "core/runtime.h"
#include "graph/port.h"
#include "run/checked_run.h"
#include "run/frame.h"
#include "task/ctx.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int port_run_create(struct frame *f)
{
	const struct ports *p = f->graph->ports;
	struct port_run *r = &f->port;
	size_t size = round_up(p->nr_bytes + 1ul, CACHE_LINE);

	r->bytes = aligned_alloc(CACHE_LINE, size);
	r->live = calloc(p->nr_live + 1ul, sizeof(*r->live));
	r->state = calloc(p->nr_states + 1ul, sizeof(*r->state));
	if (!r->bytes || !r->live || !r->state)
		return err(-ENOMEM, "graph %s: no memory for a run's values",
			   f->graph->name);
	memset(r->bytes, 0, size);
	return 0;
}

void port_run_destroy(struct frame *f)
{
	free(f->port.bytes);
	free(f->port.live);
	free(f->port.state);
}

/* ---- states ------------------------------------------------------------- */

static void drop_value(struct frame *f, const struct port_out *out)
{
	char *value = f->port.bytes + out->slot;

	if (unlikely(f->graph->rt->check != NULL))
		checked_run_drop(f, out->drop, value);
	else
		out->drop(value);
	memset(value, 0, out->size);
	a_store(&f->port.state[out->state], PORT_EMPTY, relaxed);
}

static void end_call(struct frame *f, const struct port_out *out, bool is_live)
{
	_Atomic(uint8_t) *state = &f->port.state[out->state];

	if (a_load(state, relaxed) != PORT_OPEN)
		return;
	if (is_live)
		/* Relaxed: readers come after the arrivals that follow. */
		a_store(state, PORT_FULL, relaxed);
	else
		drop_value(f, out);
}

void port_resolved(struct frame *f, uint32_t index, bool is_live)
{
	struct ports *p = f->graph->ports;
	const struct port_out *out, *end;

	check(frame_has(f, index));
	end = p->out + p->first_out[index + 1];
	for (out = p->out + p->first_out[index]; out < end; out++) {
		if (out->state != NO_PORT)
			end_call(f, out, is_live);
		if (out->next != NO_PORT && is_live)
			memcpy(p->next + out->next, f->port.bytes + out->slot,
			       out->size);
	}
}

void port_end(struct frame *f)
{
	const struct ports *p = f->graph->ports;
	uint32_t i;

	for (i = 0; p->nr_states && i < p->nr_out; i++)
		if (p->out[i].state != NO_PORT &&
		    a_load(&f->port.state[p->out[i].state], relaxed) !=
			    PORT_EMPTY)
			drop_value(f, &p->out[i]);
}

/* ---- in a body ---------------------------------------------------------- */

static const struct port_in *find_in(const struct lkdf_ctx *c, unsigned port)
{
	const struct ports *p = c->frame ? c->frame->graph->ports : NULL;
	uint32_t first, end;

	if (unlikely(!p))
		return NULL;
	first = p->first_in[c->index];
	end = p->first_in[c->index + 1];
	return likely(port < end - first) ? &p->in[first + port] : NULL;
}

static const struct port_out *find_out(const struct lkdf_ctx *c, unsigned port)
{
	const struct ports *p = c->frame ? c->frame->graph->ports : NULL;
	uint32_t first, end;

	if (unlikely(!p))
		return NULL;
	first = p->first_out[c->index];
	end = p->first_out[c->index + 1];
	return likely(port < end - first) ? &p->out[first + port] : NULL;
}

/* The first live one; NULL: none is. */
static const struct port_source *find_source(const struct frame *f,
					     const struct port_in *in)
{
	const struct port_source *s = f->graph->ports->source + in->first;
	const struct port_source *end = s + in->nr;

	for (; s < end; s++)
		if (s->live == NO_PORT ||
		    a_load(&f->port.live[s->live], relaxed))
			return s;
	return NULL;
}

const void *port_in(const struct lkdf_ctx *c, unsigned port)
{
	const struct port_in *in = find_in(c, port);
	const struct port_source *s;

	if (unlikely(!in))
		return NULL;
	if (unlikely(in->next != NO_PORT))
		return c->frame->graph->ports->next + in->next;
	s = find_source(c->frame, in);
	return likely(s != NULL) ? c->frame->port.bytes + s->slot : NULL;
}

void *port_out(const struct lkdf_ctx *c, unsigned port)
{
	const struct port_out *out = find_out(c, port);
	_Atomic(uint8_t) *state;

	if (unlikely(!out))
		return NULL;
	if (unlikely(out->state != NO_PORT)) {
		state = &c->frame->port.state[out->state];
		if (a_load(state, relaxed) == PORT_FULL)
			drop_value(c->frame, out);
		a_store(state, PORT_OPEN, relaxed);
	}
	return c->frame->port.bytes + out->slot;
}

/* The out port whose slot it is; found on the slow path of owning only. */
static const struct port_out *out_at(const struct ports *p, uint32_t slot)
{
	uint32_t low = 0, high = p->nr_out, mid;

	while (low + 1 < high) {
		mid = (low + high) / 2;
		if (p->out[mid].slot <= slot)
			low = mid;
		else
			high = mid;
	}
	return &p->out[low];
}

int port_own(const struct lkdf_ctx *c, unsigned port)
{
	const struct port_in *in = find_in(c, port);
	const struct port_source *s;
	const struct port_out *out;
	uint8_t full = PORT_FULL;

	if (!in)
		return err(-EINVAL, "own: there is no in port %u", port);
	if (in->next != NO_PORT)
		return err(-EINVAL, "own: in port %u is of a NEXT edge", port);
	s = find_source(c->frame, in);
	if (!s)
		return err(-ENODATA, "own: in port %u has no value", port);
	out = out_at(c->frame->graph->ports, s->slot);
	if (out->state == NO_PORT)
		return 0;
	/* [port.own] one of several readers; pairs with itself. Relaxed: the
	 * value came with the arrival, and the slot's next use comes after this
	 * body. */
	if (!a_cas(&c->frame->port.state[out->state], &full, PORT_EMPTY,
		   relaxed, relaxed))
		return err(-EBUSY,
			   "own: another body owns the value of in "
			   "port %u",
			   port);
	return 0;
}

int port_pass(const struct lkdf_ctx *c, unsigned to, unsigned from)
{
	const struct port_in *in = find_in(c, from);
	const struct port_out *out = find_out(c, to);
	const void *value;
	int rc;

	if (!in || !out)
		return err(-EINVAL, "pass: there is no %s port %u",
			   in ? "out" : "in", in ? to : from);
	if (in->size != out->size)
		return err(-EINVAL,
			   "pass: values of %u bytes at in port %u, of %u at "
			   "out port %u",
			   in->size, from, out->size, to);
	rc = port_own(c, from);
	if (rc)
		return rc;
	value = port_in(c, from);
	memcpy(port_out(c, to), value, in->size);
	return 0;
}
