/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Programs without a race whose output depends on the order, each with one
 * whose output does not. See check_races.h and test_check_planted.sh.
 */
#include "tests/tools/check_races.h"

#include <stdatomic.h>

#define NR 4

/* Bodies take places by a counter, which no race disturbs. */
static atomic_int nr_said;
static int said[64];
static int number[NR] = { 0, 1, 2, 3 };

static void say(int what)
{
	said[atomic_fetch_add(&nr_said, 1) % 64] = what;
}

static int says(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	say(*(int *)arg);
	return 0;
}

static int smaller(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* What was said; where the program is right, in an order of its own. */
static void print_said(void)
{
	int i, nr = atomic_load(&nr_said);

	if (is_right)
		qsort(said, (size_t)nr, sizeof(said[0]), smaller);
	for (i = 0; i < nr; i++)
		printf(" %d", said[i]);
	putchar('\n');
}

static void submit_all(struct lkdf_task t)
{
	int i;

	for (i = 0; i < NR; i++) {
		t.arg = &number[i];
		submit(&t, NULL);
	}
	wait_all();
}

static void tasks(void)
{
	submit_all((struct lkdf_task){ .kind = kind("say", says, 0) });
	print_said();
}

static void graph_tasks(void)
{
	struct lkdf_graph *g = graph(1);
	struct lkdf_kind *k = kind("say", says, 0);
	int i;

	for (i = 0; i < NR; i++)
		must(lkdf_graph_add(g, k, &number[i], NULL, 0));
	run(g, 1);
	print_said();
}

/* ---- data --------------------------------------------------------------- */

static int doubles(struct lkdf_ctx *c, void *arg)
{
	int *sum = lkdf_ptr(c, 0), n = *(int *)arg;

	*sum = is_right ? *sum + n : *sum * 2 + n;
	return 0;
}

/* The first decimal place is that of the first body. */
static int combine(void *acc, const void *x, uint64_t bytes)
{
	int *a = acc, b = *(const int *)x;

	(void)bytes;
	*a = is_right ? *a + b : *a * 10 + b;
	return 0;
}

static void neutral(void *acc, uint64_t bytes)
{
	memset(acc, 0, bytes);
}

static void use_in_mode(uint32_t mode)
{
	struct lkdf_use use = { .mode = mode };
	static const int zero;
	void *bytes;

	must(lkdf_data_create(rt,
			      ATTR(lkdf_data_attr, .name = "sum",
				   .bytes = sizeof(int), .init = &zero,
				   .reduce = combine, .neutral = neutral),
			      &use.data));
	submit_all((struct lkdf_task){
		.kind = kind("double", doubles, 0), .use = &use, .nr_use = 1 });
	must(lkdf_data_acquire(use.data, LKDF_READ, -1, &bytes));
	printf("%d\n", *(int *)bytes);
	must(lkdf_data_release(use.data));
	lkdf_data_put(use.data);
}

static void commute(void)
{
	use_in_mode(LKDF_COMMUTE);
}

static void reduce(void)
{
	use_in_mode(LKDF_REDUCE);
}

/* A limit lets one in at a time, and does not say which one. */
static void limit(void)
{
	struct lkdf_limit_use use = { .tokens = 1 };
	struct lkdf_kind *k;

	must(lkdf_limit_create(rt, 1, &use.limit));
	must(lkdf_kind_create(rt,
			      ATTR(lkdf_kind_attr, .name = "say", .fn = says,
				   .limit = &use, .nr_limit = 1),
			      &k));
	submit_all((struct lkdf_task){ .kind = k });
	print_said();
	lkdf_kind_put(k);
	lkdf_limit_put(use.limit);
}

/* ---- loops, children, groups -------------------------------------------- */

static int says_block(uint64_t begin, uint64_t end, void *u)
{
	(void)u;
	for (; begin < end; begin++)
		say((int)begin);
	return 0;
}

static void loop(void)
{
	must(lkdf_for(rt, (struct lkdf_range){ .end = 8, .grain = 1 },
		      says_block, NULL));
	print_said();
}

static struct lkdf_kind *child;

static int spawns(struct lkdf_ctx *c, void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < NR; i++)
		must(lkdf_spawn(c, child, &number[i]));
	return lkdf_join(c);
}

static int groups(struct lkdf_ctx *c, void *arg)
{
	struct lkdf_group *g;
	int i;

	(void)arg;
	must(lkdf_group_create(c, &g, NULL));
	for (i = 0; i < NR; i++)
		must(lkdf_group_spawn(g, child, &number[i]));
	lkdf_group_put(g);
	return 0;
}

static void parent(lkdf_fn fn)
{
	child = kind("child", says, 0);
	submit(&(struct lkdf_task){ .kind = kind("parent", fn, 0) }, NULL);
	wait_all();
	print_said();
}

static void children(void)
{
	parent(spawns);
}

static void group(void)
{
	parent(groups);
}

/* ---- streams ------------------------------------------------------------ */

static int four_waves(struct lkdf_ctx *c, void *arg)
{
	return lkdf_seq(c) < NR ? says(c, arg) * 0 : LKDF_END;
}

static int says_wave(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	say((int)lkdf_seq(c));
	return 0;
}

/* A stage that may take waves in any order. */
static void waves(void)
{
	struct lkdf_graph *g = graph(4);
	struct lkdf_event done;

	must(lkdf_graph_add(g, kind("source", four_waves, 0), &number[0], NULL,
			    0));
	must(lkdf_graph_add(g, kind("stage", says_wave, LKDF_SHARED), NULL,
			    NULL, 0));
	must(lkdf_graph_order(g, 0, 1));
	must(lkdf_graph_seal(g, NULL));
	must(lkdf_graph_run(g, NULL, ATTR(lkdf_run, .flags = LKDF_RUN_STREAM),
			    &done));
	must(lkdf_event_wait(done, -1));
	print_said();
	lkdf_graph_put(g);
}

/* ---- channels and events ------------------------------------------------ */

static struct lkdf_channel *channel;

static int sends(struct lkdf_ctx *c, void *arg)
{
	int rc = lkdf_send(c, channel, arg);

	return rc == -EAGAIN ? LKDF_AGAIN : rc;
}

/* The values of several senders, in the order of their coming. */
static void senders(void)
{
	struct lkdf_kind *k = kind("send", sends, 0);
	int i, value;

	must(lkdf_channel_create(rt,
				 ATTR(lkdf_channel_attr,
				      .value_size = sizeof(int), .depth = NR),
				 &channel));
	submit_all((struct lkdf_task){ .kind = k });
	for (i = 0; i < NR; i++) {
		must(lkdf_channel_recv(channel, &value, -1));
		say(value);
	}
	print_said();
	lkdf_channel_put(channel);
}

static int takes(struct lkdf_ctx *c, void *arg)
{
	int value, rc = lkdf_recv(c, channel, &value);

	if (!rc)
		say(is_right ? value : value * 10 + *(int *)arg);
	return rc == -EAGAIN ? LKDF_AGAIN : rc;
}

/* Each of several receivers gets one value, nobody knows which. */
static void receivers(void)
{
	int i;

	must(lkdf_channel_create(rt,
				 ATTR(lkdf_channel_attr,
				      .value_size = sizeof(int), .depth = NR),
				 &channel));
	for (i = 0; i < NR; i++)
		must(lkdf_channel_send(channel, &number[i], -1));
	submit_all((struct lkdf_task){ .kind = kind("take", takes, 0) });
	qsort(said, NR, sizeof(said[0]), smaller);
	print_said();
	lkdf_channel_put(channel);
}

/* The first of two that are both under way. */
static void first_of_two(void)
{
	struct lkdf_event done[2], e;
	unsigned which, i;

	for (i = 0; i < 2; i++)
		submit(&(struct lkdf_task){ .kind = kind("say", says, 0),
					    .arg = &number[i] },
		       &done[i]);
	must(lkdf_event_any(rt, done, 2, &e));
	must(lkdf_event_which(e, -1, &which));
	printf("%u\n", is_right ? 0 : which);
	wait_all();
	lkdf_event_put(e);
	lkdf_event_put(done[0]);
	lkdf_event_put(done[1]);
}

/* ---- queues made by hand ------------------------------------------------ */

static struct lkdf_event filled;
static atomic_bool is_filled;

static int fills(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	atomic_store(&is_filled, true);
	return lkdf_event_signal(filled, 0);
}

static int drained(struct lkdf_ctx *c, void *arg)
{
	return says(c, arg);
}

static int waits_for_fill(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	/* Where it is right it looks once more. */
	if (is_right && atomic_load(&is_filled))
		return drained(c, arg);
	return lkdf_then(c, drained, filled);
}

static int looks(struct lkdf_ctx *c, void *arg)
{
	if (atomic_load(&is_filled))
		return drained(c, arg);
	return lkdf_then(c, waits_for_fill, (struct lkdf_event){ 0 });
}

/* A wake between the look and the wait is lost. */
static void lost_wake(void)
{
	must(lkdf_event_create(rt, 1, LKDF_EVENT_PULSE, &filled));
	submit(&(struct lkdf_task){ .kind = kind("look", looks, 0),
				    .arg = &number[1] },
	       NULL);
	submit(&(struct lkdf_task){ .kind = kind("fill", fills, 0) }, NULL);
	wait_all();
	print_said();
	lkdf_event_put(filled);
}

/* Looks and takes are two steps: another one comes between them. */
static atomic_int nr_left = 1;

static int takes_last(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	if (atomic_fetch_sub(&nr_left, 1) <= 0)
		say(-1);
	else
		say(is_right ? 7 : *(int *)arg);
	return 0;
}

static int looks_for_last(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	if (is_right)
		return takes_last(c, arg);
	if (!atomic_load(&nr_left))
		return 0;
	return lkdf_then(c, takes_last, (struct lkdf_event){ 0 });
}

static void check_then_act(void)
{
	submit_all(
		(struct lkdf_task){ .kind = kind("take", looks_for_last, 0) });
	print_said();
}

/* How many began before the cancel. */
static struct lkdf_scope *scope;

static int cancels(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	if (*(int *)arg == 2 && !is_right)
		return lkdf_scope_cancel(rt, scope, -EINTR);
	say(0);
	return 0;
}

static void cancel(void)
{
	struct lkdf_task t = { .size = sizeof(t) };
	int i;

	t.kind = kind("some", cancels, 0);
	must(lkdf_scope_create(rt, NULL, &scope));
	for (i = 0; i < NR; i++) {
		t.arg = &number[i];
		must(lkdf_submit(rt, scope, &t, NULL));
	}
	lkdf_scope_wait(rt, scope, -1);
	printf("%d\n", atomic_load(&nr_said));
	lkdf_scope_put(scope);
}

static const struct row rows[] = {
	{ "tasks", tasks },	    { "graph_tasks", graph_tasks },
	{ "commute", commute },	    { "reduce", reduce },
	{ "limit", limit },	    { "loop", loop },
	{ "children", children },   { "group", group },
	{ "waves", waves },	    { "senders", senders },
	{ "receivers", receivers }, { "first_of_two", first_of_two },
	{ "lost_wake", lost_wake }, { "check_then_act", check_then_act },
	{ "cancel", cancel },
};

int main(int argc, char **argv)
{
	return check_main(rows, sizeof(rows) / sizeof(rows[0]), argc, argv);
}
