/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Kernels that were given ahead, and trouble: failures, cancels and a lost
 * device end what they should and nothing else.
 */
#include "tests/api/device/region.h"

/* The third of five fails; a branch from the first goes on. */
static void a_failure_ends_what_is_behind(unsigned flags, bool is_late,
					  const char *how)
{
	struct held h;
	int rc;

	held_open(&h, flags, 0);
	add_step(&h, 0);
	add_copy(&h, 0, 1);
	add_step(&h, 0);
	add_step(&h, 0);
	add_step(&h, 0);
	add_see(&h, 1);
	must(lkdf_graph_seal(h.g, NULL));
	h.e.fails_late = is_late;
	h.e.fail_error[EMU_LAUNCH] = -EIO;
	atomic_store(&h.e.fail_at[EMU_LAUNCH], 3);
	rc = run(h.g, NULL);
	is(rc, -EIO, "%s: the run fails", how);
	is(stat_of(h.rt, "lkdf.skipped"), 2, "%s: what is behind is skipped",
	   how);
	is(atomic_load(&seen), 2, "%s: what is beside it goes on", how);
	is(device_first_wrong(h.d[1], DEVICE_NR, 2), -1,
	   "%s: and has its bytes", how);
	atomic_store(&h.e.fail_at[EMU_LAUNCH], 0);
	lkdf_data_put(h.d[0]);
	h.d[0] = device_data(h.rt, DEVICE_NR, 0);
	held_close(&h, how);
}

/* The bytes of the first do not come; the third writes all of them anew. */
static void who_writes_anew_is_not_undone(unsigned flags, const char *how)
{
	struct lkdf_event done;
	struct held h;

	held_open(&h, EMU_OWN | flags, 0);
	add_step(&h, 0);
	add_copy(&h, 0, 1);
	add_copy(&h, 2, 0);
	add_step(&h, 0);
	must(lkdf_graph_seal(h.g, NULL));
	h.e.fails_late = true;
	h.e.fail_error[EMU_UPLOAD] = -EIO;
	atomic_store(&h.e.fail_at[EMU_UPLOAD], 1);
	emu_hold(&h.e);
	must(lkdf_graph_run(h.g, NULL, NULL, &done));
	emu_until_held(&h.e, 2);
	emu_release(&h.e);
	is(lkdf_event_wait(done, -1), -EIO, "%s: the first fails", how);
	is(device_first_wrong(h.d[0], DEVICE_NR, 4), -1,
	   "%s: what was written anew stays", how);
	is(atomic_load(&h.e.nr[EMU_UPLOAD]), 3,
	   "%s: only the second brings the bytes again", how);
	held_close(&h, how);
}

/* Each upload, launch and fetch in turn: no run hangs or loses memory. */
static void each_entry_fails(unsigned flags, enum emu_entry entry, bool is_late)
{
	struct held h;
	void *bytes;
	int nr, rc = 1;

	for (nr = 1; rc; nr++) {
		held_open(&h, flags | EMU_OWN | EMU_WILD, 0);
		add_step(&h, 0);
		add_copy(&h, 0, 1);
		add_step(&h, 1);
		add_step(&h, 2);
		add_copy(&h, 2, 0);
		add_step(&h, 0);
		must(lkdf_graph_seal(h.g, NULL));
		h.e.fails_late = is_late;
		h.e.fail_error[entry] = -EIO;
		atomic_store(&h.e.fail_at[entry], nr);
		rc = run(h.g, NULL);
		if (rc != -EIO && rc)
			break;
		if (!rc)
			rc = lkdf_data_acquire(h.d[0], LKDF_READ, -1, &bytes) ||
			     (lkdf_data_release(h.d[0]), 0);
		held_close(&h, "a failure");
	}
	is(rc, 0, "entry %d fails %s: each run ends", (int)entry,
	   is_late ? "late" : "at once");
}

static void a_cancel_ends_the_region(void)
{
	struct lkdf_event done;
	struct lkdf_scope *s;
	struct held h;
	unsigned i;

	held_open(&h, EMU_WILD, 0);
	for (i = 0; i < CHAIN; i++)
		add_step(&h, 0);
	must(lkdf_graph_seal(h.g, NULL));
	must(lkdf_scope_create(h.rt, NULL, &s));
	emu_hold(&h.e);
	must(lkdf_graph_run(h.g, s, NULL, &done));
	emu_until_held(&h.e, 10);
	lkdf_scope_cancel(h.rt, s, -ECANCELED);
	emu_release(&h.e);
	is(lkdf_event_wait(done, -1), -ECANCELED, "a cancelled run ends");
	ok(stat_of(h.rt, "lkdf.cancelled") > 0 &&
		   atomic_load(&h.e.nr[EMU_LAUNCH]) < CHAIN,
	   "before all its kernels have run");
	lkdf_scope_wait(h.rt, s, -1);
	lkdf_scope_put(s);
	held_close(&h, "cancel");
}

static void a_lost_device_ends_it(unsigned flags)
{
	struct lkdf_event done;
	struct held h;
	unsigned i;

	held_open(&h, flags, 0);
	for (i = 0; i < CHAIN; i++)
		add_step(&h, 0);
	must(lkdf_graph_seal(h.g, NULL));
	emu_hold(&h.e);
	must(lkdf_graph_run(h.g, NULL, NULL, &done));
	emu_until_held(&h.e, flags & EMU_OWN ? 1 : 10);
	emu_lose(&h.e);
	is(lkdf_event_wait(done, -1), -ENODEV, "a lost device ends the run");
	held_close(&h, "lost");
}

int main(void)
{
	tap_start(120);
	a_failure_ends_what_is_behind(0, false, "launch fails");
	a_failure_ends_what_is_behind(0, true, "launch fails late");
	a_failure_ends_what_is_behind(EMU_OWN, false, "own, launch fails");
	a_failure_ends_what_is_behind(EMU_OWN, true, "own, fails late");
	each_entry_fails(0, EMU_UPLOAD, false);
	each_entry_fails(0, EMU_UPLOAD, true);
	each_entry_fails(0, EMU_LAUNCH, false);
	each_entry_fails(0, EMU_LAUNCH, true);
	each_entry_fails(0, EMU_FETCH, false);
	each_entry_fails(0, EMU_FETCH, true);
	each_entry_fails(EMU_QUIET, EMU_UPLOAD, true);
	each_entry_fails(EMU_QUIET, EMU_LAUNCH, false);
	each_entry_fails(EMU_QUIET | EMU_POLLS, EMU_LAUNCH, true);
	who_writes_anew_is_not_undone(0, "anew");
	who_writes_anew_is_not_undone(EMU_WILD, "anew, wild");
	a_cancel_ends_the_region();
	a_lost_device_ends_it(0);
	a_lost_device_ends_it(EMU_OWN);
	return tap_end();
}
