/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The kernel's own threads of a ring: how many, and on which CPUs. They are
 * found by their name in /proc and made by operations that block: opening a
 * named pipe that nobody writes, IOSQE_ASYNC as the kernel does not wait else.
 */
#include "tests/api/io.h"

#include <dirent.h>
#include <linux/io_uring.h>
#include <sched.h>

#define NR_OPENS 12

/* First line of /proc/self/task/ID/NAME that starts so; "": none. */
static void task_line(const char *id, const char *name, const char *start,
		      char *to, size_t size)
{
	char path[300];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%s/%s", id, name);
	f = fopen(path, "r");
	*to = '\0';
	if (!f)
		return;
	do {
		if (!fgets(to, (int)size, f))
			*to = '\0';
	} while (*to && strncmp(to, start, strlen(start)));
	fclose(f);
	to[strcspn(to, "\n")] = '\0';
}

/* How many there are, and how many of them are on other CPUs than this. */
static int count_threads(int cpu, int *nr_astray)
{
	char line[256], want[64];
	struct dirent *d;
	int nr = 0;
	DIR *dir = opendir("/proc/self/task");

	snprintf(want, sizeof(want), "Cpus_allowed_list:\t%d", cpu);
	*nr_astray = 0;
	while (dir && (d = readdir(dir))) {
		task_line(d->d_name, "comm", "", line, sizeof(line));
		if (strncmp(line, "iou-wrk-", 8))
			continue;
		task_line(d->d_name, "status", "Cpus_allowed_list", line,
			  sizeof(line));
		/* Empty: it has just ended. */
		*nr_astray += *line && strcmp(line, want) != 0;
		nr++;
	}
	if (dir)
		closedir(dir);
	return nr;
}

/* Until there are so many, ten seconds at most. */
static int wait_for_threads(int nr, int cpu, int *nr_astray)
{
	int i, found = 0;

	for (i = 0; i < 10000 && found < nr; i++) {
		found = count_threads(cpu, nr_astray);
		api_nap_ns(1000000);
	}
	return found;
}

static void the_kernels_threads(int cpu, bool is_bound)
{
	const struct io_uring_sqe sqe = {
		.opcode = IORING_OP_OPENAT,
		.flags = IOSQE_ASYNC,
		.fd = AT_FDCWD,
		.addr = (uint64_t)(uintptr_t)io_path("fifo"),
		.open_flags = O_RDONLY | O_CLOEXEC,
	};
	char options[64];
	struct lkdf *rt;
	struct lkdf_kind *k;
	struct lkdf_event done[NR_OPENS];
	int64_t fds[NR_OPENS];
	int i, fd, nr, nr_astray, nr_good = 0;

	snprintf(options, sizeof(options), "workers=1,cpus=%d%s", cpu,
		 is_bound ? "" : ",pin=no");
	rt = api_open(options);
	k = io_kind(rt, io_note, sizeof(struct io_call));
	must(mkfifo(io_path("fifo"), 0600));
	for (i = 0; i < NR_OPENS; i++) {
		struct io_call call = { *IO(.op = LKDF_IO_SQE, .raw_sqe = &sqe),
					&fds[i] };

		must(lkdf_submit(rt, NULL,
				 ATTR(lkdf_task, .kind = k, .arg = &call),
				 &done[i]));
	}
	nr = wait_for_threads(4, cpu, &nr_astray);
	is(nr, 4, "%s: as many threads as may be", options);
	/* Others that may be would come by now. */
	api_nap_ns(20000000);
	is(count_threads(cpu, &nr_astray), 4, "%s: and no more", options);
	if (is_bound)
		is(nr_astray, 0, "%s: they are on the node's CPUs", options);
	/* Stays until all have opened it: others wait for threads. */
	fd = open(io_path("fifo"), O_RDWR | O_CLOEXEC);
	for (i = 0; i < NR_OPENS; i++) {
		nr_good += !lkdf_event_wait(done[i], -1) && fds[i] >= 0;
		close((int)fds[i]);
	}
	is(nr_good, NR_OPENS, "%s: all of them are opened", options);
	close(fd);
	unlink(io_path("fifo"));
	lkdf_kind_put(k);
	is(lkdf_close(rt), 0, "%s: it closes", options);
}

static void caps_say_it(const char *options, const char *what)
{
	struct lkdf *rt = api_open(options);
	char text[4096];
	int fd[2];
	ssize_t n;

	must(pipe(fd));
	must(lkdf_describe(rt, "caps", "text", fd[1]));
	n = read(fd[0], text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = '\0';
	has(text, what, "%s: caps say \"%s\"", options, what);
	close(fd[0]);
	close(fd[1]);
	lkdf_close(rt);
}

/* The first CPU that we may use, and how many there are. */
static int first_cpu(int *nr)
{
	cpu_set_t set;
	int i;

	CPU_ZERO(&set);
	*nr = sched_getaffinity(0, sizeof(set), &set) ? 0 : CPU_COUNT(&set);
	for (i = 0; i < CPU_SETSIZE && !CPU_ISSET(i, &set); i++)
		;
	return i;
}

int main(void)
{
	struct lkdf *rt;
	bool has_rings;
	int nr_cpus, cpu = first_cpu(&nr_cpus);

	tap_start(20);
	rt = api_open("workers=1");
	has_rings = lkdf_caps(rt) & LKDF_CAP_URING;
	lkdf_close(rt);
	if (!has_rings) {
		skip("the kernel's threads", "no io_uring here");
		return tap_end();
	}
	io_begin();
	/* With one CPU every thread is on it. */
	if (nr_cpus > 1)
		the_kernels_threads(cpu, true);
	else
		skip("the kernel's threads are bound", "one CPU only");
	the_kernels_threads(cpu, false);
	caps_say_it("workers=1,pin=no", "workers are not bound");
	if (nr_cpus > 1)
		caps_say_it("workers=1", "on the node's CPUs");
	io_end();
	return tap_end();
}
