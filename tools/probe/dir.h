/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The directory of the probe's pins: a bpffs that is mounted there, with what
 * leads to it. Starts and stops in one directory go one after the other.
 */
#ifndef TOOLS_PROBE_DIR_H
#define TOOLS_PROBE_DIR_H

#include <stdbool.h>
#include <stddef.h>

#define PROBE_DIR_MODE 0750

struct probe_dir {
	const char *path;
	size_t kept; /* so much of path was there before */
	int lock; /* -1: none */
};

void probe_dir_init(struct probe_dir *d, const char *path);

/*
 * Waits for ten seconds at most; -EBUSY: somebody else is still at it. 0 is
 * also where no lock can be had, as the directory cannot be then. makes: the
 * directories above it, if they are not there.
 */
int probe_dir_lock(struct probe_dir *d, bool makes);
void probe_dir_unlock(struct probe_dir *d);

/* 0 or -errno of what failed: EACCES, ENOTDIR, or what mount(2) says. */
int probe_dir_make(const struct probe_dir *d);

/* Mount and directory go, if they are ours. */
void probe_dir_remove(const char *path);

/*
 * Removes what was made, and the lock, but for files that others have put
 * there.
 */
void probe_dir_undo(struct probe_dir *d);

bool probe_dir_is_bpffs(const char *path);

/* How many pins there were. Programs and maps go with the last of them. */
int probe_dir_unpin(const char *dir);

#endif
