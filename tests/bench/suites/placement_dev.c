/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The memory and the device of lkdf bench placement. There is one region, with
 * blocks of 2 MiB, no more than that: the library's own use of the device is
 * another.
 */
#include "kmod/uapi/lkdf_kmod.h"
#include "tests/bench/suites/placement.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define MOST_TRIES 1000

unsigned place_two_nodes(int node[2])
{
	FILE *file = fopen("/sys/devices/system/node/has_memory", "re");
	unsigned nr = 0;
	int a, b, c = ',';

	while (file && c == ',' && fscanf(file, "%d", &a) == 1) {
		b = a;
		c = fgetc(file);
		if (c == '-' && fscanf(file, "%d", &b) == 1)
			c = fgetc(file);
		for (; a <= b && nr < 2; a++)
			node[nr++] = a;
	}
	if (file)
		fclose(file);
	return nr;
}

int place_memory(struct place *p, size_t len, int advice)
{
	size_t i, extra;

	*p = (struct place){ .fd = -1,
			     .len = len,
			     .page = (size_t)sysconf(_SC_PAGESIZE),
			     .whole_len = len + 3 * PLACE_BLOCK };
	/*
	 * Memory around it that is not usable keeps the kernel from joining it
	 * with what others have mapped: numa_maps has a line of its own for it.
	 */
	p->whole = mmap(NULL, p->whole_len, PROT_NONE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p->whole == MAP_FAILED) {
		p->whole = NULL;
		return bench_fail(-ENOMEM, "no memory of %zu MiB", len >> 20);
	}
	extra = -(uintptr_t)p->whole & (PLACE_BLOCK - 1);
	p->mem = p->whole + PLACE_BLOCK + extra;
	if (mprotect(p->mem, len, PROT_READ | PROT_WRITE))
		return bench_fail(-ENOMEM, "no memory of %zu MiB", len >> 20);
	madvise(p->mem, len, advice);
	for (i = 0; i < len; i += p->page)
		*(volatile char *)(p->mem + i) = 1;
	p->own_words = calloc(len >> PLACE_BLOCK_SHIFT, sizeof(uint16_t));
	p->words = p->own_words;
	return p->words ? 0 : bench_fail(-ENOMEM, "no memory for a map");
}

static void say_why(struct place *p, const char *what, int err)
{
	const char *hint = strerror(err);

	if (err == ENOENT)
		hint = "the module is not loaded";
	else if (err == EACCES)
		hint = "only for root and the group lkdf";
	else if (err == ENOMEM)
		hint = "no memory, or ulimit -l";
	snprintf(p->why, sizeof(p->why), "%s: %s", what, hint);
}

static int open_map(struct place *p)
{
	struct lkdf_kmod_setup setup = { .size = sizeof(setup),
					 .nr_regions = 1 };
	int err;

	setup.nr_blocks = (uint32_t)(p->len >> PLACE_BLOCK_SHIFT);
	if (ioctl(p->fd, LKDF_KMOD_SETUP, &setup)) {
		say_why(p, "SETUP", errno);
		return -1;
	}
	p->map_bytes = setup.map_bytes;
	p->map = mmap(NULL, p->map_bytes, PROT_READ, MAP_SHARED, p->fd, 0);
	if (p->map != MAP_FAILED)
		return 0;
	err = errno;
	p->map = NULL;
	say_why(p, "mmap", err);
	return -1;
}

void place_device(struct place *p)
{
	p->fd = open(LKDF_KMOD_DEVICE, O_RDWR | O_CLOEXEC);
	if (p->fd < 0) {
		say_why(p, "no " LKDF_KMOD_DEVICE, errno);
		return;
	}
	if (open_map(p) || place_watch(p)) {
		close(p->fd);
		p->fd = -1;
	}
}

void place_drop(struct place *p)
{
	if (p->map)
		munmap(p->map, p->map_bytes);
	if (p->fd >= 0)
		close(p->fd);
	if (p->whole)
		munmap(p->whole, p->whole_len);
	free(p->own_words);
	*p = (struct place){ .fd = -1 };
}

int place_watch(struct place *p)
{
	struct lkdf_kmod_region req = { .size = sizeof(req),
					.addr = (uintptr_t)p->mem,
					.len = p->len,
					.block_shift = PLACE_BLOCK_SHIFT };
	const struct lkdf_map_header *header = p->map;
	int rc;

	/* The first one of a process ends at any signal. */
	do {
		rc = ioctl(p->fd, LKDF_KMOD_ADD, &req);
	} while (rc && errno == EINTR);
	if (rc) {
		rc = -errno;
		say_why(p, "ADD", errno);
		return rc;
	}
	p->id = req.id;
	p->desc = (const void *)((const char *)p->map + header->desc_off +
				 (size_t)req.id * header->desc_stride);
	p->words = (const void *)((const char *)p->map + p->desc->blocks_off);
	return 0;
}

void place_unwatch(struct place *p)
{
	struct lkdf_kmod_region req = { .size = sizeof(req), .id = p->id };

	if (ioctl(p->fd, LKDF_KMOD_DEL, &req))
		bench_fail(-errno, "DEL: %s", strerror(errno));
	p->words = p->own_words;
}

long place_refresh(const struct place *p, unsigned flags)
{
	struct lkdf_kmod_refresh req = { .size = sizeof(req),
					 .flags = flags,
					 .id = p->id };
	long walked = 0;
	int tries = 0;

	while (req.resume_block < p->len >> PLACE_BLOCK_SHIFT) {
		if (!ioctl(p->fd, LKDF_KMOD_REFRESH, &req)) {
			walked += req.walked;
			continue;
		}
		if (errno != EAGAIN || ++tries == MOST_TRIES)
			return -errno;
		bench_sleep_ns(1000000);
	}
	return walked;
}

long place_query(const struct place *p)
{
	uint64_t counts[PLACE_NODES];
	struct lkdf_kmod_query q = { .size = sizeof(q),
				     .counts_ptr = (uintptr_t)counts,
				     .nr_counts = PLACE_NODES };
	size_t done = 0;
	long pages = 0;

	while (done < p->len) {
		q.addr = (uintptr_t)p->mem + done;
		q.len = p->len - done;
		if (ioctl(p->fd, LKDF_KMOD_QUERY, &q))
			return -errno;
		pages += (long)q.present;
		done += q.done;
	}
	return pages;
}

unsigned place_huge_blocks(const struct place *p)
{
	unsigned nr = 0;
	size_t i;

	for (i = 0; i < p->len >> PLACE_BLOCK_SHIFT; i++)
		nr += !!(__atomic_load_n(&p->words[i], __ATOMIC_RELAXED) &
			 LKDF_BLOCK_HUGE);
	return nr;
}
