/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * LKDF_AGAIN in graphs: runs that are repeated, streams that a channel links,
 * branches, data of all sorts; the run waits, and no worker does.
 */
#include "tests/api/channel_stream.h"
#include "tests/api/using.h"

static const char *const all_options[] = { "workers=1", "workers=2",
					   "workers=4", "serial=1" };

/* ---- repeated runs ------------------------------------------------------ */

#define NR_PER_RUN 3

struct end {
	struct lkdf_channel *ch;
	uint64_t nr; /* of this run */
	uint64_t sum, nr_runs, nr_again;
};

static int send_some(struct lkdf_ctx *c, void *arg)
{
	struct end *e = arg;
	uint64_t v;
	int rc;

	for (; e->nr < NR_PER_RUN; e->nr++) {
		v = lkdf_seq(c) * NR_PER_RUN + e->nr;
		rc = lkdf_send(c, e->ch, &v);
		e->nr_again += rc == -EAGAIN;
		if (rc)
			return rc == -EAGAIN ? LKDF_AGAIN : rc;
	}
	e->nr = 0;
	return 0;
}

static int receive_some(struct lkdf_ctx *c, void *arg)
{
	struct end *e = arg;
	uint64_t v;
	int rc;

	for (; e->nr < NR_PER_RUN; e->nr++) {
		rc = lkdf_recv(c, e->ch, &v);
		e->nr_again += rc == -EAGAIN;
		if (rc)
			return rc == -EAGAIN ? LKDF_AGAIN : rc;
		if (v != lkdf_seq(c) * NR_PER_RUN + e->nr)
			return lkdf_fail(c, -EBADMSG, "value %llu",
					 (unsigned long long)v);
	}
	e->nr = 0;
	return 0;
}

static int count_run(struct lkdf_ctx *c, void *arg)
{
	struct end *e = arg;

	(void)c;
	e->nr_runs++;
	return 0;
}

static int add_task(struct lkdf *rt, struct lkdf_graph *g, const char *name,
		    lkdf_fn fn, void *arg, uint32_t flags)
{
	struct lkdf_kind *k = api_kind(rt, name, fn, 0, flags);
	int task = must(lkdf_graph_add(g, k, arg, NULL, 0));

	lkdf_kind_put(k);
	return task;
}

static void runs_are_repeated(struct lkdf *rt, uint32_t depth, uint32_t flags)
{
	struct lkdf_graph *g = api_graph(rt, 2);
	struct end from = { .ch = channel_of(rt, 8, depth, 0) };
	struct end to = { .ch = from.ch };
	int a, b, last;

	a = add_task(rt, g, "send", send_some, &from, flags);
	b = add_task(rt, g, "receive", receive_some, &to, flags);
	last = add_task(rt, g, "count", count_run, &to, 0);
	must(lkdf_graph_order(g, a, last));
	must(lkdf_graph_order(g, b, last));
	must(lkdf_graph_seal(g, NULL));
	is(run(rt, g, 400), 0, "400 runs, depth %u", depth);
	is(to.nr_runs, 400, "all follow");
	is(lkdf_channel_count(to.ch), 0, "nothing is left");
	ok(from.nr_again + to.nr_again >= 400, "they have waited, %d times",
	   (int)(from.nr_again + to.nr_again));
	lkdf_graph_put(g);
	lkdf_channel_put(from.ch);
}

/* ---- streams ------------------------------------------------------------ */

struct flow {
	struct lkdf_channel *in, *out;
	uint64_t next, end, wrong, nr_begun;
	_Atomic(uint64_t) nr_squares;
};

static int number_source(struct lkdf_ctx *c, void *arg)
{
	struct flow *f = arg;

	if (f->next == f->end)
		return LKDF_END;
	*(uint64_t *)lkdf_out(c, 0) = f->next++;
	return 0;
}

static int channel_source(struct lkdf_ctx *c, void *arg)
{
	struct flow *f = arg;
	int rc = lkdf_recv(c, f->in, lkdf_out(c, 0));

	if (rc == -ENODATA)
		return LKDF_END;
	return rc == -EAGAIN ? LKDF_AGAIN : rc;
}

static int square(struct lkdf_ctx *c, void *arg)
{
	struct flow *f = arg;
	uint64_t v = *(const uint64_t *)lkdf_in(c, 0);

	atomic_fetch_add(&f->nr_squares, 1);
	*(uint64_t *)lkdf_out(c, 0) = v * v;
	return 0;
}

static int channel_sink(struct lkdf_ctx *c, void *arg)
{
	struct flow *f = arg;
	int rc = lkdf_send(c, f->out, lkdf_in(c, 0));

	return rc == -EAGAIN ? LKDF_AGAIN : rc;
}

static int check_sink(struct lkdf_ctx *c, void *arg)
{
	struct flow *f = arg;
	uint64_t n = f->next++;

	f->wrong += *(const uint64_t *)lkdf_in(c, 0) != n * n * n * n;
	return 0;
}

static struct lkdf_graph *line_of(struct lkdf *rt, lkdf_fn source, lkdf_fn sink,
				  struct flow *f)
{
	struct lkdf_graph *g = api_graph(rt, 8);
	int a = STAGE(rt, g, f, .name = "source", .fn = source, .nr_out = 1);
	int b = STAGE(rt, g, f, .name = "square", .fn = square, .nr_in = 1,
		      .nr_out = 1, .flags = LKDF_SHARED);
	int c = STAGE(rt, g, f, .name = "sink", .fn = sink, .nr_in = 1);

	must(lkdf_graph_port(g, a, 0, b, 0));
	must(lkdf_graph_port(g, b, 0, c, 0));
	must(lkdf_graph_seal(g, NULL));
	return g;
}

static void a_channel_links_streams(struct lkdf *rt, uint32_t depth)
{
	struct lkdf_channel *ch = channel_of(rt, 8, depth, 0);
	struct flow f1 = { .out = ch, .end = 2000 }, f2 = { .in = ch };
	struct lkdf_graph *g1 = line_of(rt, number_source, channel_sink, &f1);
	struct lkdf_graph *g2 = line_of(rt, channel_source, check_sink, &f2);
	struct lkdf_event done1, done2;

	stream_start(g2, NULL, &done2);
	stream_start(g1, NULL, &done1);
	is(lkdf_event_wait(done1, -1), 0, "the first stream ends");
	must(lkdf_channel_end(ch, 0));
	is(lkdf_event_wait(done2, -1), 0, "and the second, depth %u", depth);
	is(f2.next, 2000, "all waves have come");
	is(f2.wrong, 0, "in order, with their values");
	lkdf_graph_put(g1);
	lkdf_graph_put(g2);
	lkdf_channel_put(ch);
}

/* Both ends wait for good, and a cancel ends both streams. */
static void a_cancel_ends_streams(struct lkdf *rt)
{
	struct lkdf_channel *ch = channel_of(rt, 8, 2, 0);
	struct lkdf_channel *never = channel_of(rt, 8, 2, 0);
	struct flow f1 = { .out = ch, .end = UINT64_MAX }, f2 = { .in = never };
	struct lkdf_graph *g1 = line_of(rt, number_source, channel_sink, &f1);
	struct lkdf_graph *g2 = line_of(rt, channel_source, check_sink, &f2);
	struct lkdf_scope *s;
	int rc;

	must(lkdf_scope_create(rt, NULL, &s));
	stream_start(g1, s, NULL);
	stream_start(g2, s, NULL);
	is(lkdf_scope_wait(rt, s, 2000000), 1, "streams wait at channels");
	must(lkdf_scope_cancel(rt, s, -EINTR));
	rc = lkdf_scope_wait(rt, s, -1);
	ok(rc < 0, "a cancel ends them (%d)", rc);
	lkdf_scope_put(s);
	lkdf_graph_put(g1);
	lkdf_graph_put(g2);
	lkdf_channel_put(ch);
	lkdf_channel_put(never);
}

/* ---- branches ----------------------------------------------------------- */

static int choose(struct lkdf_ctx *c, void *arg)
{
	struct end *e = arg;
	uint64_t v;
	int rc = lkdf_recv(c, e->ch, &v);

	e->nr_again += rc == -EAGAIN;
	return rc == -EAGAIN ? LKDF_AGAIN : rc ? rc : (int)v;
}

static void a_branch_is_chosen_later(struct lkdf *rt)
{
	struct end e = { .ch = channel_of(rt, 8, 2, 0) }, arm[2] = { 0 };
	struct lkdf_graph *g = api_graph(rt, 1);
	struct lkdf_event done;
	uint64_t v = 1;
	int task, i;

	task = add_task(rt, g, "choose", choose, &e, 0);
	for (i = 0; i < 2; i++)
		must(lkdf_graph_branch(g, task, (uint16_t)i,
				       add_task(rt, g, "arm", count_run,
						&arm[i], 0)));
	must(lkdf_graph_seal(g, NULL));
	must(lkdf_graph_run(g, NULL, NULL, &done));
	is(lkdf_event_wait(done, 2000000), 1, "the choice waits");
	must(lkdf_channel_send(e.ch, &v, -1));
	is(lkdf_event_wait(done, -1), 0, "and comes");
	is(arm[1].nr_runs, 1, "the second arm ran");
	is(arm[0].nr_runs, 0, "the first did not");
	lkdf_graph_put(g);
	lkdf_channel_put(e.ch);
}

/* ---- data --------------------------------------------------------------- */

/* Writes before it waits, and expects to find that. */
static int write_twice(struct lkdf_ctx *c, void *arg)
{
	struct end *e = *(struct end **)arg;
	uint64_t *x = lkdf_ptr(c, 0), v;
	int rc;

	if (!x || lkdf_input_error(c, 0))
		return lkdf_fail(c, -EBADMSG, "no input");
	if (!e->nr++)
		*x = 5;
	rc = lkdf_recv(c, e->ch, &v);
	if (rc)
		return rc == -EAGAIN ? LKDF_AGAIN : rc;
	*x += v;
	e->nr = 0;
	return 0;
}

static int read_it(struct lkdf_ctx *c, void *arg)
{
	struct end *e = *(struct end **)arg;

	e->sum = *(uint64_t *)lkdf_ptr(c, 0);
	return 0;
}

static void data_stays_claimed(struct lkdf *rt)
{
	struct end e = { .ch = channel_of(rt, 8, 2, 0) }, *at = &e;
	struct lkdf_kind *w = api_kind(rt, "w", write_twice, sizeof(at), 0);
	struct lkdf_kind *r = api_kind(rt, "r", read_it, sizeof(at), 0);
	struct lkdf_data *d = number(rt, "d", &(uint64_t){ 1 });
	struct lkdf_event done;
	uint64_t v = 7;

	must(submit_on(rt, w, &at, ON(d, LKDF_RW), NULL));
	must(submit_on(rt, r, &at, ON(d, LKDF_READ), &done));
	is(lkdf_event_wait(done, 2000000), 1, "the reader waits");
	must(lkdf_channel_send(e.ch, &v, -1));
	is(lkdf_event_wait(done, -1), 0, "until the writer has ended");
	is(e.sum, 12, "and reads what both calls wrote");
	lkdf_data_put(d);
	lkdf_kind_put(w);
	lkdf_kind_put(r);
	lkdf_channel_put(e.ch);
}

static void graph_data_stays_claimed(struct lkdf *rt, uint32_t flags,
				     uint64_t mode)
{
	struct end e = { .ch = channel_of(rt, 8, 2, 0) }, *at = &e;
	struct lkdf_kind *w = api_kind(rt, "w", write_twice, sizeof(at), 0);
	struct lkdf_kind *r = api_kind(rt, "r", read_it, sizeof(at), 0);
	struct lkdf_graph *g = api_graph(rt, 1);
	struct lkdf_data *d = DATA(rt, .bytes = 8, .flags = flags,
				   .init = flags ? NULL : &(uint64_t){ 0 });
	struct lkdf_event done;
	uint64_t v = 7;
	int i;

	must(add_on(g, w, &at, ON(d, (uint32_t)mode)));
	must(add_on(g, r, &at, ON(d, LKDF_READ)));
	must(lkdf_graph_seal(g, NULL));
	for (i = 0; i < 20; i++) {
		must(lkdf_graph_run(g, NULL, NULL, &done));
		if (i % 3 == 0)
			is(lkdf_event_wait(done, 1000000), 1, "the run waits");
		must(lkdf_channel_send(e.ch, &v, -1));
		must(lkdf_event_wait(done, -1));
		if (e.sum != 12)
			break;
	}
	is(i, 20, "data with flags %#x, mode %d: all writes are read", flags,
	   (int)mode);
	lkdf_graph_put(g);
	lkdf_data_put(d);
	lkdf_kind_put(w);
	lkdf_kind_put(r);
	lkdf_channel_put(e.ch);
}

int main(void)
{
	struct lkdf *rt;
	size_t i;

	tap_start(120);
	for (i = 0; i < LENGTH(all_options); i++) {
		printf("# %s\n", all_options[i]);
		rt = api_open(all_options[i]);
		runs_are_repeated(rt, 1, 0);
		runs_are_repeated(rt, 1, LKDF_BLOCKING);
		runs_are_repeated(rt, 2, 0);
		a_channel_links_streams(rt, 1);
		a_channel_links_streams(rt, 16);
		a_cancel_ends_streams(rt);
		a_branch_is_chosen_later(rt);
		data_stays_claimed(rt);
		graph_data_stays_claimed(rt, 0, LKDF_RW);
		graph_data_stays_claimed(rt, 0, LKDF_COMMUTE);
		graph_data_stays_claimed(rt, LKDF_DATA_ONCE, LKDF_WRITE);
		is(lkdf_close(rt), 0, "nothing is left");
	}
	return tap_end();
}
