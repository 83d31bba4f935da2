/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "tests/bench/raw_cuda.h"

#include "tests/cuda/load.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

#define ASK_US 100 /* from question to question, of a fault */
#define NOT_READY 600 /* CUDA_ERROR_NOT_READY */
#define NR_STREAMS 3
#define NR_EVENTS 32 /* of blocks that overlap, two for each */
#define LIMIT_NS 3000000000 /* of a gate that nobody opens */
#define WORD 16 /* of flags: written by the stream */

struct raw_cuda {
	struct cu cu;
	cu_dev dev;
	cu_ctx context;
	cu_mod module;
	cu_func empty, gate, spin, step;
	cu_stream stream[NR_STREAMS];
	cu_event event[NR_EVENTS],
		sleeper; /* sleeper: who waits for it sleeps */
	_Atomic(uint32_t) *flag; /* [0]: of gates; [WORD] */
	cu_ptr flag_there, memory;
	uint32_t *host; /* pinned */

	/* A CUDA graph of so many steps. */
	cu_exec exec;
	unsigned nr_steps;
	char why[96];
};

const char raw_cuda_text[] =
	".version 7.0\n.target sm_75\n.address_size 64\n"
	".visible .entry empty()\n{\n ret;\n}\n"
	".visible .entry gate(.param .u64 flag, .param .u64 limit)\n{\n"
	" .reg .u64 %f, %l, %a, %b;\n .reg .u32 %v;\n"
	" .reg .pred %p, %q;\n"
	" ld.param.u64 %f, [flag];\n ld.param.u64 %l, [limit];\n"
	" mov.u64 %a, %globaltimer;\nagain:\n"
	" ld.volatile.global.u32 %v, [%f];\n setp.ne.u32 %p, %v, 0;\n"
	" @%p ret;\n mov.u64 %b, %globaltimer;\n sub.u64 %b, %b, %a;\n"
	" setp.lt.u64 %q, %b, %l;\n @%q bra again;\n ret;\n}\n"
	".visible .entry spin(.param .u64 limit)\n{\n"
	" .reg .u64 %l, %a, %b;\n .reg .pred %q;\n"
	" ld.param.u64 %l, [limit];\n mov.u64 %a, %globaltimer;\nagain:\n"
	" mov.u64 %b, %globaltimer;\n sub.u64 %b, %b, %a;\n"
	" setp.lt.u64 %q, %b, %l;\n @%q bra again;\n ret;\n}\n"
	".visible .entry step(.param .u64 at, .param .u32 value)\n{\n"
	" .reg .u64 %a;\n .reg .u32 %v, %w;\n ld.param.u64 %a, [at];\n"
	" ld.param.u32 %v, [value];\n ld.global.u32 %w, [%a];\n"
	" add.u32 %v, %v, %w;\n add.u32 %w, %w, %w;\n"
	" add.u32 %w, %w, %v;\n"
	" st.global.u32 [%a], %w;\n ret;\n}\n";

uint32_t raw_cuda_word(unsigned nr, uint32_t touched)
{
	uint32_t v = 0;

	while (nr--)
		v = v * 3 + 1 + touched;
	return v;
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void spin_for(int64_t ns)
{
	int64_t end = now_ns() + ns;

	while (now_ns() < end)
		continue;
}

/* Keeps the first failure. True: there is none. */
static bool went(struct raw_cuda *r, const char *call, cu_result result)
{
	const char *name = NULL;

	if (!result || r->why[0])
		return !r->why[0];
	r->cu.cuGetErrorName(result, &name);
	snprintf(r->why, sizeof(r->why), "%s: %s", call, name ? name : "?");
	return false;
}

#define CALL(r, call, ...) went(r, #call, (r)->cu.call(__VA_ARGS__))

/* ---- open and close ----------------------------------------------------- */

static bool load(struct raw_cuda *r)
{
	const char *named = getenv("LKDF_CUDA_LIBRARY");
	char why[64];
	int nr = 0;

	if (cu_load(named && named[0] ? named : "libcuda.so.1", &r->cu, why,
		    sizeof(why))) {
		snprintf(r->why, sizeof(r->why), "absent: %s", why);
		return false;
	}
	if (!r->cu.cuInit(0) && !r->cu.cuDeviceGetCount(&nr) && nr > 0)
		return CALL(r, cuDeviceGet, &r->dev, 0);
	snprintf(r->why, sizeof(r->why), "absent: a card");
	return false;
}

static bool make_streams(struct raw_cuda *r)
{
	unsigned i;

	for (i = 0; i < NR_STREAMS; i++)
		CALL(r, cuStreamCreateWithPriority, &r->stream[i],
		     CU_NON_BLOCKING, 0);
	for (i = 0; i < NR_EVENTS; i++)
		CALL(r, cuEventCreate, &r->event[i], CU_EVENT_NO_TIMING);
	return CALL(r, cuEventCreate, &r->sleeper,
		    CU_EVENT_NO_TIMING | CU_EVENT_BLOCKING);
}

static bool make_memory(struct raw_cuda *r)
{
	void *flag = NULL, *host = NULL;

	CALL(r, cuMemAlloc, &r->memory, RAW_CUDA_BYTES);
	CALL(r, cuMemHostAlloc, &host, RAW_CUDA_BYTES, CU_HOST_PORTABLE);
	CALL(r, cuMemHostAlloc, &flag, 4096, CU_HOST_PORTABLE | CU_HOST_MAPPED);
	r->host = host;
	r->flag = flag;
	return !r->why[0] &&
	       CALL(r, cuMemHostGetDevicePointer, &r->flag_there, flag, 0);
}

static bool make_all(struct raw_cuda *r)
{
	if (!load(r) || !CALL(r, cuDevicePrimaryCtxRetain, &r->context, r->dev))
		return false;
	CALL(r, cuCtxSetCurrent, r->context);
	CALL(r, cuModuleLoadData, &r->module, raw_cuda_text);
	if (r->why[0])
		return false;
	CALL(r, cuModuleGetFunction, &r->empty, r->module, "empty");
	CALL(r, cuModuleGetFunction, &r->gate, r->module, "gate");
	CALL(r, cuModuleGetFunction, &r->spin, r->module, "spin");
	CALL(r, cuModuleGetFunction, &r->step, r->module, "step");
	return make_streams(r) && make_memory(r);
}

struct raw_cuda *raw_cuda_open(char *why, size_t size)
{
	struct raw_cuda *r = calloc(1, sizeof(*r));

	if (r && make_all(r))
		return r;
	snprintf(why, size, "%s", r ? r->why : "no memory");
	raw_cuda_close(r);
	return NULL;
}

void raw_cuda_close(struct raw_cuda *r)
{
	unsigned i;

	if (!r)
		return;
	if (r->exec)
		r->cu.cuGraphExecDestroy(r->exec);
	for (i = 0; i < NR_STREAMS; i++)
		if (r->stream[i])
			r->cu.cuStreamDestroy(r->stream[i]);
	for (i = 0; i < NR_EVENTS; i++)
		if (r->event[i])
			r->cu.cuEventDestroy(r->event[i]);
	if (r->sleeper)
		r->cu.cuEventDestroy(r->sleeper);
	if (r->memory)
		r->cu.cuMemFree(r->memory);
	if (r->host)
		r->cu.cuMemFreeHost(r->host);
	if (r->flag)
		r->cu.cuMemFreeHost(r->flag);
	if (r->module)
		r->cu.cuModuleUnload(r->module);
	if (r->context)
		r->cu.cuDevicePrimaryCtxRelease(r->dev);
	if (r->cu.library)
		dlclose(r->cu.library);
	free(r);
}

const char *raw_cuda_why(const struct raw_cuda *r)
{
	return r->why;
}

uint64_t raw_cuda_flag(const struct raw_cuda *r)
{
	return r->flag_there;
}

void raw_cuda_set_flag(struct raw_cuda *r, uint32_t value)
{
	atomic_store(r->flag, value);
}

/* ---- what is measured --------------------------------------------------- */

static bool launch(struct raw_cuda *r, cu_func f, cu_stream s, void **params)
{
	return CALL(r, cuLaunchKernel, f, 1, 1, 1, 1, 1, 1, 0, s, params, NULL);
}

static bool launch_step_at(struct raw_cuda *r, cu_ptr at, cu_stream s)
{
	uint32_t one = 1;
	void *params[] = { &at, &one };

	return launch(r, r->step, s, params);
}

static bool launch_step(struct raw_cuda *r, cu_stream s)
{
	return launch_step_at(r, r->memory, s);
}

static bool launch_for(struct raw_cuda *r, cu_stream s, uint64_t ns)
{
	void *params[] = { &ns };

	return launch(r, r->spin, s, params);
}

static int64_t since(const struct raw_cuda *r, int64_t start)
{
	int64_t ns = now_ns() - start;

	return r->why[0] ? -EIO : ns > 0 ? ns : 1;
}

int64_t raw_cuda_launches(struct raw_cuda *r, unsigned nr)
{
	int64_t start = now_ns(), ns;
	unsigned i;

	for (i = 0; i < nr; i++)
		launch(r, r->empty, r->stream[0], NULL);
	ns = since(r, start);
	CALL(r, cuStreamSynchronize, r->stream[0]);
	return r->why[0] ? -EIO : ns;
}

int64_t raw_cuda_side_by_side(struct raw_cuda *r, unsigned nr)
{
	int64_t start = now_ns();

	raw_cuda_launches(r, nr);
	return since(r, start);
}

int64_t raw_cuda_chain(struct raw_cuda *r, unsigned nr)
{
	int64_t start = now_ns();
	unsigned i;

	for (i = 0; i < nr; i++)
		launch_step(r, r->stream[0]);
	CALL(r, cuStreamSynchronize, r->stream[0]);
	return since(r, start);
}

static bool make_graph(struct raw_cuda *r, unsigned nr)
{
	cu_graph g = NULL;
	unsigned i;

	if (r->exec)
		r->cu.cuGraphExecDestroy(r->exec);
	r->exec = NULL;
	CALL(r, cuStreamBeginCapture, r->stream[0], CU_CAPTURE_RELAXED);
	for (i = 0; i < nr; i++)
		launch_step(r, r->stream[0]);
	CALL(r, cuStreamEndCapture, r->stream[0], &g);
	if (g)
		CALL(r, cuGraphInstantiateWithFlags, &r->exec, g, 0);
	if (g)
		r->cu.cuGraphDestroy(g);
	r->nr_steps = nr;
	return !r->why[0];
}

int64_t raw_cuda_replay(struct raw_cuda *r, unsigned nr, unsigned times)
{
	int64_t start;
	unsigned i;

	if (r->nr_steps != nr && !make_graph(r, nr))
		return -EIO;
	start = now_ns();
	for (i = 0; i < times; i++)
		CALL(r, cuGraphLaunch, r->exec, r->stream[0]);
	CALL(r, cuStreamSynchronize, r->stream[0]);
	return since(r, start);
}

int64_t raw_cuda_pairs(struct raw_cuda *r, unsigned nr)
{
	int64_t start;
	unsigned i;

	r->host[0] = 0;
	start = now_ns();
	for (i = 0; i < nr; i++) {
		CALL(r, cuMemcpyHtoDAsync, r->memory, r->host, RAW_CUDA_BYTES,
		     r->stream[0]);
		launch_step(r, r->stream[0]);
		CALL(r, cuMemcpyDtoHAsync, r->host, r->memory, RAW_CUDA_BYTES,
		     r->stream[0]);
		CALL(r, cuStreamSynchronize, r->stream[0]);
		r->host[0]++;
	}
	if (r->host[0] != raw_cuda_word(nr, 1))
		snprintf(r->why, sizeof(r->why), "CUDA: wrong result");
	return since(r, start);
}

static bool launch_gate(struct raw_cuda *r)
{
	uint64_t limit = LIMIT_NS;
	void *params[] = { &r->flag_there, &limit };

	atomic_store(r->flag, 0);
	return launch(r, r->gate, r->stream[0], params);
}

int64_t raw_cuda_end_word(struct raw_cuda *r, int64_t after_ns)
{
	int64_t start, ns;

	atomic_store(&r->flag[WORD], 1);
	if (!launch_gate(r) ||
	    !CALL(r, cuStreamWriteValue32, r->stream[0],
		  r->flag_there + WORD * sizeof(*r->flag), 0, 0))
		return -EIO;
	spin_for(after_ns);
	start = now_ns();
	atomic_store(r->flag, 1);
	while (atomic_load(&r->flag[WORD]))
		continue;
	ns = since(r, start);
	CALL(r, cuStreamSynchronize, r->stream[0]);
	return r->why[0] ? -EIO : ns;
}

struct sleep {
	struct raw_cuda *r;
	atomic_bool is_there;
	int64_t woken_ns; /* read behind the join */
	cu_result result;
};

static void *sleep_main(void *arg)
{
	struct sleep *s = arg;

	s->r->cu.cuCtxSetCurrent(s->r->context);
	atomic_store(&s->is_there, true);
	s->result = s->r->cu.cuEventSynchronize(s->r->sleeper);
	s->woken_ns = now_ns();
	return NULL;
}

int64_t raw_cuda_end_event(struct raw_cuda *r, int64_t after_ns)
{
	struct sleep s = { .r = r };
	pthread_t thread;
	int64_t start;

	if (!launch_gate(r) ||
	    !CALL(r, cuEventRecord, r->sleeper, r->stream[0]))
		return -EIO;
	if (pthread_create(&thread, NULL, sleep_main, &s)) {
		atomic_store(r->flag, 1);
		return -EAGAIN;
	}
	while (!atomic_load(&s.is_there))
		continue;
	spin_for(after_ns);
	start = now_ns();
	atomic_store(r->flag, 1);
	pthread_join(thread, NULL);
	went(r, "cuEventSynchronize", s.result);
	return r->why[0] ? -EIO : s.woken_ns - start;
}

int64_t raw_cuda_fault(struct raw_cuda *r)
{
	int64_t start = now_ns();
	cu_result result;

	if (!launch_step_at(r, RAW_CUDA_WILD, r->stream[0]))
		return -EIO;
	while ((result = r->cu.cuStreamQuery(r->stream[0])) == NOT_READY)
		usleep(ASK_US);
	return result ? now_ns() - start : -EIO;
}

int64_t raw_cuda_copy(struct raw_cuda *r, void *there, void *host,
		      uint64_t bytes)
{
	cu_ptr at = (uintptr_t)there;
	int64_t start = now_ns();

	CALL(r, cuMemcpyHtoDAsync, at, host, bytes, r->stream[0]);
	CALL(r, cuStreamSynchronize, r->stream[0]);
	CALL(r, cuMemcpyDtoHAsync, host, at, bytes, r->stream[0]);
	CALL(r, cuStreamSynchronize, r->stream[0]);
	return since(r, start);
}

/* Up in the first stream, the kernel in the second, down in the third. */
static void overlap_block(struct raw_cuda *r, unsigned i, cu_ptr there,
			  char *host, uint64_t bytes, uint64_t kernel_ns)
{
	cu_event up = r->event[2 * i], done = r->event[2 * i + 1];

	CALL(r, cuMemcpyHtoDAsync, there, host, bytes, r->stream[0]);
	CALL(r, cuEventRecord, up, r->stream[0]);
	CALL(r, cuStreamWaitEvent, r->stream[1], up, 0);
	launch_for(r, r->stream[1], kernel_ns);
	CALL(r, cuEventRecord, done, r->stream[1]);
	CALL(r, cuStreamWaitEvent, r->stream[2], done, 0);
	CALL(r, cuMemcpyDtoHAsync, host, there, bytes, r->stream[2]);
}

int64_t raw_cuda_overlap(struct raw_cuda *r, void *host, uint64_t bytes,
			 unsigned nr_blocks, uint64_t kernel_ns)
{
	cu_ptr there = 0;
	int64_t start, ns;
	unsigned i;

	if (2 * nr_blocks > NR_EVENTS)
		return -EINVAL;
	if (!CALL(r, cuMemAlloc, &there, nr_blocks * bytes))
		return -ENOMEM;
	start = now_ns();
	for (i = 0; i < nr_blocks; i++)
		overlap_block(r, i, there + i * bytes, (char *)host + i * bytes,
			      bytes, kernel_ns);
	CALL(r, cuStreamSynchronize, r->stream[2]);
	ns = since(r, start);
	r->cu.cuMemFree(there);
	return ns;
}
