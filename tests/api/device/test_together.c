/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Upload, launch and fetch of one task go to a device together where its queues
 * for kernels take copies, and the device tells one end of them; failures of
 * each end the task and nothing else.
 */
#include "tests/api/device/region.h"

#define LARGE (EMU_COPY_BYTES / sizeof(uint64_t) + 1)

/* A data of the program's own: its bytes go there and back. */
static struct lkdf_data *wrap(struct lkdf *rt, uint64_t *x)
{
	struct lkdf_data *d = NULL;

	memset(x, 0, DEVICE_NR * sizeof(*x));
	must(lkdf_data_create(rt,
			      ATTR(lkdf_data_attr, .wrap = x,
				   .bytes = DEVICE_NR * sizeof(*x)),
			      &d));
	return d;
}

static void all_is_given_at_once(unsigned flags, int told, const char *how)
{
	uint64_t x[DEVICE_NR], one = 1;
	struct lkdf_event done;
	struct lkdf_data *d;
	struct held h;

	held_open(&h, flags | EMU_OWN | EMU_TOGETHER, 0);
	d = wrap(h.rt, x);
	emu_hold(&h.e);
	done = device_submit(h.rt, h.step, h.p, d, &one);
	emu_until_held(&h.e, 3);
	is(atomic_load(&h.e.nr[EMU_UPLOAD]), 1, "%s: the upload is given", how);
	is(atomic_load(&h.e.nr[EMU_LAUNCH]), 1, "%s: the launch as well", how);
	is(atomic_load(&h.e.nr[EMU_FETCH]), 1, "%s: and the fetch", how);
	is(3 - atomic_load(&h.e.nr_quiet), told, "%s: ends that are told", how);
	emu_release(&h.e);
	is(lkdf_event_wait(done, -1), 0, "%s: the task ends", how);
	is(device_first_wrong(d, DEVICE_NR, 1), -1, "%s: and is right", how);
	lkdf_data_put(d);
	held_close(&h, how);
}

/* What is larger goes by the queues for copies. */
static void large_copies_go_alone(void)
{
	uint64_t one = 1;
	struct lkdf_data *d;
	struct held h;

	held_open(&h, EMU_OWN | EMU_TOGETHER, 0);
	emu_hold(&h.e);
	d = device_data(h.rt, LARGE, 0);
	device_submit(h.rt, h.step, h.p, d, &one);
	emu_until_held(&h.e, 1);
	api_nap_ns(20000000);
	is(atomic_load(&h.e.nr[EMU_LAUNCH]), 0, "a large upload is waited for");
	emu_release(&h.e);
	is(device_first_wrong(d, LARGE, 1), -1, "large: right");
	lkdf_data_put(d);
	held_close(&h, "large");
}

/* Of two tasks in a row, with quiet ops or not: each is told. */
static void each_failure_is_told(unsigned flags, enum emu_entry entry,
				 bool is_late)
{
	uint64_t x[DEVICE_NR], one = 1;
	struct lkdf_event done;
	struct lkdf_data *d;
	struct held h;
	int nr, rc;

	for (nr = 1; nr <= 2; nr++) {
		held_open(&h, flags | EMU_OWN | EMU_TOGETHER, 0);
		d = wrap(h.rt, x);
		h.e.fails_late = is_late;
		h.e.fail_error[entry] = -EIO;
		atomic_store(&h.e.fail_at[entry], nr);
		rc = device_call(h.rt, h.step, h.p, d, &one);
		is(rc, nr == 1 ? -EIO : 0, "entry %d, call %d: the first",
		   (int)entry, nr);
		if (rc)
			ok(strstr(lkdf_errmsg(), entry == EMU_UPLOAD  ? "upload"
						 : entry == EMU_FETCH ? "fetch"
						 : is_late	      ? "run"
							   : "launch") != NULL,
			   "the error tells which: %s", lkdf_errmsg());
		done = device_submit(h.rt, h.step, h.p, d, &one);
		lkdf_event_wait(done, -1);
		lkdf_data_put(d);
		held_close(&h, "a failure");
	}
}

/* Two kernels, and behind them a body, or a thread, that reads. */
static void bytes_go_where_they_are_awaited(unsigned flags, const char *how)
{
	struct lkdf_event done;
	struct lkdf_data *d;
	struct lkdf_use use;
	uint64_t one = 1;
	struct held h;

	held_open(&h, flags | EMU_OWN | EMU_TOGETHER, 0);
	d = device_data(h.rt, DEVICE_NR, 0);
	use = (struct lkdf_use){ d, LKDF_READ, 0 };
	emu_hold(&h.e);
	lkdf_event_put(device_submit(h.rt, h.step, h.p, d, &one));
	lkdf_event_put(device_submit(h.rt, h.step, h.p, d, &one));
	must(lkdf_submit(h.rt, NULL,
			 LKDF_TASK(.kind = h.see, .arg = &one, .use = &use,
				   .nr_use = 1),
			 &done));
	emu_until_held(&h.e, 2);
	is(atomic_load(&h.e.nr[EMU_FETCH]), 0,
	   "%s: a kernel behind it needs no bytes on the host", how);
	emu_let(&h.e, 2);
	emu_until_held(&h.e, 4);
	is(atomic_load(&h.e.nr[EMU_FETCH]), 1,
	   "%s: they come home behind the second launch", how);
	emu_release(&h.e);
	is(lkdf_event_wait(done, -1), 0, "%s: the body is run", how);
	is(atomic_load(&seen), 4, "%s: and has them", how);
	is(atomic_load(&h.e.nr[EMU_FETCH]), 1, "%s: once", how);
	lkdf_data_put(d);
	held_close(&h, how);
}

int main(void)
{
	tap_start(120);
	all_is_given_at_once(0, 3, "told");
	all_is_given_at_once(EMU_QUIET, 1, "quiet");
	large_copies_go_alone();
	bytes_go_where_they_are_awaited(0, "awaited");
	bytes_go_where_they_are_awaited(EMU_QUIET, "awaited, quiet");
	each_failure_is_told(0, EMU_UPLOAD, true);
	each_failure_is_told(EMU_QUIET, EMU_UPLOAD, true);
	each_failure_is_told(EMU_QUIET, EMU_UPLOAD, false);
	each_failure_is_told(EMU_QUIET, EMU_LAUNCH, true);
	each_failure_is_told(EMU_QUIET, EMU_LAUNCH, false);
	each_failure_is_told(EMU_QUIET | EMU_POLLS, EMU_FETCH, true);
	each_failure_is_told(EMU_QUIET | EMU_POLLS, EMU_FETCH, false);
	return tap_end();
}
