/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * On which node bytes are, as the kernel has it: one board for each runtime.
 * Ranges of bytes are watched; each is cut into blocks, and each block has a
 * word of two bytes as kmod/uapi/lkdf_kmod.h describes it, whoever writes it:
 * the kernel (src_kmod.h), or we after asking the kernel (src_proc.h). A thread
 * that asks where a block is loads its word, and that is all.
 *
 * The word is a hint: right, or right a moment ago. A fact is more: with the
 * module, that the block is settled.
 *
 * Slots of ranges are never freed before the board, so a reader that comes late
 * reads the words of another range, and is wrong, nothing worse.
 */
#ifndef SIGNAL_BOARD_H
#define SIGNAL_BOARD_H

#include "base/atomic.h"
#include "base/lock.h"

#include <lkdf_kmod.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BOARD_RANGES 256
/* Blocks of one range, at most; a block has at least 64 KiB. */
#define BOARD_BLOCKS 256
#define BOARD_MIN_SHIFT 16
/* Blocks that are looked at for one answer, at most. */
#define BOARD_LOOKS 8

#define BOARD_NOWHERE (-1)
#define BOARD_SPREAD (-2)

enum board_wish {
	BOARD_AUTO,
	BOARD_PROC,
	BOARD_OFF
};

/* Names of kernel.md: the number is the tier's. */
enum board_tier {
	BOARD_NONE = -1,
	BOARD_T0 = 0, /* samples: move_pages, below it numa_maps */
	BOARD_T2 = 2, /* /dev/lkdf */
};

struct board;
struct pages_tally;

/* A watched range. */
struct board_range {
	/* Under lock; read by any thread that knows the range's number. */
	_Atomic(uint64_t) start; /* of whole pages */
	_Atomic(uint32_t) nr; /* blocks; 0: nobody watches it */
	_Atomic(uint32_t) first; /* word */
	_Atomic(uint8_t) shift;
	_Atomic(uint64_t) bytes;
	_Atomic(int64_t) at_ns; /* of the last look; 0: there was none */

	/* Under lock. */
	int64_t look_ns; /* not to be looked at before, unless stale */
	uint32_t pause_ms;
	bool is_stale; /* T0: something has moved since the last look */
};

/* Where words come from. All under lock. */
struct board_source {
	enum board_tier tier;
	bool is_exact; /* settled words are facts */
	/* A slot for bytes from start on, in blocks of at least shift: its
	 * number or -errno. */
	int (*add)(struct board *b, uint64_t start, uint64_t bytes,
		   unsigned shift);
	void (*del)(struct board *b, unsigned id);
	/* Before a pass over all ranges. */
	void (*begin)(struct board *b);
	bool (*is_stale)(const struct board *b, unsigned id);
	/* As board_count(); NULL: it cannot. Without lock. */
	int (*count)(const struct board *b, uint64_t start, uint64_t end,
		     struct pages_tally *t);
	/* Writes its words anew; false: that did not work. */
	bool (*look)(struct board *b, unsigned id);
	/* As board_fd(); NULL: there is none. Without lock. */
	int (*fd)(const struct board *b);
	void (*close)(struct board *b, bool is_child);
};

/*
 * Somebody counts pages that move, on the whole machine: who reads it needs no
 * file. All of it is borrowed.
 */
struct board_news {
	const _Atomic(uint64_t) *nr; /* NULL: nobody does */
	bool (*is_live)(const void *u); /* false: it has ended */
	const void *u;
};

struct board_attr {
	enum board_wish wish;
	uint64_t min_bytes; /* of what is watched */
	int nr_nodes;
	const int *os_node; /* by node */
	/* For tests; NULL: the kernel. */
	const char *proc_root, *device;
	bool (*where)(void *const *page, unsigned nr, int *node);
	int (*call)(int fd, unsigned long request, void *arg);
};

struct board {
	/* Set at open, constant until close. */
	const struct board_source *source; /* NULL: nothing is known */
	const _Atomic(uint16_t) *words;
	uint32_t nr_words;
	int16_t node_of[LKDF_BLOCK_NODE + 1]; /* by the system's node; or -1 */
	uint64_t min_bytes;
	const char *proc_root, *device;
	bool (*where)(void *const *page, unsigned nr, int *node);
	int (*call)(int fd, unsigned long request, void *arg);
	char why[128]; /* there is no better tier */
	struct board_news news; /* T0 only */

	/* Any thread. */
	_Atomic(uint32_t) nr_ranges;
	_Atomic(uint32_t) nr_changes; /* looks that found another node */
	_Atomic(uint32_t) is_passing; /* somebody looks at all that is stale */
	_Atomic(int64_t) next_ns[2]; /* no pass before; by enum board_pass */
	_Atomic(uint32_t) next_id; /* where the last one had to stop */
	_Atomic(uint64_t) nr_refused; /* ranges there was no room for */
	_Atomic(uint64_t) nr_news; /* of the news when the last pass began */

	struct board_range range[BOARD_RANGES];

	/* Under lock. */
	struct lock lock;

	/* The source's, under lock. */
	void *own;
};

/* 0 or -ENOMEM; without a source, and why, where nothing can be known. */
int board_open(const struct board_attr *a, struct board *b);
void board_off(struct board *b, const char *why);
/* is_child: in a forked one, which has the memory but not the mapping. */
void board_close(struct board *b, bool is_child);

/*
 * Before there are ranges: from then on the source looks again as soon as the
 * count has grown. A source that is told by the kernel itself needs none.
 */
void board_told_by(struct board *b, const struct board_news *n);

/*
 * Watches its whole pages: its number; -1: it is not watched. is_there: the
 * bytes exist already, it looks at once.
 */
int board_add(struct board *b, const void *at, uint64_t bytes, bool is_there);
void board_del(struct board *b, int id);

/*
 * A pass over what is stale, as far as the time goes, unless there was one just
 * now or somebody is at it. A look that somebody waits for takes some percent
 * of the time at most; one of an idle thread keeps it from work for a moment
 * only.
 */
enum board_pass {
	BOARD_IDLE,
	BOARD_NOW
};
void board_pass(struct board *b, enum board_pass why);

/*
 * Readable while pages have moved that no pass has looked at; -1: the source
 * does not tell.
 */
int board_fd(const struct board *b);

/*
 * Counts the pages of whole pages of this process, for certain, into t: by
 * node, the zero page as absent, as vague those that are absent or that
 * AutoNUMA has hinted. Not 0: nobody can.
 */
int board_count(void *board, uint64_t start, uint64_t end,
		struct pages_tally *t);

/* The word of the block that holds the byte; EMPTY where none does. */
static inline uint16_t board_load(const struct board *b, uint32_t index)
{
	return likely(index < b->nr_words) ? a_load(&b->words[index], relaxed)
					   : LKDF_BLOCK_EMPTY;
}

/* Blocks of a range that hold some bytes; nr 0: none. */
struct board_span {
	uint32_t first, nr;
};

struct board_span board_span(const struct board *b, int id, const void *at,
			     uint64_t bytes);

/*
 * The nodes of up to BOARD_LOOKS blocks of the span, spread over it. Return:
 * how many; those of which nothing is known are left out.
 */
unsigned board_nodes(const struct board *b, struct board_span s,
		     int16_t node[BOARD_LOOKS]);

/* The kernel has told that pages have moved, of those or, by news, any. */
bool board_is_stale(const struct board *b, struct board_span s);

/* The node of most of those; BOARD_NOWHERE: nothing is known. */
int board_most(const struct board *b, struct board_span s);

/*
 * The node of all bytes for certain, or BOARD_SPREAD: on several. BOARD_NOWHERE
 * where it is not certain.
 */
int board_fact(const struct board *b, int id, struct board_span s);

/* It covers all ranges, by blocks; a block counts for the node it was found
 * on. */
struct board_sum {
	uint64_t bytes, unsettled; /* unsettled: to be looked at again */
	int64_t at_ns; /* of the oldest look; 0: there are no ranges */
};

/*
 * Sums what is on a node; -1: on any, and unsettled counts what nobody has
 * found yet, too. Loads each word once, 65,536 at most.
 */
void board_read(const struct board *b, int node, struct board_sum *sum);

/* Grows when a look finds that a block has another node than before. */
static inline uint32_t board_changes(const struct board *b)
{
	/* [board.seen] the words of then; pairs with [board.change]. */
	return a_load(&b->nr_changes, acquire);
}

/*
 * For sources, under lock: the range has nr blocks from now on; 0: nobody
 * watches the slot.
 */
void board_set_blocks(struct board *b, unsigned id, uint32_t nr);

/* For sources: a look has found another node. */
void board_has_changed(struct board *b);

#endif
