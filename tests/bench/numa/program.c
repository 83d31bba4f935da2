/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "tests/bench/numa/program.h"
#include "tests/vm/plugin/guest.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_WORDS 65536u
#define HALO_WORDS 512u
#define BLOCKS 64u
#define SWEEPS 20u
#define DEAR_WALKS 3u
#define TREE_DEPTH 8u
#define TREE_TASKS ((1u << TREE_DEPTH) - 1)
#define TREE_INNER (TREE_TASKS / 2)
#define WAVE 16u
#define PAGE_WORDS 512u
#define TILES 12u
#define TILE_WORDS (128u * 128)
#define NR_TILES (TILES * (TILES + 1) / 2)
#define CHOL_TASKS 364u
#define LEAVES 128u
#define CHAINS 64u
#define LINKS 8u
#define LINK_WORDS 32768u
#define MAX_BLOCKS 256u

/* While a program is filled in. */
struct filler {
	struct program *p;
	uint32_t writer[MAX_BLOCKS]; /* task + 1 */
};

static struct task *add_task(struct filler *f, uint32_t owner)
{
	struct program *p = f->p;
	struct task *t = &p->task[p->nr_tasks];

	t->program = p;
	t->id = p->nr_tasks++;
	t->owner = owner;
	t->nr_walks = 1;
	return t;
}

static void touch(struct task *t, uint32_t first, uint32_t nr_words,
		  bool is_written)
{
	t->span[t->nr_spans++] = (struct span){
		.use = (uint16_t)(t->nr_uses - 1),
		.is_written = is_written,
		.first = first,
		.nr_words = nr_words,
		.step = 1,
	};
	t->program->nr_bytes +=
		8ull * nr_words * t->nr_walks * t->program->nr_repeats;
}

/*
 * Of the orders that follow from uses only that behind the last writer of what
 * is read is a predecessor: in these programs it implies the others.
 */
static void use(struct filler *f, struct task *t, uint32_t block, bool is_read,
		bool is_written)
{
	t->use[t->nr_uses++] = (struct block_use){ .block = block,
						   .is_read = is_read,
						   .is_written = is_written };
	if (is_read)
		t->pred[t->nr_preds++] = f->writer[block] - 1;
	if (is_written)
		f->writer[block] = t->id + 1;
}

static void reads_part(struct filler *f, struct task *t, uint32_t block,
		       uint32_t first, uint32_t nr_words)
{
	use(f, t, block, true, false);
	touch(t, first, nr_words, false);
}

static void reads(struct filler *f, struct task *t, uint32_t block)
{
	reads_part(f, t, block, 0, f->p->block_words);
}

static void writes(struct filler *f, struct task *t, uint32_t block)
{
	use(f, t, block, false, true);
	touch(t, 0, f->p->block_words, true);
}

static void updates(struct filler *f, struct task *t, uint32_t block)
{
	use(f, t, block, true, true);
	touch(t, 0, f->p->block_words, false);
	touch(t, 0, f->p->block_words, true);
}

/* The blocks that the first of four nodes has in a fair distribution. */
static bool is_dear(const struct program *p, uint32_t block)
{
	return p->is_timed && block < BLOCKS / PROGRAM_NODES;
}

static void add_sweep(struct filler *f, uint32_t block, uint32_t from,
		      uint32_t to)
{
	struct task *t = add_task(f, block * PROGRAM_WORKERS / BLOCKS);

	if (is_dear(f->p, block))
		t->nr_walks = DEAR_WALKS;
	reads(f, t, from + block);
	if (block)
		reads_part(f, t, from + block - 1, BLOCK_WORDS - HALO_WORDS,
			   HALO_WORDS);
	if (block < BLOCKS - 1)
		reads_part(f, t, from + block + 1, 0, HALO_WORDS);
	writes(f, t, to + block);
}

static void fill_stencil(struct filler *f)
{
	uint32_t i, sweep;

	for (i = 0; i < BLOCKS; i++)
		writes(f, add_task(f, i * PROGRAM_WORKERS / BLOCKS), i);
	for (sweep = 0; sweep < SWEEPS; sweep++)
		for (i = 0; i < BLOCKS; i++)
			add_sweep(f, i, sweep % 2 * BLOCKS,
				  (1 - sweep % 2) * BLOCKS);
}

/* Node i has the children 2i + 1 and 2i + 2. */
static void fill_tree(struct filler *f)
{
	uint32_t level, i;
	struct task *t;

	for (level = 0; level < TREE_DEPTH; level++) {
		for (i = 0; i < 1u << level; i++) {
			t = add_task(f, i * PROGRAM_WORKERS >> level);
			if (t->id)
				reads(f, t, (t->id - 1) / 2);
			if (t->id < TREE_INNER)
				writes(f, t, t->id);
		}
	}
}

static void fill_wave(struct filler *f)
{
	uint32_t row, column;
	struct task *t;

	for (row = 0; row < WAVE; row++) {
		for (column = 0; column < WAVE; column++) {
			t = add_task(f, row * PROGRAM_WORKERS / WAVE);
			if (row)
				reads(f, t, t->id - WAVE);
			if (column)
				reads(f, t, t->id - 1);
			writes(f, t, t->id);
		}
	}
}

static uint32_t tile(uint32_t row, uint32_t column)
{
	return row * (row + 1) / 2 + column;
}

/* Rows are dealt out to the nodes, and there to the two workers in turn. */
static struct task *add_tile_task(struct filler *f, uint32_t row)
{
	return add_task(f, row % PROGRAM_NODES * 2 + row / PROGRAM_NODES % 2);
}

static void factor(struct filler *f, uint32_t k)
{
	struct task *t;
	uint32_t row, column;

	updates(f, add_tile_task(f, k), tile(k, k));
	for (row = k + 1; row < TILES; row++) {
		t = add_tile_task(f, row);
		reads(f, t, tile(k, k));
		updates(f, t, tile(row, k));
	}
	for (row = k + 1; row < TILES; row++) {
		for (column = k + 1; column <= row; column++) {
			t = add_tile_task(f, row);
			reads(f, t, tile(row, k));
			if (column < row)
				reads(f, t, tile(column, k));
			updates(f, t, tile(row, column));
		}
	}
}

/*
 * Pages must be there before they are read, or the kernel lends all nodes one
 * page of zeroes; and more than a word of each would change the shares.
 */
static void fill_tile(struct filler *f, struct task *t, uint32_t block)
{
	uint32_t words = f->p->block_words;

	use(f, t, block, false, true);
	touch(t, 0, words, true);
	t->span[0].step = PAGE_WORDS;
	f->p->nr_bytes -=
		8ull * (words - words / PAGE_WORDS) * f->p->nr_repeats;
}

static void fill_chol(struct filler *f)
{
	uint32_t row, column, k;

	for (row = 0; row < TILES; row++)
		for (column = 0; column <= row; column++)
			fill_tile(f, add_tile_task(f, row), tile(row, column));
	for (k = 0; k < TILES; k++)
		factor(f, k);
}

static void fill_reduce(struct filler *f)
{
	uint32_t i, step;
	struct task *t;

	for (i = 0; i < LEAVES; i++)
		writes(f, add_task(f, i * PROGRAM_WORKERS / LEAVES), i);
	for (step = 1; step < LEAVES; step *= 2) {
		for (i = 0; i < LEAVES; i += 2 * step) {
			t = add_task(f, i * PROGRAM_WORKERS / LEAVES);
			updates(f, t, i);
			reads(f, t, i + step);
		}
	}
}

static void fill_local(struct filler *f)
{
	uint32_t i, link;
	struct task *t;

	for (link = 0; link < LINKS; link++) {
		for (i = 0; i < CHAINS; i++) {
			t = add_task(f, i * PROGRAM_WORKERS / CHAINS);
			if (link)
				updates(f, t, i);
			else
				writes(f, t, i);
		}
	}
}

static const struct plan {
	void (*fill)(struct filler *f);
	struct program is;
} plans[] = {
	{ fill_stencil,
	  { .name = "stencil",
	    .nr_tasks = BLOCKS * (SWEEPS + 1),
	    .nr_blocks = 2 * BLOCKS } },
	{ fill_stencil,
	  { .name = "skewed",
	    .nr_tasks = BLOCKS * (SWEEPS + 1),
	    .nr_blocks = 2 * BLOCKS,
	    .is_timed = 1 } },
	{ fill_tree,
	  { .name = "tree",
	    .nr_tasks = TREE_TASKS,
	    .nr_blocks = TREE_INNER,
	    .is_fresh = 1 } },
	{ fill_wave,
	  { .name = "wave",
	    .nr_tasks = WAVE * WAVE,
	    .nr_blocks = WAVE * WAVE,
	    .is_fresh = 1 } },
	{ fill_chol,
	  { .name = "chol",
	    .nr_tasks = NR_TILES + CHOL_TASKS,
	    .nr_blocks = NR_TILES,
	    .block_words = TILE_WORDS,
	    .nr_repeats = 5 } },
	{ fill_reduce,
	  { .name = "reduce",
	    .nr_tasks = 2 * LEAVES - 1,
	    .nr_blocks = LEAVES,
	    .nr_repeats = 3 } },
	{ fill_local,
	  { .name = "local",
	    .nr_tasks = CHAINS * LINKS,
	    .nr_blocks = CHAINS,
	    .block_words = LINK_WORDS,
	    .is_gated = 1 } },
};

static int fill(struct program *p, const struct plan *plan)
{
	struct filler f = { .p = p };
	uint32_t nr_tasks = p->nr_tasks;

	p->nr_tasks = 0; /* counts up */
	plan->fill(&f);
	if (p->nr_tasks == nr_tasks)
		return 0;
	fprintf(stderr, "%s: %u tasks instead of %u\n", p->name, p->nr_tasks,
		nr_tasks);
	return -1;
}

/* Untouched pages cost nothing to those who bring blocks of their own. */
static int lay_out(struct program *p)
{
	size_t words = p->block_words;
	uint64_t *at = guest_arena(8 * words * p->nr_blocks, "blocks");
	struct task *t;
	uint32_t i;

	if (!at)
		return -1;
	for (t = p->task; t < p->task + p->nr_tasks; t++)
		for (i = 0; i < t->nr_uses; i++)
			t->at[i] = at + t->use[i].block * words;
	return 0;
}

struct program *program_create(const char *name)
{
	struct program *p = calloc(1, sizeof(*p));
	size_t i, nr = sizeof(plans) / sizeof(plans[0]);

	for (i = 0; i < nr && strcmp(plans[i].is.name, name); i++)
		;
	if (!p || i == nr) {
		fprintf(stderr, "no program %s\n", name);
		free(p);
		return NULL;
	}
	*p = plans[i].is;
	if (!p->block_words)
		p->block_words = BLOCK_WORDS;
	if (!p->nr_repeats)
		p->nr_repeats = 1;
	p->task = calloc(p->nr_tasks, sizeof(*p->task));
	p->nr_runs = calloc(p->nr_tasks, sizeof(*p->nr_runs));
	if (p->task && p->nr_runs && !fill(p, &plans[i]) && !lay_out(p))
		return p;
	program_destroy(p);
	return NULL;
}

void program_destroy(struct program *p)
{
	guest_arena_free();
	free(p->task);
	free(p->nr_runs);
	free(p);
}

int program_check(const struct program *p)
{
	uint32_t i, nr_wrong = 0;

	for (i = 0; i < p->nr_tasks; i++)
		nr_wrong += p->nr_runs[i] != p->nr_repeats;
	if (nr_wrong || p->nr_too_early || (p->is_gated && p->gate != 2)) {
		fprintf(stderr,
			"%s: %u tasks not as often as due, %u too early, gate %u\n",
			p->name, nr_wrong, p->nr_too_early, p->gate);
		return -1;
	}
	return 0;
}
