/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A device from register to close: no thread and no call before its first task,
 * a launcher that sleeps while there is nothing to do, kernels that are chosen,
 * urgent ones before others and beside full workers, and what is refused.
 */
#include "tests/api/device/device.h"
#include "tests/threads.h"

#include <sys/wait.h>

static void there_is_no_thread_before_the_first_task(void)
{
	struct lkdf *rt = api_open_workers(1);
	int before = api_nr_threads();
	struct lkdf_device_info info = { .size = sizeof(info) };
	struct lkdf_place *p, *v[2], *node;
	struct lkdf_kind *k;
	struct lkdf_data *d;
	uint64_t arg = 1;
	struct emu e;

	emu_init(&e, EMU_OWN, device_kernels);
	p = emu_register(rt, &e);
	k = device_kind(rt, "add");
	is(api_nr_threads(), before, "a registered device has no thread");
	is(atomic_load(&e.nr[EMU_START]), 0, "and is not started");
	is(lkdf_places(rt, LKDF_PLACE_USER, v, 2), 1, "it is a place");
	ok(v[0] == p, "that one");
	is(lkdf_places(rt, 0, NULL, 0),
	   lkdf_places(rt, LKDF_PLACE_NODE, &node, 1) + 1, "beside the nodes");
	is(lkdf_place_id(p), 0, "the first one");
	is(lkdf_place_info(p, &info), 0, "it says what it is");
	is(info.memory, 1 << 20, "such as its memory");
	is(lkdf_place_info(node, &info), -EINVAL, "a node is no device");
	d = device_data(rt, 10, 1);
	is(device_call(rt, k, p, d, &arg), 0, "its first kernel runs");
	ok(api_nr_threads() > before, "there are threads then");
	is(atomic_load(&e.nr[EMU_START]), 1, "it was started once");
	is(atomic_load(&e.nr[EMU_BUILD]), 1, "and has built the code once");
	lkdf_data_put(d);
	lkdf_kind_put(k);
	is(device_close(rt), 0, "close");
	is(atomic_load(&e.nr[EMU_DROP]), 1, "it has dropped the code");
	emu_check(&e, "own");
}

static void a_device_without_tasks_is_stopped_only(void)
{
	struct lkdf *rt = api_open_workers(1);
	struct emu e;

	emu_init(&e, EMU_OWN, device_kernels);
	emu_register(rt, &e);
	is(lkdf_close(rt), 0, "a runtime with an unused device closes");
	is(atomic_load(&e.nr[EMU_START]), 0, "it was never started");
	emu_check(&e, "unused");
}

/* The launcher's voluntary switches so far; -1: there is none. */
static long switches(void)
{
	struct found_thread t;

	return threads_find("lkdf/d0", &t, 1) ? thread_sleeps(t.tid) : -1;
}

/* The launcher's switches while bodies come and go. */
static long switches_beside_bodies(struct lkdf *rt, struct lkdf_kind *k)
{
	long before = switches();
	atomic_int nr = 0;
	int i;

	for (i = 0; i < 10000; i++)
		must(lkdf_submit(rt, NULL, LKDF_TASK(.kind = k, .arg = &nr),
				 NULL));
	must(lkdf_scope_wait(rt, NULL, -1));
	api_nap_ns(SECOND / 5);
	return switches() - before;
}

/* It may still be on its way to sleep, and wait for a CPU: some rounds. */
static void an_idle_launcher_is_not_woken(void)
{
	struct lkdf *rt = api_open_workers(2);
	struct lkdf_kind *k, *count;
	struct lkdf_data *d;
	struct lkdf_place *p;
	uint64_t arg = 1;
	long nr = -1;
	struct emu e;
	int i;

	emu_init(&e, EMU_OWN | EMU_POLLS, device_kernels);
	p = emu_register(rt, &e);
	k = device_kind(rt, "add");
	count = api_kind(rt, "count", api_count, 0, 0);
	d = device_data(rt, 10, 1);
	is(device_call(rt, k, p, d, &arg), 0, "a kernel runs");
	ok(switches() >= 0, "the launcher is there");
	for (i = 0; i < 50 && nr; i++)
		nr = switches_beside_bodies(rt, count);
	is(nr, 0, "nobody wakes it while there are no kernels");
	lkdf_data_put(d);
	lkdf_kind_put(k);
	lkdf_kind_put(count);
	is(device_close(rt), 0, "close");
	emu_check(&e, "idle");
}

/* Bodies that spin until the urgent kernel has run. */
static atomic_int urgent_ran;

static int spin(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	atomic_fetch_add((atomic_int *)arg, 1);
	while (!atomic_load(&urgent_ran))
		sched_yield();
	return 0;
}

static void run_urgent(struct emu *e, const struct lkdf_launch *l)
{
	(void)e;
	(void)l;
	atomic_store(&urgent_ran, 1);
}

static const struct emu_kernel urgent_kernels[] = { { "urgent", run_urgent },
						    { NULL, NULL } };

static void an_urgent_kernel_does_not_wait_for_workers(void)
{
	const struct lkdf_code code = { .device = "emu", .image = "urgent" };
	struct lkdf *rt = api_open_workers(2);
	struct lkdf_kind *k = NULL, *body;
	struct lkdf_event done;
	struct lkdf_place *p;
	atomic_int nr = 0;
	struct emu e;
	int i;

	emu_init(&e, 0, urgent_kernels);
	p = emu_register(rt, &e);
	body = api_kind(rt, "spin", spin, 0, 0);
	must(lkdf_kind_create_kernel(
		rt,
		LKDF_KERNEL(.kind = LKDF_KIND(.name = "urgent",
					      .prio = LKDF_URGENT),
			    .code = &code, .nr_code = 1),
		&k));
	for (i = 0; i < 2; i++)
		must(lkdf_submit(rt, NULL, LKDF_TASK(.kind = body, .arg = &nr),
				 NULL));
	while (atomic_load(&nr) < 2)
		sched_yield();
	must(lkdf_submit(rt, NULL, LKDF_TASK(.kind = k, .place = p), &done));
	is(lkdf_event_wait(done, -1), 0,
	   "an urgent kernel runs while all workers are in bodies");
	lkdf_kind_put(k);
	lkdf_kind_put(body);
	is(device_close(rt), 0, "close");
	emu_check(&e, "urgent");
}

/* The order in which kernels were launched. */
static uint64_t order[16];
static unsigned nr_order;

static void note_order(struct emu *e, const struct lkdf_launch *l)
{
	(void)e;
	memcpy(&order[nr_order++ % 16], l->arg[0].value, sizeof(order[0]));
}

static const struct emu_kernel order_kernels[] = { { "note", note_order },
						   { NULL, NULL } };

static void urgent_kernels_go_before_others(void)
{
	const struct lkdf_code code = { .device = "emu", .image = "note" };
	struct lkdf *rt = api_open("workers=1,device_queues=1");
	struct lkdf_kind *k = NULL;
	struct lkdf_place *p;
	uint64_t arg;
	struct emu e;

	emu_init(&e, 0, order_kernels);
	e.nr_queues = 1;
	p = emu_register(rt, &e);
	must(lkdf_kind_create_kernel(
		rt,
		LKDF_KERNEL(.kind = LKDF_KIND(.name = "note",
					      .arg_size = sizeof(arg)),
			    .code = &code, .nr_code = 1),
		&k));
	emu_hold(&e);
	/* Four fill the device, eight wait, and the last one is urgent. */
	for (arg = 0; arg < 13; arg++) {
		if (arg == 4)
			emu_until_held(&e, 4);
		must(lkdf_submit(rt, NULL,
				 LKDF_TASK(.kind = k, .arg = &arg, .place = p,
					   .prio = arg == 12 ? LKDF_URGENT : 0),
				 NULL));
	}
	emu_release(&e);
	is(lkdf_scope_wait(rt, NULL, -1), 0, "13 kernels run");
	is(order[4], 12, "an urgent one before those that wait");
	lkdf_kind_put(k);
	is(device_close(rt), 0, "close");
	emu_check(&e, "order");
}

static int add_here(struct lkdf_ctx *c, void *arg)
{
	uint64_t *x = lkdf_ptr(c, 0);

	x[0] += 1000 * *(uint64_t *)arg;
	return 0;
}

static int choose_last(struct lkdf_ctx *c, struct lkdf_place *const *v,
		       unsigned nr)
{
	(void)c;
	(void)v;
	return (int)nr - 1;
}

static int choose_none(struct lkdf_ctx *c, struct lkdf_place *const *v,
		       unsigned nr)
{
	(void)v;
	(void)nr;
	return lkdf_fail(c, -EPERM, "none of them");
}

static struct lkdf_kind *choosing(struct lkdf *rt,
				  int (*choose)(struct lkdf_ctx *c,
						struct lkdf_place *const *v,
						unsigned nr))
{
	const struct lkdf_code code = { .device = "emu", .image = "add" };
	struct lkdf_kind *k = NULL;

	must(lkdf_kind_create_kernel(
		rt,
		LKDF_KERNEL(.kind = LKDF_KIND(.name = "add",
					      .arg_size = sizeof(uint64_t)),
			    .code = &code, .nr_code = 1, .choose = choose),
		&k));
	return k;
}

static void a_device_is_chosen(const char *options)
{
	struct lkdf *rt = api_open(options);
	struct lkdf_place *node, *p, *other = NULL;
	struct lkdf_kind *k, *none, *last;
	struct lkdf_data *d;
	struct emu e[3];
	uint64_t arg = 1;
	int i;

	must(lkdf_places(rt, LKDF_PLACE_NODE, &node, 1));
	k = device_kind_with(rt, "add", add_here);
	none = choosing(rt, choose_none);
	last = choosing(rt, choose_last);
	d = device_data(rt, 1, 0);
	is(device_call(rt, k, NULL, d, &arg), 0, "%s: without a device",
	   options);
	is(device_first_wrong(d, 1, 1000), -1, "%s: fn runs on a CPU", options);
	is(device_call(rt, last, NULL, d, &arg), -ENODEV,
	   "%s: without fn there is nothing to run it", options);
	/* It has poisoned the data. */
	lkdf_data_put(d);
	d = device_data(rt, 1, 1000);
	for (i = 0; i < 3; i++) {
		emu_init(&e[i], i ? EMU_OWN : 0, device_kernels);
		e[i].name = i == 1 ? "other" : "emu";
		p = emu_register(rt, &e[i]);
		other = i == 1 ? p : other;
	}
	is(device_call(rt, k, NULL, d, &arg), 0, "%s: with one", options);
	is(device_first_wrong(d, 1, 1001), -1, "%s: it runs there", options);
	is(device_call(rt, k, node, d, &arg), 0, "%s: on a node", options);
	is(device_first_wrong(d, 1, 2001), -1, "%s: fn runs", options);
	i = atomic_load(&e[2].nr[EMU_LAUNCH]);
	is(device_call(rt, last, NULL, d, &arg), 0, "%s: choose chooses",
	   options);
	is(atomic_load(&e[2].nr[EMU_LAUNCH]), i + 1, "%s: the last", options);
	is(lkdf_submit(rt, NULL,
		       LKDF_TASK(.kind = k, .arg = &arg, .place = other), NULL),
	   -ENODEV, "%s: a device without code is refused", options);
	has(lkdf_errmsg(), "kernel add on device other: the kernel has no code",
	    "by name");
	is(lkdf_submit(rt, NULL,
		       LKDF_TASK(.kind = last, .arg = &arg, .place = node),
		       NULL),
	   -EINVAL, "%s: a node for a kernel without fn, too", options);
	is(device_call(rt, none, NULL, d, &arg), -EPERM,
	   "%s: choose may refuse", options);
	is(atomic_load(&e[1].nr[EMU_START]), 0, "%s: the other is not used",
	   options);
	lkdf_data_put(d);
	lkdf_kind_put(k);
	lkdf_kind_put(none);
	lkdf_kind_put(last);
	is(device_close(rt), 0, "%s: close", options);
	for (i = 0; i < 3; i++)
		emu_check(&e[i], options);
}

static void plain_kinds_have_no_device(void)
{
	struct lkdf *rt = api_open_workers(1);
	struct lkdf_kind *k = api_kind(rt, "plain", api_nothing, 0, 0);
	struct lkdf_graph *g = api_graph(rt, 1);
	struct lkdf_place *p, *part;
	struct emu e;

	emu_init(&e, EMU_OWN, device_kernels);
	p = emu_register(rt, &e);
	is(lkdf_submit(rt, NULL, LKDF_TASK(.kind = k, .place = p), NULL),
	   -EINVAL, "a plain task is not for a device");
	has(lkdf_errmsg(), "place is device emu, and kind plain is no kernel",
	    "by name");
	is(lkdf_graph_add_task(g, LKDF_TASK(.kind = k, .place = p)), -EINVAL,
	   "nor one of a graph");
	is(lkdf_place_part(p, 0, 2, &part), -EOPNOTSUPP,
	   "a device has no parts yet");
	lkdf_graph_put(g);
	lkdf_kind_put(k);
	is(lkdf_close(rt), 0, "close");
	emu_check(&e, "plain");
}

static void lacks(struct lkdf *rt, struct emu *e, struct lkdf_device_ops ops,
		  const char *part)
{
	struct lkdf_place *p = NULL;

	is(lkdf_place_register(rt, &ops, e, &p), -EINVAL, "refused: %s", part);
	has(lkdf_errmsg(), part, "by name");
	ok(!p, "there is no place");
}

static void bad_devices_are_refused(void)
{
	struct lkdf *rt = api_open_workers(1);
	struct lkdf_device_ops ops, all;
	struct lkdf_place *p = NULL;
	struct emu e, f;

	emu_init(&e, EMU_OWN, device_kernels);
	emu_init(&f, EMU_OWN, device_kernels);
	ops = all = emu_ops(&e);
	ops.info = NULL;
	lacks(rt, &e, ops, "info is NULL");
	ops = all;
	ops.launch = NULL;
	lacks(rt, &e, ops, "launch is NULL");
	ops = all;
	ops.stop = NULL;
	lacks(rt, &e, ops, "stop is NULL");
	ops = all;
	ops.fetch = NULL;
	lacks(rt, &e, ops, "fetch is NULL");
	ops = all;
	ops.name = "";
	lacks(rt, &e, ops, "name is NULL or empty");
	ops = all;
	ops.flags |= 1u << 20;
	lacks(rt, &e, ops, "unknown flags 0x100000");
	ops = all;
	ops.mark = NULL;
	lacks(rt, &e, ops, "queue and mark go together");
	ops = all;
	ops.size = 6;
	lacks(rt, &e, ops, "size 6 is not that of the struct");
	e.memory = 0;
	lacks(rt, &e, all, "memory is 0");
	e.memory = 4096;
	e.fail_error[EMU_INFO] = -ENXIO;
	atomic_store(&e.fail_at[EMU_INFO], 2);
	is(lkdf_place_register(rt, &all, &e, &p), -ENXIO, "info may fail");
	is(lkdf_place_register(rt, &all, &e, &p), 0, "or not");
	is(lkdf_place_register(rt, &all, &e, &p), -EEXIST, "not twice");
	is(lkdf_place_register(rt, &all, &f, &p), 0, "another one of them is");
	is(lkdf_close(rt), 0, "close");
	emu_check(&e, "refused");
	emu_check(&f, "second");
}

static void a_forked_child_calls_no_device(void)
{
	struct lkdf *rt = api_open_workers(1);
	struct lkdf_device_ops ops;
	struct lkdf_event done;
	struct lkdf_place *p, *q;
	struct lkdf_data *d;
	struct lkdf_kind *k;
	uint64_t arg = 3;
	int status = -1, bad = 0;
	struct emu e;
	pid_t pid;

	emu_init(&e, EMU_OWN, device_kernels);
	ops = emu_ops(&e);
	p = emu_register(rt, &e);
	k = device_kind(rt, "add");
	d = device_data(rt, 10, 1);
	emu_hold(&e);
	done = device_submit(rt, k, p, d, &arg);
	emu_until_held(&e, 1);
	pid = fork();
	if (!pid) {
		bad |= lkdf_place_register(rt, &ops, &arg, &q) != -EOWNERDEAD;
		bad |= (lkdf_device_done(e.queue[0].first->op, 0) !=
			-EOWNERDEAD)
		       << 1;
		bad |= (lkdf_submit(rt, NULL, LKDF_TASK(.kind = k, .arg = &arg),
				    NULL) != -EOWNERDEAD)
		       << 2;
		bad |= ((lkdf_close)(rt) != 0) << 3;
		bad |= (atomic_load(&e.nr[EMU_STOP]) != 0) << 4;
		_exit(bad);
	}
	waitpid(pid, &status, 0);
	ok(WIFEXITED(status), "the child lives with a kernel under way");
	is(WEXITSTATUS(status), 0, "and all calls say what they should");
	emu_release(&e);
	is(lkdf_event_wait(done, -1), 0, "the parent's kernel ends");
	is(device_first_wrong(d, 10, 4), -1, "well");
	lkdf_data_put(d);
	lkdf_kind_put(k);
	is(device_close(rt), 0, "close");
	emu_check(&e, "fork");
}

int main(void)
{
	tap_start(60);
	there_is_no_thread_before_the_first_task();
	a_device_without_tasks_is_stopped_only();
	an_idle_launcher_is_not_woken();
	an_urgent_kernel_does_not_wait_for_workers();
	urgent_kernels_go_before_others();
	a_device_is_chosen("workers=2");
	a_device_is_chosen("serial=yes");
	plain_kinds_have_no_device();
	bad_devices_are_refused();
	a_forked_child_calls_no_device();
	return tap_end();
}
