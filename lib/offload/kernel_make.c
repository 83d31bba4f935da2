/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * From what the user says of a kernel to what its tasks need: all is checked
 * once, and copied.
 */
#include "offload/kernel.h"

#include "base/err.h"
#include "device/offhost.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- checks ------------------------------------------------------------- */

static int refuse_unbuilt(const struct kernel *k, const char *what)
{
	return err(-EOPNOTSUPP, "kernel %s: %s is not built yet", k->name,
		   what);
}

static int check_unbuilt(const struct kernel *k)
{
	const struct lkdf_kernel_attr *a = &k->attr;

	if (a->flags == LKDF_KERNEL_SERIAL)
		return refuse_unbuilt(k, "LKDF_KERNEL_SERIAL without a loop");
	if (a->min_blocks && !(a->flags & LKDF_KERNEL_LOOP))
		return refuse_unbuilt(k, "min_blocks without a loop");
	if (a->max_block && (!(a->flags & LKDF_KERNEL_LOOP) || a->block[0]))
		return err(-EINVAL,
			   "kernel %s: max_block is for LKDF_KERNEL_LOOP whose "
			   "block is 0",
			   k->name);
	return 0;
}

static int check_code(const struct kernel *k, uint32_t i)
{
	const struct lkdf_code *c = k->attr.code, *own = &c[i];

	if (!own->device || !own->device[0])
		return err(-EINVAL,
			   "kernel %s: code %u: device is NULL or "
			   "empty",
			   k->name, i);
	if (!own->image == !own->function)
		return err(-EINVAL,
			   "kernel %s: code %u, for %s: either image or "
			   "function",
			   k->name, i, own->device);
	for (; c < own; c++)
		if (!strcmp(c->device, own->device))
			return err(-EINVAL,
				   "kernel %s: codes %u and %u are both for %s",
				   k->name, (unsigned)(c - k->attr.code), i,
				   own->device);
	return 0;
}

static int check_codes(const struct kernel *k)
{
	const struct lkdf_kernel_attr *a = &k->attr;
	uint32_t i;
	int rc = 0;

	if (a->nr_code > LKDF_MAX_CODES)
		return err(-E2BIG, "kernel %s: %u codes, at most %d", k->name,
			   a->nr_code, LKDF_MAX_CODES);
	if (a->nr_code && !a->code)
		return err(-EINVAL, "kernel %s: %u codes, but code is NULL",
			   k->name, a->nr_code);
	if (!a->nr_code == !a->enqueue)
		return err(-EINVAL, "kernel %s: either code or enqueue",
			   k->name);
	for (i = 0; i < a->nr_code && !rc; i++)
		rc = check_code(k, i);
	return rc;
}

static int check_param(const struct kernel *k, uint32_t i)
{
	const struct lkdf_param *p = &k->attr.param[i];

	if (p->pad)
		return err(-EINVAL, "kernel %s: parameter %u: pad is %u, not 0",
			   k->name, i, p->pad);
	switch (p->from) {
	case LKDF_PARAM_VALUE:
	case LKDF_PARAM_MEMORY:
		if (p->value && p->bytes)
			return 0;
		return err(-EINVAL,
			   "kernel %s: parameter %u: VALUE and MEMORY have "
			   "value and bytes",
			   k->name, i);
	case LKDF_PARAM_TASK:
	case LKDF_PARAM_TASK_MEMORY:
		if (!k->arg_size && p->bytes)
			return 0;
		if (k->arg_size &&
		    p->first + (p->bytes ? p->bytes : 1) <= k->arg_size)
			return 0;
		return err(-EINVAL,
			   "kernel %s: parameter %u: bytes %u to %u of an "
			   "argument with arg_size %u",
			   k->name, i, p->first, p->first + p->bytes,
			   k->arg_size);
	case LKDF_PARAM_USE:
	case LKDF_PARAM_PORT:
		return 0;
	case LKDF_PARAM_LOCAL:
	case LKDF_PARAM_SCRATCH:
	case LKDF_PARAM_ZEROED:
		if (p->bytes)
			return 0;
		return err(-EINVAL,
			   "kernel %s: parameter %u: memory of 0 bytes",
			   k->name, i);
	}
	return err(-EINVAL, "kernel %s: parameter %u: from %u is unknown",
		   k->name, i, p->from);
}

static int check_params(const struct kernel *k)
{
	const struct lkdf_kernel_attr *a = &k->attr;
	uint64_t bytes = 0;
	uint32_t i;
	int rc = 0;

	if (a->nr_param > LKDF_MAX_PARAMS)
		return err(-E2BIG, "kernel %s: %u parameters, at most %d",
			   k->name, a->nr_param, LKDF_MAX_PARAMS);
	if (a->nr_param && !a->param)
		return err(-EINVAL,
			   "kernel %s: %u parameters, but param is NULL",
			   k->name, a->nr_param);
	for (i = 0; i < a->nr_param && !rc; i++) {
		rc = check_param(k, i);
		if (a->param[i].from == LKDF_PARAM_VALUE)
			bytes += a->param[i].bytes;
	}
	if (!rc && bytes > LKDF_MAX_PARAM_BYTES)
		rc = err(-E2BIG, "kernel %s: values of %llu bytes, at most %d",
			 k->name, (unsigned long long)bytes,
			 LKDF_MAX_PARAM_BYTES);
	return rc;
}

static int check_shape(const struct kernel *k)
{
	const struct lkdf_kernel_attr *a = &k->attr;

	if (a->range_from > LKDF_RANGE_PORT)
		return err(-EINVAL, "kernel %s: range_from %u is unknown",
			   k->name, a->range_from);
	if (a->range_from == LKDF_RANGE_TASK && k->arg_size &&
	    (uint64_t)a->range_at + sizeof(a->range) > k->arg_size)
		return err(-EINVAL,
			   "kernel %s: a range at byte %u of an argument with "
			   "arg_size %u",
			   k->name, a->range_at, k->arg_size);
	if (!a->block[0] && (a->block[1] || a->block[2]))
		return err(-EINVAL, "kernel %s: block is 0, %u, %u", k->name,
			   a->block[1], a->block[2]);
	if (a->carveout > LKDF_CARVEOUT(100))
		return err(-EINVAL,
			   "kernel %s: carveout is %u: LKDF_CARVEOUT() of 0 to "
			   "100",
			   k->name, a->carveout);
	if (a->flags & ~(uint32_t)(LKDF_KERNEL_SERIAL | LKDF_KERNEL_LOOP))
		return err(-EINVAL, "kernel %s: unknown flags %#x", k->name,
			   a->flags);
	return 0;
}

static int check_all(const struct kernel *k)
{
	int rc = check_codes(k);

	if (!rc)
		rc = check_params(k);
	if (!rc)
		rc = check_shape(k);
	if (!rc)
		rc = kernel_check_ports(k, k->attr.kind);
	if (!rc)
		rc = kernel_check_loop(k);
	if (!rc)
		rc = kernel_check_args(k, 0);
	return rc ? rc : check_unbuilt(k);
}

int kernel_check_uses(const struct kernel *k, const struct lkdf_use *use,
		      unsigned nr)
{
	unsigned i;

	for (i = 0; i < nr; i++) {
		if (use[i].mode & LKDF_REDUCE)
			return refuse_unbuilt(k, "a use with LKDF_REDUCE");
		if (use[i].mode & LKDF_WEAK)
			return refuse_unbuilt(k, "a use with LKDF_WEAK");
		if (use[i].mode & LKDF_MAYBE)
			return refuse_unbuilt(k, "a use with LKDF_MAYBE");
	}
	return kernel_check_args(k, nr);
}

/* ---- copies ------------------------------------------------------------- */

static void free_code(struct device_code *c)
{
	free((void *)(uintptr_t)c->code.device);
	free((void *)(uintptr_t)c->code.image);
	free((void *)(uintptr_t)c->code.entry);
	free((void *)(uintptr_t)c->code.options);
	free((void *)(uintptr_t)c->kind);
	free(c);
}

static void *copy_bytes(const void *from, size_t size)
{
	void *to = malloc(size);

	return to ? memcpy(to, from, size) : NULL;
}

/* True: there is nothing to copy, or it was. */
static bool copy_text(const char **to)
{
	if (*to)
		*to = strdup(*to);
	else
		return true;
	return *to != NULL;
}

struct device_code *kernel_copy_code(const struct kernel *k,
				     const struct lkdf_code *from)
{
	struct device_code *c = calloc(1, sizeof(*c));
	uint64_t bytes = from->bytes;
	bool is_copied;

	if (!c)
		return NULL;
	c->code = *from;
	c->kind = k->name;
	c->devices = k->rt->devices->device;
	c->freed = free_code;
	is_copied = copy_text(&c->code.device);
	is_copied = copy_text(&c->code.entry) && is_copied;
	is_copied = copy_text(&c->code.options) && is_copied;
	is_copied = copy_text(&c->kind) && is_copied;
	if (from->image) {
		if (!bytes)
			bytes = strlen(from->image) + 1;
		c->code.image = copy_bytes(from->image, bytes);
		is_copied = is_copied && c->code.image;
	}
	if (is_copied)
		return c;
	free_code(c);
	return NULL;
}

static bool has_value(const struct lkdf_param *p)
{
	return p->from == LKDF_PARAM_VALUE || p->from == LKDF_PARAM_MEMORY ||
	       p->from == LKDF_PARAM_ZEROED;
}

static void *copy_value(const struct lkdf_param *p)
{
	if (p->from == LKDF_PARAM_ZEROED)
		return calloc(1, p->bytes);
	return has_value(p) ? copy_bytes(p->value, p->bytes) : NULL;
}

static bool copy_params(struct kernel *k)
{
	const struct lkdf_kernel_attr *a = &k->attr;
	struct lkdf_param *p;
	uint32_t i;

	if (!a->param)
		return true;
	k->param = calloc(a->nr_param + 1, sizeof(*k->param));
	if (!k->param)
		return false;
	for (i = 0; i < a->nr_param; i++) {
		p = &k->param[i];
		*p = a->param[i];
		p->value = copy_value(&a->param[i]);
		if (has_value(p) && !p->value)
			return false;
	}
	return true;
}

/* Constants of the kind stay on devices as copies. */
static bool make_constants(struct kernel *k)
{
	uint32_t i;

	for (i = 0; k->param && i < k->attr.nr_param; i++)
		if (k->param[i].from == LKDF_PARAM_MEMORY)
			break;
	if (!k->param || i == k->attr.nr_param)
		return true;
	k->constants = copies_create(k->rt->devices->device, k->rt->is_alive,
				     LKDF_MAX_PARAMS, 0);
	return k->constants != NULL;
}

static bool copy_all(struct kernel *k)
{
	uint32_t i;

	if (!copy_params(k))
		return false;
	for (i = 0; i < k->attr.nr_code; i++) {
		k->code[i] = kernel_copy_code(k, &k->attr.code[i]);
		if (!k->code[i])
			return false;
	}
	for (i = 1; i < 3 && k->attr.block[0]; i++)
		if (!k->attr.block[i])
			k->attr.block[i] = 1;
	if (k->attr.type)
		kernel_spill_values(k);
	return make_constants(k);
}

/* Forgets what was copied, or is not needed any more. */
static void forget_users(struct kernel *k)
{
	k->attr.kind = NULL;
	k->attr.code = NULL;
	k->attr.type = NULL;
	k->attr.top = NULL;
	k->attr.param = k->param;
}

int kernel_make(struct lkdf *rt, const struct lkdf_kernel_attr *a,
		const struct kernel_fold *fold,
		const struct lkdf_kind_attr *kind, struct kernel **out)
{
	struct kernel *k = calloc(1, sizeof(*k));
	int rc;

	if (!k)
		return err(-ENOMEM, "kernel %s: no memory", kind->name);
	k->rt = rt;
	k->attr = *a;
	k->attr.kind = kind;
	if (fold)
		k->fold = *fold;
	k->arg_size = kind->arg_size;
	snprintf(k->name, sizeof(k->name), "%s", kind->name);
	rc = check_all(k);
	if (rc) {
		free(k);
		return rc;
	}
	rc = copy_all(k) ? kernel_make_loops(k)
			 : err(-ENOMEM, "kernel %s: no memory", kind->name);
	if (rc) {
		kernel_free(k);
		return rc;
	}
	forget_users(k);
	*out = k;
	return 0;
}

int kernel_create(struct lkdf *rt, const struct lkdf_kernel_attr *a,
		  const struct lkdf_kind_attr *kind, struct kernel **out)
{
	return kernel_make(rt, a, NULL, kind, out);
}

static void do_nothing(void *u)
{
	(void)u;
}

void kernel_free(struct kernel *k)
{
	uint32_t i, d;

	if (!k)
		return;
	for (i = 0; i < LKDF_MAX_CODES; i++) {
		/* In a forked child nobody is there to drop it. */
		for (d = 0; k->code[i] && d < LKDF_MAX_DEVICES; d++)
			if (!a_load(k->rt->is_alive, relaxed))
				k->code[i]->on[d].is_listed = false;
		if (k->code[i])
			code_forget(k->code[i]);
	}
	for (i = 0; k->param && i < k->attr.nr_param; i++)
		free((void *)(uintptr_t)k->param[i].value);
	free(k->param);
	copies_forget(k->constants, do_nothing, NULL);
	free(k);
}
