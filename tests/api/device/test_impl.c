/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A kind with implementations for nodes and for devices: the place of a task
 * chooses, or what there is. The body and the kernel differ, so that the data
 * tells who ran.
 */
#include "tests/api/device/device.h"

#define NR DEVICE_NR
#define START 5
#define KERNEL 7 /* the kernel adds the argument */
#define BODY 1000 /* the body adds this, and not the argument */

#define refused(rc, want, text, what)                    \
	do {                                             \
		is(rc, want, "%s is refused", what);     \
		has(lkdf_errmsg(), text, "by its name"); \
	} while (0)

static int add_here(struct lkdf_ctx *c, void *arg)
{
	uint64_t *x = lkdf_ptr(c, 0), i;

	(void)arg;
	for (i = 0; i < NR; i++)
		x[i] += BODY;
	return 0;
}

static const struct lkdf_code code[] = {
	{ .device = "emu", .image = "add" },
};

static const struct lkdf_kernel_attr kernel = {
	.size = sizeof(kernel),
	.code = code,
	.nr_code = 1,
};

#define ON_NODE                                                \
	{                                                      \
		.place_kinds = LKDF_PLACE_NODE, .fn = add_here \
	}
#define ON(kinds)                                         \
	{                                                 \
		.place_kinds = (kinds), .kernel = &kernel \
	}
#define ON_DEVICES ON(LKDF_PLACE_GPU | LKDF_PLACE_USER)

static int make_kind(struct lkdf *rt, lkdf_fn fn, const struct lkdf_impl *impl,
		     uint32_t nr, struct lkdf_kind **out)
{
	return lkdf_kind_create(rt,
				LKDF_KIND(.name = "two ways", .fn = fn,
					  .arg_size = sizeof(uint64_t),
					  .impl = impl, .nr_impl = nr),
				out);
}

static struct lkdf_kind *kind_of(struct lkdf *rt, const struct lkdf_impl *impl,
				 uint32_t nr)
{
	struct lkdf_kind *k = NULL;

	must(make_kind(rt, NULL, impl, nr, &k));
	return k;
}

/* A task of the kind adds to a data: what; -1: not the same to all. */
static long added_by(struct lkdf *rt, struct lkdf_kind *k, struct lkdf_place *p)
{
	struct lkdf_data *d = device_data(rt, NR, START);
	uint64_t arg = KERNEL;
	long is = -1;

	is(device_call(rt, k, p, d, &arg), 0, "the task ends well");
	if (device_first_wrong(d, NR, START + KERNEL) == -1)
		is = KERNEL;
	else if (device_first_wrong(d, NR, START + BODY) == -1)
		is = BODY;
	lkdf_data_put(d);
	return is;
}

static struct lkdf_place *some_node(struct lkdf *rt)
{
	struct lkdf_place *node = NULL;

	ok(lkdf_places(rt, LKDF_PLACE_NODE, &node, 1) > 0, "there is a node");
	return node;
}

static void the_place_chooses(struct lkdf *rt, struct lkdf_place *p)
{
	const struct lkdf_impl both[] = { ON_DEVICES, ON_NODE };
	struct lkdf_kind *k = kind_of(rt, both, 2);

	is(added_by(rt, k, p), KERNEL, "on a device the kernel runs");
	is(added_by(rt, k, some_node(rt)), BODY, "on a node the body runs");
	is(added_by(rt, k, NULL), KERNEL, "without a place a device is taken");
	lkdf_kind_put(k);
}

static void fn_of_the_kind_is_the_one_for_nodes(struct lkdf *rt,
						struct lkdf_place *p)
{
	const struct lkdf_impl device = ON_DEVICES;
	struct lkdf_kind *k = NULL;

	must(make_kind(rt, add_here, &device, 1, &k));
	is(added_by(rt, k, p), KERNEL, "fn and a kernel: the kernel");
	is(added_by(rt, k, some_node(rt)), BODY, "fn and a kernel: fn");
	lkdf_kind_put(k);
}

static void a_kernel_keeps_to_its_places(struct lkdf *rt, struct lkdf_place *p)
{
	const struct lkdf_impl gpu[] = { ON_NODE, ON(LKDF_PLACE_GPU) };
	const struct lkdf_impl user[] = { ON_NODE, ON(LKDF_PLACE_USER) };
	struct lkdf_kind *k = kind_of(rt, gpu, 2);
	uint64_t arg = KERNEL;

	refused(lkdf_submit(rt, NULL,
			    LKDF_TASK(.kind = k, .arg = &arg, .place = p),
			    NULL),
		-ENODEV, "place_kinds", "a place of another kind");
	is(added_by(rt, k, NULL), BODY, "where no device is left a worker is");
	lkdf_kind_put(k);
	k = kind_of(rt, user, 2);
	is(added_by(rt, k, p), KERNEL, "a place of its kind");
	is(added_by(rt, k, NULL), KERNEL, "no place: one of its kind");
	lkdf_kind_put(k);
}

static void one_implementation_is_enough(struct lkdf *rt, struct lkdf_place *p)
{
	const struct lkdf_impl node = ON_NODE, device = ON_DEVICES;
	struct lkdf_kind *k = kind_of(rt, &node, 1);
	uint64_t arg = KERNEL;

	is(added_by(rt, k, NULL), BODY, "a body alone");
	is(added_by(rt, k, some_node(rt)), BODY, "on a node, too");
	refused(lkdf_submit(rt, NULL,
			    LKDF_TASK(.kind = k, .arg = &arg, .place = p),
			    NULL),
		-EINVAL, "no kernel", "a device without a kernel");
	lkdf_kind_put(k);
	k = kind_of(rt, &device, 1);
	is(added_by(rt, k, NULL), KERNEL, "a kernel alone");
	refused(lkdf_submit(rt, NULL,
			    LKDF_TASK(.kind = k, .arg = &arg,
				      .place = some_node(rt)),
			    NULL),
		-EINVAL, "no fn", "a node without a body");
	lkdf_kind_put(k);
}

/* Tasks of one kind on a device and on a node, each after the other. */
static void a_graph_has_both(struct lkdf *rt, struct lkdf_place *p)
{
	const struct lkdf_impl both[] = { ON_NODE, ON_DEVICES };
	struct lkdf_kind *k = kind_of(rt, both, 2);
	struct lkdf_data *d = device_data(rt, NR, START);
	const struct lkdf_use use = { d, LKDF_RW, 0 };
	struct lkdf_place *node = some_node(rt);
	struct lkdf_graph *g = api_graph(rt, 1);
	uint64_t arg = KERNEL, i;

	for (i = 0; i < 10; i++)
		must(lkdf_graph_add_task(g,
					 LKDF_TASK(.kind = k, .arg = &arg,
						   .place = i % 2 ? node : p,
						   .use = &use, .nr_use = 1)));
	must(lkdf_graph_seal(g, NULL));
	for (i = 0; i < 3; i++)
		is(api_run(g, NULL, NULL), 0, "a run ends well");
	is(device_first_wrong(d, NR, START + 15 * KERNEL + 15 * BODY), -1,
	   "each task was run by what its place has");
	lkdf_graph_put(g);
	lkdf_data_put(d);
	lkdf_kind_put(k);
}

#define BAD(why, text, ...)                                                    \
	do {                                                                   \
		const struct lkdf_impl bad[] = { __VA_ARGS__ };                \
		struct lkdf_kind *none = NULL;                                 \
                                                                               \
		refused(make_kind(rt, NULL, bad, sizeof(bad) / sizeof(bad[0]), \
				  &none),                                      \
			-EINVAL, text, why);                                   \
		ok(!none, "%s: out is untouched", why);                        \
	} while (0)

static void what_is_wrong_is_called_by_name(struct lkdf *rt)
{
	const struct lkdf_impl node = ON_NODE;
	struct lkdf_kernel_attr of_a_kind = kernel;
	struct lkdf_kind *k = NULL;

	BAD("no place", "place_kinds 0:", { .fn = add_here });
	BAD("a wild place", "place_kinds 0x40",
	    { .place_kinds = 0x40, .fn = add_here });
	BAD("places of io", "place_kinds 0x2",
	    { .place_kinds = LKDF_PLACE_IO, .fn = add_here });
	BAD("reserved", "impl 0: reserved",
	    { .place_kinds = LKDF_PLACE_NODE, .reserved = 1, .fn = add_here });
	BAD("a node without fn", "impl 0: LKDF_PLACE_NODE has fn",
	    { .place_kinds = LKDF_PLACE_NODE });
	BAD("a node with a kernel", "impl 0: LKDF_PLACE_NODE has fn",
	    { .place_kinds = LKDF_PLACE_NODE,
	      .fn = add_here,
	      .kernel = &kernel });
	BAD("nodes and devices", "impl 0: nodes and devices",
	    { .place_kinds = LKDF_PLACE_NODE | LKDF_PLACE_GPU,
	      .kernel = &kernel });
	BAD("a device with fn", "impl 1: devices have kernel", ON_NODE,
	    { .place_kinds = LKDF_PLACE_USER, .fn = add_here });
	BAD("two bodies", "impl 1: the kind has fn", ON_NODE, ON_NODE);
	BAD("two kernels", "impl 2: a second kernel", ON(LKDF_PLACE_USER),
	    ON_NODE, ON(LKDF_PLACE_GPU));
	of_a_kind.kind = LKDF_KIND(.name = "other");
	BAD("a kernel with a kind", "kind of the kernel",
	    { .place_kinds = LKDF_PLACE_USER, .kernel = &of_a_kind });
	refused(make_kind(rt, add_here, &node, 1, &k), -EINVAL,
		"impl 0: the kind has fn", "fn twice");
	refused(make_kind(rt, add_here, NULL, 1, &k), -EINVAL, "impl is NULL",
		"impl is missing");
	refused(make_kind(rt, add_here, &node, 0, &k), -EINVAL, "nr_impl is 0",
		"nr_impl is missing");
	refused(lkdf_kind_create_io(rt,
				    LKDF_KIND(.name = "io", .impl = &node,
					      .nr_impl = 1),
				    &k),
		-EINVAL, "lkdf_kind_create()", "an operation");
	of_a_kind.kind =
		LKDF_KIND(.name = "kernel", .impl = &node, .nr_impl = 1);
	refused(lkdf_kind_create_kernel(rt, &of_a_kind, &k), -EINVAL,
		"lkdf_kind_create()", "a kernel");
}

static void with_options(const char *options)
{
	struct lkdf *rt = api_open(options);
	struct lkdf_place *p;
	struct emu e;

	emu_init(&e, EMU_OWN, device_kernels);
	what_is_wrong_is_called_by_name(rt);
	p = emu_register(rt, &e);
	the_place_chooses(rt, p);
	fn_of_the_kind_is_the_one_for_nodes(rt, p);
	a_kernel_keeps_to_its_places(rt, p);
	one_implementation_is_enough(rt, p);
	a_graph_has_both(rt, p);
	is(device_close(rt), 0, "%s: close", options);
	emu_check(&e, options);
}

int main(void)
{
	tap_start(60);
	with_options("workers=1");
	with_options("workers=3");
	with_options("serial=yes");
	return tap_end();
}
