/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The file of a recording: one a runtime, whatever one name many of them are
 * given. A file that was there before is replaced, but for that of a runtime
 * which records now, those that this process has made, and those that came
 * after a name which was not to be had: then a number is put into the name.
 *
 *	%p  the process         %%  a percent sign
 *	%n  the number, from 1; without it "run.lkdf", "run.1.lkdf" ...
 *
 * Option trace has the rank of a program of MPI in the place of %r before.
 *
 * A child that was forked, and has not called exec, puts its process number
 * into a name without %p.
 */
#ifndef TRACE_NAME_H
#define TRACE_NAME_H

#include <stddef.h>

#define MAX_FILES 1000 /* of one name */

/* The n-th name, from 0, by a pattern. -EINVAL: unknown %; -ENAMETOOLONG. */
int file_name_make(const char *pattern, int n, char *to, size_t size);

/*
 * Gives the file temp, which its writer has locked by flock(2), the first name
 * that is to be had; it is in to then. -EEXIST, -EPERM: there is something
 * else; -errno.
 */
int file_name_take(const char *pattern, const char *temp, char *to,
		   size_t size);

#endif
