/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Threads of devices: they do not count against the option blocking, however
 * many devices there are and whatever the blocking pool is at, and a kernel
 * whose device gets no thread now waits until there is one.
 */
#include "tests/api/device/device.h"

#include "tests/faults/inject.h"

static void each_device_has_a_thread(void)
{
	struct lkdf *rt = api_open("workers=2,blocking=1");
	struct lkdf_kind *k = device_kind(rt, "add");
	struct lkdf_data *d = device_data(rt, 8, 0);
	struct lkdf_place *p[3];
	struct emu emu[3];
	uint64_t one = 1;
	int i;

	for (i = 0; i < 3; i++) {
		emu_init(&emu[i], EMU_OWN, device_kernels);
		p[i] = emu_register(rt, &emu[i]);
	}
	for (i = 0; i < 3; i++)
		is(device_call(rt, k, p[i], d, &one), 0,
		   "device %d runs kernels beside one blocking thread", i);
	is(device_first_wrong(d, 8, 3), -1, "and all have run");
	lkdf_data_put(d);
	lkdf_kind_put(k);
	is(device_close(rt), 0, "devices: close");
	for (i = 0; i < 3; i++)
		emu_check(&emu[i], "devices");
}

static atomic_int nr_blocked, may_go;

static int block(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	atomic_fetch_add(&nr_blocked, 1);
	api_until(&may_go);
	return 0;
}

static void a_full_pool_is_in_nobodys_way(void)
{
	struct lkdf *rt = api_open("workers=2,blocking=4");
	struct lkdf_kind *k = device_kind(rt, "add"),
			 *b = api_kind(rt, "block", block, 0, LKDF_BLOCKING);
	struct lkdf_data *d = device_data(rt, 8, 0);
	struct lkdf_place *p;
	struct emu emu;
	uint64_t one = 1;
	int i;

	emu_init(&emu, EMU_OWN, device_kernels);
	p = emu_register(rt, &emu);
	for (i = 0; i < 8; i++)
		must(lkdf_submit(rt, NULL, LKDF_TASK(.kind = b), NULL));
	while (atomic_load(&nr_blocked) < 4)
		api_nap_ns(50000);
	is(device_call(rt, k, p, d, &one), 0,
	   "a first kernel runs though all blocking threads are taken");
	atomic_store(&may_go, 1);
	must(lkdf_scope_wait(rt, NULL, -1));
	lkdf_data_put(d);
	lkdf_kind_put(k);
	lkdf_kind_put(b);
	is(device_close(rt), 0, "full: close");
	emu_check(&emu, "full");
}

static void a_kernel_waits_for_a_thread(void)
{
	struct lkdf *rt = api_open("workers=2");
	struct lkdf_kind *k = device_kind(rt, "add");
	struct lkdf_data *d = device_data(rt, 8, 0);
	struct lkdf_event done;
	struct lkdf_place *p;
	struct emu emu;
	uint64_t one = 1;

	emu_init(&emu, EMU_OWN, device_kernels);
	p = emu_register(rt, &emu);
	must(inject_init((void *)(uintptr_t)lkdf_open) ? 0 : -ENOSYS);
	atomic_store(&inject_threads_only, true);
	inject(-1);
	done = device_submit(rt, k, p, d, &one);
	while (atomic_load(&inject_nr) < 3)
		api_nap_ns(50000);
	is(lkdf_event_wait(done, 1000000), 1,
	   "a kernel waits where no thread can be made");
	inject(0);
	is(lkdf_event_wait(done, PATIENCE_NS), 0, "and runs when one can");
	is(device_first_wrong(d, 8, 1), -1, "on the device");
	lkdf_data_put(d);
	lkdf_kind_put(k);
	is(device_close(rt), 0, "late: close");
	emu_check(&emu, "late");
}

int main(void)
{
	tap_start(120);
	each_device_has_a_thread();
	a_full_pool_is_in_nobodys_way();
	if (CAN_INJECT)
		a_kernel_waits_for_a_thread();
	else
		skip("a kernel waits where no thread can be made",
		     "faults cannot be injected here");
	return tap_end();
}
