/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The pieces of lkdf bench io: what is read, and who reads it. Everybody reads
 * the same pages in the same order, a fixed number of them under way at once,
 * and looks at the first word of each page.
 */
#ifndef TESTS_BENCH_SUITES_IO_H
#define TESTS_BENCH_SUITES_IO_H

#include "bench/bench.h"

#include <stdbool.h>
#include <stdint.h>

#define IO_PAGE 4096
#define IO_MAX_QD 128
#define IO_MAX_READS 16384
#define IO_OWN_PAGES 16384 /* of a file of its own */

/* A file that is read. */
struct io_file {
	int fd;
	bool is_direct;
	uint32_t nr_pages;
	uint64_t *word; /* the first of each page */
};

/* A measurement. */
struct io_load {
	const struct io_file *file;
	const uint32_t *page; /* of each read */
	uint32_t nr, qd;
	char *buf; /* qd pages, aligned */
};

static inline int64_t io_load_offset(const struct io_load *l, uint32_t i)
{
	return (int64_t)l->page[i] * IO_PAGE;
}

/* Did read number i bring what it should, to the buffer of that slot? */
bool io_load_came(const struct io_load *l, uint32_t i, uint32_t slot,
		  int64_t res);

/* ---- io_file.c: 0 or -errno, why is on stderr --------------------- */

/* Its own file in dir; gone at the latest when this process is. */
int io_file_make(struct io_file *f, uint32_t nr_pages, const char *dir);

/* Makes a file in memory only (tmpfs). */
int io_file_make_memory(struct io_file *f, uint32_t nr_pages);

/* A file of the user's: read only. */
int io_file_open(struct io_file *f, const char *path);

/* Opens the same file for O_DIRECT. -EINVAL, silent: it cannot. */
int io_file_direct(struct io_file *f, const struct io_file *of);

void io_file_close(struct io_file *f);

/* ---- who reads: the ns it took, or -errno, why is on stderr ------------- */

int64_t io_pread_run(const struct io_load *l);

/* A ring by hand. best: all that makes it fast; else plain. */
struct io_raw {
	int fd;
	uint32_t *sq_tail, *cq_head, *cq_tail;
	uint32_t sq_mask, cq_mask;
	void *sqes, *rings;
	const void *cqes;
	size_t sqes_size, rings_size;
	bool is_fixed;
};

/* -errno, silent: no ring here. The thread that opens it runs it. */
int io_raw_open(struct io_raw *r, bool best);
/* Before the first load of a file and a buffer. */
int io_raw_take(struct io_raw *r, const struct io_load *l);
int64_t io_raw_run(struct io_raw *r, const struct io_load *l);
void io_raw_close(struct io_raw *r);

struct io_pool;
int io_pool_open(int nr_threads, struct io_pool **out);
int64_t io_pool_run(struct io_pool *p, const struct io_load *l);
void io_pool_close(struct io_pool *p);

struct io_tasks {
	struct lkdf *rt;
	struct lkdf_kind *kind;
};

int io_tasks_open(struct io_tasks *t, int nr_workers, const char *mode);
int64_t io_tasks_run(struct io_tasks *t, const struct io_load *l);
void io_tasks_close(struct io_tasks *t);

/* Thousands of reads a second; NAN: fio is absent or has failed. */
double io_fio_run(const struct io_load *l);

/* ---- io_late.c ---------------------------------------------------- */

/* Rows of a task that waits for an operation of a worker that computes. */
int io_late(struct bench *b);
double io_late_steps(const struct bench *b);

/* ---- io_chain.c --------------------------------------------------- */

/* Rows of writes in chains. */
int io_chain(struct bench *b);
double io_chain_steps(const struct bench *b);

#endif
