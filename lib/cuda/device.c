/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "cuda/device.h"

#include "base/err.h"
#include "base/helper.h"
#include "topo/sysfs.h"

#include <ctype.h>
#include <errno.h>
#include <lkdf/dlpack.h>
#include <stdlib.h>
#include <string.h>

/* Kernels of one device that may well run side by side. */
#define NR_QUEUES 5 /* the last is for urgent ones */
/* A launch blocks when 1022 commands lie in its stream, and a word behind each
 * kernel is one, too. */
#define QUEUE_OPS 510
/* Units of registers and of a block's memory, as they are dealt out. */
#define REGISTER_GRAIN 256
#define SHARED_GRAIN 128
#define OLD_SHARED_GRAIN 256
/* Values of one launch, from CUDA 12.1 on, and before. */
#define VALUE_BYTES 32764
#define OLD_VALUE_BYTES 4096

int cuda_fails(const struct cuda_device *d, const char *call, cu_result r)
{
	return cuda_failed(&d->cuda, call, r);
}

int cuda_number(const struct cuda_device *d, unsigned what)
{
	int v = 0;

	return d->cuda.cuDeviceGetAttribute(&v, what, d->id) ? 0 : v;
}

void cuda_count(const struct cuda_device *d, enum cuda_counted what)
{
	if (d->count)
		d->count(d->count_u, what);
}

static uint32_t attr_number(const struct cuda_device *d, unsigned what)
{
	int v = cuda_number(d, what);

	return v > 0 ? (uint32_t)v : 0;
}

/* A limit that the driver does not tell is compared by the driver alone. */
static uint32_t attr_limit(const struct cuda_device *d, unsigned what)
{
	uint32_t v = attr_number(d, what);

	return v ? v : UINT32_MAX;
}

bool cuda_has_managed(const struct cuda_device *d)
{
	return cuda_number(d, CU_ATTR_CONCURRENT_MANAGED) > 0;
}

static cu_result ask_arch(struct cuda_device *d)
{
	int major = 0, minor = 0;
	cu_result r;

	r = d->cuda.cuDeviceGetAttribute(&major, CU_ATTR_MAJOR, d->id);
	if (!r)
		r = d->cuda.cuDeviceGetAttribute(&minor, CU_ATTR_MINOR, d->id);
	d->arch = 10 * major + minor;
	return r;
}

struct cuda_device *cuda_create(const struct cuda *cuda, cu_device id,
				struct cuda_card *card)
{
	struct cuda_device *d = calloc(1, sizeof(*d));
	unsigned i;

	if (d && !card)
		card = calloc(1, sizeof(*card));
	if (!d || !card) {
		free(d);
		return NULL;
	}
	a_add(&card->nr_devices, 1, relaxed);
	d->card = card;
	d->cuda = *cuda;
	d->id = id;
	pthread_mutex_init(&d->lock, NULL);
	cuda_open_io(d);
	list_init(&d->pieces);
	d->asked = ask_arch(d);
	d->block_shared = attr_limit(d, CU_ATTR_BLOCK_SHARED);
	for (i = 0; i < 3; i++) {
		d->max_block[i] = attr_limit(d, CU_ATTR_MAX_BLOCK_X + i);
		d->max_grid[i] = attr_limit(d, CU_ATTR_MAX_GRID_X + i);
	}
	return d;
}

/* ---- what it is --------------------------------------------------------- */

/* The driver has "0000:3B:00.0" where the kernel has small letters. */
static int node_of(const struct cuda_device *d)
{
	char bus[32] = "", *c;

	if (d->cuda.cuDeviceGetPCIBusId(bus, sizeof(bus), d->id))
		return -1;
	for (c = bus; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	return sysfs_pci_node(NULL, bus);
}

static void get_unit(const struct cuda_device *d, struct lkdf_device_info *out)
{
	out->units = attr_number(d, CU_ATTR_UNITS);
	out->warp = attr_number(d, CU_ATTR_WARP);
	out->max_unit_threads = attr_number(d, CU_ATTR_UNIT_THREADS);
	out->max_unit_blocks = attr_number(d, CU_ATTR_UNIT_BLOCKS);
	out->unit_registers = attr_number(d, CU_ATTR_UNIT_REGISTERS);
	out->register_grain = REGISTER_GRAIN;
	out->unit_shared = attr_number(d, CU_ATTR_UNIT_SHARED);
	out->shared_grain = d->arch < 80 ? OLD_SHARED_GRAIN : SHARED_GRAIN;
	/* Among the cards that CUDA 12 knows, one sort is in two parts. */
	out->unit_parts = d->arch == 60 ? 2 : 4;
	out->shared_reserved = attr_number(d, CU_ATTR_SHARED_RESERVED);
}

int cuda_info(void *dev, struct lkdf_device_info *out)
{
	struct cuda_device *d = dev;
	bool is_late = cuda_version(&d->cuda) >= 12010 && d->arch >= 70;
	size_t bytes = 0;
	cu_result r;
	int i;

	if (d->asked)
		return cuda_fails(d, "cuDeviceGetAttribute", d->asked);
	r = d->cuda.cuDeviceGetName(out->name, sizeof(out->name), d->id);
	if (r)
		return cuda_fails(d, "cuDeviceGetName", r);
	out->name[sizeof(out->name) - 1] = 0;
	r = d->cuda.cuDeviceTotalMem(&bytes, d->id);
	if (r)
		return cuda_fails(d, "cuDeviceTotalMem", r);
	out->memory = bytes;
	out->nr_queues = d->foreign ? 1 : NR_QUEUES;
	get_unit(d, out);
	out->max_block = attr_number(d, CU_ATTR_MAX_BLOCK);
	out->block_shared = attr_number(d, CU_ATTR_BLOCK_SHARED);
	out->block_registers = attr_number(d, CU_ATTR_BLOCK_REGISTERS);
	for (i = 0; i < 3; i++)
		out->max_grid[i] = attr_number(d, CU_ATTR_MAX_GRID_X + i);
	out->max_value_bytes = is_late ? VALUE_BYTES : OLD_VALUE_BYTES;
	out->max_queue_ops = QUEUE_OPS;
	out->dlpack_type = LKDF_DLPACK_CUDA;
	out->dlpack_id = d->id;
	out->node = node_of(d);
	return 0;
}

/* ---- context ------------------------------------------------------------ */

int cuda_require(struct cuda_device *d)
{
	cu_context context = NULL;
	cu_result r = CU_SUCCESS;
	struct cuda_before before;
	sigset_t old;

	/* Threads of the driver take no signal of the user's. */
	helper_hide(&old);
	cuda_enter_context(&d->cuda, NULL, &before);
	pthread_mutex_lock(&d->lock);
	if (!d->context) {
		r = d->cuda.cuDevicePrimaryCtxRetain(&context, d->id);
		if (!r)
			d->context = context;
		d->has_retained = !r;
	}
	pthread_mutex_unlock(&d->lock);
	cuda_leave_context(&d->cuda, &before);
	helper_show(&old);
	return r ? cuda_fails(d, "cuDevicePrimaryCtxRetain", r) : 0;
}

struct cuda_before cuda_enter(const struct cuda_device *d)
{
	struct cuda_before before;

	cuda_enter_context(&d->cuda, d->context, &before);
	return before;
}

void cuda_leave(const struct cuda_device *d, const struct cuda_before *before)
{
	cuda_leave_context(&d->cuda, before);
}

int cuda_start(void *dev, unsigned nr_queues)
{
	struct cuda_device *d = dev;
	struct cuda_before before;
	int rc;

	if (nr_queues > CUDA_MAX_QUEUES)
		return err(-EINVAL, "cuda: %u queues, at most %d", nr_queues,
			   CUDA_MAX_QUEUES);
	rc = cuda_require(d);
	if (rc)
		return rc;
	before = cuda_enter(d);
	rc = cuda_open_memory(d);
	if (!rc)
		rc = cuda_open_queues(d, nr_queues);
	cuda_leave(d, &before);
	return rc;
}

/*
 * An event of the program's that has not come may be behind a kernel that never
 * ends, for which calls of the driver would wait: what they give back stays the
 * driver's, until the process ends.
 */
static void close_context(struct cuda_device *d)
{
	struct cuda_before before = cuda_enter(d);
	bool is_over = cuda_close_watches(d);

	cuda_close_pieces(d);
	cuda_close_queues(d, !is_over);
	if (is_over)
		cuda_settle(d);
	cuda_forget_late(d);
	cuda_close_memory(d);
	cuda_leave(d, &before);
	if (d->has_retained && is_over)
		d->cuda.cuDevicePrimaryCtxRelease(d->id);
}

/* Also after a start that failed half way; of a lost device all calls fail. */
void cuda_stop(void *dev)
{
	struct cuda_device *d = dev;

	cuda_close_io(d);
	if (d->context)
		close_context(d);
	cuda_forget_all(d);
	pthread_mutex_destroy(&d->lock);
	/* [cuda.card] the others have seen it for the last time; pairs with
	 * itself. */
	if (a_sub(&d->card->nr_devices, 1, acq_rel) == 1)
		free(d->card);
	free(d);
}
