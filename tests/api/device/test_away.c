/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Bytes that a kernel has written stay on its device until somebody on the host
 * uses them: a body, a run of a graph, a child, a thread, a kernel elsewhere.
 * They come home once, and no thread waits for that on its stack.
 */
#include "tests/api/device/away.h"

static void a_body_brings_them_home(struct lkdf *rt, struct lkdf_place *p,
				    const char *how)
{
	struct lkdf_kind *add = device_kind(rt, "add");
	struct lkdf_kind *see = api_kind(rt, "see", expect_all, 8, 0);
	struct lkdf_data *d = device_data(rt, NR, 5);
	uint64_t up, down;
	int i;

	for (i = 0; i < 5; i++)
		is(call(rt, add, p, d, LKDF_RW, 1), 0, "%s: a kernel", how);
	is(fetched(rt), 0, "%s: what kernels write stays there", how);
	is(call(rt, see, NULL, d, LKDF_READ, 10), 0, "%s: a body has it", how);
	is(call(rt, see, NULL, d, LKDF_READ, 10), 0, "%s: another one", how);
	is(device_first_wrong(d, NR, 10), -1, "%s: and a thread", how);
	down = fetched(rt);
	is(down, carries(how), "%s: it came home once", how);
	up = uploaded(rt);
	is(call(rt, add, p, d, LKDF_RW, 1), 0, "%s: a kernel again", how);
	is(uploaded(rt), up, "%s: the copy there was still right", how);
	is(device_first_wrong(d, NR, 11), -1, "%s: a thread has that", how);
	is(fetched(rt), 2 * down, "%s: which had to come home", how);
	lkdf_data_put(d);
	lkdf_kind_put(add);
	lkdf_kind_put(see);
}

/* Bodies that write make copies stale, kernels those on the host. */
static void each_writer_is_seen(struct lkdf *rt, struct lkdf_place *p,
				const char *how)
{
	struct lkdf_kind *add = device_kind(rt, "add");
	struct lkdf_kind *here = api_kind(rt, "here", add_here, 8, 0);
	struct lkdf_data *d = device_data(rt, NR, 0);
	void *at;
	int i;

	for (i = 0; i < 12; i++) {
		is(call(rt, i % 3 ? add : here, i % 3 ? p : NULL, d, LKDF_RW,
			1),
		   0, "%s: writer %d", how, i);
		if (i % 4)
			continue;
		must(lkdf_data_acquire(d, LKDF_RW, -1, &at));
		*(uint64_t *)at += 0;
		must(lkdf_data_release(d));
	}
	is(device_first_wrong(d, NR, 12), -1, "%s: all have written", how);
	lkdf_data_put(d);
	lkdf_kind_put(add);
	lkdf_kind_put(here);
}

static void a_run_of_a_graph_has_them(struct lkdf *rt, struct lkdf_place *p,
				      const char *how)
{
	struct lkdf_kind *add = device_kind(rt, "add");
	struct lkdf_kind *here = api_kind(rt, "here", add_here, 8, 0);
	struct lkdf_data *d = device_data(rt, NR, 0);
	struct lkdf_graph *g = api_graph(rt, 1);
	const struct lkdf_use use = { d, LKDF_RW, 0 };
	uint64_t one = 1;
	int i, rc = 0;

	must(lkdf_graph_add_task(g, LKDF_TASK(.kind = here, .arg = &one,
					      .use = &use, .nr_use = 1)));
	must(lkdf_graph_add_task(g,
				 LKDF_TASK(.kind = add, .arg = &one, .place = p,
					   .use = &use, .nr_use = 1)));
	must(lkdf_graph_seal(g, NULL));
	for (i = 0; i < 5 && !rc; i++) {
		rc = call(rt, add, p, d, LKDF_RW, 1);
		if (!rc)
			rc = api_run(g, NULL, NULL);
	}
	is(rc, 0, "%s: kernels and runs in turn", how);
	is(device_first_wrong(d, NR, 15), -1, "%s: each has what it reads",
	   how);
	lkdf_graph_put(g);
	lkdf_data_put(d);
	lkdf_kind_put(add);
	lkdf_kind_put(here);
}

struct below {
	struct lkdf_kind *kind;
	struct lkdf_place *place;
	struct lkdf_data *data;
	uint64_t value;
	bool looks; /* the parent, after the children */
};

static int spawn_below(struct lkdf_ctx *c, void *arg)
{
	struct below *b = arg;
	const struct lkdf_use use = { b->data, LKDF_RW, 0 };
	const uint64_t *x;
	int rc;

	rc = lkdf_spawn_task(c,
			     LKDF_TASK(.kind = b->kind, .arg = &b->value,
				       .place = b->place, .use = &use,
				       .nr_use = 1),
			     NULL);
	if (rc || !b->looks)
		return rc;
	rc = lkdf_join(c);
	x = lkdf_ptr(c, 0);
	return rc ? rc : x[NR - 1] == b->value + 1 ? 0 : -EBADMSG;
}

static void children_have_them(struct lkdf *rt, struct lkdf_place *p,
			       const char *how)
{
	struct lkdf_kind *add = device_kind(rt, "add");
	struct lkdf_kind *here = api_kind(rt, "here", add_here, 8, 0);
	struct lkdf_kind *parent =
		api_kind(rt, "parent", spawn_below, sizeof(struct below), 0);
	struct lkdf_data *d = device_data(rt, NR, 0);
	struct below b = { here, NULL, d, 1, false };
	struct lkdf_event done;
	struct lkdf_use use = { d, LKDF_RW | LKDF_WEAK, 0 };
	int i;

	for (i = 0; i < 4; i++) {
		is(call(rt, add, p, d, LKDF_RW, 1), 0, "%s: a kernel", how);
		b.kind = i % 2 ? add : here;
		b.place = i % 2 ? p : NULL;
		must(lkdf_submit(rt, NULL,
				 LKDF_TASK(.kind = parent, .arg = &b,
					   .use = &use, .nr_use = 1),
				 &done));
		is(lkdf_event_wait(done, -1), 0, "%s: a child of a weak use",
		   how);
	}
	is(device_first_wrong(d, NR, 8), -1, "%s: it was there", how);
	use.mode = LKDF_RW;
	b = (struct below){ add, p, d, 9, true };
	is(call(rt, add, p, d, LKDF_RW, 0 - (uint64_t)7), 0, "%s: a kernel",
	   how);
	must(lkdf_submit(rt, NULL,
			 LKDF_TASK(.kind = parent, .arg = &b, .use = &use,
				   .nr_use = 1),
			 &done));
	is(lkdf_event_wait(done, -1), 0, "%s: a body sees what a child did",
	   how);
	lkdf_data_put(d);
	lkdf_kind_put(add);
	lkdf_kind_put(here);
	lkdf_kind_put(parent);
}

/* By its function on a CPU, where the place of the task is a node. */
static void a_kernel_on_a_cpu_has_them(struct lkdf *rt, struct lkdf_place *p,
				       const char *how)
{
	struct lkdf_kind *add = device_kind_with(rt, "add", add_here);
	struct lkdf_data *d = device_data(rt, NR, 0);
	struct lkdf_place *node;
	int i;

	must(-(lkdf_places(rt, LKDF_PLACE_NODE, &node, 1) < 1));
	for (i = 0; i < 6; i++)
		is(call(rt, add, i % 2 ? node : p, d, LKDF_RW, 1), 0,
		   "%s: there and here in turn", how);
	is(device_first_wrong(d, NR, 6), -1, "%s: each saw the other", how);
	lkdf_data_put(d);
	lkdf_kind_put(add);
}

static void what_is_put_does_not_come(struct lkdf *rt, struct lkdf_place *p,
				      const char *how)
{
	struct lkdf_kind *add = device_kind(rt, "add");
	struct lkdf_data *d = device_data(rt, NR, 0);
	uint64_t down = fetched(rt);

	is(call(rt, add, p, d, LKDF_RW, 1), 0, "%s: a kernel", how);
	lkdf_data_put(d);
	d = device_data(rt, NR, 3);
	is(call(rt, add, p, d, LKDF_RW, 1), 0, "%s: of another data", how);
	is(fetched(rt), down, "%s: nobody wants what is put", how);
	is(device_first_wrong(d, NR, 4), -1, "%s: the other is right", how);
	lkdf_data_put(d);
	lkdf_kind_put(add);
}

/* A data is split while its bytes are away; parts go and come alone. */
static void parts_come_home(struct lkdf *rt, struct lkdf_place *p,
			    const char *how)
{
	struct lkdf_kind *add = device_kind(rt, "add");
	struct lkdf_data *d = device_data(rt, 2 * NR, 0);
	struct lkdf_use use = { d, LKDF_RW, 0 };
	struct lkdf_event done;
	uint64_t one = 1, *x;
	void *at;
	int i, wrong = 0;

	is(call(rt, add, p, d, LKDF_RW, 0), 0, "%s: a kernel", how);
	must(lkdf_data_split(d, 2, NR * sizeof(*x)));
	for (i = 0; i < 6; i++) {
		use.part = i % 2 + 1;
		must(lkdf_submit(rt, NULL,
				 LKDF_TASK(.kind = add, .arg = &one, .place = p,
					   .use = &use, .nr_use = 1),
				 &done));
		is(lkdf_event_wait(done, -1), 0, "%s: a part", how);
	}
	must(lkdf_data_acquire(d, LKDF_READ, -1, &at));
	for (i = 0, x = at; i < 2 * NR; i++)
		wrong += x[i] != 3;
	must(lkdf_data_release(d));
	is(wrong, 0, "%s: the whole has all parts", how);
	lkdf_data_put(d);
	lkdf_kind_put(add);
}

int main(void)
{
	tap_start(120);
	device_each(a_body_brings_them_home);
	device_each(each_writer_is_seen);
	device_each(a_run_of_a_graph_has_them);
	device_each(children_have_them);
	device_each(a_kernel_on_a_cpu_has_them);
	device_each(what_is_put_does_not_come);
	device_each(parts_come_home);
	return tap_end();
}
