/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Makes the n-th allocation or thread creation of the library fail. The test
 * program defines malloc() and the others itself, so the shared library calls
 * them; they look at who called and leave all other code alone. glibc only,
 * and not under a sanitizer, which has its own.
 */
#ifndef TESTS_FAULTS_INJECT_H
#define TESTS_FAULTS_INJECT_H

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && \
	!defined(__SANITIZE_THREAD__)
#define CAN_INJECT 1
#else
#define CAN_INJECT 0
#endif

/* The fault comes at this call, counting from 1; 0: never, < 0: at all. */
static atomic_int inject_at;
static atomic_int inject_nr;
__attribute__((unused)) static atomic_bool inject_threads_only;

#if CAN_INJECT
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t nr, size_t size);
extern void *__libc_memalign(size_t align, size_t size);

/* First and last byte of the library's code and data. */
static uintptr_t inject_begin, inject_end;

static bool inject_now(void *caller, bool is_thread)
{
	uintptr_t at = (uintptr_t)caller;
	int want = atomic_load(&inject_at);

	if (!want || at < inject_begin || at >= inject_end ||
	    (atomic_load(&inject_threads_only) && !is_thread))
		return false;
	return atomic_fetch_add(&inject_nr, 1) + 1 == want || want < 0;
}

#define INJECT(is_thread) inject_now(__builtin_return_address(0), is_thread)

void *malloc(size_t size)
{
	return INJECT(false) ? NULL : __libc_malloc(size);
}

void *calloc(size_t nr, size_t size)
{
	return INJECT(false) ? NULL : __libc_calloc(nr, size);
}

void *aligned_alloc(size_t align, size_t size)
{
	return INJECT(false) ? NULL : __libc_memalign(align, size);
}

void *mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset)
{
	if (INJECT(false)) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	return (void *)syscall(SYS_mmap, at, size, prot, flags, fd, offset);
}

void *mremap(void *at, size_t old_size, size_t size, int flags, ...)
{
	if (INJECT(false)) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	return (void *)syscall(SYS_mremap, at, old_size, size, flags, NULL);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr,
		   void *(*fn)(void *), void *arg)
{
	static int (*real)(pthread_t *, const pthread_attr_t *,
			   void *(*)(void *), void *);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
	return INJECT(true) ? EAGAIN : real(thread, attr, fn, arg);
}
#endif

/* Where the library lies, by one of its functions. False: cannot inject. */
static bool inject_init(void *function)
{
#if CAN_INJECT
	char line[512], path[PATH_MAX];
	unsigned long begin, end;
	Dl_info info;
	FILE *maps;

	if (!dladdr(function, &info) || !info.dli_fname)
		return false;
	if (!realpath(info.dli_fname, path))
		return false;
	maps = fopen("/proc/self/maps", "r");
	if (!maps)
		return false;
	while (fgets(line, sizeof(line), maps)) {
		if (!strstr(line, path) ||
		    sscanf(line, "%lx-%lx", &begin, &end) != 2)
			continue;
		if (!inject_begin)
			inject_begin = begin;
		inject_end = end;
	}
	fclose(maps);
	return inject_begin != 0;
#else
	(void)function;
	return false;
#endif
}

/* From now on; nr 0 stops. */
static void inject(int nr)
{
	atomic_store(&inject_nr, 0);
	atomic_store(&inject_at, nr);
}

/* Has the fault come? */
__attribute__((unused)) static bool inject_came(void)
{
	return atomic_load(&inject_nr) >= atomic_load(&inject_at);
}

#endif
