/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Places: where code runs and bytes lie. Memory of a place comes from an
 * allocator of the runtime's own, and a block goes back to the node that it
 * came from, no matter which thread frees it.
 *
 * Looking up places, lkdf_alloc() and lkdf_free() work in a forked child, too.
 */
#ifndef LKDF_PLACE_H
#define LKDF_PLACE_H

#include <lkdf/base.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum lkdf_place_kind {
	LKDF_PLACE_NODE = 1, /* a NUMA node */
	LKDF_PLACE_IO = 2, /* not built yet */
	LKDF_PLACE_GPU = 4, /* a device that a back end of the library brings */
	LKDF_PLACE_USER = 8, /* a device of the user's, see device.h */
};

enum lkdf_mem_kind {
	LKDF_MEM_OWN, /* on the place's node, or of the device */
	LKDF_MEM_HOST_PINNED, /* on the node, and locked: never paged out. The
			       * driver of a device with pin knows it */
	LKDF_MEM_MANAGED, /* one address for a device and the host */
	LKDF_MEM_INTERLEAVED, /* page by page over all nodes with memory */
	LKDF_MEM_EXPORTED, /* to alloc of a device, see LKDF_DEVICE_EXPORTS */
};

/**
 * lkdf_places() - list places
 * @rt:    runtime
 * @kinds: LKDF_PLACE_* bits; 0: all kinds that are built. Nodes come first,
 *         then devices in the order in which they were registered
 * @v:     receives up to @nr places; may be NULL where @nr is 0
 * @nr:    room in @v
 *
 * Context: any thread, does not block.
 * With LKDF_PLACE_GPU lkdf_errmsg() says why a driver gave no device, why one
 * of its devices is no place, or what a device lacks.
 * Return: how many there are, which may be more than @nr; -EINVAL; -EOPNOTSUPP
 * a kind that is not built, by name.
 */
int lkdf_places(struct lkdf *rt, uint32_t kinds, struct lkdf_place **v,
		unsigned nr);

/**
 * lkdf_place_node() - the place of a NUMA node
 * @rt:   runtime
 * @node: the system's number, as "numactl -H" and "lkdf topo" show it
 *
 * Context: any thread, does not block.
 * Return: place, which belongs to the runtime and lives until it closes; NULL:
 * there is no such node, or this process may use neither its CPUs nor its
 * memory (lkdf_errmsg() lists those there are).
 */
struct lkdf_place *lkdf_place_node(struct lkdf *rt, int node);

/**
 * lkdf_place_part() - one of several equal parts of a place's workers
 * @p:   node or part
 * @num: 0 .. @den - 1: which one
 * @den: 1 .. 1024: how many
 * @out: the part; untouched on failure
 *
 * If @p has n workers, in the order of their CPUs, part @num has those from
 * floor(@num n / @den) up to the one before floor((@num + 1) n / @den), and one
 * worker at least: with more parts than workers several parts have one and the
 * same worker. A part with all workers of @p is @p itself, which a place of one
 * worker or of none always is; two parts with equal workers are one place. A
 * part's memory, number and distance are its node's. lkdf_places() lists no
 * parts. A part belongs to the runtime and lives until it closes.
 *
 * A task with LKDF_PINNED runs on workers of the part only; one without runs
 * there first, and idle workers elsewhere may take it. Such tasks wait in two
 * queues for each part, in the order in which they got ready, whatever their
 * priority, and a worker takes one at a time. In
 * a graph a task that is placed on a part takes memory for each run, as one of
 * a kind with a limit does.
 *
 * While the process has fewer CPUs than workers, each part keeps one worker
 * that goes on running.
 *
 * Context: any thread, does not block.
 * Return: 0; -EINVAL; -ENOMEM; -ENOSPC 4096 parts of different workers exist
 * in the runtime; -EOWNERDEAD in a forked child.
 */
int lkdf_place_part(struct lkdf_place *p, unsigned num, unsigned den,
		    struct lkdf_place **out);

/**
 * lkdf_place_distance() - how far memory is, as the firmware says
 * @a: place whose CPUs read
 * @b: place whose memory is read; a device counts as its node
 *
 * Return: 10 is local, 20 costs about twice as much; not always symmetric;
 * -EINVAL NULL, or places of different runtimes.
 */
int lkdf_place_distance(const struct lkdf_place *a, const struct lkdf_place *b);

/**
 * lkdf_place_id() - the system's number of the node or device
 * @p: place
 *
 * Devices are numbered from 0 on in the order in which they were registered.
 *
 * Return: number >= 0; -EINVAL @p is NULL.
 */
int lkdf_place_id(const struct lkdf_place *p);

/**
 * lkdf_alloc() - memory on a place
 * @p:     place; LKDF_MEM_INTERLEAVED: any place of the runtime
 * @m:     which memory
 * @bytes: 1 .. 2^46
 * @align: power of two up to 2^30; at least 64 is given, 0: 64
 * @label: what the block is called in reports, copied, at most 63 bytes; NULL
 *         or "": nothing
 * @out:   the block, not zeroed; lkdf_free() takes it back
 *
 * Where a node has no memory left the nearest node that has some serves, unless
 * the option memory_strict is set. The option memory_limit bounds each node.
 * Pinned memory is locked in steps of 4 MiB; in a forked child it is not
 * locked.
 *
 * On a device with memory of its own LKDF_MEM_OWN gives an address that is good
 * for lkdf_copy(), lkdf_block(), lkdf_realloc() and lkdf_free(): the host
 * faults where it touches it. lkdf_block() says by what the device knows the
 * block; kernels get that as a value. Copies of data make room for it, and the
 * call waits for kernels under way where that is not enough. Kernels have the
 * rest of the device's memory. A managed block of a device has at most 90 % of
 * what is free there. On a device with the host's memory all kinds are that of
 * its node.
 * @align is at most 4096 on a device.
 *
 * Context: any thread; may map memory. On a device not in choose() and
 * enqueue(), nor in a forked child.
 * Return: 0; -EINVAL; -EOPNOTSUPP LKDF_MEM_MANAGED on a node, or on a device
 * that has none; -ENOMEM no memory, the limit, or a node without memory; -EPERM
 * pinned memory is not allowed to this process; -ENODEV the device is lost;
 * -EDEADLK in choose() or enqueue(); what alloc or pin of the device returned.
 */
int lkdf_alloc(struct lkdf_place *p, enum lkdf_mem_kind m, uint64_t bytes,
	       uint64_t align, const char *label, void **out);

/**
 * lkdf_free() - give a block back
 * @rt: runtime it was allocated in
 * @p:  what lkdf_alloc() gave, or NULL
 *
 * The library does not follow an address that is no such block, or whose block
 * is free already: it reports the address to the log as an error, and in
 * lkdf_errmsg(). When the runtime closes, the library reports blocks that are
 * not freed, by label, and frees their memory.
 *
 * Context: any thread.
 */
void lkdf_free(struct lkdf *rt, void *p);

struct lkdf_block_info {
	uint32_t size, mem; /* mem: enum lkdf_mem_kind */
	struct lkdf_place *place; /* NULL: LKDF_MEM_INTERLEAVED */
	void *base; /* as lkdf_alloc() gave it */
	void *device_ptr; /* as the device knows it: what its alloc gave, such
			   * as a cl_mem. Memory of the host: base */
	uint64_t bytes; /* asked for; on a node as taken */
	uint64_t taken; /* what it takes with its rounding */
	char label[64]; /* "": none */
};

/**
 * lkdf_block() - what is known of an address
 * @rt:  runtime
 * @p:   in a block of lkdf_alloc(), of whatever place; the library does not
 *       follow it
 * @out: size set by the caller
 *
 * Context: any thread, does not block.
 * Return: 0; -ENOENT no block that is in use; -EINVAL.
 */
int lkdf_block(struct lkdf *rt, const void *p, struct lkdf_block_info *out);

/**
 * lkdf_realloc() - a block of another size
 * @rt:    runtime
 * @p:     of lkdf_alloc()
 * @bytes: 1 .. 2^46
 * @out:   the block, which may have moved, with what both have in common and
 *         the same label; @p is gone where it differs
 *
 * A block on a node keeps an alignment of 64 bytes, not a larger one. For a
 * block of a device the library takes another block and copies the bytes by way
 * of the host.
 *
 * Context: any thread, of a device's own memory not in a body.
 * Return: 0; -EINVAL; -ENOENT no block; -ENOMEM, @p is as it was;
 * -EDEADLK in a body, of a device; as lkdf_alloc() and lkdf_copy().
 */
int lkdf_realloc(struct lkdf *rt, void *p, uint64_t bytes, void **out);

/**
 * lkdf_first_touch() - initialise a big array, spread over the nodes
 * @rt:    runtime
 * @p:     array whose pages were not touched yet: those that were stay
 * @bytes: its size
 * @grain: pieces begin at multiples of it from @p on, so that none begins
 *         inside an element of that size; 0: 1
 * @fn:    initialises @bytes at @at, many pieces at once on different threads;
 *         < 0: failed with that errno. NULL: zeroes
 * @u:     for @fn
 *
 * Nodes that have workers get one contiguous part each, in proportion to their
 * workers, in the order of their numbers; each part is written by workers of
 * its node, so that its pages come to lie there.
 *
 * Context: any thread that is not in a body; waits.
 * Return: 0; -EINVAL; -EDEADLK in a body; -ENOMEM; the first error of @fn,
 * pieces not yet begun are left out then.
 */
int lkdf_first_touch(struct lkdf *rt, void *p, uint64_t bytes, uint64_t grain,
		     int (*fn)(void *at, uint64_t bytes, void *u), void *u);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
