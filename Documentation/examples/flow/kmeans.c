/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * k-means: a loop in a graph that ends when no centre has moved. Eight tasks
 * find the nearest centre of each of their points, one task makes new centres
 * and chooses. The main thread starts one run, however many rounds there are.
 *
 *	clear -> assign 0 .. assign 7 -> update -BACK-> clear
 *	                                 update -----> tell
 *
 * A serial loop over the same points checks the centres. Prints:
 *
 *   6 rounds: (4.1, 4.2) (14.1, 9.2) (24.1, 14.2) (34.1, 19.1)
 *   right
 */
#include <lkdf/lkdf.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define NR_POINTS 80000
#define NR_CENTRES 4
#define NR_PARTS 8

struct point {
	double x, y;
};

struct sums {
	struct point sum[NR_CENTRES];
	long nr[NR_CENTRES];
};

struct work {
	struct point point[NR_POINTS], centre[NR_CENTRES];
	struct sums sums[NR_PARTS];
	int rounds;
};

struct part {
	struct work *w;
	int number;
};

static int clear(struct lkdf_ctx *c, void *arg)
{
	struct part *part = arg;
	int p;

	(void)c;
	part->w->rounds++;
	for (p = 0; p < NR_PARTS; p++)
		part->w->sums[p] = (struct sums){ .nr = { 0 } };
	return 0;
}

static int nearest(const struct work *w, const struct point *p)
{
	double d, least = INFINITY;
	int k, best = 0;

	for (k = 0; k < NR_CENTRES; k++) {
		d = hypot(p->x - w->centre[k].x, p->y - w->centre[k].y);
		if (d < least) {
			least = d;
			best = k;
		}
	}
	return best;
}

static int assign(struct lkdf_ctx *c, void *arg)
{
	struct part *part = arg;
	const struct point *p = part->w->point + part->number * (NR_POINTS / 8);
	struct sums *s = &part->w->sums[part->number];
	int i, k;

	(void)c;
	for (i = 0; i < NR_POINTS / NR_PARTS; i++, p++) {
		k = nearest(part->w, p);
		s->sum[k].x += p->x;
		s->sum[k].y += p->y;
		s->nr[k]++;
	}
	return 0;
}

enum {
	AGAIN,
	DONE
}; /* the branches of update */

static int update(struct lkdf_ctx *c, void *arg)
{
	struct work *w = ((struct part *)arg)->w;
	struct point new, *old;
	double moved = 0;
	long nr;
	int k, p;

	(void)c;
	for (k = 0; k < NR_CENTRES; k++) {
		new = (struct point){ 0, 0 };
		for (p = 0, nr = 0; p < NR_PARTS; p++) {
			new.x += w->sums[p].sum[k].x;
			new.y += w->sums[p].sum[k].y;
			nr += w->sums[p].nr[k];
		}
		if (!nr)
			continue;
		old = &w->centre[k];
		new = (struct point){ new.x / (double)nr, new.y / (double)nr };
		moved += fabs(new.x - old->x) + fabs(new.y - old->y);
		*old = new;
	}
	return moved > 0 ? AGAIN : DONE;
}

static int tell(struct lkdf_ctx *c, void *arg)
{
	const struct work *w = ((struct part *)arg)->w;
	int k;

	(void)c;
	printf("%d rounds:", w->rounds);
	for (k = 0; k < NR_CENTRES; k++)
		printf(" (%.1f, %.1f)", w->centre[k].x, w->centre[k].y);
	printf("\n");
	return 0;
}

static int add(struct lkdf *rt, struct lkdf_graph *g, const char *name,
	       lkdf_fn fn, struct part part)
{
	struct lkdf_kind *k;
	int rc;

	rc = lkdf_kind_create(
		rt, LKDF_KIND(.name = name, .fn = fn, .arg_size = sizeof(part)),
		&k);
	if (!rc)
		rc = lkdf_graph_add(g, k, &part, NULL, 0);
	lkdf_kind_put(rc < 0 ? NULL : k);
	return rc;
}

static int build(struct lkdf *rt, struct lkdf_graph *g, struct work *w)
{
	int head = add(rt, g, "clear", clear, (struct part){ w, 0 });
	int last = add(rt, g, "update", update, (struct part){ w, 0 });
	int end = add(rt, g, "tell", tell, (struct part){ w, 0 });
	int i, part;

	for (i = 0; i < NR_PARTS; i++) {
		part = add(rt, g, "assign", assign, (struct part){ w, i });
		lkdf_graph_order(g, head, part);
		lkdf_graph_order(g, part, last);
	}
	lkdf_graph_back(g, last, AGAIN, head);
	lkdf_graph_branch(g, last, DONE, end);
	return lkdf_graph_seal(g, NULL);
}

/* Points in four squares, and one of each to begin with. */
static void fill(struct work *w)
{
	unsigned seed = 1;
	int i;

	for (i = 0; i < NR_POINTS; i++) {
		w->point[i].x = i % 4 * 10 + (seed >> 16) % 1000 / 120.0;
		seed = seed * 1103515245 + 12345;
		w->point[i].y = i % 4 * 5 + (seed >> 16) % 1000 / 120.0;
		seed = seed * 1103515245 + 12345;
	}
	for (i = 0; i < NR_CENTRES; i++)
		w->centre[i] = w->point[i];
	w->rounds = 0;
}

static bool is_right(const struct work *w)
{
	struct work *serial = malloc(sizeof(*serial));
	bool same = serial != NULL;
	int i;

	if (!serial)
		return false;
	fill(serial);
	do {
		clear(NULL, &(struct part){ serial, 0 });
		for (i = 0; i < NR_PARTS; i++)
			assign(NULL, &(struct part){ serial, i });
	} while (update(NULL, &(struct part){ serial, 0 }) == AGAIN);
	for (i = 0; i < NR_CENTRES; i++)
		same &= serial->centre[i].x == w->centre[i].x &&
			serial->centre[i].y == w->centre[i].y;
	same &= serial->rounds == w->rounds;
	free(serial);
	return same;
}

int main(void)
{
	struct work *w = malloc(sizeof(*w));
	struct lkdf_graph *g = NULL;
	struct lkdf *rt;
	int rc;

	if (!w || lkdf_open(NULL, &rt))
		return 1;
	fill(w);
	rc = lkdf_graph_create(rt, LKDF_ATTR(lkdf_graph_attr, .name = "kmeans"),
			       &g);
	if (!rc)
		rc = build(rt, g, w);
	if (!rc)
		rc = lkdf_graph_run(g, NULL, NULL, NULL);
	if (!rc)
		rc = lkdf_scope_wait(rt, NULL, -1);
	if (rc)
		fprintf(stderr, "kmeans: %s (%d)\n", lkdf_errmsg(), rc);
	else
		rc = is_right(w) ? 0 : 1;
	puts(rc ? "wrong" : "right");
	lkdf_graph_put(g);
	free(w);
	return lkdf_close(rt) || rc;
}
