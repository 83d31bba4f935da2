/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include <lkdf/device.h>
#include <lkdf/io.h>
#include <lkdf/kernel.h>

#include "api/border.h"
#include "api/fixes.h"
#include "api/retry.h"
#include "core/limit.h"
#include "io/io.h"
#include "offload/kernel.h"
#include "task/gate.h"
#include "task/kind.h"

#include <limits.h>

#define MAX_ARG (1u << 20)
#define MAX_SCRATCH (1u << 30)
#define DEVICES (LKDF_PLACE_GPU | LKDF_PLACE_USER)
#define FLAGS                                                               \
	(LKDF_SHARED | LKDF_ANY | LKDF_ALWAYS | LKDF_BLOCKING | LKDF_TEAM | \
	 LKDF_SEES_CANCEL)

static int check_team(const struct lkdf_kind_attr *a)
{
	if (a->nr_cpus && !(a->flags & LKDF_TEAM))
		return err(-EINVAL, "kind %s: nr_cpus %u without TEAM", a->name,
			   a->nr_cpus);
	if (a->nr_cpus > INT_MAX)
		return err(-EINVAL, "kind %s: nr_cpus %u, at most %d", a->name,
			   a->nr_cpus, INT_MAX);
	if (a->flags & LKDF_TEAM && a->flags & LKDF_BLOCKING)
		return err(-EINVAL,
			   "kind %s: TEAM and BLOCKING: a thread of the "
			   "blocking pool has no CPU to begin with",
			   a->name);
	return 0;
}

/* Whose work is done elsewhere. */
static int check_away(const struct lkdf_kind_attr *a, const char *what)
{
	if (a->flags & LKDF_TEAM)
		return err(-EINVAL, "kind %s: TEAM is not for %s", a->name,
			   what);
	if (a->nr_tries > 1)
		return err(-EINVAL,
			   "kind %s: nr_tries is %u; the library does not try "
			   "%s again",
			   a->name, a->nr_tries, what);
	return 0;
}

static int check_sizes(const struct lkdf_kind_attr *a, const char *what,
		       unsigned nr, const uint32_t *size)
{
	unsigned i;

	if (nr > LKDF_MAX_PORTS)
		return err(-EINVAL, "kind %s: %u %s ports, at most %d", a->name,
			   nr, what, LKDF_MAX_PORTS);
	if (nr && !size)
		return err(-EINVAL, "kind %s: %s_size is NULL", a->name, what);
	for (i = 0; i < nr; i++)
		if (!size[i] || size[i] > LKDF_MAX_VALUE)
			return err(-EINVAL,
				   "kind %s: values of %u bytes at %s port %u, "
				   "1 to %d are possible",
				   a->name, size[i], what, i, LKDF_MAX_VALUE);
	return 0;
}

static int check_ports(const struct lkdf_kind_attr *a)
{
	int rc = check_sizes(a, "in", a->nr_in, a->in_size);

	if (!rc)
		rc = check_sizes(a, "out", a->nr_out, a->out_size);
	if (!rc && a->out_drop && !a->nr_out)
		rc = err(-EINVAL, "kind %s: out_drop without out ports",
			 a->name);
	return rc;
}

/* The i'th use of a limit, after those before it. */
static int check_limit(const struct lkdf *rt, const struct lkdf_kind_attr *a,
		       uint32_t i)
{
	const struct lkdf_limit_use *use = &a->limit[i];
	uint32_t j;

	if (!use->limit)
		return err(-EINVAL, "kind %s: limit %u is NULL", a->name, i);
	if (use->limit->rt != rt)
		return err(-EINVAL, "kind %s: %s %s", a->name, use->limit->text,
			   border_whose(use->limit->rt));
	if (!use->tokens || use->tokens > use->limit->nr_tokens)
		return err(-EINVAL, "kind %s: a body takes %llu tokens of %s",
			   a->name, (unsigned long long)use->tokens,
			   use->limit->text);
	for (j = 0; j < i; j++)
		if (a->limit[j].limit == use->limit)
			return err(-EINVAL, "kind %s: %s is used twice",
				   a->name, use->limit->text);
	return 0;
}

static int check_limits(const struct lkdf *rt, const struct lkdf_kind_attr *a)
{
	uint32_t i;
	int rc = 0;

	if (a->nr_limit > MAX_LIMITS)
		return err(-EINVAL, "kind %s: %u limits, at most %d", a->name,
			   a->nr_limit, MAX_LIMITS);
	if (a->nr_limit && !a->limit)
		return err(-EINVAL, "kind %s: limit is NULL", a->name);
	for (i = 0; i < a->nr_limit && !rc; i++)
		rc = check_limit(rt, a, i);
	return rc;
}

static int check_fields(const struct lkdf *rt, const struct lkdf_kind_attr *a)
{
	int rc;

	if (!a->name || !a->name[0])
		return err(-EINVAL, "kind: name is NULL or empty");
	if (a->flags & ~FLAGS)
		return err(-EINVAL, "kind %s: unknown flags %#x", a->name,
			   a->flags & ~FLAGS);
	if (a->pad)
		return err(-EINVAL, "kind %s: pad is %d, not 0", a->name,
			   a->pad);
	if (a->arg_size > MAX_ARG)
		return err(-EINVAL, "kind %s: arg_size %u, at most %u", a->name,
			   a->arg_size, MAX_ARG);
	if (a->scratch_size > MAX_SCRATCH)
		return err(-EINVAL, "kind %s: scratch_size %u, at most %u",
			   a->name, a->scratch_size, MAX_SCRATCH);
	if (a->prio < LKDF_PRIO_DEFAULT || a->prio > LKDF_URGENT)
		return err(-EINVAL,
			   "kind %s: prio %d: expected one of enum lkdf_prio",
			   a->name, a->prio);
	if (a->width && !(a->flags & LKDF_SHARED))
		return err(
			-EINVAL,
			"kind %s: width %u bounds calls that overlap, which needs LKDF_SHARED",
			a->name, a->width);
	rc = check_ports(a);
	if (!rc)
		rc = check_team(a);
	return rc ? rc : check_limits(rt, a);
}

static int copy_attr(struct lkdf *rt, const struct lkdf_kind_attr *attr,
		     struct lkdf_kind_attr *a)
{
	int rc = border_copy(attr, a, sizeof(*a), "lkdf_kind_attr");

	if (!rc)
		rc = check_fields(rt, a);
	if (!rc)
		a->prio = (int8_t)fixes_value(rt, FIX_PRIORITY, a->name,
					      (uint64_t)a->prio);
	return rc;
}

/* For a call that creates a kind: the arguments are checked, too. */
static int take_attr(struct lkdf *rt, const struct lkdf_kind_attr *attr,
		     struct lkdf_kind *const *out, struct lkdf_kind_attr *a)
{
	int rc = border_runtime(rt);

	if (rc)
		return rc;
	if (!attr || !out)
		return err(-EINVAL, "kind: attributes or out is NULL");
	return copy_attr(rt, attr, a);
}

/* Another call than lkdf_kind_create() says what runs tasks of the kind. */
static int check_no_impl(const struct lkdf_kind_attr *a)
{
	if (!a->nr_impl && !a->impl)
		return 0;
	return err(-EINVAL, "kind %s: impl is for lkdf_kind_create()", a->name);
}

static int check_io(struct lkdf_kind_attr *a)
{
	if (!a->arg_size)
		a->arg_size = sizeof(struct lkdf_io);
	if (a->arg_size < sizeof(struct lkdf_io))
		return err(-EINVAL,
			   "kind %s: arg_size %u, struct lkdf_io has %zu",
			   a->name, a->arg_size, sizeof(struct lkdf_io));
	if (a->on_cancel || a->flags & LKDF_BLOCKING)
		return err(-EINVAL,
			   "kind %s: on_cancel and BLOCKING are not for "
			   "operations",
			   a->name);
	return check_away(a, "operations") ? -EINVAL : check_no_impl(a);
}

int lkdf_kind_create_io(struct lkdf *rt, const struct lkdf_kind_attr *attr,
			struct lkdf_kind **out)
{
	struct lkdf_kind_attr a;
	int rc = take_attr(rt, attr, out, &a);

	if (!rc)
		rc = check_io(&a);
	if (!rc)
		rc = kind_create_sort(rt, &io_kinds, &a, out);
	if (!rc)
		handle_add(rt, &(*out)->handle, HANDLE_KIND);
	return rc;
}

/* fold: what else is asked for, or NULL. */
static int create_kernel(struct lkdf *rt, const struct lkdf_kernel_attr *a,
			 const struct lkdf_fold_attr *fold,
			 struct lkdf_kind **out)
{
	struct lkdf_kind_attr kind;
	struct kernel *kernel;
	int rc = copy_attr(rt, a->kind, &kind);

	if (!rc && (kind.on_cancel || kind.flags & LKDF_BLOCKING))
		rc = err(-EINVAL,
			 "kind %s: on_cancel and BLOCKING are not for kernels",
			 kind.name);
	if (!rc)
		rc = check_away(&kind, "kernels");
	if (!rc)
		rc = check_no_impl(&kind);
	if (!rc)
		rc = fold ? kernel_create_fold(rt, fold, a, &kind, &kernel)
			  : kernel_create(rt, a, &kind, &kernel);
	if (rc)
		return rc;
	rc = kind_create_sort(rt, &kernel_kinds, &kind, out);
	if (rc)
		kernel_free(kernel);
	else
		(*out)->kernel = kernel;
	return rc;
}

/* ---- implementations ---------------------------------------------------- */

static int refuse_impl(const struct lkdf_kind_attr *a, uint32_t i,
		       const char *why)
{
	return err(-EINVAL, "kind %s: impl %u: %s", a->name, i, why);
}

static int check_impl(const struct lkdf_kind_attr *a, uint32_t i)
{
	const struct lkdf_impl *m = &a->impl[i];

	if (m->reserved)
		return refuse_impl(a, i, "reserved is not 0");
	if (!m->place_kinds || m->place_kinds & ~(LKDF_PLACE_NODE | DEVICES))
		return err(-EINVAL,
			   "kind %s: impl %u: place_kinds %#x: expected "
			   "LKDF_PLACE_NODE with fn, or LKDF_PLACE_GPU and "
			   "LKDF_PLACE_USER with kernel",
			   a->name, i, m->place_kinds);
	if (m->place_kinds == LKDF_PLACE_NODE)
		return m->fn && !m->kernel
			       ? 0
			       : refuse_impl(a, i,
					     "LKDF_PLACE_NODE has fn, "
					     "and no kernel");
	if (m->place_kinds & LKDF_PLACE_NODE)
		return refuse_impl(a, i,
				   "nodes and devices: make one impl for each");
	return m->kernel && !m->fn ? 0
				   : refuse_impl(a, i,
						 "devices have kernel, "
						 "and no fn");
}

/* The one for those places becomes *at, which was NULL. */
static int take_one(const struct lkdf_kind_attr *a, uint32_t i,
		    const struct lkdf_impl **at)
{
	if (*at && (*at)->fn)
		return refuse_impl(a, i, "the kind has fn for nodes already");
	if (*at)
		return refuse_impl(a, i,
				   "a second kernel: one kernel has a code for "
				   "each sort of device");
	*at = &a->impl[i];
	return 0;
}

/* The kind's fn becomes that for nodes; kernel: what devices run, or NULL. */
static int take_impls(struct lkdf_kind_attr *a, const struct lkdf_impl **kernel)
{
	const struct lkdf_impl own = { .fn = a->fn };
	const struct lkdf_impl *node = a->fn ? &own : NULL;
	uint32_t i;
	int rc = 0;

	*kernel = NULL;
	if (!a->nr_impl != !a->impl)
		return err(-EINVAL, "kind %s: nr_impl is %u, and impl is %s",
			   a->name, a->nr_impl, a->impl ? "set" : "NULL");
	for (i = 0; i < a->nr_impl && !rc; i++) {
		rc = check_impl(a, i);
		if (!rc)
			rc = take_one(a, i, a->impl[i].fn ? &node : kernel);
	}
	if (!rc && node)
		a->fn = node->fn;
	return rc;
}

static int create_with_kernel(struct lkdf *rt, const struct lkdf_impl *m,
			      struct lkdf_kind_attr *kind,
			      struct lkdf_kind **out)
{
	struct lkdf_kernel_attr a;
	int rc = border_copy(m->kernel, &a, sizeof(a), "lkdf_kernel_attr");

	if (!rc && a.kind)
		rc = err(-EINVAL,
			 "kind %s: kind of the kernel in impl is not NULL",
			 kind->name);
	if (rc)
		return rc;
	kind->impl = NULL;
	kind->nr_impl = 0;
	a.kind = kind;
	rc = create_kernel(rt, &a, NULL, out);
	if (!rc)
		(*out)->kernel->shut = DEVICES & ~m->place_kinds;
	return rc;
}

static int create_plain(struct lkdf *rt, const struct lkdf_kind_attr *a,
			struct lkdf_kind **out)
{
	int rc;

	if (!a->fn)
		return err(-EINVAL, "kind %s: fn is NULL", a->name);
	rc = a->nr_tries > 1 ? retry_create_kind(rt, a, out)
			     : kind_create(rt, a, out);
	if (!rc)
		gate_force(*out);
	return rc;
}

int lkdf_kind_create(struct lkdf *rt, const struct lkdf_kind_attr *attr,
		     struct lkdf_kind **out)
{
	const struct lkdf_impl *kernel = NULL;
	struct lkdf_kind_attr a;
	int rc = take_attr(rt, attr, out, &a);

	if (!rc)
		rc = take_impls(&a, &kernel);
	if (!rc && kernel)
		rc = create_with_kernel(rt, kernel, &a, out);
	else if (!rc)
		rc = create_plain(rt, &a, out);
	if (!rc)
		handle_add(rt, &(*out)->handle, HANDLE_KIND);
	return rc;
}

/* ---- kernels ------------------------------------------------------------ */

static int create_copied(struct lkdf *rt, const struct lkdf_kernel_attr *attr,
			 const struct lkdf_fold_attr *fold,
			 struct lkdf_kind **out)
{
	struct lkdf_kernel_attr a;
	int rc;

	if (!attr || !out)
		return err(-EINVAL, "kernel: attributes or out is NULL");
	rc = border_copy(attr, &a, sizeof(a), "lkdf_kernel_attr");
	if (!rc && !a.kind)
		rc = err(-EINVAL, "kernel: kind is NULL");
	if (!rc)
		rc = create_kernel(rt, &a, fold, out);
	if (!rc)
		handle_add(rt, &(*out)->handle, HANDLE_KIND);
	return rc;
}

int lkdf_kind_create_kernel(struct lkdf *rt,
			    const struct lkdf_kernel_attr *attr,
			    struct lkdf_kind **out)
{
	int rc = border_runtime(rt);

	return rc ? rc : create_copied(rt, attr, NULL, out);
}

int lkdf_kind_create_fold(struct lkdf *rt, const struct lkdf_fold_attr *attr,
			  struct lkdf_kind **out)
{
	struct lkdf_fold_attr a;
	int rc = border_runtime(rt);

	if (rc)
		return rc;
	if (!attr)
		return err(-EINVAL, "fold: attributes are NULL");
	rc = border_copy(attr, &a, sizeof(a), "lkdf_fold_attr");
	return rc ? rc : create_copied(rt, a.kernel, &a, out);
}

void lkdf_kind_put(struct lkdf_kind *k)
{
	if (k && handle_drop(k->rt, &k->handle, "kind_put", k->name))
		kind_put(k);
}

int lkdf_limit_create_with(struct lkdf *rt, const struct lkdf_limit_attr *attr,
			   struct lkdf_limit **out)
{
	struct lkdf_limit_attr a;
	int rc = border_runtime(rt);

	if (rc)
		return rc;
	if (!attr || !out)
		return err(-EINVAL, "limit: attributes or out is NULL");
	rc = border_copy(attr, &a, sizeof(a), "lkdf_limit_attr");
	if (!rc)
		rc = border_flags("limit", a.flags, 0);
	if (rc)
		return rc;
	if (!a.tokens || a.tokens > UINT32_MAX)
		return err(-EINVAL,
			   "limit%s%.31s: %llu tokens, expected 1 .. %u",
			   a.name && a.name[0] ? " " : "", a.name ? a.name : "",
			   (unsigned long long)a.tokens, UINT32_MAX);
	a.tokens = fixes_value(rt, FIX_TOKENS, a.name, a.tokens);
	rc = limit_create(rt, a.name, (uint32_t)a.tokens, out);
	if (!rc)
		handle_add(rt, &(*out)->handle, HANDLE_LIMIT);
	return rc;
}

int lkdf_limit_create(struct lkdf *rt, uint64_t tokens, struct lkdf_limit **out)
{
	const struct lkdf_limit_attr a = { .size = sizeof(a),
					   .tokens = tokens };

	return lkdf_limit_create_with(rt, &a, out);
}

void lkdf_limit_put(struct lkdf_limit *l)
{
	if (l && handle_drop(l->rt, &l->handle, "limit_put", l->text))
		limit_put(l);
}
