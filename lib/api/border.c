/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "api/border.h"

#include <string.h>

int border_runtime(const struct lkdf *rt)
{
	if (!rt)
		return err(-EINVAL, "the runtime is NULL");
	if (unlikely(!a_load(rt->is_alive, relaxed)))
		return err(-EOWNERDEAD,
			   "the runtime belongs to the parent process: open "
			   "one after fork");
	return 0;
}

int border_copy(const void *attr, void *ours, size_t known, const char *what)
{
	const char *bytes = attr;
	uint32_t size;
	size_t i;

	memcpy(&size, attr, sizeof(size));
	if (size < 2 * sizeof(uint32_t) || size % 4)
		return err(-EINVAL, "%s: size %u is not that of the struct",
			   what, size);
	for (i = known; i < size; i++) {
		if (bytes[i])
			return err(-EINVAL,
				   "%s: size %u, and byte %zu, unknown to this "
				   "library (it knows %zu), is not 0",
				   what, size, i, known);
	}
	memset(ours, 0, known);
	memcpy(ours, attr, size < known ? size : known);
	return 0;
}

int border_may_wait(const char *what)
{
	if (thread_self()->executor)
		return err(-EDEADLK,
			   "%s: waiting in a body; use lkdf_then or lkdf_join",
			   what);
	return 0;
}

int border_unbuilt(const char *what)
{
	return err(-EOPNOTSUPP, "%s is not built yet", what);
}
