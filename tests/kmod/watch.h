/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Memory that is watched, and what is known of it without the module: the
 * oracle is /proc/self/pagemap. A page that has another frame than before, or
 * none, must be in a block that is marked, whatever moved it.
 */
#ifndef LKDF_TESTS_KMOD_WATCH_H
#define LKDF_TESTS_KMOD_WATCH_H

#include "device.h"

#include <sched.h>
#include <sys/mount.h>
#include <time.h>

#define STALE LKDF_BLOCK_STALE
#define NR_FRAMES 8192

static unsigned node[2];
static struct device d;
static struct reader r;
static char *m;
static size_t len;
static uint64_t frames[NR_FRAMES];

/* Frame of each page; 0 where nothing is present. */
static inline void read_frames(uint64_t *out)
{
	int fd = open("/proc/self/pagemap", O_RDONLY);
	size_t i, nr = len / PAGE;

	ASSERT(fd >= 0);
	ASSERT(nr <= NR_FRAMES);
	ASSERT_EQ(pread(fd, out, nr * 8, (uintptr_t)m / PAGE * 8), nr * 8);
	for (i = 0; i < nr; i++) {
		if (out[i] >> 63)
			out[i] &= (1ULL << 55) - 1;
		else
			out[i] = 0;
	}
	close(fd);
}

/* Watches m: a map with the truth at this moment, and the frames. */
static inline void watch_now(unsigned shift)
{
	d = make_device(1, 16384);
	r = watch(&d, m, len, shift);
	ASSERT(refresh(&d, &r, 0) > 0);
	read_frames(frames);
	if (frames[0] == 0)
		SKIP("frame numbers are for root only");
}

static inline void prepare(size_t size, unsigned shift)
{
	two_nodes(node);
	len = size;
	m = small_memory(len);
	touch_on(m, len, node[0]);
	watch_now(shift);
}

/* Return: pages that changed; those in blocks without a mark are errors. */
static inline unsigned check_marks(void)
{
	static uint64_t now[NR_FRAMES];
	unsigned moved = 0, hidden = 0;
	size_t i;

	read_frames(now);
	for (i = 0; i < len / PAGE; i++) {
		if (now[i] == frames[i])
			continue;
		moved++;
		hidden += reader_settled(&r, m + i * PAGE) >= 0;
	}
	EXPECT_EQ(hidden, 0);
	return moved;
}

static inline unsigned word(size_t offset)
{
	return reader_word(&r, m + offset);
}

static inline void refresh_stale(void)
{
	ASSERT(refresh(&d, &r, LKDF_KMOD_STALE_ONLY) >= 0);
}

static inline int pin_to_node(unsigned n)
{
	unsigned cpus[16], nr;
	char path[80];
	cpu_set_t set;

	snprintf(path, sizeof(path), "/sys/devices/system/node/node%u/cpulist",
		 n);
	nr = read_list(path, cpus, 16);
	CPU_ZERO(&set);
	while (nr && nr <= 16)
		CPU_SET(cpus[--nr], &set);
	return sched_setaffinity(0, sizeof(set), &set);
}

static inline void pace_autonuma(long delay_ms, long min_ms, long max_ms)
{
	const char *dir = "/sys/kernel/debug/sched/numa_balancing/";

	set_number(dir, "scan_delay_ms", delay_ms);
	set_number(dir, "scan_period_min_ms", min_ms);
	set_number(dir, "scan_period_max_ms", max_ms);
}

static inline void hurry_autonuma(void)
{
	mount("debug", "/sys/kernel/debug", "debugfs", 0, NULL);
	pace_autonuma(10, 50, 100);
	write_text("/proc/sys/kernel/numa_balancing", "1");
}

/* As it was. In a hurry it would hint pages that other tests count. */
static inline void calm_autonuma(long before)
{
	pace_autonuma(1000, 1000, 60000);
	write_text("/proc/sys/kernel/numa_balancing", before ? "1" : "0");
}

#endif
