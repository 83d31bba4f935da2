/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Kinds with LKDF_ALWAYS in sealed graphs whose uses are MAYBE or WEAK: what
 * they leave as it was stays as bad as it was, what they or their children
 * write is mended. Random programs with MAYBE: tests/oracle.
 */
#include "tests/api/graph/always.h"

/* What the task that runs always does with its first use. */
enum deed {
	LEAVES, /* MAYBE, untouched */
	WRITES,
	LEAVES_AND_FAILS,
	NO_CHILD, /* and so on: WEAK */
	CHILD_READS,
	CHILD_WRITES,
	CHILD_FAILS,
};

struct doer {
	struct kinds *k;
	enum deed deed;
	struct lkdf_data *x;
	uint32_t part, child_mode;
	atomic_int nr_children;
	int nr, error[2], joined;
	bool has_bytes[2];
};

static int set_five(struct lkdf_ctx *c, void *arg)
{
	struct doer *d = *(struct doer **)arg;

	atomic_fetch_add(&d->nr_children, 1);
	*(uint64_t *)lkdf_ptr(c, 0) = 5;
	return 0;
}

static int fail_child(struct lkdf_ctx *c, void *arg)
{
	struct doer *d = *(struct doer **)arg;

	atomic_fetch_add(&d->nr_children, 1);
	return lkdf_fail(c, -EPIPE, "on purpose");
}

static int spawn_one(struct lkdf_ctx *c, struct doer *d, lkdf_fn fn,
		     uint32_t mode)
{
	struct lkdf_kind *k =
		api_kind(d->k->rt, "child", fn, sizeof(struct doer *), 0);
	struct lkdf_use use = ON_PART(d->x, mode, d->part);
	int rc;

	rc = lkdf_spawn_task(c,
			     ATTR(lkdf_task, .kind = k, .arg = &d, .use = &use,
				  .nr_use = 1),
			     NULL);
	lkdf_kind_put(k);
	d->joined = rc ? rc : lkdf_join(c);
	return 0;
}

/* Use 0 is x, use 1 writes y. */
static int do_it(struct lkdf_ctx *c, void *arg)
{
	struct doer *d = arg;
	unsigned i;

	for (i = 0; i < 2; i++) {
		d->error[i] = lkdf_input_error(c, i);
		d->has_bytes[i] = lkdf_ptr(c, i) != NULL;
	}
	*(uint64_t *)lkdf_ptr(c, 1) = 7;
	d->nr++;
	switch (d->deed) {
	case WRITES:
		*(uint64_t *)lkdf_ptr(c, 0) = 5;
		return 0;
	case LEAVES:
		return lkdf_use_end(c, 0, true);
	case LEAVES_AND_FAILS:
		must(lkdf_use_end(c, 0, true));
		return -EDOM;
	case CHILD_READS:
		return spawn_one(c, d, set_five, LKDF_READ);
	case CHILD_WRITES:
		return spawn_one(c, d, set_five, d->child_mode);
	case CHILD_FAILS:
		return spawn_one(c, d, fail_child, LKDF_WRITE);
	case NO_CHILD:
		break;
	}
	return 0;
}

/* Its error; 0: it is good. */
static int error_of(struct lkdf_data *d)
{
	int rc = lkdf_data_acquire(d, LKDF_READ, -1, NULL);

	if (!rc)
		must(lkdf_data_release(d));
	return rc;
}

/* What is expected of x, y, and of the run. */
struct expect {
	enum deed deed;
	uint32_t mode;
	bool is_bad; /* x is, before */
	int x, y; /* errors after it */
	int nr_children, joined;
	uint32_t child_mode; /* 0: WRITE */
};

static const struct expect expect[] = {
	{ LEAVES, LKDF_RW | LKDF_MAYBE, true, -EIO, 0, 0, 0, 0 },
	{ LEAVES, LKDF_RW | LKDF_MAYBE, false, 0, 0, 0, 0, 0 },
	{ WRITES, LKDF_RW | LKDF_MAYBE, true, 0, 0, 0, 0, 0 },
	{ WRITES, LKDF_RW | LKDF_MAYBE, false, 0, 0, 0, 0, 0 },
	{ LEAVES_AND_FAILS, LKDF_RW | LKDF_MAYBE, true, -EIO, -EIO, 0, 0, 0 },
	{ LEAVES_AND_FAILS, LKDF_RW | LKDF_MAYBE, false, 0, -EDOM, 0, 0, 0 },
	{ NO_CHILD, LKDF_RW | LKDF_WEAK, true, -EIO, 0, 0, 0, 0 },
	{ NO_CHILD, LKDF_RW | LKDF_WEAK, false, 0, 0, 0, 0, 0 },
	{ NO_CHILD, LKDF_READ | LKDF_WEAK, true, -EIO, 0, 0, 0, 0 },
	{ NO_CHILD, LKDF_COMMUTE | LKDF_WEAK, true, -EIO, 0, 0, 0, 0 },
	{ NO_CHILD, LKDF_REDUCE | LKDF_WEAK, true, -EIO, 0, 0, 0, 0 },
	{ NO_CHILD, LKDF_WRITE | LKDF_WEAK, true, 0, 0, 0, 0, 0 },
	{ CHILD_READS, LKDF_READ | LKDF_WEAK, true, -EIO, 0, 0, -EIO, 0 },
	{ CHILD_READS, LKDF_RW | LKDF_WEAK, true, -EIO, 0, 0, -EIO, 0 },
	{ CHILD_READS, LKDF_READ | LKDF_WEAK, false, 0, 0, 1, 0, 0 },
	{ CHILD_WRITES, LKDF_RW | LKDF_WEAK, true, 0, 0, 1, 0, 0 },
	{ CHILD_WRITES, LKDF_RW | LKDF_WEAK, false, 0, 0, 1, 0, 0 },
	{ CHILD_WRITES, LKDF_RW | LKDF_WEAK, true, -EIO, -EIO, 0, -EIO,
	  LKDF_RW },
	{ CHILD_WRITES, LKDF_COMMUTE | LKDF_WEAK, true, 0, 0, 1, 0, 0 },
	{ CHILD_FAILS, LKDF_RW | LKDF_WEAK, true, -EIO, -EIO, 1, -EPIPE, 0 },
	{ CHILD_FAILS, LKDF_RW | LKDF_WEAK, false, -EPIPE, -EPIPE, 1, -EPIPE,
	  0 },
};

/* Where the task that runs always, and who reads after it, look at x. */
struct shape {
	uint32_t fails, does, reads; /* parts; 0: the whole */
	const char *name;
};

static const struct shape shapes[] = {
	{ 0, 0, 0, "whole" },
	{ 2, 2, 2, "a part" },
	{ 2, 2, 0, "a part, then the whole" },
	{ 2, 0, 2, "the whole, then a part" },
	{ 0, 2, 2, "the whole was bad, then a part" },
};

struct scene {
	struct kinds *k;
	struct lkdf_kind *does, *fives;
	struct lkdf_data *x, *y;
	atomic_int nr_x, nr_y;
	struct seen seen;
	struct doer doer;
	const struct expect *e;
	const struct shape *s;
	char text[128];
};

static void scene_init(struct scene *s, struct kinds *k, const struct expect *e,
		       const struct shape *shape)
{
	static const uint64_t init[3] = { 1, 1, 1 };

	memset(s, 0, sizeof(*s));
	s->k = k;
	s->e = e;
	s->s = shape;
	s->x = DATA(k->rt, .bytes = sizeof(init), .init = init,
		    .reduce = add_words, .neutral = no_words);
	must(lkdf_data_split(s->x, 3, sizeof(*init)));
	s->y = number(k->rt, NULL, &init[0]);
	s->does = api_kind(k->rt, "does", do_it, 0, LKDF_ALWAYS);
	s->fives = api_kind(k->rt, "fives", set_five, sizeof(struct doer *), 0);
	s->doer.k = k;
	s->doer.deed = e->deed;
	s->doer.x = s->x;
	s->doer.part = shape->does;
	s->doer.child_mode = e->child_mode ? e->child_mode : LKDF_WRITE;
	snprintf(s->text, sizeof(s->text), "%s: %s, %#x, deed %d, %s", k->how,
		 shape->name, e->mode, e->deed, e->is_bad ? "bad" : "good");
}

static void scene_fini(struct scene *s)
{
	lkdf_scope_wait(s->k->rt, NULL, -1);
	lkdf_data_put(s->x);
	lkdf_data_put(s->y);
	lkdf_kind_put(s->does);
	lkdf_kind_put(s->fives);
}

/* Does it, then readers of x and y, and one that runs always. */
static void add_rest(struct scene *s, struct lkdf_graph *g)
{
	struct kinds *k = s->k;

	must(lkdf_graph_add(
		g, s->does, &s->doer,
		(struct lkdf_use[]){ ON_PART(s->x, s->e->mode, s->s->does),
				     ON(s->y, LKDF_WRITE) },
		2));
	must(add_on(g, k->count, &s->nr_x,
		    ON_PART(s->x, LKDF_READ, s->s->reads)));
	must(add_on(g, k->count, &s->nr_y, ON(s->y, LKDF_READ)));
	must(lkdf_graph_add(
		g, k->looks, &s->seen,
		(struct lkdf_use[]){ ON_PART(s->x, LKDF_READ, s->s->reads),
				     ON(s->y, LKDF_READ) },
		2));
	must(lkdf_graph_seal(g, NULL));
}

static void check_doer(struct scene *s, int nr)
{
	const struct expect *e = s->e;
	bool reads = (e->mode & LKDF_RW) != LKDF_WRITE;

	is(s->doer.nr, nr, "%s: it runs", s->text);
	is(s->doer.error[0], e->is_bad && reads ? -EIO : 0,
	   "%s: and sees its input", s->text);
	is(s->doer.error[1], 0, "%s: y has none", s->text);
	ok(s->doer.has_bytes[0] == !(e->mode & LKDF_WEAK),
	   "%s: bytes unless it is weak", s->text);
	is(s->doer.nr_children, nr * e->nr_children, "%s: children", s->text);
	is(s->doer.joined, e->joined, "%s: their error", s->text);
}

/* In a run with several failures an error is that of one of them. */
static bool is_like(int error, int expected)
{
	return expected ? error < 0 : !error;
}

static void check_rest(struct scene *s, int nr)
{
	const struct expect *e = s->e;

	is(s->nr_x, e->x ? 0 : nr, "%s: reader of x", s->text);
	is(s->nr_y, e->y ? 0 : nr, "%s: reader of y", s->text);
	is(s->seen.nr, nr, "%s: another that runs always", s->text);
	ok(is_like(s->seen.error[0], e->x), "%s: sees x: %d", s->text,
	   s->seen.error[0]);
	ok(is_like(s->seen.error[1], e->y), "%s: sees y: %d", s->text,
	   s->seen.error[1]);
	/* Its other parts are as bad as they were. */
	ok(is_like(error_of(s->x),
		   e->x || (!s->s->fails && s->s->does && e->is_bad)),
	   "%s: x outside", s->text);
	ok(is_like(error_of(s->y), e->y), "%s: y outside", s->text);
}

/* The task before it fails in the same run. */
static void after_a_failure(struct kinds *k, const struct expect *e,
			    const struct shape *shape)
{
	struct lkdf_graph *g = api_graph(k->rt, 2);
	struct scene s;
	int i, rc;

	scene_init(&s, k, e, shape);
	if (e->is_bad)
		must(add_on(g, k->fails, NULL,
			    ON_PART(s.x, LKDF_WRITE, shape->fails)));
	add_rest(&s, g);
	for (i = 1; i <= 2; i++) {
		rc = api_run(g, NULL, NULL);
		ok(is_like(rc, e->is_bad || e->x || e->y),
		   "%s: the run ends with %d", s.text, rc);
		check_doer(&s, i);
		check_rest(&s, i);
		/* Good again. */
		if (!e->is_bad && e->x)
			break;
	}
	lkdf_graph_put(g);
	scene_fini(&s);
}

/*
 * It was bad before the run. Who reads the whole of what was bad in one part
 * is skipped, written or not.
 */
static void bad_from_before(struct kinds *k, const struct expect *e,
			    const struct shape *shape)
{
	struct lkdf_graph *g = api_graph(k->rt, 1);
	struct scene s;
	struct lkdf_use use;
	uint64_t version;

	scene_init(&s, k, e, shape);
	add_rest(&s, g);
	use = ON_PART(s.x, LKDF_WRITE, shape->fails);
	must(submit_on(k->rt, k->fails, NULL, use, NULL));
	lkdf_scope_wait(k->rt, NULL, -1);
	version = lkdf_data_version(s.x);
	api_run(g, NULL, NULL);
	check_doer(&s, 1);
	check_rest(&s, 1);
	if (e->deed == LEAVES)
		is((int)lkdf_data_version(s.x), (int)version,
		   "%s: no version is made", s.text);
	lkdf_graph_put(g);
	scene_fini(&s);
}

/* Who overwrites what is bad does not read it. */
static void it_is_overwritten(struct kinds *k)
{
	static const struct expect e = {
		LEAVES, LKDF_RW | LKDF_MAYBE, true, -EIO, 0, 0, 0, 0
	};
	struct lkdf_graph *g = api_graph(k->rt, 1);
	struct scene s;
	struct doer *arg;

	scene_init(&s, k, &e, &shapes[0]);
	arg = &s.doer;
	must(add_on(g, k->fails, NULL, ON(s.x, LKDF_WRITE)));
	must(lkdf_graph_add(g, s.does, &s.doer,
			    (struct lkdf_use[]){ ON(s.x, e.mode),
						 ON(s.y, LKDF_WRITE) },
			    2));
	must(add_on(g, s.fives, &arg, ON(s.x, LKDF_WRITE)));
	must(add_on(g, k->count, &s.nr_x, ON(s.x, LKDF_READ)));
	must(lkdf_graph_seal(g, NULL));
	is(api_run(g, NULL, NULL), -EIO, "%s: a failure", k->how);
	is(s.doer.nr, 1, "%s: it leaves what it was given", k->how);
	is(s.doer.nr_children, 1, "%s: who overwrites it runs", k->how);
	is(s.nr_x, 1, "%s: and who reads that", k->how);
	is(error_of(s.x), 0, "%s: it is good", k->how);
	is((int)value_of(s.x), 5, "%s: it is what was written", k->how);
	lkdf_graph_put(g);
	scene_fini(&s);
}

/* From one that runs always to the next, and a group behind. */
static void it_is_handed_on(struct kinds *k, uint32_t mode, int left)
{
	struct lkdf_graph *g = api_graph(k->rt, 1);
	static const struct expect e = {
		LEAVES, LKDF_RW | LKDF_MAYBE, true, -EIO, 0, 0, 0, 0
	};
	struct seen seen[3] = { { .nr = 0 } };
	struct lkdf_use use[2];
	struct scene s;
	int i;

	scene_init(&s, k, &e, &shapes[0]);
	use[0] = ON(s.x, e.mode);
	use[1] = ON(s.y, LKDF_WRITE);
	must(add_on(g, k->fails, NULL, ON(s.x, LKDF_WRITE)));
	for (i = 0; i < 3; i++)
		must(lkdf_graph_add(g, s.does, &s.doer, use, 2));
	for (i = 0; i < 3; i++)
		must(add_on(g, k->looks, &seen[i], ON(s.x, mode)));
	must(add_on(g, k->count, &s.nr_x, ON(s.x, LKDF_READ)));
	must(lkdf_graph_seal(g, NULL));
	is(api_run(g, NULL, NULL), -EIO, "%s: %#x after it", k->how, mode);
	is(s.doer.nr, 3, "%s: three leave it", k->how);
	is(s.doer.error[0], -EIO, "%s: and hear of it", k->how);
	is(seen[0].error[0], -EIO, "%s: who comes then, too", k->how);
	is(seen[2].error[0], mode == LKDF_RW ? 0 : -EIO,
	   "%s: of those who go in order the first mends it", k->how);
	is(s.nr_x, !left, "%s: reader", k->how);
	is(error_of(s.x), left, "%s: outside", k->how);
	lkdf_graph_put(g);
	scene_fini(&s);
}

/* Bytes of the producer, if it has made them. */
static void of_one_producer(struct kinds *k, bool fails)
{
	struct lkdf_data *x = DATA(k->rt, .flags = LKDF_DATA_ONCE, .bytes = 64);
	struct lkdf_data *y = number(k->rt, NULL, NULL);
	struct lkdf_kind *does = api_kind(k->rt, "does", do_it, 0, LKDF_ALWAYS);
	struct doer d = { .k = k, .deed = CHILD_READS, .x = x };
	struct lkdf_graph *g = api_graph(k->rt, 2);
	int i, error = fails ? -EIO : 0;
	atomic_int made = 0;

	must(lkdf_graph_add(g, does, &d,
			    (struct lkdf_use[]){ ON(x, LKDF_READ | LKDF_WEAK),
						 ON(y, LKDF_WRITE) },
			    2));
	must(add_on(g, fails ? k->fails : k->count, &made, ON(x, LKDF_WRITE)));
	must(lkdf_graph_seal(g, NULL));
	for (i = 1; i <= 3; i++) {
		is(api_run(g, NULL, NULL), error, "%s: ONCE, weak", k->how);
		is(d.nr, i, "%s: it runs", k->how);
		is(d.error[0], error, "%s: and is told", k->how);
		is(d.joined, error, "%s: so is its child", k->how);
		is(d.nr_children, fails ? 0 : i, "%s: if not skipped", k->how);
	}
	lkdf_scope_wait(k->rt, NULL, -1);
	lkdf_graph_put(g);
	lkdf_data_put(x);
	lkdf_data_put(y);
	lkdf_kind_put(does);
}

static int fail_odd(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	*(uint64_t *)lkdf_ptr(c, 0) += 1;
	return lkdf_seq(c) & 1 ? -EIO : 0;
}

/* What was bad in one run is forgotten in the next. */
static void runs_do_not_mix(struct kinds *k)
{
	static const struct expect e = {
		LEAVES, LKDF_RW | LKDF_MAYBE, true, -EIO, 0, 0, 0, 0
	};
	struct lkdf_kind *odd = api_kind(k->rt, "odd", fail_odd, 0, 0);
	struct lkdf_graph *g = api_graph(k->rt, 3);
	struct lkdf_data *z = number(k->rt, NULL, &(uint64_t){ 0 });
	struct scene s;
	int i, nr_failed = 0;

	scene_init(&s, k, &e, &shapes[0]);
	must(add_on(g, odd, NULL, ON(s.x, LKDF_WRITE)));
	must(lkdf_graph_add(g, s.does, &s.doer,
			    (struct lkdf_use[]){ ON(s.x, e.mode),
						 ON(s.y, LKDF_WRITE) },
			    2));
	must(lkdf_graph_add(g, k->count, &s.nr_x,
			    (struct lkdf_use[]){ ON(s.x, LKDF_READ),
						 ON(z, LKDF_WRITE) },
			    2));
	must(lkdf_graph_seal(g, NULL));
	for (i = 0; i < 40; i++)
		nr_failed += api_run(g, NULL, NULL) == -EIO;
	is(nr_failed, 20, "%s: each second run fails", k->how);
	is(s.doer.nr, 40, "%s: what runs always does", k->how);
	is(s.nr_x, 20, "%s: who reads runs in the others", k->how);
	for (i = 0; i < 40; i++)
		must(lkdf_graph_run(g, NULL, NULL, NULL));
	lkdf_scope_wait(k->rt, NULL, -1);
	is(s.doer.nr, 80, "%s: and several at a time", k->how);
	is(s.nr_x, 40, "%s: do not mix", k->how);
	lkdf_graph_put(g);
	lkdf_data_put(z);
	lkdf_kind_put(odd);
	scene_fini(&s);
}

static void all_deeds(struct kinds *k, const struct shape *shape)
{
	unsigned i;

	for (i = 0; i < LENGTH(expect); i++) {
		after_a_failure(k, &expect[i], shape);
		if (expect[i].is_bad && (!shape->does || shape->reads))
			bad_from_before(k, &expect[i], shape);
	}
}

static void test(const char *options, unsigned nr_shapes)
{
	struct lkdf *rt = api_open(options);
	struct kinds k;
	unsigned i;

	kinds_init(&k, rt, options);
	for (i = 0; i < nr_shapes; i++)
		all_deeds(&k, &shapes[i]);
	it_is_overwritten(&k);
	it_is_handed_on(&k, LKDF_RW, 0);
	it_is_handed_on(&k, LKDF_COMMUTE, 0);
	it_is_handed_on(&k, LKDF_REDUCE, -EIO);
	of_one_producer(&k, false);
	of_one_producer(&k, true);
	runs_do_not_mix(&k);
	kinds_fini(&k);
	is(lkdf_close(rt), 0, "%s: the runtime closes", options);
}

int main(void)
{
	tap_start(200);
	test("workers=1", 1);
	test("workers=2", LENGTH(shapes));
	test("workers=8", 1);
	test("serial=yes", 1);
	return tap_end();
}
