/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include <lkdf/device.h>
#include <lkdf/dlpack.h>

#include "api/border.h"
#include "device/library.h"
#include "offload/devices.h"
#include "offload/foreign.h"
#include "offload/kernel.h"

#include <string.h>

static int lacks_op(const struct lkdf_device_ops *o, const char *what)
{
	return err(-EINVAL, "place_register: %s: %s is NULL", o->name, what);
}

static int check_memory(const struct lkdf_device_ops *o)
{
	if (o->flags & LKDF_DEVICE_HOST_MEMORY)
		return 0;
	if (!o->alloc)
		return lacks_op(o, "alloc");
	if (!o->free)
		return lacks_op(o, "free");
	if (!o->upload)
		return lacks_op(o, "upload");
	return o->fetch ? 0 : lacks_op(o, "fetch");
}

static int check_ops(const struct lkdf_device_ops *o)
{
	if (!o->name || !o->name[0])
		return err(-EINVAL, "place_register: name is NULL or empty");
	if (strlen(o->name) >= sizeof(((struct device *)NULL)->name))
		return err(-EINVAL,
			   "place_register: name %.16s... has more than %zu "
			   "bytes",
			   o->name, sizeof(((struct device *)NULL)->name) - 1);
	if (!o->info)
		return lacks_op(o, "info");
	if (!o->launch)
		return lacks_op(o, "launch");
	if (!o->stop)
		return lacks_op(o, "stop");
	if (o->flags & LKDF_DEVICE_CALLS && !o->poll)
		return lacks_op(o, "poll");
	if (o->flags & LKDF_DEVICE_BUILDS && !o->build)
		return lacks_op(o, "build");
	if (o->flags & LKDF_DEVICE_PINS && !o->pin)
		return lacks_op(o, "pin");
	if (o->flags & LKDF_DEVICE_QUIET && !o->mark)
		return lacks_op(o, "mark");
	if (o->flags & LKDF_DEVICE_QUIET && !(o->flags & LKDF_DEVICE_ORDERED))
		return err(-EINVAL,
			   "place_register: %s: LKDF_DEVICE_QUIET needs "
			   "LKDF_DEVICE_ORDERED",
			   o->name);
	if (!o->queue != !o->mark)
		return err(-EINVAL,
			   "place_register: %s: queue and mark go together",
			   o->name);
	if (!o->pin != !o->unpin)
		return err(-EINVAL,
			   "place_register: %s: pin and unpin go together",
			   o->name);
	return check_memory(o);
}

int lkdf_place_register(struct lkdf *rt, const struct lkdf_device_ops *ops,
			void *dev, struct lkdf_place **out)
{
	struct lkdf_device_ops o;
	int rc = border_runtime(rt);

	if (rc)
		return rc;
	if (!ops || !out)
		return err(-EINVAL, "place_register: ops or out is NULL");
	rc = border_copy(ops, &o, sizeof(o), "lkdf_device_ops");
	if (!rc)
		rc = border_flags(
			"place_register", o.flags,
			LKDF_DEVICE_RANGES | LKDF_DEVICE_HOST_MEMORY |
				LKDF_DEVICE_ORDERED | LKDF_DEVICE_MANAGED |
				LKDF_DEVICE_HANDLES | LKDF_DEVICE_CALLS |
				LKDF_DEVICE_BUILDS | LKDF_DEVICE_QUIET |
				LKDF_DEVICE_URGENT | LKDF_DEVICE_PINS |
				LKDF_DEVICE_EXPORTS | LKDF_DEVICE_NULL_QUEUE);
	if (!rc)
		rc = check_ops(&o);
	return rc ? rc : devices_add(rt, LKDF_PLACE_USER, &o, dev, out);
}

/* -EINVAL: it is none. what: the call. */
static int check_device(const char *what, const struct lkdf_place *p)
{
	if (!p)
		return err(-EINVAL, "%s: the place is NULL", what);
	if (!p->device)
		return err(-EINVAL, "%s: node %d is not a device", what,
			   place_id(p));
	return border_runtime(p->rt);
}

int lkdf_place_from_queue(struct lkdf_place *p, void *queue,
			  struct lkdf_place **out)
{
	const char *what = "place_from_queue";
	int rc = check_device(what, p);

	if (rc)
		return rc;
	if (!out || (!queue && !device_has(p->device, LKDF_DEVICE_NULL_QUEUE)))
		return err(-EINVAL, "%s: queue or out is NULL", what);
	if (!p->device->ops.adopt)
		return err(-EOPNOTSUPP,
			   "%s: device %s takes no queues of the program", what,
			   p->device->name);
	return devices_adopt(p, queue, out);
}

int lkdf_event_from_device(struct lkdf_place *p, void *event,
			   struct lkdf_event *out)
{
	const char *what = "event_from_device";
	int rc = check_device(what, p);

	if (rc)
		return rc;
	if (!event || !out)
		return err(-EINVAL, "%s: event or out is NULL", what);
	if (!p->device->ops.watch)
		return err(-EOPNOTSUPP,
			   "%s: device %s tells of no events of the program",
			   what, p->device->name);
	return foreign_event(p->rt, p->device, event, out);
}

int lkdf_place_library(struct lkdf_place *p, const struct lkdf_library_attr *a)
{
	const char *what = "place_library";
	struct lkdf_library_attr ours;
	int rc = check_device(what, p);

	if (rc)
		return rc;
	if (!a)
		return err(-EINVAL, "%s: the attributes are NULL", what);
	rc = border_copy(a, &ours, sizeof(ours), "lkdf_library_attr");
	if (!rc)
		rc = border_flags(what, ours.flags, 0);
	if (rc)
		return rc;
	if (!ours.create)
		return err(-EINVAL, "%s: create is NULL", what);
	if (!p->device->ops.queue || !p->device->ops.mark)
		return err(-EOPNOTSUPP, "%s: device %s has no queue and mark",
			   what, p->device->name);
	return library_add(p->device, &ours);
}

/* The request whose enqueue() has the context; NULL: it is none's. */
static struct device_req *request_of(const struct lkdf_ctx *c)
{
	const struct task *t = c->task;
	struct device_req *r = NULL;

	if (t && t->kind->kernel && t->link.flags & TASK_AWAY)
		r = &t->away.kernel->req;
	return r && r->enqueues ? r : NULL;
}

static int find_handle(const struct lkdf_ctx *c, int library, void **handle)
{
	struct device_req *r = request_of(c);

	if (!r)
		return err(-EINVAL, "library: a handle is for enqueue()");
	if (library < 0 || !handle)
		return err(-EINVAL, "library: number %d, or handle is NULL",
			   library);
	return library_find(r->device, r->enqueues, (uint32_t)library, handle);
}

int lkdf_dlpack(struct lkdf_ctx *c, unsigned use, struct lkdf_tensor *t)
{
	struct device_req *r;
	void *at;

	if (!c || !t)
		return err(-EINVAL, "dlpack: context or tensor is NULL");
	at = lkdf_ptr(c, use);
	if (!at)
		return err(-EINVAL, "dlpack: the task has no use %u", use);
	r = request_of(c);
	if (r && !r->device->info.dlpack_type)
		return err(-EOPNOTSUPP, "dlpack: it has no name for device %s",
			   r->device->name);
	t->data = at;
	t->device.type =
		r ? (int32_t)r->device->info.dlpack_type : LKDF_DLPACK_CPU;
	t->device.id = r ? r->device->info.dlpack_id : 0;
	t->byte_offset = 0;
	return 0;
}

int lkdf_library(struct lkdf_ctx *c, int library, void **handle)
{
	int rc;

	if (!c)
		return err(-EINVAL, "library: the context is NULL");
	rc = find_handle(c, library, handle);
	c->has_why |= rc < 0;
	return rc;
}

int lkdf_place_info(const struct lkdf_place *p, struct lkdf_device_info *out)
{
	const char *lost;
	uint32_t size;

	if (!p || !out)
		return err(-EINVAL, "place_info: place or out is NULL");
	if (!p->device)
		return err(-EINVAL, "place_info: node %d is not a device",
			   place_id(p));
	size = out->size;
	if (size < 2 * sizeof(uint32_t))
		return err(-EINVAL, "place_info: size %u is not set", size);
	lost = device_why_lost(p->device);
	if (lost)
		return err(-ENODEV, "place_info: device %s is lost: %s",
			   p->device->name, lost);
	memset(out, 0, size);
	memcpy(out, &p->device->info,
	       size < sizeof(*out) ? size : sizeof(*out));
	out->size = size;
	return 0;
}

int lkdf_device_done(struct lkdf_device_op op, int error)
{
	return device_done(op, error, NULL);
}

int lkdf_device_failed(struct lkdf_device_op op, int error, const char *why)
{
	if (!error)
		return err(-EINVAL, "device_failed: the error is 0");
	return device_done(op, error, why);
}
