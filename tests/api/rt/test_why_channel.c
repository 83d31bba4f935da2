/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf_why() of programs that wait at channels: two tasks that wait for each
 * other, a sender without room, a stage of a stream, threads; and what makes
 * them go on.
 */
#include "tests/api/channel_stream.h"
#include "tests/api/why.h"

static void nothing_waits(struct lkdf *rt, const char *after)
{
	must(lkdf_scope_wait(rt, NULL, -1));
	has(why_until(rt, "nothing waits"), "0 submitted tasks",
	    "nothing is left after %s", after);
}

/* ---- tasks -------------------------------------------------------------- */

static void two_wait_for_each_other(struct lkdf *rt)
{
	struct lkdf_channel *there = named(rt, "there", 4);
	struct lkdf_channel *back = named(rt, "back", 4);
	struct side a = { .from = back, .to = there };
	struct side b = { .from = there, .to = back };
	uint64_t v = 1;

	submit_side(rt, "client", &a);
	submit_side(rt, "server", &b);
	why_until(rt, "task \"client\" waits for a value of channel \"back\"");
	why_until(rt, "task \"server\" waits for a value of channel \"there\"");
	has(why_says(rt, "json"),
	    "{\"cause\":\"channel\",\"who\":\"task \\\"client\\\"\",\"waits\":"
	    "\"for a value of channel \\\"back\\\"\"",
	    "so says the JSON text");
	must(lkdf_channel_send(back, &v, -1));
	nothing_waits(rt, "a value that breaks the circle");
	lkdf_channel_put(there);
	lkdf_channel_put(back);
}

static void a_sender_waits_for_room(struct lkdf *rt)
{
	struct lkdf_channel *full = named(rt, "full", 1);
	struct lkdf_channel *two = named(rt, "two", 2);
	struct side s = { .to = full, .has_value = true };
	struct side t = { .to = two, .has_value = true };
	uint64_t v = 1;
	int i;

	must(lkdf_channel_send(full, &v, -1));
	for (i = 0; i < 2; i++)
		must(lkdf_channel_send(two, &v, -1));
	submit_side(rt, "one more", &s);
	submit_side(rt, "a third", &t);
	why_until(rt, "task \"one more\" waits for room in channel \"full\" of "
		      "1 value\n");
	why_until(rt, "task \"a third\" waits for room in channel \"two\" of 2 "
		      "values\n");
	must(lkdf_channel_recv(full, &v, -1));
	must(lkdf_channel_recv(two, &v, -1));
	nothing_waits(rt, "room");
	lkdf_channel_put(full);
	lkdf_channel_put(two);
}

/* No cancel lets them go, so their channel tells of them. */
static void always_tasks_wait(struct lkdf *rt)
{
	struct pipe p = { .ch = named(rt, "always", 16) };
	struct lkdf_kind *k =
		pipe_kind(rt, "last", pipe_receive_one, LKDF_ALWAYS);
	uint64_t v = 1;
	int i;

	for (i = 0; i < 10; i++)
		pipe_submit(rt, NULL, k, &p);
	pipe_until(&p, 10);
	has(why_until(rt, "2 more wait in the same places"),
	    "task \"last\" waits for a value of channel \"always\"",
	    "the first eight have a line");
	for (i = 0; i < 10; i++)
		must(lkdf_channel_send(p.ch, &v, -1));
	nothing_waits(rt, "ten values");
	lkdf_kind_put(k);
	lkdf_channel_put(p.ch);
}

/* ---- a stream ----------------------------------------------------------- */

static int three_waves(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	if (lkdf_seq(c) == 3)
		return LKDF_END;
	*(uint64_t *)lkdf_out(c, 0) = 0;
	return 0;
}

static int key_of(struct lkdf_ctx *c, void *arg)
{
	struct lkdf_channel *keys = arg;
	int rc = lkdf_recv(c, keys, lkdf_out(c, 0));

	return rc == -EAGAIN ? LKDF_AGAIN : rc;
}

static void a_stage_waits(struct lkdf *rt)
{
	struct lkdf_channel *keys = named(rt, "keys", 8);
	struct lkdf_graph *g = api_graph(rt, 4);
	struct lkdf_event done;
	uint64_t v = 1;
	int a, b, i;

	a = STAGE(rt, g, NULL, .name = "source", .fn = three_waves,
		  .nr_out = 1);
	b = STAGE(rt, g, keys, .name = "key", .fn = key_of, .nr_in = 1,
		  .nr_out = 1);
	must(lkdf_graph_port(g, a, 0, b, 0));
	must(lkdf_graph_port(g, b, 0,
			     STAGE(rt, g, NULL, .name = "sink",
				   .fn = api_nothing, .nr_in = 1),
			     0));
	must(lkdf_graph_seal(g, NULL));
	stream_start(g, NULL, &done);
	has(why_until(rt, "waits for a value of channel \"keys\"; 1 unresolved "
			  "task behind"),
	    "task \"key#1\" of wave", "the stage is named");
	for (i = 0; i < 3; i++)
		must(lkdf_channel_send(keys, &v, -1));
	is(lkdf_event_wait(done, -1), 0, "the stream ends");
	nothing_waits(rt, "three keys");
	lkdf_graph_put(g);
	lkdf_channel_put(keys);
}

/* ---- threads ------------------------------------------------------------ */

static void *receive(void *arg)
{
	uint64_t v;

	must(lkdf_channel_recv(arg, &v, -1));
	return NULL;
}

static void *send_zero(void *arg)
{
	must(lkdf_channel_send(arg, &(uint64_t){ 0 }, -1));
	return NULL;
}

static int receive_in_pool(struct lkdf_ctx *c, void *arg)
{
	uint64_t v;

	(void)c;
	return lkdf_channel_recv(*(struct lkdf_channel **)arg, &v, -1);
}

static void threads_wait(struct lkdf *rt)
{
	struct lkdf_channel *in = named(rt, "in", 1), *out = named(rt, "", 1);
	struct lkdf_kind *k = api_kind(rt, "pool", receive_in_pool, sizeof(in),
				       LKDF_BLOCKING);
	pthread_t reader, writer;
	uint64_t v = 1;

	must(lkdf_channel_send(out, &v, -1));
	must(-pthread_create(&reader, NULL, receive, in));
	must(-pthread_create(&writer, NULL, send_zero, out));
	why_until(rt, "a thread in lkdf_channel_recv() waits for a value of "
		      "channel \"in\"\n");
	why_until(rt, "a thread in lkdf_channel_send() waits for room in "
		      "channel \"\" of 1 value\n");
	must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k, .arg = &in),
			 NULL));
	why_until(rt,
		  "a body of the blocking pool in lkdf_channel_recv() waits "
		  "for a value of channel \"in\"\n");
	must(lkdf_channel_send(in, &v, -1));
	must(lkdf_channel_send(in, &v, -1));
	must(lkdf_channel_recv(out, &v, -1));
	pthread_join(reader, NULL);
	pthread_join(writer, NULL);
	nothing_waits(rt, "threads");
	lkdf_kind_put(k);
	lkdf_channel_put(in);
	lkdf_channel_put(out);
}

int main(void)
{
	static const char *const options[] = { "workers=1", "workers=2" };
	struct lkdf *rt;
	size_t i;

	tap_start(120);
	for (i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		rt = api_open(options[i]);
		two_wait_for_each_other(rt);
		a_sender_waits_for_room(rt);
		always_tasks_wait(rt);
		a_stage_waits(rt);
		threads_wait(rt);
		must(lkdf_close(rt));
	}
	return tap_end();
}
