/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "api/hooks.h"

#include "base/err.h"
#include "base/rights.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Members that the tool does not know yet are NULL. */
static int take_table(struct hooks *h, const struct lkdf_hooks *table,
		      const char *path)
{
	size_t size;

	if (!table)
		return err(-EINVAL, "hooks: %s has no object lkdf_hooks", path);
	if (table->version != LKDF_HOOKS_VERSION ||
	    table->size < offsetof(struct lkdf_hooks, open))
		return err(-EINVAL, "hooks: %s has version %u, expected %u",
			   path, table->version, LKDF_HOOKS_VERSION);
	size = table->size < sizeof(*table) ? table->size : sizeof(*table);
	h->table = calloc(1, sizeof(*h->table));
	if (!h->table)
		return err(-ENOMEM, "hooks: no memory");
	memcpy(h->table, table, size);
	return 0;
}

int hooks_open(struct hooks *h, const char *path)
{
	const char *raised = rights_raised();
	int rc;

	if (!path[0])
		return 0;
	if (raised)
		return err(-EPERM, "hooks: %s is not loaded: %s", path, raised);
	h->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!h->library)
		return err(-ENOENT, "hooks: %s", dlerror());
	rc = take_table(h, dlsym(h->library, "lkdf_hooks"), path);
	if (rc) {
		dlclose(h->library);
		h->library = NULL;
		return rc;
	}
	if (h->table->open)
		h->u = h->table->open();
	return 0;
}

void hooks_close(struct hooks *h, bool is_child)
{
	if (!h->table)
		return;
	if (!is_child && h->table->close)
		h->table->close(h->u);
	free(h->table);
	h->table = NULL;
	if (!is_child)
		dlclose(h->library);
}
