/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A libcuda.so.1 for tests: NVIDIA's driver as a recording of it shows it
 * (../golden.txt), on the CPU. A stream is a list of ops and, from its first op
 * on, a thread; a kernel is PTX, which is interpreted, or a text that the
 * libnvrtc.so of this folder has compiled for the CPU. One lock guards all
 * state; ops run without it.
 *
 * Each call of the API begins with enter() and ends with leave(). A call that
 * uses a stream or an event that was destroyed ends the process and says the
 * call's name, where the driver ends with SIGSEGV.
 */
#ifndef FAKE_H
#define FAKE_H

#include "tests/cuda/calls.h"

#include <pthread.h>
#include <stdbool.h>

#define API __attribute__((visibility("default")))
#define CAPACITY (4ull << 30) /* bytes of memory of each card */
#define MAX_CARDS 4
#define MAX_OPS 1022 /* in a stream; the call that gives one more waits */
#define FAULT_NS 150000000 /* from a fault to the first call that says so */
#define STATIC_SHARED                                          \
	49152 /* bytes of a block without a function's consent \
	       */
#define MAX_SHARED 232448
#define MAX_PARAMS 32764
#define MANY 0xffffffffu

/* Calls that are in no list of calls.h. */
/* clang-format off */
#define EXTRA_CALLS(call) \
	call(cuCtxCreate, cuCtxCreate_v3020, cu_ctx *, unsigned, cu_dev) \
	call(cuCtxGetDevice, cuCtxGetDevice_v2000, cu_dev *) \
	call(cuLibraryLoadData, cuLibraryLoadData_v12000, void **, const void *, unsigned *, void **, unsigned, unsigned *, void **, unsigned) \
	call(cuLibraryGetKernel, cuLibraryGetKernel_v12000, void **, void *, const char *)
/* clang-format on */

#define DECLARE(name, version, ...) cu_result name(__VA_ARGS__);
CU_CALLS(DECLARE)
CU_NEW_CALLS(DECLARE)
CU_GUEST_CALLS(DECLARE)
EXTRA_CALLS(DECLARE)
#undef DECLARE

API cu_result cuGetProcAddress_v2(const char *symbol, void **f, int version,
				  uint64_t flags, unsigned *status);
API cu_result cuMemAlloc_v2(cu_ptr *p, size_t size);

enum entry {
#define NUMBER(name, version, ...) E_##name,
	CU_CALLS(NUMBER)
	CU_NEW_CALLS(NUMBER) CU_GUEST_CALLS(NUMBER) EXTRA_CALLS(NUMBER)
#undef NUMBER
		NR_ENTRIES
};

/* Switches that a driver may be stricter or older by, see like.c. */
enum like {
	LIKE_CURRENT, /* what uses a handle wants its context to be current */
	LIKE_NO_POOLS, /* memory comes from cuMemAlloc only */
	LIKE_NO_WORDS, /* streams write no words */
	LIKE_PROHIBITED, /* the card's compute mode lets no process in */
	LIKE_OLD, /* a driver of CUDA 12.2 */
	LIKE_SM_100, /* a card of compute capability 10.0 */
	LIKE_AT_ONCE, /* what a stream can do is done when the call returns */
	NR_LIKES
};

bool like(enum like what);
int driver_version(void);
bool needs_current(enum entry e);

/* What a call needs before it does its work. */
enum needs {
	NEEDS_NOTHING,
	NEEDS_INIT, /* told also after a fault */
	NEEDS_HEALTH, /* no fault; also in host functions */
	NEEDS_DRIVER, /* no fault; not in host functions */
	NEEDS_CONTEXT, /* and a context that is current */
};

/* ---- state: all of it under the lock ------------------------------------ */

struct CUctx_st {
	int device;
	bool is_dead, is_primary;
	unsigned retains, flags;
	struct CUstream_st *null_stream;
};

enum range_kind {
	RANGE_DEVICE,
	RANGE_POOL,
	RANGE_MANAGED,
	RANGE_PINNED,
	RANGE_REGISTERED,
	RANGE_MODULE,
};

/* Bytes that the card may use. */
struct range {
	struct range *next;
	uintptr_t at;
	size_t size;
	enum range_kind kind;
	int device;
	bool is_given_back; /* cuMemFreeAsync has been called */
	struct CUmemPoolHandle_st *pool; /* it comes from, or NULL */
};

/* It keeps what it is given back, up to the threshold at each wait. */
struct CUmemPoolHandle_st {
	struct CUmemPoolHandle_st *next;
	int device;
	uint64_t threshold;
	size_t reserved, used; /* bytes; reserved are the card's no more */
	bool is_default, is_dead; /* is_dead: it goes with its last memory */
};

struct param {
	unsigned at, size;
};

struct CUfunc_st {
	struct CUfunc_st *next;
	struct CUmod_st *mod;
	char *name;
	struct param *params;
	unsigned nr_params, params_size;
	unsigned max_threads, shared, dynamic;
	unsigned carveout; /* percent + 1; 0: it was not said */
	bool is_loaded;
	/* One of both runs. */
	struct ptx_code *ptx;
	const struct fake_kernel *compiled;
};

struct global {
	struct global *next;
	char *name;
	void *at;
	size_t size;
};

struct CUmod_st {
	struct CUmod_st *next;
	struct CUctx_st *ctx;
	struct CUfunc_st *funcs;
	struct global *globals;
	const struct fake_image *image;
	bool is_dead;
};

enum op_kind {
	OP_KERNEL,
	OP_COPY,
	OP_SET,
	OP_WRITE,
	OP_WAIT_VALUE,
	OP_HOST,
	OP_RECORD,
	OP_WAIT,
	OP_TAKE, /* memory of the pool is there from here on */
	OP_GIVE, /* ... and gone from here on */
};

struct op {
	struct op *next;
	enum op_kind kind;
	struct CUfunc_st *func;
	unsigned grid[3], block[3], shared;
	unsigned carveout; /* as the function had it at the call */
	unsigned char *bytes; /* parameters, or what a copy took at its call */
	size_t nr_bytes;
	void *to;
	const void *from;
	size_t size;
	uint32_t value;
	struct CUevent_st *event;
	uint64_t record;
	cu_host_fn fn;
	void *arg;
};

/* Records of all events have numbers that rise. */
struct CUevent_st {
	struct CUevent_st *next;
	struct CUctx_st *ctx;
	unsigned flags;
	uint64_t recorded, done;
	bool is_dead;
	struct CUgraph_st *capture; /* the last record was in it */
	struct CUstream_st *stream; /* of that record */
};

/* A graph is the list of its ops, in an order in which they may run. */
struct CUgraph_st {
	struct op *first, **end;
	size_t nr;
	struct CUgraph_st *all; /* list of all */
	/* While it is captured. */
	struct CUstream_st *origin;
	unsigned mode;
	pthread_t thread;
	cu_result broken;
};

struct CUgraphExec_st {
	struct CUgraph_st graph;
	struct CUevent_st *last; /* its last run: one runs at a time */
};

struct CUstream_st {
	struct CUstream_st *next;
	struct CUctx_st *ctx;
	unsigned flags;
	int priority;
	struct op *first, **end;
	unsigned nr;
	pthread_cond_t given;
	bool has_thread, is_dead;
	bool is_stuck; /* behind a fault: nothing comes any more */
	struct CUgraph_st *capture;
	bool has_left; /* works for a capture that it has not come back to */
};

extern struct CUstream_st *streams;
extern _Thread_local struct CUctx_st *current;
extern _Thread_local bool in_host_function;

/* ---- entry.c: calls, errors, faults ------------------------------------- */

void fake_lock(void);
void fake_unlock(void);
bool fake_is_locked(void); /* by this thread */

/* Takes the lock; 0, or the result that leave() is to give. */
cu_result enter(enum entry e, enum needs needs);
cu_result leave(cu_result r);
void use_destroyed(enum entry e) __attribute__((noreturn));

/* Until something has changed, 5 ms at the longest. */
void wait_change(void);
void tell_change(void);
void wait_given(pthread_cond_t *given); /* until it is signalled */

void fault_begin(cu_result r);
cu_result fault_told(void); /* 0: none that calls say */
bool fault_is_there(void);
int64_t now_ns(void);

/*
 * Bytes of the host are read or written without the lock. A call says of a
 * fault only when no stream does so any more, and then none begins.
 */
void bytes_begin(void);
void bytes_end(void);

/* As long as a test has said, without the lock. */
void copy_held(void);

/* 0, or 3 before cuInit and in a forked child. */
cu_result device_ready(void);
bool device_is(cu_dev d);
int device_count(void); /* 0: no card is visible */

/* ---- error.c ------------------------------------------------------------ */

bool error_is_fault(cu_result r);

/* ---- stream.c ----------------------------------------------------------- */

/* The handle's stream, NULL: the null stream. *out untouched on failure. */
cu_result stream_find(enum entry e, cu_stream s, struct CUstream_st **out);
bool stream_is_null(const struct CUstream_st *s);

/* The op is the stream's, or its capture's; freed on failure. */
cu_result stream_give(enum entry e, cu_stream s, struct op *o);
void stream_append(struct CUstream_st *s, struct op *o);

/* Until its ops are done or a fault is told. */
void stream_wait(struct CUstream_st *s);

/*
 * Until all that runs is done. holds: other threads' launches wait meanwhile;
 * the call is counted if something ran.
 */
void stream_wait_all(bool holds);

/* ---- op.c --------------------------------------------------------------- */

struct op *op_make(enum op_kind kind);
struct op *op_copy(const struct op *o); /* of a graph: owns its parameters */
void op_free(struct op *o);
bool op_may_run(const struct op *o);
cu_result op_run(struct op *o); /* without the lock; a fault's error */

/* ---- event.c ------------------------------------------------------------ */

struct CUevent_st *event_make(struct CUctx_st *ctx, unsigned flags);
uint64_t event_number(void);

/* ---- pool.c ------------------------------------------------------------- */

/* NULL: no such pool, or it is dead. */
struct CUmemPoolHandle_st *pool_find(cu_pool pool);
struct CUmemPoolHandle_st *pool_default(int device);
bool pool_take(struct CUmemPoolHandle_st *p, size_t size); /* has it room? */
void pool_give(struct CUmemPoolHandle_st *p, size_t size);
void pool_waited(int device); /* unused bytes go back to the card */

/* ---- memory.c, host.c --------------------------------------------------- */

/* Bytes of the card are taken, or given back; false: there are not as many. */
bool memory_reserve(int device, size_t size);
void memory_release(int device, size_t size);

struct range *range_find(uintptr_t p);
bool range_has(uintptr_t p, size_t size); /* and it is not given back */
void range_add(uintptr_t at, size_t size, enum range_kind kind, int device);
void range_drop(struct range *r);
struct range *range_first(void);
bool range_is_host(const struct range *r);
void memory_take(const struct op *o);
void memory_give(const struct op *o);

/* ---- module.c, launch.c ------------------------------------------------- */

struct CUfunc_st *module_add(struct CUmod_st *m, const char *name, size_t size);
void module_param(struct CUfunc_st *f, unsigned size, unsigned align);
cu_result launch_op(cu_func f, const struct cu_kernel_node *k, struct op **out);

/* ---- capture.c, graph.c ------------------------------------------------- */

/* 900 and a broken capture where the call may not be made during one. */
cu_result capture_forbids(const struct CUstream_st *s);
cu_result capture_null(void);
void graph_append(struct CUgraph_st *g, struct op *o);
struct CUgraph_st *graph_make(void);

#endif
