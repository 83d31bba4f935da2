/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What the contestants of lkdf bench submit and of the tiles share: the
 * questions
 * submit NAME NR WORKERS HELD      ns of submitting a plan, ns until all ran;
 *                                  held: nothing runs meanwhile
 * tiles NAME N SIDE WORKERS        ns of one factorisation, its residual
 * The program gives the two functions declared here.
 */
#ifndef TESTS_BENCH_PEER_SUBMIT_H
#define TESTS_BENCH_PEER_SUBMIT_H

#include "tests/bench/peer_loop.h"
#include "tests/bench/plan.h"
#include "tests/bench/tiles.h"

static struct plan the_plan;
static struct tiles the_tiles;

/* out[0], out[1]; 0, or -1 and why. */
static int submit_plan(struct question *q, int workers, bool is_held);
static int submit_tiles(struct question *q, int workers);

/* The words and tiles are given back before they change. */
static void forget_data(void);

static bool is_asked_again(char *before, size_t size, const struct question *q,
			   int nr)
{
	char asked[128] = "";
	int i;

	for (i = 0; i < nr && i < q->nr; i++) {
		strncat(asked, q->word[i], sizeof(asked) / 4 - 2);
		strcat(asked, " ");
	}
	if (!strcmp(before, asked))
		return true;
	snprintf(before, size, "%s", asked);
	return false;
}

static int answer_submit(struct question *q)
{
	static char before[128];

	if (q->nr < 5)
		return peer_refuse(q, "too few words");
	if (!is_asked_again(before, sizeof(before), q, 3)) {
		forget_data();
		plan_fini(&the_plan);
		if (plan_init(&the_plan, q->word[1], peer_number(q, 2))) {
			before[0] = '\0';
			return peer_refuse(q, "no such plan");
		}
	}
	the_plan.nr_runs++;
	if (submit_plan(q, (int)peer_number(q, 3), peer_number(q, 4)))
		return -1;
	return plan_is_right(&the_plan) ? 2 : peer_refuse(q, "wrong result");
}

static int answer_tiles(struct question *q)
{
	static char before[128];

	if (q->nr < 5)
		return peer_refuse(q, "too few words");
	if (!is_asked_again(before, sizeof(before), q, 4)) {
		forget_data();
		tiles_fini(&the_tiles);
		if (tiles_init(&the_tiles, q->word[1], peer_number(q, 2),
			       peer_number(q, 3))) {
			before[0] = '\0';
			return peer_refuse(q, "no such tiles");
		}
	}
	tiles_reset(&the_tiles);
	if (submit_tiles(q, (int)peer_number(q, 4)))
		return -1;
	q->out[1] = tiles_residual(&the_tiles);
	return 2;
}

#endif
