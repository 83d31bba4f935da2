/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A file that takes nothing for a while: bodies go on, what finds no room in
 * the rings is counted, by the end of the file and in it, and all that is not
 * counted as lost is there. write(2) is replaced in this program.
 */
#include "tests/unit/trace_file.h"

#include <stdatomic.h>
#include <sys/syscall.h>

#define ROOM 131072 /* SLICE_RECORDS of trace/ring.h */
#define NR_TASKS (ROOM + 30000)
#define BATCH 1000

static char path[] = "/tmp/lkdf-test-XXXXXX";
static atomic_int is_stuck, nr_stuck;

ssize_t write(int fd, const void *data, size_t size)
{
	if (fd > 2 && atomic_load(&is_stuck)) {
		atomic_fetch_add(&nr_stuck, 1);
		while (atomic_load(&is_stuck))
			usleep(1000);
	}
	return syscall(SYS_write, fd, data, size);
}

static int nothing(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	return 0;
}

static void run_tasks(struct lkdf *rt, struct lkdf_kind *k, int nr)
{
	int i;

	for (; nr > 0; nr -= i) {
		for (i = 0; i < nr && i < BATCH; i++)
			lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k), NULL);
		lkdf_scope_wait(rt, NULL, -1);
	}
}

/* Begins once the drain thread is in its call. */
static void record(void)
{
	struct lkdf_kind *k = NULL;
	struct lkdf *rt = NULL;
	char options[128];

	snprintf(options, sizeof(options), "workers=1,trace=%s", path);
	is(lkdf_open(options, &rt), 0, "a recording begins");
	lkdf_kind_create(
		rt, ATTR(lkdf_kind_attr, .name = "leaf", .fn = nothing), &k);
	atomic_store(&is_stuck, 1);
	while (!atomic_load(&nr_stuck))
		usleep(1000);
	run_tasks(rt, k, NR_TASKS);
	atomic_store(&is_stuck, 0);
	lkdf_kind_put(k);
	is(lkdf_close(rt), 0, "and ends");
}

int main(void)
{
	struct recorded r;
	int fd;

	tap_start(100);
	unsetenv("LKDF_TRACE");
	fd = mkstemp(path);
	if (fd < 0)
		return 1;
	close(fd);
	unlink(path);
	record();
	is(recorded_read(&r, path), 0, "the file is whole");
	ok(r.info.slices_lost > 0 && r.info.slices_lost <= NR_TASKS - ROOM,
	   "what found no room is counted: %llu",
	   (unsigned long long)r.info.slices_lost);
	is(r.info.slices + r.info.slices_lost, NR_TASKS,
	   "each body is told or lost");
	is(r.nr_lost, r.info.slices_lost, "the worker's loss is told");
	recorded_free(&r);
	unlink(path);
	return tap_end();
}
