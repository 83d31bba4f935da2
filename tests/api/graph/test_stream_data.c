/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Data in streams: a serial stage has one for its own, all stages read others;
 * the stream claims them once, for all its waves.
 */
#include "tests/api/using.h"

#define NR_WAVES 500

static struct {
	struct lkdf_graph *g;
	struct lkdf_data *sum, *factor;
	uint64_t nr_waves; /* the source ends the stream then */
	uint64_t fails_at; /* wave */
	atomic_int nr_calls, nr_wrong;
} line;

static int source(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	atomic_fetch_add(&line.nr_calls, 1);
	return lkdf_seq(c) >= line.nr_waves ? LKDF_END : 0;
}

/* Beside those of other waves. */
static int multiply(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	atomic_fetch_add(&line.nr_wrong, *(uint64_t *)lkdf_ptr(c, 0) != 3);
	return 0;
}

/* Finds how many waves were before it. */
static int add(struct lkdf_ctx *c, void *arg)
{
	uint64_t *sum = lkdf_ptr(c, 0);

	(void)arg;
	atomic_fetch_add(&line.nr_wrong, *sum != lkdf_seq(c));
	*sum += 1;
	return lkdf_seq(c) == line.fails_at ? -EIO : 0;
}

static int put_wave(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	*(uint64_t *)lkdf_ptr(c, 0) = lkdf_seq(c);
	return 0;
}

static int read_wave(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	atomic_fetch_add(&line.nr_wrong,
			 *(uint64_t *)lkdf_ptr(c, 0) != lkdf_seq(c));
	return 0;
}

static void line_open(struct lkdf *rt)
{
	const uint64_t three = 3;
	struct lkdf_kind *k[3] = {
		api_kind(rt, "source", source, 0, 0),
		api_kind(rt, "multiply", multiply, 0, LKDF_SHARED),
		api_kind(rt, "add", add, 0, 0),
	};
	int i;

	line.sum = zeros(rt, NULL, 1);
	line.factor = number(rt, NULL, &three);
	line.fails_at = UINT64_MAX;
	line.nr_waves = NR_WAVES;
	atomic_store(&line.nr_calls, 0);
	atomic_store(&line.nr_wrong, 0);
	line.g = api_graph(rt, 4);
	must(lkdf_graph_add(line.g, k[0], NULL, NULL, 0));
	must(add_on(line.g, k[1], NULL, ON(line.factor, LKDF_READ)));
	must(add_on(line.g, k[2], NULL, ON(line.sum, LKDF_RW)));
	must(lkdf_graph_order(line.g, 0, 1));
	must(lkdf_graph_order(line.g, 1, 2));
	must(lkdf_graph_seal(line.g, NULL));
	for (i = 0; i < 3; i++)
		lkdf_kind_put(k[i]);
}

static void line_close(void)
{
	lkdf_graph_put(line.g);
	lkdf_data_put(line.sum);
	lkdf_data_put(line.factor);
}

static int stream(uint32_t flags, struct lkdf_event *done)
{
	return lkdf_graph_run(line.g, NULL,
			      ATTR(lkdf_run, .flags = LKDF_RUN_STREAM | flags),
			      done);
}

static int stream_all(uint32_t flags)
{
	struct lkdf_event done;

	must(stream(flags, &done));
	return lkdf_event_wait(done, -1);
}

static void a_stage_has_its_own(struct lkdf *rt)
{
	uint64_t version;

	line_open(rt);
	version = lkdf_data_version(line.sum);
	is(stream_all(0), 0, "a serial stage adds up, a parallel one reads");
	is(line.nr_wrong, 0, "each wave finds what those before it have left");
	is(value_of(line.sum), NR_WAVES, "all waves have");
	is(lkdf_data_version(line.sum) - version, NR_WAVES, "a write each");
	line_close();
}

static void a_stream_of_no_wave_writes_nothing(struct lkdf *rt)
{
	uint64_t version;

	line_open(rt);
	line.nr_waves = 0;
	version = lkdf_data_version(line.sum);
	is(stream_all(0), 0, "a stream that ends at once");
	is(lkdf_data_version(line.sum) - version, 0, "is no write");
	is(value_of(line.sum), 0, "and leaves the value");
	line_close();
}

static void others_wait_for_it(struct lkdf *rt)
{
	struct lkdf_event done;
	void *at;

	line_open(rt);
	must(lkdf_data_acquire(line.sum, LKDF_RW, -1, &at));
	must(stream(0, &done));
	api_nap_ns(20000000);
	is(line.nr_calls, 0, "the stream waits for who has the data");
	*(uint64_t *)at = 0;
	must(lkdf_data_release(line.sum));
	is(value_of(line.sum), NR_WAVES, "who comes later waits for its end");
	is(lkdf_event_wait(done, -1), 0, "it ends well");
	is(line.nr_wrong, 0, "in order");
	line_close();
}

static void a_failure_is_the_datas(struct lkdf *rt, uint32_t flags)
{
	void *at;

	line_open(rt);
	line.fails_at = 17;
	is(stream_all(flags), -EIO, "wave 17 fails");
	is(lkdf_data_acquire(line.sum, LKDF_READ, -1, &at), -EIO,
	   "so does the data");
	ok(flags ? line.nr_calls == NR_WAVES + 1 : line.nr_calls < 30,
	   "%d calls of the source", line.nr_calls);
	lkdf_scope_wait(rt, NULL, -1);
	line_close();
}

static void refuses(struct lkdf *rt, struct lkdf_data *d, uint32_t flags,
		    uint32_t mode, const char *why)
{
	struct lkdf_kind *s = api_kind(rt, "source", source, 0, 0);
	struct lkdf_kind *k = api_kind(rt, "stage", add, 0, flags);
	struct lkdf_graph *g = api_graph(rt, 2);
	int i;

	must(lkdf_graph_add(g, s, NULL, NULL, 0));
	for (i = 0; i < (mode ? 2 : 1); i++) {
		must(add_on(g, k, NULL, ON(d, i ? mode : LKDF_RW)));
		must(lkdf_graph_order(g, 0, i + 1));
	}
	must(lkdf_graph_seal(g, NULL));
	is(lkdf_graph_run(g, NULL, ATTR(lkdf_run, .flags = LKDF_RUN_STREAM),
			  NULL),
	   -EOPNOTSUPP, "refused: %s", why);
	has(lkdf_errmsg(), why, "so it says");
	has(lkdf_errmsg(), "stage#1", "and of whom");
	is(api_run(g, NULL, NULL), 0, "a plain run is none the worse");
	lkdf_graph_put(g);
	lkdf_data_put(d);
	lkdf_kind_put(s);
	lkdf_kind_put(k);
}

/* Bytes that stay are in one place: waves would write each other's. */
static void kept_bytes_are_no_waves(struct lkdf *rt, bool has_reader)
{
	struct lkdf_data *d =
		DATA(rt, .bytes = 8, .flags = LKDF_DATA_ONCE | LKDF_DATA_KEEP);
	struct lkdf_kind *s = api_kind(rt, "source", source, 0, 0);
	struct lkdf_kind *k = api_kind(rt, "stage", put_wave, 0, 0);
	struct lkdf_kind *r = api_kind(rt, "read", read_wave, 0, LKDF_SHARED);

	line.nr_waves = 100;
	atomic_store(&line.nr_wrong, 0);
	line.g = api_graph(rt, 4);
	must(lkdf_graph_add(line.g, s, NULL, NULL, 0));
	must(add_on(line.g, k, NULL, ON(d, LKDF_WRITE)));
	must(lkdf_graph_order(line.g, 0, 1));
	if (has_reader)
		must(add_on(line.g, r, NULL, ON(d, LKDF_READ)));
	must(lkdf_graph_seal(line.g, NULL));
	if (has_reader) {
		is(stream(0, NULL), -EOPNOTSUPP, "KEEP with a reader: refused");
		has(lkdf_errmsg(),
		    "stage#1 uses, is used by others, too; use "
		    "it without LKDF_DATA_KEEP",
		    "so says the text");
		is(api_run(line.g, NULL, NULL), 0, "a plain run is allowed");
		is(line.nr_wrong, 0, "and right");
	} else {
		is(stream_all(0), 0, "KEEP of a stage alone");
		is(value_of(d), 99, "the last wave's value stays");
	}
	lkdf_graph_put(line.g);
	lkdf_data_put(d);
	lkdf_kind_put(s);
	lkdf_kind_put(k);
	lkdf_kind_put(r);
}

static void tests(struct lkdf *rt, const char *options)
{
	a_stage_has_its_own(rt);
	a_stream_of_no_wave_writes_nothing(rt);
	if (strcmp(options, "serial=yes"))
		others_wait_for_it(rt);
	a_failure_is_the_datas(rt, 0);
	a_failure_is_the_datas(rt, LKDF_RUN_GO_ON);
	refuses(rt, zeros(rt, NULL, 1), LKDF_SHARED, 0, "has no order there");
	refuses(rt, zeros(rt, NULL, 1), 0, LKDF_READ, "is used by others");
	kept_bytes_are_no_waves(rt, true);
	kept_bytes_are_no_waves(rt, false);
}

/* On one node nothing moves. */
static void what_moves_is_refused(void)
{
	struct lkdf *rt = api_open("workers=2,topology=\"numa:2 core:1\"");
	const uint64_t zero = 0;

	line.fails_at = UINT64_MAX;
	refuses(rt,
		DATA(rt, .bytes = 8, .init = &zero, .flags = LKDF_DATA_MIGRATE),
		0, 0, "may move");
	is(lkdf_close(rt), 0, "two nodes are closed");
}

int main(void)
{
	tap_start(60);
	api_each(tests);
	what_moves_is_refused();
	return tap_end();
}
