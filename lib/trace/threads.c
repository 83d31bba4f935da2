/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "trace/threads.h"

#include "trace/trace.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void threads_init(struct threads *t, const struct trace *trace)
{
	t->t = trace;
	t->rows = calloc(MAX_THREADS, sizeof(*t->rows));
	t->nr = 0;
	t->round = 0;
}

void threads_fini(struct threads *t)
{
	free(t->rows);
	t->rows = NULL;
}

/* A file of a thread, as text. False: the thread is gone. */
static bool read_file(uint32_t tid, const char *name, char *to, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%u/%s", tid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, to, size - 1);
	close(fd);
	if (n <= 0)
		return false;
	to[n] = '\0';
	to[strcspn(to, "\n")] = '\0';
	return true;
}

/* The number one past the last: a thread of the program. */
static uint32_t executor_of(const struct trace *t, uint32_t tid)
{
	int i;

	for (i = 0; i < t->nr_executors; i++)
		if (a_load(&t->rings[i].tid, relaxed) == tid)
			break;
	return (uint32_t)i;
}

/* The row of a thread, which may be new. NULL: no room. */
static struct thread_row *row_of(struct threads *t, uint32_t tid)
{
	uint32_t low = 0, high = t->nr, mid;
	struct thread_row *r;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (t->rows[mid].tid < tid)
			low = mid + 1;
		else
			high = mid;
	}
	r = &t->rows[low];
	if (low < t->nr && r->tid == tid)
		return r;
	if (t->nr == MAX_THREADS)
		return NULL;
	memmove(r + 1, r, (t->nr++ - low) * sizeof(*r));
	*r = (struct thread_row){
		.tid = tid,
		.executor = executor_of(t->t, tid),
	};
	read_file(tid, "comm", r->name, sizeof(r->name));
	return r;
}

static void tell_thread(const struct thread_row *r, struct trace_file *f,
			uint64_t ticks)
{
	chunk_begin(f, LKDF_CHUNK_THREADS);
	chunk_number(f, r->executor);
	chunk_number(f, r->tid);
	chunk_number(f, ticks);
	chunk_number(f, r->cpu_ns);
	chunk_number(f, r->queue_ns);
	chunk_number(f, r->times);
	chunk_text(f, r->name);
	chunk_number(f, r->system_ns);
	chunk_number(f, r->faults);
	chunk_end(f);
}

/* Faults and time in the kernel; the name before them may hold anything. */
static void read_kernel(struct thread_row *r)
{
	unsigned long long faults, user, system, hz;
	char text[512];
	const char *rest;

	if (!read_file(r->tid, "stat", text, sizeof(text)))
		return;
	rest = strrchr(text, ')');
	hz = (unsigned long long)sysconf(_SC_CLK_TCK);
	if (!rest || !hz ||
	    sscanf(rest + 1,
		   " %*c %*d %*d %*d %*d %*d %*u %llu %*u %*u %*u %llu %llu",
		   &faults, &user, &system) != 3)
		return;
	r->faults = faults;
	r->system_ns = system * (1000000000ull / hz);
}

static void sample_one(struct threads *t, struct trace_file *f, uint64_t ticks,
		       uint32_t tid, bool all)
{
	unsigned long long cpu, queue, times;
	struct thread_row *r = row_of(t, tid);
	char text[96];

	if (!r)
		return;
	r->round = t->round;
	if (!read_file(tid, "schedstat", text, sizeof(text)) ||
	    sscanf(text, "%llu %llu %llu", &cpu, &queue, &times) != 3)
		return;
	if (!all && cpu == r->cpu_ns && queue == r->queue_ns &&
	    times == r->times)
		return;
	/* It may have been seen before it said which one it is, and another
	 * thread may sit there by now. */
	r->executor = executor_of(t->t, tid);
	r->cpu_ns = cpu;
	r->queue_ns = queue;
	r->times = times;
	read_kernel(r);
	tell_thread(r, f, ticks);
}

/* A number that is used again is another thread's. */
static void forget_gone(struct threads *t)
{
	uint32_t i, nr = 0;

	for (i = 0; i < t->nr; i++)
		if (t->rows[i].round == t->round)
			t->rows[nr++] = t->rows[i];
	t->nr = nr;
}

void threads_sample(struct threads *t, struct trace_file *f, uint64_t ticks,
		    bool all)
{
	DIR *dir = t->rows ? opendir("/proc/self/task") : NULL;
	struct dirent *d;
	unsigned long tid;

	if (!dir)
		return;
	t->round++;
	while ((d = readdir(dir))) {
		tid = strtoul(d->d_name, NULL, 10);
		if (tid)
			sample_one(t, f, ticks, (uint32_t)tid, all);
	}
	closedir(dir);
	forget_gone(t);
}

void trace_sit(struct trace_ring *r, uint32_t tid)
{
	_Atomic(uint32_t) *told = (_Atomic(uint32_t) *)(void *)&r->block->tid;
	uint32_t seq = a_load(&r->start_seq, relaxed) + 1;

	a_store(told, tid, relaxed);
	a_store(&r->tid, tid, relaxed);
	told = (_Atomic(uint32_t) *)(void *)&r->block->start_seq;
	/* [trace.start] who it is; pairs with [trace.who]. */
	a_store(told, seq, release);
	a_store(&r->start_seq, seq, release);
}
