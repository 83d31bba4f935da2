/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "signal/src_kmod.h"

#include "base/own_fd.h"
#include "base/util.h"
#include "mem/pages_ask.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

/* Blocks of all ranges; the kernel charges for them, so less may be had. */
#define MAX_BLOCKS (BOARD_RANGES * BOARD_BLOCKS)
#define MIN_BLOCKS 2048

/* Calls of one look: each of them is bounded by the kernel. */
#define MAX_CALLS 16

/* Signals in the midst of one call. */
#define MAX_SIGNALS 100

struct kmod {
	struct own_fd fd;
	bool can_poll;
	char *map;
	size_t bytes;
	uint64_t cookie;
	uint64_t page_size, max_query; /* bytes */
};

/* Words that other threads and the kernel write are read as atomics. */
struct desc {
	const _Atomic(uint32_t) *state, *nr_stale, *all_stale;
	const struct lkdf_map_desc *fixed; /* written before state */
};

/* A signal ends the first ADD or QUERY of a process: again, but not for ever.
 */
static int call_kernel(int fd, unsigned long request, void *arg)
{
	int rc, tries = 0;

	do {
		rc = ioctl(fd, request, arg) ? -errno : 0;
	} while (rc == -EINTR && ++tries < MAX_SIGNALS);
	return rc;
}

static const struct lkdf_map_header *header_of(const struct kmod *k)
{
	return (const struct lkdf_map_header *)k->map;
}

static struct desc desc_of(const struct kmod *k, unsigned id)
{
	const struct lkdf_map_header *h = header_of(k);
	const char *at = k->map + h->desc_off + (size_t)id * h->desc_stride;
	const struct lkdf_map_desc *d = (const void *)at;

	return (struct desc){
		.state = (const _Atomic(uint32_t) *)&d->state,
		.nr_stale = (const _Atomic(uint32_t) *)&d->nr_stale,
		.all_stale = (const _Atomic(uint32_t) *)&d->all_stale,
		.fixed = d,
	};
}

/* ---- ranges -------------------------------------------------------------- */

static void delete_region(struct board *b, unsigned id)
{
	struct lkdf_kmod_region req = { .size = sizeof(req), .id = id };
	struct kmod *k = b->own;

	b->call(k->fd.fd, LKDF_KMOD_DEL, &req);
}

/* In larger blocks where there is no room for so many. */
static int add_region(struct board *b, struct lkdf_kmod_region *req)
{
	struct kmod *k = b->own;
	int rc;

	do {
		rc = b->call(k->fd.fd, LKDF_KMOD_ADD, req);
	} while (rc == -ENOSPC && req->len >> req->block_shift++);
	return rc;
}

/* The region as the map has it: is it ours, and inside of the map? */
static bool is_right(const struct board *b, const struct lkdf_kmod_region *req)
{
	const struct kmod *k = b->own;
	const struct lkdf_map_header *h = header_of(k);
	struct desc d;

	if (req->id >= h->nr_regions || req->id >= BOARD_RANGES ||
	    a_load(&b->range[req->id].nr, relaxed))
		return false;
	d = desc_of(k, req->id);
	/* [kmod.live] the fields, which the kernel releases, map.live there;
	 * pairs with itself. */
	return a_load(d.state, acquire) == LKDF_MAP_LIVE &&
	       d.fixed->cookie == req->cookie && d.fixed->nr_blocks &&
	       d.fixed->blocks_off >= h->blocks_off &&
	       (d.fixed->blocks_off - h->blocks_off) / 2 + d.fixed->nr_blocks <=
		       b->nr_words &&
	       d.fixed->nr_blocks <= BOARD_BLOCKS;
}

static int kmod_add(struct board *b, uint64_t start, uint64_t bytes,
		    unsigned shift)
{
	struct kmod *k = b->own;
	struct lkdf_kmod_region req = {
		.size = sizeof(req),
		.addr = start,
		.len = bytes,
		.block_shift = shift,
		.cookie = ++k->cookie,
	};
	struct board_range *r;
	struct desc d;
	int rc;

	if (a_load(&b->nr_ranges, relaxed) >= header_of(k)->nr_regions)
		return -ENOSPC;
	rc = add_region(b, &req);
	if (rc)
		return rc;
	if (!is_right(b, &req)) {
		delete_region(b, req.id);
		return -EPROTO;
	}
	r = &b->range[req.id];
	d = desc_of(k, req.id);
	a_store(&r->start, start, relaxed);
	a_store(&r->shift, (uint8_t)d.fixed->block_shift, relaxed);
	a_store(&r->first,
		(uint32_t)((d.fixed->blocks_off - header_of(k)->blocks_off) /
			   2),
		relaxed);
	board_set_blocks(b, req.id, d.fixed->nr_blocks);
	return (int)req.id;
}

/* ---- looks --------------------------------------------------------------- */

static void kmod_begin(struct board *b)
{
	(void)b;
}

static bool kmod_is_stale(const struct board *b, unsigned id)
{
	struct desc d = desc_of(b->own, id);

	/* [kmod.all] the marks of single blocks, which the kernel releases,
	 * map.all there; pairs with itself. */
	return a_load(d.all_stale, acquire) || a_load(d.nr_stale, relaxed);
}

static void copy_words(const struct board *b, const struct board_range *r,
		       uint16_t *to)
{
	uint32_t first = a_load(&r->first, relaxed);
	uint32_t nr = a_load(&r->nr, relaxed), i;

	for (i = 0; i < nr; i++)
		to[i] = board_load(b, first + i) &
			(LKDF_BLOCK_NODE | LKDF_BLOCK_EMPTY);
}

static bool kmod_look(struct board *b, unsigned id)
{
	struct lkdf_kmod_refresh req = { .size = sizeof(req),
					 .flags = LKDF_KMOD_STALE_ONLY,
					 .id = id };
	uint16_t before[BOARD_BLOCKS], now[BOARD_BLOCKS];
	struct board_range *r = &b->range[id];
	uint32_t nr = a_load(&r->nr, relaxed);
	struct kmod *k = b->own;
	int i, rc = 0;

	copy_words(b, r, before);
	for (i = 0; i < MAX_CALLS && !rc && req.resume_block < nr; i++)
		rc = b->call(k->fd.fd, LKDF_KMOD_REFRESH, &req);
	copy_words(b, r, now);
	if (memcmp(before, now, nr * sizeof(*now)))
		board_has_changed(b);
	return !rc && req.resume_block >= nr;
}

static void add_pages(const struct lkdf_kmod_query *req, const uint64_t *on,
		      uint64_t page_size, struct pages_tally *t)
{
	uint32_t i;

	for (i = 0; i < req->nr_nodes; i++)
		t->on[i] += on[i] * page_size;
	t->absent += req->zero * page_size;
	t->vague += req->absent * page_size;
}

/* Pages that may not be read have no node: others may know. */
static int kmod_count(const struct board *b, uint64_t start, uint64_t end,
		      struct pages_tally *t)
{
	struct lkdf_kmod_query req = { .size = sizeof(req) };
	const struct kmod *k = b->own;
	uint64_t on[PAGES_MAX_NODES];
	int rc = 0, tries = 0;

	while (start < end && !rc) {
		req.addr = start;
		req.len = min_u64(end - start, k->max_query);
		req.counts_ptr = (uintptr_t)on;
		req.nr_counts = PAGES_MAX_NODES;
		rc = b->call(k->fd.fd, LKDF_KMOD_QUERY, &req);
		if (rc == -EAGAIN && tries++ < MAX_CALLS) {
			rc = 0;
			continue;
		}
		if (rc || req.error || !req.done)
			return rc ? rc : -EFAULT;
		add_pages(&req, on, k->page_size, t);
		start += req.done;
	}
	return rc;
}

static int kmod_fd(const struct board *b)
{
	const struct kmod *k = b->own;

	return k->can_poll ? k->fd.fd : -1;
}

/* ---- open and close ------------------------------------------------------ */

/* In a forked child nothing is mapped there, or something else. */
static void kmod_close(struct board *b, bool is_child)
{
	struct kmod *k = b->own;

	if (k->map && !is_child)
		munmap(k->map, k->bytes);
	own_fd_close(&k->fd);
	free(k);
}

static const struct board_source source = {
	.tier = BOARD_T2,
	.is_exact = true,
	.add = kmod_add,
	.del = delete_region,
	.begin = kmod_begin,
	.is_stale = kmod_is_stale,
	.look = kmod_look,
	.count = kmod_count,
	.fd = kmod_fd,
	.close = kmod_close,
};

/* Why not; NULL: all is well. */
static const char *set_up(struct board *b, struct kmod *k)
{
	struct lkdf_kmod_info info = { .size = sizeof(info) };
	struct lkdf_kmod_setup req = { .size = sizeof(req) };
	int rc;

	rc = b->call(k->fd.fd, LKDF_KMOD_INFO, &info);
	if (rc)
		return strerror(-rc);
	if (info.abi_major != LKDF_KMOD_ABI_MAJOR ||
	    !(info.features & LKDF_KMOD_F_REGION))
		return "another version of the module";
	if (info.min_block_shift > BOARD_MIN_SHIFT)
		return "its blocks are too large";
	k->can_poll = info.features & LKDF_KMOD_F_POLL;
	k->page_size = (uint64_t)1 << info.page_shift;
	k->max_query = info.max_region_bytes / k->page_size * k->page_size;
	req.nr_regions = (uint32_t)min_u64(BOARD_RANGES, info.max_regions);
	req.nr_blocks = (uint32_t)min_u64(MAX_BLOCKS, info.max_blocks);
	do {
		rc = b->call(k->fd.fd, LKDF_KMOD_SETUP, &req);
	} while (rc == -ENOMEM && (req.nr_blocks /= 2) >= MIN_BLOCKS);
	if (rc)
		return rc == -ENOMEM ? "no memory, see ulimit -l"
				     : strerror(-rc);
	k->bytes = req.map_bytes;
	k->map = mmap(NULL, k->bytes, PROT_READ, MAP_SHARED, k->fd.fd, 0);
	if (k->map != MAP_FAILED)
		return NULL;
	k->map = NULL;
	return strerror(errno);
}

/* Is that a map, and all of it there? */
static bool is_map(const struct kmod *k)
{
	const struct lkdf_map_header *h = header_of(k);

	return k->bytes >= sizeof(*h) && h->magic == LKDF_MAP_MAGIC &&
	       h->abi_major == LKDF_KMOD_ABI_MAJOR &&
	       h->desc_stride >= sizeof(struct lkdf_map_desc) &&
	       h->desc_stride % 8 == 0 && h->desc_off % 8 == 0 &&
	       h->desc_off <= k->bytes &&
	       h->nr_regions <= (k->bytes - h->desc_off) / h->desc_stride &&
	       h->blocks_off % 2 == 0 && h->blocks_off <= k->bytes &&
	       h->nr_blocks <= (k->bytes - h->blocks_off) / 2;
}

static int give_up(struct board *b, struct kmod *k, const char *why)
{
	snprintf(b->why, sizeof(b->why), "%s: %s", LKDF_KMOD_DEVICE, why);
	if (k->map)
		munmap(k->map, k->bytes);
	own_fd_close(&k->fd);
	free(k);
	return 1;
}

int src_kmod_open(struct board *b)
{
	struct kmod *k = calloc(1, sizeof(*k));
	const char *why;

	if (!k)
		return -ENOMEM;
	if (!b->call)
		b->call = call_kernel;
	k->fd = own_fd_of(open(b->device ? b->device : LKDF_KMOD_DEVICE,
			       O_RDWR | O_CLOEXEC));
	if (k->fd.fd < 0)
		return give_up(b, k, strerror(errno));
	why = set_up(b, k);
	if (!why && !is_map(k))
		why = "its map is none";
	if (why)
		return give_up(b, k, why);
	b->own = k;
	b->words =
		(const _Atomic(uint16_t) *)(k->map + header_of(k)->blocks_off);
	b->nr_words = (uint32_t)header_of(k)->nr_blocks;
	b->source = &source;
	return 0;
}
