/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What can go wrong on a device: each of its functions fails at each call, at
 * once or late; code does not compile; a task is larger than the device; the
 * device is lost with kernels in each state; a cancel; an op done twice. The
 * task says so, the data is poisoned, and the next one runs.
 */
#include "tests/api/device/device.h"

#define NR 64

struct one {
	struct lkdf *rt;
	struct lkdf_place *place;
	struct lkdf_kind *kind;
	struct emu e;
};

static void open_one(struct one *o, unsigned flags, const char *options)
{
	emu_init(&o->e, flags, device_kernels);
	o->rt = api_open(options);
	o->place = emu_register(o->rt, &o->e);
	o->kind = device_kind(o->rt, "add");
}

static void close_one(struct one *o, const char *how)
{
	lkdf_kind_put(o->kind);
	is(device_close(o->rt), 0, "%s: close", how);
	emu_check(&o->e, how);
}

/* Its error; why it says so is in e. */
static int submit_in(struct one *o, struct lkdf_scope *s, struct lkdf_data *d,
		     struct lkdf_error *e)
{
	const struct lkdf_use use = { d, LKDF_RW, 0 };
	uint64_t arg = 1;
	int rc;

	e->size = sizeof(*e);
	must(lkdf_submit(o->rt, s,
			 LKDF_TASK(.kind = o->kind, .arg = &arg,
				   .place = o->place, .use = &use, .nr_use = 1),
			 NULL));
	rc = lkdf_scope_wait(o->rt, s, -1);
	must(lkdf_scope_error(o->rt, s, e));
	return rc;
}

static int call_in(struct one *o, struct lkdf_data *d, struct lkdf_error *e)
{
	struct lkdf_scope *s = NULL;
	int rc;

	must(lkdf_scope_create(o->rt, NULL, &s));
	rc = submit_in(o, s, d, e);
	lkdf_scope_put(s);
	return rc;
}

static void a_function_fails(enum emu_entry entry, const char *what, bool late,
			     const char *options)
{
	static uint64_t x[NR];
	struct lkdf_data *d, *other;
	struct lkdf_error e;
	struct one o;
	uint64_t arg = 1, i;

	open_one(&o, EMU_OWN | EMU_WILD, options);
	o.e.fails_late = late;
	o.e.fail_error[entry] = -ENOLINK;
	atomic_store(&o.e.fail_at[entry], 1);
	/* Bytes of the program come home with the kernel. */
	for (i = 0; i < NR; i++)
		x[i] = 1;
	must(lkdf_data_create(
		o.rt, ATTR(lkdf_data_attr, .bytes = sizeof(x), .wrap = x), &d));
	other = device_data(o.rt, NR, 1);
	is(call_in(&o, d, &e), -ENOLINK, "%s fails%s: so does the task", what,
	   late ? " late" : "");
	has(e.why, "kernel add: ", "it says which kernel");
	has(e.why, " on emu: ", "on which device");
	is(lkdf_data_acquire(d, LKDF_READ, -1, NULL), -ENOLINK,
	   "%s: its data is poisoned", what);
	if (entry != EMU_START && entry != EMU_BUILD)
		is(device_call(o.rt, o.kind, o.place, other, &arg), 0,
		   "%s: the next one runs", what);
	lkdf_data_put(d);
	lkdf_data_put(other);
	close_one(&o, what);
}

static void each_function_fails(void)
{
	static const struct {
		enum emu_entry entry;
		const char *name;
	} row[] = { { EMU_START, "start" },   { EMU_ALLOC, "alloc" },
		    { EMU_BUILD, "build" },   { EMU_UPLOAD, "upload" },
		    { EMU_LAUNCH, "launch" }, { EMU_FETCH, "fetch" } };
	size_t i;

	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		a_function_fails(row[i].entry, row[i].name, false, "workers=2");
		if (row[i].entry >= EMU_UPLOAD)
			a_function_fails(row[i].entry, row[i].name, true,
					 "workers=2");
	}
	a_function_fails(EMU_LAUNCH, "serial launch", false, "serial=yes");
	a_function_fails(EMU_FETCH, "serial fetch", true, "serial=yes");
}

static void code_does_not_compile(void)
{
	struct lkdf_error e;
	struct lkdf_data *d;
	struct one o;
	int i;

	open_one(&o, EMU_OWN, "workers=1");
	lkdf_kind_put(o.kind);
	o.kind = device_kind(o.rt, "nonsense");
	for (i = 0; i < 2; i++) {
		d = device_data(o.rt, NR, 1);
		is(call_in(&o, d, &e), -ENOEXEC, "bad code fails the task");
		has(e.why, "1:1: error: no kernel nonsense",
		    "with what the compiler says");
		lkdf_data_put(d);
	}
	is(atomic_load(&o.e.nr[EMU_BUILD]), 1, "it was compiled once");
	close_one(&o, "compile");
}

static void a_task_is_larger_than_the_device(const char *options)
{
	struct lkdf_data *small, *large;
	struct lkdf_error e;
	struct one o;

	open_one(&o, EMU_OWN, options);
	small = device_data(o.rt, NR, 1);
	large = device_data(o.rt, (1 << 17) + 1, 1);
	is(call_in(&o, large, &e), -ENOMEM, "a task larger than the device");
	has(e.why, "its uses have 1048584 bytes, device emu has 1048576",
	    "says both numbers");
	is(call_in(&o, small, &e), 0, "the next one runs");
	lkdf_data_put(small);
	lkdf_data_put(large);
	close_one(&o, "large");
}

/* The option says less than the device has. */
static void device_memory_is_an_option(void)
{
	struct lkdf_data *d;
	struct lkdf_error e;
	struct one o;

	emu_init(&o.e, EMU_OWN, device_kernels);
	o.e.memory = 4 << 20;
	o.rt = api_open("workers=1,device_memory=1");
	o.place = emu_register(o.rt, &o.e);
	o.kind = device_kind(o.rt, "add");
	d = device_data(o.rt, 1 << 18, 1);
	is(call_in(&o, d, &e), -ENOMEM, "2 MiB do not go into 1 MiB");
	has(e.why, "device emu has 1048576", "it says so");
	lkdf_data_put(d);
	close_one(&o, "option");
}

/* Many kernels, each of which needs more than half of the device. */
static void kernels_wait_for_room(unsigned flags, const char *options)
{
	struct lkdf_data *d[12];
	uint64_t arg = 2;
	struct one o;
	int i, wrong = 0;

	open_one(&o, flags, options);
	for (i = 0; i < 12; i++)
		d[i] = device_data(o.rt, 40000 + 10000 * (i % 5), 1);
	for (i = 0; i < 48; i++)
		lkdf_event_put(
			device_submit(o.rt, o.kind, o.place, d[i % 12], &arg));
	for (i = 0; i < 12; i++) {
		wrong += device_first_wrong(d[i], 40000 + 10000 * (i % 5), 9) >=
			 0;
		lkdf_data_put(d[i]);
	}
	is(wrong, 0, "48 kernels that do not fit together all run");
	close_one(&o, "room");
}

/* It is lost while kernels are in each state. */
static void a_lost_device_ends_all(unsigned held, const char *options)
{
	struct lkdf_device_info info = { .size = sizeof(info) };
	struct lkdf_event done[20];
	struct lkdf_data *d[20];
	uint64_t arg = 1;
	struct one o;
	int i, nr_lost = 0;

	open_one(&o, EMU_OWN | EMU_WILD, options);
	emu_hold(&o.e);
	for (i = 0; i < 20; i++) {
		d[i] = device_data(o.rt, NR, 1);
		done[i] = device_submit(o.rt, o.kind, o.place, d[i], &arg);
	}
	/* Uploads; then, with one kernel more, launches. */
	emu_until_held(&o.e, (int)held);
	emu_lose(&o.e);
	for (i = 0; i < 20; i++)
		nr_lost += lkdf_event_wait(done[i], -1) == -ENODEV;
	is(nr_lost, 20, "kernels under way and waiting end with -ENODEV");
	is(lkdf_submit(o.rt, NULL,
		       LKDF_TASK(.kind = o.kind, .arg = &arg, .place = o.place),
		       NULL),
	   -ENODEV, "no new one is taken");
	has(lkdf_errmsg(), "kernel add: device emu is lost", "by name");
	is(lkdf_place_info(o.place, &info), -ENODEV, "nor is it described");
	is(lkdf_data_acquire(d[0], LKDF_READ, -1, NULL), -ENODEV,
	   "its data is poisoned");
	for (i = 0; i < 20; i++)
		lkdf_data_put(d[i]);
	/* What was given back is said again by nobody. */
	close_one(&o, "lost");
}

static void a_cancel_drops_what_waits(const char *options)
{
	struct lkdf_scope *s = NULL;
	struct lkdf_data *d[20];
	struct one o;
	uint64_t arg = 1;
	int i;

	open_one(&o, EMU_OWN, options);
	must(lkdf_scope_create(o.rt, NULL, &s));
	emu_hold(&o.e);
	for (i = 0; i < 20; i++) {
		const struct lkdf_use use = {
			d[i] = device_data(o.rt, 1 << 14, 1), LKDF_RW, 0
		};

		must(lkdf_submit(o.rt, s,
				 LKDF_TASK(.kind = o.kind, .arg = &arg,
					   .place = o.place, .use = &use,
					   .nr_use = 1),
				 NULL));
	}
	emu_until_held(&o.e, 1);
	must(lkdf_scope_cancel(o.rt, s, -EINTR));
	emu_release(&o.e);
	is(lkdf_scope_wait(o.rt, s, -1), -EINTR, "a cancelled scope ends");
	is(atomic_load(&o.e.nr[EMU_LAUNCH]), 0, "nothing was launched");
	for (i = 0; i < 20; i++)
		lkdf_data_put(d[i]);
	lkdf_scope_put(s);
	close_one(&o, "cancel");
}

static int enqueue_nothing(struct lkdf_ctx *c, void *arg, void *queue)
{
	(void)c;
	(void)arg;
	(void)queue;
	return 0;
}

static struct lkdf_device_op last_op;

static int keep_mark(void *dev, unsigned queue, struct lkdf_device_op op)
{
	(void)dev;
	(void)queue;
	last_op = op;
	return lkdf_device_done(op, 0);
}

/* A task whose enqueue() gives nothing, on a device of such marks. */
struct marked {
	struct lkdf *rt;
	struct lkdf_place *place;
	struct lkdf_kind *kind;
	struct emu e;
};

static void open_marked(struct marked *m, int (*mark)(void *dev, unsigned queue,
						      struct lkdf_device_op op))
{
	struct lkdf_device_ops ops;

	m->rt = api_open_workers(1);
	emu_init(&m->e, 0, device_kernels);
	ops = emu_ops(&m->e);
	ops.mark = mark;
	must(lkdf_place_register(m->rt, &ops, &m->e, &m->place));
	must(lkdf_kind_create_kernel(
		m->rt,
		LKDF_KERNEL(.kind = LKDF_KIND(.name = "none"),
			    .enqueue = enqueue_nothing),
		&m->kind));
}

static int run_marked(struct marked *m)
{
	struct lkdf_event done;

	must(lkdf_submit(m->rt, NULL,
			 LKDF_TASK(.kind = m->kind, .place = m->place), &done));
	return lkdf_event_wait(done, -1);
}

static void close_marked(struct marked *m, const char *how)
{
	lkdf_kind_put(m->kind);
	is(device_close(m->rt), 0, "%s: close", how);
	emu_check(&m->e, how);
}

static void an_op_is_done_once(void)
{
	struct marked m;
	int i;

	open_marked(&m, keep_mark);
	for (i = 0; i < 3; i++) {
		is(run_marked(&m), 0,
		   "an op is done inside the call that gives it");
		is(lkdf_device_done(last_op, 0), -ESTALE, "it is done once");
	}
	has(lkdf_errmsg(), "it was done before", "which the error says");
	is(lkdf_device_done((struct lkdf_device_op){ 0 }, 0), -EINVAL,
	   "no op is none");
	is(lkdf_device_done(last_op, 5), -EINVAL, "an error is negative");
	is(lkdf_device_failed(last_op, 0, "why"), -EINVAL, "and not 0");
	close_marked(&m, "once");
}

static int fail_mark(void *dev, unsigned queue, struct lkdf_device_op op)
{
	struct emu *e = dev;
	char why[] = "the drum has no ink";
	int error = e->is_lost ? -ENODEV : -EIO;

	(void)queue;
	error = lkdf_device_failed(op, error, why);
	memset(why, 0, sizeof(why)); /* it is copied */
	return error;
}

static void an_op_says_why_it_failed(void)
{
	struct marked m;

	open_marked(&m, fail_mark);
	is(run_marked(&m), -EIO, "an op fails");
	has(lkdf_errmsg(), "the drum has no ink", "and has said why");
	m.e.is_lost = true;
	is(run_marked(&m), -ENODEV, "an op loses its device");
	has(lkdf_errmsg(), "the drum has no ink", "for that reason");
	close_marked(&m, "says why");
}

/* Adds 5 to all that its two uses have, on the queue that it was handed. */
struct pushed {
	struct emu_command c;
	uint64_t *x;
	uint64_t nr;
};

static void add_five(struct emu *e, struct emu_command *c)
{
	struct pushed *p = (struct pushed *)c;
	uint64_t *x = (uint64_t *)(void *)(e->alias + ((char *)p->x - e->base));
	uint64_t i;

	for (i = 0; i < p->nr; i++)
		x[i] += 5;
}

static int enqueue_two(struct lkdf_ctx *c, void *arg, void *queue)
{
	struct emu_queue *q = queue;
	struct pushed *p;
	unsigned i;

	if (*(uint64_t *)arg == 1)
		return lkdf_fail(c, -EDOM, "one is refused");
	for (i = 0; i < 2; i++) {
		p = calloc(1, sizeof(*p));
		p->c.run = add_five;
		p->x = lkdf_ptr(c, i);
		p->nr = NR;
		emu_push(q->e, (unsigned)(q - q->e->queue), &p->c);
	}
	return lkdf_ptr(c, 2) ? -EINVAL : 0;
}

static void a_function_gives_work_to_a_queue(const char *options)
{
	struct lkdf_error err = { .size = sizeof(err) };
	struct lkdf_scope *s = NULL;
	struct lkdf_event done;
	struct one o;
	struct lkdf_data *d[2];
	uint64_t arg = 0;

	open_one(&o, EMU_OWN | EMU_WILD, options);
	lkdf_kind_put(o.kind);
	d[0] = device_data(o.rt, NR, 1);
	d[1] = device_data(o.rt, NR, 2);
	const struct lkdf_use use[] = { { d[0], LKDF_RW, 0 },
					{ d[1], LKDF_RW, 0 } };
	must(lkdf_kind_create_kernel(
		o.rt,
		LKDF_KERNEL(.kind = LKDF_KIND(.name = "two",
					      .arg_size = sizeof(arg)),
			    .enqueue = enqueue_two),
		&o.kind));
	must(lkdf_submit(o.rt, NULL,
			 LKDF_TASK(.kind = o.kind, .arg = &arg,
				   .place = o.place, .use = use, .nr_use = 2),
			 &done));
	is(lkdf_event_wait(done, -1), 0, "%s: enqueue gives work", options);
	is(device_first_wrong(d[0], NR, 6), -1, "%s: it is done", options);
	is(device_first_wrong(d[1], NR, 7), -1, "%s: all of it", options);
	must(lkdf_scope_create(o.rt, NULL, &s));
	arg = 1;
	must(lkdf_submit(o.rt, s,
			 LKDF_TASK(.kind = o.kind, .arg = &arg,
				   .place = o.place, .use = use, .nr_use = 2),
			 NULL));
	is(lkdf_scope_wait(o.rt, s, -1), -EDOM, "%s: it may fail", options);
	must(lkdf_scope_error(o.rt, s, &err));
	has(err.why, "one is refused", "and say why");
	lkdf_scope_put(s);
	lkdf_data_put(d[0]);
	lkdf_data_put(d[1]);
	close_one(&o, "enqueue");
}

static void why_tells_of_kernels(void)
{
	struct lkdf_event done;
	struct lkdf_data *d;
	char text[4096] = "";
	uint64_t arg = 1, nr;
	struct one o;
	int fd = memfd_create("why", 0);

	open_one(&o, EMU_OWN, "workers=1");
	d = device_data(o.rt, NR, 1);
	emu_hold(&o.e);
	done = device_submit(o.rt, o.kind, o.place, d, &arg);
	emu_until_held(&o.e, 1);
	must(lkdf_why(o.rt, "text", fd));
	ok(pread(fd, text, sizeof(text) - 1, 0) > 0, "lkdf_why tells");
	has(text, "\"add\"", "of the kernel");
	has(text, "for its bytes to come to device emu",
	    "and what it waits for");
	close(fd);
	emu_release(&o.e);
	must(lkdf_event_wait(done, -1));
	is(device_first_wrong(d, NR, 2), -1, "it has run");
	lkdf_data_put(d);
	must(lkdf_stat(o.rt, "lkdf.device.kernels", &nr));
	is(nr, 1, "a counter tells of the kernel");
	must(lkdf_stat(o.rt, "lkdf.device.uploaded_bytes", &nr));
	is(nr, NR * 8, "what went there");
	must(lkdf_stat(o.rt, "lkdf.device.fetched_bytes", &nr));
	is(nr, NR * 8, "and came back");
	close_one(&o, "why");
}

int main(void)
{
	tap_start(90);
	each_function_fails();
	code_does_not_compile();
	a_task_is_larger_than_the_device("workers=2");
	a_task_is_larger_than_the_device("serial=yes");
	device_memory_is_an_option();
	kernels_wait_for_room(EMU_OWN | EMU_WILD, "workers=2");
	kernels_wait_for_room(EMU_OWN, "serial=yes");
	a_lost_device_ends_all(1, "workers=2");
	a_lost_device_ends_all(8, "workers=2");
	a_cancel_drops_what_waits("workers=2");
	an_op_is_done_once();
	an_op_says_why_it_failed();
	a_function_gives_work_to_a_queue("workers=2");
	a_function_gives_work_to_a_queue("serial=yes");
	why_tells_of_kernels();
	return tap_end();
}
