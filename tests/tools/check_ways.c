/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Races of events, groups, scopes, loops, channels and sorts of access, each
 * with the program that is right. See check_races.h and test_check_planted.sh.
 */
#include "tests/tools/check_races.h"

/* ---- events ------------------------------------------------------------- */

static struct lkdf_task read_after(const struct lkdf_event *e)
{
	return (struct lkdf_task){ .kind = kind("read", reads, 0),
				   .after = e,
				   .nr_after = 1 };
}

/* After the first of two, or after both. */
static void any(void)
{
	struct lkdf_event done[2], e;
	struct lkdf_task t;

	submit(&(struct lkdf_task){ .kind = kind("rest", rests, 0) }, &done[0]);
	wait_all();
	submit(&(struct lkdf_task){ .kind = kind("write", writes, 0) },
	       &done[1]);
	if (is_right)
		must(lkdf_event_all(rt, done, 2, &e));
	else
		must(lkdf_event_any(rt, done, 2, &e));
	t = read_after(&e);
	submit(&t, NULL);
	wait_all();
	lkdf_event_put(e);
	lkdf_event_put(done[0]);
	lkdf_event_put(done[1]);
}

static void on_event(void *u, int err)
{
	(void)u;
	sink = shared + err;
}

/* A function that is called with the end of another task. */
static void event_call(void)
{
	struct lkdf_event done[2];

	submit(&(struct lkdf_task){ .kind = kind("write", writes, 0) },
	       &done[0]);
	submit(&(struct lkdf_task){ .kind = kind("rest", rests, 0) }, &done[1]);
	must(lkdf_event_call(done[!is_right], on_event, NULL));
	wait_all();
	lkdf_event_put(done[0]);
	lkdf_event_put(done[1]);
}

static struct lkdf_event later;

static int ends_hold(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	if (is_right)
		shared = 2;
	must(lkdf_event_signal(later, 0));
	if (!is_right)
		shared = 2;
	return 0;
}

/* A task that another one ends before it has written. */
static int holds(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	must(lkdf_hold(c, &later));
	submit(&(struct lkdf_task){ .kind = kind("end", ends_hold, 0) }, NULL);
	return 0;
}

static void hold(void)
{
	struct lkdf_event done;
	struct lkdf_task t;

	submit(&(struct lkdf_task){ .kind = kind("hold", holds, 0) }, &done);
	t = read_after(&done);
	submit(&t, NULL);
	wait_all();
	lkdf_event_put(done);
}

/* Urgent tasks are no sooner done than others are begun. */
static void prio(void)
{
	struct lkdf_event done;

	submit(&(struct lkdf_task){ .kind = kind("write", writes, 0),
				    .prio = LKDF_URGENT },
	       &done);
	submit(&(struct lkdf_task){ .kind = kind("read", reads, 0),
				    .prio = LKDF_IDLE,
				    .after = &done,
				    .nr_after = is_right },
	       NULL);
	wait_all();
	lkdf_event_put(done);
}

/* Tasks of one call have the order of their events, and no other. */
static void many(void)
{
	struct lkdf_event first;
	struct lkdf_task w = { .size = sizeof(w) }, r = { .size = sizeof(r) };
	const struct lkdf_task *both[2] = { &w, &r };

	w.kind = kind("write", writes, 0);
	r.kind = kind("read", reads, 0);
	must(lkdf_submit_many(rt, NULL, both, is_right ? 1 : 2, &first));
	r.after = &first;
	r.nr_after = 1;
	if (is_right)
		must(lkdf_submit_many(rt, NULL, both + 1, 1, NULL));
	wait_all();
	lkdf_event_put(first);
}

/* ---- children ----------------------------------------------------------- */

static struct lkdf_kind *child;

static int waits_for_group(struct lkdf_ctx *c, void *arg)
{
	struct lkdf_group *g;

	(void)arg;
	must(lkdf_group_create(c, &g, NULL));
	must(lkdf_group_spawn(g, child, NULL));
	if (is_right)
		must(lkdf_group_wait(g));
	sink = shared;
	lkdf_group_put(g);
	return 0;
}

static int waits_for_other(struct lkdf_ctx *c, void *arg)
{
	struct lkdf_group *g[2];

	(void)arg;
	must(lkdf_group_create(c, &g[0], NULL));
	must(lkdf_group_create(c, &g[1], NULL));
	must(lkdf_group_spawn(g[0], child, NULL));
	must(lkdf_group_wait(g[!is_right]));
	sink = shared;
	lkdf_group_put(g[1]);
	lkdf_group_put(g[0]);
	return 0;
}

static void parent(lkdf_fn fn)
{
	child = kind("child", writes, 0);
	submit(&(struct lkdf_task){ .kind = kind("parent", fn, 0) }, NULL);
	wait_all();
}

static void group(void)
{
	parent(waits_for_group);
}

static void other_group(void)
{
	parent(waits_for_other);
}

/* Brothers, of which one has an event. */
static int spawns_two(struct lkdf_ctx *c, void *arg)
{
	struct lkdf_task t = { .size = sizeof(t), .kind = child };
	struct lkdf_event done;

	(void)arg;
	must(lkdf_spawn_task(c, &t, &done));
	t.kind = kind("brother", reads, 0);
	t.after = &done;
	t.nr_after = is_right;
	must(lkdf_spawn_task(c, &t, NULL));
	lkdf_event_put(done);
	return lkdf_join(c);
}

static void brothers(void)
{
	parent(spawns_two);
}

static int reads_later(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	sink = shared;
	return 0;
}

/* It goes on behind two of its children, and reads what the third writes. */
static int leaves_all(struct lkdf_ctx *c, void *arg)
{
	struct lkdf_task t = { .size = sizeof(t) };
	struct lkdf_event done[3];
	int i;

	(void)arg;
	for (i = 0; i < 3; i++) {
		t.kind = i == 2 ? child : kind("rest", rests, 0);
		must(lkdf_spawn_task(c, &t, &done[i]));
	}
	if (!is_right)
		lkdf_event_put(done[2]);
	return lkdf_then_all(c, reads_later, done, is_right ? 3 : 2);
}

static void then_all(void)
{
	parent(leaves_all);
}

/* ---- scopes ------------------------------------------------------------- */

static void scope(void)
{
	struct lkdf_scope *s[2];
	struct lkdf_task t = { .size = sizeof(t) };

	must(lkdf_scope_create(rt, NULL, &s[0]));
	must(lkdf_scope_create(rt, NULL, &s[1]));
	t.kind = kind("write", writes, 0);
	must(lkdf_submit(rt, s[0], &t, NULL));
	must(lkdf_scope_wait(rt, s[!is_right], -1));
	sink = shared;
	wait_all();
	lkdf_scope_put(s[0]);
	lkdf_scope_put(s[1]);
}

/* ---- loops -------------------------------------------------------------- */

#define NR 64

static int cells[2 * NR];

static int smooths(uint64_t begin, uint64_t end, void *u)
{
	int *to = u;

	for (; begin < end; begin++)
		to[begin] = cells[begin] + cells[begin + 1];
	return 0;
}

/* A row that is smoothed in place. */
static void stencil(void)
{
	static int out[NR];

	must(lkdf_for(rt, (struct lkdf_range){ .end = NR, .grain = 1 }, smooths,
		      is_right ? out : cells));
}

static int sums(uint64_t begin, uint64_t end, void *acc, void *u)
{
	(void)u;
	if (!is_right)
		shared++;
	*(int *)acc += (int)(end - begin);
	return 0;
}

static int joins(void *acc, const void *x, void *u)
{
	(void)u;
	*(int *)acc += *(const int *)x;
	return 0;
}

static void loop_reduce(void)
{
	int sum = 0;

	must(lkdf_reduce(rt, ATTR(lkdf_reduce_attr, .fn = sums, .join = joins,
				  .range = { .end = NR, .grain = 1 },
				  .acc = &sum, .acc_bytes = sizeof(sum))));
}

static int adds_one(void *u)
{
	++*(int *)u;
	return 0;
}

static void invoke(void)
{
	int sum[2] = { 0 };
	struct lkdf_call call[2] = { { adds_one, &sum[0] },
				     { adds_one, &sum[is_right] } };

	must(lkdf_invoke(rt, call, 2));
}

static int touches_cells(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	cells[NR / 2] = 1;
	return 0;
}

/* A loop of the main thread beside a task. */
static void loop_beside(void)
{
	static int out[NR];

	submit(&(struct lkdf_task){ .kind = kind("touch", touches_cells, 0) },
	       NULL);
	if (is_right)
		wait_all();
	must(lkdf_for(rt, (struct lkdf_range){ .end = NR - 1 }, smooths, out));
	wait_all();
}

/* ---- channels ----------------------------------------------------------- */

static struct lkdf_channel *channel;
static int rooms[8];

static int sends(struct lkdf_ctx *c, void *arg)
{
	int *p, *i = arg, rc;

	for (; *i < 8; ++*i) {
		/* A place for all: room in the channel is no promise. */
		p = &rooms[is_right ? *i : 0];
		*p = *i;
		rc = lkdf_send(c, channel, &p);
		if (rc)
			return rc == -EAGAIN ? LKDF_AGAIN : rc;
	}
	return lkdf_channel_end(channel, 0);
}

static int receives(struct lkdf_ctx *c, void *arg)
{
	int *p, rc;

	(void)arg;
	while (!(rc = lkdf_recv(c, channel, &p)))
		sink += *p;
	return rc == -EAGAIN ? LKDF_AGAIN : 0;
}

static void room(void)
{
	int next = 0;

	must(lkdf_channel_create(rt,
				 ATTR(lkdf_channel_attr,
				      .value_size = sizeof(int *), .depth = 1),
				 &channel));
	submit(&(struct lkdf_task){ .kind = kind("send", sends, 0),
				    .arg = &next },
	       NULL);
	submit(&(struct lkdf_task){ .kind = kind("receive", receives, 0) },
	       NULL);
	wait_all();
	lkdf_channel_put(channel);
}

/* ---- accesses ----------------------------------------------------------- */

static struct fields {
	unsigned low : 4, high : 4;
	char near[2];
	char text[32], copy[32];
} fields = { .text = "some words" }, other = { .text = "other words" };

static int one_way, other_way;

static int accesses(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	switch (*(int *)arg) {
	case 0:
		fields.low = 3;
		break;
	case 1:
		fields.high = 4;
		break;
	case 2:
		fields.near[0] = 1;
		break;
	case 3:
		fields.near[1] = 2;
		break;
	case 4:
		memcpy(fields.copy, other.copy, sizeof(fields.copy));
		break;
	case 5:
		fields = other;
		break;
	case 6:
		sink = (int)strlen(fields.text);
		break;
	default:
		fields.text[3] = 'x';
	}
	return 0;
}

static void two_accesses(int one, int two)
{
	struct lkdf_kind *k = kind("access", accesses, 0);

	one_way = one;
	other_way = two;
	submit(&(struct lkdf_task){ .kind = k, .arg = &one_way }, NULL);
	submit(&(struct lkdf_task){ .kind = k, .arg = &other_way }, NULL);
	wait_all();
}

/* Two fields of bits are one word; two bytes of a line are not. */
static void bits(void)
{
	two_accesses(is_right ? 2 : 0, is_right ? 3 : 1);
}

static void copy_of_struct(void)
{
	two_accesses(is_right ? 3 : 5, 2);
}

static void copy_of_bytes(void)
{
	two_accesses(is_right ? 2 : 5, 4);
}

static void text(void)
{
	two_accesses(is_right ? 0 : 7, 6);
}

static bool adds(void *u)
{
	return ++shared < 0 && u;
}

/* Repetitions without a task: who waits comes after what asks in between. */
static void until(void)
{
	struct lkdf_run r = { .size = sizeof(r), .until = adds };
	struct lkdf_graph *g = graph(1);

	r.times = 3;
	must(lkdf_graph_seal(g, NULL));
	must(lkdf_graph_run(g, NULL, &r, &later));
	if (!is_right)
		shared++;
	must(lkdf_event_wait(later, -1));
	shared++;
	lkdf_graph_put(g);
}

static const struct row rows[] = {
	{ "until", until },
	{ "any", any },
	{ "event_call", event_call },
	{ "hold", hold },
	{ "prio", prio },
	{ "many", many },
	{ "group", group },
	{ "other_group", other_group },
	{ "brothers", brothers },
	{ "then_all", then_all },
	{ "scope", scope },
	{ "stencil", stencil },
	{ "loop_reduce", loop_reduce },
	{ "invoke", invoke },
	{ "loop_beside", loop_beside },
	{ "room", room },
	{ "bits", bits },
	{ "copy_of_struct", copy_of_struct },
	{ "copy_of_bytes", copy_of_bytes },
	{ "text", text },
};

int main(int argc, char **argv)
{
	return check_main(rows, sizeof(rows) / sizeof(rows[0]), argc, argv);
}
