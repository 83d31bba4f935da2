/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Pages that the driver for tests has registered do not leave the process: a
 * program that includes this has munmap(), madvise() and mremap() of its own,
 * which its libraries call, too. They ask the driver first, which ends the
 * program where the pages are registered. The thread sanitizer's own pages it
 * is not asked about: they go in the middle of a report, whose locks asking
 * needs.
 */
#ifndef TESTS_CUDA_GONE_H
#define TESTS_CUDA_GONE_H

#include <dlfcn.h>
#include <link.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

static void (*gone_ask)(const char *call, const void *at, size_t size);

/* The code of gcc's sanitizer, a library; constant once gone_ask is set. */
static struct {
	uintptr_t at, end;
} gone_tsan;

static int gone_find_tsan(struct dl_phdr_info *object, size_t size, void *none)
{
	const ElfW(Phdr) *p = object->dlpi_phdr;
	int i;

	(void)size;
	(void)none;
	if (!strstr(object->dlpi_name, "/libtsan.so"))
		return 0;
	for (i = 0; i < object->dlpi_phnum; i++)
		if (p[i].p_type == PT_LOAD && p[i].p_flags & PF_X) {
			gone_tsan.at = object->dlpi_addr + p[i].p_vaddr;
			gone_tsan.end = gone_tsan.at + p[i].p_memsz;
		}
	return 1;
}

/* From now on; the driver is loaded. False: it is not that for tests. */
__attribute__((unused)) static bool gone_watch(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	void *f = driver ? dlsym(driver, "fake_cuda_gone") : NULL;
	void (*ask)(const char *call, const void *at, size_t size);

	dl_iterate_phdr(gone_find_tsan, NULL);
	memcpy(&ask, &f, sizeof(f));
	__atomic_store_n(&gone_ask, ask, __ATOMIC_RELEASE);
	return ask;
}

static void gone_look(const void *caller, const char *call, const void *at,
		      size_t size)
{
	void (*ask)(const char *call, const void *at, size_t size) =
		__atomic_load_n(&gone_ask, __ATOMIC_ACQUIRE);

	if (ask && ((uintptr_t)caller < gone_tsan.at ||
		    (uintptr_t)caller >= gone_tsan.end))
		ask(call, at, size);
}

/* The one that is called where a program has none. */
static void *gone_next(const char *call, void **kept)
{
	void *f = __atomic_load_n(kept, __ATOMIC_RELAXED);

	if (!f) {
		f = dlsym(RTLD_NEXT, call);
		__atomic_store_n(kept, f, __ATOMIC_RELAXED);
	}
	return f;
}

int munmap(void *at, size_t size)
{
	static void *kept;
	void *f = gone_next("munmap", &kept);
	int (*next)(void *at, size_t size);

	gone_look(__builtin_return_address(0), "munmap", at, size);
	memcpy(&next, &f, sizeof(f));
	return next(at, size);
}

int madvise(void *at, size_t size, int advice)
{
	static void *kept;
	void *f = gone_next("madvise", &kept);
	int (*next)(void *at, size_t size, int advice);

	if (advice == MADV_DONTNEED || advice == MADV_FREE)
		gone_look(__builtin_return_address(0), "madvise", at, size);
	memcpy(&next, &f, sizeof(f));
	return next(at, size, advice);
}

void *mremap(void *at, size_t size, size_t new_size, int flags, ...)
{
	static void *kept;
	void *f = gone_next("mremap", &kept), *to;
	void *(*next)(void *at, size_t size, size_t new_size, int flags, ...);
	va_list ap;

	va_start(ap, flags);
	to = flags & MREMAP_FIXED ? va_arg(ap, void *) : NULL;
	va_end(ap);
	gone_look(__builtin_return_address(0), "mremap", at, size);
	memcpy(&next, &f, sizeof(f));
	return next(at, size, new_size, flags, to);
}

#endif
