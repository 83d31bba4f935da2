/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include <lkdf/channel.h>

#include "api/border.h"
#include "api/fixes.h"
#include "channel/channel_wait.h"
#include "task/again.h"
#include "task/give_way.h"

static int check_init(const struct lkdf_channel_attr *a)
{
	if (a->nr_init > a->depth)
		return err(-EINVAL,
			   "channel: nr_init %u, its depth is %u values",
			   a->nr_init, a->depth);
	if (a->nr_init && !a->init)
		return err(-EINVAL, "channel: nr_init %u, but init is NULL",
			   a->nr_init);
	return 0;
}

static int check_attr(const struct lkdf_channel_attr *a)
{
	int rc = border_flags("channel", a->flags, LKDF_CHANNEL_LATEST);

	if (rc)
		return rc;
	if (a->pad)
		return err(-EINVAL, "channel: pad is %u, not 0", a->pad);
	if (!a->value_size || a->value_size > LKDF_MAX_VALUE)
		return err(-EINVAL,
			   "channel: value_size %u, expected 1 .. %d bytes",
			   a->value_size, LKDF_MAX_VALUE);
	if (!a->depth || a->depth > LKDF_MAX_DEPTH)
		return err(-EINVAL,
			   "channel: depth %u, expected 1 .. %d values",
			   a->depth, LKDF_MAX_DEPTH);
	return check_init(a);
}

int lkdf_channel_create(struct lkdf *rt, const struct lkdf_channel_attr *attr,
			struct lkdf_channel **out)
{
	struct lkdf_channel_attr a;
	int rc = border_runtime(rt);

	if (rc)
		return rc;
	if (!attr || !out)
		return err(-EINVAL, "channel: attributes or out is NULL");
	rc = border_copy(attr, &a, sizeof(a), "lkdf_channel_attr");
	if (!rc)
		a.depth = (uint32_t)fixes_value(rt, FIX_DEPTH, a.name, a.depth);
	if (!rc)
		rc = check_attr(&a);
	if (!rc)
		rc = channel_create(rt, &a, out);
	if (!rc)
		handle_add(rt, &(*out)->handle, HANDLE_CHANNEL);
	return rc;
}

/* The channel may be the first argument of any of them. */
static int check_channel(const char *what, const struct lkdf_channel *ch)
{
	if (!ch)
		return err(-EINVAL, "%s: the channel is NULL", what);
	return border_owner(ch->rt, what, "channel", ch->name);
}

static int check_value(const char *what, const struct lkdf_channel *ch,
		       const void *value)
{
	int rc = check_channel(what, ch);

	if (!rc && !value)
		rc = err(-EINVAL, "%s: channel %s: value is NULL", what,
			 ch->name);
	return rc;
}

/* A body on a worker would keep others waiting. */
static int check_wait(const char *what, int64_t timeout_ns)
{
	const struct executor *ex = thread_self()->executor;

	if (timeout_ns && ex && ex->worker)
		return err(-EDEADLK,
			   "%s: waiting in a body on a worker; use lkdf_send "
			   "or lkdf_recv and return LKDF_AGAIN, or a kind with "
			   "LKDF_BLOCKING",
			   what);
	if (timeout_ns && thread_self()->loop)
		return border_may_wait(what);
	return border_timeout(what, timeout_ns);
}

/* The body that runs on this thread of the blocking pool, or NULL. */
static const struct lkdf_scope *scope_here(void)
{
	const struct executor *ex = thread_self()->executor;

	return ex ? ex->scope : NULL;
}

int lkdf_channel_send(struct lkdf_channel *ch, const void *value,
		      int64_t timeout_ns)
{
	int rc = check_value("lkdf_channel_send", ch, value);
	struct lkdf *rt;

	if (!rc)
		rc = check_wait("lkdf_channel_send", timeout_ns);
	if (rc)
		return rc;
	rt = ch->rt;
	border_caller(rt);
	rc = channel_send_for(ch, value, timeout_ns, scope_here());
	give_way_if(rt, rc, 1);
	border_caller_leaves(rt);
	return rc;
}

int lkdf_channel_recv(struct lkdf_channel *ch, void *value, int64_t timeout_ns)
{
	int rc = check_value("lkdf_channel_recv", ch, value);
	struct lkdf *rt;

	if (!rc)
		rc = check_wait("lkdf_channel_recv", timeout_ns);
	if (rc)
		return rc;
	rt = ch->rt;
	border_caller(rt);
	rc = channel_recv_for(ch, value, timeout_ns, scope_here());
	give_way_if(rt, rc, 1);
	border_caller_leaves(rt);
	return rc;
}

int lkdf_channel_end(struct lkdf_channel *ch, int error)
{
	int rc = check_channel("lkdf_channel_end", ch);
	struct lkdf *rt;

	if (rc)
		return rc;
	/* Receives say by -EAGAIN that there is no value yet. */
	if (error > 0 || error < -EVENT_MAX_ERR || error == -EAGAIN)
		return err(-EINVAL,
			   "lkdf_channel_end: channel %s: error %d, expected 0 "
			   "or -errno, not -EAGAIN",
			   ch->name, error);
	rt = ch->rt;
	border_caller(rt);
	rc = channel_end(ch, error);
	border_caller_leaves(rt);
	return rc;
}

int lkdf_channel_count(const struct lkdf_channel *ch)
{
	int rc = check_channel("lkdf_channel_count", ch);

	if (rc)
		return rc;
	rc = (int)channel_count((struct lkdf_channel *)ch);
	give_way(ch->rt);
	return rc;
}

void lkdf_channel_put(struct lkdf_channel *ch)
{
	struct lkdf *rt = ch ? ch->rt : NULL;

	if (!ch || !handle_drop(rt, &ch->handle, "channel_put", ch->name))
		return;
	/* In a forked child nobody waits, and others may hold the lock. */
	if (!a_load(rt->is_alive, relaxed)) {
		channel_put(ch);
		return;
	}
	border_caller(rt);
	channel_end(ch, 0);
	channel_put(ch);
	border_caller_leaves(rt);
}

static int check_body(const char *what, const struct lkdf_ctx *c,
		      const struct lkdf_channel *ch, const void *value)
{
	int rc = border_ctx(c, what);

	if (!rc)
		rc = check_value(what, ch, value);
	if (!rc && ch->rt != c->ex->rt)
		rc = err(-EINVAL, "%s: channel %s %s", what, ch->name,
			 border_whose(ch->rt));
	return rc;
}

int lkdf_send(struct lkdf_ctx *c, struct lkdf_channel *ch, const void *value)
{
	int rc = check_body("lkdf_send", c, ch, value);

	if (rc)
		return rc;
	rc = again_tried(c, ch, CHANNEL_ROOM, channel_send(ch, value));
	runtime_show(c->ex);
	return give_way_if(ch->rt, rc, -EAGAIN);
}

int lkdf_recv(struct lkdf_ctx *c, struct lkdf_channel *ch, void *value)
{
	int rc = check_body("lkdf_recv", c, ch, value);

	if (rc)
		return rc;
	rc = again_tried(c, ch, CHANNEL_VALUES, channel_recv(ch, value));
	runtime_show(c->ex);
	return give_way_if(ch->rt, rc, -EAGAIN);
}
