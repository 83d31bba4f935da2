/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "tests/bench/suites/device_cuda.h"

#include <errno.h>
#include <string.h>

#define SCRATCH_BYTES (1 << 20)
#define LIMIT_NS 3000000000 /* of a gate that nobody opens */

int64_t side_failed(const char *what, int rc)
{
	return bench_fail(rc, "device: %s: %s", what, lkdf_errmsg());
}

static int touch_body(struct lkdf_ctx *c, void *arg)
{
	uint32_t *word = lkdf_ptr(c, 0);

	(void)arg;
	word[0]++;
	return 0;
}

static int stamp_body(struct lkdf_ctx *c, void *arg)
{
	struct cards *cards = *(struct cards **)arg;

	(void)c;
	atomic_store(&cards->stamped_ns, bench_now_ns());
	return 0;
}

static int make_kernel(struct side *s, const char *entry,
		       const struct lkdf_param *p, unsigned nr,
		       struct lkdf_kind **out)
{
	const struct lkdf_kind_attr kind = { .size = sizeof(kind),
					     .name = entry };
	const struct lkdf_code code = { .device = "cuda",
					.image = raw_cuda_text,
					.entry = entry };
	const struct lkdf_kernel_attr a = { .size = sizeof(a),
					    .kind = &kind,
					    .code = &code,
					    .nr_code = 1,
					    .param = p,
					    .nr_param = nr,
					    .range_from = LKDF_RANGE_VALUE,
					    .range = { 1, 1, 1 },
					    .block = { 1, 1, 1 } };

	return lkdf_kind_create_kernel(s->rt, &a, out);
}

static int make_kernels(struct side *s, const struct raw_cuda *r)
{
	const uint64_t flag = raw_cuda_flag(r), limit = LIMIT_NS,
		       block = CARD_BLOCK_NS, nowhere = RAW_CUDA_WILD;
	const uint32_t one = 1;
	const struct lkdf_param by_one = { .from = LKDF_PARAM_VALUE,
					   .bytes = sizeof(one),
					   .value = &one };
	const struct lkdf_param step[] = { { .from = LKDF_PARAM_USE }, by_one },
				scratch[] = { { .from = LKDF_PARAM_SCRATCH,
						.bytes = SCRATCH_BYTES },
					      by_one },
				gate[] = { { .from = LKDF_PARAM_VALUE,
					     .bytes = sizeof(flag),
					     .value = &flag },
					   { .from = LKDF_PARAM_VALUE,
					     .bytes = sizeof(limit),
					     .value = &limit } },
				wild[] = { { .from = LKDF_PARAM_VALUE,
					     .bytes = sizeof(nowhere),
					     .value = &nowhere },
					   by_one },
				spin[] = { { .from = LKDF_PARAM_VALUE,
					     .bytes = sizeof(block),
					     .value = &block } };
	int rc = make_kernel(s, "empty", NULL, 0, &s->empty);

	if (!rc)
		rc = make_kernel(s, "step", step, 2, &s->step);
	if (!rc)
		rc = make_kernel(s, "step", scratch, 2, &s->scratch);
	if (!rc)
		rc = make_kernel(s, "gate", gate, 2, &s->gate);
	if (!rc)
		rc = make_kernel(s, "step", wild, 2, &s->wild);
	return rc ? rc : make_kernel(s, "spin", spin, 1, &s->spin);
}

static int make_graph(struct side *s, unsigned nr, struct lkdf_graph **out)
{
	const struct lkdf_use use = { s->data, LKDF_RW, 0 };
	const struct lkdf_task t = { .size = sizeof(t),
				     .kind = s->step,
				     .place = s->place,
				     .use = &use,
				     .nr_use = 1 };
	int rc = lkdf_graph_create(s->rt, NULL, out);
	unsigned i;

	for (i = 0; i < nr && rc >= 0; i++)
		rc = lkdf_graph_add_task(*out, &t);
	return rc < 0 ? rc : lkdf_graph_seal(*out, NULL);
}

static int make_all(struct side *s, const struct raw_cuda *r)
{
	const struct lkdf_kind_attr touch = { .size = sizeof(touch),
					      .name = "touch",
					      .fn = touch_body },
				    stamp = { .size = sizeof(stamp),
					      .name = "stamp",
					      .fn = stamp_body,
					      .arg_size = sizeof(void *) };
	const struct lkdf_data_attr data = { .size = sizeof(data),
					     .bytes = RAW_CUDA_BYTES };
	int rc = make_kernels(s, r);

	if (!rc)
		rc = lkdf_kind_create(s->rt, &touch, &s->touch);
	if (!rc)
		rc = lkdf_kind_create(s->rt, &stamp, &s->stamp);
	if (!rc)
		rc = lkdf_data_create(s->rt, &data, &s->data);
	if (!rc)
		rc = make_graph(s, CARD_NR, &s->chain);
	return rc ? rc : make_graph(s, CARD_REGION, &s->region);
}

int side_open(struct side *s, const char *options, const struct raw_cuda *r)
{
	int rc;

	memset(s, 0, sizeof(*s));
	rc = bench_open(CARD_WORKERS, options, &s->rt);
	if (rc)
		return rc;
	if (lkdf_places(s->rt, LKDF_PLACE_GPU, &s->place, 1) < 1)
		return -ENODEV;
	rc = make_all(s, r);
	return rc ? (int)side_failed("open", rc) : 0;
}

void side_close(struct side *s)
{
	if (!s->rt)
		return;
	lkdf_scope_wait(s->rt, NULL, -1);
	lkdf_graph_put(s->chain);
	lkdf_graph_put(s->region);
	lkdf_data_put(s->data);
	lkdf_kind_put(s->empty);
	lkdf_kind_put(s->step);
	lkdf_kind_put(s->gate);
	lkdf_kind_put(s->wild);
	lkdf_kind_put(s->spin);
	lkdf_kind_put(s->scratch);
	lkdf_kind_put(s->stamp);
	lkdf_kind_put(s->touch);
	lkdf_close(s->rt);
}

int side_submit(struct side *s, struct lkdf_kind *k, struct lkdf_data *d,
		struct lkdf_event *done)
{
	const struct lkdf_use use = { d, LKDF_RW, 0 };
	const struct lkdf_task t = { .size = sizeof(t),
				     .kind = k,
				     .place = k == s->touch ? NULL : s->place,
				     .use = d ? &use : NULL,
				     .nr_use = d != NULL };

	return lkdf_submit(s->rt, NULL, &t, done);
}

int side_clear(struct lkdf_data *d)
{
	void *bytes;
	int rc = lkdf_data_acquire(d, LKDF_WRITE, -1, &bytes);

	if (rc)
		return rc;
	*(uint32_t *)bytes = 0;
	lkdf_data_release(d);
	return 0;
}

int64_t side_check(struct lkdf_data *d, int64_t start, int rc, uint32_t word)
{
	int64_t ns = bench_now_ns() - start;
	void *bytes;

	if (!rc)
		rc = lkdf_data_acquire(d, LKDF_READ, -1, &bytes);
	if (rc)
		return side_failed("run", rc);
	if (*(uint32_t *)bytes != word)
		rc = bench_fail(-EIO, "device: lkdf: wrong result");
	lkdf_data_release(d);
	return rc ? rc : ns;
}
