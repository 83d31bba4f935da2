/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Streams with several waves under way, one stage of which waits at a channel:
 * it keeps its turn, whichever stage it is; a channel that keeps the latest
 * value only; a channel that ends with an error, or too early; a cancel and a
 * deadline while a stage waits.
 */
#include "tests/api/channel_stream.h"
#include "tests/api/using.h"

#define NR_WAVES 1500

static const char *const all_options[] = { "workers=1", "workers=2",
					   "workers=4", "serial=1" };

struct line {
	struct lkdf_channel *ch;
	uint64_t nr, seen, wrong;
	_Atomic(uint64_t) sum;
	atomic_int nr_again;
};

static int count_up(struct lkdf_ctx *c, void *arg)
{
	struct line *l = arg;

	if (l->nr == NR_WAVES)
		return LKDF_END;
	*(uint64_t *)lkdf_out(c, 0) = l->nr++;
	return 0;
}

static int receive(struct lkdf_ctx *c, struct line *l, uint64_t *v)
{
	int rc = lkdf_recv(c, l->ch, v);

	if (rc != -EAGAIN)
		return rc;
	atomic_fetch_add(&l->nr_again, 1);
	return LKDF_AGAIN;
}

static int receive_wave(struct lkdf_ctx *c, void *arg)
{
	int rc = receive(c, arg, lkdf_out(c, 0));

	return rc == -ENODATA ? LKDF_END : rc;
}

/* Next to its input it takes a value of the channel. */
static int receive_beside(struct lkdf_ctx *c, void *arg)
{
	uint64_t v = 0;
	int rc = receive(c, arg, &v);

	if (!rc)
		*(uint64_t *)lkdf_out(c, 0) =
			*(const uint64_t *)lkdf_in(c, 0) * NR_WAVES + v;
	return rc;
}

static int check_pair(struct lkdf_ctx *c, void *arg)
{
	struct line *l = arg;

	l->wrong += *(const uint64_t *)lkdf_in(c, 0) !=
		    l->seen * NR_WAVES + l->seen;
	l->seen++;
	return 0;
}

static int add_up(struct lkdf_ctx *c, void *arg)
{
	struct line *l = arg;

	l->sum += *(const uint64_t *)lkdf_in(c, 0) % NR_WAVES;
	l->seen++;
	return 0;
}

static int send_wave(struct lkdf_ctx *c, void *arg)
{
	struct line *l = arg;
	int rc = lkdf_send(c, l->ch, lkdf_in(c, 0));

	if (rc != -EAGAIN)
		return rc;
	atomic_fetch_add(&l->nr_again, 1);
	return LKDF_AGAIN;
}

static int pass(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	*(uint64_t *)lkdf_out(c, 0) = *(const uint64_t *)lkdf_in(c, 0);
	return 0;
}

/* Source, middle stage, a stage that overlaps, sink; the middle or NULL. */
static struct lkdf_graph *line_of(struct lkdf *rt, struct line *l,
				  lkdf_fn source, lkdf_fn middle,
				  uint32_t flags, lkdf_fn sink)
{
	struct lkdf_graph *g = api_graph(rt, 8);
	int a = STAGE(rt, g, l, .name = "source", .fn = source, .nr_out = 1);
	int b = STAGE(rt, g, l, .name = "middle", .fn = middle, .nr_in = 1,
		      .nr_out = 1, .flags = flags);
	int c = STAGE(rt, g, l, .name = "pass", .fn = pass, .nr_in = 1,
		      .nr_out = 1, .flags = LKDF_SHARED);
	int d = STAGE(rt, g, l, .name = "sink", .fn = sink, .nr_in = 1);

	must(lkdf_graph_port(g, a, 0, b, 0));
	must(lkdf_graph_port(g, b, 0, c, 0));
	must(lkdf_graph_port(g, c, 0, d, 0));
	must(lkdf_graph_seal(g, NULL));
	return g;
}

static void *send_numbers(void *arg)
{
	struct line *l = arg;
	uint64_t v;

	for (v = 0; v < NR_WAVES; v++)
		must(lkdf_channel_send(l->ch, &v, -1));
	return NULL;
}

/* So many calls have found nothing. In serial mode the wait runs the bodies. */
static void wait_until(struct lkdf *rt, atomic_int *nr_again, int nr)
{
	while (*nr_again < nr)
		if (lkdf_scope_wait(rt, NULL, 100000) != 1)
			must(-EBADMSG);
}

/* ---- a stage between the ends ------------------------------------------- */

static void a_middle_stage_keeps_its_turn(struct lkdf *rt)
{
	struct line l = { .ch = channel_of(rt, 8, 2, 0) };
	struct lkdf_graph *g =
		line_of(rt, &l, count_up, receive_beside, 0, check_pair);
	struct lkdf_event done;
	pthread_t t;

	stream_start(g, NULL, &done);
	wait_until(rt, &l.nr_again, 1);
	is(lkdf_event_wait(done, 1000000), 1, "the stream waits");
	is(l.nr_again, 1, "in one wave");
	must(pthread_create(&t, NULL, send_numbers, &l));
	is(lkdf_event_wait(done, -1), 0, "it goes on and ends");
	pthread_join(t, NULL);
	is(l.seen, NR_WAVES, "all waves have come");
	is(l.wrong, 0, "each with the value of its turn");
	lkdf_graph_put(g);
	lkdf_channel_put(l.ch);
}

static void stages_wait_beside_each_other(struct lkdf *rt)
{
	struct line l = { .ch = channel_of(rt, 8, 2, 0) };
	struct lkdf_graph *g =
		line_of(rt, &l, count_up, receive_beside, LKDF_SHARED, add_up);
	struct lkdf_event done;
	pthread_t t;

	stream_start(g, NULL, &done);
	wait_until(rt, &l.nr_again, 8);
	is(lkdf_event_wait(done, 1000000), 1, "all its waves do");
	is(l.nr_again, 8, "which are as many as may be in flight");
	must(pthread_create(&t, NULL, send_numbers, &l));
	is(lkdf_event_wait(done, -1), 0, "it goes on and ends");
	pthread_join(t, NULL);
	is(l.seen, NR_WAVES, "all waves have come");
	is(l.sum, (uint64_t)NR_WAVES * (NR_WAVES - 1) / 2,
	   "each value was received once");
	lkdf_graph_put(g);
	lkdf_channel_put(l.ch);
}

/* ---- the latest --------------------------------------------------------- */

static int check_newer(struct lkdf_ctx *c, void *arg)
{
	struct line *l = arg;
	uint64_t v = *(const uint64_t *)lkdf_in(c, 0);

	l->wrong += l->seen && v <= l->sum;
	l->sum = v;
	l->seen++;
	return 0;
}

static void a_slow_stream_has_the_latest(struct lkdf *rt)
{
	struct line l = { .ch = channel_of(rt, 8, 1, LKDF_CHANNEL_LATEST) };
	struct lkdf_graph *g =
		line_of(rt, &l, receive_wave, pass, 0, check_newer);
	struct lkdf_event done;

	stream_start(g, NULL, &done);
	is(lkdf_event_wait(done, 1000000), 1, "the stream waits");
	send_numbers(&l);
	must(lkdf_channel_end(l.ch, 0));
	is(lkdf_event_wait(done, -1), 0, "it ends with the channel");
	is(l.wrong, 0, "no value is older than the one before");
	is(l.sum, NR_WAVES - 1, "the last one has come");
	ok(l.seen <= NR_WAVES, "of %llu waves", (unsigned long long)l.seen);
	lkdf_graph_put(g);
	lkdf_channel_put(l.ch);
}

/* ---- errors ------------------------------------------------------------- */

static void its_error_is_the_streams(struct lkdf *rt)
{
	struct line l = { .ch = channel_of(rt, 8, 4, 0) };
	struct lkdf_graph *g = line_of(rt, &l, receive_wave, pass, 0, add_up);
	struct lkdf_event done;
	uint64_t v = 5;

	stream_start(g, NULL, &done);
	must(lkdf_channel_send(l.ch, &v, -1));
	must(lkdf_channel_end(l.ch, -EPROTO));
	is(lkdf_event_wait(done, -1), -EPROTO, "its error is the stream's");
	has(lkdf_errmsg(), "source", "the text names the stage");
	is(l.seen, 1, "the value before it has come");
	must(lkdf_graph_run(g, NULL, ATTR(lkdf_run, .flags = LKDF_RUN_STREAM),
			    &done));
	is(lkdf_event_wait(done, -1), -EPROTO, "the graph runs again");
	lkdf_scope_wait(rt, NULL, -1);
	lkdf_graph_put(g);
	lkdf_channel_put(l.ch);
}

static void a_send_after_the_end_fails(struct lkdf *rt)
{
	struct line l = { .ch = channel_of(rt, 8, 3, 0) };
	struct lkdf_graph *g = line_of(rt, &l, count_up, pass, 0, send_wave);
	struct lkdf_event done;

	stream_start(g, NULL, &done);
	wait_until(rt, &l.nr_again, 1);
	is(lkdf_event_wait(done, 1000000), 1, "the sink waits for room");
	is(lkdf_channel_count(l.ch), 3, "the channel is full");
	must(lkdf_channel_end(l.ch, 0));
	is(lkdf_event_wait(done, -1), -EPIPE, "a send after the end fails");
	has(lkdf_errmsg(), "sink", "the text names the stage");
	is(lkdf_channel_count(l.ch), 3, "what was sent is there");
	lkdf_scope_wait(rt, NULL, -1);
	lkdf_graph_put(g);
	lkdf_channel_put(l.ch);
}

static void a_deadline_ends_the_waiting(struct lkdf *rt)
{
	struct line l = { .ch = channel_of(rt, 8, 2, 0) };
	struct lkdf_graph *g =
		line_of(rt, &l, count_up, receive_beside, 0, add_up);
	struct lkdf_scope *s;

	must(lkdf_scope_create(
		rt, ATTR(lkdf_scope_attr, .deadline_ns = SECOND / 10), &s));
	stream_start(g, s, NULL);
	is(lkdf_scope_wait(rt, s, -1), -ETIME, "a deadline ends the stream");
	is(l.seen, 0, "no wave has come");
	lkdf_scope_put(s);
	lkdf_graph_put(g);
	lkdf_channel_put(l.ch);
}

/* ---- the blocking pool, and loops --------------------------------------- */

static int wait_in_pool(struct lkdf_ctx *c, void *arg)
{
	struct pipe *p = *(struct pipe **)arg;
	uint64_t v = 0;
	int rc;

	(void)c;
	atomic_fetch_add(&p->nr_begun, 1);
	rc = p->nr_begun % 2 ? lkdf_channel_recv(p->ch, &v, -1)
			     : lkdf_channel_send(p->ch, &v, -1);
	atomic_fetch_add(&p->nr_calls, rc < 0);
	return rc;
}

/* One waits for a value of an empty channel, one for room in a full one. */
static void a_deadline_lets_the_pool_go(struct lkdf *rt)
{
	struct pipe in = { .ch = channel_of(rt, 8, 1, 0) };
	struct pipe out = { .ch = channel_of(rt, 8, 1, 0), .nr_begun = 1 };
	struct lkdf_kind *k =
		pipe_kind(rt, "pool", wait_in_pool, LKDF_BLOCKING);
	struct lkdf_scope *s;
	uint64_t v = 1;

	must(lkdf_channel_send(out.ch, &v, -1));
	must(lkdf_scope_create(
		rt, ATTR(lkdf_scope_attr, .deadline_ns = SECOND / 5), &s));
	pipe_submit(rt, s, k, &in);
	pipe_submit(rt, s, k, &out);
	is(lkdf_scope_wait(rt, s, -1), -ETIME, "a deadline ends both waits");
	is(in.nr_calls, in.nr_begun, "one for a value");
	is(out.nr_calls, out.nr_begun - 1, "one for room");
	is(lkdf_channel_count(out.ch), 1, "nothing was sent");
	lkdf_scope_put(s);
	lkdf_kind_put(k);
	lkdf_channel_put(in.ch);
	lkdf_channel_put(out.ch);
}

static int wait_in_loop(uint64_t begin, uint64_t end, void *user)
{
	struct pipe *p = user;
	uint64_t v;

	(void)begin;
	(void)end;
	if (lkdf_channel_recv(p->ch, &v, SECOND) == -EDEADLK)
		atomic_fetch_add(&p->nr_again, 1);
	atomic_fetch_add(&p->nr_calls, 1);
	return 0;
}

static void a_loop_must_not_wait(struct lkdf *rt)
{
	struct pipe p = { .ch = channel_of(rt, 8, 1, 0) };

	must(lkdf_for_with(rt, ATTR(lkdf_for_attr,
				    .range = { .end = 40, .grain = 10 },
				    .fn = wait_in_loop, .u = &p)));
	ok(p.nr_calls > 0, "the loop's function has tried");
	is(p.nr_again, p.nr_calls, "and was refused, on any thread");
	lkdf_channel_put(p.ch);
}

/* ---- what a waiting body keeps ------------------------------------------ */

static void always_waits_for_the_channel_alone(struct lkdf *rt)
{
	struct pipe p = { .ch = channel_of(rt, 8, 2, 0) };
	struct lkdf_kind *k =
		pipe_kind(rt, "always", pipe_receive_one, LKDF_ALWAYS);
	struct lkdf_scope *s;
	uint64_t v = 9;
	int rc;

	must(lkdf_scope_create(rt, NULL, &s));
	pipe_submit(rt, s, k, &p);
	wait_until(rt, &p.nr_again, 1);
	must(lkdf_scope_cancel(rt, s, -EINTR));
	is(lkdf_scope_wait(rt, s, 1000000), 1, "it does after a cancel, too");
	is(p.nr_calls, 1, "it is not called");
	must(lkdf_channel_send(p.ch, &v, -1));
	rc = lkdf_scope_wait(rt, s, -1);
	ok(rc <= 0, "it ends (%d)", rc);
	is(p.sum, 9, "with its value");
	lkdf_scope_put(s);
	lkdf_kind_put(k);
	lkdf_channel_put(p.ch);
}

static void a_limit_is_kept(struct lkdf *rt)
{
	struct pipe p = { .ch = channel_of(rt, 8, 2, 0) };
	struct lkdf_limit_use use = { NULL, 1 };
	struct lkdf_kind *k;
	uint64_t v = 1;

	must(lkdf_limit_create(rt, 1, &use.limit));
	must(lkdf_kind_create(rt,
			      ATTR(lkdf_kind_attr, .name = "limited",
				   .fn = pipe_receive_one,
				   .arg_size = sizeof(struct pipe *),
				   .limit = &use, .nr_limit = 1),
			      &k));
	pipe_submit(rt, NULL, k, &p);
	pipe_submit(rt, NULL, k, &p);
	wait_until(rt, &p.nr_again, 1);
	is(lkdf_scope_wait(rt, NULL, 1000000), 1, "with the limit's token");
	is(p.nr_calls, 1, "the other one does not start");
	is(lkdf_close(rt), -EBUSY, "the runtime does not close meanwhile");
	must(lkdf_channel_send(p.ch, &v, -1));
	must(lkdf_channel_send(p.ch, &v, -1));
	is(lkdf_scope_wait(rt, NULL, -1), 0, "both end");
	is(p.nr_values, 2, "with a value each");
	lkdf_kind_put(k);
	lkdf_limit_put(use.limit);
	lkdf_channel_put(p.ch);
}

struct family {
	struct pipe *p;
	struct lkdf_kind *child;
	atomic_int nr_children;
};

static int be_a_child(struct lkdf_ctx *c, void *arg)
{
	struct family *f = *(struct family **)arg;

	(void)c;
	f->nr_children++;
	return 0;
}

static int parent(struct lkdf_ctx *c, void *arg)
{
	struct family *f = *(struct family **)arg;
	uint64_t v;
	int rc;

	if (!f->p->nr_calls++)
		must(lkdf_spawn(c, f->child, &f));
	rc = lkdf_recv(c, f->p->ch, &v);
	if (rc == -EAGAIN) {
		f->p->nr_again++;
		return LKDF_AGAIN;
	}
	rc = rc ? rc : lkdf_join(c);
	return rc ? rc : f->nr_children == 1 ? 0 : -EBADMSG;
}

static void children_are_kept(struct lkdf *rt)
{
	struct pipe p = { .ch = channel_of(rt, 8, 2, 0) };
	struct family f = { .p = &p }, *at = &f;
	struct lkdf_kind *k = api_kind(rt, "parent", parent, sizeof(at), 0);
	uint64_t v = 1;

	f.child = api_kind(rt, "child", be_a_child, sizeof(at), 0);
	must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k, .arg = &at),
			 NULL));
	wait_until(rt, &p.nr_again, 1);
	must(lkdf_channel_send(p.ch, &v, -1));
	is(lkdf_scope_wait(rt, NULL, -1), 0, "called again it joins its child");
	lkdf_kind_put(k);
	lkdf_kind_put(f.child);
	lkdf_channel_put(p.ch);
}

int main(void)
{
	struct lkdf *rt;
	size_t i;

	tap_start(120);
	for (i = 0; i < LENGTH(all_options); i++) {
		printf("# %s\n", all_options[i]);
		rt = api_open(all_options[i]);
		a_middle_stage_keeps_its_turn(rt);
		stages_wait_beside_each_other(rt);
		a_slow_stream_has_the_latest(rt);
		its_error_is_the_streams(rt);
		a_send_after_the_end_fails(rt);
		a_deadline_ends_the_waiting(rt);
		/* In serial mode there is no pool. */
		if (!strstr(all_options[i], "serial"))
			a_deadline_lets_the_pool_go(rt);
		a_loop_must_not_wait(rt);
		always_waits_for_the_channel_alone(rt);
		a_limit_is_kept(rt);
		children_are_kept(rt);
		is(lkdf_close(rt), 0, "nothing is left");
	}
	return tap_end();
}
