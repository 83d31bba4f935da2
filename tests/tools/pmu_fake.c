/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Loaded before libc: perf_event_open(2) as a machine with counters has it, of
 * one CPU. The samples are those of tests/api/report/tried.py: in each body of
 * the kind "count" of one worker one of cycles for two of instructions, in one
 * of four workers thirty for two, and one miss.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE 4096
#define SIZE (65 * PAGE)

static int first = -1; /* of the CPU */
static int of_fd[1024]; /* config + 1 of each that is ours */

struct sample {
	struct perf_event_header h;
	uint64_t id;
	uint32_t pid, tid;
	uint64_t at;
};

/* It goes around the end of the ring, as put() begins near it. */
static void put(struct perf_event_mmap_page *p, uint64_t config, uint32_t tid,
		uint64_t at)
{
	struct sample s = {
		.h = { PERF_RECORD_SAMPLE, 0, sizeof(s) },
		.id = config + 1,
		.pid = tid,
		.tid = tid,
		.at = at,
	};
	char *ring = (char *)p + PAGE;
	size_t i;

	for (i = 0; i < sizeof(s); i++)
		ring[(p->data_head + i) % (64 * PAGE)] = ((char *)&s)[i];
	p->data_head += sizeof(s);
}

static void fill(int fd)
{
	const char *text = getenv("LKDF_WORKERS"), *dir = getenv("FAKE_BODIES");
	int many = text && strcmp(text, "1"), i;
	char path[4096];
	struct perf_event_mmap_page *p =
		mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	unsigned tid;
	uint64_t begin = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s.bodies", dir ? dir : ".",
		 many ? "together_memory" : "alone");
	f = fopen(path, "r");
	if (p == MAP_FAILED || !f)
		abort();
	p->data_head = p->data_tail = 64 * PAGE - 20;
	while (fscanf(f, "%u %llu", &tid, (unsigned long long *)&begin) == 2) {
		for (i = 0; i < (many ? 30 : 1); i++)
			put(p, PERF_COUNT_HW_CPU_CYCLES, tid, begin);
		for (i = 0; i < 2; i++)
			put(p, PERF_COUNT_HW_INSTRUCTIONS, tid, begin);
		put(p, PERF_COUNT_HW_CACHE_MISSES, tid, begin);
	}
	/* Of no body and of no thread of the recording. */
	put(p, PERF_COUNT_HW_CPU_CYCLES, 1000, 1);
	put(p, PERF_COUNT_HW_CPU_CYCLES, 5, begin);
	fclose(f);
	munmap(p, SIZE);
}

long syscall(long number, ...)
{
	long (*next)(long, ...) =
		(long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	const struct perf_event_attr *attr;
	long a[6];
	va_list ap;
	int i, fd;

	va_start(ap, number);
	for (i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (number != SYS_perf_event_open)
		return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	attr = (const void *)a[0];
	if (getenv("FAKE_REFUSES")) {
		errno = EACCES;
		return -1;
	}
	/* The other CPUs are offline. */
	if ((int)a[2] != 0) {
		errno = ENODEV;
		return -1;
	}
	fd = memfd_create("pmu", 0);
	if (fd < 0 || fd >= 1024 || ftruncate(fd, SIZE))
		abort();
	of_fd[fd] = (int)attr->config + 1;
	if (attr->config == PERF_COUNT_HW_CPU_CYCLES) {
		first = fd;
		fill(fd);
	}
	return fd;
}

int ioctl(int fd, unsigned long word, ...)
{
	int (*next)(int, unsigned long, ...) =
		(int (*)(int, unsigned long, ...))dlsym(RTLD_NEXT, "ioctl");
	va_list ap;
	void *arg;

	va_start(ap, word);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (word == PERF_EVENT_IOC_ID) {
		*(uint64_t *)arg = (uint64_t)of_fd[fd];
		return 0;
	}
	if (word == PERF_EVENT_IOC_SET_OUTPUT)
		return (int)(intptr_t)arg == first ? 0 : -1;
	return next(fd, word, arg);
}
