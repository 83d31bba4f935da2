/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A request whose copies and launches lie in one queue for kernels, which keeps
 * their order (queue_copy_bytes): the device is given all of them at once.
 */
#include "device/request.h"

/* Does a queue for kernels take what its operands need? */
static bool queue_takes(const struct device *d, const struct device_operand *o)
{
	bool is_brought = o->mode & LKDF_READ && !o->is_filled;

	if (is_brought && (o->source || (o->is_zero && d->ops.fill)))
		return false;
	return (!is_brought && !request_fetches(o)) ||
	       o->bytes <= d->info.queue_copy_bytes;
}

bool request_goes_together(const struct device_req *r)
{
	const struct device *d = r->device;
	uint32_t i;

	if (!d->info.queue_copy_bytes || !device_has(d, LKDF_DEVICE_ORDERED) ||
	    device_has(d, LKDF_DEVICE_HOST_MEMORY) || !r->code || r->is_empty ||
	    r->error)
		return false;
	for (i = 0; i < r->nr_operand; i++)
		if (!queue_takes(d, &r->operand[i]))
			return false;
	return true;
}

void request_give_together(void *executor, struct device_req *r)
{
	struct device *d = r->device;
	bool may_be_quiet =
		device_has(d, LKDF_DEVICE_QUIET) && !rows_are_told(d);

	r->queue = request_queue(d, r);
	r->is_quiet = may_be_quiet;
	request_upload(r, 0);
	request_filled(r);
	request_move(r, DEVICE_RUN);
	r->is_quiet = may_be_quiet && request_has_fetches(r);
	do
		request_run(executor, r, r->queue);
	while (!r->error && r->ops->next(r));
	request_fetch_all(r);
}
