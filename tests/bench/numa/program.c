/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "tests/bench/numa/program.h"
#include "tests/vm/plugin/guest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_WORDS 65536u
#define HALO_WORDS 512u
#define BLOCKS 64u
#define SWEEPS 20u
#define TREE_DEPTH 8u
#define CHAINS 64u
#define LINKS 8u
#define LINK_WORDS 32768u

static struct task *add_task(struct program *p, uint32_t owner)
{
	struct task *t = &p->task[p->nr_tasks];

	t->program = p;
	t->id = p->nr_tasks++;
	t->owner = owner;
	return t;
}

static void after(struct task *t, uint32_t pred)
{
	t->pred[t->nr_preds++] = pred;
}

static void touch(struct task *t, uint64_t *at, uint32_t nr_words, int written)
{
	t->span[t->nr_spans++] = (struct span){ .at = at,
						.nr_words = nr_words,
						.is_written = written };
	t->program->nr_bytes += 8ull * nr_words;
}

static void add_sweep(struct program *p, uint32_t block, uint64_t *from,
		      uint64_t *to)
{
	struct task *t = add_task(p, block * PROGRAM_WORKERS / BLOCKS);
	uint32_t above = t->id - BLOCKS;

	after(t, above);
	touch(t, from + block * BLOCK_WORDS, BLOCK_WORDS, 0);
	if (block) {
		after(t, above - 1);
		touch(t, from + block * BLOCK_WORDS - HALO_WORDS, HALO_WORDS,
		      0);
	}
	if (block < BLOCKS - 1) {
		after(t, above + 1);
		touch(t, from + (block + 1) * BLOCK_WORDS, HALO_WORDS, 0);
	}
	touch(t, to + block * BLOCK_WORDS, BLOCK_WORDS, 1);
}

static int fill_stencil(struct program *p)
{
	size_t size = 8ull * BLOCKS * BLOCK_WORDS;
	uint64_t *copy[2] = { guest_arena(size, "even-blocks"),
			      guest_arena(size, "odd-blocks") };
	uint32_t i, sweep;

	if (!copy[0] || !copy[1])
		return -1;
	for (i = 0; i < BLOCKS; i++)
		touch(add_task(p, i * PROGRAM_WORKERS / BLOCKS),
		      copy[0] + i * BLOCK_WORDS, BLOCK_WORDS, 1);
	for (sweep = 0; sweep < SWEEPS; sweep++)
		for (i = 0; i < BLOCKS; i++)
			add_sweep(p, i, copy[sweep % 2], copy[1 - sweep % 2]);
	return 0;
}

/* Node i has the children 2i + 1 and 2i + 2. */
static int fill_tree(struct program *p)
{
	uint32_t nr_inner = (1u << (TREE_DEPTH - 1)) - 1, level, i, parent;
	uint64_t *block =
		guest_arena(8ull * nr_inner * BLOCK_WORDS, "tree-blocks");
	struct task *t;

	if (!block)
		return -1;
	for (level = 0; level < TREE_DEPTH; level++) {
		for (i = 0; i < 1u << level; i++) {
			t = add_task(p, i * PROGRAM_WORKERS >> level);
			parent = (t->id - 1) / 2;
			if (t->id) {
				after(t, parent);
				touch(t, block + parent * BLOCK_WORDS,
				      BLOCK_WORDS, 0);
			}
			if (t->id < nr_inner)
				touch(t, block + t->id * BLOCK_WORDS,
				      BLOCK_WORDS, 1);
		}
	}
	return 0;
}

static int fill_local(struct program *p)
{
	uint64_t *block =
		guest_arena(8ull * CHAINS * LINK_WORDS, "chain-blocks");
	uint32_t i, link;
	struct task *t;

	if (!block)
		return -1;
	for (link = 0; link < LINKS; link++) {
		for (i = 0; i < CHAINS; i++) {
			t = add_task(p, i * PROGRAM_WORKERS / CHAINS);
			if (link) {
				after(t, t->id - CHAINS);
				touch(t, block + i * LINK_WORDS, LINK_WORDS, 0);
			}
			touch(t, block + i * LINK_WORDS, LINK_WORDS, 1);
		}
	}
	p->is_gated = 1;
	return 0;
}

static const struct {
	const char *name;
	uint32_t nr_tasks;
	int (*fill)(struct program *p);
} programs[] = {
	{ "stencil", BLOCKS *(SWEEPS + 1), fill_stencil },
	{ "tree", (1u << TREE_DEPTH) - 1, fill_tree },
	{ "local", CHAINS *LINKS, fill_local },
};

struct program *program_create(const char *name)
{
	struct program *p = calloc(1, sizeof(*p));
	size_t i, nr = sizeof(programs) / sizeof(programs[0]);

	for (i = 0; i < nr && strcmp(programs[i].name, name); i++)
		;
	if (!p || i == nr) {
		fprintf(stderr, "no program %s\n", name);
		free(p);
		return NULL;
	}
	p->name = programs[i].name;
	p->task = calloc(programs[i].nr_tasks, sizeof(*p->task));
	p->nr_runs = calloc(programs[i].nr_tasks, sizeof(*p->nr_runs));
	if (p->task && p->nr_runs && !programs[i].fill(p))
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
		nr_wrong += p->nr_runs[i] != 1;
	if (nr_wrong || p->nr_too_early || (p->is_gated && p->gate != 2)) {
		fprintf(stderr,
			"%s: %u tasks not once, %u too early, gate %u\n",
			p->name, nr_wrong, p->nr_too_early, p->gate);
		return -1;
	}
	return 0;
}
