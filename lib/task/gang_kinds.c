/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "task/gang_kinds.h"

#include "core/ops.h"
#include "core/runtime.h"

#include <errno.h>
#include <lkdf/format.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A kind of members. */
struct named {
	struct named *next;
	struct lkdf_kind *kind;
};

static const struct kind_ops seat_kinds = { .told = LKDF_KIND_IS_OURS };
static const struct kind_ops member_kinds = { .told = LKDF_KIND_IS_MEMBER };

static int make_kind(struct lkdf *rt, const struct kind_ops *ops,
		     const char *name, lkdf_fn body, struct lkdf_kind **out)
{
	struct lkdf_kind_attr a = { .size = sizeof(a),
				    .name = name,
				    .fn = body,
				    .arg_size = sizeof(struct member) };

	return kind_create_sort(rt, ops, &a, out);
}

int gang_make_seat(struct lkdf_gang *g, lkdf_fn body)
{
	int rc = make_kind(g->rt, &seat_kinds, "gang's seat", body, &g->seat);

	if (!rc)
		kind_hide(g->seat);
	return rc;
}

static unsigned row_of(const char *name)
{
	uint32_t hash = 5381;

	while (*name)
		hash = hash * 33 + (unsigned char)*name++;
	return hash % NR_NAMED_ROWS;
}

static int add_named(struct lkdf_gang *g, const char *name, lkdf_fn body,
		     struct named **out)
{
	struct named *n = malloc(sizeof(*n));
	int rc = n ? make_kind(g->rt, &member_kinds, name, body, &n->kind)
		   : -ENOMEM;

	if (rc) {
		free(n);
		return rc;
	}
	n->kind->is_member = true;
	n->next = g->named[row_of(name)];
	g->named[row_of(name)] = n;
	g->nr_named++;
	*out = n;
	return 0;
}

int gang_find_member(struct lkdf_gang *g, const char *text, lkdf_fn body)
{
	char name[NAME_SIZE];
	struct named *n;
	int rc = 0;

	snprintf(name, sizeof(name), "%.*s", NAME_SIZE - 1,
		 g->nr_named < MAX_NAMED ? text : GANG_FIRST_NAME);
	for (n = g->named[row_of(name)]; n; n = n->next)
		if (!strcmp(n->kind->name, name))
			break;
	if (!n)
		rc = add_named(g, name, body, &n);
	if (!rc)
		g->member = n->kind;
	return rc;
}

void gang_free_kinds(struct lkdf_gang *g)
{
	struct named *n;
	unsigned i;

	if (g->seat)
		kind_put(g->seat);
	for (i = 0; i < NR_NAMED_ROWS; i++)
		while ((n = g->named[i]) != NULL) {
			g->named[i] = n->next;
			kind_put(n->kind);
			free(n);
		}
}
