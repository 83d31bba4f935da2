/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The memfd "lkdf:stats" of a runtime, mapped for reading, and "lkdf:slices".
 * Every number in it is taken as hostile: sizes and offsets are compared with
 * the mapping once, counters are read as they are.
 */
#ifndef TOOLS_STAT_STATS_H
#define TOOLS_STAT_STATS_H

#include <lkdf/format.h>
#include <stdbool.h>

#define STATS_MAX 64 /* runtimes of one process */

struct stats {
	struct lkdf_stats_header h; /* a copy that nobody changes */
	const uint8_t *base;
	uint64_t size;
	/* Copies, too: their texts may be shown. event NULL: there are none. */
	struct lkdf_stats_counter *counter;
	struct lkdf_stats_event_desc *event;
	/* "lkdf:slices" of the runtime; base NULL: it is not mapped */
	struct {
		const uint8_t *base;
		uint64_t size;
		uint32_t records, offset;
	} late;
};

/* fd stays the caller's. 0; -EBADMSG: it is none; -errno. */
int stats_map(struct stats *s, int fd);
void stats_unmap(struct stats *s);

/* Maps those of a process. How many; -errno: it is gone or not ours. */
int stats_find(int pid, struct stats *s, unsigned max);

const char *stats_counter_name(const struct stats *s, uint32_t i);
const char *stats_counter_unit(const struct stats *s, uint32_t i);
const char *stats_counter_help(const struct stats *s, uint32_t i);

/* Executor nr_executors is the outside. */
const struct lkdf_stats_block *stats_block(const struct stats *s,
					   uint32_t executor);
uint64_t stats_counter(const struct stats *s, uint32_t executor, uint32_t i);

/* Device i of a runtime, as it is now; texts are tame. False: none. */
bool stats_device(const struct stats *s, uint32_t i,
		  struct lkdf_stats_device *to);

/* "d0 opencl" where the executor is a device's launcher; else false. */
bool stats_launcher(const struct stats *s, uint32_t executor, char *to,
		    size_t size);

/* A counter of a device alone; 0: nothing, or its launcher is not known. */
uint64_t stats_device_counter(const struct stats *s,
			      const struct lkdf_stats_device *d,
			      const char *name);

/* Over all executors. */
uint64_t stats_sum(const struct stats *s, uint32_t i);

/* The number of a counter's name, or nr_counters. */
uint32_t stats_counter_find(const struct stats *s, const char *name);

/* The number of a sort of event; UINT32_MAX: there is none of that name. */
uint32_t stats_event_find(const struct stats *s, const char *name);

/*
 * How many events an executor ever wrote, and a copy of event i below that.
 * Only where stats_event_find() has found one. False: it was overwritten.
 */
uint64_t stats_event_head(const struct stats *s, uint32_t executor);
bool stats_event(const struct stats *s, uint32_t executor, uint64_t i,
		 struct lkdf_stats_event *to);

/* Does its newest event of either sort say that it sleeps? */
bool stats_is_parked(const struct stats *s, uint32_t executor);

/* Slices are taken now. */
bool stats_is_recording(const struct stats *s);

/*
 * Maps the rings of a recording that began late, where there is one and its
 * rings are not mapped yet.
 */
void stats_find_late(int pid, struct stats *s);

/* Are there slices? There are while something is recorded. */
bool stats_has_slices(const struct stats *s);
uint32_t stats_slice_records(const struct stats *s); /* of a ring */
uint64_t stats_slice_head(const struct stats *s, uint32_t executor);
/* A copy of slice i below the head. False: it is not there any more. */
bool stats_slice(const struct stats *s, uint32_t executor, uint64_t i,
		 struct lkdf_stats_slice *to);

/* Where the runtime answers, as ask in the header; "": nowhere. */
void stats_ask_name(const struct stats *s, char *to);

/* The key of questions there, which is right once the name is known. */
uint64_t stats_ask_key(const struct stats *s);

/* The key that hides addresses in the probe's maps; 0: none yet. It is set
 * while the runtime opens, before a thread of it registers. */
uint64_t stats_probe_key(const struct stats *s);

/* A name that slices and events speak of, "?" where there is none. */
void stats_name(const struct stats *s, uint32_t nr, char *to, size_t size);

/* Workers that have started. */
uint32_t stats_nr_workers(const struct stats *s);

#endif
