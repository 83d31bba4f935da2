/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* A request gives its device copies of operands, launches and marks. */
#include "device/request.h"

#include "base/err.h"
#include "base/util.h"
#include "device/code.h"
#include "device/copies.h"
#include "device/piece.h"

#include <errno.h>

typedef int (*give_fn)(struct device *d, struct device_req *r, void *u,
		       struct lkdf_device_op op);

static int give_upload(struct device *d, struct device_req *r, void *u,
		       struct lkdf_device_op op)
{
	const struct device_operand *o = u;
	const struct lkdf_transfer t = {
		.host = o->host,
		.device_ptr = o->device_ptr,
		.bytes = o->bytes,
		.flags = r->is_quiet ? LKDF_LAUNCH_QUIET : 0,
	};

	return d->ops.upload(d->dev, r->queue ? r->queue : DEVICE_UPLOAD_QUEUE,
			     &t, op);
}

static int give_within(struct device *d, struct device_req *r, void *u,
		       struct lkdf_device_op op)
{
	const struct device_operand *o = u;
	const struct lkdf_device_copy c = { o->device_ptr, 0,
					    o->source->device_ptr, o->offset,
					    o->bytes };

	(void)r;
	return d->ops.copy(d->dev, DEVICE_UPLOAD_QUEUE, &c, op);
}

static int give_fill(struct device *d, struct device_req *r, void *u,
		     struct lkdf_device_op op)
{
	const struct device_operand *o = u;
	const struct lkdf_device_fill f = { o->device_ptr, 0, o->bytes, 0, 0 };

	(void)r;
	return d->ops.fill(d->dev, DEVICE_UPLOAD_QUEUE, &f, op);
}

static int give_fetch(struct device *d, struct device_req *r, void *u,
		      struct lkdf_device_op op)
{
	const struct device_operand *o = u;
	const struct lkdf_transfer t = {
		.host = o->host,
		.device_ptr = o->device_ptr,
		.bytes = o->bytes,
	};

	return d->ops.fetch(d->dev, r->queue ? r->queue : DEVICE_FETCH_QUEUE,
			    &t, op);
}

void request_set_addresses(struct device_req *r)
{
	uint32_t i;

	for (i = 0; i < r->launch.nr_arg; i++)
		if (r->arg[i].sort == LKDF_ARG_MEMORY)
			r->arg[i].value =
				r->operand[r->operand_of[i]].device_ptr;
}

static int give_launch(struct device *d, struct device_req *r, void *u,
		       struct lkdf_device_op op)
{
	r->launch.flags = r->is_quiet ? LKDF_LAUNCH_QUIET : 0;
	return d->ops.launch(d->dev, *(unsigned *)u, &r->launch, op);
}

static int give_mark(struct device *d, struct device_req *r, void *u,
		     struct lkdf_device_op op)
{
	(void)r;
	return d->ops.mark(d->dev, *(unsigned *)u, op);
}

/* Ways to give it something: what names it in an error. */
struct way {
	const char *what;
	give_fn fn;
	enum device_state state; /* that it is for */
	uint32_t sort; /* of the row */
	enum rows_copy copy;
	bool may_be_quiet;
};

static const struct way upload_way = {
	.what = "upload",
	.fn = give_upload,
	.state = DEVICE_UPLOAD,
	.sort = LKDF_SPAN_COPY,
	.copy = ROWS_UPLOAD,
	.may_be_quiet = true,
};

static const struct way within_way = {
	.what = "copy",
	.fn = give_within,
	.state = DEVICE_UPLOAD,
	.sort = LKDF_SPAN_COPY,
	.copy = ROWS_WITHIN,
};

static const struct way fill_way = {
	.what = "fill",
	.fn = give_fill,
	.state = DEVICE_UPLOAD,
	.sort = LKDF_SPAN_COPY,
	.copy = ROWS_WITHIN,
};

static const struct way fetch_way = {
	.what = "fetch",
	.fn = give_fetch,
	.state = DEVICE_FETCH,
	.sort = LKDF_SPAN_COPY,
	.copy = ROWS_FETCH,
};

static const struct way launch_way = {
	.what = "launch",
	.fn = give_launch,
	.state = DEVICE_RUN,
	.sort = LKDF_SPAN_KERNEL,
	.may_be_quiet = true,
};

static const struct way mark_way = {
	.what = "mark",
	.fn = give_mark,
	.state = DEVICE_RUN,
	.sort = LKDF_SPAN_KERNEL,
};

static void begin_row(const struct device_req *r, struct device_slot *s,
		      const struct way *w, void *u)
{
	const struct device_operand *o = u;

	if (w->sort == LKDF_SPAN_COPY)
		rows_begin_copy(s->device, s, w->copy, o->bytes);
	else
		rows_begin_kernel(s->device, s, *(unsigned *)u);
	/* The work that a kernel's enqueue() has given began before that. */
	if (w->fn == give_mark)
		s->row.begin = r->begun;
}

/* It was taken: the end of another one may tell of it, or its of others'. */
static void note_queue(struct device_req *r, struct device_slot *s,
		       const struct way *w, const void *u)
{
	unsigned queue =
		w->sort == LKDF_SPAN_KERNEL ? *(const unsigned *)u : r->queue;

	if (queue)
		quiet_give(r->device, s, queue, r->is_quiet && w->may_be_quiet);
}

/*
 * Is it the op whose end lets a task on a CPU go? Then a worker wakes up at the
 * same time as the launcher, and not behind it. Where launchers do not spin
 * there are few CPUs, and the two would be in each other's way.
 */
static bool is_awaited(const struct device_req *r, const struct way *w)
{
	const struct device_attr *a = &r->device->attr;

	if (!a->spin_ns || a->bell || w->state < DEVICE_RUN || r->is_quiet ||
	    (w->state == DEVICE_RUN && request_has_fetches(r)))
		return false;
	return r->ops->is_awaited(r);
}

/* Gives one op of the request: of an operand, or of a queue. */
static void give_op(struct device_req *r, const struct way *w, void *u)
{
	struct device *d = r->device;
	struct lkdf_device_op op;
	struct device_slot *s = device_give(d, r, &op);
	int rc;

	if (!s) {
		request_fail_call(r, w->what, -ENOMEM);
		return;
	}
	r->nr_ops++;
	s->state = w->state;
	s->is_awaited = is_awaited(r, w);
	err_clear();
	begin_row(r, s, w, u);
	rc = w->fn(d, r, u, op);
	if (rc >= 0) {
		note_queue(r, s, w, u);
		return;
	}
	request_fail_said(r, w->what, rc);
	device_returned(d, w->what, rc);
	if (device_revoke(d, s))
		r->nr_ops--;
}

/* Lost since it was let go, while it waited for room: the host's are old. */
static bool is_lost(struct device_req *r, const struct device_operand *o)
{
	int error = o->copies ? offhost_error(o->copies, o->part) : 0;

	if (unlikely(error))
		request_fail_bytes(r, error);
	return error;
}

static void fill_operand(struct device_req *r, struct device_operand *o)
{
	if (o->source) {
		give_op(r, &within_way, o);
		return;
	}
	if (o->is_zero && r->device->ops.fill) {
		give_op(r, &fill_way, o);
		return;
	}
	if (is_lost(r, o))
		return;
	pins_carry(r->device, o->copies, o->host - o->offset, o->bytes,
		   PINS_UP);
	r->bytes_up += o->bytes;
	give_op(r, &upload_way, o);
}

void request_upload(struct device_req *r, uint32_t first)
{
	uint32_t i;

	for (i = first; i < r->nr_reserved && !r->error; i++)
		if (r->operand[i].mode & LKDF_READ && !r->operand[i].is_filled)
			fill_operand(r, &r->operand[i]);
}

void request_filled(struct device_req *r)
{
	uint32_t i;

	for (i = 0; i < r->nr_reserved; i++)
		copies_drop_source(&r->operand[i]);
}

void request_fetch(struct device_req *r, struct device_operand *o)
{
	pins_carry(r->device, o->copies, o->host - o->offset, o->bytes,
		   PINS_DOWN);
	r->bytes_down += o->bytes;
	give_op(r, &fetch_way, o);
}

bool request_fetches(const struct device_operand *o)
{
	/* order: request.fetch */
	return o->mode & LKDF_WRITE && (!o->is_kept || o->is_through);
}

bool request_has_fetches(const struct device_req *r)
{
	uint32_t i;

	for (i = 0; i < r->nr_reserved; i++)
		if (request_fetches(&r->operand[i]))
			return true;
	return false;
}

void request_fetch_all(struct device_req *r)
{
	uint32_t i;

	for (i = 0; i < r->nr_reserved && !r->error; i++)
		if (request_fetches(&r->operand[i]))
			request_fetch(r, &r->operand[i]);
}

void request_launch(struct device_req *r, unsigned queue)
{
	give_op(r, &launch_way, &queue);
}

void request_mark(struct device_req *r, unsigned queue)
{
	give_op(r, &mark_way, &queue);
}

/* ---- pieces ------------------------------------------------------------- */

/* Code, addresses and block of the launch are known. False: it fails. */
static bool set_launch(struct device_req *r)
{
	request_set_addresses(r);
	code_find(r->device, r);
	if (!r->error)
		r->ops->shape(r);
	return !r->error;
}

static bool set_launches(struct device_req *first)
{
	const struct device_piece *p = first->piece;
	struct device_req *r;

	for (r = first; r && r->piece == p; r = r->behind)
		if (!set_launch(r))
			return false;
	return true;
}

/* A slot for each; *nr: how many have one. False: no memory. */
static bool begin_launches(struct device_req *first, unsigned *queue,
			   uint32_t *nr)
{
	struct device_piece *p = first->piece;
	struct device_req *r = first;
	struct device_slot *s;

	for (*nr = 0; *nr < p->p.nr; r = r->behind) {
		s = device_give(r->device, r, &p->op[*nr]);
		if (!s)
			return false;
		p->launch[*nr] = &r->launch;
		(*nr)++;
		r->is_quiet = *nr < p->p.nr && !r->tells;
		r->launch.flags = r->is_quiet ? LKDF_LAUNCH_QUIET : 0;
		s->state = DEVICE_RUN;
		s->is_awaited = is_awaited(r, &launch_way);
		begin_row(r, s, &launch_way, queue);
	}
	return true;
}

static void note_given(struct device_req *first, const unsigned *queue)
{
	struct device_piece *p = first->piece;
	struct device_req *r = first;
	uint32_t i;

	for (i = 0; i < p->p.nr; i++, r = r->behind) {
		r->nr_ops++;
		r->has_launched = true;
		note_queue(r, p->op[i].slot, &launch_way, queue);
	}
}

bool request_run_piece(struct device_req *first, unsigned queue)
{
	struct device *d = first->device;
	struct device_piece *p = first->piece;
	uint32_t nr;
	int rc;

	if (!set_launches(first))
		return false;
	err_clear();
	rc = begin_launches(first, &queue, &nr) ? 0 : -ENOMEM;
	if (!rc)
		rc = d->ops.launch_piece(d->dev, queue, &p->p, p->launch,
					 p->op);
	if (rc >= 0) {
		note_given(first, &queue);
		return true;
	}
	d->takes_no_pieces |= rc == -ENOSYS;
	device_returned(d, "launch_piece", rc);
	while (nr)
		device_revoke(d, p->op[--nr].slot);
	return false;
}
