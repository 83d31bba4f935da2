/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Reads a file *.lkdf front to back and tells each record. Every number in it
 * is taken as hostile: nothing is told before it was compared with what holds
 * it, and the first thing that is wrong ends the reading with its offset.
 */
#ifndef TOOLS_TRACE_READ_H
#define TOOLS_TRACE_READ_H

#include <lkdf/format.h>
#include <stdbool.h>
#include <stdio.h>

#define TRACE_TEXT (LKDF_MAX_TEXT + 1)

struct trace_event_info {
	char name[TRACE_TEXT], a[TRACE_TEXT], b[TRACE_TEXT];
};

/* What is known of the file so far. */
struct trace_info {
	struct lkdf_file_header header;
	char runtime[TRACE_TEXT];
	uint32_t nr_counters, nr_events;
	char (*counter)[TRACE_TEXT];
	struct trace_event_info *event;
	char **name; /* LKDF_MAX_NAMES; NULL: not told */
	bool has_ended;
	uint64_t slices, slices_lost, events, events_lost; /* of the end */
};

struct trace_slice {
	uint32_t executor, name;
	uint64_t begin, end; /* ticks */
	int64_t task; /* -1: none */
};

struct trace_event {
	uint32_t executor, event;
	uint64_t ticks, a, b;
};

struct trace_executor {
	uint32_t executor, kind;
	int32_t cpu, node; /* -1: none */
	uint32_t tid;
};

/* Whom to tell; what is NULL is checked all the same. */
struct trace_sink {
	void (*slice)(void *u, const struct trace_slice *s);
	void (*event)(void *u, const struct trace_event *e);
	void (*executor)(void *u, const struct trace_executor *x);
	void (*clock)(void *u, uint64_t ticks, uint64_t ns);
	void (*counter)(void *u, uint32_t executor, uint32_t counter,
			uint64_t value);
	void *u;
};

/* Where and why reading ended early. */
struct trace_fault {
	uint64_t offset;
	char why[128];
};

/*
 * Reads from the start of f. info is filled as reading goes on and freed with
 * trace_info_fini(). Return: 0; -EBADMSG: damaged or cut, see fault; -EIO;
 * -ENOMEM.
 */
int trace_read(FILE *f, const struct trace_sink *sink, struct trace_info *info,
	       struct trace_fault *fault);

void trace_info_fini(struct trace_info *info);

#endif
