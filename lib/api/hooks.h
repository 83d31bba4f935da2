/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Loads the library of a tool; see lkdf/hooks.h. */
#ifndef API_HOOKS_H
#define API_HOOKS_H

#include "trace/hooks.h"

/* path "": no tool. 0; -ENOENT, -EINVAL: the library is none; -EPERM: the
 * program has raised rights. */
int hooks_open(struct hooks *h, const char *path);

/* is_child: of a forked child, which tells nobody. */
void hooks_close(struct hooks *h, bool is_child);

#endif
