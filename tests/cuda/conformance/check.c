/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* What checks have in common; each process has its own. */
#include "tests/cuda/conformance/check.h"

#include "tests/cuda/conformance/run.h"

#include <stdarg.h>
#include <sys/mman.h>
#include <time.h>

struct cu cu;
cu_dev dev;
cu_ctx ctx;
cu_mod mod;
cu_stream s1, s2;
cu_event ev;
uint32_t *flag;
cu_ptr flag_there, mem;
cu_func f_empty, f_gate, f_store, f_step, f_stop, f_bound, f_shared;

static uint64_t gate_ns = 8000000000;
static cu_func f_gate_store;

void say(cu_result r, const char *fmt, ...)
{
	char value[400] = "", told[16];
	const char *name = NULL;
	va_list ap;

	if (fmt) {
		va_start(ap, fmt);
		vsnprintf(value, sizeof(value), fmt, ap);
		va_end(ap);
	}
	snprintf(told, sizeof(told), "%u", r);
	if (r != NONE && cu.cuGetErrorName && cu.cuGetErrorName(r, &name))
		name = NULL;
	run_line("%s%s%s",
		 r == NONE ? ""
		 : name	   ? name
			   : told,
		 r == NONE || !value[0] ? "" : " ", value);
}

bool failed(cu_result r)
{
	if (r)
		say(r, "of a step before the check");
	return r;
}

int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

void nap_ms(int ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000l };

	nanosleep(&t, NULL);
}

cu_result get(const char *name, cu_func *f)
{
	return cu.cuModuleGetFunction(f, mod, name);
}

static cu_result get_kernels(void)
{
	const struct {
		const char *name;
		cu_func *f;
	} v[] = { { "empty", &f_empty },     { "gate", &f_gate },
		  { "store", &f_store },     { "step", &f_step },
		  { "stop", &f_stop },	     { "bound64", &f_bound },
		  { "shared1k", &f_shared }, { "gate_store", &f_gate_store } };
	cu_result r = 0;
	size_t i;

	for (i = 0; i < sizeof(v) / sizeof(v[0]) && !r; i++)
		r = get(v[i].name, v[i].f);
	return r;
}

static cu_result make_all(void)
{
	cu_result r = cu.cuInit(0);

	r = r ? r : cu.cuDeviceGet(&dev, 0);
	r = r ? r : cu.cuDevicePrimaryCtxRetain(&ctx, dev);
	r = r ? r : cu.cuCtxSetCurrent(ctx);
	r = r ? r : cu.cuModuleLoadData(&mod, ptx_kernels);
	r = r ? r : get_kernels();
	r = r ? r : cu.cuStreamCreateWithPriority(&s1, CU_NON_BLOCKING, 0);
	r = r ? r : cu.cuStreamCreateWithPriority(&s2, CU_NON_BLOCKING, 0);
	r = r ? r : cu.cuEventCreate(&ev, CU_EVENT_NO_TIMING);
	r = r ? r
	      : cu.cuMemHostAlloc((void **)&flag, 4096,
				  CU_HOST_PORTABLE | CU_HOST_MAPPED);
	r = r ? r : cu.cuMemHostGetDevicePointer(&flag_there, flag, 0);
	r = r ? r : cu.cuMemAlloc(&mem, 1 << 20);
	r = r ? r : cu.cuMemsetD8Async(mem, 0, 1 << 20, s1);
	return r ? r : cu.cuStreamSynchronize(s1);
}

void prepare(void)
{
	if (failed(make_all()))
		_exit(3);
}

cu_result launch(cu_func f, cu_stream s, void **params)
{
	return cu.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, params, NULL);
}

void set_flag(uint32_t v)
{
	__atomic_store_n(flag, v, __ATOMIC_RELEASE);
}

uint32_t get_flag(void)
{
	return __atomic_load_n(flag, __ATOMIC_ACQUIRE);
}

/* Its last store is to the word beside the flag. */
cu_result gate(cu_stream s)
{
	cu_ptr told = flag_there + 64;
	uint32_t one = 1;
	void *p[] = { &flag_there, &gate_ns, &told, &one };

	set_flag(0);
	__atomic_store_n(flag + 16, 0, __ATOMIC_RELEASE);
	return launch(f_gate_store, s, p);
}

bool gate_is_done(void)
{
	return __atomic_load_n(flag + 16, __ATOMIC_ACQUIRE);
}

void limit_gate(unsigned ms)
{
	gate_ns = ms * 1000000ull;
}

void open_gate(void)
{
	set_flag(1);
}

cu_result settle(cu_stream s)
{
	cu_result r = cu.cuStreamQuery(s);
	int i;

	for (i = 0; i < 400 && r == 600; i++) {
		nap_ms(5);
		r = cu.cuStreamQuery(s);
	}
	return r;
}

cu_result step(cu_stream s, cu_ptr at, uint32_t value)
{
	void *p[] = { &at, &value };

	return launch(f_step, s, p);
}

cu_result store(cu_stream s, cu_ptr at)
{
	uint32_t value = 7;
	void *p[] = { &at, &value };

	return launch(f_store, s, p);
}

uint32_t word(cu_ptr at)
{
	uint32_t v = 0xdead;

	cu.cuMemcpyDtoH(&v, at, 4);
	return v;
}

void *bogus(void)
{
	static char block[4096];

	return block;
}

char *pages(size_t n)
{
	char *p = mmap(NULL, n * 4096, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memset(p, 1, n * 4096);
	return p;
}

cu_result second(cu_ctx *c)
{
	cu_result (*create)(cu_ctx *, unsigned, cu_dev);
	void *f = NULL;
	cu_result r = cu.get("cuCtxCreate", &f, 3020, 0, NULL);

	memcpy(&create, &f, sizeof(f));
	return r ? r : create(c, 0, dev);
}

cu_result chain(int n, uint32_t by, cu_graph *g)
{
	cu_result r = cu.cuStreamBeginCapture(s1, CU_CAPTURE_THREAD);

	while (!r && n--)
		r = step(s1, mem, by);
	return r ? r : cu.cuStreamEndCapture(s1, g);
}
