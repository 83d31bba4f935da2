/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A path of any length. The kernel takes at most PATH_MAX bytes at a time; a
 * longer path is opened in steps.
 */
#ifndef DUPES_PATH_H
#define DUPES_PATH_H

/* A descriptor or -errno; flags as open(2), O_CLOEXEC is added. */
int path_open(const char *path, int flags);

#endif
