/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Code is built beside the launcher where the device allows it: while a build
 * lasts kernels of other kinds run, an urgent one first of all, those of its
 * own kind wait, and lkdf_why() tells so; a build that fails is the error of
 * all of them, and a device may be lost meanwhile.
 */
#include "tests/api/device/device.h"
#include "tests/api/why.h"

#define NR_SLOW 20 /* more than the device has under way */

static struct emu emu;
static struct lkdf *rt;
static struct lkdf_place *place;

static void begin(const char *options)
{
	emu_init(&emu, EMU_OWN | EMU_BUILDS | EMU_ORDERED, device_kernels);
	rt = api_open(options);
	place = emu_register(rt, &emu);
}

static void end(const char *how)
{
	is(device_close(rt), 0, "%s: close", how);
	emu_check(&emu, how);
}

static void others_go_on_while_code_is_built(void)
{
	struct lkdf_kind *slow, *quick;
	struct lkdf_event done[NR_SLOW];
	struct lkdf_data *d, *other;
	uint64_t one = 1;
	int i, nr = 0;

	begin("workers=2");
	slow = device_kind(rt, "add");
	quick = device_kind(rt, "step");
	d = device_data(rt, 8, 0);
	other = device_data(rt, 8, 1);
	is(device_call(rt, quick, place, other, &one), 0, "a kernel is built");
	atomic_store(&emu.build_is_held, 1);
	for (i = 0; i < NR_SLOW; i++)
		done[i] = device_submit(rt, slow, place, d, &one);
	while (atomic_load(&emu.nr[EMU_BUILD]) < 2)
		api_nap_ns(50000);
	for (i = 0; i < 10; i++)
		nr += !lkdf_event_wait(device_submit(rt, quick, place, other,
						     &one),
				       PATIENCE_NS);
	is(nr, 10, "its kernels run while another kind is built");
	is(lkdf_event_wait(done[0], 0), 1, "whose kernels wait");
	atomic_store(&emu.build_is_held, 0);
	for (i = 0, nr = 0; i < NR_SLOW; i++)
		nr += !lkdf_event_wait(done[i], PATIENCE_NS);
	is(nr, NR_SLOW, "they run once it is built");
	is(device_first_wrong(d, 8, NR_SLOW), -1, "and are right");
	is(atomic_load(&emu.nr[EMU_BUILD]), 2, "each kind is built once");
	lkdf_data_put(d);
	lkdf_data_put(other);
	lkdf_kind_put(slow);
	lkdf_kind_put(quick);
	end("beside");
}

static void a_build_that_fails_is_told_to_all(void)
{
	struct lkdf_event done[3];
	struct lkdf_kind *k;
	struct lkdf_data *d[3];
	uint64_t one = 1;
	int i;

	begin("workers=2");
	k = device_kind(rt, "add");
	emu.fail_error[EMU_BUILD] = -ENOEXEC;
	atomic_store(&emu.fail_at[EMU_BUILD], 1);
	atomic_store(&emu.build_is_held, 1);
	for (i = 0; i < 3; i++) {
		d[i] = device_data(rt, 8, 0);
		done[i] = device_submit(rt, k, place, d[i], &one);
	}
	while (!atomic_load(&emu.nr[EMU_BUILD]))
		api_nap_ns(50000);
	why_until(rt, "for device emu to compile it");
	atomic_store(&emu.build_is_held, 0);
	for (i = 0; i < 3; i++) {
		is(lkdf_event_wait(done[i], PATIENCE_NS), -ENOEXEC,
		   "a build that fails is the error of kernel %d", i);
		lkdf_data_put(d[i]);
	}
	lkdf_kind_put(k);
	end("fails");
}

static void a_device_is_lost_while_it_builds(void)
{
	struct lkdf_event slow, held;
	struct lkdf_kind *k, *other;
	struct lkdf_data *d, *e;
	uint64_t one = 1;

	begin("workers=2");
	k = device_kind(rt, "add");
	other = device_kind(rt, "step");
	d = device_data(rt, 8, 0);
	e = device_data(rt, 8, 0);
	must(device_call(rt, other, place, e, &one));
	atomic_store(&emu.build_is_held, 1);
	slow = device_submit(rt, k, place, d, &one);
	emu_hold(&emu);
	held = device_submit(rt, other, place, e, &one);
	emu_until_held(&emu, 1);
	emu_lose(&emu);
	is(lkdf_event_wait(held, PATIENCE_NS), -ENODEV, "the device is lost");
	is(lkdf_event_wait(slow, 0), 1, "while it builds");
	atomic_store(&emu.build_is_held, 0);
	is(lkdf_event_wait(slow, PATIENCE_NS), -ENODEV,
	   "the kernel that waited for its code fails then");
	lkdf_data_put(d);
	lkdf_data_put(e);
	lkdf_kind_put(k);
	lkdf_kind_put(other);
	end("lost");
}

int main(void)
{
	tap_start(120);
	others_go_on_while_code_is_built();
	a_build_that_fails_is_told_to_all();
	a_device_is_lost_while_it_builds();
	return tap_end();
}
