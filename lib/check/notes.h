/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Option check_log: the file in which a runtime notes for lkdf check that it is
 * there, which of the program's wishes serial mode cannot fulfil, and which
 * bytes have a label. A line for each, fields with tabs between them:
 *
 *	runtime	VERSION	sanitizer|none|linked
 *	blocking	KIND
 *	gang
 *	bytes	LABEL	ADDRESS	SIZE, 0: the whole block
 *	copy	LABEL	ADDRESS	SIZE, of a reduction
 */
#ifndef CHECK_NOTES_H
#define CHECK_NOTES_H

#include <stdbool.h>
#include <stddef.h>

struct notes;

/* Any thread; NULL for n notes nothing. A runtime, a kind and a gang: once. */
void notes_runtime(struct notes *n, const char *sanitizer);
void notes_blocking(struct notes *n, const char *kind);
void notes_gang(struct notes *n);
void notes_bytes(struct notes *n, const char *label, const void *p,
		 size_t size);

/* False: it is not noted. */
bool notes_copy(struct notes *n, const char *label, const void *p, size_t size);

/* NULL: the path is empty, or the file cannot be opened. */
struct notes *notes_open(const char *path);
void notes_close(struct notes *n);

#endif
