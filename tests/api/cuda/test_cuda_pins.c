/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The driver is told of the pages of a data at the second way of its bytes, and
 * forgets them before they leave the data, also while a kernel is under way;
 * nothing goes wrong where the driver refuses them, or where another card or
 * the program has them already.
 */
#include "tests/api/heard.h"
#include "tests/cuda/pins.h"

static long words; /* bytes that the runtime itself has pinned */

/* Launchers forget data some time after they are put. */
static bool all_forgotten(void)
{
	return !await_bytes(1, words, PATIENCE_NS);
}

/* Both cards have been started, and have nothing of a data. */
static void begin_cards(void)
{
	struct lkdf_data *d = device_data(rt, DEVICE_NR, 0);
	uint64_t one = 1;

	must(device_call(rt, add, place[0], d, &one));
	must(device_call(rt, add, place[1], d, &one));
	lkdf_data_put(d);
	words = fake_bytes(1);
}

/* ---- when pages are registered ------------------------------------------ */

static void the_second_way_registers(void)
{
	struct lkdf_data *d = make_data();
	long had = registered(), gone = forgotten();

	is(go_rounds(d, 0, 1), 0, "the first time there and back");
	is(registered() - had, 0, "nothing is registered");
	is(go_rounds(d, 0, 1), 0, "the second time");
	is(registered() - had, 1, "the pages are registered");
	is(go_rounds(d, 0, 3), 0, "three times more");
	is(registered() - had, 1, "once is enough");
	is(stat_of(rt, "lkdf.device.pins"), 1, "a counter tells it");
	lkdf_data_put(d);
	ok(all_forgotten(), "with the data they are forgotten");
	is(forgotten() - gone, 1, "by one call");
}

/* Bytes that are always written by kernels, and read here. */
static void so_does_the_second_way_home(void)
{
	struct lkdf_data *d = make_data();
	long had = registered();
	uint64_t one = 1;
	int i;

	for (i = 0; i < 2; i++) {
		is(device_call(rt, add, place[0], d, &one), 0, "a kernel");
		is(device_first_wrong(d, DEVICE_NR, (uint64_t)i + 1), -1,
		   "and its bytes at home");
		is(registered() - had, i, "registered: %d", i);
	}
	lkdf_data_put(d);
	ok(all_forgotten(), "and forgotten with it");
}

static void not_these(void)
{
	struct lkdf_data *small = device_data(rt, DEVICE_NR, 0), *wrapped;
	uint64_t *bytes = aligned_alloc(4096, BYTES), one = 1;
	long had = registered();
	int i;

	memset(bytes, 0, BYTES);
	must(lkdf_data_create(
		rt, ATTR(lkdf_data_attr, .bytes = BYTES, .wrap = bytes),
		&wrapped));
	for (i = 0; i < 4; i++) {
		is(go_rounds(wrapped, 0, 1), 0, "bytes of the program's");
		is(device_call(rt, add, place[0], small, &one), 0, "few bytes");
		is(device_first_wrong(small, DEVICE_NR, (uint64_t)i + 1), -1,
		   "that are right");
	}
	is(registered() - had, 0, "neither is registered");
	lkdf_data_put(small);
	lkdf_data_put(wrapped);
	lkdf_scope_wait(rt, NULL, -1);
	free(bytes);
}

/* Kernels on parts: of the whole as many bytes have to go there. */
static void parts_are_of_one_data(void)
{
	struct lkdf_data *d = make_data();
	long had = registered();
	struct lkdf_use use = { d, LKDF_RW, 0 };
	struct lkdf_event done;
	uint64_t one = 1;
	int i;

	must(lkdf_data_split(d, 4, BYTES / 4));
	for (i = 0; i < 8; i++) {
		use.part = (uint32_t)i % 4 + 1;
		must(set_words(d, 0));
		must(lkdf_submit(rt, NULL,
				 LKDF_TASK(.kind = add, .arg = &one,
					   .place = place[0], .use = &use,
					   .nr_use = 1),
				 &done));
		is(lkdf_event_wait(done, -1), 0, "part %d", use.part);
		is(registered() - had, i > 3, "registered: %d", i > 3);
	}
	lkdf_data_put(d);
	ok(all_forgotten(), "and forgotten with it");
}

/* ---- when they are forgotten -------------------------------------------- */

/* The heap gives the same pages to the next data. */
static void pages_go_round(void)
{
	struct lkdf_data *d;
	int i;

	for (i = 0; i < 8; i++) {
		d = make_data();
		is(go_rounds(d, i & 1, 3), 0, "data %d is right", i);
		lkdf_data_put(d);
	}
	ok(all_forgotten(), "all of them are forgotten");
}

/* A data is put while a kernel stays on the card: nobody waits for that. */
static void a_kernel_is_under_way(void)
{
	struct lkdf_data *d = make_data(), *held = device_data(rt, 8, 0),
			 *other = device_data(rt, DEVICE_NR, 0);
	struct lkdf_kind *stay = text_kind(rt, "stay", stay_text);
	long had, waited;
	struct lkdf_event done;
	uint64_t one = 1, where;
	uint64_t *flag;
	void *at;

	must(lkdf_alloc(place[0], LKDF_MEM_MANAGED, 4096, 4096, "flag", &at));
	flag = at;
	*flag = 1;
	where = (uintptr_t)flag;
	must(go_rounds(d, 0, 3));
	/* Its code is there. */
	must(device_call(rt, stay, place[0], held, &where));
	__atomic_store_n(flag, 0, __ATOMIC_RELEASE);
	had = forgotten();
	waited = fake_waits();
	done = device_submit(rt, stay, place[0], held, &where);
	must(device_call(rt, add, place[0], other, &one));
	lkdf_data_put(d);
	is(device_call(rt, add, place[0], other, &one), 0,
	   "a data is put beside a kernel, and another kernel runs behind");
	is(forgotten() - had, 0, "its pages are not forgotten yet");
	is(fake_waits() - waited, 0, "no call of the driver has waited");
	__atomic_store_n(flag, 1, __ATOMIC_RELEASE);
	is(lkdf_event_wait(done, -1), 0, "the kernel ends");
	ok(all_forgotten(), "and then they are");
	lkdf_free(rt, flag);
	lkdf_kind_put(stay);
	lkdf_data_put(held);
	lkdf_data_put(other);
}

/* ---- what may go wrong -------------------------------------------------- */

static void the_driver_refuses(void)
{
	static const unsigned errors[] = { 1, 2 };
	struct lkdf_data *d;
	long had;
	size_t i;

	for (i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		d = make_data();
		had = registered();
		must(let_fail("cuMemHostRegister", errors[i], 0));
		is(go_rounds(d, 0, 4), 0, "refused with %u: all is right",
		   errors[i]);
		is(registered() - had, 1, "it is asked once for a data");
		lkdf_data_put(d);
		ok(all_forgotten(), "nothing is to be forgotten");
	}
}

static void another_card_has_them(void)
{
	struct lkdf_data *d = make_data();
	long had = registered(), gone = forgotten();

	is(go_rounds(d, 0, 3), 0, "on a card");
	is(go_rounds(d, 1, 3), 0, "on another one");
	is(registered() - had, 2, "both ask the driver");
	lkdf_data_put(d);
	ok(all_forgotten(), "with the data they are forgotten");
	is(forgotten() - gone, 1, "by the card that had told it");
}

/* Pages that the program has registered are its own to give back. */
static void the_program_has_them(void)
{
	struct lkdf_data *d = make_data(), *other = make_data();
	long had = registered(), gone;
	void *at = NULL;
	struct cu cu;

	must(lkdf_data_acquire(d, LKDF_READ, -1, &at));
	lkdf_data_release(d);
	needs(load_driver(&cu));
	is(cu.cuMemHostRegister(at, BYTES, 1), 0, "the program registers them");
	is(go_rounds(d, 0, 3), 0, "they go there and back");
	is(registered() - had, 2, "the driver is asked as well");
	gone = forgotten();
	is(cu.cuMemHostUnregister(at), 0, "the program gives them back");
	lkdf_data_put(d);
	is(go_rounds(other, 0, 3), 0, "another data, with pages of its own");
	lkdf_data_put(other);
	ok(all_forgotten(), "and with it they are forgotten");
	is(forgotten() - gone, 2, "by one call of the program and one of ours");
	must(cu.cuDevicePrimaryCtxRelease(0));
}

int main(void)
{
	tap_start(120);
	setenv("LKDF_TEST_DEVICE", "cuda", 1);
	setenv("FAKE_CUDA_CARDS", "2", 1);
	if (!find_driver()) {
		skip("registered pages", "the driver is not that for tests");
		return tap_end();
	}
	cache_begin();
	open_cards("workers=2");
	begin_cards();
	the_second_way_registers();
	so_does_the_second_way_home();
	not_these();
	parts_are_of_one_data();
	pages_go_round();
	a_kernel_is_under_way();
	the_driver_refuses();
	another_card_has_them();
	the_program_has_them();
	is(close_cards(), 0, "the runtime closes");
	is(fake_bytes(1), 0, "nothing is registered any more");
	cache_end();
	return tap_end();
}
