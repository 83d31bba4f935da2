/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A process with two emulated devices, for tests of the tools:
 *
 *	device_target whole	a chain of kernels in a graph and a body behind
 *				it, kernels that want more memory than there
 *				is, and the end
 *	device_target serial	the same without threads, which cannot be held
 *	device_target busy	kernels on both, until it is ended, and 12288
 *				bytes of the first for the program; it says "up"
 *	device_target room	a kernel waits for the memory of another, which
 *				does not end; it says "up"
 */
#include "tests/api/device/region.h"

#include <signal.h>
#include <sys/prctl.h>

#define MUCH 4096 /* uint64_t: two of them are more than the memory */

static struct emu emu[2];
static struct lkdf_place *place[2];

static struct lkdf *open_with_devices(const char *options)
{
	struct lkdf *rt = api_open(options);
	unsigned i;

	for (i = 0; i < 2; i++) {
		emu_init(&emu[i], i ? EMU_OWN : EMU_OWN | EMU_ORDERED,
			 device_kernels);
		emu[i].nr_queues = i + 1;
		emu[i].memory = i ? 3 * MUCH * sizeof(uint64_t) / 2 : 1 << 20;
		place[i] = emu_register(rt, &emu[i]);
	}
	return rt;
}

static void chain(struct lkdf *rt)
{
	struct lkdf_kind *step = device_kind(rt, "step");
	struct lkdf_kind *see =
		api_kind(rt, "see", see_body, sizeof(uint64_t), 0);
	struct lkdf_data *d = device_data(rt, DEVICE_NR, 0);
	struct lkdf_use use = { d, LKDF_RW, 0 };
	struct lkdf_graph *g;
	unsigned i;

	must(lkdf_graph_create(rt, NULL, &g));
	for (i = 0; i < CHAIN; i++)
		add_task(g, step, place[0], &use, 1, 1);
	use.mode = LKDF_READ;
	add_task(g, see, NULL, &use, 1, 0);
	must(lkdf_graph_seal(g, NULL));
	must(run(g, NULL));
	lkdf_graph_put(g);
	lkdf_data_put(d);
	lkdf_kind_put(step);
	lkdf_kind_put(see);
}

/* Both are with the device at once, and one of them has no room. */
static void want_memory(struct lkdf *rt)
{
	struct lkdf_kind *add = device_kind(rt, "add");
	struct lkdf_data *d[2];
	struct lkdf_event done[2];
	uint64_t one = 1;
	unsigned i;

	emu_hold(&emu[1]);
	for (i = 0; i < 2; i++) {
		d[i] = device_data(rt, MUCH, 0);
		done[i] = device_submit(rt, add, place[1], d[i], &one);
	}
	emu_until_held(&emu[1], 1);
	emu_release(&emu[1]);
	for (i = 0; i < 2; i++)
		must(lkdf_event_wait(done[i], -1));
	for (i = 0; i < 2; i++)
		lkdf_data_put(d[i]);
	lkdf_kind_put(add);
}

static void be_busy(struct lkdf *rt)
{
	struct lkdf_kind *add = device_kind(rt, "add");
	struct lkdf_data *d[2];
	struct lkdf_event done[2];
	uint64_t one = 1;
	void *held;
	unsigned i;

	must(lkdf_alloc(place[0], LKDF_MEM_OWN, 12288, 0, "held", &held));
	for (i = 0; i < 2; i++)
		d[i] = device_data(rt, MUCH, 0);
	puts("up");
	fflush(stdout);
	for (;;) {
		for (i = 0; i < 2; i++)
			done[i] = device_submit(rt, add, place[i], d[i], &one);
		for (i = 0; i < 2; i++)
			must(lkdf_event_wait(done[i], -1));
		device_first_wrong(d[0], 0, 0);
	}
}

static void wait_for_room(struct lkdf *rt)
{
	struct lkdf_kind *add = device_kind(rt, "add");
	uint64_t one = 1;

	emu_hold(&emu[1]);
	device_submit(rt, add, place[1], device_data(rt, MUCH, 0), &one);
	emu_until_held(&emu[1], 1);
	device_submit(rt, add, place[1], device_data(rt, MUCH, 0), &one);
	puts("up");
	fflush(stdout);
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	struct lkdf *rt;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	rt = open_with_devices("workers=2");
	if (!strcmp(how, "busy"))
		be_busy(rt);
	if (!strcmp(how, "room"))
		wait_for_room(rt);
	/* The chain at last: the report's goes back from what ended last. */
	if (strcmp(how, "serial"))
		want_memory(rt);
	chain(rt);
	return device_close(rt) ? 1 : 0;
}
