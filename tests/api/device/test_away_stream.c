/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Bytes of one wave, or of one run, stay on the device between its kernels:
 * data with LKDF_DATA_ONCE. Copies are counted: a wave with two stages on a
 * device goes there once and comes home once.
 */
#include "tests/api/device/away.h"

#define NR_WAVES 40
#define STAGES 3 /* data: what the source makes, and two kernels do */

struct flow {
	struct lkdf *rt;
	struct lkdf_place *p;
	struct lkdf_kind *source, *copy, *look, *sink;
	struct lkdf_data *d[STAGES];
	struct lkdf_graph *g;
};

/* The stages run in the order of the waves. */
static uint64_t nr_begun, nr_ended, nr_looked, nr_waves;
static atomic_ullong nr_wrong, nr_disordered; /* of two stages */

static void fill(uint64_t *x, uint64_t value)
{
	uint64_t i;

	for (i = 0; i < NR; i++)
		x[i] = value;
}

static int make_wave(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	if (nr_begun == nr_waves)
		return LKDF_END;
	fill(lkdf_ptr(c, 0), 100 * nr_begun++);
	return 0;
}

/* All of a wave that so many kernels have changed. */
static void compare(const uint64_t *x, uint64_t wave, uint64_t nr_kernels)
{
	uint64_t i;

	for (i = 0; i < NR; i++)
		nr_wrong += x[i] != x[0] || x[i] % 100 != nr_kernels;
	nr_disordered += x[0] / 100 != wave;
}

/* Behind two kernels, each of which adds 1. */
static int see_wave(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	compare(lkdf_ptr(c, 0), nr_ended++, 2);
	return 0;
}

/* Between them. */
static int look_at_wave(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	compare(lkdf_ptr(c, 0), nr_looked++, 1);
	return 0;
}

static int32_t add(struct flow *f, struct lkdf_kind *k, struct lkdf_place *p,
		   const struct lkdf_use *use, unsigned nr)
{
	const uint64_t one = 1;
	int32_t t = lkdf_graph_add_task(
		f->g, LKDF_TASK(.kind = k, .arg = k == f->copy ? &one : NULL,
				.place = p, .use = use, .nr_use = nr));

	must(t < 0 ? t : 0);
	return t;
}

/* source -> kernel (-> look) -> kernel -> sink */
static void open_flow(struct flow *f, struct lkdf *rt, struct lkdf_place *p[2],
		      bool looks)
{
	struct lkdf_use use[2 * STAGES];
	int i;

	*f = (struct flow){ .rt = rt, .p = p[0] };
	f->source = api_kind(rt, "make", make_wave, 0, 0);
	f->look = api_kind(rt, "look", look_at_wave, 0, 0);
	f->sink = api_kind(rt, "sink", see_wave, 0, 0);
	f->copy = device_kind(rt, "copy");
	f->g = api_graph(rt, 4);
	for (i = 0; i < STAGES; i++) {
		must(lkdf_data_create(rt,
				      ATTR(lkdf_data_attr,
					   .flags = LKDF_DATA_ONCE,
					   .bytes = NR * sizeof(uint64_t)),
				      &f->d[i]));
		use[2 * i] = (struct lkdf_use){ f->d[i], LKDF_WRITE, 0 };
		use[2 * i + 1] = (struct lkdf_use){ f->d[i], LKDF_READ, 0 };
	}
	add(f, f->source, NULL, &use[0], 1);
	add(f, f->copy, p[0], &use[1], 2);
	if (looks)
		add(f, f->look, NULL, &use[3], 1);
	add(f, f->copy, p[1], &use[3], 2);
	add(f, f->sink, NULL, &use[5], 1);
	must(lkdf_graph_seal(f->g, NULL));
	nr_begun = nr_ended = nr_looked = 0;
	nr_wrong = nr_disordered = 0;
}

static void close_flow(struct flow *f)
{
	int i;

	lkdf_graph_put(f->g);
	for (i = 0; i < STAGES; i++)
		lkdf_data_put(f->d[i]);
	lkdf_kind_put(f->source);
	lkdf_kind_put(f->copy);
	lkdf_kind_put(f->look);
	lkdf_kind_put(f->sink);
}

static int stream(struct flow *f, uint64_t nr)
{
	nr_waves = nr;
	return api_run(f->g, NULL,
		       LKDF_ATTR(lkdf_run, .flags = LKDF_RUN_STREAM));
}

static void check_waves(uint64_t nr, const char *how)
{
	is((long long)nr_ended, (long long)nr, "%s: all waves have come", how);
	is((long long)nr_wrong, 0, "%s: and are right", how);
	is((long long)nr_disordered, 0, "%s: in their order", how);
}

static void a_wave_goes_there_once(struct lkdf *rt, struct lkdf_place *p,
				   const char *how)
{
	struct lkdf_place *both[] = { p, p };
	struct flow f;

	open_flow(&f, rt, both, false);
	is(stream(&f, NR_WAVES), 0, "%s: a stream with two kernels", how);
	check_waves(NR_WAVES, how);
	is(uploaded(rt), NR_WAVES * carries(how), "%s: each went there once",
	   how);
	is(fetched(rt), NR_WAVES * carries(how), "%s: and came home once", how);
	close_flow(&f);
}

static void a_body_between_sees_it(struct lkdf *rt, struct lkdf_place *p,
				   const char *how)
{
	struct lkdf_place *both[] = { p, p };
	struct flow f;

	open_flow(&f, rt, both, true);
	is(stream(&f, NR_WAVES), 0, "%s: a body between two kernels", how);
	check_waves(NR_WAVES, how);
	is((long long)nr_looked, NR_WAVES, "%s: it has seen all", how);
	is(uploaded(rt), NR_WAVES * carries(how), "%s: each went there once",
	   how);
	is(fetched(rt), 2 * NR_WAVES * carries(how),
	   "%s: and home for the body and the sink", how);
	close_flow(&f);
}

/* Runs that are no waves. */
static void a_run_does_so_too(struct lkdf *rt, struct lkdf_place *p,
			      const char *how)
{
	struct lkdf_place *both[] = { p, p };
	struct flow f;

	open_flow(&f, rt, both, false);
	nr_waves = UINT64_MAX;
	is(api_run(f.g, NULL, LKDF_ATTR(lkdf_run, .times = 8)), 0,
	   "%s: eight runs of a call", how);
	check_waves(8, how);
	is(uploaded(rt), 8 * carries(how), "%s: each went there once", how);
	is(fetched(rt), 8 * carries(how), "%s: and came home once", how);
	close_flow(&f);
}

/* ---- where the emulated device is told what to do ------------------------ */

static void two_devices(const char *options)
{
	struct lkdf *rt = api_open(options);
	struct lkdf_place *p[2];
	struct emu e[2];
	struct flow f;
	int i;

	for (i = 0; i < 2; i++) {
		emu_init(&e[i], EMU_OWN | EMU_WILD, device_kernels);
		p[i] = emu_register(rt, &e[i]);
	}
	open_flow(&f, rt, p, false);
	is(stream(&f, NR_WAVES), 0, "%s: a stage on each of two devices",
	   options);
	check_waves(NR_WAVES, options);
	is(uploaded(rt), 2 * NR_WAVES, "%s: to each once", options);
	is(fetched(rt), 2 * NR_WAVES, "%s: and home from each", options);
	close_flow(&f);
	is(device_close(rt), 0, "%s: close", options);
	emu_check(&e[0], options);
	emu_check(&e[1], options);
}

/* Copies have to make room for those of the next wave all the time. */
static void little_room(unsigned grains, const char *options)
{
	struct lkdf *rt = api_open(options);
	struct lkdf_place *p[2];
	struct emu e;
	struct flow f;

	emu_init(&e, EMU_OWN | EMU_WILD, device_kernels);
	e.memory = grains * EMU_GRAIN;
	p[0] = p[1] = emu_register(rt, &e);
	open_flow(&f, rt, p, false);
	is(stream(&f, 10 * NR_WAVES), 0, "%s: room for %u copies", options,
	   grains / 2);
	check_waves(10 * NR_WAVES, options);
	close_flow(&f);
	is(device_close(rt), 0, "%s: close", options);
	emu_check(&e, options);
}

/* The bytes of a wave do not come home, or are not made. */
static void a_wave_is_lost(enum emu_entry entry, int at, int error,
			   const char *options)
{
	struct lkdf *rt = api_open(options);
	struct lkdf_place *p[2];
	struct emu e;
	struct flow f;
	char how[64];

	snprintf(how, sizeof(how), "%s: entry %d: %s", options, (int)entry,
		 strerror(-error));
	emu_init(&e, EMU_OWN, device_kernels);
	e.fail_error[entry] = error;
	atomic_store(&e.fail_at[entry], at);
	p[0] = p[1] = emu_register(rt, &e);
	open_flow(&f, rt, p, false);
	is(stream(&f, NR_WAVES), error, "%s: the stream has the error", how);
	ok(nr_ended < NR_WAVES, "%s: and not all waves", how);
	is((long long)nr_wrong, 0, "%s: those that came are right", how);
	close_flow(&f);
	lkdf_scope_wait(rt, NULL, -1);
	is(device_close(rt), 0, "%s: close", how);
	emu_check(&e, how);
}

/* Waves are in each state when the device goes. */
static void lost_in_flight(int held, const char *options)
{
	struct lkdf *rt = api_open(options);
	struct lkdf_event done;
	struct lkdf_place *p[2];
	struct emu e;
	struct flow f;

	emu_init(&e, EMU_OWN, device_kernels);
	p[0] = p[1] = emu_register(rt, &e);
	open_flow(&f, rt, p, false);
	nr_waves = NR_WAVES;
	emu_hold(&e);
	emu_let(&e, held);
	must(lkdf_graph_run(f.g, NULL,
			    LKDF_ATTR(lkdf_run, .flags = LKDF_RUN_STREAM),
			    &done));
	emu_until_held(&e, held + 1);
	emu_lose(&e);
	is(lkdf_event_wait(done, -1), -ENODEV,
	   "%s: lost after %d commands: so is the stream", options, held);
	is((long long)nr_wrong, 0, "%s: what came is right", options);
	close_flow(&f);
	lkdf_scope_wait(rt, NULL, -1);
	is(device_close(rt), 0, "%s: close", options);
	emu_check(&e, options);
}

int main(void)
{
	int i;

	tap_start(120);
	for (i = 0; i < 12; i++)
		lost_in_flight(i, i % 2 ? "workers=1" : "workers=2");
	device_each(a_wave_goes_there_once);
	device_each(a_body_between_sees_it);
	device_each(a_run_does_so_too);
	two_devices("workers=2");
	two_devices("serial=yes");
	little_room(4, "workers=2");
	little_room(6, "workers=2");
	little_room(4, "serial=yes");
	a_wave_is_lost(EMU_FETCH, 5, -EIO, "workers=2");
	a_wave_is_lost(EMU_LAUNCH, 8, -EIO, "workers=2");
	a_wave_is_lost(EMU_LAUNCH, 7, -EIO, "serial=yes");
	return tap_end();
}
