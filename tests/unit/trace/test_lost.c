/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A drain thread that comes no further for a while, as its file takes nothing,
 * costs no slice as long as the rings last. What finds no room in them is
 * counted, by the end of the file and in it, and all that is not counted as
 * lost is there. A second recording knows nothing of what the first one has
 * lost. write(2) is replaced in this program.
 */
#include "tests/api/ask.h"
#include "tests/unit/trace_file.h"

#include <stdatomic.h>
#include <sys/syscall.h>

#define ROOM 524288 /* SLICE_RECORDS of trace/ring.h */
#define OVER 30000
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

/* Until its drain thread is in its call. */
static void get_stuck(void)
{
	atomic_store(&nr_stuck, 0);
	atomic_store(&is_stuck, 1);
	while (!atomic_load(&nr_stuck))
		usleep(1000);
}

/* Tasks run while the drain thread is in its call. */
static void record(int nr_tasks)
{
	struct lkdf_kind *k = NULL;
	struct lkdf *rt = NULL;
	char options[128];

	snprintf(options, sizeof(options), "workers=1,trace=%s", path);
	is(lkdf_open(options, &rt), 0, "a recording begins");
	lkdf_kind_create(
		rt, ATTR(lkdf_kind_attr, .name = "leaf", .fn = nothing), &k);
	get_stuck();
	run_tasks(rt, k, nr_tasks);
	atomic_store(&is_stuck, 0);
	lkdf_kind_put(k);
	is(lkdf_close(rt), 0, "and ends");
}

static void lost_are_counted(const char *what, int nr_tasks, int nr_lost)
{
	struct recorded r;

	record(nr_tasks);
	is(recorded_read(&r, path), 0, "%s: the file is whole", what);
	is(r.info.slices_lost, nr_lost, "%s: so many are lost", what);
	is(r.info.slices + r.info.slices_lost, nr_tasks,
	   "%s: each body is told or lost", what);
	is(r.nr_lost, r.info.slices_lost, "%s: the worker's loss is told",
	   what);
	recorded_free(&r);
	unlink(path);
}

/* As "lkdf stat" does; what it is told at the end. */
static struct lkdf_answer record_some(struct lkdf *rt, struct lkdf_kind *k,
				      int nr_tasks)
{
	const struct lkdf_stats_header *h = ask_header();
	const struct lkdf_ask ask = { LKDF_STATS_MAGIC, LKDF_STATS_VERSION,
				      LKDF_ASK_RECORD, h->ask_key };
	int fd = must(open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
	int s = must(ask_connect(h->ask)), given;
	struct lkdf_answer a;

	ask_put(s, &ask, sizeof(ask), fd, 1);
	must(ask_hear(s, &a, &given));
	close(fd);
	get_stuck();
	run_tasks(rt, k, nr_tasks);
	atomic_store(&is_stuck, 0);
	ask_word(s, LKDF_ASK_STOP);
	is(ask_hear(s, &a, &given), 0, "%d tasks are recorded", nr_tasks);
	close(s);
	munmap((void *)(uintptr_t)h, 4096);
	return a;
}

static void a_second_recording_counts_anew(void)
{
	struct lkdf_kind *k = NULL;
	struct lkdf *rt = NULL;
	struct lkdf_answer a;
	struct recorded r;

	is(lkdf_open("workers=1", &rt), 0, "a runtime");
	lkdf_kind_create(
		rt, ATTR(lkdf_kind_attr, .name = "leaf", .fn = nothing), &k);
	a = record_some(rt, k, ROOM + OVER);
	is(a.lost, OVER, "a first recording has lost some");
	is(recorded_read(&r, path), 0, "its file is whole");
	recorded_free(&r);
	a = record_some(rt, k, 5);
	is(a.lost, 0, "a second one has lost none");
	/* A body that ended beside the first one's end may be in it, too. */
	ok(a.slices == 5 || a.slices == 6, "of five or six: %llu",
	   (unsigned long long)a.slices);
	is(recorded_read(&r, path), 0, "its file is whole");
	is(r.info.slices_lost, 0, "and says so at its end");
	is(r.nr_lost, 0, "and of the worker");
	recorded_free(&r);
	unlink(path);
	lkdf_kind_put(k);
	is(lkdf_close(rt), 0, "the runtime closes");
}

int main(void)
{
	int fd;

	tap_start(100);
	unsetenv("LKDF_TRACE");
	fd = mkstemp(path);
	if (fd < 0)
		return 1;
	close(fd);
	unlink(path);
	lost_are_counted("as many as the ring takes", ROOM, 0);
	lost_are_counted("more", ROOM + OVER, OVER);
	a_second_recording_counts_anew();
	return tap_end();
}
