/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "check/notes.h"

#include "base/atomic.h"
#include "base/util.h"

#include <fcntl.h>
#include <lkdf/base.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define NOTE_SIZE 320
#define MAX_BYTES 20000 /* lines of that sort: the file stays small */

struct notes {
	int fd;
	_Atomic(bool) has_blocking, has_gang;
	_Atomic(uint32_t) nr_bytes;
};

/* Other threads and processes write, too: each line is one call. */
static __attribute__((format(printf, 2, 3))) bool
write_line(const struct notes *n, const char *format, ...)
{
	char line[NOTE_SIZE];
	va_list args;
	int size;

	va_start(args, format);
	size = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	return size > 0 && (size_t)size < sizeof(line) &&
	       write(n->fd, line, (size_t)size) == size;
}

void notes_runtime(struct notes *n, const char *sanitizer)
{
	if (n)
		write_line(n, "runtime\t%d.%d.%d\t%s\n", LKDF_VERSION_MAJOR,
			   LKDF_VERSION_MINOR, LKDF_VERSION_PATCH, sanitizer);
}

void notes_blocking(struct notes *n, const char *kind)
{
	if (n && !a_xchg(&n->has_blocking, true, relaxed))
		write_line(n, "blocking\t%s\n", kind);
}

void notes_gang(struct notes *n)
{
	if (n && !a_xchg(&n->has_gang, true, relaxed))
		write_line(n, "gang\n");
}

void notes_bytes(struct notes *n, const char *label, const void *p, size_t size)
{
	if (n && label && p && a_add(&n->nr_bytes, 1, relaxed) < MAX_BYTES)
		write_line(n, "bytes\t%s\t%lx\t%zu\n", label,
			   (unsigned long)(uintptr_t)p, size);
}

bool notes_copy(struct notes *n, const char *label, const void *p, size_t size)
{
	if (!n || !p)
		return false;
	/* The tool reads no empty field. */
	return write_line(n, "copy\t%s\t%lx\t%zu\n", label[0] ? label : "-",
			  (unsigned long)(uintptr_t)p, size);
}

struct notes *notes_open(const char *path)
{
	struct notes *n = path[0] ? calloc(1, sizeof(*n)) : NULL;

	if (!n)
		return NULL;
	n->fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	if (n->fd >= 0)
		return n;
	free(n);
	return NULL;
}

void notes_close(struct notes *n)
{
	if (!n)
		return;
	close(n->fd);
	free(n);
}
