/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Memory of a device where something is wrong: too little of it, a device that
 * refuses or is lost, blocks that are freed wrongly or not at all, a host that
 * touches what is not its own.
 */
#include "tests/api/device/memory.h"

#include <signal.h>
#include <sys/wait.h>

static uint64_t host[BLOCK_NR];

struct one {
	struct lkdf *rt;
	struct lkdf_place *place;
	struct emu e;
};

static void open_one(struct one *o, unsigned flags, const char *options)
{
	emu_init(&o->e, EMU_OWN | flags, memory_kernels);
	o->e.memory = 4 * BLOCK_BYTES;
	o->rt = api_open(options);
	o->place = emu_register(o->rt, &o->e);
}

static void close_one(struct one *o, const char *how)
{
	is(device_close(o->rt), 0, "%s: close", how);
	emu_check(&o->e, how);
}

static int try_alloc(struct one *o, uint64_t bytes, void **out)
{
	return lkdf_alloc(o->place, LKDF_MEM_OWN, bytes, 0, "try", out);
}

/* ---- room --------------------------------------------------------------- */

static void a_full_device_says_so(const char *options)
{
	void *a, *b = NULL;
	struct one o;

	open_one(&o, 0, options);
	must(try_alloc(&o, 3 * BLOCK_BYTES, &a));
	is(try_alloc(&o, 2 * BLOCK_BYTES, &b), -ENOMEM, "%s: no room", options);
	has(lkdf_errmsg(), "has 131072 bytes, the program holds 98304",
	    "%s: with all numbers", options);
	ok(!b, "%s: out is untouched", options);
	lkdf_free(o.rt, a);
	is(try_alloc(&o, 4 * BLOCK_BYTES, &b), 0, "%s: after it is freed",
	   options);
	lkdf_free(o.rt, b);
	close_one(&o, options);
}

/* What the program holds is not there for kernels: they fail at once. */
static void kernels_have_what_is_left(const char *options)
{
	struct lkdf_data *d;
	struct lkdf_kind *k;
	uint64_t arg = 1;
	struct one o;
	void *a;

	open_one(&o, 0, options);
	k = device_kind(o.rt, "step");
	d = device_data(o.rt, 2 * BLOCK_NR, 1);
	must(try_alloc(&o, 3 * BLOCK_BYTES, &a));
	is(device_call(o.rt, k, o.place, d, &arg), -ENOMEM,
	   "%s: a kernel that does not fit beside it fails", options);
	has(lkdf_errmsg(), "of which the program holds 98304",
	    "%s: and says why", options);
	lkdf_free(o.rt, a);
	lkdf_data_put(d);
	d = device_data(o.rt, 2 * BLOCK_NR, 1);
	is(device_call(o.rt, k, o.place, d, &arg), 0, "%s: now it fits",
	   options);
	is(device_first_wrong(d, 2 * BLOCK_NR, 4), -1, "%s: right", options);
	lkdf_data_put(d);
	lkdf_kind_put(k);
	close_one(&o, options);
}

/* Bytes that only the device has are carried back first. */
static void copies_make_room(const char *options)
{
	struct lkdf_data *d[3];
	struct lkdf_kind *k;
	uint64_t arg = 1;
	struct one o;
	void *a;
	int i;

	open_one(&o, EMU_WILD, options);
	k = device_kind(o.rt, "step");
	for (i = 0; i < 3; i++) {
		d[i] = device_data(o.rt, BLOCK_NR, (uint64_t)i);
		must(device_call(o.rt, k, o.place, d[i], &arg));
	}
	is(try_alloc(&o, 4 * BLOCK_BYTES, &a), 0, "%s: all copies go", options);
	for (i = 0; i < 3; i++) {
		is(device_first_wrong(d[i], BLOCK_NR, 3 * (uint64_t)i + 1), -1,
		   "%s: the host has the bytes of %d", options, i);
		lkdf_data_put(d[i]);
	}
	lkdf_free(o.rt, a);
	lkdf_kind_put(k);
	close_one(&o, options);
}

static void *release_soon(void *arg)
{
	api_nap_ns(20000000);
	emu_release(arg);
	return NULL;
}

/* And kernels come behind it. */
static void it_waits_for_kernels_under_way(void)
{
	struct lkdf_data *d[4];
	struct lkdf_kind *k;
	uint64_t arg = 1;
	pthread_t thread;
	struct one o;
	void *a;
	int i;

	open_one(&o, EMU_WILD, "workers=1");
	k = device_kind(o.rt, "step");
	for (i = 0; i < 4; i++)
		d[i] = device_data(o.rt, 2 * BLOCK_NR, (uint64_t)i);
	emu_hold(&o.e);
	for (i = 0; i < 4; i++)
		lkdf_event_put(device_submit(o.rt, k, o.place, d[i], &arg));
	emu_until_held(&o.e, 1);
	pthread_create(&thread, NULL, release_soon, &o.e);
	is(try_alloc(&o, 2 * BLOCK_BYTES, &a), 0,
	   "memory comes when kernels are done");
	pthread_join(thread, NULL);
	for (i = 0; i < 4; i++) {
		is(device_first_wrong(d[i], 2 * BLOCK_NR, 3 * (uint64_t)i + 1),
		   -1, "kernel %d is right", i);
		lkdf_data_put(d[i]);
	}
	lkdf_free(o.rt, a);
	lkdf_kind_put(k);
	close_one(&o, "under way");
}

/* ---- threads ------------------------------------------------------------ */

#define NR_ROUNDS 60

static int alloc_in_body(struct lkdf_ctx *c, void *arg)
{
	struct one *o = *(struct one **)arg;
	void *a;
	int rc, i;

	(void)c;
	for (i = 0; i < 10; i++) {
		rc = try_alloc(o, BLOCK_BYTES / 2, &a);
		if (rc)
			return rc;
		lkdf_free(o->rt, a);
	}
	return 0;
}

static void bodies_and_threads_at_a_time(const char *options)
{
	struct lkdf_kind *k, *step;
	struct lkdf_data *d;
	uint64_t arg = 0;
	struct one o, *at = &o;
	void *a;
	int i;

	open_one(&o, EMU_WILD, options);
	k = api_kind(o.rt, "alloc", alloc_in_body, sizeof(at), 0);
	step = device_kind(o.rt, "step");
	d = device_data(o.rt, BLOCK_NR / 2, 1);
	for (i = 0; i < NR_ROUNDS; i++) {
		must(lkdf_submit(o.rt, NULL, LKDF_TASK(.kind = k, .arg = &at),
				 NULL));
		if (i < 20)
			lkdf_event_put(
				device_submit(o.rt, step, o.place, d, &arg));
		must(try_alloc(&o, BLOCK_BYTES, &a));
		must(lkdf_copy(o.rt, NULL, a, host, BLOCK_BYTES, NULL));
		lkdf_free(o.rt, a);
	}
	is(lkdf_scope_wait(o.rt, NULL, -1), 0, "%s: bodies take and give",
	   options);
	is(device_first_wrong(d, BLOCK_NR / 2, 3486784401), -1,
	   "%s: beside kernels", options);
	lkdf_data_put(d);
	lkdf_kind_put(k);
	lkdf_kind_put(step);
	close_one(&o, options);
}

static struct one *enqueuer;

static int alloc_on_launcher(struct lkdf_ctx *c, void *arg, void *queue)
{
	void *a;

	(void)c;
	(void)arg;
	(void)queue;
	is(try_alloc(enqueuer, 64, &a), -EDEADLK,
	   "the launcher cannot wait for itself");
	return 0;
}

static void enqueue_may_not(const char *options)
{
	struct lkdf_kind *k = NULL;
	struct lkdf_event done;
	struct one o;

	open_one(&o, 0, options);
	enqueuer = &o;
	must(lkdf_kind_create_kernel(
		o.rt,
		LKDF_KERNEL(.kind = LKDF_KIND(.name = "enqueue"),
			    .enqueue = alloc_on_launcher),
		&k));
	must(lkdf_submit(o.rt, NULL, LKDF_TASK(.kind = k, .place = o.place),
			 &done));
	is(lkdf_event_wait(done, -1), 0, "%s: the kernel", options);
	lkdf_kind_put(k);
	close_one(&o, options);
}

/* ---- what the device says ----------------------------------------------- */

static void errors_of_the_device_are_told(const char *options)
{
	struct lkdf_event done;
	struct one o;
	void *a, *b;

	open_one(&o, 0, options);
	atomic_store(&o.e.fail_at[EMU_ALLOC], 1);
	o.e.fail_error[EMU_ALLOC] = -EIO;
	is(try_alloc(&o, 64, &a), -EIO, "%s: alloc", options);
	must(try_alloc(&o, BLOCK_BYTES, &a));
	must(try_alloc(&o, BLOCK_BYTES, &b));
	atomic_store(&o.e.fail_at[EMU_UPLOAD], 1);
	o.e.fail_error[EMU_UPLOAD] = -EIO;
	is(lkdf_copy(o.rt, NULL, a, host, BLOCK_BYTES, NULL), -EIO,
	   "%s: upload", options);
	has(lkdf_errmsg(), "copy: 32768 bytes from the host to emu",
	    "%s: by name", options);
	atomic_store(&o.e.fail_at[EMU_FETCH], 1);
	o.e.fail_error[EMU_FETCH] = -EFAULT;
	o.e.fails_late = true;
	must(lkdf_copy(o.rt, NULL, b, a, BLOCK_BYTES, &done));
	is(lkdf_event_wait(done, -1), -EFAULT, "%s: fetch, late", options);
	is(lkdf_copy(o.rt, NULL, b, a, BLOCK_BYTES, NULL), 0, "%s: then not",
	   options);
	lkdf_free(o.rt, a);
	lkdf_free(o.rt, b);
	lkdf_scope_wait(o.rt, NULL, -1);
	close_one(&o, options);
}

static void a_lost_device_gives_nothing(const char *options)
{
	struct lkdf_event done[2];
	struct lkdf_data *d;
	struct one o;
	void *a, *b;

	open_one(&o, 0, options);
	must(try_alloc(&o, BLOCK_BYTES, &a));
	must(try_alloc(&o, BLOCK_BYTES, &b));
	d = device_data(o.rt, 64, 1);
	emu_hold(&o.e);
	/* In serial mode whoever submits does all. */
	if (strcmp(options, "serial=yes")) {
		must(lkdf_copy(o.rt, NULL, a, host, BLOCK_BYTES, &done[0]));
		must(lkdf_copy(o.rt, NULL, b, a, BLOCK_BYTES, &done[1]));
		emu_until_held(&o.e, 2);
		emu_lose(&o.e);
		is(lkdf_event_wait(done[0], -1), -ENODEV, "%s: a copy there",
		   options);
		is(lkdf_event_wait(done[1], -1), -ENODEV, "%s: and within",
		   options);
	} else {
		emu_lose(&o.e);
		is(lkdf_copy(o.rt, NULL, a, host, 64, NULL), -ENODEV,
		   "%s: a copy there", options);
	}
	is(lkdf_copy(o.rt, NULL, host, a, 64, NULL), -ENODEV, "%s: a later one",
	   options);
	has(lkdf_errmsg(), "from emu to the host", "%s: by name", options);
	lkdf_free(o.rt, a);
	is(try_alloc(&o, 64, &a), -ENODEV, "%s: no memory", options);
	must(lkdf_data_prefetch(d, o.place, &done[0]));
	is(lkdf_event_wait(done[0], -1), 0, "%s: a prefetch is a wish",
	   options);
	is(device_first_wrong(d, 64, 1), -1, "%s: that changes nothing",
	   options);
	lkdf_data_put(d);
	lkdf_free(o.rt, b);
	lkdf_scope_wait(o.rt, NULL, -1);
	close_one(&o, options);
}

/* Whoever reads bytes that were lost is told, prefetched or not. */
static void a_prefetch_hides_no_loss(void)
{
	struct lkdf_event done;
	struct lkdf_place *p[2];
	struct lkdf_kind *k;
	struct lkdf_data *d;
	uint64_t arg = 1;
	struct one o;
	struct emu e;
	void *at;

	open_one(&o, 0, "workers=1");
	p[0] = o.place;
	emu_init(&e, EMU_OWN, memory_kernels);
	p[1] = emu_register(o.rt, &e);
	k = device_kind(o.rt, "step");
	d = device_data(o.rt, 64, 1);
	must(device_call(o.rt, k, p[0], d, &arg));
	o.e.fail_error[EMU_FETCH] = -EIO;
	atomic_store(&o.e.fail_at[EMU_FETCH], 1);
	must(lkdf_data_prefetch(d, p[1], &done));
	is(lkdf_event_wait(done, -1), 0, "the prefetch ends well");
	is(lkdf_data_acquire(d, LKDF_READ, -1, &at), -EIO, "a reader does not");
	lkdf_data_put(d);
	lkdf_kind_put(k);
	lkdf_scope_wait(o.rt, NULL, -1);
	close_one(&o, "loss");
	emu_check(&e, "loss");
}

/* ---- what the program does ---------------------------------------------- */

static char said[4096];

static void note(void *u, int level, const char *text)
{
	(void)u;
	(void)level;
	snprintf(said + strlen(said), sizeof(said) - strlen(said), "%s\n",
		 text);
}

static void wrong_calls_are_named(void)
{
	struct one o;
	void *a, *b;

	said[0] = 0;
	emu_init(&o.e, EMU_OWN, memory_kernels);
	must(lkdf_open_with(ATTR(lkdf_open_attr, .options = "workers=1",
				 .log = note),
			    &o.rt));
	o.place = emu_register(o.rt, &o.e);
	must(try_alloc(&o, 1000, &a));
	must(try_alloc(&o, 2000, &b));
	lkdf_free(o.rt, (char *)a + 8);
	has(said, "lies 8 bytes inside a block of 1000 bytes \"try\" of device",
	    "freed from its middle");
	lkdf_free(o.rt, a);
	said[0] = 0;
	lkdf_free(o.rt, a);
	has(said, "which was freed", "freed twice");
	is(lkdf_alloc(o.place, LKDF_MEM_OWN, 64, 8192, NULL, &a), -EINVAL,
	   "an alignment of more than a page");
	is(lkdf_alloc(o.place, LKDF_MEM_MANAGED, 64, 0, NULL, &a), -EOPNOTSUPP,
	   "managed memory, of a device without");
	has(lkdf_errmsg(), "device emu has none", "by name");
	is(device_close(o.rt), 0, "close");
	has(said, "memory not freed: \"try\" 1 block, 2000 bytes, of device 0",
	    "what was not freed is told at close");
	emu_check(&o.e, "wrong");
}

/* A body on the host could not touch its bytes. */
static void a_data_has_no_bytes_there(void)
{
	struct lkdf_data *d = NULL;
	struct one o;
	char *a;
	void *at;

	open_one(&o, 0, "workers=1");
	must(try_alloc(&o, 1000, &at));
	a = at;
	is(lkdf_data_create(o.rt,
			    ATTR(lkdf_data_attr, .bytes = 1000, .wrap = a), &d),
	   -EINVAL, "a data that wraps memory of a device");
	has(lkdf_errmsg(), "block \"try\" of device emu, LKDF_MEM_OWN",
	    "the text names the block");
	is(lkdf_data_create(
		   o.rt, ATTR(lkdf_data_attr, .bytes = 64, .wrap = a + 64), &d),
	   -EINVAL, "or what is inside");
	ok(!d, "out is untouched");
	is(lkdf_data_create(o.rt,
			    ATTR(lkdf_data_attr, .bytes = sizeof(host),
				 .wrap = host),
			    &d),
	   0, "one that wraps memory of the host");
	lkdf_data_put(d);
	lkdf_free(o.rt, a);
	close_one(&o, "wrap");
}

static void the_host_faults_there(void)
{
	int status = 0;
	struct one o;
	void *a;
	pid_t pid;

	open_one(&o, 0, "workers=1");
	must(try_alloc(&o, 64, &a));
	pid = fork();
	if (!pid) {
		signal(SIGSEGV, SIG_DFL);
		*(volatile char *)a = 1;
		_exit(0);
	}
	waitpid(pid, &status, 0);
	ok((WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV),
	   "a host that writes there gets a signal");
	pid = fork();
	if (!pid) {
		lkdf_free(o.rt, a);
		_exit(try_alloc(&o, 64, &a) == -EOWNERDEAD ? 0 : 1);
	}
	waitpid(pid, &status, 0);
	is(status, 0, "a forked child calls no device");
	lkdf_free(o.rt, a);
	close_one(&o, "faults");
}

static void each(void (*test)(const char *options))
{
	test("workers=1");
	test("workers=2");
	test("serial=yes");
}

int main(void)
{
	tap_start(120);
	each(a_full_device_says_so);
	each(kernels_have_what_is_left);
	each(copies_make_room);
	it_waits_for_kernels_under_way();
	each(bodies_and_threads_at_a_time);
	each(enqueue_may_not);
	each(errors_of_the_device_are_told);
	each(a_lost_device_gives_nothing);
	a_prefetch_hides_no_loss();
	wrong_calls_are_named();
	a_data_has_no_bytes_there();
	the_host_faults_there();
	return tap_end();
}
