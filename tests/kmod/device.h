/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What the tests of /dev/lkdf share: calls with the sizes filled in, memory on
 * chosen nodes, the nodes of the machine. Failures end the test.
 */
#ifndef LKDF_TESTS_KMOD_DEVICE_H
#define LKDF_TESTS_KMOD_DEVICE_H

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "harness.h"
#include "reader.h"

#define PAGE 4096UL
#define MIB (1UL << 20)
#define HUGE_SHIFT 21
#define HUGE_SIZE (1UL << HUGE_SHIFT)
#define MAX_NODES 64

struct device {
	int fd;
	char *map;
	size_t map_bytes;
	unsigned nr_nodes;
};

static inline int open_device(void)
{
	int fd = open(LKDF_KMOD_DEVICE, O_RDWR | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT)
		SKIP("no %s: the module is not loaded", LKDF_KMOD_DEVICE);
	ASSERT(fd >= 0);
	return fd;
}

static inline int call_setup(int fd, unsigned nr_regions, unsigned nr_blocks,
			     uint64_t *bytes)
{
	struct lkdf_kmod_setup req = { .size = sizeof(req),
				       .nr_regions = nr_regions,
				       .nr_blocks = nr_blocks };
	int rc = ioctl(fd, LKDF_KMOD_SETUP, &req);

	if (rc == 0 && bytes)
		*bytes = req.map_bytes;
	return rc;
}

/* Opened, set up, mapped. */
static inline struct device make_device(unsigned nr_regions, unsigned nr_blocks)
{
	struct device d = { .fd = open_device() };
	uint64_t bytes = 0;

	ASSERT_EQ(call_setup(d.fd, nr_regions, nr_blocks, &bytes), 0);
	d.map = mmap(NULL, bytes, PROT_READ, MAP_SHARED, d.fd, 0);
	ASSERT(d.map != MAP_FAILED);
	d.map_bytes = bytes;
	d.nr_nodes = ((struct lkdf_map_header *)d.map)->nr_nodes;
	return d;
}

/* Return: the id, or -1 and errno. */
static inline int call_add(int fd, const void *addr, size_t len, unsigned shift)
{
	struct lkdf_kmod_region req = { .size = sizeof(req),
					.addr = (uintptr_t)addr,
					.len = len,
					.block_shift = shift,
					.cookie = (uintptr_t)addr ^ len };

	return ioctl(fd, LKDF_KMOD_ADD, &req) ? -1 : (int)req.id;
}

static inline int call_del(int fd, unsigned id)
{
	struct lkdf_kmod_region req = { .size = sizeof(req), .id = id };

	return ioctl(fd, LKDF_KMOD_DEL, &req);
}

static inline struct reader reader_of(const struct device *d, int id)
{
	const struct lkdf_map_header *header = (void *)d->map;
	struct lkdf_map_desc *desc;
	struct reader r;

	desc = (void *)(d->map + header->desc_off +
			(size_t)id * header->desc_stride);
	r.desc = desc;
	r.words = (void *)(d->map + desc->blocks_off);
	r.start = desc->start;
	r.shift = desc->block_shift;
	return r;
}

/* The region of an address range, added. */
static inline struct reader watch(const struct device *d, const void *addr,
				  size_t len, unsigned shift)
{
	int id = call_add(d->fd, addr, len, shift);

	ASSERT(id >= 0);
	return reader_of(d, id);
}

static inline int id_of(const struct device *d, const struct reader *r)
{
	const struct lkdf_map_header *header = (void *)d->map;

	return ((char *)r->desc - d->map - header->desc_off) /
	       header->desc_stride;
}

/*
 * A whole pass; where pages move too fast, once more after a pause.
 * Return: blocks looked at, or -1 and errno.
 */
static inline long refresh_id(int fd, unsigned id, unsigned flags,
			      unsigned nr_blocks)
{
	struct lkdf_kmod_refresh req = { .size = sizeof(req),
					 .flags = flags,
					 .id = id };
	long walked = 0;
	int tries = 0;

	while (req.resume_block < nr_blocks) {
		if (ioctl(fd, LKDF_KMOD_REFRESH, &req)) {
			if (errno != EAGAIN || tries++ == 1000)
				return -1;
			usleep(1000);
			continue;
		}
		walked += req.walked;
	}
	return walked;
}

static inline long refresh(const struct device *d, const struct reader *r,
			   unsigned flags)
{
	return refresh_id(d->fd, id_of(d, r), flags, r->desc->nr_blocks);
}

/* Return: 0, or -1 and errno; counts in req, pages by node in counts. */
static inline int call_query(int fd, const void *addr, size_t len,
			     struct lkdf_kmod_query *req, uint64_t *counts)
{
	memset(req, 0, sizeof(*req));
	req->size = sizeof(*req);
	req->addr = (uintptr_t)addr;
	req->len = len;
	req->counts_ptr = (uintptr_t)counts;
	req->nr_counts = counts ? MAX_NODES : 0;
	return ioctl(fd, LKDF_KMOD_QUERY, req);
}

static inline char *map_memory(size_t len, size_t align)
{
	char *mem = mmap(NULL, len + align, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	ASSERT(mem != MAP_FAILED);
	return mem + (-(uintptr_t)mem & (align - 1));
}

/* Small pages; aligned for huge ones. */
static inline char *small_memory(size_t len)
{
	char *mem = map_memory(len, HUGE_SIZE);

	madvise(mem, len, MADV_NOHUGEPAGE);
	return mem;
}

/* New pages of the range come from this node. */
static inline void bind_memory(void *addr, size_t len, unsigned node)
{
	unsigned long mask = 1UL << node;

	ASSERT_EQ(syscall(SYS_mbind, addr, len, 2, &mask, MAX_NODES, 0), 0);
}

static inline void touch(char *addr, size_t len)
{
	size_t i;

	for (i = 0; i < len; i += PAGE)
		__atomic_store_n(addr + i, 1, __ATOMIC_RELAXED);
}

static inline void touch_on(char *addr, size_t len, unsigned node)
{
	bind_memory(addr, len, node);
	touch(addr, len);
}

/* Moves every step-th byte's page. Return: pages that are on node then. */
static inline int move_memory(char *addr, size_t len, size_t step, int node)
{
	size_t nr = len / step, i;
	void **pages = calloc(nr, sizeof(*pages));
	int *nodes = calloc(nr, sizeof(*nodes));
	int *status = calloc(nr, sizeof(*status));
	int there = 0;

	for (i = 0; i < nr; i++) {
		pages[i] = addr + i * step;
		nodes[i] = node;
		status[i] = -1;
	}
	syscall(SYS_move_pages, 0, nr, pages, nodes, status, 2);
	for (i = 0; i < nr; i++)
		there += status[i] == node;
	free(pages);
	free(nodes);
	free(status);
	return there;
}

/* Reads a list such as 0-1,3. Return: how many, the first max in out. */
static inline unsigned read_list(const char *path, unsigned *out, unsigned max)
{
	FILE *file = fopen(path, "r");
	unsigned nr = 0, a, b;
	int c = ',';

	while (file && c == ',' && fscanf(file, "%u", &a) == 1) {
		b = a;
		c = fgetc(file);
		if (c == '-' && fscanf(file, "%u", &b) == 1)
			c = fgetc(file);
		for (; a <= b; a++) {
			if (nr < max)
				out[nr] = a;
			nr++;
		}
	}
	if (file)
		fclose(file);
	return nr;
}

/* Two nodes that have memory. */
static inline void two_nodes(unsigned node[2])
{
	if (read_list("/sys/devices/system/node/has_memory", node, 2) < 2)
		SKIP("fewer than two nodes with memory");
}

static inline void write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0)
		return;
	if (write(fd, text, strlen(text)) < 0)
		printf("# %s: %s\n", path, strerror(errno));
	close(fd);
}

static inline long read_number(const char *path)
{
	FILE *file = fopen(path, "r");
	long n = -1;

	if (file && fscanf(file, "%ld", &n) != 1)
		n = -1;
	if (file)
		fclose(file);
	return n;
}

/* Return: what a number of the kernel was; -1: there is none. -1 leaves it. */
static inline long set_number(const char *dir, const char *name, long value)
{
	char path[120], text[20];
	long before;

	snprintf(path, sizeof(path), "%s%s", dir, name);
	before = read_number(path);
	snprintf(text, sizeof(text), "%ld", value);
	if (before >= 0 && value >= 0)
		write_text(path, text);
	return before;
}

#endif
