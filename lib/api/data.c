/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include <lkdf/data.h>

#include "api/border.h"
#include "data/offhost.h"
#include "data/place.h"
#include "offload/blocks.h"
#include "offload/prefetch.h"
#include "run/task_claim.h"
#include "run/values.h"
#include "task/acquire.h"
#include "task/move.h"
#include "task/task.h"
#include "task/uses.h"

#include <lkdf/pages.h>
#include <string.h>

#define ALIGN_MAX ((uint64_t)1 << 30)
#define FLAGS                                               \
	(LKDF_DATA_ONCE | LKDF_DATA_KEEP | LKDF_DATA_HUGE | \
	 LKDF_DATA_MIGRATE | LKDF_DATA_REPLICATE)

static int check_sizes(const struct lkdf_data_attr *a)
{
	if (!a->bytes || a->bytes > DATA_MAX_BYTES)
		return err(-EINVAL, "data: %llu bytes: expected 1 .. 2^40",
			   (unsigned long long)a->bytes);
	if (a->align & (a->align - 1) || a->align > ALIGN_MAX)
		return err(-EINVAL,
			   "data: alignment %llu: expected 0 or a power of "
			   "two up to 2^30",
			   (unsigned long long)a->align);
	if (a->wrap && a->align && (uintptr_t)a->wrap % a->align)
		return err(-EINVAL, "data: wrap %p is no multiple of %llu",
			   a->wrap, (unsigned long long)a->align);
	if (a->name && strlen(a->name) >= DATA_NAME)
		return err(-EINVAL, "data: the name has %zu bytes, at most %d",
			   strlen(a->name), DATA_NAME - 1);
	return 0;
}

static int check_attr(const struct lkdf *rt, const struct lkdf_data_attr *a)
{
	int rc = border_flags("data", a->flags, FLAGS);

	if (!rc)
		rc = check_sizes(a);
	if (rc)
		return rc;
	if (a->flags & LKDF_DATA_ONCE && a->wrap)
		return err(-EINVAL, "data: ONCE with wrapped bytes");
	if (a->flags & LKDF_DATA_KEEP && !(a->flags & LKDF_DATA_ONCE))
		return err(-EINVAL, "data: KEEP without ONCE");
	if (a->flags & LKDF_DATA_HUGE && a->wrap)
		return err(-EINVAL, "data: HUGE with wrapped bytes");
	if (a->flags & LKDF_DATA_MIGRATE && a->flags & LKDF_DATA_ONCE)
		return err(-EINVAL, "data: MIGRATE with ONCE");
	if (a->flags & LKDF_DATA_REPLICATE && a->flags & LKDF_DATA_ONCE)
		return err(-EINVAL, "data: REPLICATE with ONCE");
	if (a->wrap && a->init)
		return err(-EINVAL, "data: both wrap and init are given");
	if (a->wrap && a->home)
		return err(-EINVAL, "data: wrapped bytes have a home already");
	if (a->home && a->home->rt != rt)
		return err(-EINVAL, "data: home is of another runtime");
	if (a->neutral && !a->reduce)
		return err(-EINVAL, "data: neutral without reduce");
	return 0;
}

/* Tasks on the host would fault there. */
static int check_wrap(struct lkdf *rt, const void *wrap)
{
	struct device_held *h = wrap ? blocks_get(rt, wrap) : NULL;
	int rc = 0;

	if (!h)
		return 0;
	if (h->mem == LKDF_MEM_OWN)
		rc = err(-EINVAL,
			 "data: wrap %p lies in block \"%s\" of device %s, "
			 "LKDF_MEM_OWN, which the host cannot touch: a data "
			 "has bytes of the host, lkdf_copy() carries them",
			 wrap, h->label, h->device->name);
	held_put(h);
	return rc;
}

/* Reads the attributes; refuses what both calls that create refuse. */
static int take_attr(struct lkdf *rt, const struct lkdf_data_attr *attr,
		     struct lkdf_data **out, struct lkdf_data_attr *to)
{
	int rc = border_runtime(rt);

	if (rc)
		return rc;
	if (!attr || !out)
		return err(-EINVAL, "data: attributes or out is NULL");
	rc = border_copy(attr, to, sizeof(*to), "lkdf_data_attr");
	return rc ? rc : check_attr(rt, to);
}

int lkdf_data_create(struct lkdf *rt, const struct lkdf_data_attr *attr,
		     struct lkdf_data **out)
{
	struct lkdf_data_attr a;
	int rc = take_attr(rt, attr, out, &a);

	if (!rc)
		rc = check_wrap(rt, a.wrap);
	return rc ? rc : data_create(rt, &a, out);
}

int lkdf_data_create_many(struct lkdf *rt, const struct lkdf_data_attr *attr,
			  uint32_t nr, struct lkdf_data **out)
{
	struct lkdf_data_attr a;
	int rc = take_attr(rt, attr, out, &a);

	if (rc)
		return rc;
	if (a.name || a.wrap)
		return err(-EINVAL, "data: %s for many: it is of one data",
			   a.name ? "a name" : "wrap");
	return data_create_many(rt, &a, nr, out);
}

int lkdf_data_find(struct lkdf *rt, const char *name, struct lkdf_data **out)
{
	int rc = border_runtime(rt);

	if (rc)
		return rc;
	if (!name || !name[0] || !out)
		return err(-EINVAL, "data: name or out is NULL, or no name");
	return data_find(rt, name, out);
}

int lkdf_data_at(struct lkdf *rt, const void *addr, struct lkdf_data **out)
{
	int rc = border_runtime(rt);

	if (rc)
		return rc;
	if (!addr || !out)
		return err(-EINVAL, "data: address or out is NULL");
	return data_at(rt, addr, out);
}

static int check_data(const struct lkdf_data *d, const char *what)
{
	if (!d)
		return err(-EINVAL, "%s: the data is NULL", what);
	return border_owner(d->rt, what, "data", d->name);
}

int lkdf_data_split(struct lkdf_data *d, uint32_t nr, uint64_t stride)
{
	int rc = check_data(d, "split");
	char text[DATA_TEXT];

	if (rc)
		return rc;
	if (d->flags & LKDF_DATA_ONCE)
		return err(-EINVAL, "split: %s is LKDF_DATA_ONCE",
			   data_text(d, 0, text));
	if (!nr || nr > DATA_MAX_PARTS)
		return err(-EINVAL, "split: %u parts: expected 1 .. 2^20", nr);
	if (!stride || (d->bytes - 1) / stride != nr - 1)
		return err(-ERANGE,
			   "split: %u parts of %llu bytes are not %s, which "
			   "has %llu",
			   nr, (unsigned long long)stride,
			   data_text(d, 0, text), (unsigned long long)d->bytes);
	return data_split(d, nr, stride);
}

struct lkdf_data *lkdf_data_get(struct lkdf_data *d)
{
	if (d && !a_load(&d->nr_refs, relaxed)) {
		handle_tell_put("data_get", d->name);
		return NULL;
	}
	if (d)
		data_get(d);
	return d;
}

void lkdf_data_put(struct lkdf_data *d)
{
	struct lkdf *rt = d ? d->rt : NULL;

	if (d && unlikely(!rt))
		data_put_orphan(d);
	else
		data_put(d);
	/* In serial mode the devices let go of it on this thread. */
	if (rt && offhost_is_possible(rt) && a_load(rt->is_alive, relaxed))
		sched_drain(&rt->sched);
}

int lkdf_data_acquire(struct lkdf_data *d, uint32_t mode, int64_t timeout_ns,
		      void **out)
{
	int rc = check_data(d, "acquire");

	if (!rc)
		rc = border_may_wait("acquire");
	if (!rc)
		rc = border_timeout("acquire", timeout_ns);
	if (rc)
		return rc;
	if (mode != LKDF_READ && mode != LKDF_WRITE && mode != LKDF_RW)
		return err(-EINVAL,
			   "acquire: mode %#x: expected READ, WRITE or RW",
			   mode);
	return data_acquire(d, mode, timeout_ns, out);
}

int lkdf_data_release(struct lkdf_data *d)
{
	int rc = check_data(d, "release");

	return rc ? rc : data_release(d);
}

uint64_t lkdf_data_version(const struct lkdf_data *d)
{
	return d ? a_load(&d->domain.version, relaxed) : 0;
}

int lkdf_data_where(struct lkdf_data *d, uint64_t *bytes_on_node, unsigned nr)
{
	int rc = check_data(d, "where");
	char text[DATA_TEXT];
	void *at;

	if (rc)
		return rc;
	/* [data.look] pairs with [data.at]. */
	at = a_load(&d->domain.at, acquire);
	if (!at)
		return err(-ENODATA, "where: %s has no bytes now",
			   data_text(d, 0, text));
	return lkdf_pages(d->rt, 0, at, d->bytes, bytes_on_node, nr);
}

int lkdf_data_prefetch(struct lkdf_data *d, struct lkdf_place *p,
		       struct lkdf_event *done)
{
	int rc = check_data(d, "prefetch");
	char text[DATA_TEXT];

	if (rc)
		return rc;
	data_text(d, 0, text);
	if (!p)
		return err(-EINVAL, "prefetch: the place is NULL");
	if (p->rt != d->rt)
		return err(-EINVAL,
			   "prefetch: the place is of another runtime than %s",
			   text);
	if (d->flags & LKDF_DATA_ONCE)
		return err(-EINVAL, "prefetch: %s is LKDF_DATA_ONCE", text);
	if (p->device && !device_has(p->device, LKDF_DEVICE_HOST_MEMORY))
		return prefetch_submit(d, p, done);
	return move_prefetch(d, p, done);
}

void *lkdf_ptr(struct lkdf_ctx *c, unsigned use)
{
	if (unlikely(border_ctx(c, "ptr")))
		return NULL;
	if (likely(use < c->nr_bytes))
		return c->bytes[use];
	if (c->frame)
		return values_ptr(c, use);
	return c->task ? uses_ptr(c->ex, c->task, use) : NULL;
}

void *const *lkdf_ptrs(struct lkdf_ctx *c, unsigned nr, void *room[])
{
	unsigned i;

	if (unlikely(border_ctx(c, "ptrs")))
		return NULL;
	if (likely(nr <= c->nr_bytes))
		return c->bytes;
	for (i = 0; i < nr; i++)
		room[i] = lkdf_ptr(c, i);
	return room;
}

int lkdf_use_end(struct lkdf_ctx *c, unsigned use, bool untouched)
{
	int rc = border_ctx(c, "use_end");
	struct use *u;

	if (!rc)
		rc = border_runtime(c->ex->rt);
	if (!rc && c->frame)
		rc = task_claim_open_ctx(c);
	if (rc)
		return rc;
	u = c->task ? uses_of(c->task, use) : NULL;
	if (!u)
		return err(-EINVAL, "use_end: the task has no use %u", use);
	if (u->is_given)
		return err(-EALREADY, "use_end: use %u is given on already",
			   use);
	if (untouched && !(c->task->claim->use[use].mode & LKDF_MAYBE))
		return err(-EINVAL, "use_end: use %u is not MAYBE", use);
	if (untouched)
		u->is_untouched = true;
	if (untouched && c->frame)
		values_untouched(c->frame, c->index, use);
	uses_leave(c->ex, u);
	runtime_show(c->ex);
	return 0;
}
