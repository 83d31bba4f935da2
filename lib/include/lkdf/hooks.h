/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Hooks let a tool observe a runtime. The tool is a shared library that exports
 * a table of functions as the object lkdf_hooks; option hooks (LKDF_HOOKS)
 * names the library. The runtime calls the functions when bodies, loops,
 * kernels of devices and copies begin and end, and for blocks of memory. In a
 * program with raised rights (setuid, AT_SECURE, or a process that is not
 * dumpable) the library ignores the variable and refuses the option with
 * -EPERM.
 *
 * A function runs on the thread that performs the action: keep it short, and do
 * not call lkdf in it. The runtime inserts no waits or fences for hooks: other
 * work goes on while a function runs. A NULL function is not called. The table
 * is modelled on that of the Kokkos tools, without their fences.
 */
#ifndef LKDF_HOOKS_H
#define LKDF_HOOKS_H

#include <lkdf/base.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LKDF_HOOKS_VERSION 1u

/**
 * struct lkdf_hooks - the functions of a tool
 * @size:       sizeof(struct lkdf_hooks) as the tool was compiled
 * @version:    LKDF_HOOKS_VERSION; another one is refused when a runtime opens
 * @open:       a runtime opens; the returned pointer is u of the other
 *              functions
 * @close:      the runtime is closed; the last call with this u
 * @loop_begin: lkdf_for(), lkdf_reduce() and their kin: label as the loop's
 *              name or the function called, id used once in the runtime, the
 *              iterations begin .. end - 1
 * @loop_end:   the loop with this id has ended, well or not
 * @alloc:      lkdf_alloc(): bytes as asked for at p, node of the place (-1:
 *              all nodes in turn), label or NULL
 * @free:       lkdf_free(), before the block is gone
 * @copy_begin: bytes of data go to a node, which is -1 where nobody knows it:
 *              "move" (they go along) or "copy" (for readers there); or to a
 *              device and from one: "upload" and "fetch", node -1; or within
 *              a device: "copy", node -1
 * @copy_end:   the copy with this id is made, or was given up
 * @kernel_begin: the launcher gives a device a kernel: label as the name of
 *              its kind, id used once in the runtime, device as lkdf device
 *              and recordings number them, from 0. If the kernel has
 *              enqueue(), enqueue() has returned
 * @kernel_end: the device has said that the kernel with this id is done, or
 *              the launcher waits for it no longer
 * @alloc_device: lkdf_alloc() on the place of a device, after @alloc: the block
 *              at p is memory of the kind mem (enum lkdf_mem_kind) of that
 *              device, numbered as for @kernel_begin
 * @task_begin: the body of a task begins on an executor: label as the name of
 *              its kind, id used once in the runtime. A body that waits for its
 *              children runs others within it, and LKDF_AGAIN and lkdf_then()
 *              make several bodies of one task
 * @task_end:   the body with this id has ended on that executor
 * @reserved:   0
 *
 * Texts are borrowed until the function returns. All functions but open and
 * close may be called by several threads at a time.
 */
struct lkdf_hooks {
	uint32_t size, version;
	void *(*open)(void);
	void (*close)(void *u);
	void (*loop_begin)(void *u, const char *label, uint64_t id,
			   uint64_t begin, uint64_t end);
	void (*loop_end)(void *u, uint64_t id);
	void (*alloc)(void *u, const void *p, uint64_t bytes, int node,
		      const char *label);
	void (*free)(void *u, const void *p);
	void (*copy_begin)(void *u, const char *label, uint64_t id, int node,
			   uint64_t bytes);
	void (*copy_end)(void *u, uint64_t id);
	void (*kernel_begin)(void *u, const char *label, uint64_t id,
			     uint32_t device);
	void (*kernel_end)(void *u, uint64_t id);
	void (*alloc_device)(void *u, const void *p, uint32_t device,
			     uint32_t mem);
	void (*task_begin)(void *u, const char *label, uint64_t id,
			   uint32_t executor);
	void (*task_end)(void *u, uint64_t id, uint32_t executor);
	void (*reserved[3])(void);
};

#ifdef __cplusplus
}
#endif
#endif
