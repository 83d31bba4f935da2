/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Bytes that go from one memory of a device to another stay there, where the
 * device can copy: lkdf_copy() and lkdf_realloc() carry nothing to the host,
 * and a copy of a part is made of that of the whole. Bytes that are carried are
 * counted.
 */
#include "tests/api/device/away.h"
#include "tests/api/device/memory.h"

static uint64_t host[BLOCK_NR], back[BLOCK_NR];

static uint64_t stat_of(struct lkdf *rt, const char *name)
{
	uint64_t nr;

	must(lkdf_stat(rt, name, &nr));
	return nr;
}

static uint64_t carried(struct lkdf *rt)
{
	return stat_of(rt, "lkdf.device.uploaded_bytes") +
	       stat_of(rt, "lkdf.device.fetched_bytes");
}

/* Bytes that were carried while they went from block to block. */
static uint64_t copy_blocks(struct lkdf *rt, struct lkdf_place *p,
			    const char *how)
{
	uint64_t *a = memory_alloc(p, LKDF_MEM_OWN, BLOCK_BYTES);
	uint64_t *b = memory_alloc(p, LKDF_MEM_OWN, BLOCK_BYTES), nr;

	memory_fill(host, 7);
	memset(back, 0, sizeof(back));
	must(lkdf_copy(rt, NULL, a, host, BLOCK_BYTES, NULL));
	nr = carried(rt);
	is(lkdf_copy(rt, NULL, b, a, BLOCK_BYTES, NULL), 0,
	   "%s: to another block", how);
	is(lkdf_copy(rt, NULL, b + 100, b + 300, 800, NULL), 0,
	   "%s: within a block, from its middle to its middle", how);
	nr = carried(rt) - nr;
	must(lkdf_copy(rt, NULL, back, b, BLOCK_BYTES, NULL));
	is(memory_first_wrong(back, 100, 7), -1, "%s: before it", how);
	is(memory_first_wrong(back + 100, 100, 307), -1, "%s: there", how);
	is(memory_first_wrong(back + 200, BLOCK_NR - 200, 207), -1,
	   "%s: and behind it right", how);
	lkdf_free(rt, a);
	lkdf_free(rt, b);
	return nr;
}

/* The same of a block that grows and shrinks. */
static uint64_t resize_block(struct lkdf *rt, struct lkdf_place *p,
			     const char *how)
{
	void *a = memory_alloc(p, LKDF_MEM_OWN, BLOCK_BYTES / 2);
	uint64_t nr;

	memory_fill(host, 3);
	memset(back, 0, sizeof(back));
	must(lkdf_copy(rt, NULL, a, host, BLOCK_BYTES / 2, NULL));
	nr = carried(rt);
	is(lkdf_realloc(rt, a, BLOCK_BYTES, &a), 0, "%s: it grows", how);
	is(lkdf_realloc(rt, a, BLOCK_BYTES / 4, &a), 0, "%s: it shrinks", how);
	nr = carried(rt) - nr;
	must(lkdf_copy(rt, NULL, back, a, BLOCK_BYTES / 4, NULL));
	is(memory_first_wrong(back, BLOCK_NR / 4, 3), -1, "%s: with its bytes",
	   how);
	lkdf_free(rt, a);
	return nr;
}

static void nothing_is_carried(struct lkdf *rt, struct lkdf_place *p,
			       const char *how)
{
	is(copy_blocks(rt, p, how), 0, "%s: blocks: nothing was carried", how);
	is(resize_block(rt, p, how), 0, "%s: realloc: nothing was carried",
	   how);
}

static const struct device_sort sorts[] = {
	{ "copies", EMU_OWN | EMU_COPIES, "workers=2" },
	{ "copies wild", EMU_OWN | EMU_COPIES | EMU_WILD, "workers=1" },
	{ "copies polls", EMU_OWN | EMU_COPIES | EMU_POLLS | EMU_ARMS,
	  "workers=2" },
	{ "copies ordered", EMU_OWN | EMU_COPIES | EMU_ORDERED | EMU_WILD,
	  "workers=2" },
	{ "copies serial", EMU_OWN | EMU_COPIES | EMU_WILD, "serial=yes" },
};

static void devices_that_copy(void)
{
	const struct device_sort *s = sorts;
	struct lkdf_place *p;
	struct lkdf *rt;
	struct emu e;
	size_t i;

	for (i = 0; i < sizeof(sorts) / sizeof(*sorts); i++, s++) {
		emu_init(&e, s->flags, memory_kernels);
		rt = api_open(s->options);
		p = emu_register(rt, &e);
		nothing_is_carried(rt, p, s->name);
		is(atomic_load(&e.nr[EMU_COPY]), 4, "%s: four copies", s->name);
		is((long long)atomic_load(&e.bytes_within),
		   BLOCK_BYTES + 800 + BLOCK_BYTES / 2 + BLOCK_BYTES / 4,
		   "%s: with their bytes", s->name);
		is(device_close(rt), 0, "%s: close", s->name);
		emu_check(&e, s->name);
	}
	device_driver(nothing_is_carried, "workers=2", 0);
	device_driver(nothing_is_carried, "workers=2", 2);
	device_driver(nothing_is_carried, "serial=yes", 1);
}

static void one_that_does_not_goes_by_the_host(void)
{
	struct lkdf *rt = api_open("workers=2");
	struct lkdf_place *p;
	struct emu e;

	emu_init(&e, EMU_OWN | EMU_WILD, memory_kernels);
	p = emu_register(rt, &e);
	is(copy_blocks(rt, p, "without"), 2 * (BLOCK_BYTES + 800),
	   "without: there and back");
	is(device_close(rt), 0, "without: close");
	emu_check(&e, "without");
}

static void two_devices_do(void)
{
	struct lkdf *rt = api_open("workers=2");
	struct lkdf_place *p[2];
	struct emu e[2];
	uint64_t *x[2];
	int i;

	memory_fill(host, 5);
	memset(back, 0, sizeof(back));
	for (i = 0; i < 2; i++) {
		emu_init(&e[i], EMU_OWN | EMU_COPIES, memory_kernels);
		p[i] = emu_register(rt, &e[i]);
		x[i] = memory_alloc(p[i], LKDF_MEM_OWN, BLOCK_BYTES);
	}
	must(lkdf_copy(rt, NULL, x[0], host, BLOCK_BYTES, NULL));
	is(lkdf_copy(rt, NULL, x[1], x[0], BLOCK_BYTES, NULL), 0,
	   "from one device to another");
	must(lkdf_copy(rt, NULL, back, x[1], BLOCK_BYTES, NULL));
	is(memory_first_wrong(back, BLOCK_NR, 5), -1, "right");
	is(carried(rt), 4 * BLOCK_BYTES, "by way of the host");
	for (i = 0; i < 2; i++)
		lkdf_free(rt, x[i]);
	is(device_close(rt), 0, "two: close");
	emu_check(&e[0], "first of two");
	emu_check(&e[1], "second of two");
}

/* Refused, failed, or the device is gone. */
static void a_copy_that_fails_says_so(int error, bool is_late)
{
	struct lkdf *rt = api_open("workers=1");
	struct lkdf_place *p;
	struct emu e;
	void *a, *b;
	char how[48];

	snprintf(how, sizeof(how), "%s, %s", is_late ? "late" : "refused",
		 strerror(-error));
	emu_init(&e, EMU_OWN | EMU_COPIES, memory_kernels);
	e.fails_late = is_late;
	e.fail_error[EMU_COPY] = error;
	atomic_store(&e.fail_at[EMU_COPY], 1);
	p = emu_register(rt, &e);
	a = memory_alloc(p, LKDF_MEM_OWN, BLOCK_BYTES);
	b = memory_alloc(p, LKDF_MEM_OWN, BLOCK_BYTES);
	must(lkdf_copy(rt, NULL, a, host, BLOCK_BYTES, NULL));
	is(lkdf_copy(rt, NULL, b, a, BLOCK_BYTES, NULL), error,
	   "%s: the error of the copy", how);
	is(lkdf_copy(rt, NULL, b, a, BLOCK_BYTES, NULL),
	   error == -ENODEV ? -ENODEV : 0, "%s: the next one", how);
	e.is_lost = error == -ENODEV;
	lkdf_free(rt, a);
	lkdf_free(rt, b);
	lkdf_scope_error(rt, NULL, LKDF_ATTR(lkdf_error, .err = 0));
	is(device_close(rt), 0, "%s: close", how);
	emu_check(&e, how);
}

/* ---- copies of parts, from that of the whole ---------------------------- */

#define NR_PARTS 4
#define PART_BYTES (DEVICE_NR * sizeof(uint64_t))

struct parted {
	struct lkdf *rt;
	struct lkdf_place *p;
	struct lkdf_kind *add, *copy;
	struct lkdf_data *d, *out;
	uint64_t up, down;
};

static void open_parts(struct parted *t, struct lkdf *rt, struct lkdf_place *p)
{
	*t = (struct parted){
		.rt = rt,
		.p = p,
		.up = stat_of(rt, "lkdf.device.uploaded_bytes"),
		.down = stat_of(rt, "lkdf.device.fetched_bytes"),
	};
	t->add = device_kind(rt, "add");
	t->copy = device_kind(rt, "copy");
	t->d = device_data(rt, (uint64_t)NR_PARTS * DEVICE_NR, 1);
	t->out = device_data(rt, DEVICE_NR, 0);
	must(lkdf_data_split(t->d, NR_PARTS, PART_BYTES));
}

static void close_parts(struct parted *t)
{
	lkdf_data_put(t->d);
	lkdf_data_put(t->out);
	lkdf_kind_put(t->add);
	lkdf_kind_put(t->copy);
}

/* Parts that were carried since it was asked last. */
static void were_carried(struct parted *t, uint64_t up, uint64_t down,
			 const char *what, const char *how)
{
	uint64_t now_up = stat_of(t->rt, "lkdf.device.uploaded_bytes");
	uint64_t now_down = stat_of(t->rt, "lkdf.device.fetched_bytes");

	is((long long)((now_up - t->up) / PART_BYTES), (long long)up,
	   "%s: %s: went there", how, what);
	is((long long)((now_down - t->down) / PART_BYTES), (long long)down,
	   "%s: %s: came home", how, what);
	t->up = now_up;
	t->down = now_down;
}

/* x[i] += 1, of the whole or a part. */
static int add_one(struct parted *t, uint32_t part)
{
	const struct lkdf_use use = { t->d, LKDF_RW, part };
	const uint64_t one = 1;
	struct lkdf_event done;

	must(lkdf_submit(t->rt, NULL,
			 LKDF_TASK(.kind = t->add, .arg = &one, .place = t->p,
				   .use = &use, .nr_use = 1),
			 &done));
	return lkdf_event_wait(done, -1);
}

/* The first of the part that a kernel finds not to be so; -1: none. */
static long first_seen(struct parted *t, uint32_t part, uint64_t want)
{
	const struct lkdf_use use[] = { { t->d, LKDF_READ, part },
					{ t->out, LKDF_WRITE, 0 } };
	const uint64_t ten = 10;
	struct lkdf_event done;

	must(lkdf_submit(t->rt, NULL,
			 LKDF_TASK(.kind = t->copy, .arg = &ten, .place = t->p,
				   .use = use, .nr_use = 2),
			 &done));
	if (lkdf_event_wait(done, -1))
		return -2;
	return device_first_wrong(t->out, DEVICE_NR, want + 10);
}

/* A kernel of OpenCL has as many items as a part, so it writes the first. */
static uint64_t of_part(uint32_t part, uint64_t all)
{
	return device_is_real && part > 1 ? 1 : all;
}

static void parts_are_read_there(struct lkdf *rt, struct lkdf_place *p,
				 const char *how)
{
	struct parted t;
	uint32_t part;

	open_parts(&t, rt, p);
	is(add_one(&t, 0), 0, "%s: a kernel writes the whole", how);
	were_carried(&t, NR_PARTS, 0, "the whole", how);
	for (part = 1; part <= NR_PARTS; part++)
		is(first_seen(&t, part, of_part(part, 2)), -1,
		   "%s: a kernel reads part %u", how, part);
	/* And the result of each, which a thread has looked at. */
	were_carried(&t, 0, NR_PARTS, "parts that are read", how);
	is(add_one(&t, 0), 0, "%s: the whole is written again", how);
	is(first_seen(&t, 1, 3), -1, "%s: and a part read", how);
	were_carried(&t, 0, 1, "again", how);
	close_parts(&t);
}

/* The others are to be home, as the whole's copy has the part no more. */
static void parts_are_written_there(struct lkdf *rt, struct lkdf_place *p,
				    const char *how)
{
	struct parted t;
	uint32_t part;

	open_parts(&t, rt, p);
	is(add_one(&t, 0), 0, "%s: a kernel writes the whole", how);
	were_carried(&t, NR_PARTS, 0, "the whole", how);
	for (part = 1; part <= NR_PARTS; part++)
		is(add_one(&t, part), 0, "%s: and part %u", how, part);
	were_carried(&t, 0, NR_PARTS, "parts that are written", how);
	for (part = 1; part <= NR_PARTS; part++)
		is(first_seen(&t, part, of_part(part, 2) + 1), -1,
		   "%s: part %u is right", how, part);
	were_carried(&t, 0, NR_PARTS, "and read", how);
	is(add_one(&t, 0), 0, "%s: a kernel writes the whole again", how);
	were_carried(&t, NR_PARTS, NR_PARTS, "of parts", how);
	is(first_seen(&t, 1, 4), -1, "%s: and it is right", how);
	were_carried(&t, 0, 1, "of it", how);
	close_parts(&t);
}

/* What the host has written since is in no copy of the whole. */
static void the_host_writes_a_part(struct lkdf *rt, struct lkdf_place *p,
				   const char *how)
{
	struct lkdf_use of = { NULL, LKDF_RW, 2 };
	struct lkdf_kind *k = device_kind_with(rt, "add", add_here);
	struct lkdf_place *node = NULL;
	const uint64_t one = 1;
	struct lkdf_event done;
	struct parted t;

	must(-(lkdf_places(rt, LKDF_PLACE_NODE, &node, 1) < 1));
	open_parts(&t, rt, p);
	is(add_one(&t, 0), 0, "%s: a kernel writes the whole", how);
	of.data = t.d;
	must(lkdf_submit(rt, NULL,
			 LKDF_TASK(.kind = k, .arg = &one, .place = node,
				   .use = &of, .nr_use = 1),
			 &done));
	is(lkdf_event_wait(done, -1), 0, "%s: a body writes part 2", how);
	were_carried(&t, NR_PARTS, NR_PARTS, "the whole", how);
	is(first_seen(&t, 2, of_part(2, 2) + 1), -1, "%s: it is right", how);
	were_carried(&t, 1, 1, "part 2", how);
	is(first_seen(&t, 3, of_part(3, 2)), -1, "%s: part 3, too", how);
	were_carried(&t, 0, 1, "part 3", how);
	lkdf_kind_put(k);
	close_parts(&t);
}

/* Kernels of a run that reads each part, which a kernel before has written. */
static void a_graph_reads_parts(struct lkdf *rt, struct lkdf_place *p,
				const char *how)
{
	struct lkdf_graph *g = api_graph(rt, 1);
	const uint64_t one = 1, ten = 10;
	struct lkdf_use use[2];
	struct parted t;
	uint32_t part;

	open_parts(&t, rt, p);
	use[0] = (struct lkdf_use){ t.d, LKDF_RW, 0 };
	must(lkdf_graph_add_task(g, LKDF_TASK(.kind = t.add, .arg = &one,
					      .place = p, .use = use,
					      .nr_use = 1)) < 0);
	for (part = 1; part <= NR_PARTS; part++) {
		use[0] = (struct lkdf_use){ t.d, LKDF_READ, part };
		use[1] = (struct lkdf_use){ t.out, LKDF_WRITE, 0 };
		must(lkdf_graph_add_task(g,
					 LKDF_TASK(.kind = t.copy, .arg = &ten,
						   .place = p, .use = use,
						   .nr_use = 2)) < 0);
	}
	must(lkdf_graph_seal(g, NULL));
	is(api_run(g, NULL, LKDF_ATTR(lkdf_run, .times = 3)), 0,
	   "%s: three runs of a graph", how);
	were_carried(&t, NR_PARTS, 0, "its parts", how);
	is(device_first_wrong(t.out, DEVICE_NR, of_part(NR_PARTS, 4) + 10), -1,
	   "%s: the last part is right", how);
	were_carried(&t, 0, 1, "its result", how);
	lkdf_graph_put(g);
	close_parts(&t);
}

static void parts(struct lkdf *rt, struct lkdf_place *p, const char *how)
{
	parts_are_read_there(rt, p, how);
	parts_are_written_there(rt, p, how);
	the_host_writes_a_part(rt, p, how);
	a_graph_reads_parts(rt, p, how);
}

/* The copy fails: the kernel does, and the next one has the bytes. */
static void a_part_that_fails_says_so(bool is_late)
{
	const char *how = is_late ? "part fails late" : "part refused";
	struct lkdf *rt = api_open("workers=2");
	struct lkdf_place *p;
	struct parted t;
	struct emu e;

	emu_init(&e, EMU_OWN | EMU_COPIES, memory_kernels);
	e.fails_late = is_late;
	e.fail_error[EMU_COPY] = -EIO;
	atomic_store(&e.fail_at[EMU_COPY], 1);
	p = emu_register(rt, &e);
	open_parts(&t, rt, p);
	is(add_one(&t, 0), 0, "%s: the whole", how);
	is(first_seen(&t, 2, 2), -2, "%s: a part is not copied", how);
	is(first_seen(&t, 2, 2), -1, "%s: the next time it is", how);
	close_parts(&t);
	lkdf_scope_error(rt, NULL, LKDF_ATTR(lkdf_error, .err = 0));
	is(device_close(rt), 0, "%s: close", how);
	emu_check(&e, how);
}

static void on_each(const struct device_sort *s, size_t nr,
		    void (*test)(struct lkdf *rt, struct lkdf_place *p,
				 const char *how))
{
	struct lkdf_place *p;
	struct lkdf *rt;
	struct emu e;

	for (; nr; nr--, s++) {
		emu_init(&e, s->flags, memory_kernels);
		rt = api_open(s->options);
		p = emu_register(rt, &e);
		test(rt, p, s->name);
		is(device_close(rt), 0, "%s: close", s->name);
		emu_check(&e, s->name);
	}
	device_driver(test, "workers=2", 0);
	device_driver(test, "serial=yes", 1);
}

int main(void)
{
	tap_start(120);
	devices_that_copy();
	on_each(sorts, sizeof(sorts) / sizeof(*sorts), parts);
	a_part_that_fails_says_so(false);
	a_part_that_fails_says_so(true);
	one_that_does_not_goes_by_the_host();
	two_devices_do();
	a_copy_that_fails_says_so(-EIO, false);
	a_copy_that_fails_says_so(-EIO, true);
	a_copy_that_fails_says_so(-ENODEV, false);
	a_copy_that_fails_says_so(-ENODEV, true);
	return tap_end();
}
