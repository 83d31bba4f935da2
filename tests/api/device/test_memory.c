/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Memory that a program has from a device: blocks that are found by their
 * address, bytes that go there and back as events, other sizes, pinned and
 * managed memory, and copies of data that are there before a kernel asks.
 */
#include "tests/api/device/memory.h"

static uint64_t host[BLOCK_NR], back[BLOCK_NR];

/* ---- blocks ------------------------------------------------------------- */

static void an_address_tells_its_block(struct lkdf *rt, struct lkdf_place *p,
				       const char *how)
{
	struct lkdf_block_info b = { .size = sizeof(b) };
	char *at;

	must(lkdf_alloc(p, LKDF_MEM_OWN, 1000, 128, "my block", (void **)&at));
	is(lkdf_block(rt, at + 999, &b), 0, "%s: the last byte is found", how);
	ok(b.base == at && b.place == p && b.mem == LKDF_MEM_OWN,
	   "%s: with the block's address, place and kind", how);
	is(b.bytes, 1000, "%s: the bytes that were asked for", how);
	ok(b.taken >= 1000, "%s: those that it takes", how);
	ok(!strcmp(b.label, "my block"), "%s: its label", how);
	ok(b.device_ptr != NULL, "%s: what the device calls it", how);
	lkdf_free(rt, at);
	is(lkdf_block(rt, at, &b), -ENOENT, "%s: and after it is freed none",
	   how);
}

static void bytes_go_there_and_back(struct lkdf *rt, struct lkdf_place *p,
				    const char *how)
{
	uint64_t *a = memory_alloc(p, LKDF_MEM_OWN, BLOCK_BYTES);
	uint64_t *b = memory_alloc(p, LKDF_MEM_OWN, BLOCK_BYTES);

	memory_fill(host, 7);
	memset(back, 0, sizeof(back));
	is(lkdf_copy(rt, NULL, a, host, BLOCK_BYTES, NULL), 0, "%s: there",
	   how);
	is(memory_add_five(rt, p, a), 0, "%s: a kernel gets it as a value",
	   how);
	is(lkdf_copy(rt, NULL, b, a, BLOCK_BYTES, NULL), 0, "%s: to another",
	   how);
	is(lkdf_copy(rt, NULL, back, b, BLOCK_BYTES, NULL), 0, "%s: back", how);
	is(memory_first_wrong(back, BLOCK_NR, 12), -1, "%s: and right", how);
	is(lkdf_copy(rt, NULL, a + 100, b + 50, 800, NULL), 0,
	   "%s: from the middle to the middle", how);
	is(lkdf_copy(rt, NULL, back, a + 100, 800, NULL), 0, "%s: of it", how);
	is(memory_first_wrong(back, 100, 62), -1, "%s: right, too", how);
	is(lkdf_copy(rt, NULL, a, host, BLOCK_BYTES + 1, NULL), -EINVAL,
	   "%s: not beyond its end", how);
	has(lkdf_errmsg(), "has 32768", "%s: and the text says where that is",
	    how);
	lkdf_free(rt, a);
	lkdf_free(rt, b);
}

static void copies_of_nonsense_are_refused(struct lkdf *rt,
					   struct lkdf_place *p,
					   const char *how)
{
	char *a = memory_alloc(p, LKDF_MEM_OWN, BLOCK_BYTES);
	char *b = memory_alloc(p, LKDF_MEM_OWN, BLOCK_BYTES);

	is(lkdf_copy(rt, NULL, a + 8, a, 16, NULL), -EINVAL,
	   "%s: what overlaps in a block is refused", how);
	has(lkdf_errmsg(), "overlap", "%s: with the reason", how);
	is(lkdf_copy(rt, NULL, a + 16, a, 16, NULL), 0,
	   "%s: what lies side by side is copied", how);
	is(lkdf_copy(rt, NULL, (char *)host + 1, host, 8, NULL), -EINVAL,
	   "%s: nor does memory of the host overlap", how);
	lkdf_free(rt, b);
	is(lkdf_copy(rt, NULL, b + 100, a, 16, NULL), -EINVAL,
	   "%s: nothing goes to a block that was freed", how);
	has(lkdf_errmsg(), "block \"block\" of device", "%s: which is named",
	    how);
	is(lkdf_copy(rt, NULL, host, b, 16, NULL), -EINVAL,
	   "%s: nor comes from one", how);
	lkdf_free(rt, a);
	is(lkdf_copy(rt, NULL, host, a, 16, NULL), -EINVAL,
	   "%s: nor from the last one", how);
	lkdf_free(rt, a);
	has(lkdf_errmsg(), "which was freed", "%s: a second free is told", how);
}

/* In one scope, which waits for all of them. */
static void copies_are_events(struct lkdf *rt, struct lkdf_place *p,
			      const char *how)
{
	struct lkdf_scope *s = NULL;
	struct lkdf_event done[4];
	uint64_t *a[4];
	int i;

	must(lkdf_scope_create(rt, NULL, &s));
	memory_fill(host, 1);
	for (i = 0; i < 4; i++) {
		a[i] = memory_alloc(p, LKDF_MEM_OWN, BLOCK_BYTES / 4);
		must(lkdf_copy(rt, s, a[i], host + i * BLOCK_NR / 4,
			       BLOCK_BYTES / 4, &done[i]));
	}
	is(lkdf_scope_wait(rt, s, -1), 0, "%s: four copies of one scope", how);
	for (i = 0; i < 4; i++) {
		is(lkdf_event_wait(done[i], -1), 0, "%s: each has an event",
		   how);
		must(lkdf_copy(rt, s, back + i * BLOCK_NR / 4, a[i],
			       BLOCK_BYTES / 4, &done[i]));
		/* The block lives as long as the copy. */
		lkdf_free(rt, a[i]);
	}
	for (i = 0; i < 4; i++)
		is(lkdf_event_wait(done[i], -1), 0, "%s: back", how);
	is(memory_first_wrong(back, BLOCK_NR, 1), -1, "%s: right", how);
	lkdf_scope_put(s);
}

static void a_block_grows_and_shrinks(struct lkdf *rt, struct lkdf_place *p,
				      const char *how)
{
	struct lkdf_block_info b = { .size = sizeof(b) };
	void *a = memory_alloc(p, LKDF_MEM_OWN, BLOCK_BYTES / 2), *was = a;

	memory_fill(host, 3);
	must(lkdf_copy(rt, NULL, a, host, BLOCK_BYTES / 2, NULL));
	is(lkdf_realloc(rt, a, BLOCK_BYTES, &a), 0, "%s: it grows", how);
	must(lkdf_block(rt, a, &b));
	is(b.bytes, BLOCK_BYTES, "%s: to that size", how);
	ok(!strcmp(b.label, "block"), "%s: and keeps its label", how);
	is(lkdf_block(rt, was, &b), a == was ? 0 : -ENOENT,
	   "%s: the old one is gone", how);
	is(lkdf_realloc(rt, a, BLOCK_BYTES / 4, &a), 0, "%s: it shrinks", how);
	memset(back, 0, sizeof(back));
	must(lkdf_copy(rt, NULL, back, a, BLOCK_BYTES / 4, NULL));
	is(memory_first_wrong(back, BLOCK_NR / 4, 3), -1, "%s: with its bytes",
	   how);
	lkdf_free(rt, a);
}

static void blocks(struct lkdf *rt, struct lkdf_place *p, const char *how)
{
	an_address_tells_its_block(rt, p, how);
	bytes_go_there_and_back(rt, p, how);
	copies_of_nonsense_are_refused(rt, p, how);
	copies_are_events(rt, p, how);
	a_block_grows_and_shrinks(rt, p, how);
}

static const struct device_sort own_sorts[] = {
	{ "own", EMU_OWN, "workers=2" },
	{ "own wild", EMU_OWN | EMU_WILD, "workers=1" },
	{ "own polls", EMU_OWN | EMU_POLLS | EMU_ARMS, "workers=2" },
	{ "own ordered", EMU_OWN | EMU_ORDERED | EMU_WILD, "workers=2" },
	{ "serial own", EMU_OWN | EMU_WILD, "serial=yes" },
	{ "serial polls", EMU_OWN | EMU_POLLS, "serial=yes" },
};

static void on_each(void (*test)(struct lkdf *rt, struct lkdf_place *p,
				 const char *how))
{
	const struct device_sort *s = own_sorts;
	struct lkdf_place *p;
	struct lkdf *rt;
	struct emu e;
	size_t i;

	for (i = 0; i < sizeof(own_sorts) / sizeof(*own_sorts); i++, s++) {
		emu_init(&e, s->flags, memory_kernels);
		rt = api_open(s->options);
		p = emu_register(rt, &e);
		test(rt, p, s->name);
		is(device_close(rt), 0, "%s: close", s->name);
		emu_check(&e, s->name);
	}
	device_driver(test, "workers=2", 0);
	device_driver(test, "workers=2", 2);
	device_driver(test, "serial=yes", 1);
}

/* ---- memory of the host ------------------------------------------------- */

static void blocks_of_a_node_do_the_same(void)
{
	struct lkdf_block_info b = { .size = sizeof(b) };
	struct lkdf *rt = api_open_workers(1);
	struct lkdf_place *p = NULL;
	uint64_t *a;
	void *new;

	lkdf_places(rt, LKDF_PLACE_NODE, &p, 1);
	a = memory_alloc(p, LKDF_MEM_OWN, BLOCK_BYTES);
	memory_fill(a, 9);
	is(lkdf_block(rt, a + 17, &b), 0, "an address in it is found");
	ok(b.base == a && b.device_ptr == a && b.place == p, "with its place");
	is(lkdf_realloc(rt, a, 2 * BLOCK_BYTES, &new), 0, "it grows");
	is(memory_first_wrong(new, BLOCK_NR, 9), -1, "with its bytes");
	must(lkdf_block(rt, new, &b));
	ok(!strcmp(b.label, "block"), "and label");
	is(lkdf_copy(rt, NULL, back, new, BLOCK_BYTES, NULL), 0, "a copy");
	is(memory_first_wrong(back, BLOCK_NR, 9), -1, "is right");
	is(lkdf_realloc(rt, (char *)new + 64, 100, &new), -EINVAL,
	   "not from its middle");
	lkdf_free(rt, new);
	is(lkdf_block(rt, new, &b), -ENOENT, "a free block is none");
	is(lkdf_block(rt, host, &b), -ENOENT, "nor is memory of others");
	is(lkdf_alloc(p, LKDF_MEM_MANAGED, 64, 0, NULL, &new), -EOPNOTSUPP,
	   "a node has no managed memory");
	is(device_close(rt), 0, "close");
}

/* Above the option a copy is a task, which bodies may start. */
static int copy_in_body(struct lkdf_ctx *c, void *arg)
{
	struct lkdf_event *done = *(struct lkdf_event **)arg;
	struct lkdf *rt = lkdf_runtime(c);

	is(lkdf_copy(rt, NULL, back, host, BLOCK_BYTES, NULL), -EDEADLK,
	   "a body does not wait for a copy");
	is(lkdf_copy(rt, NULL, back, host, 64, NULL), 0,
	   "a small one is done at once");
	return lkdf_copy(rt, NULL, back, host, BLOCK_BYTES, done);
}

static void a_large_copy_is_a_task(void)
{
	struct lkdf *rt = api_open("workers=1,copy_inline_kib=1");
	struct lkdf_event copied, done, *to = &copied;
	struct lkdf_kind *k =
		api_kind(rt, "copies", copy_in_body, sizeof(to), 0);
	uint64_t before, after;

	memory_fill(host, 2);
	memset(back, 0, sizeof(back));
	must(lkdf_stat(rt, "lkdf.tasks", &before));
	must(lkdf_submit(rt, NULL, LKDF_TASK(.kind = k, .arg = &to), &done));
	is(lkdf_event_wait(done, -1), 0, "a body starts one");
	is(lkdf_event_wait(copied, -1), 0, "it ends");
	is(memory_first_wrong(back, BLOCK_NR, 2), -1, "right");
	must(lkdf_scope_wait(rt, NULL, -1));
	must(lkdf_stat(rt, "lkdf.tasks", &after));
	is(after - before, 2, "two tasks");
	lkdf_kind_put(k);
	is(device_close(rt), 0, "close");
}

static void pinned_memory_is_told_to_the_device(const char *options)
{
	struct lkdf_block_info b = { .size = sizeof(b) };
	struct lkdf *rt = api_open(options);
	struct lkdf_place *p;
	struct emu e;
	uint64_t *a;
	void *new;

	emu_init(&e, EMU_OWN | EMU_PINS, memory_kernels);
	p = emu_register(rt, &e);
	a = memory_alloc(p, LKDF_MEM_HOST_PINNED, BLOCK_BYTES);
	is(e.nr_pinned, 1, "%s: the device knows it", options);
	memory_fill(a, 4);
	must(lkdf_block(rt, a + 1, &b));
	ok(b.mem == LKDF_MEM_HOST_PINNED && b.device_ptr == a && b.place == p,
	   "%s: it is the host's, of that device", options);
	is(lkdf_realloc(rt, a, 2 * BLOCK_BYTES, &new), 0, "%s: it grows",
	   options);
	is(memory_first_wrong(new, BLOCK_NR, 4), -1, "%s: right", options);
	lkdf_free(rt, new);
	atomic_store(&e.fail_at[EMU_PIN], 3);
	e.fail_error[EMU_PIN] = -EPERM;
	is(lkdf_alloc(p, LKDF_MEM_HOST_PINNED, 64, 0, NULL, &new), -EPERM,
	   "%s: what pin returns", options);
	is(device_close(rt), 0, "%s: close", options);
	emu_check(&e, options);
}

static void managed_memory_has_one_address(const char *options)
{
	struct lkdf *rt = api_open(options);
	struct lkdf_place *p;
	void *none = NULL;
	struct emu e;
	uint64_t *a;

	emu_init(&e, EMU_OWN | EMU_MANAGED, memory_kernels);
	e.memory = 100000;
	p = emu_register(rt, &e);
	a = memory_alloc(p, LKDF_MEM_MANAGED, BLOCK_BYTES);
	memory_fill(a, 1);
	is(memory_add_five(rt, p, a), 0, "%s: a kernel writes it", options);
	is(memory_first_wrong(a, BLOCK_NR, 6), -1, "%s: the host reads it",
	   options);
	is(lkdf_alloc(p, LKDF_MEM_MANAGED, 90000, 0, NULL, &none), -ENOMEM,
	   "%s: no more than 90 %% of what is free", options);
	has(lkdf_errmsg(), "of 100000", "%s: the text says", options);
	lkdf_free(rt, a);
	a = memory_alloc(p, LKDF_MEM_OWN, 40000);
	is(lkdf_alloc(p, LKDF_MEM_MANAGED, 55000, 0, NULL, &none), -ENOMEM,
	   "%s: beside memory that the program holds", options);
	has(lkdf_errmsg(), "at most 90 % of the 60000 bytes that are free",
	    "%s: the text says that", options);
	lkdf_free(rt, a);
	a = memory_alloc(p, LKDF_MEM_MANAGED, 60000);
	lkdf_free(rt, a);
	is(device_close(rt), 0, "%s: close", options);
	emu_check(&e, options);
}

/* Of the device, or -EOPNOTSUPP by name, as its driver says. */
static void managed_memory_of_the_driver(const char *options)
{
	struct lkdf_place *p = NULL;
	struct lkdf *rt;
	uint64_t *a;
	void *at;
	int rc;

	driver_env(NULL);
	rt = api_open(driver_options(options));
	if (!driver_places(rt, &p, 1)) {
		skip(options, lkdf_errmsg());
	} else if ((rc = lkdf_alloc(p, LKDF_MEM_MANAGED, BLOCK_BYTES, 0,
				    "block", &at))) {
		is(rc, -EOPNOTSUPP, "%s: the device has none", options);
		has(lkdf_errmsg(), " has none", "by name");
	} else {
		a = at;
		memory_fill(a, 1);
		is(memory_add_five(rt, p, a), 0, "%s: a kernel writes it",
		   options);
		is(memory_first_wrong(a, BLOCK_NR, 6), -1,
		   "%s: the host reads it", options);
		memory_fill(a, 3);
		is(memory_add_five(rt, p, a), 0, "%s: what the host writes",
		   options);
		is(memory_first_wrong(a, BLOCK_NR, 8), -1,
		   "%s: the next one has", options);
		is(lkdf_copy(rt, NULL, back, a, BLOCK_BYTES, NULL), 0,
		   "%s: a copy", options);
		is(memory_first_wrong(back, BLOCK_NR, 8), -1, "%s: is right",
		   options);
		lkdf_free(rt, a);
	}
	is(device_close(rt), 0, "%s: close", options);
}

/* ---- prefetch ----------------------------------------------------------- */

static uint64_t uploaded(struct lkdf *rt)
{
	uint64_t nr;

	must(lkdf_stat(rt, "lkdf.device.uploaded_bytes", &nr));
	return nr;
}

static void a_prefetch_saves_the_upload(struct lkdf *rt, struct lkdf_place *p,
					const char *how)
{
	struct lkdf_kind *k = device_kind(rt, "step");
	struct lkdf_data *d = device_data(rt, DEVICE_NR, 2);
	const uint64_t bytes = DEVICE_NR * sizeof(uint64_t);
	struct lkdf_event done;
	uint64_t arg = 1, kernels;

	is(lkdf_data_prefetch(d, p, &done), 0, "%s: a prefetch", how);
	is(lkdf_event_wait(done, -1), 0, "%s: is over", how);
	is(uploaded(rt), bytes, "%s: the bytes are there", how);
	must(lkdf_stat(rt, "lkdf.device.kernels", &kernels));
	is(kernels, 0, "%s: without a kernel", how);
	is(device_call(rt, k, p, d, &arg), 0, "%s: a kernel", how);
	must(lkdf_data_prefetch(d, p, &done));
	must(lkdf_event_wait(done, -1));
	is(uploaded(rt), bytes, "%s: neither needs an upload", how);
	is(device_first_wrong(d, DEVICE_NR, 7), -1, "%s: right", how);
	lkdf_data_put(d);
	lkdf_kind_put(k);
}

static void parts_are_brought_each(void)
{
	struct lkdf *rt = api_open_workers(2);
	struct lkdf_kind *k = device_kind(rt, "step");
	struct lkdf_data *d = device_data(rt, 64, 1);
	struct lkdf_event done;
	struct lkdf_place *p;
	uint64_t arg = 0, i;
	struct emu e;

	emu_init(&e, EMU_OWN | EMU_WILD, device_kernels);
	p = emu_register(rt, &e);
	must(lkdf_data_split(d, 4, 128));
	must(lkdf_data_prefetch(d, p, &done));
	must(lkdf_event_wait(done, -1));
	is(uploaded(rt), 512, "all parts are there");
	for (i = 1; i <= 4; i++) {
		const struct lkdf_use use = { d, LKDF_RW, i };

		must(lkdf_submit(rt, NULL,
				 LKDF_TASK(.kind = k, .arg = &arg, .place = p,
					   .use = &use, .nr_use = 1),
				 NULL));
	}
	is(lkdf_scope_wait(rt, NULL, -1), 0, "kernels use them");
	is(uploaded(rt), 512, "without an upload");
	is(device_first_wrong(d, 64, 3), -1, "right");
	lkdf_data_put(d);
	lkdf_kind_put(k);
	is(device_close(rt), 0, "close");
	emu_check(&e, "parts");
}

int main(void)
{
	tap_start(120);
	on_each(blocks);
	blocks_of_a_node_do_the_same();
	a_large_copy_is_a_task();
	pinned_memory_is_told_to_the_device("workers=1");
	pinned_memory_is_told_to_the_device("serial=yes");
	managed_memory_has_one_address("workers=1");
	managed_memory_of_the_driver("workers=2");
	managed_memory_of_the_driver("serial=yes");
	managed_memory_has_one_address("serial=yes");
	on_each(a_prefetch_saves_the_upload);
	parts_are_brought_each();
	return tap_end();
}
