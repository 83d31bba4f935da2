/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The one way to memory and files of somebody else: a process that is looked
 * at, whoever sent a descriptor, the author of a recording. None of them can
 * make a tool wait, end it, or have it show what it should not:
 *
 * - a mapping could be made shorter under us, which ends in SIGBUS: only memfds
 *   that are sealed against it are mapped, files are read;
 * - opening a FIFO waits, and so does all that touches a file system whose
 * server is a program (FUSE): the object is looked at before it is opened;
 * - a descriptor that was sent may stand for any file: what has no seals is
 * none of a runtime.
 */
#ifndef TOOLS_FOREIGN_H
#define TOOLS_FOREIGN_H

#include <stddef.h>
#include <stdint.h>

/*
 * The memfd of that name, if it is what the process has as that number, a text.
 * Return: a descriptor; -ENOENT: it is none; -EACCES, -EPERM; -errno.
 */
int foreign_memfd(int pid, const char *number, const char *name);

/*
 * Maps a memfd of at least so many bytes that cannot get shorter, for reading;
 * munmap(2) ends it. Return: 0; -EBADMSG: it is none; -errno.
 */
int foreign_map(int fd, uint64_t least, const uint8_t **base, uint64_t *size);

/*
 * All of a memfd that does not change any more, as a text that the caller
 * frees. Return: 0; -EBADMSG: it is none, or has more than max bytes; -ENOMEM.
 */
int foreign_text(int fd, size_t max, char **text);

/*
 * A regular file for reading, by an absolute path as the process sees it; pid
 * 0: as we do. Symbolic links are not followed. Return: a descriptor; -EBADMSG:
 * it is no regular file; -EREMOTE: a program serves it; -errno.
 */
int foreign_file(int pid, const char *path);

#endif
