/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf bench device --device cuda: kernels on the first card of NVIDIA's driver
 * as tasks and by hand (tests/bench/raw_cuda.h), in the same process and the
 * same rounds. A bar of "raw + 2 us" is one of 1 against so much more.
 *
 * The kernels are PTX, which needs no compiler, and of one thread: what is
 * measured is the way to the card and back.
 */
#include "tests/bench/suites/device_cuda.h"

#include "tests/bench/suites/device.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define QUICK_MIB 32 /* instead of CARD_LARGE_MIB */
#define SPINNING "devices=cuda,device_spin_us=500,spin_us=200"

static int wrap_pinned(struct cards *c, uint64_t bytes)
{
	struct lkdf_data_attr a = { .size = sizeof(a),
				    .bytes = RAW_CUDA_BYTES,
				    .wrap = c->pinned };
	unsigned i;
	int rc = lkdf_data_create(c->spinning.rt, &a, &c->pair);

	a.bytes = bytes / CARD_BLOCKS;
	for (i = 0; i < CARD_BLOCKS && !rc; i++) {
		a.wrap = (char *)c->pinned + i * a.bytes;
		rc = lkdf_data_create(c->plain.rt, &a, &c->blocks[i]);
	}
	return rc;
}

static int make_bytes(struct cards *c)
{
	uint64_t bytes = (uint64_t)c->large_mib << 20;
	struct lkdf_place *p = c->plain.place;
	int rc = lkdf_alloc(p, LKDF_MEM_HOST_PINNED, bytes, 0, "bench",
			    &c->pinned);

	if (!rc)
		rc = lkdf_alloc(p, LKDF_MEM_OWN, bytes, 0, "bench", &c->block);
	c->pageable = malloc(bytes);
	if (!rc && !c->pageable)
		return bench_fail(-ENOMEM, "device: no memory");
	if (rc)
		return (int)side_failed("memory", rc);
	memset(c->pinned, 0, bytes);
	memset(c->pageable, 0, bytes);
	rc = wrap_pinned(c, bytes);
	return rc ? (int)side_failed("memory", rc) : 0;
}

/* 1: there is no card, and why; 0 or -errno. */
static int open_cards(struct cards *c, bool is_quick)
{
	int rc;

	memset(c, 0, sizeof(*c));
	c->large_mib = is_quick ? QUICK_MIB : CARD_LARGE_MIB;
	device_cuda_faults(c);
	c->raw = raw_cuda_open(c->why, sizeof(c->why));
	if (!c->raw)
		return 1;
	rc = side_open(&c->plain, "devices=cuda", c->raw);
	if (!rc)
		rc = side_open(&c->spinning, SPINNING, c->raw);
	if (rc == -ENODEV) {
		snprintf(c->why, sizeof(c->why), "absent: %.80s",
			 lkdf_errmsg());
		return 1;
	}
	return rc ? rc : make_bytes(c);
}

static void close_cards(struct cards *c)
{
	unsigned i;

	lkdf_data_put(c->pair);
	for (i = 0; i < CARD_BLOCKS; i++)
		lkdf_data_put(c->blocks[i]);
	side_close(&c->spinning);
	if (c->block)
		lkdf_free(c->plain.rt, c->block);
	if (c->pinned)
		lkdf_free(c->plain.rt, c->pinned);
	side_close(&c->plain);
	free(c->pageable);
	raw_cuda_close(c->raw);
}

static unsigned rounds_of(const struct bench *b, const struct card_part *p)
{
	return p->is_once ? 1 : b->is_quick ? 3 : 15;
}

static int one_round(struct cards *c, const struct card_part *p,
		     struct samples *raw, struct samples *lkdf)
{
	int64_t ns = p->by_raw(c, p);

	if (ns < 0)
		return raw_cuda_why(c->raw)[0]
			       ? bench_fail((int)ns, "device: %s",
					    raw_cuda_why(c->raw))
			       : (int)ns;
	samples_add(raw, (double)ns / 1e3 / p->per + p->more_us);
	ns = p->by_lkdf(c, p);
	if (ns < 0)
		return (int)ns;
	samples_add(lkdf, (double)ns / 1e3 / p->per);
	return 0;
}

static struct bench_row *add_row(struct bench *b, const struct cards *c,
				 const struct card_part *p)
{
	if (!p->mib)
		return report_add(&b->report, CARD_WORKERS, "us", "cuda/%s",
				  p->name);
	return report_add(&b->report, CARD_WORKERS, "us", "cuda/%s/%uM",
			  p->name, (unsigned)(card_bytes(c, p) >> 20));
}

static void part_row(struct bench *b, const struct cards *c,
		     const struct card_part *p, const struct samples *raw,
		     const struct samples *lkdf)
{
	struct bench_row *row = add_row(b, c, p);

	row_value(row, lkdf, 1);
	row->floor = samples_median(raw);
	snprintf(row->peer, sizeof(row->peer), "%s", p->peer);
	row->peer_value = row->floor;
	row_ratio(row, lkdf, raw);
	device_judge(b, row, BAR_AT_MOST, p->bar, raw);
}

static int measure(struct bench *b, struct cards *c, const struct card_part *p)
{
	struct samples raw = { .nr = 0 }, lkdf = { .nr = 0 };
	unsigned i;
	int rc = 0;

	/* Code is loaded, threads are there, graphs were captured. */
	for (i = 0; i < 2 && !rc && !p->is_once; i++)
		rc = one_round(c, p, &raw, &lkdf);
	raw.nr = lkdf.nr = 0;
	gate_reset(&b->gate);
	for (i = 0; i < rounds_of(b, p) && !rc; i++) {
		bench_round(b, p->name);
		rc = one_round(c, p, &raw, &lkdf);
	}
	if (!rc)
		part_row(b, c, p, &raw, &lkdf);
	return rc;
}

double device_cuda_steps(const struct bench *b)
{
	double sum = 0;
	size_t i;

	for (i = 0; card_parts[i].name; i++)
		sum += rounds_of(b, &card_parts[i]);
	return sum;
}

int device_cuda_rows(struct bench *b)
{
	struct cards c;
	int rc = open_cards(&c, b->is_quick);
	size_t i;

	for (i = 0; card_parts[i].name && rc > 0; i++)
		snprintf(add_row(b, &c, &card_parts[i])->note,
			 sizeof(((struct bench_row *)0)->note), "%s", c.why);
	for (i = 0; card_parts[i].name && !rc; i++)
		rc = measure(b, &c, &card_parts[i]);
	close_cards(&c);
	return rc < 0 ? rc : 0;
}
