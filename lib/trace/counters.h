/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The ONE table of counters: it feeds the memfd "lkdf:stats", lkdf_stat() and
 * "lkdf stat". Each executor has its own row of them; threads of the user
 * share one more, the "outside".
 */
#ifndef TRACE_COUNTERS_H
#define TRACE_COUNTERS_H

#include "base/util.h"
#include "trace/counter.h"

/* name, outward name, unit, help */
#define COUNTER_TABLE(X)                                                       \
	X(TASKS, "tasks", "tasks", "bodies that were called")                  \
	X(STEALS_NEAR, "steals.near", "items",                                 \
	  "taken from a worker that shares a cache or the node")               \
	X(STEALS_FAR, "steals.far", "items", "taken from any other worker")    \
	X(EXPOSED, "exposed", "items",                                         \
	  "made public behind a body of another worker that went on")          \
	X(PARKS, "parks", "times",                                             \
	  "a worker went to sleep, as there was no work")                      \
	X(WAKES, "wakes", "times", "a worker woke another one")                \
	X(WAKE_DEPTH, "wake_depth", "links",                                   \
	  "wake-ups one after the other, of each burst of them")               \
	X(STEAL_ROUNDS, "steal_rounds", "times",                               \
	  "a worker looked at all places where work may lie")                  \
	X(HIDDEN_NS, "hidden_ns", "ns",                                        \
	  "ready work lay behind a body while a worker was idle")              \
	X(JOIN_IDLE_NS, "join_idle_ns", "ns",                                  \
	  "bodies waited in a join that had nothing to run")                   \
	X(LENDS, "lends", "times",                                             \
	  "a worker that rested in a join lent its seat")                      \
	X(QUOTA, "quota", "times", "a worker saw other CPUs or another quota") \
	X(STANDBY, "standby", "times",                                         \
	  "a worker stopped, as there were fewer CPUs than workers")           \
	X(UNPINNED, "unpinned", "times",                                       \
	  "a worker left its CPU, which others had for long")                  \
	X(IDLE_NS, "idle_ns", "ns", "time spent looking for work or asleep")   \
	X(RUNS, "runs", "runs", "runs of graphs that have ended")              \
	X(SOLO, "runs.solo", "runs", "of graphs, kept by one worker")          \
	X(FEW, "runs.few", "runs", "of graphs, kept by some of the workers")   \
	X(ALARMS, "runs.alarms", "times",                                      \
	  "first runs were slow or in locks: solo runs were tried at once")    \
	X(ASIDE, "narrow.aside", "items",                                      \
	  "put aside at a gate, as enough workers ran such bodies")            \
	X(GATED, "narrow.bodies", "bodies",                                    \
	  "begun by workers while a gate of their kind was narrow")            \
	X(PASSED, "narrow.passed", "bodies",                                   \
	  "of these, without a token: they could not wait aside")              \
	X(REVOKED, "narrow.revoked", "times",                                  \
	  "a worker without a CPU, or in a long body, lost its token")         \
	X(TRIALS, "narrow.trials", "trials",                                   \
	  "of fewer workers for kinds that meet in a lock")                    \
	X(WINS, "narrow.wins", "trials",                                       \
	  "of these, that found fewer workers faster")                         \
	X(LOSSES, "narrow.losses", "trials",                                   \
	  "of these, that found all workers as fast")                          \
	X(STATIC, "runs.static", "runs", "of graphs, by a static order")       \
	X(FAILED, "failed", "tasks", "tasks that failed")                      \
	X(RETRIES, "retries", "times", "a failed body was called again")       \
	X(SKIPPED, "skipped", "tasks", "not called: an input had failed")      \
	X(UNCHOSEN, "unchosen", "tasks", "not called: no branch chose them")   \
	X(ITERATIONS, "iterations", "iterations",                              \
	  "of loops in graphs, but for the first of each")                     \
	X(SOLO_TURNS, "iterations.solo", "iterations",                         \
	  "of loops in graphs, kept by one worker")                            \
	X(CANCELLED, "cancelled", "tasks", "not called: cancelled before")     \
	X(BLOCKING, "blocking", "tasks", "bodies called in the blocking pool") \
	X(SPARED, "blocking.urgent", "tasks",                                  \
	  "URGENT ones, called on spare threads, as no worker came")           \
	X(OVERFLOWS, "overflows", "tasks",                                     \
	  "ready tasks no deque had room for")                                 \
	X(INLINED, "inlined", "tasks",                                         \
	  "children that a spawn ran at once, see option spawn_inline")        \
	X(LINKED, "io.linked", "operations",                                   \
	  "given to the kernel together with the one before")                  \
	X(WAVES, "io.waves", "waves",                                          \
	  "runs and tasks that operations with LKDF_IO_MULTI have started")    \
	X(ARMED, "io.armed", "times",                                          \
	  "an operation of LKDF_IO_MULTI was given to kernel or thread")       \
	X(FIXED, "io.fixed", "operations",                                     \
	  "given to a ring that knew their file or memory")                    \
	X(HOMED, "io.homed", "operations",                                     \
	  "that go on at another node, which has the bytes they read")         \
	X(KERNELS, "device.kernels", "kernels",                                \
	  "that devices have run, or failed to")                               \
	X(AHEAD, "device.ahead", "kernels",                                    \
	  "given to a device while one before it in a graph was under way")    \
	X(UPLOADED, "device.uploaded_bytes", "bytes",                          \
	  "that kernels read, copied to a device")                             \
	X(FETCHED, "device.fetched_bytes", "bytes",                            \
	  "that kernels wrote, copied from a device")                          \
	X(ALLOCS, "device.allocs", "calls", "that asked a device for memory")  \
	X(DRAINS, "device.drains", "times",                                    \
	  "that a device got spare memory back, as more was wanted")           \
	X(PINS, "device.pins", "data", "whose pages a driver was told of")     \
	X(KERNELS_NS, "device.kernels_ns", "ns",                               \
	  "in which a device was at kernels, once they are done")              \
	X(COPIES_NS, "device.copies_ns", "ns",                                 \
	  "in which a device was at copies, once they are done")               \
	X(CUDA_GRAPHS, "cuda.graphs", "runs",                                  \
	  "of CUDA graphs, each of several kernels given together")            \
	X(CUDA_UPDATES, "cuda.updates", "graphs",                              \
	  "of CUDA that got other values or addresses before a run")           \
	X(CUDA_REFUSED, "cuda.refused", "graphs",                              \
	  "that CUDA's driver refused: their kernels go one by one")           \
	X(PLACED, "data.placed", "tasks",                                      \
	  "sent to the node where a fact says that their pages are")           \
	X(FOLLOWED, "data.followed", "blocks",                                 \
	  "of planned graphs, whose tasks follow pages that have moved")       \
	X(REHOMED, "data.rehomed", "times",                                    \
	  "blocks of planned graphs moved to the node that took their tasks")  \
	X(REHOMED_BACK, "data.rehomed_back", "times",                          \
	  "of these, back, as the node before took the next ones")             \
	X(MIGRATED, "data.migrated_bytes", "bytes",                            \
	  "of data, moved to another node")                                    \
	X(REPLICATED, "data.replicated_bytes", "bytes",                        \
	  "of data, copied for readers on another node")

#define COUNTER_ENUM(name, text, unit, help) COUNTER_##name,
enum counter {
	COUNTER_TABLE(COUNTER_ENUM) NR_COUNTERS
};
#undef COUNTER_ENUM

struct counters {
	_Alignas(CACHE_LINE) _Atomic(uint64_t) v[NR_COUNTERS];
};

_Static_assert((int)COUNTER_TASKS == (int)COUNTER_BODIES,
	       "headers count bodies without the table");

#endif
