/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A device is lost in states that no kernel is in: while a prefetch is under
 * way, between the seal of a graph and its first run, while a copy is carried
 * home that nobody waits for, with lkdf_close() waiting. Whoever wants
 * something of it is told by name, the rest goes on, the runtime closes. A
 * device that does not end what it was given keeps the runtime open.
 */
#include "tests/api/device/away.h"

struct one {
	struct lkdf *rt;
	struct lkdf_place *p;
	struct lkdf_kind *add;
	struct emu e;
};

static void open_one(struct one *o, unsigned flags, const char *options)
{
	emu_init(&o->e, EMU_OWN | flags, device_kernels);
	o->rt = api_open(options);
	o->p = emu_register(o->rt, &o->e);
	o->add = device_kind(o->rt, "add");
}

static void close_one(struct one *o, const char *how)
{
	lkdf_kind_put(o->add);
	lkdf_scope_wait(o->rt, NULL, -1);
	is(lkdf_close(o->rt), 0, "%s: close", how);
	emu_check(&o->e, how);
}

static void while_a_prefetch_is_under_way(void)
{
	struct lkdf_event done;
	struct lkdf_data *d;
	struct one o;

	open_one(&o, 0, "workers=2");
	d = device_data(o.rt, NR, 3);
	emu_hold(&o.e);
	must(lkdf_data_prefetch(d, o.p, &done));
	emu_until_held(&o.e, 1);
	emu_lose(&o.e);
	is(lkdf_event_wait(done, -1), 0, "prefetch: it is a wish");
	is(device_first_wrong(d, NR, 3), -1, "prefetch: the bytes are here");
	is(lkdf_submit(o.rt, NULL,
		       LKDF_TASK(.kind = o.add, .arg = &(uint64_t){ 1 },
				 .place = o.p),
		       NULL),
	   -ENODEV, "prefetch: a kernel is refused");
	has(lkdf_errmsg(), "device emu is lost", "by name");
	lkdf_data_put(d);
	close_one(&o, "prefetch");
}

/* knows: somebody has found it lost before the run does. */
static void between_seal_and_run(unsigned flags, bool knows,
				 const char *options)
{
	struct lkdf_error e = { .size = sizeof(e) };
	struct lkdf_scope *s = NULL;
	struct lkdf_data *d, *other;
	struct lkdf_use use;
	struct lkdf_graph *g;
	uint64_t one = 1;
	struct one o;
	char how[64];
	int i;

	snprintf(how, sizeof(how), "seal, %s%s", options,
		 knows ? ", known" : "");
	open_one(&o, flags, options);
	d = device_data(o.rt, NR, 3);
	other = device_data(o.rt, NR, 3);
	must(device_call(o.rt, o.add, o.p, other, &one));
	g = api_graph(o.rt, 1);
	use = (struct lkdf_use){ d, LKDF_RW, 0 };
	for (i = 0; i < 4; i++)
		must(lkdf_graph_add_task(g,
					 LKDF_TASK(.kind = o.add, .arg = &one,
						   .place = o.p, .use = &use,
						   .nr_use = 1)) < 0);
	must(lkdf_graph_seal(g, NULL));
	emu_lose(&o.e);
	if (knows)
		is(lkdf_data_acquire(other, LKDF_READ, -1, NULL), -ENODEV,
		   "%s: bytes it alone had", how);
	must(lkdf_scope_create(o.rt, NULL, &s));
	is(api_run(g, s, NULL), -ENODEV, "%s: the run fails", how);
	must(lkdf_scope_error(o.rt, s, &e));
	has(e.why, "emu", "%s: by name", how);
	is(api_run(g, s, NULL), -ENODEV, "%s: and the next one", how);
	is(lkdf_data_acquire(d, LKDF_READ, -1, NULL), -ENODEV,
	   "%s: its data is poisoned", how);
	lkdf_scope_put(s);
	lkdf_graph_put(g);
	lkdf_data_put(d);
	lkdf_data_put(other);
	close_one(&o, how);
}

static void *close_it(void *arg)
{
	struct one *o = arg;

	return (void *)(intptr_t)lkdf_close(o->rt);
}

/*
 * A kernel needed room and was cancelled, so nobody waits for the copy that is
 * carried home for it, and the data is gone.
 */
static void carried_home_for_nobody(bool is_lost)
{
	const char *how = is_lost ? "close, lost" : "close, late";
	struct lkdf_scope *s = NULL;
	struct lkdf_data *d[2];
	struct lkdf_use use;
	pthread_t closer;
	uint64_t one = 1;
	struct one o;
	void *rc;

	emu_init(&o.e, EMU_OWN, device_kernels);
	o.e.memory = NR * sizeof(uint64_t);
	o.rt = api_open("workers=2");
	o.p = emu_register(o.rt, &o.e);
	o.add = device_kind(o.rt, "add");
	d[0] = device_data(o.rt, NR, 1);
	d[1] = device_data(o.rt, NR, 1);
	must(lkdf_scope_create(o.rt, NULL, &s));
	must(device_call(o.rt, o.add, o.p, d[0], &one));
	emu_hold(&o.e);
	use = (struct lkdf_use){ d[1], LKDF_RW, 0 };
	must(lkdf_submit(o.rt, s,
			 LKDF_TASK(.kind = o.add, .arg = &one, .place = o.p,
				   .use = &use, .nr_use = 1),
			 NULL));
	emu_until_held(&o.e, 1);
	is(lkdf_close(o.rt), -EBUSY, "%s: a task lives", how);
	lkdf_scope_cancel(o.rt, s, -ECANCELED);
	is(lkdf_scope_wait(o.rt, s, -1), -ECANCELED, "%s: it is cancelled",
	   how);
	lkdf_scope_put(s);
	lkdf_data_put(d[0]);
	lkdf_data_put(d[1]);
	lkdf_kind_put(o.add);
	is(pthread_create(&closer, NULL, close_it, &o), 0, "%s: a thread", how);
	api_nap_ns(20000000);
	if (is_lost)
		emu_lose(&o.e);
	else
		emu_release(&o.e);
	pthread_join(closer, &rc);
	is((int)(intptr_t)rc, 0, "%s: the runtime closes", how);
	emu_check(&o.e, how);
}

/* A kernel that is not done keeps the runtime open, however often it is asked.
 */
static void what_never_ends_is_named(const char *options)
{
	struct lkdf_event done;
	struct lkdf_data *d;
	uint64_t one = 1;
	struct one o;
	int i;

	open_one(&o, 0, options);
	d = device_data(o.rt, NR, 1);
	emu_hold(&o.e);
	done = device_submit(o.rt, o.add, o.p, d, &one);
	emu_until_held(&o.e, 1);
	for (i = 0; i < 3; i++)
		is(lkdf_close(o.rt), -EBUSY, "%s: close, time %d", options, i);
	has(lkdf_errmsg(), "1 task", "%s: says what lives", options);
	emu_release(&o.e);
	is(lkdf_event_wait(done, -1), 0, "%s: it ends well", options);
	is(device_first_wrong(d, NR, 2), -1, "%s: as if nobody had asked",
	   options);
	lkdf_data_put(d);
	close_one(&o, options);
}

/* ---- while the kernel that reads them waits for room -------------------- */

/* to[i] = from[i] + value; the one that is written is use 0. */
static void take(struct emu *e, const struct lkdf_launch *l)
{
	uint64_t *to = emu_at(e, l, 0), *from = emu_at(e, l, 1), by, i;

	memcpy(&by, l->arg[2].value, sizeof(by));
	for (i = 0; i < NR; i++)
		to[i] = from[i] + by;
}

/* Its own room is made by what it reads, which does not come home. */
static void while_its_reader_waits(bool is_late, const char *options)
{
	static const struct emu_kernel kernels[] = { { "add", device_add },
						     { "take", take },
						     { NULL, NULL } };
	struct lkdf_error e = { .size = sizeof(e) };
	struct lkdf_scope *s = NULL;
	struct lkdf_kind *reader;
	struct lkdf_data *d[3];
	struct lkdf_use use[2];
	uint64_t one = 1;
	struct one o;
	char how[64];
	int i;

	snprintf(how, sizeof(how), "%s, %s", options,
		 is_late ? "late" : "refused");
	emu_init(&o.e, EMU_OWN, kernels);
	o.e.memory = 2 * NR * sizeof(uint64_t);
	o.e.fails_late = is_late;
	o.e.fail_error[EMU_FETCH] = -EIO;
	atomic_store(&o.e.fail_at[EMU_FETCH], 1);
	o.rt = api_open(options);
	o.p = emu_register(o.rt, &o.e);
	o.add = device_kind(o.rt, "add");
	reader = device_kind(o.rt, "take");
	for (i = 0; i < 3; i++)
		d[i] = device_data(o.rt, NR, 1);
	for (i = 0; i < 2; i++)
		must(device_call(o.rt, o.add, o.p, d[i], &one));
	must(lkdf_scope_create(o.rt, NULL, &s));
	use[0] = (struct lkdf_use){ d[2], LKDF_WRITE, 0 };
	use[1] = (struct lkdf_use){ d[0], LKDF_READ, 0 };
	must(lkdf_submit(o.rt, s,
			 LKDF_TASK(.kind = reader, .arg = &one, .place = o.p,
				   .use = use, .nr_use = 2),
			 NULL));
	is(lkdf_scope_wait(o.rt, s, -1), -EIO, "%s: the reader is told", how);
	must(lkdf_scope_error(o.rt, s, &e));
	has(e.why, "kernel take: bytes that it reads were lost", "%s: why",
	    how);
	lkdf_scope_put(s);
	is(device_first_wrong(d[1], NR, 2), -1, "%s: others are there", how);
	for (i = 0; i < 3; i++)
		lkdf_data_put(d[i]);
	lkdf_kind_put(reader);
	close_one(&o, how);
}

/* ---- lets go of the host's bytes before anybody is told ------------------ */

static atomic_int nr_loses, nr_let_go;

/* Time enough for a task that is told too early. */
static void let_go(void *dev)
{
	(void)dev;
	atomic_fetch_add(&nr_loses, 1);
	api_nap_ns(20000000);
	atomic_fetch_add(&nr_let_go, 1);
}

static void before_tasks_are_told(unsigned flags, enum emu_entry entry,
				  bool is_late, const char *options)
{
	struct lkdf_device_ops ops;
	uint64_t one = 1;
	struct lkdf_data *d;
	struct one o;
	char how[64];

	snprintf(how, sizeof(how), "lose, %s, %s%s", options,
		 is_late ? "an op" : "a call", flags ? ", ordered" : "");
	emu_init(&o.e, EMU_OWN | flags, device_kernels);
	o.e.fails_late = is_late;
	o.e.fail_error[entry] = -ENODEV;
	atomic_store(&o.e.fail_at[entry], 1);
	o.rt = api_open(options);
	ops = emu_ops(&o.e);
	ops.lose = let_go;
	must(lkdf_place_register(o.rt, &ops, &o.e, &o.p));
	o.add = device_kind(o.rt, "add");
	d = device_data(o.rt, NR, 1);
	atomic_store(&nr_let_go, 0);
	atomic_store(&nr_loses, 0);
	is(device_call(o.rt, o.add, o.p, d, &one), -ENODEV,
	   "%s: the task fails", how);
	is(atomic_load(&nr_let_go), 1, "%s: when the device has let go", how);
	is(lkdf_submit(o.rt, NULL,
		       LKDF_TASK(.kind = o.add, .arg = &one, .place = o.p),
		       NULL),
	   -ENODEV, "%s: the next one is refused", how);
	lkdf_data_put(d);
	o.e.is_lost = true;
	close_one(&o, how);
	is(atomic_load(&nr_loses), 1, "%s: it is asked once", how);
}

static void it_lets_go(void)
{
	static const char *const options[] = { "workers=2", "serial=yes" };
	unsigned i, flags;

	for (i = 0; i < 4; i++) {
		flags = i & 1 ? EMU_ORDERED : 0;
		before_tasks_are_told(flags, EMU_UPLOAD, false, options[i / 2]);
		before_tasks_are_told(flags, EMU_LAUNCH, false, options[i / 2]);
		before_tasks_are_told(flags, EMU_LAUNCH, true, options[i / 2]);
	}
}

int main(void)
{
	tap_start(60);
	while_its_reader_waits(true, "workers=2");
	while_its_reader_waits(false, "workers=2");
	while_its_reader_waits(true, "serial=yes");
	while_a_prefetch_is_under_way();
	between_seal_and_run(0, false, "workers=2");
	between_seal_and_run(0, true, "workers=1");
	between_seal_and_run(EMU_ORDERED, false, "workers=2");
	between_seal_and_run(EMU_ORDERED, true, "workers=2");
	between_seal_and_run(0, false, "serial=yes");
	carried_home_for_nobody(true);
	carried_home_for_nobody(false);
	what_never_ends_is_named("workers=1");
	what_never_ends_is_named("workers=2");
	it_lets_go();
	return tap_end();
}
