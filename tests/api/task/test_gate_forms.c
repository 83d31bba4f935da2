/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Forms of work x gates: in each form bodies of a narrowed kind wait aside, so
 * no more than cap run at once, and all run. A worker that does not come by for
 * long loses its token, and its body still runs then: so many more than cap
 * there may be. The forms that may pass by are named as such.
 */
#include "tests/api/heard.h"

#define MANY 96
#define CHILDREN 24

static struct {
	struct lkdf *rt;
	struct lkdf_kind *k; /* whose bodies are counted */
	struct lkdf_scope *s;
	struct lkdf_channel *ch;
	atomic_int now, most, nr;
} play;

/* ---- bodies -------------------------------------------------------------- */

static void meet(void)
{
	int now = atomic_fetch_add(&play.now, 1) + 1;
	int most = atomic_load(&play.most);

	while (now > most &&
	       !atomic_compare_exchange_weak(&play.most, &most, now))
		;
	if (atomic_fetch_add(&play.nr, 1) % 4 == 0)
		api_nap_ns(20000);
	atomic_fetch_sub(&play.now, 1);
}

static int body(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	meet();
	return 0;
}

/* It may spawn, and counts itself before. */
static int parent(struct lkdf_ctx *c, void *arg)
{
	int *level = arg, below = *level - 1, rc = 0, i;

	meet();
	for (i = 0; *level && i < 3 && !rc; i++)
		rc = lkdf_spawn(c, play.k, &below);
	return rc ? rc : lkdf_join(c);
}

static int goes_on(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	meet();
	return 0;
}

static int leaves(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	return lkdf_then(c, goes_on, (struct lkdf_event){ 0 });
}

static int receives(struct lkdf_ctx *c, void *arg)
{
	int value, rc = lkdf_recv(c, play.ch, &value);

	(void)arg;
	if (rc == -EAGAIN)
		return LKDF_AGAIN;
	meet();
	return rc;
}

static int block(uint64_t begin, uint64_t end, void *u)
{
	(void)u;
	while (begin++ < end)
		meet();
	return 0;
}

/* Roots are of a kind of their own. */
static int spawn_all(struct lkdf_ctx *c, void *arg)
{
	int rc = 0, i;

	(void)arg;
	for (i = 0; i < CHILDREN && !rc; i++)
		rc = lkdf_spawn(c, play.k, NULL);
	return rc;
}

static int join_all(struct lkdf_ctx *c, void *arg)
{
	int rc = spawn_all(c, arg);

	return rc ? rc : lkdf_join(c);
}

static int loop_in(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	return lkdf_for_in(c, ATTR(lkdf_for_attr, .range = { 0, CHILDREN, 1 },
				   .fn = block));
}

static int loop_nested(struct lkdf_ctx *c, void *arg)
{
	int rc = spawn_all(c, arg);

	if (!rc)
		rc = loop_in(c, arg);
	return rc ? rc : lkdf_join(c);
}

/* ---- forms --------------------------------------------------------------- */

static void submit(struct lkdf_task t, int nr)
{
	t.size = sizeof(t);
	while (nr--)
		must(lkdf_submit(play.rt, play.s, &t, NULL));
}

static void plain(void)
{
	submit((struct lkdf_task){ .kind = play.k }, MANY);
}

static void with_prio(enum lkdf_prio prio)
{
	submit((struct lkdf_task){ .kind = play.k, .prio = (uint8_t)prio },
	       MANY);
}

static void high(void)
{
	with_prio(LKDF_HIGH);
}

static void low(void)
{
	with_prio(LKDF_IDLE);
}

static void all_prios(void)
{
	int i;

	for (i = 0; i < MANY; i++)
		submit((struct lkdf_task){ .kind = play.k,
					   .prio = (uint8_t)(LKDF_IDLE +
							     i % 3) },
		       1);
}

static void in_roots(lkdf_fn fn)
{
	struct lkdf_kind *roots = api_kind(play.rt, "roots", fn, 0, 0);

	submit((struct lkdf_task){ .kind = roots }, MANY / CHILDREN);
	lkdf_kind_put(roots);
}

static void spawned(void)
{
	in_roots(spawn_all);
}

static void joined(void)
{
	in_roots(join_all);
}

static void for_in(void)
{
	in_roots(loop_in);
}

static void for_and_join(void)
{
	in_roots(loop_nested);
}

static void tree(void)
{
	int level = 4;

	submit((struct lkdf_task){ .kind = play.k, .arg = &level }, 1);
}

static void by_for(void)
{
	must(lkdf_for(play.rt, (struct lkdf_range){ 0, MANY, 0 }, block, NULL));
}

static void by_for_one(void)
{
	must(lkdf_for(play.rt, (struct lkdf_range){ 0, MANY, 1 }, block, NULL));
}

static void by_for_static(void)
{
	must(lkdf_for_with(play.rt, ATTR(lkdf_for_attr, .range = { 0, MANY, 0 },
					 .fn = block,
					 .schedule = LKDF_SCHEDULE_STATIC)));
}

static void by_channel(void)
{
	int i;

	must(lkdf_channel_create(play.rt,
				 ATTR(lkdf_channel_attr,
				      .value_size = sizeof(int), .depth = MANY),
				 &play.ch));
	plain();
	for (i = 0; i < MANY; i++)
		must(lkdf_channel_send(play.ch, &i, -1));
	must(lkdf_scope_wait(play.rt, play.s, PATIENCE_NS));
	lkdf_channel_put(play.ch);
}

static void on_nodes(uint32_t flags)
{
	struct lkdf_place *place[8];
	int nr = must(lkdf_places(play.rt, LKDF_PLACE_NODE, place, 8)), i;

	for (i = 0; i < MANY; i++)
		submit((struct lkdf_task){ .kind = play.k,
					   .place = place[i % nr],
					   .flags = flags },
		       1);
}

static void placed(void)
{
	on_nodes(0);
}

static void pinned(void)
{
	on_nodes(LKDF_PINNED);
}

static void on_parts(void)
{
	struct lkdf_place *node, *part[2];
	unsigned i;

	must(lkdf_places(play.rt, LKDF_PLACE_NODE, &node, 1));
	for (i = 0; i < 2; i++)
		must(lkdf_place_part(node, i, 2, &part[i]));
	for (i = 0; i < MANY; i++)
		submit((struct lkdf_task){ .kind = play.k,
					   .place = part[i % 2] },
		       1);
}

/* Large enough for tasks to go where their bytes are. */
static void with_data(void)
{
	struct lkdf_data *d[4];
	int i;

	for (i = 0; i < 4; i++)
		must(lkdf_data_create(play.rt,
				      ATTR(lkdf_data_attr, .bytes = 1 << 20),
				      &d[i]));
	for (i = 0; i < MANY; i++)
		submit(
			(struct lkdf_task){
				.kind = play.k,
				.use =
					&(struct lkdf_use){
						.data = d[i % 4],
						.mode = i < 4 ? LKDF_WRITE
							      : LKDF_RW },
				.nr_use = 1 },
			1);
	must(lkdf_scope_wait(play.rt, play.s, PATIENCE_NS));
	for (i = 0; i < 4; i++)
		lkdf_data_put(d[i]);
}

static void run_graph(struct lkdf_graph *g, const struct lkdf_run *r)
{
	must(lkdf_graph_seal(g, NULL));
	must(lkdf_graph_run(g, play.s, r, NULL));
	must(lkdf_scope_wait(play.rt, play.s, PATIENCE_NS));
	lkdf_graph_put(g);
}

static void sealed(void)
{
	struct lkdf_graph *g = api_graph(play.rt, 1);
	int i;

	for (i = 0; i < MANY; i++) {
		must(lkdf_graph_add(g, play.k, NULL, NULL, 0));
		if (i)
			must(lkdf_graph_order(g, 0, i));
	}
	run_graph(g, NULL);
}

static void planned(void)
{
	struct lkdf_graph *g = api_graph(play.rt, 1);
	struct lkdf_data *d[8];
	struct lkdf_use u;
	int i;

	for (i = 0; i < 8; i++)
		must(lkdf_data_create(play.rt,
				      ATTR(lkdf_data_attr, .bytes = 1 << 16),
				      &d[i]));
	for (i = 0; i < MANY; i++) {
		u = (struct lkdf_use){ .data = d[i % 8],
				       .mode = i < 8 ? LKDF_WRITE : LKDF_RW };
		must(lkdf_graph_add(g, play.k, NULL, &u, 1));
	}
	run_graph(g, NULL);
	for (i = 0; i < 8; i++)
		lkdf_data_put(d[i]);
}

static void streamed(void)
{
	struct lkdf_kind *source =
		api_kind(play.rt, "source", api_nothing, 0, 0);
	struct lkdf_graph *g = api_graph(play.rt, 8);
	int i;

	must(lkdf_graph_add(g, source, NULL, NULL, 0));
	for (i = 1; i <= 4; i++) {
		must(lkdf_graph_add(g, play.k, NULL, NULL, 0));
		must(lkdf_graph_order(g, 0, i));
	}
	lkdf_kind_put(source);
	run_graph(g,
		  ATTR(lkdf_run, .flags = LKDF_RUN_STREAM, .times = MANY / 4));
}

static void late(void)
{
	submit((struct lkdf_task){ .kind = play.k,
				   .deadline_ns = 3600 * SECOND },
	       MANY);
}

static void urgent(void)
{
	with_prio(LKDF_URGENT);
}

/* ---- the table ----------------------------------------------------------- */

static const struct form {
	const char *name;
	void (*begin)(void);
	lkdf_fn fn; /* NULL: body */
	uint32_t flags, arg_size, tokens; /* of the kind */
	bool passes; /* its bodies do not wait */
	int nr; /* bodies; 0: MANY */
} forms[] = {
	{ .name = "submitted", .begin = plain },
	{ .name = "ALWAYS", .begin = plain, .flags = LKDF_ALWAYS },
	{ .name = "HIGH", .begin = high },
	{ .name = "IDLE", .begin = low },
	{ .name = "of several priorities", .begin = all_prios },
	{ .name = "with a limit", .begin = plain, .tokens = 3 },
	{ .name = "that go on by lkdf_then()", .begin = plain, .fn = leaves },
	{ .name = "that wait at a channel",
	  .begin = by_channel,
	  .fn = receives },
	{ .name = "spawned", .begin = spawned },
	{ .name = "joined", .begin = joined },
	{ .name = "of a tree of joins",
	  .begin = tree,
	  .fn = parent,
	  .arg_size = sizeof(int),
	  .nr = 121,
	  .passes = true },
	{ .name = "of a loop", .begin = by_for },
	{ .name = "of a loop of single iterations", .begin = by_for_one },
	{ .name = "of a static loop", .begin = by_for_static },
	{ .name = "of a loop in a body", .begin = for_in },
	{ .name = "of a loop in a body, and joined",
	  .begin = for_and_join,
	  .nr = 2 * MANY,
	  .passes = true },
	{ .name = "with a place", .begin = placed },
	{ .name = "that are pinned", .begin = pinned },
	{ .name = "with a part of a node as place", .begin = on_parts },
	{ .name = "with data", .begin = with_data },
	{ .name = "of a sealed graph", .begin = sealed },
	{ .name = "of a graph with data", .begin = planned },
	{ .name = "of a stream", .begin = streamed, .flags = LKDF_SHARED },
	{ .name = "with a deadline", .begin = late, .passes = true },
	{ .name = "URGENT", .begin = urgent, .passes = true },
	{ .name = "that block",
	  .begin = plain,
	  .flags = LKDF_BLOCKING,
	  .passes = true },
};

static void create_kind(const struct form *f, struct lkdf_limit **l)
{
	struct lkdf_limit_use use = { NULL, 1 };
	struct lkdf_kind_attr a = { .size = sizeof(a),
				    .name = "meet",
				    .fn = f->fn ? f->fn : body,
				    .flags = f->flags,
				    .arg_size = f->arg_size };

	*l = NULL;
	if (f->tokens) {
		must(lkdf_limit_create(play.rt, f->tokens, l));
		use.limit = *l;
		a.limit = &use;
		a.nr_limit = 1;
	}
	must(lkdf_kind_create(play.rt, &a, &play.k));
}

static void try_form(const struct form *f, const char *machine, int cap)
{
	struct lkdf_limit *limit;
	char options[120];
	int more;

	snprintf(options, sizeof(options),
		 "workers=4,pin=no,narrow=force,narrow_cap=%d%s", cap, machine);
	memset(&play, 0, sizeof(play));
	play.rt = api_open(options);
	must(lkdf_scope_create(play.rt, NULL, &play.s));
	create_kind(f, &limit);
	f->begin();
	is(lkdf_scope_wait(play.rt, play.s, PATIENCE_NS), 0, "bodies %s end",
	   f->name);
	is(play.nr, f->nr ? f->nr : MANY, "all have run");
	more = (int)stat_of(play.rt, "lkdf.narrow.revoked");
	if (!f->passes) {
		ok(play.most <= cap + more,
		   "%d at once, and %d whose token was taken back: %d", cap,
		   more, play.most);
		is(stat_of(play.rt, "lkdf.narrow.passed"), 0, "none passed by");
	}
	lkdf_scope_put(play.s);
	lkdf_kind_put(play.k);
	lkdf_limit_put(limit);
	is(lkdf_close(play.rt), 0, "the runtime closes");
}

int main(void)
{
	static const char *const machines[] = { ",topology=numa:1 core:4",
						",topology=numa:2 core:2" };
	size_t i, m;
	int cap;

	tap_start(180);
	for (m = 0; m < sizeof(machines) / sizeof(*machines); m++)
		for (cap = 1; cap <= 2; cap++) {
			printf("# cap %d%s\n", cap, machines[m]);
			for (i = 0; i < sizeof(forms) / sizeof(*forms); i++)
				try_form(&forms[i], machines[m], cap);
		}
	return tap_end();
}
