/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "trace/file.h"

#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define OPEN_FLAGS (O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC)

/* CRC-32 of half a byte. */
static const uint32_t crc_table[16] = {
	0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
	0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
	0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
};

static uint32_t crc32(uint32_t crc, const void *data, size_t size)
{
	const uint8_t *p = data;

	for (crc = ~crc; size; size--, p++) {
		crc ^= *p;
		crc = crc_table[crc & 15] ^ crc >> 4;
		crc = crc_table[crc & 15] ^ crc >> 4;
	}
	return ~crc;
}

static void put_le(uint8_t *to, uint64_t v, int size)
{
	for (; size; size--, v >>= 8)
		*to++ = (uint8_t)v;
}

/* As write(), but -1 and EFBIG where that would end the process by SIGXFSZ. */
static ssize_t write_some(struct trace_file *f, const void *data, size_t size)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_FSIZE, &limit) &&
	    f->size + size > limit.rlim_cur) {
		errno = EFBIG;
		return -1;
	}
	return write(f->fd, data, size);
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
	put_le(b + 60, crc32(0, b, 60), 4);
	write_all(f, b, sizeof(b));
}

/* May a file of that name be replaced? */
static int may_replace(const char *path)
{
	struct stat st;

	if (lstat(path, &st))
		return errno == ENOENT ? 0
				       : err(-errno, "trace: file %s: %s", path,
					     strerror(errno));
	if (!S_ISREG(st.st_mode))
		return err(-EEXIST,
			   "trace: file %s is there and no regular file", path);
	if (st.st_uid != geteuid())
		return err(-EPERM, "trace: file %s belongs to user %u", path,
			   (unsigned)st.st_uid);
	return 0;
}

int trace_file_open(struct trace_file *f, const char *path,
		    struct lkdf_file_header *h)
{
	char temp[PATH_MAX];
	int rc = may_replace(path), n;

	if (rc)
		return rc;
	n = snprintf(temp, sizeof(temp), "%s.%d.tmp", path, (int)getpid());
	if (n < 0 || (size_t)n >= sizeof(temp))
		return err(-ENAMETOOLONG, "trace: file name of %d bytes", n);
	f->error = 0;
	f->size = 0;
	f->seq = 0;
	f->used = 0;
	f->fd = open(temp, OPEN_FLAGS, 0600);
	if (f->fd < 0)
		return err(-errno, "trace: file %s: %s", temp, strerror(errno));
	write_header(f, h);
	rc = f->error;
	if (!rc && rename(temp, path))
		rc = -errno;
	if (rc) {
		unlink(temp);
		close(f->fd);
		return err(rc, "trace: file %s: %s", path, strerror(-rc));
	}
	return 0;
}

void trace_file_close(struct trace_file *f)
{
	close(f->fd);
	f->fd = -1;
}

void chunk_begin(struct trace_file *f, enum lkdf_chunk_type type)
{
	put_le(f->buf, type, 4);
	f->used = sizeof(struct lkdf_file_chunk);
}

void chunk_number(struct trace_file *f, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		f->buf[f->used++] = (uint8_t)(v | 0x80);
	f->buf[f->used++] = (uint8_t)v;
}

void chunk_signed(struct trace_file *f, int64_t v)
{
	chunk_number(f, v < 0 ? ~((uint64_t)v << 1) : (uint64_t)v << 1);
}

void chunk_text(struct trace_file *f, const char *text)
{
	size_t size = strnlen(text, LKDF_MAX_TEXT);

	chunk_number(f, size);
	memcpy(f->buf + f->used, text, size);
	f->used += (uint32_t)size;
}

void chunk_end(struct trace_file *f)
{
	const uint32_t head = sizeof(struct lkdf_file_chunk);
	uint32_t crc;

	put_le(f->buf + 4, f->used - head, 4);
	put_le(f->buf + 8, f->seq++, 4);
	crc = crc32(0, f->buf, 12);
	put_le(f->buf + 12, crc32(crc, f->buf + head, f->used - head), 4);
	write_all(f, f->buf, f->used);
	f->used = 0;
}
