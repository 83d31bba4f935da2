/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "signal/board.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/util.h"
#include "mem/os.h"
#include "signal/sources.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PAGE 4096
#define MS ((int64_t)1000000)

/* Blocks of a pass, about, and the pause after it: so many times as long. */
static const struct pace {
	uint32_t max_blocks, share;
} paces[] = {
	[BOARD_IDLE] = { 512, 4 },
	[BOARD_NOW] = { 16384, 32 },
};

/* No pause is shorter or longer. */
#define MIN_PASS_NS MS
#define MAX_PASS_NS (64 * MS)

/* How long a range that is not settled waits for its next look. */
#define MIN_PAUSE_MS 1
#define MAX_PAUSE_MS 1024

/* ---- open and close ----------------------------------------------------- */

static void number_nodes(const struct board_attr *a, struct board *b)
{
	int i;

	memset(b->node_of, -1, sizeof(b->node_of));
	for (i = 0; i < a->nr_nodes; i++)
		if (a->os_node[i] >= 0 && a->os_node[i] <= LKDF_BLOCK_NODE)
			b->node_of[a->os_node[i]] = (int16_t)i;
}

void board_off(struct board *b, const char *why)
{
	memset(b, 0, sizeof(*b));
	snprintf(b->why, sizeof(b->why), "%s", why);
}

/* The best that there is. 0 or -ENOMEM. */
static int open_source(struct board *b, enum board_wish wish)
{
	const struct signal_source *s;
	size_t nr, i;
	int rc = 1;

	if (wish != BOARD_AUTO)
		snprintf(b->why, sizeof(b->why), "switched off");
	s = signal_sources(&nr);
	for (i = 0; i < nr && rc > 0; i++)
		if (s[i].open_pages && (!s[i].has_rights || wish == BOARD_AUTO))
			rc = s[i].open_pages(b);
	/* A source that refuses leaves no word of its own. */
	check(!rc == !!b->source && !b->source == !b->words);
	return rc;
}

int board_open(const struct board_attr *a, struct board *b)
{
	board_off(b, "");
	number_nodes(a, b);
	b->min_bytes = max_u64(a->min_bytes, 1 << BOARD_MIN_SHIFT);
	b->proc_root = a->proc_root ? a->proc_root : "/proc";
	b->device = a->device;
	b->where = a->where ? a->where : os_where;
	b->call = a->call;
	if (a->wish == BOARD_OFF)
		snprintf(b->why, sizeof(b->why), "switched off");
	else if (open_source(b, a->wish))
		return err(-ENOMEM, "signal: no memory for the board");
	return 0;
}

void board_close(struct board *b, bool is_child)
{
	if (b->source)
		b->source->close(b, is_child);
	b->source = NULL;
	b->nr_words = 0;
}

void board_told_by(struct board *b, const struct board_news *n)
{
	if (b->source && b->source->tier == BOARD_T0)
		b->news = *n;
}

/* ---- ranges -------------------------------------------------------------- */

/* A slot of the table, as its number of blocks tells; under lock. */
enum range_state {
	RANGE_FREE,
	RANGE_WATCHED,
};

CHECK_ONLY static const uint8_t legal[] = {
	[RANGE_FREE] = MOVE_TO(RANGE_WATCHED),
	[RANGE_WATCHED] = MOVE_TO(RANGE_FREE),
};

CHECK_ONLY static enum range_state state_of(uint32_t nr)
{
	return nr ? RANGE_WATCHED : RANGE_FREE;
}

void board_set_blocks(struct board *b, unsigned id, uint32_t nr)
{
	struct board_range *r = &b->range[id];

	lock_assert_held(&b->lock);
	check(id < BOARD_RANGES);
	check_move(legal, state_of(a_load(&r->nr, relaxed)), state_of(nr));
	a_store(&r->nr, nr, relaxed);
}

/* A watched slot's blocks are among the words of the source. */
CHECK_ONLY static bool range_sane(const struct board *b, unsigned id)
{
	const struct board_range *r = &b->range[id];
	uint64_t nr = a_load(&r->nr, relaxed);

	return id < BOARD_RANGES && nr && nr <= BOARD_BLOCKS &&
	       a_load(&r->first, relaxed) + nr <= b->nr_words;
}

static unsigned shift_of(uint64_t bytes)
{
	unsigned shift = BOARD_MIN_SHIFT;

	while ((bytes - 1) >> shift >= BOARD_BLOCKS)
		shift++;
	return shift;
}

static void look_first(struct board *b, unsigned id, uint64_t bytes,
		       bool is_there)
{
	struct board_range *r = &b->range[id];

	a_store(&r->bytes, bytes, relaxed);
	a_store(&r->at_ns, 0, relaxed);
	r->look_ns = 0;
	r->pause_ms = MIN_PAUSE_MS;
	r->is_stale = true;
	check(range_sane(b, id));
	if (is_there && b->source->look(b, id))
		a_store(&r->at_ns, clock_now_ns(), relaxed);
	a_add(&b->nr_ranges, 1, relaxed);
}

int board_add(struct board *b, const void *at, uint64_t bytes, bool is_there)
{
	uint64_t start = round_up((uintptr_t)at, PAGE);
	uint64_t end = ((uintptr_t)at + bytes) / PAGE * PAGE;
	int id;

	if (!b->source || bytes < b->min_bytes || start >= end)
		return -1;
	lock_take(&b->lock);
	id = b->source->add(b, start, end - start, shift_of(end - start));
	if (id >= 0)
		look_first(b, (unsigned)id, end - start, is_there);
	lock_give(&b->lock);
	if (id < 0)
		a_add(&b->nr_refused, 1, relaxed);
	return id < 0 ? -1 : id;
}

void board_del(struct board *b, int id)
{
	if (id < 0 || !b->source)
		return;
	lock_take(&b->lock);
	board_set_blocks(b, (unsigned)id, 0);
	b->source->del(b, (unsigned)id);
	check(a_load(&b->nr_ranges, relaxed));
	a_sub(&b->nr_ranges, 1, relaxed);
	lock_give(&b->lock);
}

/* ---- what is on it ------------------------------------------------------- */

struct board_span board_span(const struct board *b, int id, const void *at,
			     uint64_t bytes)
{
	const struct board_range *r = &b->range[id];
	uint64_t start = a_load(&r->start, relaxed), from = (uintptr_t)at;
	uint32_t nr = a_load(&r->nr, relaxed), last;
	unsigned shift = a_load(&r->shift, relaxed);
	uint64_t to = from + bytes - 1;
	struct board_span s = { 0, 0 };

	/* Ranges begin with a whole page, data somewhere. */
	from = max_u64(from, start);
	if (!nr || to < from || (from - start) >> shift >= nr)
		return s;
	from = (from - start) >> shift;
	last = (uint32_t)min_u64((to - start) >> shift, nr - 1);
	s.first = a_load(&r->first, relaxed) + (uint32_t)from;
	s.nr = last + 1 - (uint32_t)from;
	return s;
}

bool board_is_stale(const struct board *b, struct board_span s)
{
	uint32_t nr = s.nr < BOARD_LOOKS ? s.nr : BOARD_LOOKS, i;

	if (b->news.nr &&
	    a_load(b->news.nr, relaxed) != a_load(&b->nr_news, relaxed))
		return true;
	for (i = 0; i < nr; i++)
		if (board_load(b,
			       s.first + (uint32_t)((uint64_t)s.nr * i / nr)) &
		    LKDF_BLOCK_STALE)
			return true;
	return false;
}

unsigned board_nodes(const struct board *b, struct board_span s,
		     int16_t node[BOARD_LOOKS])
{
	uint32_t nr = s.nr < BOARD_LOOKS ? s.nr : BOARD_LOOKS, i;
	unsigned n = 0;
	uint16_t word;

	for (i = 0; i < nr; i++) {
		word = board_load(
			b, s.first + (uint32_t)((uint64_t)s.nr * i / nr));
		if (word & LKDF_BLOCK_EMPTY)
			continue;
		node[n] = b->node_of[word & LKDF_BLOCK_NODE];
		n += node[n] >= 0;
	}
	return n;
}

int board_most(const struct board *b, struct board_span s)
{
	unsigned nr, i, j, count, best = 0;
	int16_t node[BOARD_LOOKS];
	int most = BOARD_NOWHERE;

	nr = board_nodes(b, s, node);
	for (i = 0; i < nr; i++) {
		count = 0;
		for (j = 0; j < nr; j++)
			count += node[j] == node[i];
		if (count > best) {
			best = count;
			most = node[i];
		}
	}
	return most;
}

int board_fact(const struct board *b, int id, struct board_span s)
{
	int node = BOARD_NOWHERE, at;
	uint16_t word;
	uint32_t i;

	if (!b->source || !b->source->is_exact || b->source->is_stale(b, id))
		return BOARD_NOWHERE;
	for (i = 0; i < s.nr; i++) {
		word = board_load(b, s.first + i);
		if (word & LKDF_BLOCK_UNSETTLED)
			return BOARD_NOWHERE;
		at = word & LKDF_BLOCK_MIXED
			     ? BOARD_SPREAD
			     : b->node_of[word & LKDF_BLOCK_NODE];
		if (at == BOARD_SPREAD || (node >= 0 && at != node))
			return BOARD_SPREAD;
		node = at;
	}
	return node;
}

static void read_range(const struct board *b, const struct board_range *r,
		       int node, struct board_sum *sum)
{
	uint32_t first = a_load(&r->first, relaxed);
	uint32_t nr = a_load(&r->nr, relaxed), i;
	uint64_t left = a_load(&r->bytes, relaxed), size;
	unsigned shift = a_load(&r->shift, relaxed);
	uint16_t word;
	int at;

	for (i = 0; i < nr; i++, left -= size) {
		size = min_u64(left, (uint64_t)1 << shift);
		word = board_load(b, first + i);
		at = word & LKDF_BLOCK_EMPTY
			     ? BOARD_NOWHERE
			     : b->node_of[word & LKDF_BLOCK_NODE];
		if (node >= 0 && at != node)
			continue;
		sum->bytes += at < 0 ? 0 : size;
		sum->unsettled += word & LKDF_BLOCK_UNSETTLED ? size : 0;
	}
}

void board_read(const struct board *b, int node, struct board_sum *sum)
{
	const struct board_range *r;
	int64_t at;

	*sum = (struct board_sum){ 0 };
	for (r = b->range; r < b->range + BOARD_RANGES; r++) {
		at = a_load(&r->at_ns, relaxed);
		if (!b->source || !a_load(&r->nr, relaxed) || !at)
			continue;
		if (!sum->at_ns || at < sum->at_ns)
			sum->at_ns = at;
		read_range(b, r, node, sum);
	}
}

int board_count(void *board, uint64_t start, uint64_t end,
		struct pages_tally *t)
{
	const struct board *b = board;

	if (!b->source || !b->source->count)
		return -EOPNOTSUPP;
	return b->source->count(b, start, end, t);
}

int board_fd(const struct board *b)
{
	return b->source && b->source->fd ? b->source->fd(b) : -1;
}

/* ---- passes -------------------------------------------------------------- */

void board_has_changed(struct board *b)
{
	/* [board.change] the words; pairs with [board.seen]. */
	a_add(&b->nr_changes, 1, release);
}

static bool is_settled(const struct board *b, const struct board_range *r)
{
	uint32_t first = a_load(&r->first, relaxed);
	uint32_t nr = a_load(&r->nr, relaxed), i;

	for (i = 0; i < nr; i++)
		if (board_load(b, first + i) & LKDF_BLOCK_UNSETTLED)
			return false;
	return true;
}

/* Those that are not settled, or that nobody tells about, wait longer. */
static void set_pause(struct board *b, struct board_range *r, bool is_done,
		      int64_t now)
{
	if (is_done)
		a_store(&r->at_ns, now, relaxed);
	if (is_done && is_settled(b, r))
		r->pause_ms = MAX_PAUSE_MS;
	r->look_ns = b->source->is_exact && is_done && is_settled(b, r)
			     ? INT64_MAX
			     : now + r->pause_ms * MS;
	if (r->pause_ms < MAX_PAUSE_MS)
		r->pause_ms *= 2;
}

/* Blocks that were looked at. It may be gone by now. */
static uint32_t refresh_range(struct board *b, unsigned id, int64_t now)
{
	struct board_range *r = &b->range[id];
	bool is_stale = false;
	uint32_t nr;

	lock_take(&b->lock);
	nr = a_load(&r->nr, relaxed);
	if (nr)
		is_stale = b->source->is_stale(b, id);
	if (is_stale)
		r->pause_ms = MIN_PAUSE_MS;
	if (nr && (is_stale || now >= r->look_ns))
		set_pause(b, r, b->source->look(b, id), now);
	else
		nr = 0;
	lock_give(&b->lock);
	return nr;
}

/* From where the last one stopped. */
static void pass_sources(struct board *b, int64_t start, uint32_t max_blocks)
{
	uint32_t id = a_load(&b->next_id, relaxed), nr = 0, i;

	lock_take(&b->lock);
	b->source->begin(b);
	lock_give(&b->lock);
	for (i = 0; i < BOARD_RANGES && nr < max_blocks; i++) {
		if (a_load(&b->range[id].nr, relaxed))
			nr += refresh_range(b, id, start);
		id = (id + 1) % BOARD_RANGES;
	}
	a_store(&b->next_id, id, relaxed);
}

void board_pass(struct board *b, enum board_pass why)
{
	const struct pace *pace = &paces[why];
	int64_t start, end, pause;
	uint32_t no = 0;

	if (!b->source || !a_load(&b->nr_ranges, relaxed))
		return;
	start = clock_now_ns();
	/* [board.turn] where the last pass stopped; pairs with [board.over]. */
	if (start < a_load(&b->next_ns[why], relaxed) ||
	    !a_cas(&b->is_passing, &no, 1, acquire, relaxed))
		return;
	pass_sources(b, start, pace->max_blocks);
	end = clock_now_ns();
	pause = (end - start) * pace->share;
	if (pause < MIN_PASS_NS)
		pause = MIN_PASS_NS;
	if (pause > MAX_PASS_NS)
		pause = MAX_PASS_NS;
	a_store(&b->next_ns[why], end + pause, relaxed);
	check(a_load(&b->is_passing, relaxed));
	/* [board.over] where this one stopped; pairs with [board.turn]. */
	a_store(&b->is_passing, 0, release);
}
