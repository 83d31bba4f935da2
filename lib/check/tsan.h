/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The thread sanitizer of the program, if it has one: its calls are weak
 * symbols, so the library needs none to be built or loaded. gcc 12 has them
 * all, and clang 14.
 */
#ifndef CHECK_TSAN_H
#define CHECK_TSAN_H

#include <stdbool.h>
#include <stddef.h>

#define TSAN_WEAK __attribute__((weak, visibility("default")))

extern TSAN_WEAK void *__tsan_get_current_fiber(void);
extern TSAN_WEAK void *__tsan_create_fiber(unsigned flags);
extern TSAN_WEAK void __tsan_destroy_fiber(void *fiber);
extern TSAN_WEAK void __tsan_switch_to_fiber(void *fiber, unsigned flags);
extern TSAN_WEAK void __tsan_set_fiber_name(void *fiber, const char *name);
extern TSAN_WEAK void __tsan_acquire(void *addr);
extern TSAN_WEAK void __tsan_release(void *addr);
extern TSAN_WEAK void __tsan_read_range(void *addr, unsigned long size);
extern TSAN_WEAK void __tsan_write_range(void *addr, unsigned long size);
extern TSAN_WEAK void __tsan_mutex_pre_lock(void *m, unsigned flags);
extern TSAN_WEAK void __tsan_mutex_post_lock(void *m, unsigned flags, int deep);
extern TSAN_WEAK int __tsan_mutex_pre_unlock(void *m, unsigned flags);
extern TSAN_WEAK void __tsan_mutex_post_unlock(void *m, unsigned flags);
extern TSAN_WEAK void AnnotateIgnoreSyncBegin(const char *file, int line);
extern TSAN_WEAK void AnnotateIgnoreSyncEnd(const char *file, int line);
extern TSAN_WEAK void AnnotateIgnoreWritesBegin(const char *file, int line);
extern TSAN_WEAK void AnnotateIgnoreWritesEnd(const char *file, int line);

/* Switches between fibers without an order between the two. */
#define TSAN_NO_SYNC 1u

static inline bool tsan_is_there(void)
{
	return __tsan_create_fiber && __tsan_acquire && __tsan_switch_to_fiber;
}

/* From here on this fiber's locks and atomics give no order, or again do. */
static inline void tsan_deafen(void)
{
	AnnotateIgnoreSyncBegin(__FILE__, __LINE__);
}

static inline void tsan_hear(void)
{
	AnnotateIgnoreSyncEnd(__FILE__, __LINE__);
}

/* Neither accesses nor orders of this fiber are seen, until the second call. */
void tsan_hide(void);
void tsan_show(void);

/*
 * The library's own calls of libc go there, past the interceptors of the
 * sanitizer, which would take the library's memory for the program's. 0, or why
 * not: the library is linked into the program, or the sanitizer is not seen.
 */
int tsan_step_aside(void);

#endif
