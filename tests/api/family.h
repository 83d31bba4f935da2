/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Parents and children that use data: what their tests share. */
#ifndef TESTS_API_FAMILY_H
#define TESTS_API_FAMILY_H

#include "tests/api/using.h"

__attribute__((unused)) static int spawn_on(struct lkdf_ctx *c,
					    struct lkdf_kind *k,
					    const void *arg,
					    struct lkdf_use use)
{
	return lkdf_spawn_task(c,
			       ATTR(lkdf_task, .kind = k, .arg = arg,
				    .use = &use, .nr_use = 1),
			       NULL);
}

struct family {
	struct lkdf_kind *child, *grandchild;
	struct lkdf_data *d;
	atomic_int nr_wrong;
	struct gate gate;
	atomic_int parent_started, next_started, child_started;
	int rc[4];
	uint32_t part; /* of d */
};

struct turn {
	struct family *f;
	uint64_t nr;
};

/* Its number is what it finds. */
__attribute__((unused)) static int take_turn(struct lkdf_ctx *c, void *arg)
{
	struct turn *t = arg;
	uint64_t *v = lkdf_ptr(c, 0);

	if (*v != t->nr)
		atomic_fetch_add(&t->f->nr_wrong, 1);
	*v = t->nr + 1;
	return 0;
}

__attribute__((unused)) static int child_at_gate(struct lkdf_ctx *c, void *arg)
{
	struct family *f = *(struct family **)arg;

	gate_pass(&f->gate);
	*(uint64_t *)lkdf_ptr(c, 0) += 7;
	return 0;
}

__attribute__((unused)) static int one_child(struct lkdf_ctx *c, void *arg)
{
	struct family *f = *(struct family **)arg;

	atomic_store(&f->parent_started, 1);
	f->rc[0] = spawn_on(c, f->child, &f, ON(f->d, LKDF_RW));
	return 0;
}

__attribute__((unused)) static int note_next(struct lkdf_ctx *c, void *arg)
{
	struct family *f = *(struct family **)arg;

	atomic_store(&f->next_started, 1);
	return *(uint64_t *)lkdf_ptr(c, 0) == 7 ? 0 : -EPROTO;
}

__attribute__((unused)) static int note_child(struct lkdf_ctx *c, void *arg)
{
	struct family *f = *(struct family **)arg;

	*(uint64_t *)lkdf_ptr(c, 0) += 1;
	atomic_store(&f->child_started, 1);
	return 0;
}

__attribute__((unused)) static int fail_child(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	return lkdf_fail(c, -EIO, "the child fails");
}

#endif
