/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The two layouts that outlive a process: the memfd "lkdf:stats", in the byte
 * order of the machine, and the file *.lkdf, little-endian. Documentation/
 * trace-format.rst says what the fields mean and what a reader may rely on.
 * Take every number found there as hostile. This header declares no functions.
 */
#ifndef LKDF_FORMAT_H
#define LKDF_FORMAT_H

#include <lkdf/base.h>

#ifdef __cplusplus
extern "C" {
#define LKDF_ASSERT_LAYOUT(cond) static_assert(cond, #cond)
#else
#define LKDF_ASSERT_LAYOUT(cond) _Static_assert(cond, #cond)
#endif
#pragma GCC visibility push(default)

#define LKDF_STATS_NAME "lkdf:stats"
#define LKDF_STATS_MAGIC 0x7461747366646b6cull /* "lkdfstat" */
#define LKDF_STATS_VERSION 1u
#define LKDF_SLICES_NAME "lkdf:slices"
#define LKDF_SLICES_MAGIC 0x63696c7366646b6cull /* "lkdfslic" */
#define LKDF_FILE_MAGIC 0x6361727466646b6cull /* "lkdftrac" */
#define LKDF_FILE_VERSION 1u

#define LKDF_MAX_EXECUTORS 8192u /* without "outside" */
#define LKDF_MAX_COUNTERS 256u
#define LKDF_MAX_EVENTS 256u
#define LKDF_MAX_NAMES 65536u
#define LKDF_MAX_TEXT 255u /* bytes, without NUL */
#define LKDF_MAX_CHUNK (1u << 20) /* bytes of payload */
#define LKDF_DEVICE_LANES 4096u /* rows of devices, after the executors */
#define LKDF_THREAD_LANES 64u /* threads of the program, after these */
#define LKDF_MAX_LANES (LKDF_DEVICE_LANES + LKDF_THREAD_LANES)
#define LKDF_MAX_NODES 1024u
#define LKDF_MAX_LABELS (1u << 20) /* rows of the table of labels */
#define LKDF_STATS_DEVICES 64u /* rows of the table of devices */
#define LKDF_LABEL_LINE 8u /* places in which a block may lie */
#define LKDF_MAX_GRAPHS (1u << 20)
#define LKDF_MAX_FRAMES (1u << 24) /* of all graphs together */

enum lkdf_executor_kind {
	LKDF_EXECUTOR_WORKER = 0,
	LKDF_EXECUTOR_BLOCKING = 1,
	LKDF_EXECUTOR_OUTSIDE = 2, /* all threads of the program, one block */
};

/* At offset 0 of the memfd. Offsets are bytes from there unless said. */
struct lkdf_stats_header {
	/* Constant from before the memfd was sealed. */
	uint64_t magic;
	uint32_t version;
	uint32_t header_size;
	uint64_t total_size;
	uint32_t pid;
	uint32_t nr_executors; /* there is one block more: outside */
	uint64_t start_ticks; /* calibration pair: */
	uint64_t start_ns; /* CLOCK_MONOTONIC */
	uint32_t ticks_per_1024ns;
	uint32_t nr_counters;
	uint32_t nr_events; /* sorts of events */
	uint32_t event_records; /* slots of a ring, a power of two */
	uint32_t slice_records; /* a power of two, or 0: not recording */
	uint32_t event_size;
	uint32_t slice_size;
	uint32_t counter_desc_size;
	uint32_t event_desc_size;
	uint32_t name_size;
	uint32_t name_cap;
	uint32_t counters_offset; /* in a block */
	uint32_t events_offset; /* in a block */
	uint32_t slices_offset; /* in a block */
	uint64_t counter_table_offset;
	uint64_t event_table_offset;
	uint64_t name_table_offset;
	uint64_t blocks_offset;
	uint64_t block_size;
	char runtime[32];
	uint64_t label_table_offset;
	uint32_t label_cap; /* 0: there is none */
	uint32_t label_size;

	/* The library writes at any time. */
	uint32_t nr_names; /* release */
	uint32_t recording; /* slices are being taken */
	uint64_t probe_key; /* hides futex words; 0: the probe is not there */
	uint64_t labels_left_out; /* blocks that found no place */
	char ask[32]; /* abstract socket for struct lkdf_ask; "": none */

	/* Constant as what is above them. */
	uint64_t device_table_offset; /* 0: there is none */
	uint32_t kinds_offset; /* in a block; 0: kinds are not counted */
	uint32_t kind_size; /* of a row */

	/* Set before ask. */
	uint64_t ask_key; /* of each struct lkdf_ask */
	uint8_t reserved[48];
};

/* A row of a block's table of kinds, by the number of the name. */
struct lkdf_stats_kind {
	/* Its executor writes at any time. */
	uint64_t bodies; /* that have begun */
	uint64_t ticks; /* that they took, by those that were timed */
	uint64_t timed;
};

/* A row of the table of devices. */
struct lkdf_stats_device {
	/* Constant from is_there on. */
	uint32_t is_there; /* release */
	int32_t node; /* -1: unknown */
	uint32_t flags; /* enum lkdf_device_flag */
	uint32_t queues; /* for kernels */
	uint32_t units, warp; /* as in struct lkdf_device_info */
	uint32_t max_block, block_shared, max_value_bytes;
	uint32_t reserved;
	uint64_t memory; /* bytes; 0: it works on the host's */
	uint64_t capacity; /* of these: the library takes so many at most */
	char sort[64]; /* "opencl" */
	char name[64];

	/* The launcher writes at any time. */
	uint64_t used; /* bytes that are allocated */
	uint32_t executor; /* 1 + the launcher's; 0: none so far, or serial */
	uint32_t tasks; /* that wait or are under way */
	uint32_t is_lost;
	uint32_t reserved2;
	uint64_t held; /* of used: the program's, by lkdf_alloc() */
	uint8_t reserved3[40];
};

/*
 * A row of the table of labels. Before the rows are label_cap addresses, 64
 * bits each: 0 nobody's, 1 being written, else where the block begins.
 */
struct lkdf_stats_label {
	uint64_t bytes;
	char text[64]; /* "" is none */
};

/* A row of the counter table. */
struct lkdf_stats_counter {
	char name[32]; /* "steals.near" */
	char unit[16];
	char help[80];
};

/* A row of the event table; "" for an argument not used. */
struct lkdf_stats_event_desc {
	char name[24];
	char a[20];
	char b[20];
};

/* First in each block. */
struct lkdf_stats_block {
	/* Its executor writes when it starts. */
	uint32_t start_seq; /* starts so far; release */
	uint32_t kind; /* enum lkdf_executor_kind */
	int32_t cpu; /* -1 not bound */
	int32_t node; /* -1 not bound */
	uint32_t tid;
	uint32_t probe_slot; /* of the probe's, plus 1; 0: it has none */
	uint32_t probe_gen;
	uint8_t reserved[36];

	/* Its executor writes at any time. */
	uint64_t event_head; /* events ever written; release */
	uint64_t slice_head; /* slices ever written; release */
	uint64_t slice_lost; /* dropped, the ring was full */
	uint8_t reserved2[40];
};

struct lkdf_stats_event {
	uint64_t ticks;
	uint32_t event; /* row of the event table */
	uint32_t a;
	uint64_t b;
};

/* A uid: the executor that it began on, and its number there; 0: nobody. */
#define LKDF_UID(executor, number) (((uint64_t)(executor) + 1) << 48 | (number))
#define LKDF_UID_EXECUTOR(uid) ((uint32_t)((uid) >> 48) - 1)
#define LKDF_UID_NUMBER(uid) ((uid)&0xffffffffffffull)

/* The last edge of a task: the name of the data, and the task's own mode. */
#define LKDF_EDGE(name, mode) ((uint32_t)(name) | (uint32_t)(mode) << 16)
#define LKDF_EDGE_NAME(edge) ((edge)&0xffff)
#define LKDF_EDGE_MODE(edge) ((edge) >> 16)

/* A body, or a span. */
struct lkdf_stats_slice {
	uint64_t begin, end; /* ticks */
	uint32_t task; /* of a graph; UINT32_MAX: none; of a row: its lane */
	uint32_t run; /* of the graph; of no graph: the last edge, or 0 */
	uint32_t name;
	uint32_t frame; /* 1 + that of the run; 0: no task of a graph */
	uint64_t ready; /* ticks; 0: unknown */
	uint64_t by; /* uid of who made it ready; 0: nobody known */
	uint64_t number; /* sort << 48 | number; sort 0: a body */
	uint64_t value; /* body: local, remote << 32, in 64 bytes */
};

/*
 * At offset 0 of the memfd "lkdf:slices", which has the slice rings of
 * recordings that began after the runtime was opened.
 */
struct lkdf_slices_header {
	uint64_t magic;
	uint32_t version; /* LKDF_STATS_VERSION */
	uint32_t pid;
	uint64_t start_ticks; /* as lkdf_stats_header of the runtime has them */
	uint32_t nr_executors;
	uint32_t slice_records; /* a power of two */
	uint32_t slice_size;
	uint32_t slices_offset; /* executor 0's ring; the others follow it */
	uint8_t reserved[24];
};

/* A runtime sends this to a tool together with its memfd. */
struct lkdf_stats_hello {
	uint64_t magic; /* LKDF_STATS_MAGIC */
	uint32_t version;
	uint32_t pid;
};

/* Words of tools, see trace-format.rst. */
enum lkdf_ask_word {
	LKDF_ASK_WHY_TEXT = 1, /* lkdf_why(), answered with a memfd of it */
	LKDF_ASK_WHY_JSON = 2,
	LKDF_ASK_RECORD = 3, /* with a descriptor: an empty file */
	LKDF_ASK_STOP = 4, /* on the connection that has said RECORD */
	LKDF_ASK_TOPO_TEXT = 5, /* the machine, answered with a memfd of it */
	LKDF_ASK_TOPO_JSON = 6,
	LKDF_ASK_LAST =
		7, /* as RECORD, answered when the last seconds are in it */
};

/* A tool sends this to the socket that the header names. */
struct lkdf_ask {
	uint64_t magic; /* LKDF_STATS_MAGIC */
	uint32_t version;
	uint32_t word; /* enum lkdf_ask_word */
	uint64_t key; /* ask_key of the header */
};

/* A runtime answers with this. */
struct lkdf_answer {
	uint64_t magic; /* LKDF_STATS_MAGIC */
	uint32_t version;
	int32_t error; /* 0 or -errno, and then text says why */
	uint64_t slices; /* of a recording that has ended, */
	uint64_t lost; /* and bodies and spans that found no room */
	char text[224]; /* ends with a NUL */
};

/* At offset 0 of a file. */
struct lkdf_file_header {
	uint64_t magic;
	uint32_t version;
	uint32_t header_size;
	uint32_t ticks_per_1024ns;
	uint32_t nr_executors;
	uint64_t start_ticks;
	uint64_t start_ns;
	uint32_t pid;
	uint32_t flags;
	uint8_t reserved[12];
	uint32_t crc; /* of what is before it */
};

/* Before each payload of a file. */
struct lkdf_file_chunk {
	uint32_t type; /* enum lkdf_chunk_type */
	uint32_t payload_size;
	uint32_t seq; /* 0, 1, 2 ... */
	uint32_t crc; /* of what is before it and the payload */
};

enum lkdf_chunk_type {
	LKDF_CHUNK_ABOUT = 1,
	LKDF_CHUNK_EXECUTOR = 2,
	LKDF_CHUNK_CLOCK = 3,
	LKDF_CHUNK_NAMES = 4,
	LKDF_CHUNK_SLICES = 5,
	LKDF_CHUNK_EVENTS = 6,
	LKDF_CHUNK_COUNTERS = 7,
	LKDF_CHUNK_END = 8,
	LKDF_CHUNK_LINKS = 9,
	LKDF_CHUNK_SPANS = 10,
	LKDF_CHUNK_KINDS = 11,
	LKDF_CHUNK_GRAPH = 12,
	LKDF_CHUNK_TASKS = 13,
	LKDF_CHUNK_THREADS = 14,
	LKDF_CHUNK_BYTES = 15,
	LKDF_CHUNK_FACTS = 16,
	LKDF_CHUNK_LANE = 17,
	LKDF_CHUNK_KERNEL = 18,
	LKDF_CHUNK_LOST = 19,
	LKDF_CHUNK_EDGES = 20,
};

/* The first number of a record of LINKS: which fields follow. */
enum lkdf_link_bit {
	LKDF_LINK_NUMBER = 1, /* not the number after the record before */
	LKDF_LINK_BY = 6, /* two bits: enum lkdf_link_by, shifted by 1 */
	LKDF_LINK_READY = 8, /* when it became ready is known */
	LKDF_LINK_RUN = 16, /* another frame or run than the record before */
	LKDF_LINK_BYTES = 32, /* other bytes than the record before */
	LKDF_LINK_EDGE = 64, /* another last edge than the record before */
	LKDF_LINK_ALL = 127,
};

/* Whose end, or which body, made a record ready. */
enum lkdf_link_by {
	LKDF_BY_NOBODY = 0, /* a thread of the program, or unknown */
	LKDF_BY_LAST = 1, /* as in the record before */
	LKDF_BY_OWN = 2, /* something on the same executor */
	LKDF_BY_OTHER = 3, /* something on another executor or lane */
};

/* Sorts of records of SPANS. */
enum lkdf_span_sort {
	LKDF_SPAN_OPERATION = 1, /* name: kind; value: result or -errno */
	LKDF_SPAN_ENTER = 2, /* io_uring_enter; value: given operations */
	LKDF_SPAN_WAIT = 3, /* a thread of the program; value: its tid */
	LKDF_SPAN_KERNEL = 4, /* on a lane; name: kind; value: task, or -1 */
	LKDF_SPAN_COPY = 5, /* on a lane: a copy; value: bytes */
	LKDF_SPAN_LIMIT = 6, /* a task waited; name: limit; value: kind */
	LKDF_SPAN_ROOM = 7, /* on a lane: waited for memory; value: bytes */
	/* A thread of the program waited for room; name: in what, value: how
	 * many fit. */
	LKDF_SPAN_FULL = 8,
	LKDF_SPAN_REGION = 9, /* of the program; name: its label */
	LKDF_SPAN_MARK = 10, /* the same, of no length; value: the program's */
	/* A task between two of its bodies: by is the body before, the number
	 * that of the body that goes on; name: what it waited for, or 0. */
	LKDF_SPAN_AWAY = 11,
	LKDF_SPAN_BLOCKS = 12, /* on a lane: a thread ran blocks of a loop */
};

/* Flags of a kind in KINDS. */
enum lkdf_kind_bit {
	LKDF_KIND_IS_BLOCKING = 1, /* bodies run in the blocking pool */
	LKDF_KIND_IS_IO = 2, /* tasks are operations */
	LKDF_KIND_IS_SHARED = 4, /* several runs of a task at a time */
	LKDF_KIND_IS_LIMITED = 8, /* bodies hold tokens of limits */
	LKDF_KIND_IS_OURS = 16, /* the library's own, not the program's */
	LKDF_KIND_IS_DEVICE = 32, /* tasks are kernels of a device */
	LKDF_KIND_IS_MEMBER = 64, /* bodies are members of a gang */
	LKDF_KIND_IS_LOOP = 128, /* bodies are parts of loops, of any length */
};

/* Flags of a task in TASKS. */
enum lkdf_task_bit {
	LKDF_TASK_IN_TURN = 1, /* waits for its instance of an earlier run */
	LKDF_TASK_PLACED = 2, /* has a node of its own */
	LKDF_TASK_HELPER = 4, /* the library's own, beside the user's tasks */
};

/* In the mode of an edge, beside enum lkdf_mode: the name is a port's. */
#define LKDF_EDGE_IS_PORT 256
/* Likewise: a body waited last for events of its task's after. */
#define LKDF_EDGE_IS_AFTER 512

/* The first number of KERNEL: which record follows. */
enum lkdf_probed_record {
	LKDF_PROBED_PROBE = 1, /* the probe came, changed, or ended */
	LKDF_PROBED_THREAD = 2, /* counts of the thread of an executor */
	LKDF_PROBED_WORD = 3, /* counts of a futex word in bodies of a kind */
	LKDF_PROBED_PLACE = 4, /* where a futex word is */
	LKDF_PROBED_PREEMPTOR = 5, /* got the CPU of such a thread */
	LKDF_PROBED_STACK = 6, /* callers of such a thread, in a body */
	LKDF_PROBED_WAKER = 7, /* ended sleeps in a futex word */
};

/* Sorts of stacks in KERNEL, and callers in one at most. */
enum lkdf_stack_sort {
	LKDF_STACK_WAITS = 1, /* it goes to sleep in a futex word */
	LKDF_STACK_RUNS = 2, /* a CPU was sampled */
};
#define LKDF_STACK_IPS 12

/* Facts that the probe sees; bits. */
enum lkdf_probed_bit {
	LKDF_PROBED_SEES_SWITCHES = 1, /* preempted, blocked, other CPUs */
	LKDF_PROBED_SEES_SAMPLES = 2, /* CPU time inside futex(2) */
	LKDF_PROBED_SEES_PAGES = 4, /* pages that move */
};

/* The counts of a thread in KERNEL, in their order. */
enum lkdf_probed_count {
	LKDF_PROBED_PREEMPTS, /* another thread got its CPU, so often */
	LKDF_PROBED_PREEMPTED_NS, /* until it had one again */
	LKDF_PROBED_BLOCKS, /* sleeps that ended */
	LKDF_PROBED_BLOCKED_NS,
	LKDF_PROBED_FUTEXES, /* of these in futex words of bodies */
	LKDF_PROBED_FUTEX_NS,
	LKDF_PROBED_CPUS, /* it came to another CPU, */
	LKDF_PROBED_NODES, /* and to another node */
	LKDF_PROBED_SAMPLES, /* of its CPU time */
	LKDF_PROBED_FUTEX_SAMPLES, /* of these inside futex(2), in bodies */
	LKDF_PROBED_OWN_SAMPLES, /* inside futex(2) for the runtime */
	LKDF_PROBED_PAGES, /* that it moved */
	LKDF_PROBED_COUNTS
};

/* Sorts of lanes. */
enum lkdf_lane_sort {
	LKDF_LANE_QUEUE = 1, /* kernels of a device */
	LKDF_LANE_COPIES = 2, /* copies to or from a device */
	LKDF_LANE_WAITS = 3, /* kernels that wait for memory of a device */
	LKDF_LANE_THREAD = 4, /* a thread of the program; device: its tid */
};

LKDF_ASSERT_LAYOUT(sizeof(struct lkdf_stats_header) == 320);
LKDF_ASSERT_LAYOUT(offsetof(struct lkdf_stats_header, start_ticks) == 32);
LKDF_ASSERT_LAYOUT(offsetof(struct lkdf_stats_header, event_records) == 60);
LKDF_ASSERT_LAYOUT(offsetof(struct lkdf_stats_header, name_cap) == 88);
LKDF_ASSERT_LAYOUT(offsetof(struct lkdf_stats_header, slices_offset) == 100);
LKDF_ASSERT_LAYOUT(offsetof(struct lkdf_stats_header, block_size) == 136);
LKDF_ASSERT_LAYOUT(offsetof(struct lkdf_stats_header, nr_names) == 192);
LKDF_ASSERT_LAYOUT(offsetof(struct lkdf_stats_header, label_cap) == 184);
LKDF_ASSERT_LAYOUT(offsetof(struct lkdf_stats_header, device_table_offset) ==
		   248);
LKDF_ASSERT_LAYOUT(offsetof(struct lkdf_stats_header, kinds_offset) == 256);
LKDF_ASSERT_LAYOUT(sizeof(struct lkdf_stats_kind) == 24);
LKDF_ASSERT_LAYOUT(sizeof(struct lkdf_stats_device) == 256);
LKDF_ASSERT_LAYOUT(offsetof(struct lkdf_stats_device, used) == 184);
LKDF_ASSERT_LAYOUT(sizeof(struct lkdf_stats_label) == 72);
LKDF_ASSERT_LAYOUT(sizeof(struct lkdf_stats_counter) == 128);
LKDF_ASSERT_LAYOUT(sizeof(struct lkdf_stats_event_desc) == 64);
LKDF_ASSERT_LAYOUT(sizeof(struct lkdf_stats_block) == 128);
LKDF_ASSERT_LAYOUT(offsetof(struct lkdf_stats_block, event_head) == 64);
LKDF_ASSERT_LAYOUT(sizeof(struct lkdf_stats_event) == 24);
LKDF_ASSERT_LAYOUT(offsetof(struct lkdf_stats_event, b) == 16);
LKDF_ASSERT_LAYOUT(sizeof(struct lkdf_stats_slice) == 64);
LKDF_ASSERT_LAYOUT(offsetof(struct lkdf_stats_slice, ready) == 32);
LKDF_ASSERT_LAYOUT(offsetof(struct lkdf_stats_slice, name) == 24);
LKDF_ASSERT_LAYOUT(sizeof(struct lkdf_slices_header) == 64);
LKDF_ASSERT_LAYOUT(offsetof(struct lkdf_slices_header, slices_offset) == 36);
LKDF_ASSERT_LAYOUT(offsetof(struct lkdf_stats_header, ask) == 216);
LKDF_ASSERT_LAYOUT(sizeof(struct lkdf_stats_hello) == 16);
LKDF_ASSERT_LAYOUT(offsetof(struct lkdf_stats_header, ask_key) == 264);
LKDF_ASSERT_LAYOUT(sizeof(struct lkdf_ask) == 24);
LKDF_ASSERT_LAYOUT(sizeof(struct lkdf_answer) == 256);
LKDF_ASSERT_LAYOUT(sizeof(struct lkdf_file_header) == 64);
LKDF_ASSERT_LAYOUT(offsetof(struct lkdf_file_header, start_ticks) == 24);
LKDF_ASSERT_LAYOUT(offsetof(struct lkdf_file_header, crc) == 60);
LKDF_ASSERT_LAYOUT(sizeof(struct lkdf_file_chunk) == 16);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
