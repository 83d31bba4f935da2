/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * LKDF_KERNEL_LOOP: codes are bodies of loops, from which the texts of kernels
 * are made, see offload/loop_text.h.
 */
#include "offload/kernel.h"

#include "base/err.h"
#include "offload/loop_text.h"

#include <errno.h>
#include <stdlib.h>

#define ENTRY "lkdf_loop" /* where the user has none */

static int refuse_loop(const struct kernel *k, const char *what)
{
	return err(-EINVAL, "kernel %s: LKDF_KERNEL_LOOP: %s", k->name, what);
}

static int check_code(const struct kernel *k, const struct lkdf_code *c)
{
	if (!c->image)
		return refuse_loop(k, "a body is needed, not a function");
	if (strcmp(c->device, "opencl") && strcmp(c->device, "cuda"))
		return err(-EINVAL,
			   "kernel %s: LKDF_KERNEL_LOOP: code for %s: expected "
			   "opencl or cuda",
			   k->name, c->device);
	return 0;
}

int kernel_check_loop(const struct kernel *k)
{
	const struct lkdf_kernel_attr *a = &k->attr;
	uint32_t i, nr = 0;
	int rc = 0;

	if (!(a->flags & LKDF_KERNEL_LOOP)) {
		if (a->type || a->nr_type || a->top || a->begin[0] ||
		    a->begin[1] || a->begin[2])
			return err(-EINVAL,
				   "kernel %s: type, top and begin are for "
				   "LKDF_KERNEL_LOOP",
				   k->name);
		return 0;
	}
	if (a->enqueue)
		return refuse_loop(k, "enqueue has no body");
	if (a->range_from == LKDF_RANGE_NONE)
		return refuse_loop(k, "a range is needed");
	if (a->nr_type && !a->type)
		return refuse_loop(k, "nr_type types, but type is NULL");
	for (i = 0; i < a->nr_param; i++)
		nr += kernel_nr_params(&a->param[i]);
	if (a->param && nr != a->nr_type)
		return err(-EINVAL,
			   "kernel %s: LKDF_KERNEL_LOOP: %u types for %u "
			   "parameters",
			   k->name, a->nr_type, nr);
	for (i = 0; i < a->nr_code && !rc; i++)
		rc = check_code(k, &a->code[i]);
	return rc;
}

uint32_t kernel_loop_dims(const struct kernel *k)
{
	const struct lkdf_kernel_attr *a = &k->attr;

	if (a->range_from != LKDF_RANGE_VALUE || a->range[2] != 1 ||
	    a->begin[2])
		return 3;
	return a->range[1] != 1 || a->begin[1] ? 2 : 1;
}

/* Parameter by parameter: the type, and the bytes where they are known. */
void kernel_loop_params(const struct kernel *k, struct loop_param *to)
{
	const struct lkdf_kernel_attr *a = &k->attr;
	uint32_t i, u, nr = 0;

	for (i = 0; i < a->nr_type; i++)
		to[i] = (struct loop_param){ .type = a->type[i] };
	if (k->arg_by_memory && a->nr_type)
		to[a->nr_type - 1].by_memory = true;
	for (i = 0; i < a->nr_param; i++) {
		u = kernel_nr_params(&a->param[i]);
		if (a->param[i].from == LKDF_PARAM_VALUE ||
		    a->param[i].from == LKDF_PARAM_TASK) {
			to[nr].bytes = a->param[i].bytes;
			to[nr].by_memory = k->by_memory >> i & 1;
		}
		nr += u;
	}
}

static int make_text(const struct kernel *k, const struct loop_text *like,
		     struct lkdf_code *c)
{
	struct loop_text l = *like;
	struct text t = { 0 };
	char *body, *entry;
	int rc;

	entry = strdup(c->entry ? c->entry : ENTRY);
	body = strndup(c->image, c->bytes ? c->bytes : strlen(c->image));
	l.head.language = strcmp(c->device, "cuda") ? LOOP_OPENCL : LOOP_CUDA;
	l.head.entry = entry;
	l.body = body;
	rc = entry && body ? loop_text(&l, &t)
			   : err(-ENOMEM, "kernel %s: no memory", k->name);
	free(body);
	if (rc) {
		free(entry);
		free(t.buf);
		return rc;
	}
	free((void *)(uintptr_t)c->entry);
	free((void *)(uintptr_t)c->image);
	c->entry = entry;
	c->image = t.buf;
	c->bytes = 0;
	return 0;
}

int kernel_make_loops(struct kernel *k)
{
	const struct lkdf_kernel_attr *a = &k->attr;
	struct loop_param param[LOOP_MAX_PARAMS];
	struct loop_text l = { .nr_dims = kernel_loop_dims(k),
			       .max_block = a->max_block,
			       .min_blocks = a->min_blocks };
	uint32_t i;
	int rc = 0;

	if (!(a->flags & LKDF_KERNEL_LOOP))
		return 0;
	if (a->nr_type > LOOP_MAX_PARAMS)
		return err(-E2BIG, "kernel %s: %u types, at most %d", k->name,
			   a->nr_type, LOOP_MAX_PARAMS);
	kernel_loop_params(k, param);
	if (k->fold.block)
		return kernel_make_folds(k);
	l.head.top = a->top;
	l.head.param = param;
	l.head.nr_param = a->nr_type;
	if (!(a->flags & LKDF_KERNEL_SERIAL))
		memcpy(l.block, a->block, sizeof(l.block));
	for (i = 0; i < a->nr_code && !rc; i++)
		rc = make_text(k, &l, &k->code[i]->code);
	return rc;
}
