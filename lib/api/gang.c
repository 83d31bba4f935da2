/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include <lkdf/gang.h>

#include "api/border.h"
#include "check/notes.h"
#include "task/gang.h"

/* A body of the runtime would wait for itself. */
static int check_thread(const struct lkdf *rt, const char *what)
{
	const struct executor *ex = thread_self()->executor;

	return ex && ex->rt == rt
		       ? err(-EDEADLK, "%s: in a body of the runtime", what)
		       : 0;
}

static int create_gang(struct lkdf *rt, struct lkdf_gang **out)
{
	uint32_t has_gang = 0;
	int rc;

	/* [gang.only] that the last one is gone; pairs with [gang.gone]. */
	if (!a_cas(&rt->has_gang, &has_gang, 1, acq_rel, relaxed))
		return err(-EBUSY, "gang_create: the runtime has a gang");
	rc = gang_create(rt, out);
	if (!rc)
		return 0;
	/* [gang.gone] pairs with [gang.only]. */
	a_store(&rt->has_gang, 0, release);
	return rc == -ENOMEM ? err(rc, "gang_create: no memory") : rc;
}

int lkdf_gang_create(struct lkdf *rt, struct lkdf_gang **out)
{
	int rc = border_runtime(rt);

	if (rc)
		return rc;
	if (!out)
		return err(-EINVAL, "gang_create: out is NULL");
	if (rt->sched.is_serial) {
		notes_gang(rt->notes);
		return err(-EOPNOTSUPP, "gang_create: with serial=yes there "
					"are no workers");
	}
	rc = check_thread(rt, "gang_create");
	return rc ? rc : create_gang(rt, out);
}

int lkdf_gang_name(struct lkdf_gang *g, const char *name)
{
	int rc;

	if (!g)
		return err(-EINVAL, "gang_name: the gang is NULL");
	rc = border_runtime(g->rt);
	if (rc)
		return rc;
	if (!name || !name[0])
		return err(-EINVAL, "gang_name: there is no name");
	return gang_name(g, name);
}

static int check_use(const struct lkdf_gang *g, unsigned nr, const char *what)
{
	int rc;

	if (!g)
		return err(-EINVAL, "%s: the gang is NULL", what);
	rc = border_runtime(g->rt);
	if (rc)
		return rc;
	if (!nr || nr > g->nr_places)
		return err(-EINVAL,
			   "%s: %u members: expected 1 .. %u, "
			   "as the runtime has workers",
			   what, nr, g->nr_places);
	return check_thread(g->rt, what);
}

int lkdf_gang_resize(struct lkdf_gang *g, unsigned nr)
{
	int rc = check_use(g, nr, "gang_resize");

	return rc ? rc : gang_resize(g, nr);
}

int lkdf_gang_run(struct lkdf_gang *g, unsigned nr, lkdf_gang_fn fn, void *u)
{
	int rc = check_use(g, nr, "gang_run");

	if (!rc && !fn)
		rc = err(-EINVAL, "gang_run: fn is NULL");
	return rc ? rc : gang_run(g, nr, fn, u);
}

int lkdf_gang_barrier(struct lkdf_ctx *c)
{
	struct lkdf_gang *g;
	int rc = border_ctx(c, "gang_barrier");

	if (rc)
		return rc;
	g = gang_of(c);
	return g ? gang_barrier(g, c)
		 : err(-EINVAL, "gang_barrier: the context is no member's");
}

int lkdf_gang_drop(struct lkdf_ctx *c)
{
	struct lkdf_gang *g;
	int rc = border_ctx(c, "gang_drop");

	if (rc)
		return rc;
	g = gang_of(c);
	if (!g)
		return err(-EINVAL, "gang_drop: the context is no member's");
	gang_drop(g);
	return 0;
}

void lkdf_gang_put(struct lkdf_gang *g)
{
	struct lkdf *rt = g ? g->rt : NULL;

	/* In a forked child the parent's threads are not there. */
	if (!g || border_runtime(rt))
		return;
	gang_destroy(g);
	/* [gang.gone] pairs with [gang.only]. */
	a_store(&rt->has_gang, 0, release);
}
