/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Bytes that are away (test_away.c), where the device is told what to do: two
 * devices in turn, a device that keeps them back or loses them, and one with
 * room for a single task.
 */
#include "tests/api/device/away.h"

static void two_devices_have_it_in_turn(const char *options)
{
	struct lkdf *rt = api_open(options);
	struct lkdf_kind *step = device_kind(rt, "step");
	struct lkdf_data *d = device_data(rt, NR, 1);
	struct lkdf_place *p[2];
	struct emu e[2];
	uint64_t i, value = 1;

	for (i = 0; i < 2; i++) {
		emu_init(&e[i], EMU_OWN | EMU_WILD, device_kernels);
		p[i] = emu_register(rt, &e[i]);
	}
	for (i = 0; i < 8; i++) {
		lkdf_event_put(device_submit(rt, step, p[i / 2 % 2], d, &i));
		value = 3 * value + i;
	}
	is(device_first_wrong(d, NR, value), -1,
	   "%s: two devices have it in turn", options);
	is(fetched(rt), 4, "%s: it moves when the other one wants it", options);
	lkdf_data_put(d);
	lkdf_kind_put(step);
	is(device_close(rt), 0, "%s: close", options);
	emu_check(&e[0], options);
	emu_check(&e[1], options);
}

static int note_run(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	atomic_fetch_add(*(atomic_int **)arg, 1);
	return 0;
}

/* One worker: while bytes are on their way, it runs others. */
static void no_worker_waits(void)
{
	struct lkdf *rt = api_open_workers(1);
	struct lkdf_kind *add = device_kind(rt, "add");
	struct lkdf_kind *see = api_kind(rt, "see", expect_all, 8, 0);
	struct lkdf_kind *note =
		api_kind(rt, "note", note_run, sizeof(void *), 0);
	struct lkdf_data *d = device_data(rt, NR, 0);
	struct lkdf_place *p;
	struct lkdf_event seen;
	uint64_t one = 1;
	atomic_int nr = 0, *at = &nr;
	struct emu e;
	int i;

	emu_init(&e, EMU_OWN, device_kernels);
	p = emu_register(rt, &e);
	is(call(rt, add, p, d, LKDF_RW, 1), 0, "a kernel");
	emu_hold(&e);
	seen = device_submit(rt, see, NULL, d, &one);
	emu_until_held(&e, 1);
	is(lkdf_data_acquire(d, LKDF_READ, 0, NULL), 1,
	   "a thread may look once");
	must(lkdf_data_release(d));
	for (i = 0; i < 10; i++)
		must(lkdf_submit(rt, NULL, LKDF_TASK(.kind = note, .arg = &at),
				 NULL));
	while (atomic_load(&nr) < 10)
		api_nap_ns(50000);
	ok(true, "the worker runs others while bytes are on their way");
	emu_release(&e);
	is(lkdf_event_wait(seen, -1), 0, "then the body that wants them");
	lkdf_data_put(d);
	lkdf_kind_put(add);
	lkdf_kind_put(see);
	lkdf_kind_put(note);
	is(device_close(rt), 0, "close");
	emu_check(&e, "waits");
}

static atomic_ullong range_seen;

static void note_range(struct emu *e, const struct lkdf_launch *l)
{
	(void)e;
	atomic_store(&range_seen, l->range[0]);
}

/* A kernel says how many items the next one has. */
static void a_range_comes_home(void)
{
	static const struct emu_kernel kernels[] = { { "add", device_add },
						     { "note", note_range },
						     { NULL, NULL } };
	const struct lkdf_code code = { .device = "emu", .image = "note" };
	struct lkdf *rt = api_open_workers(1);
	struct lkdf_kind *add = device_kind(rt, "add"), *note = NULL;
	struct lkdf_data *d = device_data(rt, NR, 1);
	struct lkdf_place *p;
	struct emu e;

	emu_init(&e, EMU_OWN, kernels);
	p = emu_register(rt, &e);
	must(lkdf_kind_create_kernel(
		rt,
		LKDF_KERNEL(.kind = LKDF_KIND(.name = "note", .arg_size = 8),
			    .code = &code, .nr_code = 1,
			    .range_from = LKDF_RANGE_USE),
		&note));
	is(call(rt, add, p, d, LKDF_RW, 4), 0, "a kernel writes a range");
	is(call(rt, note, p, d, LKDF_READ, 0), 0, "the next one has it");
	is(atomic_load(&range_seen), 5, "as it was written there");
	lkdf_data_put(d);
	lkdf_kind_put(add);
	lkdf_kind_put(note);
	is(device_close(rt), 0, "close");
	emu_check(&e, "range");
}

/* They do not come home: who reads them has the error, a writer heals. */
static void bytes_are_lost(bool late, bool is_lost)
{
	const int error = is_lost ? -ENODEV : -ENOLINK;
	struct lkdf *rt = api_open_workers(2);
	struct lkdf_kind *add = device_kind(rt, "add");
	struct lkdf_kind *here = api_kind(rt, "here", add_here, 8, 0);
	struct lkdf_data *d = device_data(rt, NR, 0);
	struct lkdf_place *p;
	struct emu e;
	void *at;

	emu_init(&e, EMU_OWN, device_kernels);
	e.fails_late = late;
	e.fail_error[EMU_FETCH] = -ENOLINK;
	atomic_store(&e.fail_at[EMU_FETCH], is_lost ? 0 : 1);
	p = emu_register(rt, &e);
	is(call(rt, add, p, d, LKDF_RW, 1), 0, "a kernel");
	if (is_lost) {
		emu_hold(&e);
		lkdf_event_put(
			device_submit(rt, here, NULL, d, &(uint64_t){ 1 }));
		emu_until_held(&e, 1);
		emu_lose(&e);
	} else {
		lkdf_event_put(
			device_submit(rt, here, NULL, d, &(uint64_t){ 1 }));
	}
	is(lkdf_data_acquire(d, LKDF_READ, -1, NULL), error,
	   "bytes do not come home");
	has(lkdf_errmsg(), "could not give them back", "which the error says");
	must(lkdf_data_acquire(d, LKDF_WRITE, -1, &at));
	memset(at, 0, NR * sizeof(uint64_t));
	must(lkdf_data_release(d));
	is(device_first_wrong(d, NR, 0), -1, "whoever writes them heals");
	lkdf_data_put(d);
	lkdf_kind_put(add);
	lkdf_kind_put(here);
	device_close(rt);
	emu_check(&e, "lost");
}

/* ---- room for one task -------------------------------------------------- */

#define NR_DATA 9

/*
 * Each task needs two data, and the device has room for two: with all copies
 * dirty, and kernels in all queues, each has to wait for all others. A task
 * that took one and waited for the other would wait for ever.
 */
static void room_for_one_task(unsigned flags, const char *options,
			      unsigned nr_devices, unsigned extra)
{
	struct lkdf *rt = api_open(options);
	struct lkdf_kind *copy = device_kind(rt, "copy");
	struct lkdf_kind *step = device_kind(rt, "step");
	struct lkdf_data *d[NR_DATA];
	uint64_t model[NR_DATA], i, wrong = 0;
	struct lkdf_place *p[2];
	struct emu e[2];
	unsigned from, to;

	for (i = 0; i < nr_devices; i++) {
		emu_init(&e[i], flags, device_kernels);
		e[i].nr_queues = 4;
		e[i].seed = (unsigned)i + extra;
		e[i].memory = 2 * NR * sizeof(uint64_t) + extra;
		p[i] = emu_register(rt, &e[i]);
	}
	for (i = 0; i < NR_DATA; i++)
		d[i] = device_data(rt, NR, model[i] = i);
	for (i = 0; i < 400; i++) {
		from = i * 7 % NR_DATA;
		to = (from + 1 + i % (NR_DATA - 1)) % NR_DATA;
		const struct lkdf_use use[] = { { d[from], LKDF_READ, 0 },
						{ d[to], LKDF_WRITE, 0 } };

		must(lkdf_submit(rt, NULL,
				 LKDF_TASK(.kind = copy, .arg = &i,
					   .place = p[i % nr_devices],
					   .use = use, .nr_use = 2),
				 NULL));
		model[to] = model[from] + i;
		lkdf_event_put(device_submit(rt, step, p[i / 2 % nr_devices],
					     d[from], &i));
		model[from] = 3 * model[from] + i;
	}
	is(lkdf_scope_wait(rt, NULL, -1), 0, "%s: room for one task: all run",
	   options);
	for (i = 0; i < NR_DATA; i++) {
		wrong += device_first_wrong(d[i], NR, model[i]) >= 0;
		lkdf_data_put(d[i]);
	}
	is(wrong, 0, "%s: and all are right", options);
	lkdf_kind_put(copy);
	lkdf_kind_put(step);
	is(device_close(rt), 0, "%s: close", options);
	for (i = 0; i < nr_devices; i++)
		emu_check(&e[i], options);
}

/* The kernels that read it are told, one and all, and a writer heals it. */
static void each_kernel_that_reads_is_told(const char *options)
{
	struct lkdf *rt = api_open(options);
	struct lkdf_kind *step = device_kind(rt, "step"),
			 *copy = device_kind(rt, "copy");
	struct lkdf_data *d = device_data(rt, NR, 1), *to[2];
	struct lkdf_event done;
	struct lkdf_place *p[2];
	struct emu e[2];
	uint64_t arg = 1;
	int i;

	for (i = 0; i < 2; i++) {
		emu_init(&e[i], EMU_OWN, device_kernels);
		p[i] = emu_register(rt, &e[i]);
		to[i] = device_data(rt, NR, 2);
	}
	must(device_call(rt, step, p[0], d, &arg));
	e[0].fail_error[EMU_FETCH] = -ENOLINK;
	atomic_store(&e[0].fail_at[EMU_FETCH], 1);
	for (i = 0; i < 2; i++) {
		const struct lkdf_use use[] = { { d, LKDF_READ, 0 },
						{ to[i], LKDF_WRITE, 0 } };

		must(lkdf_submit(rt, NULL,
				 LKDF_TASK(.kind = copy, .arg = &arg,
					   .place = p[1], .use = use,
					   .nr_use = 2),
				 &done));
		is(lkdf_event_wait(done, -1), -ENOLINK,
		   "%s: kernel %d that reads lost bytes is told", options, i);
	}
	{
		const struct lkdf_use use[] = { { to[1], LKDF_WRITE, 0 },
						{ d, LKDF_WRITE, 0 } };

		must(lkdf_submit(rt, NULL,
				 LKDF_TASK(.kind = copy, .arg = &arg,
					   .place = p[1], .use = use,
					   .nr_use = 2),
				 &done));
		is(lkdf_event_wait(done, -1), 0, "%s: a writer", options);
	}
	is(device_call(rt, step, p[1], d, &arg), 0, "%s: heals it", options);
	lkdf_data_put(d);
	lkdf_data_put(to[0]);
	lkdf_data_put(to[1]);
	lkdf_kind_put(step);
	lkdf_kind_put(copy);
	lkdf_scope_wait(rt, NULL, -1);
	is(device_close(rt), 0, "%s: close", options);
	emu_check(&e[0], options);
	emu_check(&e[1], options);
}

struct lost {
	struct lkdf *rt;
	struct lkdf_place *p[2];
	struct lkdf_kind *add, *copy;
	struct lkdf_data *d, *to;
	struct emu e[2];
};

/* A kernel has written the whole, which the device is not to give back. */
static void lose_whole(struct lost *t, unsigned flags, const char *options)
{
	uint64_t one = 1;
	int i;

	t->rt = api_open(options);
	t->add = device_kind(t->rt, "add");
	t->copy = device_kind(t->rt, "copy");
	t->d = device_data(t->rt, 2 * NR, 1);
	t->to = device_data(t->rt, NR, 2);
	must(lkdf_data_split(t->d, 2, NR * sizeof(uint64_t)));
	for (i = 0; i < 2; i++) {
		emu_init(&t->e[i], flags, device_kernels);
		t->p[i] = emu_register(t->rt, &t->e[i]);
	}
	must(device_call(t->rt, t->add, t->p[0], t->d, &one));
	t->e[0].fail_error[EMU_FETCH] = -ENOLINK;
	atomic_store(&t->e[0].fail_at[EMU_FETCH], 1);
}

static void end_lost(struct lost *t, const char *how)
{
	lkdf_data_put(t->d);
	lkdf_data_put(t->to);
	lkdf_kind_put(t->add);
	lkdf_kind_put(t->copy);
	lkdf_scope_wait(t->rt, NULL, -1);
	is(device_close(t->rt), 0, "%s: close", how);
	emu_check(&t->e[0], how);
	emu_check(&t->e[1], how);
}

/* to[i] = from[i] + 1 */
static int copy_on(struct lost *t, int device, struct lkdf_data *from,
		   uint32_t part, struct lkdf_data *to, uint32_t to_part)
{
	const struct lkdf_use use[] = { { from, LKDF_READ, part },
					{ to, LKDF_WRITE, to_part } };
	const uint64_t one = 1;
	struct lkdf_event done;

	must(lkdf_submit(t->rt, NULL,
			 LKDF_TASK(.kind = t->copy, .arg = &one,
				   .place = t->p[device], .use = use,
				   .nr_use = 2),
			 &done));
	return lkdf_event_wait(done, -1);
}

/* Of a whole that is lost each part is; one that is written since is not. */
static void parts_of_what_is_lost_are(unsigned flags, const char *options)
{
	struct lost t;
	uint32_t part;

	lose_whole(&t, flags, options);
	for (part = 1; part <= 2; part++)
		is(copy_on(&t, 1, t.d, part, t.to, 0), -ENOLINK,
		   "%s: a kernel that reads part %u is told", options, part);
	is(copy_on(&t, 1, t.d, 1, t.to, 0), -ENOLINK, "%s: the next one, too",
	   options);
	end_lost(&t, options);

	lose_whole(&t, flags, options);
	is(copy_on(&t, 0, t.to, 0, t.d, 2), 0, "%s: part 2 is written",
	   options);
	is(copy_on(&t, 0, t.d, 1, t.to, 0), -ENOLINK, "%s: part 1 is lost",
	   options);
	is(copy_on(&t, 0, t.d, 2, t.to, 0), 0, "%s: part 2 is there", options);
	is(device_first_wrong(t.to, NR, 4), -1, "%s: and right", options);
	end_lost(&t, options);
}

int main(void)
{
	tap_start(120);
	parts_of_what_is_lost_are(EMU_OWN, "workers=1");
	parts_of_what_is_lost_are(EMU_OWN | EMU_COPIES, "workers=2");
	parts_of_what_is_lost_are(EMU_OWN | EMU_COPIES, "serial=yes");
	each_kernel_that_reads_is_told("workers=1");
	each_kernel_that_reads_is_told("serial=yes");
	two_devices_have_it_in_turn("workers=2");
	two_devices_have_it_in_turn("serial=yes");
	no_worker_waits();
	a_range_comes_home();
	bytes_are_lost(false, false);
	bytes_are_lost(true, false);
	bytes_are_lost(false, true);
	room_for_one_task(EMU_OWN, "workers=2", 1, 0);
	room_for_one_task(EMU_OWN | EMU_WILD, "workers=2", 2, 0);
	room_for_one_task(EMU_OWN | EMU_WILD, "workers=2", 2, EMU_GRAIN);
	room_for_one_task(EMU_OWN | EMU_POLLS, "workers=1", 2, 0);
	room_for_one_task(EMU_OWN | EMU_WILD, "serial=yes", 2, 0);
	return tap_end();
}
