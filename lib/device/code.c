/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "device/code.h"

#include "base/err.h"
#include "base/util.h"
#include "device/request.h"

#include <stdlib.h>
#include <string.h>

void code_make(struct device *d, const struct device_code *c,
	       const struct lkdf_launch *like, struct device_built *b)
{
	char log[2048] = "";
	const char *said;

	err_clear();
	b->error = d->ops.build(d->dev, &c->code, like, &b->function, log,
				sizeof(log));
	log[sizeof(log) - 1] = 0;
	if (b->error > 0)
		b->error = 0;
	said = log[0] ? log : err_text();
	b->log = b->error && said[0] ? strdup(said) : NULL;
}

void code_built(struct device *d, struct device_code *c,
		const struct device_built *made)
{
	struct device_built *b = &c->on[d->attr.index];

	b->function = made->function;
	b->error = made->error;
	b->log = made->log;
	b->is_known = true;
	if (b->error)
		return;
	b->is_listed = true;
	list_push(&d->codes, &b->list);
}

static void build_code(struct device *d, struct device_code *c,
		       const struct device_req *r)
{
	struct device_built made = { .function = c->code.function };

	if (made.function) {
		c->on[d->attr.index].function = made.function;
		c->on[d->attr.index].is_known = true;
		return;
	}
	code_make(d, c, &r->launch, &made);
	code_built(d, c, &made);
}

void code_find(struct device *d, struct device_req *r)
{
	struct device_code *c = r->code;
	struct device_built *b = &c->on[d->attr.index];

	if (!b->is_known)
		build_code(d, c, r);
	if (b->error && b->log)
		request_fail(r, b->error, "kernel %s on %s: %s", c->kind,
			     d->name, b->log);
	else if (b->error)
		request_fail_call(r, "build", b->error);
	r->launch.function = b->function;
}

static void drop_code(struct device *d, struct device_built *b)
{
	list_del(&b->list);
	b->is_listed = false;
	if (d->ops.drop && !a_load(&d->is_lost, relaxed))
		d->ops.drop(d->dev, b->function);
}

static void forget_next(struct device_code *c);

static void forget_here(void *executor, struct blocking_item *item)
{
	struct device_code *c = container_of(item, struct device_code, forget);
	struct device *d = c->devices[c->next_device];

	(void)executor;
	if (c->on[c->next_device].is_listed)
		drop_code(d, &c->on[c->next_device]);
	c->next_device++;
	forget_next(c);
}

static void forget_next(struct device_code *c)
{
	unsigned i;

	for (i = c->next_device; i < LKDF_MAX_DEVICES; i++) {
		if (!c->on[i].is_listed)
			continue;
		c->next_device = i;
		c->forget.run = forget_here;
		device_push(c->devices[i], 0, &c->forget);
		return;
	}
	for (i = 0; i < LKDF_MAX_DEVICES; i++)
		free(c->on[i].log);
	c->freed(c);
}

void code_forget(struct device_code *c)
{
	c->next_device = 0;
	forget_next(c);
}

void code_drop_all(struct device *d)
{
	while (!list_is_empty(&d->codes))
		drop_code(d, container_of(d->codes.next, struct device_built,
					  list));
}
