/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Programs with something to find, recorded as they run: lkdf report names the
 * cause, the kind and what to change, and says none of it of a program that is
 * right. Here: more workers than CPUs, and workers that wait for a pipe which
 * is written late. Bytes of other nodes and quotas take a machine of their own:
 * tests/vm/test_report.c. Whatever else is found depends on the machine.
 */
#include "tests/api/recorded.h"
#include "tests/api/report/spin.h"

#include <pthread.h>
#include <sched.h>

#define NR_READS 20
#define LATE_NS 5000000
#define WORK_NS 2000000

static char file[] = "/tmp/lkdf-found-XXXXXX";

/* A file that is there is never written over. */
static struct lkdf *open_recorded(const char *options)
{
	char text[128];

	unlink(file);
	snprintf(text, sizeof(text), "%s,trace=%s", options, file);
	return api_open(text);
}

/* Four workers that never rest, in a process that has one CPU. */
static void one_cpu_is_shared(int workers, bool is_told)
{
	char options[64];
	struct lkdf *rt;

	snprintf(options, sizeof(options), "workers=%d,pin=no", workers);
	rt = open_recorded(options);
	spin_all(rt);
	is(lkdf_close(rt), 0, "%d workers on one CPU are recorded", workers);
	recorded_read(file);
	if (is_told) {
		has(recorded_finding("cpu"),
		    "LKDF_WORKERS=1:", "they are told to be too many");
		return;
	}
	ok(!strstr(recorded_finding("cpu"), "LKDF_WORKERS="),
	   "it is not told to be too many");
}

static void workers_share_a_cpu(void)
{
	cpu_set_t all, one;
	int cpu = 0;

	must(sched_getaffinity(0, sizeof(all), &all));
	while (!CPU_ISSET(cpu, &all))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	must(sched_setaffinity(0, sizeof(one), &one));
	one_cpu_is_shared(4, true);
	one_cpu_is_shared(1, false);
	must(sched_setaffinity(0, sizeof(all), &all));
}

static atomic_int nr_read;

static int take_byte(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	if (lkdf_io_result(c) == 1)
		atomic_fetch_add(&nr_read, 1);
	return 0;
}

/* Works, and makes the next one of its kind until all reads are over. */
static int work_beside(struct lkdf_ctx *c, void *arg)
{
	int64_t end = api_now_ns() + WORK_NS;

	while (api_now_ns() < end)
		;
	if (atomic_load(&nr_read) < NR_READS)
		return lkdf_spawn(c, *(struct lkdf_kind **)arg, arg);
	return 0;
}

static void *write_late(void *arg)
{
	int i;

	for (i = 0; i < NR_READS; i++) {
		api_nap_ns(LATE_NS);
		if (write(*(int *)arg, "x", 1) != 1)
			break;
	}
	return NULL;
}

/* All reads are under way at once; each byte comes late. */
static void read_pipe(struct lkdf *rt, int fd)
{
	struct lkdf_kind *k = NULL;
	char bytes[NR_READS];
	struct lkdf_io io = {
		.size = sizeof(io), .op = LKDF_IO_READ, .fd = fd, .len = 1
	};
	int i;

	must(lkdf_kind_create_io(rt,
				 ATTR(lkdf_kind_attr, .name = "read_late",
				      .fn = take_byte, .arg_size = sizeof(io)),
				 &k));
	for (i = 0; i < NR_READS; i++) {
		io.buf = &bytes[i];
		must(lkdf_submit(rt, NULL,
				 ATTR(lkdf_task, .kind = k, .arg = &io), NULL));
	}
	must(lkdf_scope_wait(rt, NULL, -1));
	lkdf_kind_put(k);
}

static void a_pipe_is_late(bool is_busy)
{
	struct lkdf *rt = open_recorded("workers=2");
	struct lkdf_kind *work = api_kind(rt, "work_beside", work_beside,
					  sizeof(struct lkdf_kind *), 0);
	pthread_t writer;
	int fd[2], i;

	atomic_store(&nr_read, 0);
	must(pipe2(fd, O_CLOEXEC));
	for (i = 0; is_busy && i < 4; i++)
		must(lkdf_submit(rt, NULL,
				 ATTR(lkdf_task, .kind = work, .arg = &work),
				 NULL));
	must(-pthread_create(&writer, NULL, write_late, &fd[1]));
	read_pipe(rt, fd[0]);
	pthread_join(writer, NULL);
	is(atomic_load(&nr_read), NR_READS, "a pipe is read that comes late");
	lkdf_kind_put(work);
	is(lkdf_close(rt), 0, "and recorded");
	close(fd[0]);
	close(fd[1]);
	recorded_read(file);
}

static void workers_wait_for_a_pipe(void)
{
	a_pipe_is_late(false);
	has(recorded_finding("io"), "most of them read_late",
	    "that workers wait for it is told, with the kind");
	has(recorded_finding("io"), "keep more operations under way",
	    "and what to change");
}

static void workers_work_meanwhile(void)
{
	a_pipe_is_late(true);
	is(recorded_finding("io")[0], 0,
	   "workers that work meanwhile do not wait for it");
}

int main(int argc, char **argv)
{
	(void)argc;
	tap_start(100);
	probe_find(argv[0]);
	if (access(probe_tool, X_OK)) {
		printf("1..0 # SKIP there is no tool\n");
		return 0;
	}
	close(must(mkstemp(file)));
	workers_share_a_cpu();
	workers_wait_for_a_pipe();
	workers_work_meanwhile();
	unlink(file);
	return tap_end();
}
