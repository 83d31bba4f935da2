/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * LKDF_AGAIN: a body that a channel has given -EAGAIN is called again when the
 * channel moves, from its start, and not in vain; a cancel or a deadline ends
 * the waiting; without -EAGAIN it is an error with a text.
 */
#include "tests/api/channel.h"

/* ---- one value each ----------------------------------------------------- */

static void each_is_called_once_more(struct lkdf *rt)
{
	struct pipe p = { .ch = channel_of(rt, 8, 64, 0) };
	struct lkdf_kind *k = pipe_kind(rt, "receive", pipe_receive_one, 0);
	uint64_t v;
	int i;

	for (i = 0; i < 50; i++)
		pipe_submit(rt, NULL, k, &p);
	pipe_until(&p, 50);
	is(lkdf_scope_wait(rt, NULL, 1000000), 1, "all wait");
	is(p.nr_calls, 50, "each was called once");
	for (v = 1; v <= 50; v++)
		must(lkdf_channel_send(p.ch, &v, -1));
	is(lkdf_scope_wait(rt, NULL, -1), 0, "each goes on with a value");
	is(p.sum, 51 * 25, "each value is received");
	is(p.nr_calls, 100, "none was called in vain");
	lkdf_kind_put(k);
	lkdf_channel_put(p.ch);
}

/*
 * Values that others take before the waiter that they have woken comes: it is
 * enough for all of them, and no other waiter is called in vain.
 */
static void one_under_way_is_enough(void)
{
	struct lkdf *rt = api_open_workers(1);
	struct pipe p = { .ch = channel_of(rt, 8, 64, 0) };
	struct lkdf_kind *k = pipe_kind(rt, "receive", pipe_receive_one, 0);
	struct lkdf_kind *at_gate = api_kind(rt, "gate", pass_gate, 0, 0);
	struct gate gate = { .entered = 0 };
	uint64_t v, w;
	int i;

	for (i = 0; i < 20; i++)
		pipe_submit(rt, NULL, k, &p);
	pipe_until(&p, 20);
	must(lkdf_submit(rt, NULL,
			 ATTR(lkdf_task, .kind = at_gate, .arg = &gate), NULL));
	api_until(&gate.entered);
	for (v = 1; v <= 10; v++) {
		must(lkdf_channel_send(p.ch, &v, 0));
		must(lkdf_channel_recv(p.ch, &w, 0));
	}
	atomic_store(&gate.open, 1);
	is(api_call(rt, at_gate, &gate), 0, "the worker comes by");
	ok(p.nr_calls <= 21, "10 values for others: %d of 20 called in vain",
	   (int)p.nr_calls - 20);
	for (v = 1; v <= 20; v++)
		must(lkdf_channel_send(p.ch, &v, 0));
	is(lkdf_scope_wait(rt, NULL, -1), 0, "all of them go on");
	is(p.sum, 21 * 10, "with a value each");
	lkdf_kind_put(at_gate);
	lkdf_kind_put(k);
	lkdf_channel_put(p.ch);
	must(lkdf_close(rt));
}

/* ---- many on both sides ------------------------------------------------- */

#define NR_SENDERS 5

struct source {
	struct lkdf_channel *ch;
	uint64_t next, end;
};

static int send_all(struct lkdf_ctx *c, void *arg)
{
	struct source *s = *(struct source **)arg;
	int rc;

	for (; s->next < s->end; s->next++) {
		rc = lkdf_send(c, s->ch, &s->next);
		if (rc)
			return rc == -EAGAIN ? LKDF_AGAIN : rc;
	}
	return 0;
}

static int receive_all(struct lkdf_ctx *c, void *arg)
{
	struct pipe *p = *(struct pipe **)arg;
	uint64_t v;
	int rc;

	while (!(rc = lkdf_recv(c, p->ch, &v))) {
		atomic_fetch_add(&p->sum, v);
		atomic_fetch_add(&p->nr_values, 1);
	}
	if (rc == -EAGAIN)
		return LKDF_AGAIN;
	return rc == -ENODATA ? 0 : rc;
}

static void sums_are_exact(struct lkdf *rt, uint32_t depth, uint32_t flags)
{
	struct lkdf_kind *from = pipe_kind(rt, "send all", send_all, flags);
	struct lkdf_kind *to = pipe_kind(rt, "receive all", receive_all, flags);
	struct source s[NR_SENDERS], *at;
	struct pipe p = { .ch = channel_of(rt, 8, depth, 0) };
	struct lkdf_scope *senders;
	const uint64_t nr = 2000;
	int i;

	must(lkdf_scope_create(rt, NULL, &senders));
	for (i = 0; i < 3; i++)
		pipe_submit(rt, NULL, to, &p);
	for (i = 0; i < NR_SENDERS; i++) {
		s[i] = (struct source){ p.ch, 0, nr };
		at = &s[i];
		must(lkdf_submit(rt, senders,
				 ATTR(lkdf_task, .kind = from, .arg = &at),
				 NULL));
	}
	is(lkdf_scope_wait(rt, senders, -1), 0, "all is sent");
	must(lkdf_channel_end(p.ch, 0));
	is(lkdf_scope_wait(rt, NULL, -1), 0, "all have seen the end");
	is(p.nr_values, NR_SENDERS * nr, "depth %u: each value once", depth);
	is(p.sum, NR_SENDERS * (nr * (nr - 1) / 2), "and the right ones");
	lkdf_scope_put(senders);
	lkdf_kind_put(from);
	lkdf_kind_put(to);
	lkdf_channel_put(p.ch);
}

/* ---- errors ------------------------------------------------------------- */

static int return_again(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	return LKDF_AGAIN;
}

static int again_after_then(struct lkdf_ctx *c, void *arg)
{
	struct pipe *p = *(struct pipe **)arg;
	uint64_t v;

	if (lkdf_recv(c, p->ch, &v) != -EAGAIN)
		return -EBADMSG;
	must(lkdf_then(c, pipe_receive_one, LKDF_EVENT_NONE));
	return LKDF_AGAIN;
}

static void without_a_channel_it_is_an_error(struct lkdf *rt)
{
	struct pipe p = { .ch = channel_of(rt, 8, 1, 0) }, *at = &p;
	struct lkdf_kind *k = pipe_kind(rt, "alone", return_again, 0);
	struct lkdf_kind *k2 = pipe_kind(rt, "then", again_after_then, 0);
	struct lkdf_graph *g = api_graph(rt, 1);

	is(api_call(rt, k, &at), -EINVAL, "LKDF_AGAIN alone");
	has(lkdf_errmsg(), "alone", "names the task");
	has(lkdf_errmsg(), "LKDF_AGAIN", "and says why");
	must(lkdf_graph_add(g, k, &at, NULL, 0));
	must(lkdf_graph_seal(g, NULL));
	is(api_run(g, NULL, NULL), -EINVAL, "in a graph");
	has(lkdf_errmsg(), "LKDF_AGAIN", "with the reason");
	is(api_call(rt, k2, &at), -EINVAL, "after lkdf_then()");
	has(lkdf_errmsg(), "lkdf_then", "with the reason");
	is(p.nr_calls, 0, "and it does not go on");
	lkdf_scope_wait(rt, NULL, -1);
	lkdf_graph_put(g);
	lkdf_kind_put(k);
	lkdf_kind_put(k2);
	lkdf_channel_put(p.ch);
}

static int use_strangers(struct lkdf_ctx *c, void *arg)
{
	struct pipe *p = *(struct pipe **)arg;
	uint64_t v = 0;

	if (lkdf_recv(c, p->ch, &v) != -EINVAL ||
	    !strstr(lkdf_errmsg(), "another runtime"))
		return lkdf_fail(c, -EBADMSG, "%s", lkdf_errmsg());
	if (lkdf_send(c, NULL, &v) != -EINVAL ||
	    lkdf_send(c, p->ch, NULL) != -EINVAL)
		return lkdf_fail(c, -EBADMSG, "NULL was taken");
	return 0;
}

static void bad_input_is_refused(struct lkdf *rt)
{
	struct lkdf *other = api_open("workers=1");
	struct pipe p = { .ch = channel_of(other, 8, 1, 0) }, *at = &p;
	struct lkdf_kind *k = pipe_kind(rt, "strangers", use_strangers, 0);

	is(api_call(rt, k, &at), 0, "bad input is refused in a body");
	lkdf_kind_put(k);
	lkdf_channel_put(p.ch);
	is(lkdf_close(other), 0, "the other runtime closes");
}

static void an_error_reaches_the_body(struct lkdf *rt)
{
	struct pipe p = { .ch = channel_of(rt, 8, 1, 0) };
	struct lkdf_kind *k = pipe_kind(rt, "receive", pipe_receive_one, 0);

	pipe_submit(rt, NULL, k, &p);
	pipe_until(&p, 1);
	must(lkdf_channel_end(p.ch, -ECONNRESET));
	is(lkdf_scope_wait(rt, NULL, -1), -ECONNRESET,
	   "its error is the end's");
	is(p.nr_calls, 2, "which it has received");
	lkdf_kind_put(k);
	lkdf_channel_put(p.ch);
}

/* ---- cancel ------------------------------------------------------------- */

static void a_cancel_ends_the_waiting(struct lkdf *rt)
{
	struct pipe p = { .ch = channel_of(rt, 8, 1, 0) }, *in = &p;
	struct lkdf_kind *k = pipe_kind(rt, "receive", pipe_receive_one, 0);
	struct lkdf_scope *s;
	int i, rc;

	must(lkdf_scope_create(rt, NULL, &s));
	for (i = 0; i < 20; i++)
		pipe_submit(rt, s, k, &p);
	pipe_until(&p, 20);
	must(lkdf_scope_cancel(rt, s, -EINTR));
	rc = lkdf_scope_wait(rt, s, -1);
	ok(rc < 0, "the scope ends with %d", rc);
	is(p.nr_calls, 20, "no body is called again");
	lkdf_scope_put(s);

	must(lkdf_scope_create(
		rt, ATTR(lkdf_scope_attr, .deadline_ns = 3000000), &s));
	rc = lkdf_submit(rt, s, ATTR(lkdf_task, .kind = k, .arg = &in), NULL);
	ok(!rc || rc == -ECANCELED, "submitted, or the deadline is over");
	is(lkdf_scope_wait(rt, s, -1), -ETIME, "nor after a deadline");
	lkdf_scope_put(s);
	lkdf_kind_put(k);
	lkdf_channel_put(p.ch);
}

/* A kind that sees cancels: told of one it returns LKDF_AGAIN all the same. */
static int wait_stubbornly(struct lkdf_ctx *c, void *arg)
{
	struct pipe *p = *(struct pipe **)arg;
	uint64_t v;

	if (lkdf_cancelled(c))
		atomic_fetch_add(&p->nr_begun, 1);
	atomic_fetch_add(&p->nr_calls, 1);
	if (lkdf_recv(c, p->ch, &v) != -EAGAIN)
		return -EBADMSG;
	atomic_fetch_add(&p->nr_again, 1);
	return LKDF_AGAIN;
}

/* Its value counts. */
static int undo(struct lkdf_ctx *c, void *arg)
{
	struct pipe *p = *(struct pipe **)arg;
	uint64_t v;
	int rc = lkdf_cancelled(c);

	atomic_fetch_add(&p->nr_calls, 1);
	if (rc) {
		atomic_fetch_add(&p->nr_begun, 1);
		return 0;
	}
	rc = lkdf_recv(c, p->ch, &v);
	atomic_fetch_add(&p->nr_again, rc == -EAGAIN);
	return rc == -EAGAIN ? LKDF_AGAIN : rc;
}

static void a_cancel_is_seen(struct lkdf *rt, lkdf_fn fn, int error)
{
	struct pipe p = { .ch = channel_of(rt, 8, 1, 0) }, *in = &p;
	struct lkdf_kind *k = pipe_kind(rt, "sees", fn, LKDF_SEES_CANCEL);
	struct lkdf_event done;
	struct lkdf_scope *s;

	must(lkdf_scope_create(rt, NULL, &s));
	must(lkdf_submit(rt, s, ATTR(lkdf_task, .kind = k, .arg = &in), &done));
	pipe_until(&p, 1);
	must(lkdf_scope_cancel(rt, s, -EINTR));
	is(lkdf_event_wait(done, -1), error, "the task ends with %d", error);
	is(p.nr_calls, 2, "its body was called once more");
	is(p.nr_begun, 1, "and was told of the cancel");
	lkdf_scope_wait(rt, s, -1);
	lkdf_scope_put(s);
	lkdf_kind_put(k);
	lkdf_channel_put(p.ch);
}

/* A value comes beside the cancel of one of two: the other one has it then. */
static void a_cancel_passes_the_wake_on(struct lkdf *rt)
{
	struct lkdf_kind *k = pipe_kind(rt, "receive", pipe_receive_one, 0);
	uint64_t v = 1;
	int i, bad = 0;

	for (i = 0; i < 300; i++) {
		struct pipe p = { .ch = channel_of(rt, 8, 2, 0) };
		struct lkdf_scope *s;

		must(lkdf_scope_create(rt, NULL, &s));
		pipe_submit(rt, s, k, &p);
		pipe_until(&p, 1);
		pipe_submit(rt, NULL, k, &p);
		pipe_until(&p, 2);
		must(lkdf_channel_send(p.ch, &v, 0));
		must(lkdf_scope_cancel(rt, s, -ECANCELED));
		lkdf_scope_wait(rt, s, -1);
		/* Where the first one was quicker. */
		if (p.nr_values == 1)
			must(lkdf_channel_send(p.ch, &v, 0));
		bad += lkdf_scope_wait(rt, NULL, PATIENCE_NS) != 0;
		lkdf_scope_put(s);
		lkdf_channel_put(p.ch);
	}
	is(bad, 0, "no value lies beside one who waits");
	lkdf_kind_put(k);
}

/* Called again it does something else. */
static int give_up(struct lkdf_ctx *c, void *arg)
{
	struct pipe *p = *(struct pipe **)arg;
	uint64_t v;

	if (atomic_fetch_add(&p->nr_calls, 1))
		return 0;
	if (lkdf_recv(c, p->ch, &v) != -EAGAIN)
		return -EBADMSG;
	atomic_fetch_add(&p->nr_again, 1);
	return LKDF_AGAIN;
}

static void who_does_not_try_passes_on(struct lkdf *rt)
{
	struct lkdf_kind *gives_up = pipe_kind(rt, "give up", give_up, 0);
	struct lkdf_kind *k = pipe_kind(rt, "receive", pipe_receive_one, 0);
	struct pipe p = { .ch = channel_of(rt, 8, 2, 0) }, first = p;
	uint64_t v = 7;

	pipe_submit(rt, NULL, gives_up, &first);
	pipe_until(&first, 1);
	pipe_submit(rt, NULL, k, &p);
	pipe_until(&p, 1);
	must(lkdf_channel_send(p.ch, &v, 0));
	is(lkdf_scope_wait(rt, NULL, -1), 0, "both end");
	is(first.nr_calls, 2, "the first one was called again");
	is(p.sum, 7, "and the second one has the value");
	lkdf_kind_put(gives_up);
	lkdf_kind_put(k);
	lkdf_channel_put(p.ch);
}

/* Woken at one channel it takes what it wants of the other. */
struct turncoat {
	struct pipe first, second;
};

static int turn_away(struct lkdf_ctx *c, void *arg)
{
	struct turncoat *t = *(struct turncoat **)arg;
	struct pipe *p = atomic_fetch_add(&t->first.nr_calls, 1) ? &t->second
								 : &t->first;

	return pipe_receive_one(c, &p);
}

static void who_goes_on_to_wait_elsewhere_passes_on(struct lkdf *rt)
{
	struct turncoat turncoat = {
		.first.ch = channel_of(rt, 8, 2, 0),
		.second.ch = channel_of(rt, 8, 2, 0),
	}, *t = &turncoat;
	struct lkdf_kind *away =
		api_kind(rt, "turn away", turn_away, sizeof(t), 0);
	struct lkdf_kind *k = pipe_kind(rt, "receive", pipe_receive_one, 0);
	struct pipe p = { .ch = t->first.ch };
	struct lkdf_scope *s;
	uint64_t v = 7;

	must(lkdf_scope_create(rt, NULL, &s));
	must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = away, .arg = &t),
			 NULL));
	pipe_until(&t->first, 1);
	pipe_submit(rt, s, k, &p);
	pipe_until(&p, 1);
	must(lkdf_channel_send(p.ch, &v, 0));
	is(lkdf_scope_wait(rt, s, PATIENCE_NS), 0,
	   "who waits behind one that has turned away goes on");
	is(p.sum, 7, "with the value");
	pipe_until(&t->second, 1);
	must(lkdf_channel_send(t->second.ch, &v, 0));
	is(lkdf_scope_wait(rt, NULL, PATIENCE_NS), 0,
	   "and the other at the channel that it has turned to");
	is(t->second.sum, 7, "with that value");
	lkdf_scope_put(s);
	lkdf_kind_put(away);
	lkdf_kind_put(k);
	lkdf_channel_put(p.ch);
	lkdf_channel_put(t->second.ch);
}

static int put_and_wait(struct lkdf_ctx *c, void *arg)
{
	struct pipe *p = *(struct pipe **)arg;
	uint64_t v;
	int rc = lkdf_recv(c, p->ch, &v);

	if (!atomic_fetch_add(&p->nr_calls, 1))
		lkdf_channel_put(p->ch);
	return rc == -EAGAIN ? LKDF_AGAIN : rc;
}

static void a_put_is_an_end(struct lkdf *rt)
{
	struct pipe p = { .ch = channel_of(rt, 8, 2, 0) }, *at = &p;
	struct lkdf_kind *k = pipe_kind(rt, "put", put_and_wait, 0);

	is(api_call(rt, k, &at), -ENODATA, "who waits is told of a put");
	is(p.nr_calls, 2, "by its second call");
	is(lkdf_scope_wait(rt, NULL, -1), 0, "its scope tells nothing anew");
	lkdf_kind_put(k);
}

/* ---- tasks that went on ------------------------------------------------- */

static int go_on(struct lkdf_ctx *c, void *arg)
{
	struct pipe *p = *(struct pipe **)arg;

	atomic_fetch_add(&p->nr_begun, 1);
	return lkdf_then(c, pipe_receive_one, LKDF_EVENT_NONE);
}

static void a_continuation_is_called_again(struct lkdf *rt)
{
	struct lkdf_kind *k = pipe_kind(rt, "go on", go_on, 0);
	struct pipe p = { .ch = channel_of(rt, 8, 1, 0) };
	uint64_t v = 3;

	pipe_submit(rt, NULL, k, &p);
	pipe_until(&p, 1);
	must(lkdf_channel_send(p.ch, &v, 0));
	is(lkdf_scope_wait(rt, NULL, -1), 0, "it ends");
	is(p.nr_calls, 2, "the continuation was called again");
	is(p.nr_begun, 1, "the body was not");
	is(p.sum, 3, "the value is there");
	lkdf_kind_put(k);
	lkdf_channel_put(p.ch);
}

static void run_all(const char *options)
{
	struct lkdf *rt = api_open(options);

	printf("# %s\n", options);
	each_is_called_once_more(rt);
	sums_are_exact(rt, 1, 0);
	sums_are_exact(rt, 16, 0);
	sums_are_exact(rt, 3, LKDF_BLOCKING);
	without_a_channel_it_is_an_error(rt);
	bad_input_is_refused(rt);
	an_error_reaches_the_body(rt);
	a_cancel_ends_the_waiting(rt);
	a_cancel_is_seen(rt, wait_stubbornly, -EINTR);
	a_cancel_is_seen(rt, undo, 0);
	a_cancel_passes_the_wake_on(rt);
	who_does_not_try_passes_on(rt);
	who_goes_on_to_wait_elsewhere_passes_on(rt);
	a_put_is_an_end(rt);
	a_continuation_is_called_again(rt);
	is(lkdf_close(rt), 0, "nothing is left");
}

int main(void)
{
	tap_start(120);
	one_under_way_is_enough();
	run_all("workers=1");
	run_all("workers=2");
	run_all("workers=4");
	return tap_end();
}
