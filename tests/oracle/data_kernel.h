/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What kernels do where code of the program runs for them: as the body does,
 * on bytes that lie elsewhere. And the devices of OpenCL and CUDA, for
 * data_device.c.
 */
#ifndef TESTS_ORACLE_DATA_KERNEL_H
#define TESTS_ORACLE_DATA_KERNEL_H

#include "tests/oracle/data_device.h"

struct d_kernel {
	struct d_world *w;
	const struct d_task *t;
	struct d_cell *cell; /* NULL: of a graph, and which run is unknown */
	uint32_t op, rep, node;
	bool is_of_graph;
};

/* As the body does. run: of a graph whose run is known. */
void d_find_kernel(struct d_kernel *k, const void *arg,
		   const struct d_run *run);

/* Returns the error that it fails with, or 0. */
int d_run_kernel(const struct d_kernel *k, struct d_bytes *b);

static inline int d_kernel_error(const struct d_kernel *k)
{
	return d_task_fails(k->t, k->op, k->rep, k->is_of_graph)
		       ? model_errno(k->t->error)
		       : 0;
}

/* ---- CUDA --------------------------------------------------------------- */

/* False: there is no driver, as was said. */
bool d_cuda_open(void);

/* The stream runs the kernel on the bytes at mem; 0 or the driver's error. */
int d_cuda_enqueue(const struct d_kernel *k, const void *arg,
		   const struct d_run *run, void *queue, void *const *mem);

/* ---- OpenCL ------------------------------------------------------------- */

/* What a runtime has. */
struct d_opencl {
	struct lkdf *rt;
	struct lkdf_place *place[D_DEVICES];
	void *held[D_DEVICES]; /* all of the memory but a little */
	struct lkdf_kind *kind[D_KINDS][D_USES + 2];
};

/* False: there are not as many devices. */
bool d_opencl_open(struct d_opencl *x, struct lkdf *rt);
void d_opencl_close(struct d_opencl *x);

int d_opencl_kind(struct d_opencl *x, const struct d_task *t, uint32_t flags,
		  struct lkdf_kind **out);

#endif
