/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The library is not instrumented, but what it calls in libc is intercepted by
 * the program's sanitizer: a memcpy() into a task that lay in this memory
 * before would be a race, and a lock of the library an order of bodies. So with
 * option check the library's own table of functions is written anew: what libc
 * has is called there, and memory is asked of the sanitizer's allocator in
 * secret. A library that is not checked has the table as the loader has made
 * it.
 */
#include "check/tsan.h"

#include "base/err.h"
#include "base/util.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

/* As the sanitizer itself calls them. */
extern TSAN_WEAK void *__interceptor_malloc(size_t size);
extern TSAN_WEAK void *__interceptor_calloc(size_t nr, size_t size);
extern TSAN_WEAK void *__interceptor_realloc(void *p, size_t size);
extern TSAN_WEAK void *__interceptor_aligned_alloc(size_t align, size_t size);
extern TSAN_WEAK void __interceptor_free(void *p);
extern TSAN_WEAK void *__interceptor_mmap(void *at, size_t size, int prot,
					  int flags, int fd, off_t offset);
extern TSAN_WEAK int __interceptor_munmap(void *at, size_t size);

void tsan_hide(void)
{
	AnnotateIgnoreSyncBegin(__FILE__, __LINE__);
	AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
}

void tsan_show(void)
{
	AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
	AnnotateIgnoreSyncEnd(__FILE__, __LINE__);
}

/* ---- memory in secret --------------------------------------------------- */

static void *hidden_malloc(size_t size)
{
	void *p;

	tsan_hide();
	p = __interceptor_malloc(size);
	tsan_show();
	return p;
}

static void *hidden_calloc(size_t nr, size_t size)
{
	void *p;

	tsan_hide();
	p = __interceptor_calloc(nr, size);
	tsan_show();
	return p;
}

static void *hidden_realloc(void *old, size_t size)
{
	void *p;

	tsan_hide();
	p = __interceptor_realloc(old, size);
	tsan_show();
	return p;
}

static void *hidden_aligned_alloc(size_t align, size_t size)
{
	void *p;

	tsan_hide();
	p = __interceptor_aligned_alloc(align, size);
	tsan_show();
	return p;
}

static void hidden_free(void *p)
{
	tsan_hide();
	__interceptor_free(p);
	tsan_show();
}

static void *hidden_mmap(void *at, size_t size, int prot, int flags, int fd,
			 off_t offset)
{
	void *p;

	tsan_hide();
	p = __interceptor_mmap(at, size, prot, flags, fd, offset);
	tsan_show();
	return p;
}

static int hidden_munmap(void *at, size_t size)
{
	int rc;

	tsan_hide();
	rc = __interceptor_munmap(at, size);
	tsan_show();
	return rc;
}

typedef void (*any_fn)(void);

struct way {
	const char *name;
	any_fn ours; /* NULL: stays as it is */
	any_fn theirs; /* which ours calls */
};

/* Threads, processes and ends of the program stay the sanitizer's business. */
static const struct way ways[] = {
	{ "malloc", (any_fn)hidden_malloc, (any_fn)__interceptor_malloc },
	{ "calloc", (any_fn)hidden_calloc, (any_fn)__interceptor_calloc },
	{ "realloc", (any_fn)hidden_realloc, (any_fn)__interceptor_realloc },
	{ "aligned_alloc", (any_fn)hidden_aligned_alloc,
	  (any_fn)__interceptor_aligned_alloc },
	{ "free", (any_fn)hidden_free, (any_fn)__interceptor_free },
	{ "mmap", (any_fn)hidden_mmap, (any_fn)__interceptor_mmap },
	{ "mmap64", (any_fn)hidden_mmap, (any_fn)__interceptor_mmap },
	{ "munmap", (any_fn)hidden_munmap, (any_fn)__interceptor_munmap },
	{ "strdup", NULL, NULL },
	{ "realpath", NULL, NULL },
	{ "getline", NULL, NULL },
	{ "open_memstream", NULL, NULL },
	/* Its words are the sanitizer's from the first call on. */
	{ "pthread_once", NULL, NULL },
	{ "pthread_create", NULL, NULL },
	{ "pthread_join", NULL, NULL },
	{ "pthread_detach", NULL, NULL },
	{ "fork", NULL, NULL },
	{ "dlopen", NULL, NULL },
	{ "dlclose", NULL, NULL },
	{ "sigaction", NULL, NULL },
	{ "signal", NULL, NULL },
	{ "pthread_sigmask", NULL, NULL },
	{ "sigprocmask", NULL, NULL },
	{ "atexit", NULL, NULL },
	{ "__cxa_atexit", NULL, NULL },
	{ "__cxa_finalize", NULL, NULL },
	{ "exit", NULL, NULL },
	{ "_exit", NULL, NULL },
	{ "abort", NULL, NULL },
	{ "__tls_get_addr", NULL, NULL },
	{ "swapcontext", NULL, NULL },
};

/* ---- the table ---------------------------------------------------------- */

/* The parts of our own file that the loader has mapped. */
struct image {
	const char *base;
	const ElfW(Rela) * rela[2]; /* of data, and of calls */
	size_t nr[2];
	const ElfW(Sym) * symbols;
	const char *names;
	uintptr_t relro, relro_end;
};

extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

static const void *in_image(const struct image *im, ElfW(Addr) at)
{
	/* The loader of some machines has added the base already. */
	return (uintptr_t)im->base > at ? im->base + at : (const void *)at;
}

static void read_dynamic(struct image *im, const ElfW(Dyn) * d)
{
	for (; d->d_tag != DT_NULL; d++) {
		switch (d->d_tag) {
		case DT_RELA:
			im->rela[0] = in_image(im, d->d_un.d_ptr);
			break;
		case DT_RELASZ:
			im->nr[0] = d->d_un.d_val / sizeof(ElfW(Rela));
			break;
		case DT_JMPREL:
			im->rela[1] = in_image(im, d->d_un.d_ptr);
			break;
		case DT_PLTRELSZ:
			im->nr[1] = d->d_un.d_val / sizeof(ElfW(Rela));
			break;
		case DT_SYMTAB:
			im->symbols = in_image(im, d->d_un.d_ptr);
			break;
		case DT_STRTAB:
			im->names = in_image(im, d->d_un.d_ptr);
			break;
		}
	}
}

static void read_image(struct image *im)
{
	const ElfW(Ehdr) *e = &__ehdr_start;
	const ElfW(Phdr) * p;
	long page = sysconf(_SC_PAGESIZE);
	int i;

	memset(im, 0, sizeof(*im));
	im->base = (const char *)e;
	p = (const void *)(im->base + e->e_phoff);
	for (i = 0; i < e->e_phnum; i++) {
		if (p[i].p_type == PT_DYNAMIC)
			read_dynamic(im,
				     (const void *)(im->base + p[i].p_vaddr));
		if (p[i].p_type != PT_GNU_RELRO)
			continue;
		im->relro = (uintptr_t)im->base + p[i].p_vaddr;
		im->relro_end = im->relro + p[i].p_memsz;
		im->relro &= ~((uintptr_t)page - 1);
		im->relro_end &= ~((uintptr_t)page - 1);
	}
}

/* Where a call of that name is to go; NULL: where it goes now. */
static any_fn way_of(void *libc, const char *name, any_fn now)
{
	any_fn own;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ways); i++)
		if (!strcmp(ways[i].name, name))
			return ways[i].theirs ? ways[i].ours : NULL;
	*(void **)&own = dlsym(libc, name);
	return own != now ? own : NULL;
}

static bool is_call(const ElfW(Rela) * r)
{
#if defined(__x86_64__)
	return ELF64_R_TYPE(r->r_info) == R_X86_64_JUMP_SLOT ||
	       ELF64_R_TYPE(r->r_info) == R_X86_64_GLOB_DAT;
#elif defined(__aarch64__)
	return ELF64_R_TYPE(r->r_info) == R_AARCH64_JUMP_SLOT ||
	       ELF64_R_TYPE(r->r_info) == R_AARCH64_GLOB_DAT;
#else
	(void)r;
	return false;
#endif
}

static void bind_one(const struct image *im, void *libc, const ElfW(Rela) * r)
{
	const ElfW(Sym) *s = &im->symbols[ELF64_R_SYM(r->r_info)];
	any_fn *slot = (any_fn *)(uintptr_t)(im->base + r->r_offset), to;

	/* A function of another file; the type of one that is weak may lack. */
	if (s->st_shndx != SHN_UNDEF || ELF64_ST_TYPE(s->st_info) != STT_FUNC)
		return;
	to = way_of(libc, im->names + s->st_name, *slot);
	if (to)
		*slot = to;
}

static void bind_all(const struct image *im, void *libc)
{
	size_t i;
	int k;

	for (k = 0; k < 2; k++)
		for (i = 0; i < im->nr[k]; i++)
			if (is_call(&im->rela[k][i]))
				bind_one(im, libc, &im->rela[k][i]);
}

/* Our code is that of the program itself, whose calls are to be seen. */
static bool is_program(const struct image *im)
{
	const ElfW(Ehdr) *e = (const void *)im->base;

	return getauxval(AT_PHDR) == (uintptr_t)im->base + e->e_phoff;
}

int tsan_step_aside(void)
{
	void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
	struct image im;
	size_t size;

	read_image(&im);
	if (!libc || !im.symbols || !im.names)
		return err(-ENOSYS,
			   "check: the library's own table of calls is "
			   "not found");
	if (is_program(&im))
		return err(
			-ENOSYS,
			"check: the library is linked into the program; link "
			"liblkdf.so");
	size = im.relro_end - im.relro;
	if (size && mprotect((void *)im.relro, size, PROT_READ | PROT_WRITE))
		return err(-errno, "check: mprotect: %s", strerror(errno));
	bind_all(&im, libc);
	if (size)
		mprotect((void *)im.relro, size, PROT_READ);
	return 0;
}
