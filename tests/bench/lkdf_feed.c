/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "tests/bench/lkdf_feed.h"

#include <errno.h>
#include <stdlib.h>

struct feed_stage {
	struct lkdf_feed *of;
	unsigned stage;
};

struct lkdf_feed {
	struct stream *stream;
	struct lkdf *rt;
	struct lkdf_channel *channel; /* of one run */
	struct lkdf_kind *source;
	struct lkdf_graph *graph;
	struct packet next; /* that the source sends next */
	struct feed_stage arg[STREAM_STAGES];
};

/* Sends what it can, and ends the channel behind the last token. */
static int source(struct lkdf_ctx *c, void *arg)
{
	struct lkdf_feed *f = *(struct lkdf_feed **)arg;
	struct stream *s = f->stream;
	int rc;

	for (;;) {
		/* A message whose turn has not come is made already. */
		if (s->stage[0].calls == f->next.token) {
			if (f->next.token == s->nr)
				return lkdf_channel_end(f->channel, 0);
			f->next = stream_pass(s, 0, f->next);
		}
		rc = lkdf_send(c, f->channel, &f->next);
		if (rc)
			return rc == -EAGAIN ? LKDF_AGAIN : rc;
		f->next.token++;
	}
}

static int take(struct lkdf_ctx *c, void *arg)
{
	struct feed_stage *at = arg;
	int rc = lkdf_recv(c, at->of->channel, lkdf_out(c, 0));

	if (rc == -ENODATA)
		return LKDF_END;
	return rc == -EAGAIN ? LKDF_AGAIN : rc;
}

static int middle(struct lkdf_ctx *c, void *arg)
{
	struct feed_stage *at = arg;
	const struct packet *in = lkdf_in(c, 0);

	*(struct packet *)lkdf_out(c, 0) =
		stream_pass(at->of->stream, at->stage, *in);
	return 0;
}

static int sink(struct lkdf_ctx *c, void *arg)
{
	struct feed_stage *at = arg;
	const struct packet *in = lkdf_in(c, 0);

	stream_pass(at->of->stream, at->stage, *in);
	return 0;
}

static int add_stage(struct lkdf_feed *f, unsigned i)
{
	const uint32_t size = sizeof(struct packet);
	struct lkdf_kind_attr a = {
		.size = sizeof(a),
		.name = "stage",
		.fn = !i		      ? take
		      : i + 1 < STREAM_STAGES ? middle
					      : sink,
		.nr_in = i != 0,
		.nr_out = i + 1 < STREAM_STAGES,
		.in_size = &size,
		.out_size = &size,
		.flags = f->stream->stage[i].is_serial ? 0 : LKDF_SHARED,
	};
	struct lkdf_kind *kind;
	int rc = lkdf_kind_create(f->rt, &a, &kind);

	if (rc)
		return rc;
	f->arg[i] = (struct feed_stage){ f, i };
	rc = lkdf_graph_add(f->graph, kind, &f->arg[i], NULL, 0);
	lkdf_kind_put(kind);
	return rc > 0 ? lkdf_graph_port(f->graph, rc - 1, 0, rc, 0) : rc;
}

static int build(struct lkdf_feed *f)
{
	struct lkdf_kind_attr a = { .size = sizeof(a),
				    .name = "source",
				    .fn = source,
				    .arg_size = sizeof(f) };
	struct lkdf_graph_attr of = { .size = sizeof(of),
				      .inflight = STREAM_TOKENS };
	unsigned i;
	int rc = lkdf_kind_create(f->rt, &a, &f->source);

	if (!rc)
		rc = lkdf_graph_create(f->rt, &of, &f->graph);
	for (i = 0; i < STREAM_STAGES && !rc; i++)
		rc = add_stage(f, i);
	return rc ? rc : lkdf_graph_seal(f->graph, NULL);
}

int lkdf_feed_open(struct lkdf *rt, struct stream *s, struct lkdf_feed **out)
{
	struct lkdf_feed *f = calloc(1, sizeof(*f));
	int rc;

	if (!f)
		return -ENOMEM;
	f->rt = rt;
	f->stream = s;
	rc = build(f);
	if (rc)
		lkdf_feed_close(f);
	else
		*out = f;
	return rc;
}

void lkdf_feed_close(struct lkdf_feed *f)
{
	if (!f)
		return;
	lkdf_graph_put(f->graph);
	lkdf_kind_put(f->source);
	free(f);
}

static int run_both(struct lkdf_feed *f)
{
	struct lkdf_task t = { .size = sizeof(t),
			       .kind = f->source,
			       .arg = &f };
	struct lkdf_run r = { .size = sizeof(r), .flags = LKDF_RUN_STREAM };
	struct lkdf_event sent, done;
	int rc = lkdf_submit(f->rt, NULL, &t, &sent), error;

	if (rc)
		return rc;
	rc = lkdf_graph_run(f->graph, NULL, &r, &done);
	if (!rc)
		rc = lkdf_event_wait(done, -1);
	/* Where the stream has failed the source would wait for room. */
	if (rc)
		lkdf_channel_end(f->channel, 0);
	error = lkdf_event_wait(sent, -1);
	return rc ? rc : error;
}

int lkdf_feed_run(struct lkdf_feed *f)
{
	struct lkdf_channel_attr a = { .size = sizeof(a),
				       .value_size = sizeof(struct packet),
				       .depth = STREAM_TOKENS };
	int rc = lkdf_channel_create(f->rt, &a, &f->channel);

	if (rc)
		return rc;
	f->next = (struct packet){ 0 };
	rc = run_both(f);
	lkdf_channel_put(f->channel);
	return rc;
}
