/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Those who read in lkdf bench io: each reads what is there, says so when a
 * byte is wrong, and starts again as often as it is asked to. Nothing is timed.
 */
#include "tests/bench/suites/io.h"
#include "tests/tap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NR_PAGES 300
#define NR_READS 700

static uint32_t page[NR_READS];
static char *buf;

static struct io_load load_of(const struct io_file *f, uint32_t qd)
{
	return (struct io_load){
		.file = f, .page = page, .nr = NR_READS, .qd = qd, .buf = buf
	};
}

static int64_t by_ring(const struct io_load *l, bool best)
{
	struct io_raw r;
	int64_t rc = io_raw_open(&r, best);

	if (rc)
		return rc;
	io_raw_take(&r, l);
	rc = io_raw_run(&r, l);
	if (rc > 0)
		rc = io_raw_run(&r, l);
	io_raw_close(&r);
	return rc;
}

static int64_t by_pool(const struct io_load *l)
{
	struct io_pool *p;
	int64_t rc = io_pool_open(3, &p);

	if (!rc)
		rc = io_pool_run(p, l);
	if (rc > 0)
		rc = io_pool_run(p, l);
	io_pool_close(p);
	return rc;
}

static int64_t by_tasks(const struct io_load *l, const char *mode)
{
	struct io_tasks t;
	int64_t rc = io_tasks_open(&t, 2, mode);

	if (!rc)
		rc = io_tasks_run(&t, l);
	if (rc > 0)
		rc = io_tasks_run(&t, l);
	io_tasks_close(&t);
	return rc;
}

static bool came_out(int64_t rc, bool is_good)
{
	return is_good ? rc > 0 : rc == -EBADMSG;
}

static void all_read(const struct io_file *f, uint32_t qd, bool is_good)
{
	struct io_load l = load_of(f, qd);
	const char *what = is_good ? "reads" : "sees a wrong byte";
	struct io_raw r;

	ok(came_out(io_pread_run(&l), is_good), "pread, %u: %s", qd, what);
	ok(came_out(by_pool(&l), is_good), "threads, %u: %s", qd, what);
	ok(came_out(by_tasks(&l, "steal"), is_good), "tasks, %u: %s", qd, what);
	ok(came_out(by_tasks(&l, "threads"), is_good), "io=threads, %u: %s", qd,
	   what);
	if (io_raw_open(&r, false)) {
		skip("rings by hand", "no io_uring here");
		return;
	}
	io_raw_close(&r);
	ok(came_out(by_ring(&l, false), is_good), "ring, %u: %s", qd, what);
	ok(came_out(by_ring(&l, true), is_good), "best ring, %u: %s", qd, what);
}

static void all_files(void)
{
	struct io_file cached, direct, memory;

	ok(!io_file_make(&cached, NR_PAGES, "/tmp"), "a file of its own");
	ok(!io_file_make_memory(&memory, NR_PAGES), "one in memory");
	all_read(&cached, 1, true);
	all_read(&cached, 32, true);
	all_read(&memory, IO_MAX_QD, true);
	if (io_file_direct(&direct, &cached))
		skip("O_DIRECT", "/tmp has none");
	else
		all_read(&direct, 32, true);
	io_file_close(&direct);
	cached.word[page[NR_READS / 2]]++;
	all_read(&cached, 7, false);
	io_file_close(&cached);
	io_file_close(&memory);
	ok(io_file_open(&cached, "/tmp") == -EINVAL, "a folder is refused");
	ok(io_file_open(&cached, "/tmp/no/such") == -ENOENT,
	   "so is what is not there");
}

int main(void)
{
	uint32_t i;

	for (i = 0; i < NR_READS; i++)
		page[i] = i * 7919 % NR_PAGES;
	tap_start(120);
	buf = aligned_alloc(IO_PAGE, (size_t)IO_MAX_QD * IO_PAGE);
	if (ok(buf, "memory"))
		all_files();
	free(buf);
	return tap_end();
}
