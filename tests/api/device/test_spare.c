/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Memory of a device that is freed and wanted again: the device is asked once
 * for each size, and no free comes while a kernel runs; other sizes get the
 * room, within the limit of the option device_memory; a device that can makes
 * zeroes itself.
 */
#include "tests/api/device/device.h"

#define NR_KERNELS 200
#define ZEROES 4096

static atomic_int nr_bad;

/* Scratch and zeroes, both of which it spoils. */
static void spoil(struct emu *e, const struct lkdf_launch *l)
{
	unsigned char *scratch = emu_at(e, l, 0), *zero = emu_at(e, l, 1);
	uint64_t i;

	for (i = 0; i < ZEROES; i++)
		if (zero[i])
			atomic_fetch_add(&nr_bad, 1);
	memset(zero, 1, ZEROES);
	memset(scratch, 2, l->arg[0].bytes);
}

static const struct emu_kernel kernels[] = {
	{ "spoil", spoil },
	{ "add", device_add },
	{ NULL, NULL },
};

static struct lkdf_kind *spoil_kind(struct lkdf *rt, uint32_t bytes)
{
	const struct lkdf_code code = { .device = "emu", .image = "spoil" };
	const struct lkdf_param param[] = {
		{ .from = LKDF_PARAM_SCRATCH, .bytes = bytes },
		{ .from = LKDF_PARAM_ZEROED, .bytes = ZEROES },
	};
	struct lkdf_kind *k = NULL;

	must(lkdf_kind_create_kernel(
		rt,
		LKDF_KERNEL(.kind = LKDF_KIND(.name = "spoil"), .code = &code,
			    .nr_code = 1, .param = param, .nr_param = 2),
		&k));
	return k;
}

static uint64_t count(struct lkdf *rt, const char *name)
{
	uint64_t nr = 0;

	must(lkdf_stat(rt, name, &nr));
	return nr;
}

static int run_one(struct lkdf *rt, struct lkdf_kind *k, struct lkdf_place *p)
{
	struct lkdf_event done;

	must(lkdf_submit(rt, NULL, LKDF_TASK(.kind = k, .place = p), &done));
	return lkdf_event_wait(done, -1);
}

static void the_second_kernel_allocates_nothing(unsigned flags)
{
	const char *how = flags & EMU_FILLS ? "fills" : "uploads";
	struct lkdf *rt = api_open("workers=2");
	struct lkdf_kind *k = spoil_kind(rt, 100000);
	struct lkdf_place *p;
	struct emu e;
	int i, nr = 0;

	emu_init(&e, EMU_OWN | EMU_WAITS | flags, kernels);
	p = emu_register(rt, &e);
	must(run_one(rt, k, p));
	is(count(rt, "lkdf.device.allocs"), 2, "%s: memory for one", how);
	for (i = 0; i < NR_KERNELS; i++)
		nr += !run_one(rt, k, p);
	is(nr, NR_KERNELS, "%s: kernels with scratch run", how);
	is(atomic_load(&e.nr[EMU_ALLOC]), 2, "%s: the next ones ask for none",
	   how);
	is(atomic_load(&e.nr[EMU_FREE]), 0, "%s: and none is freed", how);
	is(atomic_load(&nr_bad), 0, "%s: zeroes are zeroes each time", how);
	is(atomic_load(&e.bytes_up), flags & EMU_FILLS ? 0 : 201 * ZEROES,
	   "%s: so many bytes of zeroes are carried", how);
	is(atomic_load(&e.nr[EMU_FILL]), flags & EMU_FILLS ? 201 : 0,
	   "%s: so often the device makes them", how);
	lkdf_kind_put(k);
	is(device_close(rt), 0, "%s: close", how);
	is(atomic_load(&e.nr[EMU_FREE]), 2, "%s: which frees it", how);
	emu_check(&e, how);
}

/* 1 MiB for two sizes of which one fits at a time; a third one beside. */
static void other_sizes_get_the_room(const char *options)
{
	struct lkdf *rt = api_open(options);
	struct lkdf_kind *k[3] = { spoil_kind(rt, 700 << 10),
				   spoil_kind(rt, 800 << 10),
				   spoil_kind(rt, 50 << 10) };
	struct lkdf_place *p;
	struct emu e;
	int i, nr = 0;

	emu_init(&e, EMU_OWN, kernels);
	e.memory = 2 << 20;
	p = emu_register(rt, &e);
	for (i = 0; i < 60; i++)
		nr += !run_one(rt, k[i % 3], p);
	is(nr, 60, "%s: kernels with scratch of three sizes run", options);
	ok(e.nr_blocks <= 4, "%s: %u blocks are kept", options, e.nr_blocks);
	ok(count(rt, "lkdf.device.drains") >= 39,
	   "%s: a size that does not fit beside what is spare has it", options);
	for (i = 0; i < 3; i++)
		lkdf_kind_put(k[i]);
	is(device_close(rt), 0, "%s: close", options);
	emu_check(&e, options);
}

/* The device has less than it says: what is spare goes back, and it fits. */
static void a_device_without_room_gets_it_back(void)
{
	struct lkdf *rt = api_open("workers=2");
	struct lkdf_kind *k[2] = { spoil_kind(rt, 700 << 10),
				   spoil_kind(rt, 800 << 10) };
	struct lkdf_place *p;
	struct emu e;
	int i, nr = 0;

	emu_init(&e, EMU_OWN, kernels);
	e.memory = 4 << 20;
	p = emu_register(rt, &e);
	e.memory = 1 << 20;
	for (i = 0; i < 20; i++)
		nr += !run_one(rt, k[i % 2], p);
	is(nr, 20, "kernels run on a device that has less than it says");
	for (i = 0; i < 2; i++)
		lkdf_kind_put(k[i]);
	is(device_close(rt), 0, "less: close");
	emu_check(&e, "less");
}

int main(void)
{
	tap_start(120);
	the_second_kernel_allocates_nothing(0);
	the_second_kernel_allocates_nothing(EMU_FILLS);
	other_sizes_get_the_room("workers=2,device_memory=1");
	other_sizes_get_the_room("serial=yes,device_memory=1");
	a_device_without_room_gets_it_back();
	return tap_end();
}
