/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A library of a tool is told of kernels of devices and of bytes that go there
 * and back, though nothing is recorded: each begins and ends once, also where
 * the device fails or is lost.
 */
#include "tests/api/device/device.h"
#include "tests/api/hooks.h"

#define NR DEVICE_NR

struct told {
	struct lkdf *rt;
	struct emu e[2];
	struct lkdf_place *p[2];
	struct lkdf_kind *add;
	struct lkdf_data *d;
	FILE *f;
	int old;
};

static void start(struct told *t, const char *options, unsigned flags)
{
	char text[600];
	int i;

	snprintf(text, sizeof(text), "%s,hooks=%s", options, hooks_library());
	t->f = tmpfile();
	t->rt = api_open(text);
	for (i = 0; i < 2; i++) {
		emu_init(&t->e[i], flags, device_kernels);
		t->p[i] = emu_register(t->rt, &t->e[i]);
	}
	t->add = device_kind(t->rt, "add");
	t->d = device_data(t->rt, NR, 1);
	t->old = redirect(t->f);
}

static void stop(struct told *t, const char *how)
{
	int i;

	lkdf_data_put(t->d);
	lkdf_kind_put(t->add);
	is(device_close(t->rt), 0, "%s: close", how);
	take_stderr(t->f, t->old);
	for (i = 0; i < 2; i++)
		emu_check(&t->e[i], how);
	is(hooks_nr_odd(), 0, "%s: each id is used once and ends once", how);
	ok(strstr(said, "kernels, 0 not ended"), "%s: no kernel is left", how);
}

static void call(struct told *t, int device, int want, const char *how)
{
	const uint64_t one = 1;

	is(device_call(t->rt, t->add, t->p[device], t->d, &one), want,
	   "%s: a kernel on device %d", how, device);
}

static void kernels_are_told(const char *options, unsigned flags)
{
	struct told t;
	int i;

	start(&t, options, flags);
	for (i = 0; i < 3; i++)
		call(&t, 0, 0, options);
	call(&t, 1, 0, options);
	is(device_first_wrong(t.d, NR, 5), -1, "%s: they have run", options);
	stop(&t, options);
	is(hooks_nr("kernel", NULL), 4, "%s: each is told", options);
	is(hooks_nr("kernel", "add on device 0"), 3,
	   "%s: by the kind's name and the device", options);
	is(hooks_nr("kernel", "add on device 1"), 1, "%s: on both", options);
	is(hooks_nr("copy", "upload of 512 bytes to node -1"),
	   flags & EMU_OWN ? 2 : 0, "%s: bytes go to each once", options);
	is(hooks_nr("copy", "fetch of 512 bytes to node -1"),
	   flags & EMU_OWN ? 2 : 0, "%s: and back", options);
}

static void one_that_is_refused_ends(bool is_late)
{
	const char *how = is_late ? "fails late" : "refused";
	struct told t;

	start(&t, "workers=2", EMU_OWN);
	t.e[0].fails_late = is_late;
	t.e[0].fail_error[EMU_LAUNCH] = -EIO;
	atomic_store(&t.e[0].fail_at[EMU_LAUNCH], 1);
	call(&t, 0, -EIO, how);
	stop(&t, how);
	is(hooks_nr("kernel", "add on device 0"), 1, "%s: it was told", how);
}

static void blocks_have_device_and_kind(void)
{
	char want[64];
	struct told t;
	void *at;

	start(&t, "workers=2", EMU_OWN);
	must(lkdf_alloc(t.p[1], LKDF_MEM_OWN, 4096, 0, "there", &at));
	lkdf_free(t.rt, at);
	stop(&t, "blocks");
	snprintf(want, sizeof(want), "that block is of kind %d of device 1\n",
		 (int)LKDF_MEM_OWN);
	has(said, want, "a block's device and kind are told");
}

int main(void)
{
	tap_start(60);
	kernels_are_told("workers=2", EMU_OWN);
	kernels_are_told("workers=1", 0);
	kernels_are_told("serial=yes", EMU_OWN);
	one_that_is_refused_ends(false);
	one_that_is_refused_ends(true);
	blocks_have_device_and_kind();
	return tap_end();
}
