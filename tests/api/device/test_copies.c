/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Copies of data stay on a device: what is there already is not carried again,
 * what was written elsewhere is, and what was used longest ago makes room.
 * Random programs on two devices and the CPU compare with a model.
 */
#include "tests/api/device/device.h"

#define NR 1024 /* elements of a data */

static uint64_t uploaded(struct lkdf *rt)
{
	uint64_t nr;

	must(lkdf_stat(rt, "lkdf.device.uploaded_bytes", &nr));
	return nr / (NR * sizeof(uint64_t));
}

static int add_here(struct lkdf_ctx *c, void *arg)
{
	uint64_t *x = lkdf_ptr(c, 0), i;

	for (i = 0; i < NR; i++)
		x[i] = 3 * x[i] + *(uint64_t *)arg;
	return 0;
}

static int fail_here(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	return -EIO;
}

/* What bytes_go_there_once() has, on a device with these flags. */
struct copies {
	const char *options;
	struct lkdf *rt;
	struct lkdf_kind *k, *copy;
	struct lkdf_data *d, *to;
	struct lkdf_place *p;
	struct emu e;
	uint64_t arg;
};

static void open_copies(struct copies *c, unsigned flags)
{
	c->rt = api_open(c->options);
	emu_init(&c->e, flags, device_kernels);
	c->p = emu_register(c->rt, &c->e);
	c->k = device_kind(c->rt, "step");
	c->copy = device_kind(c->rt, "copy");
	c->d = device_data(c->rt, NR, 0);
	c->to = device_data(c->rt, NR, 0);
	c->arg = 1;
}

static void close_copies(struct copies *c)
{
	lkdf_data_put(c->d);
	lkdf_data_put(c->to);
	lkdf_kind_put(c->k);
	lkdf_kind_put(c->copy);
	is(device_close(c->rt), 0, "%s: close", c->options);
	emu_check(&c->e, c->options);
}

static void step_there(struct copies *c, const char *what)
{
	is(device_call(c->rt, c->k, c->p, c->d, &c->arg), 0, "%s: %s",
	   c->options, what);
}

static void copy_there(struct copies *c, struct lkdf_data *from,
		       struct lkdf_data *to, uint64_t arg, const char *what)
{
	const struct lkdf_use use[] = { { from, LKDF_READ, 0 },
					{ to, LKDF_WRITE, 0 } };
	struct lkdf_event done;

	must(lkdf_submit(c->rt, NULL,
			 LKDF_TASK(.kind = c->copy, .arg = &arg, .place = c->p,
				   .use = use, .nr_use = 2),
			 &done));
	is(lkdf_event_wait(done, -1), 0, "%s: %s", c->options, what);
}

static void host_writes(struct copies *c)
{
	struct lkdf_kind *here =
		api_kind(c->rt, "here", add_here, sizeof(c->arg), 0);
	uint64_t i;
	void *x;

	is(device_call(c->rt, here, NULL, c->d, &c->arg), 0, "%s: a body",
	   c->options);
	lkdf_kind_put(here);
	step_there(c, "and a kernel");
	is(uploaded(c->rt), 2, "%s: what a body wrote is carried", c->options);
	is(device_first_wrong(c->d, NR, 9 * 29524 + 4), -1, "%s: right",
	   c->options);
	must(lkdf_data_acquire(c->d, LKDF_RW, -1, &x));
	for (i = 0; i < NR; i++)
		((uint64_t *)x)[i] = 7;
	lkdf_data_release(c->d);
	step_there(c, "a kernel");
	is(uploaded(c->rt), 3, "%s: what a thread wrote is carried",
	   c->options);
	is(device_first_wrong(c->d, NR, 22), -1, "%s: right", c->options);
}

static void body_fails(struct copies *c)
{
	struct lkdf_kind *bad =
		api_kind(c->rt, "bad", fail_here, sizeof(c->arg), 0);

	is(device_call(c->rt, bad, NULL, c->d, &c->arg), -EIO,
	   "%s: a body fails", c->options);
	lkdf_kind_put(bad);
	copy_there(c, c->to, c->d, c->arg, "a kernel heals");
	is(device_first_wrong(c->d, NR, 25), -1, "%s: right", c->options);
}

static void bytes_go_there_once(unsigned flags, const char *options)
{
	struct copies c = { .options = options };
	uint64_t i;

	open_copies(&c, flags);
	for (i = 0; i < 10; i++)
		step_there(&c, "a kernel");
	is(uploaded(c.rt), 1, "%s: ten kernels in a row carry bytes once",
	   options);
	is(device_first_wrong(c.d, NR, 29524), -1, "%s: the host has them",
	   options);
	host_writes(&c);
	for (i = 0; i < 3; i++)
		copy_there(&c, c.d, c.to, i, "it is read");
	is(uploaded(c.rt), 3, "%s: what is read or only written is not carried",
	   options);
	is(device_first_wrong(c.to, NR, 24), -1, "%s: right", options);
	body_fails(&c);
	close_copies(&c);
}

/* The launcher drops what a put data had, when it comes to it. */
static void a_data_that_is_gone_leaves_no_copy(void)
{
	struct lkdf *rt = api_open_workers(1);
	struct lkdf_kind *k = device_kind(rt, "step");
	struct lkdf_place *p;
	struct lkdf_data *d;
	struct emu e;
	uint64_t arg = 1;
	int i;

	emu_init(&e, EMU_OWN, device_kernels);
	p = emu_register(rt, &e);
	for (i = 0; i < 20; i++) {
		d = device_data(rt, NR, 0);
		is(device_call(rt, k, p, d, &arg), 0, "a kernel");
		is(device_first_wrong(d, NR, 1), -1,
		   "a new data is not taken for one that is gone");
		lkdf_data_put(d);
	}
	ok(atomic_load(&e.nr[EMU_ALLOC]) < 20,
	   "their copies go with them, and the next ones have the memory");
	lkdf_kind_put(k);
	is(device_close(rt), 0, "close");
	emu_check(&e, "gone");
}

/* Room for four of six; all are used in turn. */
static void the_oldest_makes_room(void)
{
	struct lkdf *rt = api_open_workers(1);
	struct lkdf_kind *k = device_kind(rt, "step");
	struct lkdf_data *d[6];
	struct lkdf_place *p;
	struct emu e;
	uint64_t arg = 1, n;
	int i;

	emu_init(&e, EMU_OWN, device_kernels);
	e.memory = 4 * NR * sizeof(uint64_t);
	p = emu_register(rt, &e);
	for (i = 0; i < 6; i++)
		d[i] = device_data(rt, NR, 0);
	for (i = 0; i < 4; i++)
		must(device_call(rt, k, p, d[i], &arg));
	must(device_call(rt, k, p, d[0], &arg));
	is(uploaded(rt), 4, "four fit");
	must(device_call(rt, k, p, d[4], &arg));
	must(device_call(rt, k, p, d[0], &arg));
	n = uploaded(rt);
	is(n, 5, "a fifth takes the place of the one used longest ago");
	must(device_call(rt, k, p, d[1], &arg));
	is(uploaded(rt), 6, "which has to come again");
	for (i = 0; i < 6; i++)
		lkdf_data_put(d[i]);
	lkdf_kind_put(k);
	is(device_close(rt), 0, "close");
	emu_check(&e, "oldest");
}

/* The second one waits for the bytes of the first. */
static void readers_of_one_data_carry_it_once(void)
{
	struct lkdf *rt = api_open_workers(2);
	struct lkdf_kind *k = device_kind(rt, "copy");
	struct lkdf_data *d = device_data(rt, NR, 5), *to[3];
	struct lkdf_place *p;
	struct emu e;
	uint64_t i;

	emu_init(&e, EMU_OWN, device_kernels);
	p = emu_register(rt, &e);
	emu_hold(&e);
	for (i = 0; i < 3; i++) {
		to[i] = device_data(rt, NR, 0);
		const struct lkdf_use use[] = { { d, LKDF_READ, 0 },
						{ to[i], LKDF_WRITE, 0 } };

		must(lkdf_submit(rt, NULL,
				 LKDF_TASK(.kind = k, .arg = &i, .place = p,
					   .use = use, .nr_use = 2),
				 NULL));
	}
	emu_until_held(&e, 1);
	emu_release(&e);
	is(lkdf_scope_wait(rt, NULL, -1), 0, "three kernels read one data");
	is(uploaded(rt), 1, "it is carried once");
	for (i = 0; i < 3; i++) {
		is(device_first_wrong(to[i], NR, 5 + i), -1, "each is right");
		lkdf_data_put(to[i]);
	}
	lkdf_data_put(d);
	lkdf_kind_put(k);
	is(device_close(rt), 0, "close");
	emu_check(&e, "readers");
}

/* ---- random programs ---------------------------------------------------- */

#define NR_DATA 7
#define NR_PARTS 4
#define NR_STEPS 300

struct world {
	struct lkdf *rt;
	struct lkdf_kind *step, *copy, *here;
	struct lkdf_place *place[2];
	struct lkdf_data *data[NR_DATA];
	uint64_t model[NR_DATA][NR_PARTS];
	unsigned seed;
};

static unsigned draw(struct world *w, unsigned nr)
{
	return (unsigned)rand_r(&w->seed) % nr;
}

static int step_bytes(struct lkdf_ctx *c, void *arg)
{
	const uint64_t *a = arg;
	uint64_t *x = lkdf_ptr(c, 0), i;

	for (i = 0; i < a[1]; i++)
		x[i] = 3 * x[i] + a[0];
	return 0;
}

/* x = 3 x + n of a data or a part, on a device or here. */
static void random_step(struct world *w, unsigned n)
{
	unsigned d = draw(w, NR_DATA), part = draw(w, NR_PARTS + 1), i;
	const struct lkdf_use use = { w->data[d],
				      draw(w, 3) ? LKDF_RW : LKDF_COMMUTE,
				      part };
	uint64_t arg[2] = { n, part ? NR / NR_PARTS : NR };
	unsigned where = draw(w, 3);

	/* Those that commute add nothing that tells their order. */
	if (use.mode == LKDF_COMMUTE)
		arg[0] = 0;
	must(lkdf_submit(w->rt, NULL,
			 LKDF_TASK(.kind = where < 2 ? w->step : w->here,
				   .arg = arg, .use = &use, .nr_use = 1,
				   .place = where < 2 ? w->place[where] : NULL),
			 NULL));
	for (i = 0; i < NR_PARTS; i++)
		if (!part || part == i + 1)
			w->model[d][i] = 3 * w->model[d][i] + arg[0];
}

/* One data becomes another one, plus n. */
static void random_copy(struct world *w, unsigned n)
{
	unsigned from = draw(w, NR_DATA), to = draw(w, NR_DATA - 1), i;
	uint64_t arg[2] = { n, 0 };

	to += to >= from;
	const struct lkdf_use use[] = { { w->data[from], LKDF_READ, 0 },
					{ w->data[to], LKDF_WRITE, 0 } };
	must(lkdf_submit(w->rt, NULL,
			 LKDF_TASK(.kind = w->copy, .arg = arg, .use = use,
				   .nr_use = 2, .place = w->place[draw(w, 2)]),
			 NULL));
	for (i = 0; i < NR_PARTS; i++)
		w->model[to][i] = w->model[from][i] + n;
}

/* A thread looks, or writes. */
static bool random_look(struct world *w, unsigned n)
{
	unsigned d = draw(w, NR_DATA), i;
	bool writes = draw(w, 2), is_right = true;
	uint64_t *x;
	void *at;

	must(lkdf_data_acquire(w->data[d], writes ? LKDF_RW : LKDF_READ, -1,
			       &at));
	for (i = 0, x = at; i < NR; i++) {
		is_right &= x[i] == w->model[d][i / (NR / NR_PARTS)];
		if (writes)
			x[i] = n;
	}
	lkdf_data_release(w->data[d]);
	for (i = 0; writes && i < NR_PARTS; i++)
		w->model[d][i] = n;
	return is_right;
}

static struct lkdf_kind *wide(struct lkdf *rt, const char *name)
{
	const struct lkdf_code code = { .device = "emu", .image = name };
	struct lkdf_kind *k = NULL;

	must(lkdf_kind_create_kernel(
		rt,
		LKDF_KERNEL(.kind = LKDF_KIND(.name = name, .arg_size = 16),
			    .code = &code, .nr_code = 1),
		&k));
	return k;
}

static void a_random_program_is_right(unsigned seed)
{
	static const char *const options[] = { "workers=2", "workers=1",
					       "serial=yes" };
	struct world w = { .seed = seed };
	bool is_right = true;
	struct emu e[2];
	unsigned i, n;

	w.rt = api_open(options[seed % 3]);
	for (i = 0; i < 2; i++) {
		emu_init(&e[i], EMU_OWN | EMU_WILD, device_kernels);
		e[i].seed = seed + i;
		/* The largest task, and little more: copies come and go. */
		e[i].memory = (2 + i) * NR * sizeof(uint64_t) + i * 4096;
		w.place[i] = emu_register(w.rt, &e[i]);
	}
	w.step = wide(w.rt, "step");
	w.copy = wide(w.rt, "copy");
	w.here = api_kind(w.rt, "here", step_bytes, 16, 0);
	for (i = 0; i < NR_DATA; i++) {
		w.data[i] = device_data(w.rt, NR, 0);
		must(lkdf_data_split(w.data[i], NR_PARTS, NR * 8 / NR_PARTS));
	}
	for (n = 0; n < NR_STEPS && is_right; n++) {
		switch (draw(&w, 12)) {
		case 0:
			is_right = random_look(&w, n);
			break;
		case 1:
		case 2:
		case 3:
			random_copy(&w, n);
			break;
		default:
			random_step(&w, n);
		}
	}
	for (i = 0; i < 4 * NR_DATA; i++)
		is_right &= random_look(&w, n);
	for (i = 0; i < NR_DATA; i++)
		lkdf_data_put(w.data[i]);
	lkdf_kind_put(w.step);
	lkdf_kind_put(w.copy);
	lkdf_kind_put(w.here);
	is(lkdf_scope_wait(w.rt, NULL, -1), 0, "no task of seed %u fails",
	   seed);
	is(device_close(w.rt), 0, "close");
	for (i = 0; i < 2; i++)
		emu_check(&e[i], "random");
	ok(is_right, "the program of seed %u is right", seed);
}

int main(void)
{
	unsigned seed;

	tap_start(120);
	bytes_go_there_once(EMU_OWN, "workers=1");
	bytes_go_there_once(EMU_OWN | EMU_WILD, "workers=2");
	bytes_go_there_once(EMU_OWN | EMU_WILD, "serial=yes");
	a_data_that_is_gone_leaves_no_copy();
	the_oldest_makes_room();
	readers_of_one_data_carry_it_once();
	for (seed = 1; seed <= 30; seed++)
		a_random_program_is_right(seed);
	return tap_end();
}
