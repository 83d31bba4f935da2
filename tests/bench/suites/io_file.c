/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The files that lkdf bench io reads. Its own have no name once they are open,
 * so nothing is left behind however it ends.
 */
#include "tests/bench/suites/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define LEAST_PAGES 256
#define MOST_PAGES (1u << 20)

bool io_load_came(const struct io_load *l, uint32_t i, uint32_t slot,
		  int64_t res)
{
	uint64_t word;

	memcpy(&word, l->buf + (size_t)slot * IO_PAGE, sizeof(word));
	return res == IO_PAGE && word == l->file->word[l->page[i]];
}

static int no_memory(void)
{
	return bench_fail(-ENOMEM, "io: no memory");
}

/* Every page another first word. */
static int fill(int fd, uint32_t nr_pages, const char *where)
{
	uint64_t page[IO_PAGE / sizeof(uint64_t)] = { 0 };
	uint32_t i;
	ssize_t nr;

	for (i = 0; i < nr_pages; i++) {
		page[0] = (i + 1) * 0x9e3779b97f4a7c15u;
		nr = pwrite(fd, page, IO_PAGE, (off_t)i * IO_PAGE);
		if (nr != IO_PAGE)
			return bench_fail(nr < 0 ? -errno : -ENOSPC,
					  "io: cannot write %u pages to %s: %s",
					  nr_pages, where,
					  nr < 0 ? strerror(errno)
						 : "no space left");
	}
	if (fsync(fd))
		return bench_fail(-errno, "io: fsync in %s: %s", where,
				  strerror(errno));
	return 0;
}

/* Looks at all pages, which also brings them to the page cache. */
static int learn(struct io_file *f, const char *what)
{
	uint32_t i;

	f->word = calloc(f->nr_pages, sizeof(*f->word));
	if (!f->word)
		return no_memory();
	for (i = 0; i < f->nr_pages; i++)
		if (pread(f->fd, &f->word[i], sizeof(f->word[i]),
			  (off_t)i * IO_PAGE) != sizeof(f->word[i]))
			return bench_fail(-EIO, "io: cannot read %s", what);
	return 0;
}

static int make(struct io_file *f, int fd, uint32_t nr_pages, const char *where)
{
	int rc;

	*f = (struct io_file){ .fd = fd, .nr_pages = nr_pages };
	rc = fill(fd, nr_pages, where);
	if (!rc)
		rc = learn(f, where);
	if (rc)
		io_file_close(f);
	return rc;
}

int io_file_make(struct io_file *f, uint32_t nr_pages, const char *dir)
{
	char path[4096];
	int fd;

	f->fd = -1;
	if (snprintf(path, sizeof(path), "%s/lkdf-bench-XXXXXX", dir) >=
	    (int)sizeof(path))
		return bench_fail(-ENAMETOOLONG, "io: --dir is too long");
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return bench_fail(-errno, "io: cannot make a file in %s: %s",
				  dir, strerror(errno));
	unlink(path);
	return make(f, fd, nr_pages, dir);
}

int io_file_make_memory(struct io_file *f, uint32_t nr_pages)
{
	int fd = memfd_create("lkdf-bench", MFD_CLOEXEC);

	f->fd = -1;
	if (fd < 0)
		return bench_fail(-errno, "io: memfd: %s", strerror(errno));
	return make(f, fd, nr_pages, "memory");
}

int io_file_open(struct io_file *f, const char *path)
{
	struct stat st;
	off_t pages;
	int rc;

	*f = (struct io_file){ .fd = open(path, O_RDONLY | O_CLOEXEC) };
	if (f->fd < 0)
		return bench_fail(-errno, "io: cannot open %s: %s", path,
				  strerror(errno));
	if (fstat(f->fd, &st) || !S_ISREG(st.st_mode)) {
		io_file_close(f);
		return bench_fail(-EINVAL, "io: %s is no regular file", path);
	}
	pages = st.st_size / IO_PAGE;
	if (pages < LEAST_PAGES) {
		io_file_close(f);
		return bench_fail(-EINVAL, "io: %s has less than %d KiB", path,
				  LEAST_PAGES * IO_PAGE / 1024);
	}
	f->nr_pages = pages > MOST_PAGES ? MOST_PAGES : (uint32_t)pages;
	rc = learn(f, path);
	if (rc)
		io_file_close(f);
	return rc;
}

int io_file_direct(struct io_file *f, const struct io_file *of)
{
	char path[32], *page;
	ssize_t nr = -1;

	*f = *of;
	f->is_direct = true;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", of->fd);
	f->fd = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
	f->word = calloc(f->nr_pages, sizeof(*f->word));
	page = aligned_alloc(IO_PAGE, IO_PAGE);
	if (f->fd >= 0 && page)
		nr = pread(f->fd, page, IO_PAGE, 0);
	free(page);
	if (nr != IO_PAGE || !f->word) {
		io_file_close(f);
		return -EINVAL;
	}
	memcpy(f->word, of->word, f->nr_pages * sizeof(*f->word));
	return 0;
}

void io_file_close(struct io_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	free(f->word);
	*f = (struct io_file){ .fd = -1 };
}
