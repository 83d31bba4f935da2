/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Blocks with labels as tools of other processes see them: a block is listed
 * as long as it has its label, what is full says so, a child of a fork lists
 * nothing, and a reader believes no number of the header.
 */
#include "tests/unit/heap.h"

#include "tools/foreign.c"
#include "tools/stat/stats_map.c"
#include "tools/utf8.c"

#include <lkdf/lkdf.h>
#include <sys/wait.h>

#define ROWS 64u

struct table {
	uint64_t address[ROWS];
	struct lkdf_stats_label row[ROWS];
	_Atomic(uint64_t) left_out;
};

static struct listing listing_of(struct table *t)
{
	memset((void *)t, 0, sizeof(*t));
	return (struct listing){ (void *)t->address, t->row, ROWS,
				 &t->left_out };
}

/* As tools read it. */
static struct stats_map map_of(struct table *t)
{
	struct stats_map m = { .base = (const char *)t, .bytes = sizeof(*t) };

	m.header.label_cap = ROWS;
	m.header.label_size = sizeof(t->row[0]);
	return m;
}

static const char *label_at(struct stats_map *m, const void *p)
{
	static struct stats_label l;

	return stats_map_label(m, (uintptr_t)p, &l) ? l.text : "none";
}

static void *fake(uint64_t address)
{
	return (void *)(uintptr_t)address;
}

static void set(struct listing *l, uint64_t address, const char *name)
{
	char text[64] = "";

	snprintf(text, sizeof(text), "%s", name);
	listing_set(l, fake(address), 64, text);
}

static void a_block_is_found_by_what_lies_in_it(void)
{
	static struct table t;
	struct listing l = listing_of(&t);
	struct stats_map m = map_of(&t);

	set(&l, 0x1000, "table");
	set(&l, 0x1040, "queue\033[2J");
	has(label_at(&m, fake(0x1000)), "table", "its first byte");
	has(label_at(&m, fake(0x103f)), "table", "its last byte");
	has(label_at(&m, fake(0x1040)), "queue?[2J", "the next, without codes");
	has(label_at(&m, fake(0xfff)), "none", "before it there is none");
	has(label_at(&m, fake(0x1080)), "none", "nor behind");
	set(&l, 0x1000, "other");
	has(label_at(&m, fake(0x1000)), "other", "a name is replaced");
	listing_drop(&l, fake(0x1000));
	has(label_at(&m, fake(0x1000)), "none", "and taken back");
	listing_drop(&l, fake(0x1000));
	has(label_at(&m, fake(0x1040)), "queue", "its neighbour stays");
	t.address[0] = 1;
	has(label_at(&m, fake(1)), "none", "what is being written is no block");
}

static void what_is_full_leaves_out(void)
{
	static struct table t;
	struct listing l = listing_of(&t);
	uint64_t i, nr = 0;

	for (i = 0; i < 4 * ROWS; i++)
		set(&l, 0x10000 + i * 64, "many");
	for (i = 0; i < ROWS; i++)
		nr += t.address[i] != 0;
	is(nr + a_load(&t.left_out, relaxed), 4 * ROWS,
	   "each block is listed, or counted as left out");
	ok(nr > ROWS / 2, "%llu of %u rows are used", (unsigned long long)nr,
	   ROWS);
	for (i = 0; i < 4 * ROWS; i++)
		listing_drop(&l, fake(0x10000 + i * 64));
	for (nr = 0, i = 0; i < ROWS; i++)
		nr += t.address[i] != 0;
	is(nr, 0, "all rows are free at the end");
}

static void name(struct heap *h, void *p, const char *text)
{
	struct span *s = entry_span(index_entry(&h->index, p));
	uint32_t i = 0;

	if (s->block_size)
		i = (uint32_t)((char *)p - s->base) / s->block_size;
	label_set(s, i, label_take(&h->labels, text));
}

static void rows_end_with_their_memory(void)
{
	struct heap *h = plain_heap();
	struct cache *c = heap_cache_create(h, 0);
	void *small = take(h, c, 1, 100000), *large = take(h, c, 1, 3 * MIB);
	static struct table t;
	struct stats_map m = map_of(&t);

	h->labels.listing = listing_of(&t);
	name(h, small, "small");
	name(h, large, "large");
	has(label_at(&m, (char *)small + 99999), "small", "a block of a span");
	has(label_at(&m, (char *)large + 2 * MIB), "large", "a large one");
	heap_free(h, c, small);
	heap_free(h, c, large);
	cache_flush(c);
	heap_trim(h, true);
	has(label_at(&m, small), "none", "its span has gone");
	has(label_at(&m, large), "none", "the large one was unmapped");
	is(h->labels.nr_used, 0, "their texts have gone, too");
	heap_cache_destroy(c);
	heap_destroy(h);
}

/* In a child: its own blocks are nobody's to see. */
static int label_in_child(struct lkdf *rt, struct stats_map *m)
{
	struct lkdf_place *p = lkdf_place_node(rt, 0);
	void *block;
	int i;

	for (i = 0; i < 100; i++)
		if (!lkdf_alloc(p, LKDF_MEM_OWN, 4096, 0, "child", &block) &&
		    strcmp(label_at(m, block), "parent") &&
		    strcmp(label_at(m, block), "none"))
			return 1;
	return 0;
}

static void a_runtime_lists_its_blocks(void)
{
	struct stats_map m;
	struct lkdf *rt;
	void *block, *next;
	int status = -1;
	pid_t child;

	is(lkdf_open("workers=1,pin=no", &rt), 0, "a runtime");
	is(stats_map_open(getpid(), &m, 1), 1, "its memfd is found");
	lkdf_alloc(lkdf_place_node(rt, 0), LKDF_MEM_OWN, 4096, 0, "parent",
		   &block);
	has(label_at(&m, (char *)block + 4095), "parent", "its block is named");
	child = fork();
	if (!child)
		_exit(label_in_child(rt, &m));
	waitpid(child, &status, 0);
	is(status, 0, "a child's blocks are not");
	lkdf_free(rt, block);
	has(label_at(&m, block), "parent", "a freed one keeps its name");
	lkdf_alloc(lkdf_place_node(rt, 0), LKDF_MEM_OWN, 4096, 0, NULL, &next);
	ok(next == block && !strcmp(label_at(&m, block), "none"),
	   "until the next allocation");
	lkdf_free(rt, next);
	lkdf_close(rt);
	stats_map_close(&m);
}

/* A reader may come while the runtime opens: the key is set after the header is
 * there. */
static void the_probe_s_key_may_come_late(void)
{
	static struct lkdf_stats_header h;
	struct stats_map m = { .base = (const char *)&h, .bytes = sizeof(h) };

	is(stats_map_key(&m), 0, "no key at first");
	h.probe_key = 7;
	is(stats_map_key(&m), 7, "the key that was set since");
}

static bool is_taken(const struct lkdf_stats_header *h)
{
	return is_sane(h, 1 << 20) && has_sane_labels(h, 1 << 20);
}

static void a_reader_believes_no_number(void)
{
	const struct lkdf_stats_header good = {
		.magic = LKDF_STATS_MAGIC,
		.version = LKDF_STATS_VERSION,
		.header_size = sizeof(good),
		.block_size = sizeof(struct lkdf_stats_block),
		.name_size = 64,
		.label_cap = ROWS,
		.label_size = sizeof(struct lkdf_stats_label),
	};
	struct lkdf_stats_header h = good;

	ok(is_taken(&h), "a table that fits is taken");
	h.label_cap = LKDF_MAX_LABELS;
	ok(!is_taken(&h), "too many rows are refused");
	h = good;
	h.label_table_offset = UINT64_MAX - 7;
	ok(!is_taken(&h), "so is a table that begins behind the end");
	h.label_table_offset = (1 << 20) - 64;
	ok(!is_taken(&h), "or ends there");
	h.label_table_offset = 4;
	ok(!is_taken(&h), "or lies askew");
	h = good;
	h.label_size = 64;
	ok(!is_taken(&h), "rows that are too small are refused");
	h.label_size = 77;
	ok(!is_taken(&h), "and those that lie askew");
	h.label_cap = 0;
	ok(is_taken(&h), "a library without the table is taken");
}

int main(void)
{
	tap_start(60);
	a_block_is_found_by_what_lies_in_it();
	what_is_full_leaves_out();
	rows_end_with_their_memory();
	a_runtime_lists_its_blocks();
	a_reader_believes_no_number();
	the_probe_s_key_may_come_late();
	return tap_end();
}
