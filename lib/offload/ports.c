/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Ports of kernels: values at in ports are parameters or the range, and each
 * out port has what came to the in port of its number, as it came.
 */
#include "offload/maker.h"

#include "base/err.h"
#include "run/port_run.h"
#include "task/ctx.h"

#include <errno.h>

/* ---- the kind ----------------------------------------------------------- */

static int check_params(const struct kernel *k, const struct lkdf_kind_attr *a)
{
	const struct lkdf_param *p = k->attr.param;
	uint32_t i;

	for (i = 0; i < k->attr.nr_param; i++)
		if (p[i].from == LKDF_PARAM_PORT &&
		    p[i].first + kernel_nr_params(&p[i]) > a->nr_in)
			return err(-EINVAL,
				   "kernel %s: parameter %u is in port %u, the "
				   "kind has %u",
				   k->name, i,
				   p[i].first + kernel_nr_params(&p[i]) - 1,
				   a->nr_in);
	return 0;
}

static int check_range(const struct kernel *k, const struct lkdf_kind_attr *a)
{
	uint32_t at = k->attr.range_at;

	if (k->attr.range_from != LKDF_RANGE_PORT)
		return 0;
	if (at >= a->nr_in)
		return err(-EINVAL,
			   "kernel %s: the range is in port %u, the kind has "
			   "%u",
			   k->name, at, a->nr_in);
	if (a->in_size[at] < sizeof(k->attr.range))
		return err(-EINVAL,
			   "kernel %s: the range is in port %u of %u bytes: "
			   "expected three uint64_t",
			   k->name, at, a->in_size[at]);
	return 0;
}

int kernel_check_ports(const struct kernel *k, const struct lkdf_kind_attr *a)
{
	uint32_t i;
	int rc = check_params(k, a);

	if (!rc)
		rc = check_range(k, a);
	for (i = 0; i < a->nr_out && !rc; i++)
		if (i >= a->nr_in || a->in_size[i] != a->out_size[i])
			rc = err(-EINVAL,
				 "kernel %s: out port %u of %u bytes passes on "
				 "what comes to in port %u: expected one of "
				 "that size",
				 k->name, i, a->out_size[i], i);
	return rc;
}

/* ---- a task ------------------------------------------------------------- */

static int find_value(const struct maker *m, unsigned port, const void **out)
{
	*out = port_in(m->c, port);
	if (*out)
		return 0;
	return err(-ENODATA,
		   m->c->frame ? "kernel %s: in port %u has no value"
			       : "kernel %s: in port %u: the task is of no "
				 "graph",
		   m->k->name, port);
}

int maker_add_ports(struct maker *m, const struct lkdf_param *p)
{
	const struct kind_ports *ports = m->c->task->kind->ports;
	const void *value;
	unsigned i;
	int rc;

	for (i = p->first; i < p->first + kernel_nr_params(p); i++) {
		rc = find_value(m, i, &value);
		if (rc)
			return rc;
		maker_add_bytes(m, value, ports->in_size[i]);
	}
	return 0;
}

int maker_port_range(const struct maker *m, uint64_t range[3])
{
	const void *value;
	int rc = find_value(m, m->k->attr.range_at, &value);

	if (!rc)
		memcpy(range, value, sizeof(m->k->attr.range));
	return rc;
}

/* A value that stands for something has one owner, others are copied. */
static int pass_ports(const struct maker *m, const struct kind_ports *p,
		      unsigned i)
{
	const void *value;
	int rc;

	if (p->out_drop[i])
		return port_pass(m->c, i, i);
	rc = find_value(m, i, &value);
	if (!rc)
		memcpy(port_out(m->c, i), value, p->out_size[i]);
	return rc;
}

int maker_pass_ports(const struct maker *m)
{
	const struct task *t = m->c->task; /* NULL: it was given ahead */
	const struct kind_ports *p = t ? t->kind->ports : NULL;
	unsigned i;
	int rc = 0;

	for (i = 0; p && m->c->frame && i < p->nr_out && !rc; i++)
		rc = pass_ports(m, p, i);
	return rc;
}
