/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A device with LKDF_DEVICE_QUIET is asked for few ends of a chain, and each
 * end is known all the same: by a later one, by a mark, or by a failure.
 */
#include "tests/api/device/region.h"

static void few_ends_are_told(unsigned flags, const char *how)
{
	struct held h;
	unsigned i;
	int quiet;

	held_open(&h, flags | EMU_QUIET, 0);
	for (i = 0; i < CHAIN; i++)
		add_step(&h, 0);
	must(lkdf_graph_seal(h.g, NULL));
	for (i = 1; i <= 3; i++) {
		is(run(h.g, NULL), 0, "%s: a chain of kernels", how);
		is(device_first_wrong(h.d[0], DEVICE_NR, steps(0, i * CHAIN)),
		   -1, "%s: each after the other", how);
	}
	quiet = atomic_load(&h.e.nr_quiet);
	ok(quiet >= 3 * CHAIN * 4 / 5, "%s: four of five are quiet", how);
	printf("# %d of %d\n", quiet, 3 * CHAIN);
	is(stat_of(h.rt, "lkdf.device.kernels"), 3 * CHAIN,
	   "%s: each is counted", how);
	is(atomic_load(&h.e.nr[EMU_MARK]), 0, "%s: none needs a mark", how);
	held_close(&h, how);
}

/* A tool is told when each kernel ends. */
static void a_recording_has_each_end(void)
{
	char file[] = "/tmp/lkdf-quiet.XXXXXX", options[64];
	int fd = mkstemp(file);
	struct held h;
	unsigned i;

	must(fd < 0 ? -errno : 0);
	snprintf(options, sizeof(options), "workers=2,trace=%s", file);
	held_open_with(&h, options, EMU_QUIET, 0);
	for (i = 0; i < CHAIN; i++)
		add_step(&h, 0);
	must(lkdf_graph_seal(h.g, NULL));
	is(run(h.g, NULL), 0, "a chain that is recorded");
	is(atomic_load(&h.e.nr_quiet), 0, "has no quiet launch");
	held_close(&h, "recorded");
	unlink(file);
	close(fd);
}

/* Two quiet ones, and the third, which is told, is refused. */
static void a_mark_covers_what_nothing_follows(bool fails, const char *how)
{
	struct lkdf_event done;
	struct held h;
	unsigned i;

	held_open(&h, EMU_QUIET, 0);
	for (i = 0; i < 3; i++)
		add_step(&h, 0);
	must(lkdf_graph_seal(h.g, NULL));
	h.e.fail_error[EMU_LAUNCH] = h.e.fail_error[EMU_MARK] = -EIO;
	atomic_store(&h.e.fail_at[EMU_LAUNCH], 3);
	atomic_store(&h.e.fail_at[EMU_MARK], fails);
	/* A lost device touches no memory any more. */
	if (fails)
		emu_hold(&h.e);
	must(lkdf_graph_run(h.g, NULL, NULL, &done));
	is(lkdf_event_wait(done, PATIENCE_NS), fails ? -ENODEV : -EIO,
	   "%s: the run ends", how);
	is(atomic_load(&h.e.nr_quiet), 2, "%s: two were quiet", how);
	is(atomic_load(&h.e.nr[EMU_MARK]), 1, "%s: one mark", how);
	if (fails)
		emu_lose(&h.e);
	held_close(&h, how);
}

static void a_failure_is_that_of_its_kernel(unsigned flags, const char *how)
{
	struct held h;
	unsigned i;

	held_open(&h, flags | EMU_QUIET, 0);
	for (i = 0; i < 6; i++)
		add_step(&h, 0);
	must(lkdf_graph_seal(h.g, NULL));
	h.e.fails_late = true;
	h.e.fail_error[EMU_LAUNCH] = -EIO;
	atomic_store(&h.e.fail_at[EMU_LAUNCH], 4);
	is(run(h.g, NULL), -EIO, "%s: the run fails", how);
	is(atomic_load(&h.e.nr_quiet), 5, "%s: all but the last were quiet",
	   how);
	is(stat_of(h.rt, "lkdf.skipped"), 2, "%s: two are behind it", how);
	atomic_store(&h.e.fail_at[EMU_LAUNCH], 0);
	held_close(&h, how);
}

static void flags_go_together(void)
{
	struct lkdf *rt = api_open("workers=1");
	struct lkdf_device_ops ops;
	struct lkdf_place *p;
	struct emu e;

	emu_init(&e, EMU_QUIET, device_kernels);
	ops = emu_ops(&e);
	is(lkdf_place_register(rt, &ops, &e, &p), -EINVAL,
	   "quiet without an order is refused");
	ops.flags |= LKDF_DEVICE_ORDERED;
	ops.queue = NULL;
	ops.mark = NULL;
	is(lkdf_place_register(rt, &ops, &e, &p), -EINVAL, "and without marks");
	is(device_close(rt), 0, "flags: close");
}

int main(void)
{
	tap_start(120);
	few_ends_are_told(0, "host");
	few_ends_are_told(EMU_OWN, "own");
	few_ends_are_told(EMU_OWN | EMU_POLLS | EMU_WILD, "polls");
	a_recording_has_each_end();
	a_mark_covers_what_nothing_follows(false, "mark");
	a_mark_covers_what_nothing_follows(true, "no mark");
	a_failure_is_that_of_its_kernel(0, "fails");
	a_failure_is_that_of_its_kernel(EMU_POLLS | EMU_WILD, "fails, polls");
	flags_go_together();
	return tap_end();
}
