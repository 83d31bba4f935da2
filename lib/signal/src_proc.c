/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "signal/src_proc.h"

#include "base/own_fd.h"
#include "base/util.h"
#include "mem/numa_maps.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAGE 4096
#define MOVED "\npgmigrate_success "
#define VMSTAT_BYTES 65536

/* The node that has this share of a mapping's bytes counts as the node of
 * all. */
#define MOST_PERCENT 90

struct proc {
	struct own_fd vmstat; /* -1: cannot be read */
	uint64_t nr_moved; /* pages, on the whole machine */
	bool is_refused; /* as move_pages may be */
	struct numa_maps maps; /* while it is, of this pass */
	char text[VMSTAT_BYTES];
	uint16_t shown[BOARD_RANGES * BOARD_BLOCKS];
};

/* Words of shown that readers see; other sources have it mapped. */
static _Atomic(uint16_t) *words_of(struct proc *p)
{
	return (_Atomic(uint16_t) *)p->shown;
}

/* ---- when to look ------------------------------------------------------- */

/* False: nobody knows. */
static bool read_moved(struct proc *p, uint64_t *nr)
{
	ssize_t n = -1;
	char *at;

	if (p->vmstat.fd >= 0)
		n = pread(p->vmstat.fd, p->text, sizeof(p->text) - 1, 0);
	if (n <= 0)
		return false;
	p->text[n] = '\0';
	at = strstr(p->text, MOVED);
	if (at)
		*nr = strtoull(at + strlen(MOVED), NULL, 10);
	return at != NULL;
}

/* By those who count in memory, else by the file. */
static bool read_news(struct board *b, uint64_t *nr)
{
	const struct board_news *n = &b->news;

	if (!n->nr)
		return read_moved(b->own, nr);
	*nr = a_load(n->nr, relaxed);
	a_store(&b->nr_news, *nr, relaxed);
	return n->is_live(n->u) || read_moved(b->own, nr);
}

static void forget_maps(struct proc *p)
{
	numa_maps_fini(&p->maps);
	p->maps = (struct numa_maps){ 0 };
}

static void proc_begin(struct board *b)
{
	struct proc *p = b->own;
	uint64_t nr;
	unsigned i;

	forget_maps(p);
	if (!read_news(b, &nr) || nr == p->nr_moved)
		return;
	p->nr_moved = nr;
	for (i = 0; i < BOARD_RANGES; i++)
		b->range[i].is_stale = true;
}

static bool proc_is_stale(const struct board *b, unsigned id)
{
	return b->range[id].is_stale;
}

/* ---- looks --------------------------------------------------------------- */

/* The middle page of each block. */
static void pages_of(const struct board_range *r, void **page)
{
	uint64_t start = a_load(&r->start, relaxed), from, to;
	unsigned shift = a_load(&r->shift, relaxed);
	uint64_t bytes = a_load(&r->bytes, relaxed);
	uint32_t nr = a_load(&r->nr, relaxed), i;

	for (i = 0; i < nr; i++) {
		from = (uint64_t)i << shift;
		to = min_u64(bytes, from + ((uint64_t)1 << shift));
		page[i] = (void *)(uintptr_t)(start +
					      (from + to) / 2 / PAGE * PAGE);
	}
}

/* The mapping that holds it: the last one that begins before. */
static const struct numa_vma *vma_of(const struct numa_maps *m, uint64_t at)
{
	const struct numa_vma *found = NULL;
	size_t i;

	for (i = 0; i < m->nr && m->v[i].start <= at; i++)
		found = &m->v[i];
	return found;
}

/* All blocks are where nearly all of the mapping is. */
static bool look_in_maps(struct board *b, const struct board_range *r,
			 int *node)
{
	uint64_t start = a_load(&r->start, relaxed);
	const struct numa_share *share;
	const struct numa_vma *v;
	struct proc *p = b->own;
	uint32_t i, nr = a_load(&r->nr, relaxed);
	int at = -1;

	if (!p->maps.nr &&
	    numa_maps_read(b->proc_root, 0, UINT64_MAX, &p->maps)) {
		forget_maps(p);
		return false;
	}
	v = vma_of(&p->maps, start);
	if (!v)
		return false;
	for (i = 0; i < v->nr_shares; i++) {
		share = &p->maps.share[v->first + i];
		if (share->bytes * 100 >= v->bytes * MOST_PERCENT)
			at = (int)share->node;
	}
	for (i = 0; i < nr; i++)
		node[i] = at;
	return true;
}

/* A block that is nowhere stays where it was. */
static bool show_source(_Atomic(uint16_t) *word, int node)
{
	uint16_t old = a_load(word, relaxed), new = (uint16_t)node;

	if (node < 0 || node > LKDF_BLOCK_NODE || old == new)
		return false;
	a_store(word, new, relaxed);
	return true;
}

static bool proc_look(struct board *b, unsigned id)
{
	struct board_range *r = &b->range[id];
	uint32_t nr = a_load(&r->nr, relaxed), i;
	struct proc *p = b->own;
	void *page[BOARD_BLOCKS];
	int node[BOARD_BLOCKS];
	bool has_changed = false;

	r->is_stale = false;
	pages_of(r, page);
	if (!p->is_refused)
		p->is_refused = !b->where(page, nr, node);
	if (p->is_refused && !look_in_maps(b, r, node))
		return false;
	for (i = 0; i < nr; i++)
		has_changed |= show_source(
			words_of(p) + a_load(&r->first, relaxed) + i, node[i]);
	if (has_changed)
		board_has_changed(b);
	return true;
}

/* ---- ranges -------------------------------------------------------------- */

static int proc_add(struct board *b, uint64_t start, uint64_t bytes,
		    unsigned shift)
{
	struct board_range *r;
	struct proc *p = b->own;
	unsigned id, i;

	for (id = 0; id < BOARD_RANGES; id++)
		if (!a_load(&b->range[id].nr, relaxed))
			break;
	if (id == BOARD_RANGES)
		return -ENOSPC;
	r = &b->range[id];
	for (i = 0; i < BOARD_BLOCKS; i++)
		a_store(words_of(p) + id * BOARD_BLOCKS + i, LKDF_BLOCK_EMPTY,
			relaxed);
	a_store(&r->start, start, relaxed);
	a_store(&r->shift, (uint8_t)shift, relaxed);
	a_store(&r->first, id * BOARD_BLOCKS, relaxed);
	board_set_blocks(b, id, (uint32_t)((bytes - 1) >> shift) + 1);
	return (int)id;
}

static void proc_del(struct board *b, unsigned id)
{
	(void)b;
	(void)id;
}

static void proc_close(struct board *b, bool is_child)
{
	struct proc *p = b->own;

	(void)is_child;
	own_fd_close(&p->vmstat);
	numa_maps_fini(&p->maps);
	free(p);
}

static const struct board_source source = {
	.tier = BOARD_T0,
	.add = proc_add,
	.del = proc_del,
	.begin = proc_begin,
	.is_stale = proc_is_stale,
	.look = proc_look,
	.close = proc_close,
};

int src_proc_open(struct board *b)
{
	struct proc *p = calloc(1, sizeof(*p));
	char path[PATH_MAX];

	if (!p)
		return -ENOMEM;
	snprintf(path, sizeof(path), "%s/vmstat", b->proc_root);
	p->vmstat = own_fd_of(open(path, O_RDONLY | O_CLOEXEC));
	b->own = p;
	b->words = words_of(p);
	b->nr_words = BOARD_RANGES * BOARD_BLOCKS;
	b->source = &source;
	return 0;
}
