/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The flight recorder: what its file holds, and who has it written. */
#include "tests/unit/task/recording.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

#define NR_TASKS 20

static struct lkdf_kind *kind_of(struct lkdf *rt, const char *name)
{
	struct lkdf_kind *k = NULL;

	lkdf_kind_create(rt, ATTR(lkdf_kind_attr, .name = name, .fn = nothing),
			 &k);
	return k;
}

static void run_tasks(struct lkdf *rt, const char *name)
{
	struct lkdf_kind *k = kind_of(rt, name);
	int i;

	for (i = 0; i < NR_TASKS; i++)
		lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k), NULL);
	is(lkdf_scope_wait(rt, NULL, -1), 0, "tasks of kind %s end", name);
	lkdf_kind_put(k);
}

static int count_kind(const struct recorded *r, const char *name)
{
	int nr = 0;

	while (recorded_slice(r, name, (size_t)nr))
		nr++;
	return nr;
}

static void nobody_asks(void)
{
	struct lkdf *rt = open_recording("workers=2,trace_last=60");

	run_tasks(rt, "task");
	lkdf_close(rt);
	is(access(path, F_OK), -1, "nobody asks: there is no file");
}

static void the_program_asks(void)
{
	struct lkdf *rt = open_recording("workers=2,trace_last=60");
	struct recorded r;

	run_tasks(rt, "task");
	is(lkdf_record_last(rt), 0, "the program asks");
	lkdf_close(rt);
	is(recorded_read(&r, path), 0, "the file is whole");
	is(count_kind(&r, "task"), NR_TASKS, "with all bodies");
	is((int)r.info.slices, (int)r.nr_slices, "as many as its end says");
	recorded_free(&r);
}

static void old_records_go(void)
{
	const struct timespec pause = { 3, 0 };
	struct lkdf *rt = open_recording("workers=2,trace_last=2");
	struct recorded r;

	run_tasks(rt, "early");
	nanosleep(&pause, NULL);
	run_tasks(rt, "late");
	is(lkdf_record_last(rt), 0, "asked, after more than two seconds");
	lkdf_close(rt);
	is(recorded_read(&r, path), 0, "the file is whole");
	is(count_kind(&r, "early"), 0, "what is older is not in it");
	is(count_kind(&r, "late"), NR_TASKS, "what came last is");
	is((int)r.info.slices, (int)r.nr_slices, "as many as its end says");
	recorded_free(&r);
}

static void a_deadline_has_it_written(void)
{
	struct lkdf *rt = open_recording("workers=2,trace_last=60");
	struct lkdf_kind *k = NULL;
	struct lkdf_event done;
	struct recorded r;

	run_tasks(rt, "task");
	lkdf_kind_create_io(rt, ATTR(lkdf_kind_attr, .name = "pause"), &k);
	lkdf_submit(
		rt, NULL,
		ATTR(lkdf_task, .kind = k, .deadline_ns = 10000000,
		     .arg = &(struct lkdf_io){ .op = LKDF_IO_TIMEOUT,
					       .size = sizeof(struct lkdf_io),
					       .off = 3600000000000ull }),
		&done);
	is(lkdf_event_wait(done, -1), -ETIME, "a task is late");
	lkdf_kind_put(k);
	lkdf_close(rt);
	is(recorded_read(&r, path), 0, "the file is there, and whole");
	is(count_kind(&r, "task"), NR_TASKS, "with what came before");
	recorded_free(&r);
}

static void a_signal_has_it_written(void)
{
	struct lkdf *rt =
		open_recording("workers=2,trace_last=60,trace_signal=usr2");
	struct sigaction now;
	struct recorded r;

	run_tasks(rt, "task");
	is(raise(SIGUSR2), 0, "a signal does not end the process");
	lkdf_close(rt);
	is(recorded_read(&r, path), 0, "the file is there, and whole");
	is(count_kind(&r, "task"), NR_TASKS, "with what came before it");
	recorded_free(&r);
	sigaction(SIGUSR2, NULL, &now);
	ok(now.sa_handler == SIG_DFL, "the signal is given back");
}

static void count_ours(int number)
{
	(void)number;
}

static void the_programs_handler_stays(void)
{
	struct sigaction ours = { .sa_handler = count_ours }, now;
	struct lkdf *rt;

	sigaction(SIGUSR2, &ours, NULL);
	rt = open_recording("workers=1,trace_last=60,trace_signal=usr2");
	ok(rt != NULL, "the program handles the signal: the runtime opens");
	sigaction(SIGUSR2, NULL, &now);
	ok(now.sa_handler == count_ours, "and the handler stays");
	lkdf_close(rt);
	sigaction(SIGUSR2, NULL, &now);
	ok(now.sa_handler == count_ours, "afterwards, too");
	signal(SIGUSR2, SIG_DFL);
}

static void two_runtimes_share_a_signal(void)
{
	static const char options[] =
		"workers=1,trace_last=60,trace_signal=usr2";
	struct lkdf *first = open_recording(options);
	struct lkdf *second = open_recording(options);
	struct sigaction now;

	lkdf_close(first);
	sigaction(SIGUSR2, NULL, &now);
	ok(now.sa_handler != SIG_DFL,
	   "the second of two runtimes has the signal after the first");
	lkdf_close(second);
	sigaction(SIGUSR2, NULL, &now);
	ok(now.sa_handler == SIG_DFL, "and gives it back");
}

static void a_region_has_it_written(void)
{
	struct lkdf *rt = open_recording("workers=1,trace_last=60");
	uint64_t region = lkdf_region_begin(rt);
	struct recorded r;

	is(lkdf_region_end_by(rt, "in time", region, INT64_MAX), 0,
	   "a region within its limit");
	is(lkdf_region_end_by(rt, "late", 0, 0), 0, "one that nobody began");
	is(lkdf_region_end_by(rt, "late", region, -1), -EINVAL,
	   "a limit below 0");
	is(lkdf_region_end_by(rt, "late", region, 0), 1, "one that is late");
	lkdf_close(rt);
	is(recorded_read(&r, path), 0, "the file is there, and whole");
	recorded_free(&r);
}

/* It is late while it runs: the file comes before its end. */
static void a_region_that_runs_has_it_written(void)
{
	const struct timespec pause = { 0, 1000000 };
	struct lkdf *rt = open_recording("workers=1,trace_last=60");
	uint64_t early = lkdf_region_begin_by(rt, INT64_MAX), region;
	struct recorded r;
	int i;

	is(lkdf_region_end(rt, "in time", early), 0, "a region that ends");
	region = lkdf_region_begin_by(rt, 1000);
	for (i = 0; i < 20000 && access(path, F_OK); i++)
		nanosleep(&pause, NULL);
	is(access(path, F_OK), 0, "a region runs on: the file is there");
	is(lkdf_region_end_by(rt, "late", region, 1000), 1, "it was late");
	lkdf_close(rt);
	is(recorded_read(&r, path), 0, "the file is whole");
	recorded_free(&r);
}

static void without_one_nobody_can_ask(void)
{
	struct lkdf *rt = open_recording("workers=1");

	is(lkdf_record_last(rt), -ENOENT, "a usual recording is none");
	lkdf_close(rt);
}

int main(void)
{
	tap_start(40);
	begin_recordings();
	nobody_asks();
	the_program_asks();
	unlink(path);
	old_records_go();
	unlink(path);
	a_deadline_has_it_written();
	unlink(path);
	a_signal_has_it_written();
	unlink(path);
	the_programs_handler_stays();
	two_runtimes_share_a_signal();
	unlink(path);
	a_region_has_it_written();
	unlink(path);
	a_region_that_runs_has_it_written();
	unlink(path);
	without_one_nobody_can_ask();
	unlink(path);
	return tap_end();
}
