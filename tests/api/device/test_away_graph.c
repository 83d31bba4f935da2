/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Kernels of sealed graphs leave their results on the device, between tasks and
 * between runs: copies are counted. The host gets the bytes when a task of the
 * graph on a CPU, or somebody outside, uses them.
 */
#include "tests/api/device/away.h"

#define CHAIN 10

static int32_t add_use(struct lkdf_graph *g, struct lkdf_kind *k,
		       struct lkdf_place *p, struct lkdf_data *d, uint32_t mode,
		       uint64_t arg)
{
	const struct lkdf_use use = { d, mode, 0 };
	int32_t t = lkdf_graph_add_task(g, LKDF_TASK(.kind = k, .arg = &arg,
						     .place = p, .use = &use,
						     .nr_use = 1));

	must(t < 0 ? t : 0);
	return t;
}

/* Ten kernels on a data, and in their middle a body on another one. */
static struct lkdf_graph *chain(struct lkdf *rt, struct lkdf_kind *add,
				struct lkdf_kind *here, struct lkdf_place *p,
				struct lkdf_data *d, struct lkdf_data *other)
{
	struct lkdf_graph *g = api_graph(rt, 1);
	int32_t before = -1, t;
	int i;

	for (i = 0; i <= CHAIN; i++) {
		t = i == CHAIN / 2 ? add_use(g, here, NULL, other, LKDF_RW, 1)
				   : add_use(g, add, p, d, LKDF_RW, 1);
		if (i)
			must(lkdf_graph_order(g, before, t));
		before = t;
	}
	must(lkdf_graph_seal(g, NULL));
	return g;
}

static void a_chain_carries_once(struct lkdf *rt, struct lkdf_place *p,
				 const char *how)
{
	struct lkdf_kind *add = device_kind(rt, "add");
	struct lkdf_kind *here = api_kind(rt, "here", add_here, 8, 0);
	struct lkdf_data *d = device_data(rt, NR, 0);
	struct lkdf_data *other = device_data(rt, NR, 0);
	struct lkdf_graph *g = chain(rt, add, here, p, d, other);
	void *at;
	int i;

	is(api_run(g, NULL, NULL), 0, "%s: a run", how);
	is(uploaded(rt), carries(how), "%s: its data went there once", how);
	is(fetched(rt), 0, "%s: nobody has asked for it", how);
	is(device_first_wrong(d, NR, CHAIN), -1, "%s: a thread does", how);
	is(fetched(rt), carries(how), "%s: it came home once", how);
	for (i = 0; i < 5; i++)
		is(api_run(g, NULL, NULL), 0, "%s: run %d", how, i + 2);
	is(uploaded(rt), carries(how), "%s: nothing had to go there", how);
	is(fetched(rt), carries(how), "%s: and nothing home", how);
	must(lkdf_data_acquire(d, LKDF_RW, -1, &at));
	*(uint64_t *)at += 0;
	must(lkdf_data_release(d));
	is(fetched(rt), 2 * carries(how), "%s: a thread changes it", how);
	is(api_run(g, NULL, LKDF_ATTR(lkdf_run, .times = 3)), 0,
	   "%s: three runs of a call", how);
	is(uploaded(rt), 2 * carries(how), "%s: what was changed goes there",
	   how);
	is(device_first_wrong(d, NR, 9 * CHAIN), -1, "%s: all have run", how);
	is(device_first_wrong(other, NR, 9), -1, "%s: and bodies", how);
	is(fetched(rt), 3 * carries(how), "%s: once home for all", how);
	lkdf_graph_put(g);
	lkdf_data_put(d);
	lkdf_data_put(other);
	lkdf_kind_put(add);
	lkdf_kind_put(here);
}

/* Readers and writers on CPUs, some of which need a task of their own. */
static void bodies_of_the_graph_have_it(struct lkdf *rt, struct lkdf_place *p,
					const char *how)
{
	static const uint32_t flags[] = { 0, LKDF_BLOCKING, LKDF_ALWAYS };
	struct lkdf_kind *add = device_kind(rt, "add");
	struct lkdf_kind *on_cpu = device_kind_with(rt, "add", add_here);
	struct lkdf_kind *see[3], *here[3];
	struct lkdf_data *d = device_data(rt, NR, 0);
	struct lkdf_graph *g = api_graph(rt, 1);
	uint64_t value = 0, down, up;
	struct lkdf_place *node;
	int i, n;

	must(-(lkdf_places(rt, LKDF_PLACE_NODE, &node, 1) < 1));
	for (i = 0; i < 3; i++) {
		see[i] = api_kind(rt, "see", expect_all, 8, flags[i]);
		here[i] = api_kind(rt, "here", add_here, 8, flags[i]);
	}
	for (i = 0; i < 3; i++) {
		add_use(g, add, p, d, LKDF_RW, 1);
		add_use(g, add, p, d, LKDF_RW, 1);
		value += 2;
		for (n = 0; n < 3; n++)
			add_use(g, see[i], NULL, d, LKDF_READ, value);
		add_use(g, add, p, d, LKDF_RW, 1);
		add_use(g, here[i], NULL, d, i ? LKDF_RW : LKDF_COMMUTE, 1);
		add_use(g, here[i], NULL, d, i ? LKDF_RW : LKDF_COMMUTE, 1);
		add_use(g, add, p, d, LKDF_RW, 1);
		add_use(g, on_cpu, node, d, LKDF_RW, 1);
		value += 5;
	}
	/* The last one: whatever was before, the next run begins anew. */
	add_use(g, add, p, d, LKDF_RW, 0 - value);
	must(lkdf_graph_seal(g, NULL));
	is(api_run(g, NULL, NULL), 0, "%s: kernels and bodies in turn", how);
	down = fetched(rt);
	up = uploaded(rt);
	is(down, 9 * carries(how), "%s: home once for all who look", how);
	is(up, 7 * carries(how), "%s: there once after each writer", how);
	is(api_run(g, NULL, LKDF_ATTR(lkdf_run, .times = 4)), 0,
	   "%s: again, four times", how);
	is(fetched(rt), 5 * down, "%s: as often in each run", how);
	is(uploaded(rt), up + 4 * 6 * carries(how),
	   "%s: but for what was there", how);
	is(device_first_wrong(d, NR, 0), -1, "%s: and it is right", how);
	lkdf_graph_put(g);
	lkdf_data_put(d);
	for (i = 0; i < 3; i++) {
		lkdf_kind_put(see[i]);
		lkdf_kind_put(here[i]);
	}
	lkdf_kind_put(add);
	lkdf_kind_put(on_cpu);
}

/* Another graph, a task and a kernel outside, between runs. */
static void others_have_it_between_runs(struct lkdf *rt, struct lkdf_place *p,
					const char *how)
{
	struct lkdf_kind *add = device_kind(rt, "add");
	struct lkdf_kind *here = api_kind(rt, "here", add_here, 8, 0);
	struct lkdf_data *d = device_data(rt, NR, 0);
	struct lkdf_graph *g[2] = { api_graph(rt, 2), api_graph(rt, 1) };
	int i, rc = 0;

	add_use(g[0], add, p, d, LKDF_RW, 1);
	add_use(g[1], here, NULL, d, LKDF_RW, 1);
	must(lkdf_graph_seal(g[0], NULL));
	must(lkdf_graph_seal(g[1], NULL));
	for (i = 0; i < 6 && !rc; i++) {
		rc = api_run(g[0], NULL, NULL);
		if (!rc && i % 3 == 0)
			rc = api_run(g[1], NULL, NULL);
		if (!rc && i % 3 == 1)
			rc = call(rt, here, NULL, d, LKDF_RW, 1);
		if (!rc && i % 3 == 2)
			rc = call(rt, add, p, d, LKDF_RW, 1);
	}
	is(rc, 0, "%s: runs, and others in turn", how);
	is(fetched(rt), 4 * carries(how), "%s: home for those on CPUs", how);
	is(uploaded(rt), 5 * carries(how), "%s: and there after them", how);
	is(device_first_wrong(d, NR, 12), -1, "%s: it is right", how);
	lkdf_graph_put(g[0]);
	lkdf_graph_put(g[1]);
	lkdf_data_put(d);
	lkdf_kind_put(add);
	lkdf_kind_put(here);
}

/* A kernel on a part, a body on the other one, then on the whole. */
static void parts_of_a_graph_come_home(struct lkdf *rt, struct lkdf_place *p,
				       const char *how)
{
	struct lkdf_kind *add = device_kind(rt, "add");
	struct lkdf_kind *here = api_kind(rt, "here", add_here, 8, 0);
	struct lkdf_kind *see = api_kind(rt, "see", expect_all, 8, 0);
	struct lkdf_data *d = device_data(rt, 2 * NR, 0);
	struct lkdf_graph *g = api_graph(rt, 1);
	uint64_t one = 1, three = 3;
	struct lkdf_use use = { d, LKDF_RW, 0 };
	int i;

	must(lkdf_data_split(d, 2, NR * sizeof(uint64_t)));
	for (i = 0; i < 6; i++) {
		use.part = (uint32_t)i % 2 + 1;
		must(lkdf_graph_add_task(
			     g, LKDF_TASK(.kind = i / 2 == 1 ? here : add,
					  .place = i / 2 == 1 ? NULL : p,
					  .arg = &one, .use = &use,
					  .nr_use = 1)) < 0);
	}
	use = (struct lkdf_use){ d, LKDF_READ, 0 };
	must(lkdf_graph_add_task(g, LKDF_TASK(.kind = see, .arg = &three,
					      .use = &use, .nr_use = 1)) < 0);
	must(lkdf_graph_seal(g, NULL));
	is(api_run(g, NULL, NULL), 0, "%s: parts, then the whole", how);
	is(fetched(rt), 4 * carries(how), "%s: parts came home", how);
	is(device_first_wrong(d, 2 * NR, 3), -1, "%s: all are right", how);
	lkdf_graph_put(g);
	lkdf_data_put(d);
	lkdf_kind_put(add);
	lkdf_kind_put(here);
	lkdf_kind_put(see);
}

/* What the program has brought is there when it has waited for the run. */
static void wrapped_bytes_are_home(struct lkdf *rt, struct lkdf_place *p,
				   const char *how)
{
	static uint64_t x[NR];
	struct lkdf_kind *add = device_kind(rt, "add");
	struct lkdf_graph *g = api_graph(rt, 1);
	struct lkdf_data *d = NULL;
	uint64_t down = fetched(rt);
	int i, wrong = 0;

	memset(x, 0, sizeof(x));
	must(lkdf_data_create(
		rt, ATTR(lkdf_data_attr, .bytes = sizeof(x), .wrap = x), &d));
	for (i = 0; i < 5; i++)
		add_use(g, add, p, d, LKDF_RW, 1);
	must(lkdf_graph_seal(g, NULL));
	for (i = 1; i <= 3; i++) {
		is(api_run(g, NULL, NULL), 0, "%s: a run", how);
		wrong += x[0] != (uint64_t)i * 5 || x[NR - 1] != x[0];
	}
	is(wrong, 0, "%s: bytes of the program are at home", how);
	is(uploaded(rt), carries(how), "%s: a copy stays all the same", how);
	is(fetched(rt) - down, 3 * carries(how), "%s: once for each run", how);
	lkdf_graph_put(g);
	lkdf_data_put(d);
	lkdf_kind_put(add);
}

int main(void)
{
	tap_start(120);
	device_each(a_chain_carries_once);
	device_each(bodies_of_the_graph_have_it);
	device_each(others_have_it_between_runs);
	device_each(parts_of_a_graph_come_home);
	device_each(wrapped_bytes_are_home);
	return tap_end();
}
