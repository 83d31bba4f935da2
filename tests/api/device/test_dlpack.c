/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Uses as tensors of DLPack: in a body those of the CPU, in enqueue() those of
 * the device, if DLPack has a name for it; the program's fields stay. The
 * layout is that of dlpack.h.
 */
#include "tests/api/device/device.h"

#include <lkdf/dlpack.h>
#include <stddef.h>

_Static_assert(sizeof(struct lkdf_tensor) == 48 &&
		       offsetof(struct lkdf_tensor, device) == 8 &&
		       offsetof(struct lkdf_tensor, ndim) == 16 &&
		       offsetof(struct lkdf_tensor, dtype) == 20 &&
		       offsetof(struct lkdf_tensor, shape) == 24 &&
		       offsetof(struct lkdf_tensor, strides) == 32 &&
		       offsetof(struct lkdf_tensor, byte_offset) == 40,
	       "DLTensor");

/* As it was filled, and what the call has returned. */
static struct seen {
	struct lkdf_tensor t;
	void *at;
	int rc, beyond, null;
} seen;

static int64_t shape[] = { 8, 8 };

static int fill(struct lkdf_ctx *c)
{
	seen.t = (struct lkdf_tensor){ .ndim = 2,
				       .dtype = { 1, 64, 1 },
				       .shape = shape,
				       .byte_offset = 7 };
	seen.at = lkdf_ptr(c, 0);
	seen.rc = lkdf_dlpack(c, 0, &seen.t);
	seen.beyond = lkdf_dlpack(c, 5, &seen.t);
	seen.null = lkdf_dlpack(c, 0, NULL);
	return 0;
}

static int fill_body(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	return fill(c);
}

static int fill_there(struct lkdf_ctx *c, void *arg, void *queue)
{
	(void)arg;
	(void)queue;
	return fill(c);
}

static void check_fields(const char *what, int32_t type)
{
	is(seen.rc, 0, "%s: a tensor", what);
	ok(seen.t.data == seen.at && seen.at, "%s: it has the bytes", what);
	is(seen.t.device.type, type, "%s: there", what);
	is(seen.t.device.id, 0, "%s: on the first", what);
	is((int)seen.t.byte_offset, 0, "%s: from their beginning", what);
	ok(seen.t.ndim == 2 && seen.t.shape == shape && !seen.t.strides &&
		   seen.t.dtype.bits == 64,
	   "%s: the program's fields stay", what);
	is(seen.beyond, -EINVAL, "%s: no such use", what);
	is(seen.null, -EINVAL, "%s: no tensor", what);
}

static struct lkdf_kind *enqueue_kind(struct lkdf *rt)
{
	struct lkdf_kind *k = NULL;

	must(lkdf_kind_create_kernel(
		rt,
		LKDF_KERNEL(.kind = LKDF_KIND(.name = "fill"),
			    .enqueue = fill_there),
		&k));
	return k;
}

static void a_body_has_the_cpu(void)
{
	struct lkdf *rt = api_open("workers=2");
	struct lkdf_kind *k = api_kind(rt, "fill", fill_body, 0, 0);
	struct lkdf_data *d = device_data(rt, DEVICE_NR, 1);

	is(device_call(rt, k, NULL, d, NULL), 0, "a body");
	check_fields("a body", LKDF_DLPACK_CPU);
	is(lkdf_dlpack(NULL, 0, &seen.t), -EINVAL, "no context");
	lkdf_data_put(d);
	lkdf_kind_put(k);
	is(device_close(rt), 0, "it closes");
}

static void a_device_without_a_name_has_none(void)
{
	struct lkdf *rt = api_open("workers=2");
	struct lkdf_kind *k = enqueue_kind(rt);
	struct lkdf_data *d = device_data(rt, DEVICE_NR, 1);
	struct emu e;

	emu_init(&e, EMU_OWN, device_kernels);
	is(device_call(rt, k, emu_register(rt, &e), d, NULL), 0, "enqueue()");
	is(seen.rc, -EOPNOTSUPP, "the emulated device has no name in DLPack");
	lkdf_data_put(d);
	lkdf_kind_put(k);
	is(device_close(rt), 0, "it closes");
	emu_check(&e, "dlpack");
}

static void a_card_has_its_own(void)
{
	struct lkdf_place *p = NULL;
	struct lkdf_kind *k;
	struct lkdf_data *d;
	struct lkdf *rt;

	setenv("LKDF_TEST_DEVICE", "cuda", 1);
	rt = api_open(driver_options("workers=2"));
	if (lkdf_places(rt, LKDF_PLACE_GPU, &p, 1) != 1) {
		skip("DLPack on CUDA", lkdf_errmsg());
		lkdf_close(rt);
		return;
	}
	k = enqueue_kind(rt);
	d = device_data(rt, DEVICE_NR, 1);
	is(device_call(rt, k, p, d, NULL), 0, "enqueue() on a card");
	check_fields("a card", LKDF_DLPACK_CUDA);
	lkdf_data_put(d);
	lkdf_kind_put(k);
	is(device_close(rt), 0, "it closes");
}

int main(void)
{
	tap_start(60);
	a_body_has_the_cpu();
	a_device_without_a_name_has_none();
	a_card_has_its_own();
	return tap_end();
}
