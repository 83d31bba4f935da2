/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The driver of CUDA for tests (tests/cuda/fake) runs what its compiler makes
 * of CUDA C: blocks, barriers, memory of a block, templates by their names; a
 * kernel that does wrong is a fault; each call fails when a test says so.
 */
#include "tests/cuda/fake/control.h"
#include "tests/cuda/fake/nvrtc.h"
#include "tests/cuda/load.h"
#include "tests/opencl.h"
#include "tests/tap.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

static struct cu cu;
static cu_ctx ctx;
static cu_stream s;
static int (*fail)(const char *call, unsigned result, unsigned after);
static long (*nr_calls)(const char *call), (*nr_waits)(void);

static struct {
	int (*create)(nvrtcProgram *, const char *, const char *, int,
		      const char *const *, const char *const *);
	int (*add)(nvrtcProgram, const char *);
	int (*compile)(nvrtcProgram, int, const char *const *);
	int (*lowered)(nvrtcProgram, const char *, const char **);
	int (*log)(nvrtcProgram, char *);
	int (*size)(nvrtcProgram, size_t *);
	int (*cubin)(nvrtcProgram, char *);
	int (*destroy)(nvrtcProgram *);
} rtc;

static void load_symbol(void *library, const char *name, void *to)
{
	void *f = dlsym(library, name);

	if (!f)
		exit(99);
	memcpy(to, &f, sizeof(f));
}

static void load_all(void)
{
	void *n = dlopen(cuda_file("libnvrtc.so"), RTLD_NOW | RTLD_LOCAL);
	char why[256];

	if (!n || cu_load(cuda_driver(), &cu, why, sizeof(why)))
		exit(99);
	load_symbol(cu.library, "fake_cuda_fail", &fail);
	load_symbol(cu.library, "fake_cuda_calls", &nr_calls);
	load_symbol(cu.library, "fake_cuda_waits", &nr_waits);
	load_symbol(n, "nvrtcCreateProgram", &rtc.create);
	load_symbol(n, "nvrtcAddNameExpression", &rtc.add);
	load_symbol(n, "nvrtcCompileProgram", &rtc.compile);
	load_symbol(n, "nvrtcGetLoweredName", &rtc.lowered);
	load_symbol(n, "nvrtcGetProgramLog", &rtc.log);
	load_symbol(n, "nvrtcGetCUBINSize", &rtc.size);
	load_symbol(n, "nvrtcGetCUBIN", &rtc.cubin);
	load_symbol(n, "nvrtcDestroyProgram", &rtc.destroy);
}

static const char text[] =
	"extern \"C\" __global__ void fill(unsigned *to, unsigned char by, "
	"double more)\n"
	"{ to[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x * by + "
	"(unsigned)more; }\n"
	"__global__ void __launch_bounds__(64, 2) turn(float *v)\n"
	"{\n"
	"	__shared__ float block[64];\n"
	"	extern __shared__ float more[];\n"
	"	unsigned i = threadIdx.x, n = blockDim.x;\n"
	"	float *at = v + blockIdx.x * n;\n"
	"	block[i] = at[i];\n"
	"	more[n - 1 - i] = 1;\n"
	"	__syncthreads();\n"
	"	at[i] = block[n - 1 - i] + more[i];\n"
	"}\n"
	"template <typename T> __global__ void set(T *to, T v) { *to = v; }\n"
	"extern \"C\" __global__ void wild(int *to) { *to = 1; }\n"
	"extern \"C\" __global__ void claim(int x) { assert(x); }\n"
	"__device__ __attribute__((noinline)) int deep(int n)\n"
	"{\n"
	"	volatile int a[256];\n"
	"	a[n & 255] = n;\n"
	"	return n ? deep(n - 1) + a[n & 255] : 0;\n"
	"}\n"
	"extern \"C\" __global__ void fall(int *to, int n)\n"
	"{ if (threadIdx.x == 1) *to = deep(n); }\n";

static char lowered[2][64];

/* The module of the text; *names: what its two kernels of C++ are called. */
static cu_mod build(void)
{
	static const char *const option[] = { "--gpu-architecture=sm_90" };
	nvrtcProgram p;
	cu_mod m = NULL;
	const char *name;
	char *image;
	size_t size;

	is(rtc.create(&p, text, "text.cu", 0, NULL, NULL), 0, "a program is");
	rtc.add(p, "turn");
	rtc.add(p, "set<long>");
	if (!is(rtc.compile(p, 1, option), 0, "it compiles")) {
		char log[4096] = "";

		rtc.log(p, log);
		printf("# %s\n", log);
		exit(1);
	}
	is(rtc.lowered(p, "turn", &name), 0, "a kernel of C++ has a name");
	snprintf(lowered[0], sizeof(lowered[0]), "%s", name);
	is(rtc.lowered(p, "set<long>", &name), 0, "a template has a name");
	snprintf(lowered[1], sizeof(lowered[1]), "%s", name);
	is(rtc.size(p, &size), 0, "the image has a size");
	image = malloc(size);
	rtc.cubin(p, image);
	is(cu.cuModuleLoadData(&m, image), 0, "the driver loads it");
	image[size - 1] ^= 1;
	is(cu.cuModuleLoadData(&m, image), 200, "but not when it is damaged");
	free(image);
	rtc.destroy(&p);
	return m;
}

/* Of the one parameter of the text's kernel f. */
static size_t bytes_of_parameter(const char *of)
{
	static const char *const option[] = { "--gpu-architecture=sm_90" };
	size_t size = 0, at = 0, bytes = 0;
	nvrtcProgram p = NULL;
	cu_mod m = NULL;
	cu_func f = NULL;
	char *image;

	is(rtc.create(&p, of, "text.cu", 0, NULL, NULL), 0, "a program is");
	is(rtc.compile(p, 1, option), 0, "it compiles");
	rtc.size(p, &size);
	image = malloc(size);
	rtc.cubin(p, image);
	is(cu.cuModuleLoadData(&m, image), 0, "the driver loads it");
	cu.cuModuleGetFunction(&f, m, "f");
	is(cu.cuFuncGetParamInfo(f, 0, &at, &bytes), 0, "it has a parameter");
	free(image);
	rtc.destroy(&p);
	return bytes;
}

/* One name, two types, in one process. */
static void a_text_has_its_own_types(void)
{
	is(bytes_of_parameter("struct v { int x[2]; };\n"
			      "extern \"C\" __global__ void f(v a) {}"),
	   8, "a struct of 8 bytes");
	is(bytes_of_parameter("struct v { int x[16]; };\n"
			      "extern \"C\" __global__ void f(v a) {}"),
	   64, "one of that name has 64 in another text");
}

static cu_result launch(cu_mod m, const char *name, unsigned grid,
			unsigned block, void **params)
{
	cu_func f;
	cu_result r = cu.cuModuleGetFunction(&f, m, name);

	if (!r)
		r = cu.cuLaunchKernel(f, grid, 1, 1, block, 1, 1, 4 * block, s,
				      params, NULL);
	return r ? r : cu.cuStreamSynchronize(s);
}

static void kernels_of_a_text_run(cu_mod m)
{
	unsigned char by = 3;
	double more = 5;
	unsigned at[256];
	float v[256];
	long word = 77;
	cu_ptr there;
	void *fill[] = { &there, &by, &more }, *set[] = { &there, &word };
	int i, right = 0;

	cu.cuMemAlloc(&there, sizeof(at));
	is(launch(m, "fill", 4, 64, fill), 0, "a kernel runs");
	cu.cuMemcpyDtoH(at, there, sizeof(at));
	for (i = 0; i < 256; i++)
		right += at[i] == (unsigned)(i % 64 * 3 + 5);
	is(right, 256, "its threads are in their places, with its parameters");
	for (i = 0; i < 256; i++)
		v[i] = (float)i;
	cu.cuMemcpyHtoD(there, v, sizeof(v));
	is(launch(m, lowered[0], 4, 64, fill), 0, "one with a barrier runs");
	cu.cuMemcpyDtoH(v, there, sizeof(v));
	for (right = i = 0; i < 256; i++)
		right += v[i] == (float)(i / 64 * 64 + 63 - i % 64 + 1);
	is(right, 256, "each thread sees what others wrote before the barrier");
	is(launch(m, lowered[0], 1, 65, fill), 1, "its bound is kept");
	is(launch(m, lowered[1], 1, 1, set), 0, "a template runs");
	cu.cuMemcpyDtoH(at, there, sizeof(long));
	is(at[0], 77, "and has set its word");
	cu.cuMemFree(there);
}

static void compiler_names_the_line(void)
{
	nvrtcProgram p;
	char log[4096] = "";

	rtc.create(&p, "\nextern \"C\" __global__ void f() { oops; }", "x", 0,
		   NULL, NULL);
	is(rtc.compile(p, 0, NULL), 6, "a text that is wrong does not compile");
	rtc.log(p, log);
	ok(strstr(log, "x(2): error"), "its log names the line: %.40s", log);
	rtc.destroy(&p);
}

static void calls_fail_when_told(void)
{
	cu_ptr there = 0;

	is(fail("cuNoSuchCall", 2, 0), -EINVAL, "no such call");
	fail("cuMemAlloc", 2, 1);
	is(cu.cuMemAlloc(&there, 64), 0, "the first is right");
	is(cu.cuMemAlloc(&there, 64), 2, "the second fails");
	is(cu.cuMemAlloc(&there, 64), 0, "and no more");
	is(nr_calls("cuMemAlloc"), 5, "all are counted");
	is(nr_waits(), 0, "and none has waited for a kernel");
}

static void open_driver(void)
{
	cu_dev d;

	if (cu.cuInit(0) || cu.cuDeviceGet(&d, 0) ||
	    cu.cuDevicePrimaryCtxRetain(&ctx, d) || cu.cuCtxSetCurrent(ctx) ||
	    cu.cuStreamCreateWithPriority(&s, CU_NON_BLOCKING, 0))
		exit(99);
}

/* The second thread of a block needs n KiB of stack, and more. */
static int fall(cu_mod m, int n)
{
	cu_ptr there = 0;
	void *p[] = { &there, &n };

	if (cu.cuMemAlloc(&there, sizeof(int)))
		return 99;
	return (int)launch(m, "fall", 1, 2, p);
}

/* Before the driver is: a child could not use it. */
static void stacks_have_guards(void)
{
	int status = 0;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		watchdog_set(30);
		if (!freopen("/dev/null", "w", stdout))
			_exit(98);
		open_driver();
		_exit(fall(build(), 300));
	}
	waitpid(pid, &status, 0);
	ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV,
	   "one that needs 300 KiB ends the process, and not another's stack");
}

/* Last: a fault stays. */
static void wrong_kernels_are_faults(cu_mod m)
{
	cu_ptr wild = 0xdead0000;
	void *p[] = { &wild };

	is(launch(m, "wild", 1, 1, p), 700, "a wrong address is a fault");
	is(cu.cuCtxSynchronize(), 700, "for all calls");
}

int main(void)
{
	cu_mod m;

	tap_start(90);
	load_all();
	stacks_have_guards();
	open_driver();
	m = build();
	is(fall(m, 100), 0, "a kernel that needs 100 KiB of stack runs");
	kernels_of_a_text_run(m);
	compiler_names_the_line();
	a_text_has_its_own_types();
	calls_fail_when_told();
	wrong_kernels_are_faults(m);
	return tap_end();
}
