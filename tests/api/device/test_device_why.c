/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf_why() of tasks that wait for a device: for its memory, for their turn in
 * its queue, for bytes to come home. The device is held meanwhile.
 */
#include "tests/api/device/device.h"
#include "tests/api/why.h"

#define MUCH 4096 /* uint64_t: two of them are more than the memory */

struct fixture {
	struct lkdf *rt;
	struct lkdf_place *p;
	struct emu e;
	struct lkdf_kind *add, *see;
	struct lkdf_data *d[3];
};

static int see_body(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	return lkdf_ptr(c, 0) ? 0 : -EINVAL;
}

static void start(struct fixture *f)
{
	unsigned i;

	emu_init(&f->e, EMU_OWN, device_kernels);
	f->e.nr_queues = 1;
	f->e.memory = 3 * MUCH * sizeof(uint64_t) / 2;
	f->rt = api_open("workers=2");
	f->p = emu_register(f->rt, &f->e);
	f->add = device_kind(f->rt, "add");
	f->see = api_kind(f->rt, "see", see_body, sizeof(uint64_t), 0);
	for (i = 0; i < 3; i++)
		f->d[i] = device_data(f->rt, MUCH, 0);
}

static void stop(struct fixture *f, const char *how)
{
	unsigned i;

	for (i = 0; i < 3; i++)
		lkdf_data_put(f->d[i]);
	lkdf_kind_put(f->add);
	lkdf_kind_put(f->see);
	is(device_close(f->rt), 0, "%s: close", how);
	emu_check(&f->e, how);
}

static void memory_and_the_queue_are_named(void)
{
	struct lkdf_event done[3];
	struct fixture f;
	uint64_t one = 1;
	unsigned i;

	start(&f);
	emu_hold(&f.e);
	done[0] = device_submit(f.rt, f.add, f.p, f.d[0], &one);
	emu_until_held(&f.e, 1);
	why_until(f.rt,
		  "task \"add\" waits for its bytes to come to device emu");
	done[1] = device_submit(f.rt, f.add, f.p, f.d[1], &one);
	why_until(f.rt, "for 32768 bytes on device emu: 32768 of its 49152");
	done[2] = device_submit(f.rt, f.add, f.p, f.d[2], &one);
	why_until(f.rt, "for device emu to take it, where kernel add waits for "
			"memory");
	has(why_says(f.rt, "json"), "\"cause\":\"device\"", "as JSON, too");
	emu_release(&f.e);
	for (i = 0; i < 3; i++)
		is(lkdf_event_wait(done[i], -1), 0, "then all of them run");
	stop(&f, "memory");
}

/* One queue takes four kernels. */
static void a_full_queue_is_named(void)
{
	struct lkdf_event done[6];
	struct lkdf_data *d[6];
	struct fixture f;
	uint64_t one = 1;
	unsigned i;

	start(&f);
	emu_hold(&f.e);
	for (i = 0; i < 6; i++) {
		d[i] = device_data(f.rt, DEVICE_NR, 0);
		done[i] = device_submit(f.rt, f.add, f.p, d[i], &one);
	}
	why_until(f.rt,
		  "for device emu to take it, which has 4 under way, its most");
	emu_release(&f.e);
	for (i = 0; i < 6; i++) {
		is(lkdf_event_wait(done[i], -1), 0, "then they run");
		lkdf_data_put(d[i]);
	}
	stop(&f, "queue");
}

static void *acquire_it(void *arg)
{
	void *bytes;

	must(lkdf_data_acquire(arg, LKDF_READ, -1, &bytes));
	lkdf_data_release(arg);
	return NULL;
}

static void bytes_that_come_home_are_named(void)
{
	struct lkdf_use use;
	struct lkdf_event done;
	struct fixture f;
	pthread_t thread;
	uint64_t one = 1;

	start(&f);
	is(device_call(f.rt, f.add, f.p, f.d[0], &one), 0,
	   "a kernel leaves its bytes on the device");
	emu_hold(&f.e);
	use = (struct lkdf_use){ f.d[0], LKDF_READ, 0 };
	must(lkdf_submit(f.rt, NULL,
			 LKDF_TASK(.kind = f.see, .arg = &one, .use = &use,
				   .nr_use = 1),
			 &done));
	why_until(f.rt, "task \"see\" waits for the bytes of ");
	has(why_says(f.rt, "text"), " to come home from device emu",
	    "and from where");
	pthread_create(&thread, NULL, acquire_it, f.d[0]);
	why_until(f.rt, "a thread in lkdf_data_acquire() waits for the bytes");
	emu_release(&f.e);
	pthread_join(thread, NULL);
	is(lkdf_event_wait(done, -1), 0, "then the task runs");
	ok(!strstr(why_says(f.rt, "text"), "to come home"),
	   "and nothing waits");
	stop(&f, "home");
}

static void close_tells_what_devices_hold(void)
{
	struct lkdf *rt = api_open("workers=1");
	struct lkdf_kind *k = device_kind(rt, "add");
	struct lkdf_data *d[3];
	struct lkdf_event done[3];
	struct lkdf_place *p;
	uint64_t arg = 1;
	struct emu e;
	int i;

	emu_init(&e, 0, device_kernels);
	p = emu_register(rt, &e);
	emu_hold(&e);
	for (i = 0; i < 3; i++) {
		d[i] = device_data(rt, 10, 0);
		done[i] = device_submit(rt, k, p, d[i], &arg);
	}
	emu_until_held(&e, 3);
	is(lkdf_close(rt), -EBUSY, "a runtime whose device works stays open");
	has(lkdf_errmsg(),
	    "3 tasks or runs are alive: device emu holds kernel "
	    "add and 2 more",
	    "close tells which device holds what");
	emu_release(&e);
	for (i = 0; i < 3; i++) {
		is(lkdf_event_wait(done[i], -1), 0, "kernel %d ends", i);
		lkdf_data_put(d[i]);
	}
	lkdf_kind_put(k);
	is(device_close(rt), 0, "and then it closes");
	emu_check(&e, "held");
}

int main(void)
{
	tap_start(120);
	memory_and_the_queue_are_named();
	a_full_queue_is_named();
	bytes_that_come_home_are_named();
	close_tells_what_devices_hold();
	return tap_end();
}
