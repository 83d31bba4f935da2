/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "trace/file.h"

#include "base/err.h"
#include "base/random.h"
#include "trace/last.h"
#include "trace/name.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

#define OPEN_FLAGS (O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC)

static void put_le(uint8_t *to, uint64_t v, int size)
{
	for (; size; size--, v >>= 8)
		*to++ = (uint8_t)v;
}

/*
 * As write(), but -1 and EFBIG where that would end the process by SIGXFSZ, and
 * EBADF where the program has closed the file behind our back.
 */
static ssize_t write_some(struct trace_file *f, const void *data, size_t size)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_FSIZE, &limit) &&
	    f->size + size > limit.rlim_cur) {
		errno = EFBIG;
		return -1;
	}
	if (!own_fd_is(&f->own)) {
		errno = EBADF;
		return -1;
	}
	return write(f->own.fd, data, size);
}

static void write_all(struct trace_file *f, const void *data, size_t size)
{
	const uint8_t *p = data;
	ssize_t n;

	while (size && !f->error) {
		n = write_some(f, p, size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			f->error = -errno;
			return;
		}
		p += n;
		f->size += (uint64_t)n;
		size -= (size_t)n;
	}
}

static void write_header(struct trace_file *f, const struct lkdf_file_header *h)
{
	uint8_t b[sizeof(*h)] = { 0 };

	put_le(b, LKDF_FILE_MAGIC, 8);
	put_le(b + 8, LKDF_FILE_VERSION, 4);
	put_le(b + 12, sizeof(*h), 4);
	put_le(b + 16, h->ticks_per_1024ns, 4);
	put_le(b + 20, h->nr_executors, 4);
	put_le(b + 24, h->start_ticks, 8);
	put_le(b + 32, h->start_ns, 8);
	put_le(b + 40, h->pid, 4);
	put_le(b + 60, crc_add(&f->crc, 0, b, 60), 4);
	write_all(f, b, sizeof(b));
}

/* Beside the file that it becomes. */
static int make_temp(struct trace_file *f, const char *pattern, char *temp,
		     size_t size)
{
	char path[PATH_MAX];
	int rc = file_name_make(pattern, 0, path, sizeof(path)), n;
	uint64_t bits;

	if (rc)
		return rc;
	rc = random_bits(&bits);
	if (rc)
		return err(rc, "trace: no random bits: %s", strerror(-rc));
	n = snprintf(temp, size, "%s.%016" PRIx64 ".tmp", path, bits);
	if (n < 0 || (size_t)n >= size)
		return err(-ENAMETOOLONG, "trace: file name of %d bytes", n);
	f->own = own_fd_of(open(temp, OPEN_FLAGS, 0600));
	if (f->own.fd < 0)
		return err(-errno, "trace: file %s: %s", temp, strerror(errno));
	/* Others see so that somebody writes it. */
	flock(f->own.fd, LOCK_EX | LOCK_NB);
	return 0;
}

static void init_fields(struct trace_file *f)
{
	f->last = NULL;
	f->error = 0;
	f->size = 0;
	f->seq = 0;
	f->used = 0;
	crc_init(&f->crc);
}

int trace_file_take(struct trace_file *f, int fd, struct lkdf_file_header *h)
{
	init_fields(f);
	f->own = own_fd_of(fd);
	snprintf(f->path, sizeof(f->path), "of lkdf trace record");
	write_header(f, h);
	if (!f->error)
		return 0;
	close(fd);
	return err(f->error, "trace: the file that was given: %s",
		   strerror(-f->error));
}

int trace_file_open(struct trace_file *f, const char *pattern,
		    struct lkdf_file_header *h)
{
	char temp[PATH_MAX];
	int rc;

	init_fields(f);
	rc = make_temp(f, pattern, temp, sizeof(temp));
	if (rc)
		return rc;
	write_header(f, h);
	if (f->error)
		rc = err(f->error, "trace: file %s: %s", temp,
			 strerror(-f->error));
	else
		rc = file_name_take(pattern, temp, f->path, sizeof(f->path));
	if (rc) {
		unlink(temp);
		own_fd_close(&f->own);
	}
	return rc;
}

void trace_file_keep(struct trace_file *f, struct last *l)
{
	init_fields(f);
	f->own = OWN_FD_NONE;
	f->last = l;
	snprintf(f->path, sizeof(f->path), "in memory");
}

void trace_file_close(struct trace_file *f)
{
	own_fd_close(&f->own);
}

void chunk_begin(struct trace_file *f, enum lkdf_chunk_type type)
{
	put_le(f->buf, type, 4);
	f->used = sizeof(struct lkdf_file_chunk);
	f->records = 0;
}

void chunk_text(struct trace_file *f, const char *text)
{
	size_t size = strnlen(text, LKDF_MAX_TEXT);

	chunk_number(f, size);
	memcpy(f->buf + f->used, text, size);
	f->used += (uint32_t)size;
}

void chunk_bytes(struct trace_file *f, const void *bytes, uint32_t size)
{
	memcpy(f->buf + f->used, bytes, size);
	f->used += size;
}

void chunk_end(struct trace_file *f)
{
	const uint32_t head = sizeof(struct lkdf_file_chunk);
	uint32_t crc;

	put_le(f->buf + 4, f->used - head, 4);
	put_le(f->buf + 8, f->seq++, 4);
	crc = crc_add(&f->crc, 0, f->buf, 12);
	crc = crc_add(&f->crc, crc, f->buf + head, f->used - head);
	put_le(f->buf + 12, crc, 4);
	if (f->last)
		last_keep(f->last, f);
	else
		write_all(f, f->buf, f->used);
	f->used = 0;
}

void chunk_end_if_any(struct trace_file *f)
{
	if (f->used > sizeof(struct lkdf_file_chunk))
		chunk_end(f);
}
