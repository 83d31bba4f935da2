/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Channels from threads and from bodies that may block: every value is received
 * once, in the order of its sender; end, error, put and cancel let all go on;
 * each value that nobody receives is dropped once; bad input is refused.
 */
#include "tests/api/channel.h"

#include <limits.h>

static void values_leave_in_order(struct lkdf *rt)
{
	uint32_t init[] = { 7, 8 }, v;
	struct lkdf_channel *ch;
	int i, bad = 0;

	must(lkdf_channel_create(rt,
				 LKDF_CHANNEL(.value_size = sizeof(v),
					      .depth = 3, .init = init,
					      .nr_init = 2),
				 &ch));
	is(lkdf_channel_count(ch), 2, "it begins with two values");
	for (i = 9; i < 1000; i++) {
		bad += lkdf_channel_send(ch, &i, 0) != 0;
		bad += lkdf_channel_send(ch, &i, 0) != 1;
		bad += lkdf_channel_recv(ch, &v, 0) || v != (uint32_t)i - 2;
	}
	is(bad, 0, "values leave in order, a full channel takes none");
	must(lkdf_channel_recv(ch, &v, 0));
	must(lkdf_channel_recv(ch, &v, 0));
	v = 4711;
	is(lkdf_channel_recv(ch, &v, 0), 1, "an empty one has none");
	is(lkdf_channel_recv(ch, &v, 1000), 1, "nor a little later");
	is(v, 4711, "the room is untouched");
	lkdf_channel_put(ch);
}

static void a_value_has_any_size(struct lkdf *rt, uint32_t size)
{
	char in[LKDF_MAX_VALUE], out[LKDF_MAX_VALUE + 1];
	struct lkdf_channel *ch = channel_of(rt, size, 5, 0);
	int i, bad = 0;

	for (i = 0; i < 23; i++) {
		memset(in, i + 1, size);
		memset(out, 0, sizeof(out));
		must(lkdf_channel_send(ch, in, 0));
		must(lkdf_channel_recv(ch, out, 0));
		bad += memcmp(in, out, size) || out[size];
	}
	is(bad, 0, "values of %u bytes", size);
	lkdf_channel_put(ch);
}

/* ---- many threads ------------------------------------------------------- */

struct party {
	struct lkdf_channel *ch;
	uint64_t nr; /* values of each sender */
	_Atomic(uint64_t) sum, nr_received, nr_wrong;
};

struct sender {
	struct party *p;
	uint32_t id;
};

struct value {
	uint32_t sender, number;
};

static void *send_all(void *arg)
{
	struct sender *s = arg;
	struct value v = { .sender = s->id };

	for (; v.number < s->p->nr; v.number++)
		if (lkdf_channel_send(s->p->ch, &v, -1))
			atomic_fetch_add(&s->p->nr_wrong, 1);
	return NULL;
}

#define NR_SENDERS 4

static int receive_all(struct party *p)
{
	uint32_t next[NR_SENDERS] = { 0 };
	struct value v;
	int rc;

	while (!(rc = lkdf_channel_recv(p->ch, &v, -1))) {
		if (v.number < next[v.sender])
			atomic_fetch_add(&p->nr_wrong, 1);
		next[v.sender] = v.number + 1;
		atomic_fetch_add(&p->sum, v.number);
		atomic_fetch_add(&p->nr_received, 1);
	}
	return rc;
}

static void *receive(void *arg)
{
	if (receive_all(arg) != -ENODATA)
		atomic_fetch_add(&((struct party *)arg)->nr_wrong, 1);
	return NULL;
}

static int receive_in_body(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	return receive_all(*(struct party **)arg) == -ENODATA ? 0 : -EBADMSG;
}

static void sums_are_exact(struct lkdf *rt, uint32_t depth, bool by_bodies)
{
	struct lkdf_kind *k = api_kind(rt, "receive", receive_in_body,
				       sizeof(void *), LKDF_BLOCKING);
	pthread_t from[NR_SENDERS], to[3];
	struct sender s[NR_SENDERS];
	struct party p = { .nr = 3000 }, *at = &p;
	int i;

	p.ch = channel_of(rt, sizeof(struct value), depth, 0);
	for (i = 0; i < NR_SENDERS; i++) {
		s[i] = (struct sender){ &p, (uint32_t)i };
		pthread_create(&from[i], NULL, send_all, &s[i]);
	}
	for (i = 0; i < 3; i++) {
		if (by_bodies)
			must(lkdf_submit(rt, NULL,
					 ATTR(lkdf_task, .kind = k, .arg = &at),
					 NULL));
		else
			pthread_create(&to[i], NULL, receive, &p);
	}
	for (i = 0; i < NR_SENDERS; i++)
		pthread_join(from[i], NULL);
	must(lkdf_channel_end(p.ch, 0));
	for (i = 0; i < 3 && !by_bodies; i++)
		pthread_join(to[i], NULL);
	is(lkdf_scope_wait(rt, NULL, -1), 0, "all have seen the end");
	is(p.nr_received, NR_SENDERS * p.nr, "depth %u, %s: each value once",
	   depth, by_bodies ? "bodies" : "threads");
	is(p.sum, NR_SENDERS * p.nr * (p.nr - 1) / 2, "and the right ones");
	is(p.nr_wrong, 0, "in the order of their senders");
	lkdf_channel_put(p.ch);
	lkdf_kind_put(k);
}

/* ---- who waits goes on -------------------------------------------------- */

#define NR_WAITING 16

struct waiting {
	struct lkdf_channel *ch;
	bool sends;
	atomic_int nr_begun;
	_Atomic(int) rc[NR_WAITING];
	atomic_int nr_ended;
};

static void *wait_at(void *arg)
{
	struct waiting *w = arg;
	uint64_t v = 0;
	int rc;

	atomic_fetch_add(&w->nr_begun, 1);
	rc = w->sends ? lkdf_channel_send(w->ch, &v, -1)
		      : lkdf_channel_recv(w->ch, &v, -1);
	atomic_store(&w->rc[atomic_fetch_add(&w->nr_ended, 1)], rc);
	return NULL;
}

static int nr_with(const struct waiting *w, int rc)
{
	int i, nr = 0;

	for (i = 0; i < w->nr_ended; i++)
		nr += w->rc[i] == rc;
	return nr;
}

static void start(struct waiting *w, struct lkdf *rt, bool sends, pthread_t *t)
{
	uint64_t v = 1;
	int i;

	*w = (struct waiting){ .sends = sends };
	w->ch = channel_of(rt, sizeof(v), 1, 0);
	if (sends)
		must(lkdf_channel_send(w->ch, &v, 0));
	for (i = 0; i < NR_WAITING; i++)
		pthread_create(&t[i], NULL, wait_at, w);
	while (w->nr_begun < NR_WAITING)
		api_nap_ns(10000);
}

static void join_all(pthread_t *t)
{
	int i;

	for (i = 0; i < NR_WAITING; i++)
		pthread_join(t[i], NULL);
}

static void an_end_lets_all_go(struct lkdf *rt, int error)
{
	pthread_t t[NR_WAITING];
	struct waiting w;
	uint64_t v;

	start(&w, rt, false, t);
	is(lkdf_channel_end(w.ch, error), 0, "it ends with %d", error);
	join_all(t);
	is(nr_with(&w, error ? error : -ENODATA), NR_WAITING,
	   "all receivers are told");
	is(lkdf_channel_end(w.ch, 0), -EPIPE, "it ends once");
	is(lkdf_channel_send(w.ch, &v, -1), -EPIPE, "no more is sent");
	lkdf_channel_put(w.ch);

	start(&w, rt, true, t);
	must(lkdf_channel_end(w.ch, error));
	join_all(t);
	is(nr_with(&w, -EPIPE), NR_WAITING, "all senders are told");
	is(lkdf_channel_recv(w.ch, &v, -1), 0, "what was sent is received");
	is(v, 1, "still");
	is(lkdf_channel_recv(w.ch, &v, -1), error ? error : -ENODATA,
	   "then comes the end");
	has(lkdf_errmsg(), "a channel", "the text names it");
	lkdf_channel_put(w.ch);
}

static void one_value_wakes_one(struct lkdf *rt)
{
	pthread_t t[NR_WAITING];
	struct waiting w;
	uint64_t v = 5;
	int i;

	start(&w, rt, false, t);
	for (i = 0; i < NR_WAITING; i++) {
		must(lkdf_channel_send(w.ch, &v, -1));
		while (w.nr_ended <= i)
			api_nap_ns(10000);
	}
	join_all(t);
	is(nr_with(&w, 0), NR_WAITING, "each value lets one go on");
	lkdf_channel_put(w.ch);
}

/* Timeouts that end beside the wakes: no value is left beside a sleeper. */
struct racers {
	struct lkdf_channel *ch;
	_Atomic(uint64_t) nr_received, nr_rounds;
};

static void *receive_in_time(void *arg)
{
	struct racers *r = arg;
	uint64_t v;
	int rc;

	for (;;) {
		rc = lkdf_channel_recv(r->ch, &v,
				       1 + (int)(r->nr_rounds % 40000));
		atomic_fetch_add(&r->nr_rounds, 1);
		if (rc < 0)
			return NULL;
		if (!rc)
			atomic_fetch_add(&r->nr_received, 1);
	}
}

static void times_are_up_beside_wakes(struct lkdf *rt)
{
	struct racers r = { .ch = channel_of(rt, 8, 2, 0) };
	pthread_t t[4];
	uint64_t v;
	int i;

	for (i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, receive_in_time, &r);
	for (v = 0; v < 3000; v++)
		must(lkdf_channel_send(r.ch, &v, -1));
	must(lkdf_channel_end(r.ch, 0));
	for (i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	is(r.nr_received, 3000, "no value is lost beside timeouts");
	lkdf_channel_put(r.ch);
}

/* In a runtime of 1024 event slots: far more than these sleep. */
#define NR_LATE 1500
#define LATE_NS 100000

static void a_time_that_is_up_keeps_nothing(void)
{
	struct lkdf *rt = api_open("workers=1,events=1024");
	struct lkdf_channel *ch = channel_of(rt, 8, 1, 0);
	int i, nr_received = 0, nr_sent = 0;
	uint64_t v = 0;

	for (i = 0; i < NR_LATE; i++)
		nr_received += lkdf_channel_recv(ch, &v, LATE_NS) == 1;
	is(nr_received, NR_LATE, "receivers whose time is up keep no event");
	must(lkdf_channel_send(ch, &v, 0));
	for (i = 0; i < NR_LATE; i++)
		nr_sent += lkdf_channel_send(ch, &v, LATE_NS) == 1;
	is(nr_sent, NR_LATE, "nor do senders");
	lkdf_channel_put(ch);
	is(lkdf_close(rt), 0, "the runtime of few events closes");
}

/* ---- bodies that may block ---------------------------------------------- */

struct held {
	struct lkdf_channel *ch;
	atomic_int nr_begun, nr_cancelled, nr_values;
};

static int hold_on(struct lkdf_ctx *c, void *arg)
{
	struct held *h = *(struct held **)arg;
	uint64_t v;
	int rc;

	(void)c;
	atomic_fetch_add(&h->nr_begun, 1);
	rc = lkdf_channel_recv(h->ch, &v, -1);
	atomic_fetch_add(rc ? &h->nr_cancelled : &h->nr_values, 1);
	return rc;
}

static void a_cancel_lets_bodies_go(struct lkdf *rt, bool with_value)
{
	struct held h = { .ch = channel_of(rt, 8, 4, 0) }, *at = &h;
	struct lkdf_kind *k =
		api_kind(rt, "hold on", hold_on, sizeof(at), LKDF_BLOCKING);
	struct lkdf_scope *s;
	uint64_t v = 0;
	int i, rc;

	must(lkdf_scope_create(rt, NULL, &s));
	for (i = 0; i < 3; i++)
		must(lkdf_submit(rt, s, ATTR(lkdf_task, .kind = k, .arg = &at),
				 NULL));
	while (h.nr_begun < 3)
		api_nap_ns(10000);
	if (with_value)
		must(lkdf_channel_send(h.ch, &v, 0));
	must(lkdf_scope_cancel(rt, s, -EINTR));
	rc = lkdf_scope_wait(rt, s, -1);
	ok(rc == -EINTR || rc == -ECANCELED, "the scope is cancelled (%d)", rc);
	is(h.nr_cancelled + h.nr_values, 3, "all bodies go on");
	is(h.nr_values + lkdf_channel_count(h.ch), with_value,
	   "and no value is lost");
	lkdf_scope_put(s);
	lkdf_kind_put(k);
	lkdf_channel_put(h.ch);
}

static int wait_on_worker(struct lkdf_ctx *c, void *arg)
{
	struct lkdf_channel *ch = *(struct lkdf_channel **)arg;
	uint64_t v = 0;

	if (lkdf_channel_recv(ch, &v, 0) != 1)
		return lkdf_fail(c, -EBADMSG, "a try did not work");
	if (lkdf_channel_recv(ch, &v, 1000) != -EDEADLK ||
	    !strstr(lkdf_errmsg(), "lkdf_channel_recv"))
		return lkdf_fail(c, -EBADMSG, "recv: %s", lkdf_errmsg());
	if (lkdf_channel_send(ch, &v, -1) != -EDEADLK ||
	    !strstr(lkdf_errmsg(), "LKDF_AGAIN"))
		return lkdf_fail(c, -EBADMSG, "send: %s", lkdf_errmsg());
	return 0;
}

static void a_body_on_a_worker_only_tries(struct lkdf *rt)
{
	struct lkdf_channel *ch = channel_of(rt, 8, 4, 0);
	struct lkdf_kind *k =
		api_kind(rt, "on worker", wait_on_worker, sizeof(ch), 0);

	is(api_call(rt, k, &ch), 0, "a body on a worker is refused by name");
	lkdf_kind_put(k);
	lkdf_channel_put(ch);
}

/* ---- what is dropped ---------------------------------------------------- */

static uint64_t nr_dropped, sum_dropped;

static void drop(void *value)
{
	nr_dropped++;
	sum_dropped += *(uint64_t *)value;
}

static void values_are_dropped_once(struct lkdf *rt)
{
	struct lkdf_channel *ch;
	uint64_t v;

	nr_dropped = sum_dropped = 0;
	must(lkdf_channel_create(rt,
				 LKDF_CHANNEL(.value_size = 8, .depth = 4,
					      .drop = drop,
					      .flags = LKDF_CHANNEL_LATEST),
				 &ch));
	for (v = 1; v <= 10; v++)
		must(lkdf_channel_send(ch, &v, -1));
	is(nr_dropped, 6, "a full one drops the oldest");
	is(sum_dropped, 21, "which are the first six");
	must(lkdf_channel_recv(ch, &v, -1));
	is(v, 7, "the next one is received");
	must(lkdf_channel_end(ch, 0));
	is(nr_dropped, 6, "an end drops nothing");
	lkdf_channel_put(ch);
	is(nr_dropped, 9, "a put drops what is left");
	is(sum_dropped, 55 - 7, "once");
}

/* ---- bad input ---------------------------------------------------------- */

static void refused(struct lkdf *rt, const struct lkdf_channel_attr *a,
		    const char *part)
{
	struct lkdf_channel *ch = NULL;

	is(lkdf_channel_create(rt, a, &ch), -EINVAL, "refused");
	has(lkdf_errmsg(), part, "and named: %s", part);
	ok(!ch, "out is untouched");
}

static void bad_input_is_refused(struct lkdf *rt)
{
	struct lkdf_channel *ch = channel_of(rt, 8, 1, 0);
	uint64_t v = 0;

	refused(rt, LKDF_CHANNEL(.depth = 1), "value_size 0");
	refused(rt, LKDF_CHANNEL(.value_size = 4097, .depth = 1), "4097");
	refused(rt, LKDF_CHANNEL(.value_size = 1), "depth 0");
	refused(rt, LKDF_CHANNEL(.value_size = 1, .depth = (1 << 20) + 1),
		"1048577");
	refused(rt, LKDF_CHANNEL(.value_size = 1, .depth = 1, .flags = 2),
		"flags 0x2");
	refused(rt, LKDF_CHANNEL(.value_size = 1, .depth = 1, .pad = 3),
		"pad is 3");
	refused(rt, LKDF_CHANNEL(.value_size = 1, .depth = 1, .nr_init = 2),
		"nr_init 2");
	refused(rt, LKDF_CHANNEL(.value_size = 1, .depth = 1, .nr_init = 1),
		"init is NULL");
	refused(rt, NULL, "NULL");
	is(lkdf_channel_create(NULL, NULL, &ch), -EINVAL, "no runtime");
	is(lkdf_channel_send(NULL, &v, 0), -EINVAL, "no channel to send to");
	is(lkdf_channel_recv(NULL, &v, 0), -EINVAL, "none to receive from");
	is(lkdf_channel_end(NULL, 0), -EINVAL, "none to end");
	is(lkdf_channel_count(NULL), -EINVAL, "none to count");
	is(lkdf_channel_send(ch, NULL, 0), -EINVAL, "no value to send");
	is(lkdf_channel_recv(ch, NULL, 0), -EINVAL, "no room to receive in");
	is(lkdf_channel_recv(ch, &v, -2), -EINVAL, "a negative time");
	has(lkdf_errmsg(), "-2", "and named");
	is(lkdf_channel_send(ch, &v, INT64_MIN), -EINVAL, "another");
	is(lkdf_channel_end(ch, 5), -EINVAL, "an error > 0");
	is(lkdf_channel_end(ch, -4096), -EINVAL, "one that is no errno");
	is(lkdf_channel_end(ch, -EAGAIN), -EINVAL, "one that says: not yet");
	is(lkdf_channel_send(ch, &v, 0), 0, "the channel works as before");
	lkdf_channel_put(ch);
	lkdf_channel_put(NULL);
}

int main(void)
{
	struct lkdf *rt;

	tap_start(120);
	rt = api_open("workers=2");
	values_leave_in_order(rt);
	a_value_has_any_size(rt, 1);
	a_value_has_any_size(rt, 24);
	a_value_has_any_size(rt, LKDF_MAX_VALUE);
	sums_are_exact(rt, 1, false);
	sums_are_exact(rt, 64, false);
	sums_are_exact(rt, 1, true);
	sums_are_exact(rt, 16, true);
	an_end_lets_all_go(rt, 0);
	an_end_lets_all_go(rt, -ECONNRESET);
	one_value_wakes_one(rt);
	times_are_up_beside_wakes(rt);
	a_cancel_lets_bodies_go(rt, false);
	a_cancel_lets_bodies_go(rt, true);
	a_body_on_a_worker_only_tries(rt);
	values_are_dropped_once(rt);
	bad_input_is_refused(rt);
	is(lkdf_close(rt), 0, "nothing is left");
	a_time_that_is_up_keeps_nothing();
	return tap_end();
}
