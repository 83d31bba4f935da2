/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "offload/copy.h"

#include "base/err.h"
#include "base/util.h"
#include "scope/event.h"
#include "scope/scope.h"
#include "task/kind.h"
#include "task/task.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* By way of the host: from one device to another, or with no ops.copy. */
#define PIECE (4u << 20)

struct copy {
	/* Set when made, constant afterwards. */
	struct copy_side to, from;
	uint64_t bytes;

	/* The body, then the launchers in turn, then its continuation. */
	struct held_move move;
	char *piece; /* device to device; else NULL */
	uint64_t at; /* bytes that are done */
	struct lkdf_event over;
	int error;
	char why[DEVICE_WHY];
};

static const char *name_of(const struct copy_side *s)
{
	return s->held ? s->held->device->name : "the host";
}

static void free_copy(struct copy *c)
{
	if (c->to.held)
		held_put(c->to.held);
	if (c->from.held)
		held_put(c->from.held);
	free(c->piece);
	free(c);
}

/* ---- the launchers ------------------------------------------------------ */

static uint64_t piece_of(const struct copy *c)
{
	uint64_t left = c->bytes - c->at;

	return c->piece && left > PIECE ? PIECE : left;
}

/* From the device to itself. */
static void carry_within(struct copy *c)
{
	const struct device_held *to = c->to.held, *from = c->from.held;
	struct held_move *m = &c->move;

	m->device = to->device;
	m->way = HELD_WITHIN;
	m->within.to = to->device_ptr;
	m->within.to_offset = (uint64_t)(c->to.at - to->base);
	m->within.from = from->device_ptr;
	m->within.from_offset = (uint64_t)(c->from.at - from->base);
	m->within.bytes = c->bytes;
	held_move(m);
}

static void carry_bytes(struct copy *c, bool is_up)
{
	const struct copy_side *there = is_up ? &c->to : &c->from;
	const struct copy_side *here = is_up ? &c->from : &c->to;
	struct device_held *h = there->held;
	struct held_move *m = &c->move;

	m->device = h->device;
	m->way = is_up ? HELD_UP : HELD_DOWN;
	m->t.device_ptr = h->device_ptr;
	m->t.offset = (uint64_t)(there->at - h->base) + c->at;
	m->t.bytes = piece_of(c);
	m->t.host = c->piece ? c->piece : here->at + c->at;
	held_move(m);
}

static void end_copy(struct copy *c, int error, const char *why)
{
	c->error = error;
	snprintf(c->why, sizeof(c->why), "%s", why[0] ? why : strerror(-error));
	event_finish(c->over, 0, NULL);
}

static void bytes_carried(void *executor, struct held_move *m)
{
	struct copy *c = container_of(m, struct copy, move);

	(void)executor;
	if (m->error) {
		end_copy(c, m->error, m->why);
		return;
	}
	if (m->way == HELD_WITHIN) {
		end_copy(c, 0, "");
		return;
	}
	if (m->way == HELD_DOWN && c->piece) {
		carry_bytes(c, true);
		return;
	}
	c->at += m->t.bytes;
	if (c->at == c->bytes)
		end_copy(c, 0, "");
	else
		carry_bytes(c, !c->from.held);
}

/* ---- the task ----------------------------------------------------------- */

static int finish_copy(struct lkdf_ctx *ctx, void *arg)
{
	struct copy *c = *(struct copy **)arg;
	int error = c->error;

	if (error) {
		err(error, "copy: %llu bytes from %s to %s: %s",
		    (unsigned long long)c->bytes, name_of(&c->from),
		    name_of(&c->to), c->why);
		ctx->has_why = true;
	}
	free_copy(c);
	return error;
}

static bool stays_there(const struct copy *c)
{
	const struct device_held *to = c->to.held, *from = c->from.held;

	return to && from && to->device == from->device && to->device->ops.copy;
}

static int begin_carrying(struct lkdf_ctx *ctx, struct copy *c)
{
	struct lkdf *rt = ctx->ex->rt;
	bool is_within = stays_there(c);
	int rc = 0;

	if (c->to.held && c->from.held && !is_within) {
		c->piece = malloc(c->bytes < PIECE ? c->bytes : PIECE);
		rc = c->piece ? 0 : err(-ENOMEM, "copy: no memory");
	}
	if (!rc && c->to.held)
		rc = device_require(c->to.held->device);
	if (!rc && c->from.held)
		rc = device_require(c->from.held->device);
	if (!rc)
		rc = event_create(rt, ctx->ex, 1, 2, &c->over);
	if (rc)
		return rc;
	rc = task_then(ctx, finish_copy, c->over);
	check(!rc);
	if (is_within)
		carry_within(c);
	else
		carry_bytes(c, !c->from.held);
	return 0;
}

static int begin_copy(struct lkdf_ctx *ctx, void *arg)
{
	struct copy *c = *(struct copy **)arg;
	int rc = 0;

	if (scope_cancelled(ctx->task->scope)) {
		rc = err(-ECANCELED, "copy: cancelled");
	} else if (!c->to.held && !c->from.held) {
		memcpy(c->to.at, c->from.at, c->bytes);
	} else {
		rc = begin_carrying(ctx, c);
		if (!rc)
			return 0;
	}
	ctx->has_why = rc != 0;
	free_copy(c);
	return rc;
}

static int make_kind(struct lkdf *rt, struct lkdf_kind **out)
{
	const struct lkdf_kind_attr a = {
		.size = sizeof(a),
		.name = "lkdf.copy",
		.fn = begin_copy,
		.arg_size = sizeof(struct copy *),
		.flags = LKDF_ALWAYS,
	};

	return kind_create(rt, &a, out);
}

int copy_submit(struct lkdf *rt, struct lkdf_scope *s,
		const struct copy_side *to, const struct copy_side *from,
		uint64_t bytes, struct lkdf_event *done)
{
	struct copy *c = calloc(1, sizeof(*c));
	struct lkdf_task t = {
		.size = sizeof(t),
		.kind = own_kind_get(rt, OWN_COPY, make_kind),
		.arg = &c,
	};
	int rc;

	if (!c || !t.kind) {
		free(c);
		return err(-ENOMEM, "copy: no memory");
	}
	c->to = *to;
	c->from = *from;
	c->bytes = bytes;
	c->move.over = bytes_carried;
	rc = task_submit(rt, s, &t, done);
	if (rc)
		free(c);
	return rc;
}
