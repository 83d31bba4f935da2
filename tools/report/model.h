/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The model that "lkdf report" has of one recording: first the facts as load.c
 * reads them, then what sweep.c, kinds.c, chain.c and find.c make of them.
 * The three writers text.c, json.c and html.c only read it. All times are ns
 * from the first sign of work.
 */
#ifndef REPORT_MODEL_H
#define REPORT_MODEL_H

#include "report/model_gains.h"
#include "report/model_probe.h"
#include "report/model_sums.h"
#include "trace/read.h"

#define NO_SLICE UINT32_MAX
#define NO_TIME UINT64_MAX
#define NO_KIND UINT16_MAX

/* A gap between two bodies shorter than this is the runtime's own work. */
#define GAP_NS 2000u
#define NR_BINS 400u
#define NR_HIST 24u
#define MAX_FINDINGS 24u
/* A share of worker time; a cause of less than it is not worth a finding. */
#define WORTH_TELLING 0.02
#define MAX_NODES 64u
#define MAX_DEVICES 64u
/* The kind of a lane that is no thread, beside enum lkdf_executor_kind. */
#define LANE_DEVICE 3u
#define LANE_THREAD 4u /* of the program, in blocks of loops */

/* Disjoint; over all workers they add up to workers x wall. */
enum time_class {
	TIME_BODY, /* in bodies, on a CPU */
	TIME_KERNEL, /* in bodies, on a CPU, in the kernel */
	TIME_CALLER, /* idle, a thread of the program ran a loop in its place */
	TIME_TAKEN, /* with work, waiting for a CPU */
	TIME_ASLEEP, /* asleep in bodies */
	TIME_ENTER, /* in io_uring_enter(2) */
	TIME_LATE, /* idle, though a task was ready */
	TIME_IO, /* idle, operations were under way */
	TIME_STARVED, /* idle, nothing was ready */
	TIME_RUNTIME, /* between two bodies */
	NR_TIME_CLASSES
};

/*
 * Why nothing was ready, the first that holds at a moment: together they are
 * TIME_STARVED, to the nanosecond.
 */
enum starve {
	STARVE_TOKENS, /* tasks waited for tokens of a limit */
	STARVE_ROOM, /* a thread of the program waited for room */
	STARVE_LOOP, /* the last blocks of a loop ran */
	STARVE_POOL, /* the blocking pool ran bodies */
	STARVE_DEVICE, /* a device was at work */
	STARVE_TASKS, /* a thread of the program waited for tasks */
	STARVE_PROGRAM, /* none did, and more tasks came later */
	STARVE_END, /* the same, and none came later */
	NR_STARVES
};

/* A body that ran. */
struct slice {
	uint64_t begin, end;
	uint64_t ready; /* NO_TIME: not recorded */
	uint32_t uid; /* of its lane, grows with begin; 0: none */
	uint32_t by; /* who made it ready: uid, then number; NO_SLICE */
	uint16_t by_lane, lane;
	uint16_t kind;
	uint8_t remote; /* per cent of its bytes, 255: not recorded */
	bool is_outside; /* a thread of the program made it ready */
	uint32_t run, task; /* of a graph: 1 + run, number; run 0: of none */
	uint16_t edge; /* the name of the data it waited for last; 0: none */
	uint16_t edge_mode; /* enum lkdf_mode, its own */
};

struct span {
	uint64_t begin, end;
};

/* An operation; who made whom ready counts them on from the slices. */
struct op {
	uint64_t begin, end;
	uint32_t uid, by;
	uint16_t by_lane, lane;
	uint16_t kind;
};

/* A wait of a thread of the program, ended by a slice. */
struct wait {
	uint64_t begin, end;
	uint32_t by, by_lane;
	uint32_t name; /* the call, or what it waited for */
	uint64_t fits; /* it waited for room, where so many fit; 0: not */
};

/* A region of the program. */
struct region {
	uint64_t begin, end;
	uint32_t name; /* its label */
};

/* A task between two of its bodies. */
struct away {
	uint64_t begin, end;
	uint32_t slice; /* that goes on: its uid, then its number; NO_SLICE */
	uint32_t before; /* the body before: the same */
	uint16_t lane, before_lane;
	uint32_t name; /* what it waited for; 0: not known */
};

/* A mark of the program. */
struct mark {
	uint64_t at;
	int64_t value;
	uint32_t name, lane;
};

/* A task's wait for tokens of a limit. */
struct held {
	uint64_t begin, end;
	uint32_t limit; /* its name */
	uint16_t kind;
};

/* Waits for memory of a device, in its row for them. */
struct room {
	uint64_t nr, total, max;
	struct place at; /* the longest */
};

/* The work of a device, over all of its rows. */
struct device {
	uint32_t number;
	char name[128];
	uint64_t nr_kernels, nr_copies, up, down; /* the last two: bytes */
	uint64_t busy, copying, both, idle; /* kernels, copies, neither */
	struct room room;
};

/* The kernel's account of a thread, summed from its start. */
struct cpu_sample {
	uint64_t at, cpu_ns, queued_ns;
	uint64_t futex_ns; /* asleep on futex words in bodies */
	bool is_probe; /* the probe has counted since the sample before */
};

/* The kernel's account of that thread's time in the kernel. */
struct kernel_sample {
	uint64_t at, cpu_ns, system_ns, faults;
};

/* The probe's account, sleeps that had not ended included. */
struct probe_sample {
	uint64_t at, preempted_ns, blocked_ns, futex_ns;
};

/* An executor. */
struct lane {
	uint32_t executor, kind; /* enum lkdf_executor_kind */
	int32_t cpu, node; /* -1: not bound */
	uint32_t tid; /* of the thread that was it last */
	bool has_started;
	uint32_t first, nr_slices; /* in report.slice, by begin */
	struct span *enter, *park;
	uint32_t nr_enters, nr_parks;
	struct cpu_sample *sample;
	uint32_t nr_samples;
	uint32_t sampled; /* the thread that they are of */
	struct kernel_sample *kernel;
	uint32_t nr_kernel;
	struct probe_sample *probed;
	uint32_t nr_probed;
	uint64_t probe_from[LKDF_PROBED_COUNTS]; /* where the window begins */
	uint64_t probe_to[LKDF_PROBED_COUNTS]; /* and ends */
	bool is_probed; /* the probe has seen it */
	uint64_t probe_at; /* the last sample that counts */
	uint64_t probe_ns; /* of the window that the probe has seen */
	uint64_t futex_ns; /* asleep on futex words, part of its ASLEEP */
	struct span *taken; /* samples in which the CPU was taken away */
	uint8_t *taken_share; /* per cent */
	uint32_t nr_taken;
	uint64_t steals, counted, time[NR_TIME_CLASSES];
	uint64_t gated, passed; /* narrow.c: bodies at gates; without token */
	char label[64]; /* of a device's row, and: */
	uint32_t sort, device; /* enum lkdf_lane_sort */
	uint64_t bytes; /* copied */
	struct room room;
};

struct kind {
	uint32_t name;
	uint64_t nr, total; /* ns, without bodies within bodies */
	uint64_t p50, p99, max;
	uint64_t waited50, waited99, nr_waited;
	bool is_member; /* bodies are members of a gang, and of these: */
	bool is_loop; /* bodies are parts of loops, of any length */
	uint32_t nr_first; /* on worker 0: runs of the gang */
	uint64_t waited; /* in all */
	uint64_t nr_pooled; /* bodies that the blocking pool ran */
	uint64_t on_chain, ops_on_chain, asleep;
	uint64_t futex; /* asleep on futex words: exact */
	uint64_t kernel; /* on a CPU, in the kernel */
	double faults; /* minor page faults */
	double blame, blame_starved; /* ns of others' idle time beside it */
	uint64_t local, remote; /* bytes */
	uint64_t nr_ops, op_total, op50, op99;
	uint32_t hist[NR_HIST]; /* bodies by length: 64 ns x 2^i */
};

struct report;
struct reason_sum; /* reasons.h */

/* The share of the run that it saves at most if bodies take half as long. */
double report_half_gain(const struct report *r, const struct kind *k);

/* A step of the longest chain; NO_SLICE: across the submitting thread. */
struct step {
	uint32_t slice; /* or nr_slices + operation */
	uint64_t from, to;
};

struct chain {
	struct step *step; /* in order of time */
	uint32_t nr_steps, nr_tasks;
	uint64_t body, wait, start;
	bool is_guessed; /* a step across the submitting thread was inferred */
	bool is_joined; /* a body on it waited for its children */
	bool has_room; /* the program waited for room, for a step of it */
};

enum finding_sort {
	FINDING_COST, /* costs a share of worker time */
	FINDING_BYTES, /* known in bytes only */
	FINDING_LOST, /* of the recording itself */
	FINDING_BOUND, /* what limits the run */
};

struct finding {
	const char *id; /* a fixed word, for programs */
	enum finding_sort sort;
	double cost; /* 0 .. 1 of worker time */
	double rank; /* orders findings, as a cost does */
	double gain; /* of its fix, by a replay: a part of the wall; 0: none */
	bool is_refuted; /* a replay without the cause gains next to nothing */
	const char *source; /* of the evidence */
	bool is_estimate;
	char title[192], why[512], fix[256];
	struct place at;
};

/* A thread of the program, by its first and its last sample. */
struct outsider {
	uint32_t tid;
	uint64_t from, from_cpu, to, to_cpu;
	char name[16];
};

#define MAX_OUTSIDERS 64u

/* The longest idle stretch of a class. */
struct gap {
	uint64_t size;
	struct place at;
};

/* Which facts the recording has. */
struct facts {
	bool links, ready, flow, ops, enter, cpu, bytes, waits, park, edges;
	bool probe, kernel;
};

struct report {
	/* load.c */
	const char *file;
	char program[256]; /* "": not recorded */
	double cpus; /* of the machine or its quota; 0: not recorded */
	bool is_made_up; /* the topology, and with it the number of CPUs */
	struct trace_info info;
	struct facts has;
	struct slice *slice;
	uint32_t nr_slices;
	uint32_t nr_copies; /* of these: of a device, no tasks */
	struct lane *lane;
	uint32_t nr_lanes, nr_workers, nr_blocking;
	struct op *op; /* by begin */
	uint32_t nr_ops;
	struct wait *wait; /* by end */
	uint32_t nr_waits;
	struct held *held; /* by begin, and from limits.c on by limit */
	uint32_t nr_held;
	struct kind *kind;
	uint32_t nr_kinds;
	uint64_t wall, start_ns; /* CLOCK_MONOTONIC of 0 */
	uint64_t tasks_counted, skipped; /* slices beyond what memory holds */
	uint64_t from, to; /* the window asked for, from the first work */
	bool is_cut, has_window; /* read up to a damage; of a window only */
	uint64_t length; /* of the recording, window or not */
	int node_of[MAX_NODES]; /* nodes with workers, ascending */
	uint32_t nr_nodes;
	uint64_t flow[MAX_NODES][MAX_NODES]; /* bytes: user x owner */
	uint64_t *remote_of; /* by name of a data: bytes of other nodes */
	uint64_t flow_known, flow_unknown; /* bytes whose owner nobody knows */

	struct narrow_kind narrow[NARROW_KINDS]; /* narrow.c */
	uint32_t nr_narrow, nr_outsiders;
	struct outsider outsider[MAX_OUTSIDERS];

	/* sweep.c */
	uint64_t time[NR_TIME_CLASSES];
	double busy[NR_BINS]; /* workers in bodies, mean */
	uint32_t ready_max[NR_BINS], ops_max[NR_BINS];
	uint32_t most_ready, most_ops;
	double mean_ops;
	struct gap starved_gap, late_gap;
	uint64_t nr_enters, last_outside;
	uint64_t starved[NR_STARVES]; /* worker time */
	uint64_t nr_outside; /* tasks made ready by threads of the program */
	uint64_t nr_outside_loops; /* of these, blocks of loops */
	double blame_nobody;

	/* limits.c, the longest total first */
	struct limit *limit;
	uint32_t nr_limits;

	/* loops.c, the longest first */
	struct loop_sum *loop;
	uint32_t nr_loops;

	/* teams.c, the longest first */
	struct team *team;
	uint32_t nr_teams;
	uint64_t between; /* the run without them, up to the last */
	struct place between_at; /* the longest part of it */
	uint64_t beside; /* of other bodies, in that time */

	/* reasons.c, the most time first */
	struct reason_sum *reason;
	uint32_t nr_reasons;

	/* waits.c, the longest total first */
	struct wait_sum *wait_sum;
	uint32_t nr_wait_sums;

	/* load.c; then requests.c: by name and latency */
	struct region *region;
	uint32_t nr_regions;
	struct mark *mark;
	uint32_t nr_marks;
	struct away *away; /* by slice */
	uint32_t nr_aways;
	struct request *request;
	uint32_t nr_requests;
	struct request_sum *request_sum;
	uint32_t nr_request_sums;
	uint32_t *next_step; /* by slice: another body of its request */

	/* devices.c, by number */
	struct device *device;
	uint32_t nr_devices;
	char device_name[MAX_DEVICES][96]; /* load.c: by number; "": none */

	/* probed.c, futexes.c */
	uint32_t probe_sees, probe_hz; /* enum lkdf_probed_bit */
	uint64_t nr_preemptors; /* looks at who had got a worker's CPU */
	struct preemptor preemptor[PREEMPTORS]; /* nr 0: there are no more */
	uint64_t probe_ns; /* of worker time that the probe has seen */
	uint64_t futex_ns; /* of worker time, asleep on futex words */
	struct futex *futex; /* the most time first */
	uint32_t nr_futexes, futexes_left_out;

	/* stacks.c: by sort, the most first; MAX_STACKS of each at most */
	struct stack *stack;
	uint32_t nr_stacks;

	struct chain chain;

	/* gains.c */
	bool has_replay;
	double drift; /* of the replay without a change: parts of the wall */
	const char *no_gains; /* why nothing is predicted; NULL: it is */
	struct gain gain[MAX_GAINS];
	uint32_t nr_gains;
	struct worth worth[MAX_WORTHS];
	uint32_t nr_worths;
	struct with_workers with[WORKERS_TRIED];
	bool wants_all; /* causes of less than what is worth telling, too */
	struct finding finding[MAX_FINDINGS];
	uint32_t nr_findings;
};

static inline const char *kind_name(const struct report *r, uint32_t kind)
{
	return r->info.name[r->kind[kind].name];
}

/* Bodies and kernels. */
static inline uint32_t nr_tasks(const struct report *r)
{
	return r->nr_slices - r->nr_copies;
}

/* Worker time: workers x wall. */
static inline uint64_t worker_time(const struct report *r)
{
	return r->wall * r->nr_workers;
}

static inline double share_of(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

struct report_window {
	uint64_t from, to; /* ns; to is NO_TIME without an end */
};

/*
 * Reads the file twice: to count, then to keep. Return: 0; -EBADMSG: damaged
 * or cut, see fault, r holds what was readable; -EIO; -ENOMEM.
 */
int report_load(struct report *r, FILE *f, const struct report_window *w,
		struct trace_fault *fault);
void report_unload(struct report *r);

/* In this order. Return: 0; -ENOMEM. */
int report_sweep(struct report *r);
int report_limits(struct report *r);
int report_waits(struct report *r);
int report_reasons(struct report *r);
int report_teams(struct report *r);
int report_loops(struct report *r);
int report_kinds(struct report *r);
int report_devices(struct report *r);
int report_requests(struct report *r);
/* How its task came from a body before to that one; NULL: it is its first. */
const struct away *report_away(const struct report *r, uint32_t slice);
/* Bodies of the request of that first body, by begin: at most room. */
uint32_t report_steps(const struct report *r, uint32_t root, uint32_t *to,
		      uint32_t room);

/* load.c: a row waited for memory; FACTS has the name of a device. */
void devices_note_room(struct lane *l, const struct span *at);
void devices_note_name(struct report *r, const char *key, const char *value);
int report_chain(struct report *r);

/* Over the workers: the growth of a count of the probe. */
uint64_t report_probe_count(const struct report *r,
			    enum lkdf_probed_count count);
/* gains.c: replays of the recording, and what changes would gain. */
int report_gains(struct report *r);
void report_find(struct report *r);

#endif
