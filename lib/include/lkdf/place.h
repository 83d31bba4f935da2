/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A place is where code runs and memory is: a NUMA node, a part of its workers,
 * or a device. The runtime has an allocator for the memory of places; a block
 * returns to the node that it came from, whichever thread frees it.
 *
 * In a forked child these calls work, too: finding places, lkdf_alloc() and
 * lkdf_free().
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
	LKDF_PLACE_IO = 2, /* reserved for a later version */
	LKDF_PLACE_GPU = 4, /* a device of OpenCL or CUDA, which the library
			     * drives */
	LKDF_PLACE_USER = 8, /* a device that the program registers, see
			      * device.h */
};

enum lkdf_mem_kind {
	LKDF_MEM_OWN, /* memory of the place's node or device */
	LKDF_MEM_HOST_PINNED, /* on the node, locked in memory, and, for a
			       * device with pin, registered with its driver */
	LKDF_MEM_MANAGED, /* one address for a device and the host */
	LKDF_MEM_INTERLEAVED, /* pages in turn on all nodes with memory */
	LKDF_MEM_EXPORTED, /* only as an argument of a device's alloc, see
			    * LKDF_DEVICE_EXPORTS */
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
 * Return: how many places there are, which may be more than @nr; -EINVAL;
 * -EOPNOTSUPP this version does not support a kind, which lkdf_errmsg() names.
 */
int lkdf_places(struct lkdf *rt, uint32_t kinds, struct lkdf_place **v,
		unsigned nr);

/**
 * lkdf_place_node() - the place of a NUMA node
 * @rt:   runtime
 * @node: the number of the node in the system, as "numactl -H" and "lkdf topo"
 *        show it
 *
 * Context: any thread, does not block.
 * Return: the place, owned by the runtime and valid until it closes; NULL:
 * there is no such node, or this process may use neither its CPUs nor its
 * memory (lkdf_errmsg() lists the nodes that exist).
 */
struct lkdf_place *lkdf_place_node(struct lkdf *rt, int node);

/**
 * lkdf_place_part() - get one of several equal parts of a place's workers
 * @p:   node or part
 * @num: 0 .. @den - 1: which one
 * @den: 1 .. 1024: how many
 * @out: the part; untouched on failure
 *
 * Count the n workers of @p in the order of their CPUs. Part @num has the
 * workers floor(@num n / @den) to floor((@num + 1) n / @den) - 1, and at least
 * one: if there are more parts than workers, several parts share a worker. Two
 * parts with the same workers are the same place, and a part with all workers
 * of @p is @p itself; so is every part of a place with one worker or none.
 * Memory, number and distance of a part are those of its node. lkdf_places()
 * does not list parts. A part is owned by the runtime and valid until it
 * closes.
 *
 * A task with LKDF_PINNED runs only on workers of the part; without it, idle
 * workers elsewhere may take the task. Each part has two queues for these two
 * sorts of task. Workers take one task at a time, in the order in which the
 * tasks became ready, whatever their priority. In a graph a task that is placed
 * on a part takes memory for each run, as a task of a kind with a limit does.
 *
 * If the process has fewer CPUs than workers, at least one worker of each part
 * runs.
 *
 * Context: any thread, does not block.
 * Return: 0; -EINVAL; -ENOMEM; -ENOSPC the runtime has 4096 parts already;
 * -EOWNERDEAD in a forked child.
 */
int lkdf_place_part(struct lkdf_place *p, unsigned num, unsigned den,
		    struct lkdf_place **out);

/**
 * lkdf_place_distance() - distance of memory, as the firmware reports it
 * @a: place whose CPUs access the memory
 * @b: place of the memory; a device counts as its node
 *
 * Return: the distance: 10 is local, 20 costs about twice as much; not always
 * symmetric; -EINVAL @a or @b is NULL, or they are of different runtimes.
 */
int lkdf_place_distance(const struct lkdf_place *a, const struct lkdf_place *b);

/**
 * lkdf_place_id() - number of a node or device
 * @p: place
 *
 * A node has the system's number. Devices are numbered from 0 in the order in
 * which they were registered.
 *
 * Return: number >= 0; -EINVAL @p is NULL.
 */
int lkdf_place_id(const struct lkdf_place *p);

/**
 * lkdf_alloc() - allocate memory of a place
 * @p:     place; LKDF_MEM_INTERLEAVED: any place of the runtime
 * @m:     which memory
 * @bytes: 1 .. 2^46
 * @align: power of two up to 2^30; less than 64, and 0, means 64
 * @label: name of the block in reports, copied, at most 63 bytes; NULL or "":
 *         no name
 * @out:   receives the block, not zeroed, owned by the caller; free it with
 *         lkdf_free()
 *
 * If the node has no free memory, the library takes it from the nearest node
 * that has some, unless option memory_strict is set. Option memory_limit limits
 * the memory of each node. Pinned memory is locked in steps of 4 MiB; in a
 * forked child it is not locked.
 *
 * On a device with memory of its own, LKDF_MEM_OWN gives an address for
 * lkdf_copy(), lkdf_block(), lkdf_realloc() and lkdf_free(): a CPU that
 * accesses it gets SIGSEGV. lkdf_block() returns the device's own pointer or
 * handle of the block, which the program passes to kernels as a value. If the
 * device is full, the library evicts copies of data and, if that is not enough,
 * waits for running kernels. The rest of the device's memory is for the data of
 * kernels. A managed block has at most 90 % of the free memory of the device.
 * On a device that uses the host's memory each kind gives memory of the
 * device's node. @align is at most 4096 on a device.
 *
 * Context: any thread; may map memory. For a device not in choose() or
 * enqueue(), and not in a forked child.
 * Return: 0; -EINVAL; -EOPNOTSUPP LKDF_MEM_MANAGED on a node, or on a device
 * without managed memory; -ENOMEM no memory is free, the limit is reached, or
 * the node has no memory; -EPERM this process may not lock so much memory;
 * -ENODEV the device is lost; -EDEADLK in choose() or enqueue(); errors of the
 * device's alloc or pin.
 */
int lkdf_alloc(struct lkdf_place *p, enum lkdf_mem_kind m, uint64_t bytes,
	       uint64_t align, const char *label, void **out);

/**
 * lkdf_free() - free a block
 * @rt: runtime it was allocated in
 * @p:  from lkdf_alloc() or lkdf_realloc(), or NULL
 *
 * If @p is not such a block, or was freed before, nothing happens but an error
 * in the log and in lkdf_errmsg(). When the runtime closes, the library logs
 * the labels of blocks that are not freed, and frees them.
 *
 * Context: any thread.
 */
void lkdf_free(struct lkdf *rt, void *p);

struct lkdf_block_info {
	uint32_t size, mem; /* mem: enum lkdf_mem_kind */
	struct lkdf_place *place; /* NULL: LKDF_MEM_INTERLEAVED */
	void *base; /* address that lkdf_alloc() returned */
	void *device_ptr; /* the device's pointer or handle, such as a
			   * cl_mem; for memory of the host: base */
	uint64_t bytes; /* requested size; on a node the same as taken */
	uint64_t taken; /* size with rounding */
	char label[64]; /* "": none */
};

/**
 * lkdf_block() - find the block that an address belongs to
 * @rt:  runtime
 * @p:   any address; the library does not dereference it
 * @out: size set by the caller
 *
 * Context: any thread, does not block.
 * Return: 0; -ENOENT the address is not in a block, or the block is free;
 * -EINVAL.
 */
int lkdf_block(struct lkdf *rt, const void *p, struct lkdf_block_info *out);

/**
 * lkdf_realloc() - change the size of a block
 * @rt:    runtime
 * @p:     of lkdf_alloc()
 * @bytes: 1 .. 2^46
 * @out:   receives the block with the same contents and label; if it differs
 *         from @p, @p is freed
 *
 * A block on a node is aligned to 64 bytes afterwards, even if it had a larger
 * alignment. For a block of a device the library allocates another block and
 * copies the bytes through memory of the host.
 *
 * Context: any thread; for memory of a device not in a body.
 * Return: 0; -EINVAL; -ENOENT @p is not a block; -ENOMEM @p is unchanged;
 * -EDEADLK in a body, for memory of a device; errors of lkdf_alloc() and
 * lkdf_copy().
 */
int lkdf_realloc(struct lkdf *rt, void *p, uint64_t bytes, void **out);

/**
 * lkdf_first_touch() - initialise a large array on all nodes
 * @rt:    runtime
 * @p:     array whose pages nothing has accessed yet; pages that are present do
 *         not move
 * @bytes: its size
 * @grain: size of an element: pieces begin at multiples of it from @p on; 0: 1
 * @fn:    initialises @bytes at @at; runs on many threads at once; < 0: fails
 *         with that errno. NULL: writes zeroes
 * @u:     for @fn
 *
 * Each node with workers gets one contiguous part, in proportion to its
 * workers, in the order of node numbers. Workers of the node write its part, so
 * the system places the pages there.
 *
 * Context: any thread that is not in a body; waits.
 * Return: 0; -EINVAL; -EDEADLK in a body; -ENOMEM; the first error of @fn:
 * pieces that have not begun are not initialised.
 */
int lkdf_first_touch(struct lkdf *rt, void *p, uint64_t bytes, uint64_t grain,
		     int (*fn)(void *at, uint64_t bytes, void *u), void *u);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
