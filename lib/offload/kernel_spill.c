/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Values of loops and folds that are more than a device takes in a launch go by
 * memory, the largest first: the library makes the text, so it can have a
 * pointer there. Constants stay on a device, parts of the argument go there
 * with each task, as the user's LKDF_PARAM_MEMORY and LKDF_PARAM_TASK_MEMORY.
 */
#include "offload/kernel.h"

#include <string.h>

/* The least limit of the devices that the texts are for; 0: none has one. */
static uint32_t least_limit(const struct kernel *k)
{
	uint32_t i, c, limit, least = 0;
	const struct device *d;

	for (i = 0; i < devices_nr(k->rt); i++) {
		d = k->rt->devices->device[i];
		limit = d->info.max_value_bytes;
		for (c = 0; c < k->attr.nr_code; c++)
			if (limit && (!least || limit < least) &&
			    !strcmp(k->code[c]->code.device, d->name))
				least = limit;
	}
	return least;
}

static bool is_value(const struct lkdf_param *p)
{
	return p->from == LKDF_PARAM_VALUE || p->from == LKDF_PARAM_TASK;
}

static uint64_t bytes_of(const struct kernel *k, const struct lkdf_param *p)
{
	return p->bytes ? p->bytes : k->arg_size - p->first;
}

/* With what the library itself adds. */
static uint64_t count_bytes(const struct kernel *k)
{
	uint64_t own =
		sizeof(uint64_t) *
		(k->fold.block ? KERNEL_FOLD_ARGS : 2 * kernel_loop_dims(k));
	uint32_t i;

	if (!k->param)
		return own + k->arg_size;
	for (i = 0; i < k->attr.nr_param; i++)
		if (is_value(&k->param[i]))
			own += bytes_of(k, &k->param[i]);
	return own;
}

/* NULL: all that are left are as small as the address of one. */
static struct lkdf_param *largest_value(const struct kernel *k)
{
	uint64_t most = sizeof(void *);
	struct lkdf_param *p, *out = NULL;

	for (p = k->param; p < k->param + k->attr.nr_param; p++)
		if (is_value(p) && bytes_of(k, p) > most) {
			most = bytes_of(k, p);
			out = p;
		}
	return out;
}

static void spill_value(struct kernel *k, struct lkdf_param *p)
{
	k->by_memory |= UINT64_C(1) << (p - k->param);
	p->from = p->from == LKDF_PARAM_VALUE ? LKDF_PARAM_MEMORY
					      : LKDF_PARAM_TASK_MEMORY;
}

void kernel_spill_values(struct kernel *k)
{
	uint64_t limit = least_limit(k), bytes = count_bytes(k);
	struct lkdf_param *p;

	if (!limit || bytes <= limit)
		return;
	if (!k->param) {
		k->arg_by_memory = k->arg_size > 0;
		return;
	}
	while (bytes > limit && (p = largest_value(k))) {
		bytes -= bytes_of(k, p);
		spill_value(k, p);
	}
}
