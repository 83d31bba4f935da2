/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf pages: ranges of a process as lkdf_pages_walk() gives them, sorted into
 * classes of memory, and how they are printed.
 */
#ifndef TOOLS_PAGES_PAGES_H
#define TOOLS_PAGES_PAGES_H

#include <lkdf/lkdf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAGES_MAX_NODES 1024

enum pages_class {
	PAGES_HEAP,
	PAGES_STACK,
	PAGES_FILES,
	PAGES_SHARED,
	PAGES_ANONYMOUS,
	PAGES_HUGETLB,
	PAGES_LKDF,
	PAGES_KERNEL, /* vdso and its like */
	NR_PAGES_CLASSES
};

struct pages_range {
	uint64_t addr, bytes, present, absent, unknown;
	uint64_t *on; /* nr_nodes entries */
	uint32_t nr_nodes, flags;
	enum pages_class class;
	char *name;
};

struct pages_report {
	int pid;
	char command[32];
	struct pages_range *range; /* largest first once sorted */
	size_t nr_ranges, room;
	uint64_t on[NR_PAGES_CLASSES][PAGES_MAX_NODES];
	uint64_t unknown[NR_PAGES_CLASSES];
	bool is_node[PAGES_MAX_NODES]; /* columns */
	uint32_t flags, sources; /* of all ranges */
	bool is_status; /* sums from /proc/PID/status, without nodes */
};

/* Name as in a table and as in JSON. */
const char *pages_class_name(enum pages_class class);
const char *pages_class_word(enum pages_class class);

void pages_report_init(struct pages_report *r, int pid);
void pages_report_fini(struct pages_report *r);

/* For lkdf_pages_walk(); u is the report. -ENOMEM. */
int pages_report_add(void *u, const struct lkdf_mapping *m);

/* Sums of what is resident, which anybody may read. -errno. */
int pages_report_status(struct pages_report *r);

/* The columns are known and the ranges sorted after this. */
void pages_report_sort(struct pages_report *r);

bool pages_report_is_exact(const struct pages_report *r);

void pages_print_text(const struct pages_report *r, size_t top);
void pages_print_json(const struct pages_report *r, size_t top);
void pages_print_csv(const struct pages_report *r, size_t top,
		     const char *separator);

#endif
