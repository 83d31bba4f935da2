/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Sharing, stealing and waking in virtual time, on 4 to 256 workers: the very
 * functions of the scheduler decide, and a table of costs says how long each
 * step takes. The table is that of a machine of 16 cores, where the same rules
 * gave speed-ups of 7.0 and 13.5 (near), 7.5 and 13.2 (random) and bursts of
 * 322 and 80 us; here it is 7.4 and 13.6, 7.9 and 13.7, 387 and 75.
 */
#include "policy/policy.h"

#include "base/random.h"
#include "tests/tap.h"

#include <stdlib.h>
#include <string.h>

/* Costs, in ns. */
#define LINE 100 /* a cache line that moves */
#define CLEAN 20 /* between two bodies where nobody asks */
#define SHARE 100 /* answers a request */
#define LOOK(n) (300 + 50 * (n)) /* a round over all victims */
#define TAKE (8 * LINE) /* a steal: two words, the item, its frame */
#define GRAIN 400 /* bodies of that share all */
#define WAKE 23000 /* until a woken thread runs */
#define WAKER 3000 /* that the waker spends */

#define NR_LEVELS 96
#define MAX_WORKERS 256
#define MAX_PREDS 5
#define NR_TASKS (NR_LEVELS * MAX_WORKERS)
#define NEVER UINT64_MAX

/* ---- graphs: levels as wide as the machine ------------------------------ */

struct task {
	int nr_preds, nr_succs;
	int succ[64];
	int left; /* predecessors that have not ended */
	uint64_t looked_at; /* an idle worker looked after it was ready */
};

static struct task tasks[NR_TASKS];
static int width;

static void add_edge(int from, int to)
{
	struct task *f = &tasks[from];

	if (f->nr_succs == (int)(sizeof(f->succ) / sizeof(f->succ[0])))
		return;
	f->succ[f->nr_succs++] = to;
	tasks[to].nr_preds++;
}

/* Two to each side in the level before, or three of that level. */
static void build(bool is_near, int n)
{
	uint64_t seed = 1;
	int level, i, k;

	width = n;
	memset(tasks, 0, sizeof(tasks));
	for (level = 1; level < NR_LEVELS; level++) {
		for (i = 0; i < n; i++) {
			for (k = i - 2; is_near && k <= i + 2; k++)
				if (k >= 0 && k < n)
					add_edge((level - 1) * n + k,
						 level * n + i);
			for (k = 0; !is_near && k < 3; k++)
				add_edge((level - 1) * n +
						 (int)(random_next(&seed) %
						       (uint32_t)n),
					 level * n + i);
		}
	}
}

/* ---- workers ------------------------------------------------------------ */

/* Positions as in sched/deque.h: tail, split, head. */
struct player {
	int item[NR_TASKS];
	int tail, split, head;
	int running; /* the task; -1: it looks for work */
	bool is_asked;
	uint64_t at; /* when its body ends, or its next look begins */
	int order[MAX_WORKERS];
};

static struct player players[MAX_WORKERS];
static int nr_players, nr_idle, nr_left;
static uint64_t body_ns;
static int nr_late; /* tasks that began 1 us and more after such a look */
static bool has_rule; /* false: half is shared, however long the body */

/* Ready tasks that nobody who is idle has looked for yet. */
static int fresh[NR_TASKS], nr_fresh;

static void make_ready(struct player *p, int task)
{
	p->item[p->head++] = task;
	fresh[nr_fresh++] = task;
}

/* As worker_offer() does where somebody spins and nobody sleeps. */
static uint64_t offer(struct player *p)
{
	uint32_t nr_ready = (uint32_t)(p->head - p->tail);
	bool is_all;

	if (!p->is_asked)
		return CLEAN;
	is_all = has_rule && policy_share_all(body_ns, GRAIN, nr_ready, true);
	if (is_all)
		p->split = p->head;
	else if (p->split == p->tail)
		p->split += (p->head - p->split + 1) / 2;
	if (p->split != p->tail && !(is_all && nr_idle))
		p->is_asked = false;
	return CLEAN + SHARE;
}

static void begin(struct player *p, int task, uint64_t now)
{
	uint64_t late = tasks[task].looked_at;

	now += offer(p);
	late = late != NEVER && now > late ? now - late : 0;
	nr_late += late > 1000;
	p->running = task;
	p->at = now + body_ns;
}

/* Own work, the youngest first; else it is idle from now on. */
static void go_on(struct player *p, uint64_t now)
{
	if (p->head > p->tail) {
		p->head--;
		if (p->split > p->head) {
			p->split = p->head;
			now += LINE;
		}
		begin(p, p->item[p->head], now);
		return;
	}
	nr_idle++;
	p->running = -1;
	p->at = now + LOOK((uint64_t)nr_players) / 2;
}

static void end(struct player *p, uint64_t now)
{
	struct task *t = &tasks[p->running];
	int i, next = -1;

	nr_left--;
	now += (uint64_t)t->nr_succs * LINE / 2;
	for (i = 0; i < t->nr_succs; i++) {
		if (--tasks[t->succ[i]].left)
			continue;
		if (next < 0)
			next = t->succ[i];
		else
			make_ready(p, t->succ[i]);
	}
	if (next < 0)
		go_on(p, now);
	else
		begin(p, next, now);
}

static void look(struct player *p, uint64_t now)
{
	struct player *v;
	int i;

	for (i = 0; i < nr_players - 1; i++) {
		v = &players[p->order[i]];
		if (v->split == v->tail)
			continue;
		nr_idle--;
		begin(p, v->item[v->tail++], now + TAKE);
		return;
	}
	for (i = 0; i < nr_fresh; i++)
		tasks[fresh[i]].looked_at = now;
	nr_fresh = 0;
	for (i = 0; i < nr_players - 1; i++)
		players[p->order[i]].is_asked = true;
	p->at = now + LOOK((uint64_t)nr_players);
}

static void start(int n)
{
	static struct policy_peer near[MAX_WORKERS];
	int i;

	nr_players = n;
	nr_idle = nr_fresh = 0;
	nr_late = 0;
	nr_left = NR_LEVELS * n;
	for (i = 0; i < nr_left; i++) {
		tasks[i].left = tasks[i].nr_preds;
		tasks[i].looked_at = NEVER;
	}
	for (i = 0; i < n; i++)
		near[i] = (struct policy_peer){ 10, true };
	for (i = 0; i < n; i++) {
		memset(&players[i], 0, sizeof(players[i]));
		policy_steal_order(near, n, i, players[i].order);
	}
	for (i = 0; i < NR_LEVELS * n; i++)
		if (!tasks[i].nr_preds)
			make_ready(&players[0], i);
	for (i = 0; i < n; i++)
		go_on(&players[i], 0);
}

/* Returns the speed-up over all bodies in a row. */
static double play(int n)
{
	struct player *p;
	uint64_t now = 0;
	int i;

	start(n);
	while (nr_left) {
		p = &players[0];
		for (i = 1; i < n; i++)
			if (players[i].at < p->at)
				p = &players[i];
		now = p->at;
		if (p->running < 0)
			look(p, now);
		else
			end(p, now);
	}
	return (double)(NR_LEVELS * n) * (double)body_ns / (double)now;
}

/* ---- all that is ready begins on whoever is idle ------------------------ */

static void graphs_scale(void)
{
	static const struct {
		int n;
		double half, all; /* of near with 10 us: at most, at least */
		double random; /* of random: at least */
	} rows[] = {
		{ 4, 2.4, 3.4, 3.4 },
		{ 16, 8, 13, 13 },
		{ 64, 32, 48, 44 },
		{ 256, 128, 160, 140 },
	};
	double half, all, random;
	size_t i;

	body_ns = 10000;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		build(true, rows[i].n);
		has_rule = false;
		half = play(rows[i].n);
		has_rule = true;
		all = play(rows[i].n);
		ok(half <= rows[i].half && all >= rows[i].all,
		   "%d workers, bodies of 10 us: %.1f times as fast as one, "
		   "%.1f if half were shared",
		   rows[i].n, all, half);
		ok(nr_late <= 2 * rows[i].n,
		   "but for %d of the first level tasks begin within 1 us of "
		   "a look",
		   nr_late);
		build(false, rows[i].n);
		random = play(rows[i].n);
		ok(random >= rows[i].random, "random inputs: %.1f", random);
	}
}

/* A chain for each worker: what one has goes on there. */
static void chains_stay(void)
{
	ok(!policy_share_all(10 * GRAIN, GRAIN, 1, true),
	   "one task that is ready is not shared with others");
}

/* ---- bursts ------------------------------------------------------------- */

/* A token on its way: when it arrives, and which link of the chain. */
struct token {
	uint64_t at;
	int link;
};

static struct token tokens[MAX_WORKERS + 1];
static int nr_tokens, nr_asleep;

static void give(uint32_t nr, uint64_t now, int link)
{
	for (; nr; nr--, nr_asleep--)
		tokens[nr_tokens++] = (struct token){ now + WAKE, link };
}

/* A burst for n sleepers: links until the last begins, and when that is. */
static int burst(int n, uint64_t ns, uint64_t *last)
{
	int nr_public = n, nr_done, longest = 0;
	struct token t;
	uint64_t now;

	nr_asleep = n;
	nr_tokens = 0;
	*last = 0;
	give(1, 0, 1);
	for (nr_done = 0; nr_done < nr_tokens && nr_public; nr_done++) {
		t = tokens[nr_done];
		nr_public--;
		*last = t.at;
		longest = t.link;
		now = t.at + WAKER;
		if (policy_wake_tree(ns, WAKE))
			give(policy_nr_wakes(
				     (uint32_t)nr_public,
				     (uint32_t)(nr_tokens - nr_done - 1),
				     (uint32_t)nr_asleep, POLICY_TREE),
			     now, t.link + 1);
		else if (nr_done + 1 == nr_tokens && nr_asleep && nr_public)
			give(1, now, t.link + 1);
	}
	ok(!nr_public && nr_tokens <= n, "%d items: no token too many", n);
	return longest;
}

static void bursts_are_trees(void)
{
	static const int sizes[] = { 1, 4, 8, 15, 64, 255 };
	uint64_t last, chain;
	int n, links, most;
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		n = sizes[i];
		for (most = 1, links = 1; links < n; links *= 4)
			most++;
		links = burst(n, 300000, &last);
		ok(links <= most, "%d sleepers: %d links, at most 1 + log4", n,
		   links);
		ok(last <= (uint64_t)most * (WAKE + WAKER),
		   "the last one begins after %.0f us", (double)last / 1e3);
	}
	burst(15, 300000, &last);
	is(burst(15, 1000, &chain), 15, "short bodies: each wakes the next");
	ok(chain > 4 * last, "which takes %.0f us and not %.0f",
	   (double)chain / 1e3, (double)last / 1e3);
}

int main(void)
{
	tap_start(60);
	graphs_scale();
	chains_stay();
	bursts_are_trees();
	return tap_end();
}
