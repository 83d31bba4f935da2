/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf bench device: kernels on an OpenCL device, as tasks, by hand on one
 * queue, and by StarPU. A chain of kernels in a sealed graph, kernels that do
 * nothing, and a kernel whose result a task on a CPU takes; then how long after
 * a device is done that task starts (device_done.c). With --device cuda other
 * rows, of a card (device_cuda.c).
 */
#include "tests/bench/suites/device.h"
#include "tests/bench/suites/suites.h"

#include "bench/peer.h"
#include "tests/bench/raw_cl.h"

#include <lkdf/device.h>
#include <lkdf/lkdf.h>

#include <errno.h>
#include <math.h>
#include <string.h>

#define WORKERS 2
#define NR 1000 /* kernels of a chain, and side by side */
#define PAIRS 250

struct kernels {
	struct lkdf *rt;
	struct lkdf_place *place;
	struct lkdf_kind *step, *nothing, *touch;
	struct lkdf_data *data;
	struct lkdf_graph *chain;
	struct raw_cl *raw;
	char why[96]; /* why there is no device */
	struct peer starpu;
};

struct part {
	const char *name, *question;
	int64_t (*by_raw)(struct raw_cl *r, unsigned nr);
	int64_t (*by_lkdf)(struct kernels *k);
	unsigned per; /* kernels or pairs of one round */
	double raw_bar, starpu_bar; /* 0: none */
};

struct sampled {
	struct samples lkdf, raw, starpu;
};

static int64_t failed(const char *what, int rc)
{
	return bench_fail(rc, "device: %s: %s", what, lkdf_errmsg());
}

/* ---- lkdf --------------------------------------------------------------- */

static int touch_body(struct lkdf_ctx *c, void *arg)
{
	uint64_t *word = lkdf_ptr(c, 0);

	(void)arg;
	word[0]++;
	return 0;
}

static int clear(struct kernels *k)
{
	void *bytes;
	int rc = lkdf_data_acquire(k->data, LKDF_WRITE, -1, &bytes);

	if (rc)
		return rc;
	memset(bytes, 0, RAW_CL_BYTES);
	lkdf_data_release(k->data);
	return 0;
}

static int64_t check(struct kernels *k, int64_t start, int rc, unsigned steps)
{
	int64_t ns = bench_now_ns() - start;
	const uint64_t *word;
	void *bytes;

	if (!rc)
		rc = lkdf_data_acquire(k->data, LKDF_READ, -1, &bytes);
	if (rc)
		return failed("run", rc);
	word = bytes;
	if (word[RAW_CL_WORDS - 1] != raw_cl_word(steps))
		rc = bench_fail(-EIO, "device: lkdf: wrong result");
	lkdf_data_release(k->data);
	return rc ? rc : ns;
}

static int64_t lkdf_chain(struct kernels *k)
{
	struct lkdf_event done;
	int64_t start;
	int rc = clear(k);

	start = bench_now_ns();
	if (!rc)
		rc = lkdf_graph_run(k->chain, NULL, NULL, &done);
	if (!rc)
		rc = lkdf_event_wait(done, -1);
	return check(k, start, rc, NR);
}

static int64_t lkdf_side_by_side(struct kernels *k)
{
	const struct lkdf_task t = { .size = sizeof(t),
				     .kind = k->nothing,
				     .place = k->place };
	int64_t start;
	int rc = clear(k);
	unsigned i;

	start = bench_now_ns();
	for (i = 0; i < NR && !rc; i++)
		rc = lkdf_submit(k->rt, NULL, &t, NULL);
	if (!rc)
		rc = lkdf_scope_wait(k->rt, NULL, -1);
	return check(k, start, rc, 0);
}

static int64_t lkdf_pairs(struct kernels *k)
{
	const struct lkdf_use use = { k->data, LKDF_RW, 0 };
	const struct lkdf_task step = { .size = sizeof(step),
					.kind = k->step,
					.place = k->place,
					.use = &use,
					.nr_use = 1 };
	const struct lkdf_task touch = { .size = sizeof(touch),
					 .kind = k->touch,
					 .use = &use,
					 .nr_use = 1 };
	int64_t start;
	int rc = clear(k);
	unsigned i;

	start = bench_now_ns();
	for (i = 0; i < PAIRS && !rc; i++) {
		rc = lkdf_submit(k->rt, NULL, &step, NULL);
		if (!rc)
			rc = lkdf_submit(k->rt, NULL, &touch, NULL);
	}
	if (!rc)
		rc = lkdf_scope_wait(k->rt, NULL, -1);
	return check(k, start, rc, PAIRS);
}

static int make_kernel(struct kernels *k, const char *entry, uint64_t items,
		       uint32_t block, struct lkdf_kind **out)
{
	const struct lkdf_kind_attr kind = { .size = sizeof(kind),
					     .name = entry };
	const struct lkdf_code code = { .device = "opencl",
					.image = raw_cl_text,
					.entry = entry };
	const struct lkdf_kernel_attr a = { .size = sizeof(a),
					    .kind = &kind,
					    .code = &code,
					    .nr_code = 1,
					    .range_from = LKDF_RANGE_VALUE,
					    .range = { items, 1, 1 },
					    .block = { block, 1, 1 } };

	return lkdf_kind_create_kernel(k->rt, &a, out);
}

static int make_kinds(struct kernels *k)
{
	const struct lkdf_kind_attr touch = { .size = sizeof(touch),
					      .name = "touch",
					      .fn = touch_body };
	const struct lkdf_data_attr data = { .size = sizeof(data),
					     .bytes = RAW_CL_BYTES };
	int rc = make_kernel(k, "step_words", RAW_CL_WORDS, RAW_CL_BLOCK,
			     &k->step);

	if (!rc)
		rc = make_kernel(k, "do_nothing", 1, 1, &k->nothing);
	if (!rc)
		rc = lkdf_kind_create(k->rt, &touch, &k->touch);
	return rc ? rc : lkdf_data_create(k->rt, &data, &k->data);
}

static int make_chain(struct kernels *k)
{
	const struct lkdf_use use = { k->data, LKDF_RW, 0 };
	const struct lkdf_task t = { .size = sizeof(t),
				     .kind = k->step,
				     .place = k->place,
				     .use = &use,
				     .nr_use = 1 };
	int rc = lkdf_graph_create(k->rt, NULL, &k->chain);
	unsigned i;

	for (i = 0; i < NR && rc >= 0; i++)
		rc = lkdf_graph_add_task(k->chain, &t);
	return rc < 0 ? rc : lkdf_graph_seal(k->chain, NULL);
}

/* 1: there is no device, and why; 0 or -errno. */
static int kernels_open(struct kernels *k)
{
	int rc;

	memset(k, 0, sizeof(*k));
	k->raw = raw_cl_open(k->why, sizeof(k->why));
	if (!k->raw)
		return 1;
	rc = bench_open(WORKERS, "devices=opencl", &k->rt);
	if (rc)
		return rc;
	if (lkdf_places(k->rt, LKDF_PLACE_GPU, &k->place, 1) < 1) {
		snprintf(k->why, sizeof(k->why), "absent: %.80s",
			 lkdf_errmsg());
		return 1;
	}
	peer_open(&k->starpu, "peer_starpu_cl");
	rc = make_kinds(k);
	if (!rc)
		rc = make_chain(k);
	return rc ? (int)failed("open", rc) : 0;
}

static void kernels_close(struct kernels *k)
{
	if (k->rt)
		lkdf_scope_wait(k->rt, NULL, -1);
	lkdf_graph_put(k->chain);
	lkdf_data_put(k->data);
	lkdf_kind_put(k->step);
	lkdf_kind_put(k->nothing);
	lkdf_kind_put(k->touch);
	if (k->rt)
		lkdf_close(k->rt);
	peer_close(&k->starpu);
	raw_cl_close(k->raw);
}

/* ---- rows --------------------------------------------------------------- */

static const struct part parts[] = {
	{ "chain", "chain", raw_cl_chain, lkdf_chain, NR, 1.6, 5 },
	{ "side-by-side", "side-by-side", raw_cl_side_by_side,
	  lkdf_side_by_side, NR, 2.8, 0 },
	{ "pair", "pairs", raw_cl_pairs, lkdf_pairs, PAIRS, 2, 3 },
};
#define NR_PARTS (sizeof(parts) / sizeof(*parts))

void device_judge(struct bench *b, struct bench_row *row, enum row_bar dir,
		  double bar, const struct samples *floor)
{
	double spread = (samples_quantile(floor, 0.75) -
			 samples_quantile(floor, 0.25)) /
			2 / samples_median(floor);

	row_judge(row, dir, bar, gate_was_fair(&b->gate));
	if (!(spread > 0.2))
		return;
	row->ok = ROW_NULL;
	snprintf(row->note, sizeof(row->note), "raw spreads by %.0f %%",
		 spread * 100);
}

static int round_raw(struct kernels *k, const struct part *p, struct sampled *s)
{
	int64_t ns = p->by_raw(k->raw, p->per);

	if (ns < 0)
		return bench_fail((int)ns, "device: %s", raw_cl_why(k->raw));
	samples_add(&s->raw, (double)ns / 1e3 / p->per);
	return 0;
}

static int round_lkdf(struct kernels *k, const struct part *p,
		      struct sampled *s)
{
	int64_t ns = p->by_lkdf(k);

	if (ns < 0)
		return (int)ns;
	samples_add(&s->lkdf, (double)ns / 1e3 / p->per);
	return 0;
}

static void round_starpu(struct kernels *k, const struct part *p,
			 struct sampled *s)
{
	double ns[PEER_MAX_VALUES];

	if (peer_ask(&k->starpu, ns, "%s %u", p->question, p->per) > 0)
		samples_add(&s->starpu, ns[0] / 1e3 / p->per);
}

static void part_rows(struct bench *b, const struct kernels *k,
		      const struct part *p, const struct sampled *s)
{
	struct bench_row *row =
		report_add(&b->report, WORKERS, "us", "%s/raw", p->name);

	row_value(row, &s->lkdf, 1);
	row->floor = samples_median(&s->raw);
	snprintf(row->peer, sizeof(row->peer), "raw");
	row->peer_value = row->floor;
	row_ratio(row, &s->lkdf, &s->raw);
	device_judge(b, row, BAR_AT_MOST, p->raw_bar, &s->raw);
	row = report_add(&b->report, WORKERS, "us", "%s/starpu", p->name);
	row_value(row, &s->lkdf, 1);
	if (!row_peer(row, "starpu", &s->starpu, k->starpu.why))
		return;
	row_ratio(row, &s->starpu, &s->lkdf);
	if (p->starpu_bar > 0)
		device_judge(b, row, BAR_AT_LEAST, p->starpu_bar, &s->raw);
}

static unsigned rounds_of(const struct bench *b)
{
	return b->is_quick ? 5 : 15;
}

static int measure(struct bench *b, struct kernels *k, const struct part *p)
{
	struct sampled s;
	unsigned i;
	int rc;

	memset(&s, 0, sizeof(s));
	/* Code is compiled, and threads are there. */
	rc = p->by_lkdf(k) < 0 ? -EIO : round_raw(k, p, &s);
	s.raw.nr = 0;
	gate_reset(&b->gate);
	for (i = 0; i < rounds_of(b) && !rc; i++) {
		bench_round(b, p->name);
		rc = round_raw(k, p, &s);
		if (!rc)
			rc = round_lkdf(k, p, &s);
		round_starpu(k, p, &s);
	}
	if (!rc)
		part_rows(b, k, p, &s);
	return rc;
}

static bool is_cuda(const struct bench *b)
{
	return !strcmp(b->device, "cuda");
}

double bench_device_steps(const struct bench *b)
{
	if (is_cuda(b))
		return device_cuda_steps(b);
	return (double)NR_PARTS * rounds_of(b) + device_done_steps(b);
}

static int opencl_rows(struct bench *b)
{
	struct kernels k;
	int rc = kernels_open(&k);
	size_t i;

	for (i = 0; i < NR_PARTS && rc > 0; i++)
		snprintf(report_add(&b->report, WORKERS, "us", "%s/raw",
				    parts[i].name)
				 ->note,
			 sizeof(((struct bench_row *)0)->note), "%s", k.why);
	for (i = 0; i < NR_PARTS && !rc; i++)
		rc = measure(b, &k, &parts[i]);
	kernels_close(&k);
	return rc < 0 ? rc : device_done_rows(b);
}

int bench_device(struct bench *b)
{
	return is_cuda(b) ? device_cuda_rows(b) : opencl_rows(b);
}
