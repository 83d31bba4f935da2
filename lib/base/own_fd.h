/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A descriptor that the library keeps. A program may close all that it does not
 * know, by closefrom(3), and open its own files, which get the same numbers: so
 * the library remembers which file it was, and looks before it writes or
 * closes. A program that does so at the same moment is not seen.
 */
#ifndef BASE_OWN_FD_H
#define BASE_OWN_FD_H

#include <stdbool.h>
#include <stdint.h>

struct own_fd {
	int fd; /* -1: none */
	uint64_t device, inode;
};

#define OWN_FD_NONE ((struct own_fd){ .fd = -1 })

/* fd < 0: none. */
struct own_fd own_fd_of(int fd);

/* Is it still the file that it was? Eventfds are all one file. */
bool own_fd_is(const struct own_fd *o);

/* Closes it, unless it is another file by now; it is none afterwards. */
void own_fd_close(struct own_fd *o);

/* An eventfd, or a ring of io_uring: no file that a program writes to. */
bool own_fd_is_anonymous(int fd);

#endif
