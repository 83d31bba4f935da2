/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * N queens: a task counts how often the rest of a board can be filled, and
 * spawns a child for each square of its row while many rows are left. Children
 * return what they found in variables of their parent, which joins them. A
 * serial search checks the number. Prints:
 *
 *   10 queens: 724 ways
 *   right
 */
#include <lkdf/lkdf.h>
#include <stdio.h>

#define NR 10
#define NR_ROWS_OF_TASKS 4 /* below them a task is not worth its price */

struct board {
	unsigned columns, left,
		right; /* attacked squares of the row, as bits */
	int row;
	long ways;
	struct lkdf_kind *kind;
};

static struct board with_queen(const struct board *b, unsigned at)
{
	return (struct board){ .columns = b->columns | at,
			       .left = (b->left | at) << 1,
			       .right = (b->right | at) >> 1,
			       .row = b->row + 1,
			       .kind = b->kind };
}

static unsigned free_squares(const struct board *b)
{
	return ((1u << NR) - 1) & ~(b->columns | b->left | b->right);
}

static long count(const struct board *b)
{
	unsigned at, rest = free_squares(b);
	struct board next;
	long ways = b->row == NR;

	for (; b->row < NR && rest; rest ^= at) {
		at = rest & -rest;
		next = with_queen(b, at);
		ways += count(&next);
	}
	return ways;
}

static int search(struct lkdf_ctx *c, void *arg)
{
	struct board *b = arg, child[NR];
	unsigned at, rest = free_squares(b);
	int i, rc = 0, joined, nr = 0;

	if (b->row >= NR_ROWS_OF_TASKS) {
		b->ways = count(b);
		return 0;
	}
	for (; rest && !rc; rest ^= at) {
		at = rest & -rest;
		child[nr] = with_queen(b, at);
		rc = lkdf_spawn(c, b->kind, &child[nr++]);
	}
	/* Children borrow these boards, so all end before the body does. */
	joined = lkdf_join(c);
	for (i = 0; i < nr; i++)
		b->ways += child[i].ways;
	return rc ? rc : joined;
}

static int run(struct lkdf *rt, struct board *b)
{
	struct lkdf_event done;
	int rc;

	rc = lkdf_kind_create(rt, LKDF_KIND(.name = "search", .fn = search),
			      &b->kind);
	if (rc)
		return rc;
	rc = lkdf_submit(rt, NULL, LKDF_TASK(.kind = b->kind, .arg = b), &done);
	lkdf_kind_put(b->kind);
	return rc ? rc : lkdf_event_wait(done, -1);
}

int main(void)
{
	struct board board = { .row = 0 }, empty = board;
	struct lkdf *rt;
	int rc;

	if (lkdf_open(NULL, &rt))
		return 1;
	rc = run(rt, &board);
	if (rc)
		fprintf(stderr, "queens: %s (%d)\n", lkdf_errmsg(), rc);
	else
		printf("%d queens: %ld ways\n", NR, board.ways);
	rc = rc || board.ways != count(&empty);
	puts(rc ? "wrong" : "right");
	return lkdf_close(rt) || rc;
}
