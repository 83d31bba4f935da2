/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A film with B pictures, each of which is coded from the key picture before it
 * and from the one behind it. Stages of a stream: S is serial and takes the
 * pictures in order, P is parallel.
 *
 *	read (S) -> scale (P) -> key (S) -> code (P) -> write (S)
 *
 * A B picture arrives at code before the key picture that it needs. Its task
 * leaves with lkdf_then() until that one is there: its worker goes on with
 * others, and no stack waits. At most 8 pictures are under way, however long
 * the film is, and each is freed once, also where the run fails or is
 * cancelled. A serial loop checks the code of the film. Prints:
 *
 *   1000 pictures, 666 of them put off, right
 *   0 pictures left
 */
#include <errno.h>
#include <lkdf/lkdf.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define NR 1000
#define INFLIGHT 8 /* pictures under way */
#define SIZE 1024 /* bytes of a picture */

struct picture {
	struct film *film;
	uint64_t number, code;
	struct lkdf_event next_key; /* of a B picture, until it waits for it */
	unsigned char byte[SIZE];
};

struct film {
	struct lkdf_event next_key[INFLIGHT]; /* by number, for the signaller */
	uint64_t key[NR / 3 + 1]; /* codes of key pictures */
	uint64_t code, nr_written;
	atomic_long nr_alive, nr_put_off;
};

static bool is_key(uint64_t number)
{
	/* Behind the last multiple of 3 there is none to wait for. */
	return number % 3 == 0 || number / 3 == (NR - 1) / 3;
}

static void fill(struct picture *p, uint64_t number)
{
	uint64_t i;

	p->number = number;
	for (i = 0; i < SIZE; i++)
		p->byte[i] = (unsigned char)(number * 7 + i * i);
}

static void scale(struct picture *p)
{
	int i;

	for (i = 0; i < SIZE; i++)
		p->byte[i] = (unsigned char)(p->byte[i] * 31 + 7);
}

/* A key picture's code needs no other's: before and behind are 0. */
static uint64_t code_of(const struct picture *p, uint64_t before,
			uint64_t behind)
{
	uint64_t code = before * 17 + behind;
	int i;

	for (i = 0; i < SIZE; i++)
		code = code * 131 + p->byte[i];
	return code;
}

/* ---- bodies */

static struct film *film_of(struct lkdf_ctx *c)
{
	return (struct film *)(uintptr_t)lkdf_run_arg(c);
}

static struct picture *picture_of(struct lkdf_ctx *c)
{
	return *(struct picture *const *)lkdf_in(c, 0);
}

static void drop(void *value)
{
	struct picture *p = *(struct picture **)value;

	if (!p)
		return;
	atomic_fetch_sub(&p->film->nr_alive, 1);
	lkdf_event_put(p->next_key);
	free(p);
}

static int read_it(struct lkdf_ctx *c, void *arg)
{
	struct film *film = film_of(c);
	struct picture *p;
	uint64_t number = lkdf_seq(c);
	int rc = 0;

	(void)arg;
	if (number == NR)
		return LKDF_END;
	p = calloc(1, sizeof(*p));
	if (!p)
		return lkdf_fail(c, -ENOMEM, "picture %d", (int)number);
	atomic_fetch_add(&film->nr_alive, 1);
	p->film = film;
	fill(p, number);
	*(struct picture **)lkdf_out(c, 0) = p;
	if (!is_key(number))
		rc = lkdf_event_create(lkdf_runtime(c), 1, 0, &p->next_key);
	film->next_key[number % INFLIGHT] = p->next_key;
	return rc;
}

static int scale_it(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	scale(picture_of(c));
	return lkdf_pass(c, 0, 0); /* the pointer goes on, the bytes stay */
}

static int key_it(struct lkdf_ctx *c, void *arg)
{
	struct film *film = film_of(c);
	struct picture *p = picture_of(c);

	(void)arg;
	if (is_key(p->number))
		p->code = code_of(p, 0, 0);
	if (p->number % 3 == 0)
		film->key[p->number / 3] = p->code;
	if (p->number % 3 == 0 && p->number) {
		lkdf_event_signal(film->next_key[(p->number - 2) % INFLIGHT],
				  0);
		lkdf_event_signal(film->next_key[(p->number - 1) % INFLIGHT],
				  0);
	}
	return lkdf_pass(c, 0, 0);
}

static int code_b(struct lkdf_ctx *c, void *arg)
{
	const struct film *film = film_of(c);
	struct picture *p = picture_of(c);
	const uint64_t *key = &film->key[p->number / 3];

	(void)arg;
	if (lkdf_input_error(c, 0))
		return lkdf_input_error(c, 0);
	p->code = code_of(p, key[0], key[1]);
	return lkdf_pass(c, 0, 0);
}

static int code_it(struct lkdf_ctx *c, void *arg)
{
	struct picture *p = picture_of(c);
	struct lkdf_event next_key = p->next_key;

	(void)arg;
	if (is_key(p->number))
		return lkdf_pass(c, 0, 0);
	atomic_fetch_add(&film_of(c)->nr_put_off, 1);
	p->next_key = LKDF_EVENT_NONE; /* lkdf_then() takes it over */
	return lkdf_then(c, code_b, next_key);
}

static int write_it(struct lkdf_ctx *c, void *arg)
{
	struct film *film = film_of(c);
	const struct picture *p = picture_of(c);

	(void)arg;
	if (p->number != film->nr_written++)
		return lkdf_fail(c, -EILSEQ, "picture %d", (int)p->number);
	film->code = film->code * 31 + p->code;
	return 0; /* the picture's owner is still the port, which drops it */
}

/* ---- the graph */

static int add(struct lkdf *rt, struct lkdf_graph *g,
	       struct lkdf_kind_attr *stage)
{
	static const uint32_t pointer[] = { sizeof(struct picture *) };
	static const lkdf_drop_fn drops[] = { drop };
	struct lkdf_kind *k;
	int rc;

	stage->size = sizeof(*stage);
	stage->in_size = stage->out_size = pointer;
	stage->out_drop = stage->nr_out ? drops : NULL;
	rc = lkdf_kind_create(rt, stage, &k);
	if (rc)
		return rc;
	rc = lkdf_graph_add(g, k, NULL, NULL, 0);
	lkdf_kind_put(k);
	return rc;
}

static int build(struct lkdf *rt, struct lkdf_graph *g)
{
	struct lkdf_kind_attr stage[] = {
		{ .name = "read", .fn = read_it },
		{ .name = "scale", .fn = scale_it, .flags = LKDF_SHARED },
		{ .name = "key", .fn = key_it },
		{ .name = "code", .fn = code_it, .flags = LKDF_SHARED },
		{ .name = "write", .fn = write_it },
	};
	int i, task, last = 0;

	for (i = 0; i < 5; i++) {
		stage[i].nr_in = i > 0;
		stage[i].nr_out = i < 4;
		task = add(rt, g, &stage[i]);
		if (i)
			lkdf_graph_port(g, last, 0, task, 0);
		last = task;
	}
	return lkdf_graph_seal(g, NULL);
}

static int run(struct lkdf *rt, struct lkdf_graph *g, struct film *film)
{
	struct lkdf_event done;
	int rc;

	rc = build(rt, g);
	if (!rc)
		rc = lkdf_graph_run(g, NULL,
				    LKDF_ATTR(lkdf_run,
					      .flags = LKDF_RUN_STREAM,
					      .arg = film),
				    &done);
	return rc ? rc : lkdf_event_wait(done, -1);
}

static uint64_t serial(uint64_t key[])
{
	uint64_t n, code = 0;
	struct picture p;

	for (n = 0; n < NR; n += 3) {
		fill(&p, n);
		scale(&p);
		key[n / 3] = code_of(&p, 0, 0);
	}
	for (n = 0; n < NR; n++) {
		fill(&p, n);
		scale(&p);
		code = code * 31 +
		       (is_key(n) ? code_of(&p, 0, 0)
				  : code_of(&p, key[n / 3], key[n / 3 + 1]));
	}
	return code;
}

int main(void)
{
	static struct film film, want;
	struct lkdf_graph *g = NULL;
	struct lkdf *rt;
	int rc;

	if (lkdf_open(NULL, &rt))
		return 1;
	rc = lkdf_graph_create(rt,
			       LKDF_ATTR(lkdf_graph_attr, .name = "film",
					 .inflight = INFLIGHT),
			       &g);
	if (!rc)
		rc = run(rt, g, &film);
	if (rc)
		fprintf(stderr, "video: %s (%d)\n", lkdf_errmsg(), rc);
	rc = rc || film.code != serial(want.key);
	printf("%d pictures, %ld of them put off, %s\n", (int)film.nr_written,
	       atomic_load(&film.nr_put_off), rc ? "wrong" : "right");
	lkdf_graph_put(g);
	printf("%ld pictures left\n", atomic_load(&film.nr_alive));
	return lkdf_close(rt) || rc;
}
