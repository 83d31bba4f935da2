/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * How a launcher waits for a device: a device that is polled is asked more
 * rarely the longer nothing comes, a device that was armed and never wakes is
 * asked all the same, a loss that the device tells late ends its tasks, and a
 * device that calls is asked for the calls that it forgets.
 */
#include "tests/api/device/device.h"

#define SECOND_NS 1000000000ll

struct fixture {
	struct emu emu;
	struct lkdf *rt;
	struct lkdf_place *p;
	struct lkdf_kind *k;
	struct lkdf_data *d;
};

static void begin(struct fixture *f, unsigned flags, const char *options)
{
	emu_init(&f->emu, flags, device_kernels);
	f->rt = api_open(options);
	f->p = emu_register(f->rt, &f->emu);
	f->k = device_kind(f->rt, "add");
	f->d = device_data(f->rt, 8, 1);
}

static struct lkdf_event give(struct fixture *f)
{
	const uint64_t one = 1;

	return device_submit(f->rt, f->k, f->p, f->d, &one);
}

static void end(struct fixture *f, const char *how)
{
	lkdf_data_put(f->d);
	lkdf_kind_put(f->k);
	is(device_close(f->rt), 0, "%s: close", how);
	emu_check(&f->emu, how);
}

/* A kernel that ends long after the device was armed. */
static void an_arm_that_never_wakes_is_looked_after(void)
{
	struct fixture f;
	struct lkdf_event done;

	begin(&f, EMU_POLLS | EMU_ARMS | EMU_DEAF, "workers=2");
	emu_hold(&f.emu);
	done = give(&f);
	while (!atomic_load(&f.emu.nr[EMU_ARM]))
		api_nap_ns(50000);
	emu_release(&f.emu);
	is(lkdf_event_wait(done, PATIENCE_NS), 0,
	   "a kernel ends though its device wakes nobody");
	is(device_first_wrong(f.d, 8, 2), -1, "and it has run");
	end(&f, "deaf");
}

static void a_loss_that_is_told_late_ends_its_task(void)
{
	struct lkdf_device_info info = { .size = sizeof(info) };
	struct fixture f;
	struct lkdf_event done;

	begin(&f, EMU_POLLS | EMU_ARMS | EMU_DEAF | EMU_LATE, "workers=2");
	emu_hold(&f.emu);
	done = give(&f);
	while (!atomic_load(&f.emu.nr[EMU_ARM]))
		api_nap_ns(50000);
	emu_lose(&f.emu);
	is(lkdf_event_wait(done, PATIENCE_NS), -ENODEV,
	   "the task of a lost device fails, though the loss is told late");
	has(lkdf_errmsg(), "device emu is lost: poll: ", "it says who told");
	is(lkdf_place_info(f.p, &info), -ENODEV, "the place is lost");
	has(lkdf_errmsg(), "is lost: poll: ", "and says so, too");
	end(&f, "late");
}

/* The naps are a 64th of the age, and 1 ms at most. */
static void polls_become_rare(void)
{
	struct fixture f;
	struct lkdf_event done;
	int64_t begun, ms;
	int nr;

	begin(&f, EMU_POLLS, "workers=2,device_spin_us=0");
	emu_hold(&f.emu);
	begun = emu_now_ns();
	done = give(&f);
	api_nap_ns(SECOND_NS / 4);
	while (atomic_load(&f.emu.nr[EMU_POLL]) < 10)
		api_nap_ns(50000);
	nr = atomic_load(&f.emu.nr[EMU_POLL]);
	ms = (emu_now_ns() - begun) / 1000000;
	ok(true, "a device that is polled is asked, %d times", nr);
	ok(nr < 64 + 64 * 8 + ms, "but no more than its age allows");
	emu_release(&f.emu);
	is(lkdf_event_wait(done, PATIENCE_NS), 0, "the kernel ends");
	end(&f, "rare");
}

static void calls_that_are_forgotten_are_asked_for(void)
{
	const char *const options[] = { "workers=2", "serial=yes" };
	const char *how;
	struct fixture f;
	int64_t begun, ms;
	int i, nr;

	for (i = 0; i < 2; i++) {
		how = options[i];
		begin(&f, EMU_POLLS | EMU_CALLS, how);
		begun = emu_now_ns();
		for (nr = 0; nr < 100; nr++)
			if (lkdf_event_wait(give(&f), PATIENCE_NS))
				break;
		is(nr, 100, "%s: kernels of a device that calls end", how);
		nr = atomic_load(&f.emu.nr[EMU_POLL]);
		ms = (emu_now_ns() - begun) / 1000000;
		ok(nr <= ms / 100 + 1, "%s: %d polls in %d ms", how, nr,
		   (int)ms);
		atomic_store(&f.emu.nr_forgets, 1);
		is(lkdf_event_wait(give(&f), PATIENCE_NS), 0,
		   "%s: and so does one whose call was forgotten", how);
		is(device_first_wrong(f.d, 8, 102), -1, "%s: all have run",
		   how);
		end(&f, how);
	}
}

/* ---- events of the program ---------------------------------------------- */

static struct {
	void (*fired)(void *u, int error);
	void *u;
	atomic_int has_come;
} bell;

static int watch_bell(void *dev, void *event, void (*fired)(void *u, int error),
		      void *u)
{
	(void)dev;
	(void)event;
	bell.fired = fired;
	bell.u = u;
	return 0;
}

/* The driver has forgotten the call. */
static int poll_bell(void *dev)
{
	if (atomic_exchange(&bell.has_come, 0))
		bell.fired(bell.u, -EIO);
	return emu_poll(dev);
}

static void events_that_are_forgotten_are_asked_for(void)
{
	struct lkdf *rt = api_open("workers=2");
	struct lkdf_device_ops ops;
	struct lkdf_place *p;
	struct lkdf_event e;
	struct emu emu;

	emu_init(&emu, EMU_POLLS | EMU_CALLS, device_kernels);
	ops = emu_ops(&emu);
	ops.watch = watch_bell;
	ops.poll = poll_bell;
	must(lkdf_place_register(rt, &ops, &emu, &p));
	must(lkdf_event_from_device(p, &bell, &e));
	is(lkdf_event_wait(e, 1000000), 1, "an event that has not come");
	atomic_store(&bell.has_come, 1);
	is(lkdf_event_wait(e, PATIENCE_NS), -EIO,
	   "fires with its error, though the call was forgotten");
	is(device_close(rt), 0, "events: close");
	emu_check(&emu, "events");
}

int main(void)
{
	tap_start(120);
	an_arm_that_never_wakes_is_looked_after();
	a_loss_that_is_told_late_ends_its_task();
	polls_become_rare();
	calls_that_are_forgotten_are_asked_for();
	events_that_are_forgotten_are_asked_for();
	return tap_end();
}
