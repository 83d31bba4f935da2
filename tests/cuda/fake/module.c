/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Modules and the functions in them. */
#include "tests/cuda/fake/fake.h"

#include "tests/cuda/fake/image.h"
#include "tests/cuda/fake/ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct CUmod_st *modules;

struct CUfunc_st *module_add(struct CUmod_st *m, const char *name, size_t size)
{
	struct CUfunc_st *f = calloc(1, sizeof(*f));

	if (!f)
		abort();
	f->name = strndup(name, size);
	f->mod = m;
	f->max_threads = 1024;
	f->next = m->funcs;
	m->funcs = f;
	return f;
}

void module_param(struct CUfunc_st *f, unsigned size, unsigned align)
{
	size_t n = f->nr_params + 1;

	f->params = realloc(f->params, n * sizeof(*f->params));
	if (!f->params)
		abort();
	f->params_size = (f->params_size + align - 1) / align * align;
	f->params[f->nr_params] = (struct param){ f->params_size, size };
	f->nr_params++;
	f->params_size += size;
}

static void free_module(struct CUmod_st *m)
{
	struct CUfunc_st *f;
	struct global *g;

	while ((f = m->funcs)) {
		m->funcs = f->next;
		ptx_free(f->ptx);
		free(f->params);
		free(f->name);
		free(f);
	}
	while ((g = m->globals)) {
		m->globals = g->next;
		free(g->name);
		free(g->at);
		free(g);
	}
	free(m);
}

/* A log of so many bytes; NULL: the caller wants none. */
struct log {
	char *at;
	size_t size;
};

static cu_result fill_module(struct CUmod_st *m, const char *image,
			     const struct log *log)
{
	if (image_is(image))
		return image_load(m, image);
	if (strncmp(image, ".version", 8) && strncmp(image, "//", 2))
		return 200;
	return ptx_load(m, image, log->at, log->size);
}

static void add_globals(const struct CUmod_st *m)
{
	const struct global *g;

	for (g = m->globals; g; g = g->next)
		range_add((uintptr_t)g->at, g->size, RANGE_MODULE,
			  m->ctx->device);
}

static void drop_globals(const struct CUmod_st *m)
{
	const struct global *g;
	struct range *r;

	for (g = m->globals; g; g = g->next) {
		r = range_find((uintptr_t)g->at);
		if (r)
			range_drop(r);
	}
}

/* Waits for all that runs, as the driver does, whatever the image is. */
static cu_result load(const void *image, const struct log *log, cu_mod *out)
{
	struct CUmod_st *m;
	cu_result r;

	if (!image)
		return 1;
	r = capture_forbids(NULL);
	if (r)
		return r;
	m = calloc(1, sizeof(*m));
	if (!m)
		return 2;
	m->ctx = current;
	r = fill_module(m, image, log);
	if (r) {
		free_module(m);
		return r;
	}
	stream_wait_all(true);
	r = fault_told();
	if (r) {
		free_module(m);
		return r;
	}
	add_globals(m);
	m->next = modules;
	modules = m;
	*out = m;
	return 0;
}

/* Of the options the error log, 5, and its size, 6. */
static struct log find_log(unsigned n, const unsigned *option, void **value)
{
	struct log log = { NULL, 0 };
	unsigned i;

	for (i = 0; i < n; i++) {
		if (option[i] == 5)
			log.at = value[i];
		if (option[i] == 6)
			log.size = (size_t)(uintptr_t)value[i];
	}
	if (log.at && log.size)
		log.at[0] = 0;
	return log;
}

cu_result cuModuleLoadDataEx(cu_mod *m, const void *image, unsigned n,
			     unsigned *option, void **value)
{
	cu_result r = enter(E_cuModuleLoadDataEx, NEEDS_CONTEXT);
	struct log log = find_log(n, option, value);

	return leave(r ? r : load(image, &log, m));
}

cu_result cuModuleLoadData(cu_mod *m, const void *image)
{
	cu_result r = enter(E_cuModuleLoadData, NEEDS_CONTEXT);
	struct log log = { NULL, 0 };

	return leave(r ? r : load(image, &log, m));
}

/* It stays in memory: a use of its functions is an error, no crash. */
cu_result cuModuleUnload(cu_mod m)
{
	cu_result r = enter(E_cuModuleUnload, NEEDS_CONTEXT);

	if (!r && (!m || m->is_dead))
		r = 400;
	if (!r)
		r = capture_forbids(NULL);
	if (r)
		return leave(r);
	stream_wait_all(false);
	drop_globals(m);
	m->is_dead = true;
	return leave(fault_told());
}

static cu_result find_function(struct CUmod_st *m, const char *name,
			       cu_func *out)
{
	struct CUfunc_st *f;

	if (!m || m->is_dead)
		return 400;
	for (f = m->funcs; f && strcmp(f->name, name); f = f->next)
		;
	if (!f)
		return 500;
	f->is_loaded = true;
	*out = f;
	return 0;
}

cu_result cuModuleGetFunction(cu_func *f, cu_mod m, const char *name)
{
	cu_result r = enter(E_cuModuleGetFunction, NEEDS_CONTEXT);

	return leave(r ? r : find_function(m, name, f));
}

cu_result cuModuleGetGlobal(cu_ptr *p, size_t *size, cu_mod m, const char *name)
{
	cu_result r = enter(E_cuModuleGetGlobal, NEEDS_CONTEXT);
	const struct global *g = m && !m->is_dead ? m->globals : NULL;

	while (g && strcmp(g->name, name))
		g = g->next;
	if (!r && !g)
		r = 500;
	if (!r) {
		*p = (cu_ptr)(uintptr_t)g->at;
		*size = g->size;
	}
	return leave(r);
}

cu_result cuModuleGetFunctionCount(unsigned *n, cu_mod m)
{
	cu_result r = enter(E_cuModuleGetFunctionCount, NEEDS_CONTEXT);
	const struct CUfunc_st *f;

	if (!r && (!m || m->is_dead))
		r = 400;
	if (r)
		return leave(r);
	*n = 0;
	for (f = m->funcs; f; f = f->next)
		++*n;
	return leave(0);
}

cu_result cuModuleEnumerateFunctions(cu_func *out, unsigned n, cu_mod m)
{
	cu_result r = enter(E_cuModuleEnumerateFunctions, NEEDS_CONTEXT);
	struct CUfunc_st *f;

	if (!r && (!m || m->is_dead))
		r = 400;
	for (f = r ? NULL : m->funcs; f && n; f = f->next, n--)
		*out++ = f;
	return leave(r);
}

/* A library is a module that is not of one context. */
cu_result cuLibraryLoadData(void **library, const void *image, unsigned *jit,
			    void **jit_value, unsigned nr_jit, unsigned *option,
			    void **value, unsigned n)
{
	cu_result r = enter(E_cuLibraryLoadData, NEEDS_CONTEXT);
	struct log log = find_log(nr_jit, jit, jit_value);

	(void)option;
	(void)value;
	(void)n;
	return leave(r ? r : load(image, &log, (cu_mod *)library));
}

cu_result cuLibraryGetKernel(void **kernel, void *library, const char *name)
{
	cu_result r = enter(E_cuLibraryGetKernel, NEEDS_CONTEXT);

	return leave(r ? r : find_function(library, name, (cu_func *)kernel));
}
