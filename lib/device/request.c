/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "device/request.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/util.h"
#include "device/build.h"
#include "device/copies.h"
#include "device/held.h"
#include "device/region.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* OVER comes before FETCH where nothing has begun, or the device is lost. */
CHECK_ONLY static const uint8_t legal[] = {
	[DEVICE_RESERVE] = MOVE_TO(DEVICE_UPLOAD) | MOVE_TO(DEVICE_OVER),
	[DEVICE_UPLOAD] = MOVE_TO(DEVICE_RUN) | MOVE_TO(DEVICE_OVER),
	[DEVICE_RUN] = MOVE_TO(DEVICE_FETCH) | MOVE_TO(DEVICE_OVER),
	[DEVICE_FETCH] = MOVE_TO(DEVICE_OVER),
	[DEVICE_OVER] = 0,
};

CHECK_ONLY static bool may_end(const struct device_req *r)
{
	uint32_t from = a_load(&r->state, relaxed);

	return from == DEVICE_RESERVE || from == DEVICE_FETCH ||
	       a_load(&r->device->is_lost, relaxed);
}

/*
 * The one place that moves a request. lkdf_why() tells the state, so the
 * launcher sets it before the first operation of the state.
 */
void request_move(struct device_req *r, enum device_state to)
{
	check_move(legal, a_load(&r->state, relaxed), to);
	check(!r->nr_ops || r->queue);
	check(to != DEVICE_OVER || may_end(r));
	a_store(&r->state, to, relaxed);
}

void request_leave(struct device *d, struct device_req *r)
{
	lock_take(&d->lock);
	list_del(&r->list);
	request_move(r, DEVICE_OVER);
	lock_give(&d->lock);
	a_sub(&d->load, 1, relaxed);
}

/* Others look at it: NULL, or a request that is there. */
static void set_starving(struct device *d, struct device_req *r)
{
	if (d->starving == r)
		return;
	lock_take(&d->lock);
	d->starving = r;
	lock_give(&d->lock);
}

static void end_request(struct device *d, void *executor, struct device_req *r)
{
	request_leave(d, r);
	d->nr_under_way--;
	if (d->starving == r)
		set_starving(d, NULL);
	r->ops->over(executor, r);
}

/* ---- room --------------------------------------------------------------- */

static void release_operands(struct device *d, struct device_req *r,
			     enum copy_end end)
{
	struct device_operand *o;

	while (r->nr_reserved) {
		o = &r->operand[--r->nr_reserved];
		if (!o->copy)
			copies_free(d, o->bytes, o->device_ptr);
		else
			copies_unpin(d, o, end);
	}
}

/* The end that its copies come to. */
static enum copy_end end_of(const struct device_req *r)
{
	if (!r->error)
		return COPY_WRITTEN;
	return r->has_launched ? COPY_SPOILT : COPY_UNTOUCHED;
}

/*
 * All that it holds is gone, and it is called for nothing but to stop. A task
 * that fails may free the bytes that the device was given, so the device lets
 * go of these first.
 */
void request_lose_all(struct device *d, void *executor)
{
	struct device_req *r;

	if (a_load(&d->is_lost, relaxed))
		return;
	if (d->ops.lose && d->has_begun)
		d->ops.lose(d->dev);
	device_set_lost(d);
	device_forget_slots(d);
	while (!list_is_empty(&d->under_way)) {
		r = container_of(d->under_way.next, struct device_req, list);
		r->nr_ops = 0;
		request_fail_lost(r);
		if (r->region) {
			region_end(executor, r);
			continue;
		}
		release_operands(d, r, end_of(r));
		end_request(d, executor, r);
	}
	copies_lose(d);
	held_lose(d, executor);
}

static int reserve_one(struct device *d, struct device_operand *o)
{
	return o->is_kept ? copies_pin(d, o)
			  : copies_alloc(d, o->bytes, &o->device_ptr);
}

static int reserve_all(struct device *d, struct device_req *r)
{
	int rc = 0;

	while (!rc && r->nr_reserved < r->nr_operand) {
		rc = reserve_one(d, &r->operand[r->nr_reserved]);
		r->nr_reserved += !rc;
	}
	if (rc)
		release_operands(d, r, COPY_UNTOUCHED);
	return rc;
}

/* -EAGAIN: others have it. */
static int find_room(struct device *d, struct device_req *r)
{
	uint64_t sum = 0, held = a_load(&d->held, relaxed);
	uint32_t i;
	int rc;

	for (i = 0; i < r->nr_operand; i++)
		sum += r->operand[i].bytes;
	if (sum > d->capacity - held) {
		request_fail(r, -ENOMEM,
			     "kernel %s: its uses have %llu bytes, device %s "
			     "has %llu, of which the program holds %llu",
			     r->launch.name, (unsigned long long)sum, d->name,
			     (unsigned long long)d->capacity,
			     (unsigned long long)held);
		return -ENOMEM;
	}
	err_clear();
	rc = reserve_all(d, r);
	/* All is free, but in pieces between copies of its own. */
	if (rc == -ENOMEM && copies_drop_unused(d))
		rc = reserve_all(d, r);
	if (rc && rc != -EAGAIN)
		request_fail_said(r, "memory", rc);
	return rc;
}

/* All operands or none. -EAGAIN: it waits for others. */
static int reserve_operands(struct device *d, struct device_req *r)
{
	uint32_t i;

	if (device_has(d, LKDF_DEVICE_HOST_MEMORY)) {
		for (i = 0; i < r->nr_operand; i++)
			r->operand[i].device_ptr = r->operand[i].host;
		return 0;
	}
	return find_room(d, r);
}

/* ---- the way of a request ----------------------------------------------- */

/* The launch is given: it need not be hurried. */
static void finalize_copies(struct device *d, struct device_req *r,
			    unsigned queue)
{
	int rc;

	if (r->error || !r->is_last || !d->ops.finalize)
		return;
	err_clear();
	rc = d->ops.finalize(d->dev, queue);
	device_returned(d, "finalize", rc);
	if (rc < 0)
		request_fail_said(r, "finalize", rc);
}

void request_run(void *executor, struct device_req *r, unsigned queue)
{
	struct device *d = r->device;
	int rc;

	if (r->error)
		return;
	if (r->ops->is_cancelled(r)) {
		request_fail(r, -ECANCELED, "kernel %s: cancelled",
			     r->launch.name);
		return;
	}
	if (r->is_empty)
		return;
	if (r->code) {
		request_set_addresses(r);
		code_find(d, r);
		r->has_launched |= !r->error;
		if (!r->error)
			r->ops->shape(r);
		if (!r->error)
			request_launch(r, queue);
		finalize_copies(d, r, queue);
		return;
	}
	r->has_launched = true;
	r->begun = clock_ticks();
	r->enqueues = queue;
	rc = r->ops->enqueue(executor, r, d->ops.queue(d->dev, queue));
	r->enqueues = 0;
	device_returned(d, "enqueue", rc);
	if (rc < 0 && r->why[0])
		r->error = rc;
	else if (rc < 0)
		request_fail_call(r, "enqueue", rc);
	/* Also of a part: it uses the operands. */
	request_mark(r, queue);
}

unsigned request_queue(struct device *d, const struct device_req *r)
{
	bool has_urgent = device_has(d, LKDF_DEVICE_URGENT) && d->nr_queues > 1;
	unsigned nr = d->nr_queues - has_urgent, queue;

	if (has_urgent && r->class >= DEVICE_URGENT)
		return DEVICE_KERNEL_QUEUE + nr;
	queue = DEVICE_KERNEL_QUEUE + d->next_queue;
	d->next_queue = (d->next_queue + 1) % nr;
	return queue;
}

static void starve_request(struct device *d, struct device_req *r)
{
	set_starving(d, r);
	if (!r->waits_since)
		r->waits_since = clock_ticks();
}

static void end_starving(struct device *d, struct device_req *r)
{
	set_starving(d, NULL);
	if (r->waits_since)
		rows_waited(d, r);
}

/* Goes on after its state, up to one that the device is at. */
static void advance_request(struct device *d, void *executor,
			    struct device_req *r)
{
	int rc;

	do {
		switch ((enum device_state)a_load(&r->state, relaxed)) {
		case DEVICE_RESERVE:
			rc = r->error ? 0 : reserve_operands(d, r);
			if (rc == -EAGAIN) {
				starve_request(d, r);
				return;
			}
			end_starving(d, r);
			if (r->leads && !r->error && region_begin(executor, r))
				return;
			request_move(r, DEVICE_UPLOAD);
			if (request_goes_together(r)) {
				request_give_together(executor, r);
				break;
			}
			request_upload(r, 0);
			/* order: request.upload: it is done before. */
			break;
		case DEVICE_UPLOAD:
			request_filled(r);
			request_move(r, DEVICE_RUN);
			request_run(executor, r, request_queue(d, r));
			break;
		case DEVICE_RUN:
			if (!r->queue && !r->error && r->ops->next(r)) {
				request_run(executor, r, request_queue(d, r));
				break;
			}
			request_move(r, DEVICE_FETCH);
			if (!r->queue)
				request_fetch_all(r);
			break;
		case DEVICE_FETCH:
			release_operands(d, r, end_of(r));
			end_request(d, executor, r);
			return;
		case DEVICE_OVER:
			check(false);
			return;
		}
		/* A device that is lost ends it once it has let go. */
	} while (!r->nr_ops && !d->has_gone);
}

static const char *const doing[] = {
	[DEVICE_RESERVE] = "memory",
	[DEVICE_UPLOAD] = "upload",
	[DEVICE_RUN] = "run",
	[DEVICE_FETCH] = "fetch",
};

/* The driver's words are those of the launcher now; why: NULL: it has none. */
static void say_error(int error, const char *why)
{
	err_clear();
	if (why)
		err(error, "%s", why);
}

void request_op_done(struct device *d, void *executor, struct device_slot *s)
{
	struct device_req *r = s->req;
	struct device_copy *c = s->copy;
	struct held_move *m = s->move;
	uint64_t end = s->is_quiet ? 0 : s->end_ticks;
	enum device_state state = s->state;
	struct device_slot *quiet;
	char *why = s->why;
	int error = s->error;

	s->why = NULL;
	while (error != -ENODEV && (quiet = quiet_take(s)))
		request_op_done(d, executor, quiet);
	rows_end(d, s);
	device_free_slot(d, s);
	if (unlikely(error)) {
		say_error(error, why);
		free(why);
	}
	if (error == -ENODEV) {
		device_returned(d, "an operation", error);
		request_lose_all(d, executor);
	}
	if (c && !a_load(&d->is_lost, relaxed))
		copies_returned(d, c, error);
	if (m && !a_load(&d->is_lost, relaxed))
		held_moved(executor, m, error);
	if (!r || a_load(&d->is_lost, relaxed))
		return;
	if (error)
		request_fail_said(r, doing[state], error);
	if (end)
		r->op_end = end;
	if (--r->nr_ops)
		return;
	if (r->region)
		region_go_on(executor, r, end);
	else
		advance_request(d, executor, r);
}

void request_enter(struct device *d, struct device_req *r)
{
	a_store(&r->state, DEVICE_RESERVE, relaxed);
	r->nr_ops = 0;
	r->error = 0;
	r->nr_reserved = 0;
	r->has_launched = false;
	r->is_quiet = false;
	r->queue = 0;
	r->op_end = 0;
	r->waits_since = r->uid = 0;
	r->bytes_up = r->bytes_down = 0;
	r->why[0] = 0;
	r->region = NULL;
	r->behind = NULL;
	r->has_run = false;
	lock_take(&d->lock);
	list_append(&d->under_way, &r->list);
	lock_give(&d->lock);
	a_add(&d->load, 1, relaxed);
}

static void begin_item(void *executor, struct blocking_item *item);

void request_begin(struct device *d, void *executor, struct device_req *r)
{
	bool is_lost = a_load(&d->is_lost, relaxed), has_begun;

	err_clear();
	has_begun = !is_lost && device_begin(d);
	r->item.run = begin_item;
	if (has_begun && !r->ops->is_cancelled(r) && build_waits(d, r))
		return;
	if (has_begun && r->ops->gathers && r->ops->gathers(executor, r))
		return;
	request_enter(d, r);
	d->nr_under_way++;
	if (is_lost) {
		request_fail_lost(r);
		end_request(d, executor, r);
		return;
	}
	if (!has_begun)
		request_fail(r, d->start_error, "kernel %s: start on %s: %s",
			     r->launch.name, d->name, d->why_start);
	advance_request(d, executor, r);
}

static void begin_item(void *executor, struct blocking_item *item)
{
	struct device_req *r = container_of(item, struct device_req, item);

	request_begin(r->device, executor, r);
}

const struct device_req *request_of_item(const struct blocking_item *item)
{
	return item->run == begin_item
		       ? container_of(item, const struct device_req, item)
		       : NULL;
}

void request_hand_over(struct device *d, struct device_req *r)
{
	r->item.run = begin_item;
	device_push(d, r->class, &r->item);
}

bool request_feed(struct device *d, void *executor)
{
	struct device_req *r = d->starving;

	if (!r)
		return false;
	if (r->ops->is_cancelled(r))
		request_fail(r, -ECANCELED, "kernel %s: cancelled",
			     r->launch.name);
	advance_request(d, executor, r);
	return d->starving != r;
}
