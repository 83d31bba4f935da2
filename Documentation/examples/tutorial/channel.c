/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A server: threads send requests to a channel with room for four, a stream
 * takes them, works on up to eight side by side, and sends each answer to the
 * channel of its client. Prints:
 *
 *   client 0: 100 answers, their sum is 328350
 *   client 1: 100 answers, their sum is 328350
 *   client 2: 100 answers, their sum is 328350
 *   the server has answered 300 requests
 */
#include <lkdf/lkdf.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define NR_CLIENTS 3
#define NR_REQUESTS 100

struct request {
	struct lkdf_channel *back; /* of its client */
	long n;
};

struct server {
	struct lkdf_channel *requests;
	long nr_answered;
};

struct client {
	struct lkdf_channel *requests, *back;
	pthread_t thread;
	long nr, sum;
};

static int must(int rc)
{
	if (rc < 0) {
		fprintf(stderr, "%s\n", lkdf_errmsg());
		exit(1);
	}
	return rc;
}

static int take(struct lkdf_ctx *c, void *arg)
{
	struct server *s = arg;
	int rc = lkdf_recv(c, s->requests, lkdf_out(c, 0));

	if (rc == -EAGAIN)
		return LKDF_AGAIN;
	return rc == -ENODATA ? LKDF_END : rc;
}

static int work(struct lkdf_ctx *c, void *arg)
{
	const struct request *in = lkdf_in(c, 0);
	struct request *out = lkdf_out(c, 0);

	(void)arg;
	*out = (struct request){ in->back, in->n * in->n };
	return 0;
}

static int reply(struct lkdf_ctx *c, void *arg)
{
	const struct request *r = lkdf_in(c, 0);
	struct server *s = arg;
	int rc = lkdf_send(c, r->back, &r->n);

	if (rc == -EAGAIN)
		return LKDF_AGAIN;
	s->nr_answered++;
	return rc;
}

static void *be_a_client(void *arg)
{
	struct client *m = arg;
	struct request r = { m->back, 0 };
	long answer;

	for (; r.n < NR_REQUESTS; r.n++) {
		must(lkdf_channel_send(m->requests, &r, -1));
		must(lkdf_channel_recv(m->back, &answer, -1));
		m->sum += answer;
		m->nr++;
	}
	return NULL;
}

static struct lkdf_channel *channel(struct lkdf *rt, uint32_t value_size,
				    uint32_t depth)
{
	struct lkdf_channel *ch;

	must(lkdf_channel_create(
		rt, LKDF_CHANNEL(.value_size = value_size, .depth = depth),
		&ch));
	return ch;
}

static int stage(struct lkdf *rt, struct lkdf_graph *g, struct lkdf_kind_attr a,
		 struct server *s)
{
	const uint32_t size = sizeof(struct request);
	struct lkdf_kind *k;
	int task;

	a.size = sizeof(a);
	a.in_size = a.out_size = &size;
	must(lkdf_kind_create(rt, &a, &k));
	task = must(lkdf_graph_add(g, k, s, NULL, 0));
	lkdf_kind_put(k);
	return task;
}

#define STAGE(...) stage(rt, g, (struct lkdf_kind_attr){ __VA_ARGS__ }, s)

static struct lkdf_graph *build(struct lkdf *rt, struct server *s)
{
	struct lkdf_graph_attr a = { .size = sizeof(a), .inflight = 8 };
	struct lkdf_graph *g;
	int t, w, r;

	must(lkdf_graph_create(rt, &a, &g));
	t = STAGE(.name = "take", .fn = take, .nr_out = 1);
	w = STAGE(.name = "work", .fn = work, .nr_in = 1, .nr_out = 1,
		  .flags = LKDF_SHARED);
	r = STAGE(.name = "reply", .fn = reply, .nr_in = 1);
	must(lkdf_graph_port(g, t, 0, w, 0));
	must(lkdf_graph_port(g, w, 0, r, 0));
	must(lkdf_graph_seal(g, NULL));
	return g;
}

static void serve(struct lkdf *rt, struct server *s, struct client *m)
{
	struct lkdf_run stream = { .size = sizeof(stream),
				   .flags = LKDF_RUN_STREAM };
	struct lkdf_graph *g = build(rt, s);
	struct lkdf_event done;
	int i;

	must(lkdf_graph_run(g, NULL, &stream, &done));
	for (i = 0; i < NR_CLIENTS; i++) {
		m[i].requests = s->requests;
		m[i].back = channel(rt, sizeof(long), 1);
		must(-pthread_create(&m[i].thread, NULL, be_a_client, &m[i]));
	}
	for (i = 0; i < NR_CLIENTS; i++)
		pthread_join(m[i].thread, NULL);
	must(lkdf_channel_end(s->requests, 0));
	must(lkdf_event_wait(done, -1));
	for (i = 0; i < NR_CLIENTS; i++)
		lkdf_channel_put(m[i].back);
	lkdf_graph_put(g);
}

int main(void)
{
	struct client m[NR_CLIENTS] = { 0 };
	struct server s = { 0 };
	struct lkdf *rt;
	int i;

	must(lkdf_open(NULL, &rt));
	s.requests = channel(rt, sizeof(struct request), 4);
	serve(rt, &s, m);
	for (i = 0; i < NR_CLIENTS; i++)
		printf("client %d: %ld answers, their sum is %ld\n", i, m[i].nr,
		       m[i].sum);
	printf("the server has answered %ld requests\n", s.nr_answered);
	lkdf_channel_put(s.requests);
	return lkdf_close(rt) ? 1 : 0;
}
