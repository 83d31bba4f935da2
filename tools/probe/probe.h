/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The probe's pins as a reader sees them, without libbpf, and what loads them,
 * with it. Numbers found in the maps are taken as hostile.
 */
#ifndef TOOLS_PROBE_PROBE_H
#define TOOLS_PROBE_PROBE_H

#include <lkdf_probe.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pins {
	const struct lkdf_probe_head *head; /* mapped read-only */
	const struct lkdf_probe_slot *slot;
	const struct lkdf_probe_word *word;
	const struct lkdf_probe_stack *stack; /* NULL: an older probe's */
	uint32_t nr_slots, nr_words, nr_stacks;
	size_t bytes[4];
};

/* Where the pins are: dir, else what LKDF_PROBE says, else the usual place. */
const char *pins_dir(const char *dir);

/*
 * dir as above. 0; -ENOENT: nothing is pinned there; -EACCES;
 * -EPROTO: something else is; -errno. why tells it.
 */
int pins_open(const char *dir, struct pins *p, char *why, size_t size);
void pins_close(struct pins *p);

/* A program or map by its pin: a descriptor or -errno. */
int pins_get(const char *dir, const char *name);

/* Is it still fed? It may have been stopped, or its pins be taken away. */
bool pins_are_live(const struct pins *p);

struct probe_want {
	const char *dir, *group;
	uint32_t hz, nr_slots;
	bool is_verbose; /* what libbpf and the kernel say goes to stderr */
};

struct probe_got {
	uint32_t hooks, nr_cpus;
	char why[256]; /* what failed */
	char missing[256]; /* hooks that could not be had, and why; or "" */
};

/*
 * 0; -EEXIST: it runs already, by somebody who was faster; -EBUSY: somebody is
 * starting or stopping it; -EPROTO as pins_open(); -errno. Nothing is left
 * behind then.
 */
int probe_load(const struct probe_want *w, struct probe_got *got);
/* The owner of the pins, as usermod(8) takes it; false: root only. */
bool pins_group(const char *dir, char *to, size_t size);

/* 0; -ENOENT: it does not run; -EBUSY. */
int probe_unload(const char *dir, char *why, size_t size);

struct probe_cost {
	char name[32];
	uint64_t nr_runs, ns;
};

/* The cost of the programs during a time; how many, or -errno. */
int probe_costs(const char *dir, int64_t ms, struct probe_cost *cost, int max);

/* A program at sched_switch that does nothing: what the statistics cost. */
int probe_empty_cost(int64_t ms, struct probe_cost *cost);

#endif
