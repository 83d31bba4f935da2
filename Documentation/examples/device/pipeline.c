/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A streaming pipeline with a stage on a device: frames are made, changed by a
 * kernel and summed, several of them at a time, each stage in the order of the
 * frames. Its inflight holds the source back: no frame is begun before there is
 * room for it behind. The gain of a frame and its number of items travel beside
 * the frame through ports, and are a parameter and the range of the kernel.
 *
 * The kernel runs on an OpenCL device if there is one, else on CPUs. Prints:
 *
 *   200 frames, never more than 4 at a time, in order, their sum is right
 */
#include <errno.h>
#include <lkdf/lkdf.h>
#include <stdio.h>
#include <stdlib.h>

#define NR_FRAMES 200
#define NR_INFLIGHT 4
#define NR_ITEMS 4096

/* State that the stages share; the source and the sink write their own part. */
struct stream {
	_Atomic(uint32_t) nr_begun, nr_ended;
	uint32_t most; /* at a time */
	bool is_in_order;
	uint64_t sum;
};

/* At the ports: a frame has half its items, or all. */
enum {
	NUMBER,
	GAIN,
	RANGE,
	NR_PORTS
};
static const uint32_t sizes[NR_PORTS] = { 4, 4, 3 * sizeof(uint64_t) };

static uint32_t nr_items(uint32_t number)
{
	return number % 2 ? NR_ITEMS : NR_ITEMS / 2;
}

static int source(struct lkdf_ctx *c, void *arg)
{
	struct stream *s = arg;
	uint32_t number = s->nr_begun, i, *frame;
	uint64_t *range = lkdf_out(c, RANGE);

	if (number == NR_FRAMES)
		return LKDF_END;
	s->nr_begun++;
	if (s->nr_begun - s->nr_ended > s->most)
		s->most = s->nr_begun - s->nr_ended;
	*(uint32_t *)lkdf_out(c, NUMBER) = number;
	*(uint32_t *)lkdf_out(c, GAIN) = number + 1;
	range[0] = nr_items(number);
	range[1] = range[2] = 1;
	frame = lkdf_ptr(c, 0);
	for (i = 0; i < NR_ITEMS; i++)
		frame[i] = i;
	return 0;
}

/* The kernel, for OpenCL and for CPUs. */
static const char text[] =
	"kernel void gain(global const uint *frame, global uint *out, uint gain)\n"
	"{\n\tout[get_global_id(0)] = frame[get_global_id(0)] * gain;\n}\n";

static int gain(struct lkdf_ctx *c, void *arg)
{
	const uint32_t *frame = lkdf_ptr(c, 0);
	uint32_t *out = lkdf_ptr(c, 1), i;
	const uint32_t *by = lkdf_in(c, GAIN);
	const uint64_t *range = lkdf_in(c, RANGE);
	unsigned port;
	int rc = 0;

	(void)arg;
	for (i = 0; i < range[0]; i++)
		out[i] = frame[i] * *by;
	for (port = 0; port < NR_PORTS && !rc; port++)
		rc = lkdf_pass(c, port, port);
	return rc;
}

static int sink(struct lkdf_ctx *c, void *arg)
{
	const uint32_t *frame = lkdf_ptr(c, 0);
	const uint64_t *range = lkdf_in(c, RANGE);
	struct stream *s = arg;
	uint32_t number = *(const uint32_t *)lkdf_in(c, NUMBER), i;

	s->is_in_order = s->is_in_order && number == s->nr_ended;
	for (i = 0; i < range[0]; i++)
		s->sum += frame[i];
	s->nr_ended++;
	return 0;
}

static uint64_t expected(void)
{
	uint64_t sum = 0;
	uint32_t n, i;

	for (n = 0; n < NR_FRAMES; n++)
		for (i = 0; i < nr_items(n); i++)
			sum += (uint64_t)i * (n + 1);
	return sum;
}

static int make_kernel(struct lkdf *rt, struct lkdf_kind **out)
{
	static const struct lkdf_param param[] = {
		{ .from = LKDF_PARAM_USE, .nr = 2 },
		{ .from = LKDF_PARAM_PORT, .first = GAIN },
	};
	const struct lkdf_code code = { .device = "opencl",
					.image = text,
					.entry = "gain" };

	return lkdf_kind_create_kernel(
		rt,
		LKDF_KERNEL(.kind = LKDF_KIND(.name = "gain", .fn = gain,
					      .nr_in = NR_PORTS,
					      .nr_out = NR_PORTS,
					      .in_size = sizes,
					      .out_size = sizes),
			    .code = &code, .nr_code = 1, .param = param,
			    .nr_param = 2, .range_from = LKDF_RANGE_PORT,
			    .range_at = RANGE),
		out);
}

static int make_kinds(struct lkdf *rt, struct lkdf_kind *k[3])
{
	int rc;

	rc = lkdf_kind_create(rt,
			      LKDF_KIND(.name = "source", .fn = source,
					.nr_out = NR_PORTS, .out_size = sizes),
			      &k[0]);
	if (!rc)
		rc = make_kernel(rt, &k[1]);
	if (!rc)
		rc = lkdf_kind_create(rt,
				      LKDF_KIND(.name = "sink", .fn = sink,
						.nr_in = NR_PORTS,
						.in_size = sizes),
				      &k[2]);
	return rc;
}

/* source -> gain -> sink, with frames as data of each run. */
static int build(struct lkdf_graph *g, struct lkdf_kind *k[3],
		 struct lkdf_data *frame[2], struct stream *s)
{
	const struct lkdf_use use[] = { { frame[0], LKDF_WRITE, 0 },
					{ frame[0], LKDF_READ, 0 },
					{ frame[1], LKDF_WRITE, 0 },
					{ frame[1], LKDF_READ, 0 } };
	static const unsigned first[] = { 0, 1, 3, 4 };
	uint16_t port;
	int i, rc = 0;

	for (i = 0; i < 3 && rc >= 0; i++)
		rc = lkdf_graph_add_task(
			g,
			LKDF_TASK(.kind = k[i], .arg = s, .use = &use[first[i]],
				  .nr_use = first[i + 1] - first[i]));
	for (i = 0; i < 2; i++)
		for (port = 0; port < NR_PORTS && rc >= 0; port++)
			rc = lkdf_graph_port(g, i, port, i + 1, port);
	return rc < 0 ? rc : lkdf_graph_seal(g, NULL);
}

static int run(struct lkdf *rt, struct stream *s)
{
	struct lkdf_graph_attr a = { .size = sizeof(a),
				     .inflight = NR_INFLIGHT };
	struct lkdf_data_attr bytes = { .size = sizeof(bytes),
					.flags = LKDF_DATA_ONCE,
					.bytes = NR_ITEMS * sizeof(uint32_t) };
	struct lkdf_run r = { .size = sizeof(r), .flags = LKDF_RUN_STREAM };
	struct lkdf_kind *k[3] = { NULL };
	struct lkdf_data *frame[2] = { NULL };
	struct lkdf_graph *g = NULL;
	struct lkdf_event done;
	int rc, i;

	rc = lkdf_graph_create(rt, &a, &g);
	for (i = 0; i < 2 && !rc; i++)
		rc = lkdf_data_create(rt, &bytes, &frame[i]);
	if (!rc)
		rc = make_kinds(rt, k);
	if (!rc)
		rc = build(g, k, frame, s);
	if (!rc)
		rc = lkdf_graph_run(g, NULL, &r, &done);
	if (!rc)
		rc = lkdf_event_wait(done, -1);
	for (i = 0; i < 3; i++)
		lkdf_kind_put(k[i]);
	lkdf_data_put(frame[0]);
	lkdf_data_put(frame[1]);
	lkdf_graph_put(g);
	return rc;
}

int main(void)
{
	struct stream s = { .is_in_order = true };
	struct lkdf *rt;
	bool is_right;
	int rc = lkdf_open("devices=opencl", &rt);

	if (!rc) {
		rc = run(rt, &s);
		if (rc)
			fprintf(stderr, "pipeline: %s (%d)\n", lkdf_errmsg(),
				rc);
		if (lkdf_close(rt))
			rc = -EBUSY;
	}
	if (rc)
		return 1;
	is_right =
		s.is_in_order && s.sum == expected() && s.most <= NR_INFLIGHT;
	printf("%u frames, never more than %d at a time, in order, their sum "
	       "is %s\n",
	       s.nr_ended, NR_INFLIGHT, is_right ? "right" : "wrong");
	return is_right ? 0 : 1;
}
