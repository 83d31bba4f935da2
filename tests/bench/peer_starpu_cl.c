/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * StarPU on an OpenCL device, for lkdf bench device. Questions, each with the
 * number of kernels or pairs; answered by the ns it took:
 *	chain NR, side-by-side NR, pairs NR
 * Its OpenCL driver takes CPU devices (STARPU_OPENCL_ON_CPUS); kernels are
 * asynchronous, and the kernel object is made once.
 */
#define CL_TARGET_OPENCL_VERSION 120

#include "tests/bench/peer_loop.h"

#include "tests/bench/starpu_home.h"

#include <starpu.h>
#include <starpu_opencl.h>
#include <stdbool.h>

#define WORDS 4096

static const char text[] =
	"kernel void step_words(global ulong *y)\n"
	"{\n\tsize_t i = get_global_id(0);\n\n\ty[i] = y[i] * 3 + 1;\n}\n"
	"kernel void do_nothing(void)\n"
	"{\n}\n";

static struct starpu_opencl_program program;
static cl_kernel kernels[2]; /* step, nothing */
static cl_command_queue queue;
static starpu_data_handle_t words;
static uint64_t word[WORDS];

/* The worker that asks first makes both. */
static cl_kernel kernel_of(unsigned i)
{
	static const char *const names[] = { "step_words", "do_nothing" };

	if (!kernels[i])
		starpu_opencl_load_kernel(
			&kernels[i], &queue, &program, names[i],
			starpu_worker_get_devid(starpu_worker_get_id()));
	return kernels[i];
}

static void step(void *buffers[], void *arg)
{
	cl_mem m = (cl_mem)STARPU_VECTOR_GET_DEV_HANDLE(buffers[0]);
	const size_t items = WORDS, block = 256;
	cl_kernel k = kernel_of(0);

	(void)arg;
	clSetKernelArg(k, 0, sizeof(m), &m);
	clEnqueueNDRangeKernel(queue, k, 1, NULL, &items, &block, 0, NULL,
			       NULL);
}

static void nothing(void *buffers[], void *arg)
{
	const size_t items = 1;

	(void)buffers;
	(void)arg;
	clEnqueueNDRangeKernel(queue, kernel_of(1), 1, NULL, &items, &items, 0,
			       NULL, NULL);
}

static void touch(void *buffers[], void *arg)
{
	uint64_t *y = (uint64_t *)STARPU_VECTOR_GET_PTR(buffers[0]);

	(void)arg;
	y[0]++;
}

static struct starpu_codelet step_codelet = {
	.opencl_funcs = { step },
	.opencl_flags = { STARPU_OPENCL_ASYNC },
	.nbuffers = 1,
	.modes = { STARPU_RW },
};
static struct starpu_codelet nothing_codelet = {
	.opencl_funcs = { nothing },
	.opencl_flags = { STARPU_OPENCL_ASYNC },
	.nbuffers = 0,
};
static struct starpu_codelet touch_codelet = {
	.cpu_funcs = { touch },
	.nbuffers = 1,
	.modes = { STARPU_RW },
};

static int submit(struct starpu_codelet *c)
{
	struct starpu_task *t = starpu_task_create();

	t->cl = c;
	if (c->nbuffers)
		t->handles[0] = words;
	return starpu_task_submit(t);
}

/* How many steps that were; < 0: refused. */
static int submit_all(const struct question *q, uint32_t nr)
{
	bool is_empty = peer_is(q, "side-by-side"),
	     is_pair = peer_is(q, "pairs");
	uint32_t i;
	int rc = 0;

	for (i = 0; i < nr && !rc; i++) {
		rc = submit(is_empty ? &nothing_codelet : &step_codelet);
		if (!rc && is_pair)
			rc = submit(&touch_codelet);
	}
	if (rc)
		return -1;
	return is_empty ? 0 : (int)nr;
}

static bool is_right(uint32_t steps)
{
	uint64_t expected = 0;

	while (steps--)
		expected = expected * 3 + 1;
	return word[WORDS - 1] == expected;
}

static int start(struct question *q)
{
	static bool has_started;
	struct starpu_conf conf;

	if (has_started)
		return 0;
	starpu_conf_init(&conf);
	conf.ncpus = 1;
	conf.nopencl = 1;
	conf.ncuda = 0;
	if (starpu_init(&conf))
		return peer_refuse(q, "does not start");
	has_started = true;
	if (!starpu_opencl_worker_get_count())
		return peer_refuse(q, "has no OpenCL device");
	if (starpu_opencl_load_opencl_from_string(text, &program, NULL))
		return peer_refuse(q, "cannot compile");
	return 0;
}

static int peer_answer(struct question *q)
{
	int64_t begin;
	int steps;

	if (start(q))
		return -1;
	memset(word, 0, sizeof(word));
	starpu_vector_data_register(&words, STARPU_MAIN_RAM, (uintptr_t)word,
				    WORDS, sizeof(word[0]));
	begin = peer_now_ns();
	steps = submit_all(q, peer_number(q, 1));
	starpu_task_wait_for_all();
	q->out[0] = (double)(peer_now_ns() - begin);
	starpu_data_unregister(words);
	if (steps < 0)
		return peer_refuse(q, "cannot submit");
	return is_right((uint32_t)steps) ? 1 : peer_refuse(q, "wrong result");
}

int main(void)
{
	int rc;

	starpu_home();
	setenv("STARPU_OPENCL_ON_CPUS", "1", 1);
	rc = peer_loop();
	starpu_shutdown();
	return rc;
}
