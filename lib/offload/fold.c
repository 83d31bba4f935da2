/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Reductions and scans: kinds with two or three kernels each, launched one
 * after another by one request, see offload/fold_text.h. The parts of the first
 * level lie in memory for the time of the task.
 */
#include "offload/maker.h"

#include "base/err.h"
#include "offload/fold_text.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define NAME 48 /* of the entries, without their endings */

static const char *const endings[KERNEL_STEPS] = { "part", "last", "scan" };

static const enum fold_sort sorts[] = {
	[LKDF_FOLD_REDUCE] = FOLD_REDUCE,
	[LKDF_FOLD_SCAN] = FOLD_SCAN,
	[LKDF_FOLD_SCAN_EXCLUSIVE] = FOLD_SCAN_EXCLUSIVE,
};

/* ---- the kind ----------------------------------------------------------- */

static int refuse_fold(const char *kernel, const char *what)
{
	return err(-EINVAL, "kernel %s: fold: %s", kernel, what);
}

static int check_fold(const struct lkdf_fold_attr *f,
		      const struct lkdf_kernel_attr *a, const char *kernel)
{
	if (f->sort > LKDF_FOLD_SCAN_EXCLUSIVE)
		return err(-EINVAL, "kernel %s: fold: sort %u is unknown",
			   kernel, f->sort);
	if (!f->value || !f->init || !f->join || !f->neutral)
		return refuse_fold(kernel,
				   "value, init, join and neutral are needed");
	if (!f->value_size || f->value_size > LKDF_MAX_VALUE)
		return err(-EINVAL,
			   "kernel %s: fold: value_size %u, 1 to %d are "
			   "possible",
			   kernel, f->value_size, LKDF_MAX_VALUE);
	if (a->code || a->nr_code || a->enqueue || a->flags)
		return refuse_fold(kernel,
				   "code, enqueue and flags are not the "
				   "user's: they are 0");
	if (a->min_blocks || a->max_block || a->shared_bytes)
		return refuse_fold(kernel,
				   "min_blocks, max_block and shared_bytes: "
				   "expected 0");
	if (a->block[1] > 1 || a->block[2] > 1)
		return refuse_fold(kernel,
				   "a block of one dimension is needed");
	return 0;
}

/* A name of C: what ends it comes behind. */
static void set_name(const char *kernel, char name[NAME])
{
	size_t i = isdigit((unsigned char)*kernel) != 0;

	name[0] = '_';
	for (; *kernel && i < NAME - 1; i++, kernel++)
		name[i] = isalnum((unsigned char)*kernel) ? *kernel : '_';
	name[i] = 0;
}

int kernel_create_fold(struct lkdf *rt, const struct lkdf_fold_attr *f,
		       const struct lkdf_kernel_attr *attr,
		       const struct lkdf_kind_attr *kind, struct kernel **out)
{
	const struct lkdf_code code[KERNEL_LANGUAGES] = {
		{ .device = "opencl", .image = f->init },
		{ .device = "cuda", .image = f->init },
	};
	struct lkdf_kernel_attr a = *attr;
	struct kernel_fold fold = {
		.attr = f,
		.sort = f->sort,
		.block = a.block[0] ? a.block[0] : LKDF_FOLD_BLOCK,
		.value_size = f->value_size,
		.result = f->result,
	};
	int rc = check_fold(f, &a, kind->name);

	if (rc)
		return rc;
	a.flags = LKDF_KERNEL_LOOP;
	a.code = code;
	a.nr_code = KERNEL_LANGUAGES;
	a.block[0] = fold.block;
	if (a.range_from == LKDF_RANGE_VALUE &&
	    (a.range[1] != 1 || a.range[2] != 1 || a.begin[1] || a.begin[2]))
		return refuse_fold(kind->name,
				   "a range of one dimension is needed");
	return kernel_make(rt, &a, &fold, kind, out);
}

/* The code of a step: the text is there, its entry gets the ending. */
static int set_step(struct kernel *k, uint32_t step, uint32_t language,
		    const char *name, const char *text)
{
	uint32_t i = step * KERNEL_LANGUAGES + language;
	char entry[NAME + 8];
	struct lkdf_code c = { .device = k->code[language]->code.device,
			       .image = text,
			       .entry = entry };
	struct device_code *made;

	snprintf(entry, sizeof(entry), "%s_%s", name, endings[step]);
	made = kernel_copy_code(k, &c);
	if (!made)
		return err(-ENOMEM, "kernel %s: no memory", k->name);
	if (k->code[i])
		code_forget(k->code[i]);
	k->code[i] = made;
	return 0;
}

static int make_language(struct kernel *k, const struct fold_text *like,
			 uint32_t language)
{
	uint32_t step, nr = like->sort == FOLD_REDUCE ? 2 : KERNEL_STEPS;
	struct fold_text f = *like;
	struct text t = { 0 };
	int rc;

	f.head.language = language ? LOOP_CUDA : LOOP_OPENCL;
	rc = fold_text(&f, &t);
	/* The first step's last: it is where the device's name is. */
	for (step = nr; step-- && !rc;)
		rc = set_step(k, step, language, f.head.entry, t.buf);
	free(t.buf);
	return rc;
}

int kernel_make_folds(struct kernel *k)
{
	const struct lkdf_fold_attr *f = k->fold.attr;
	struct loop_param param[LOOP_MAX_PARAMS];
	char name[NAME];
	const struct fold_text t = {
		.head = { .entry = name,
			  .top = k->attr.top,
			  .param = param,
			  .nr_param = k->attr.nr_type },
		.sort = sorts[k->fold.sort],
		.type = f->value,
		.value_size = f->value_size,
		.item = f->init,
		.join = f->join,
		.neutral = f->neutral,
		.block = k->fold.block,
	};
	uint32_t i;
	int rc = 0;

	set_name(k->name, name);
	kernel_loop_params(k, param);
	for (i = 0; i < KERNEL_LANGUAGES && !rc; i++)
		rc = make_language(k, &t, i);
	k->fold.attr = NULL;
	return rc;
}

/* ---- a task ------------------------------------------------------------- */

uint32_t maker_count_fold(uint32_t nr_params)
{
	return 2 * nr_params + KERNEL_STEPS * KERNEL_FOLD_ARGS;
}

static void begin_step(struct maker *m, uint64_t items)
{
	struct kernel_step *s = &m->r->step[m->r->nr_steps];

	s->first_arg = m->r->req.launch.nr_arg;
	s->items = items;
}

static void end_step(struct maker *m)
{
	struct kernel_step *s = &m->r->step[m->r->nr_steps++];

	s->nr_arg = m->r->req.launch.nr_arg - s->first_arg;
	if (m->value_bytes > m->most_bytes)
		m->most_bytes = m->value_bytes;
	m->value_bytes = 0;
}

/* The parameters of the user, and what both levels over all items have. */
static int add_pieces(struct maker *m, uint32_t part)
{
	uint64_t *items = m->r->items;
	int rc = maker_add_params(m);

	maker_add_bytes(m, &m->k->attr.begin[0], sizeof(items[0]));
	maker_add_bytes(m, &items[0], sizeof(items[0]));
	maker_add_bytes(m, &items[1], sizeof(items[1]));
	maker_add_operand(m, part);
	return rc;
}

/* All values, or one. */
static int check_result(const struct maker *m, uint64_t nr)
{
	const struct kernel_fold *f = &m->k->fold;
	const struct kernel_use *u = &m->r->use[f->result];
	uint64_t want = f->value_size;

	if (f->result >= m->r->nr_use)
		return err(-EINVAL,
			   "kernel %s: the result is use %u, the task has %u",
			   m->k->name, f->result, m->r->nr_use);
	if (f->sort != LKDF_FOLD_REDUCE &&
	    __builtin_mul_overflow(want, nr, &want))
		want = UINT64_MAX;
	if (u->bytes < want || !(u->mode & LKDF_WRITE))
		return err(-EINVAL,
			   "kernel %s: the result is use %u of %llu bytes%s: "
			   "expected one that is written, of %llu",
			   m->k->name, f->result, (unsigned long long)u->bytes,
			   u->mode & LKDF_WRITE ? "" : ", read only",
			   (unsigned long long)want);
	return 0;
}

static int add_part(struct maker *m, uint32_t part)
{
	int rc;

	begin_step(m, (uint64_t)m->r->nr_parts * m->k->fold.block);
	rc = add_pieces(m, part);
	end_step(m);
	return rc;
}

/* In a scan the join of all goes behind the parts, and nobody takes it. */
static void add_last(struct maker *m, uint32_t part)
{
	const struct kernel_fold *f = &m->k->fold;
	struct lkdf_arg *a;

	begin_step(m, f->block);
	maker_add_operand(m, part);
	maker_add_bytes(m, &m->r->nr_parts, sizeof(m->r->nr_parts));
	if (f->sort == LKDF_FOLD_REDUCE) {
		maker_add_use(m, f->result);
	} else {
		maker_add_operand(m, part + 1);
		a = &m->r->req.arg[m->r->req.launch.nr_arg - 1];
		a->bytes = f->value_size;
	}
	end_step(m);
}

static int add_scan(struct maker *m, uint32_t part)
{
	int rc;

	begin_step(m, (uint64_t)m->r->nr_parts * m->k->fold.block);
	rc = add_pieces(m, part);
	maker_add_use(m, m->k->fold.result);
	end_step(m);
	return rc;
}

static void set_step_at(struct kernel_req *r)
{
	const struct kernel_step *s = &r->step[r->at_step];
	struct lkdf_launch *l = &r->req.launch;

	l->range[0] = s->items;
	l->range[1] = l->range[2] = 1;
	l->nr_arg = s->nr_arg;
	l->arg = r->req.arg;
}

/* A reduction of nothing has its last step. */
static void skip_part(struct maker *m)
{
	struct kernel_req *r = m->r;

	r->req.arg += r->step[1].first_arg;
	r->req.operand_of += r->step[1].first_arg;
	r->at_step = 1;
	r->req.code = r->kernel->code[KERNEL_LANGUAGES +
				      !!strcmp(m->d->name, "opencl")];
}

int maker_add_fold(struct maker *m)
{
	const struct kernel_fold *f = &m->k->fold;
	uint64_t n = m->r->req.launch.range[0];
	uint32_t part, total;
	int rc = check_result(m, n);

	if (rc || (!n && f->sort != LKDF_FOLD_REDUCE))
		return rc;
	m->r->items[0] = n;
	m->r->items[1] = fold_piece(n, f->block);
	m->r->nr_parts = fold_pieces(n, f->block);
	rc = maker_add_scratch(m, (uint64_t)f->block * f->value_size, &part);
	if (!rc && f->sort != LKDF_FOLD_REDUCE)
		rc = maker_add_scratch(m, f->value_size, &total);
	if (!rc)
		rc = add_part(m, part);
	if (rc)
		return rc;
	add_last(m, part);
	if (f->sort != LKDF_FOLD_REDUCE)
		rc = add_scan(m, part);
	if (!n)
		skip_part(m);
	m->value_bytes = m->most_bytes;
	set_step_at(m->r);
	return rc;
}

struct device_code *fold_code(const struct device_req *req, uint32_t i)
{
	const struct kernel_req *r =
		container_of(req, const struct kernel_req, req);

	i += r->at_step + 1;
	if (i >= r->nr_steps)
		return NULL;
	return r->kernel->code[i * KERNEL_LANGUAGES +
			       !!strcmp(req->device->name, "opencl")];
}

bool fold_next(struct device_req *req)
{
	struct kernel_req *r = container_of(req, struct kernel_req, req);
	struct device_code *next = fold_code(req, 0);
	uint32_t by;

	if (!next)
		return false;
	by = r->step[r->at_step].nr_arg;
	req->arg += by;
	req->operand_of += by;
	r->at_step++;
	req->code = next;
	set_step_at(r);
	return true;
}
