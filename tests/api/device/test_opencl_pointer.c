/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Values for pointer parameters of OpenCL's kernels: what the device knows
 * runs; an address of the host, of a block as the program calls it, or a number
 * fails the task by name, and the next kernel runs.
 */
#include "tests/api/device/memory.h"

#include <dlfcn.h>

#define NR DEVICE_NR
#define BYTES (NR * sizeof(uint64_t))
#define CL_QUEUE_CONTEXT 0x1090
#define CL_MEM_READ_WRITE 1

static const char text[] =
	"kernel void to(global ulong *x, ulong by)\n"
	"{\n\tif (x)\n\t\tx[get_global_id(0)] += by;\n}\n"
	"kernel void from(constant ulong *x, ulong by) { }\n";

static struct lkdf *rt;
static struct lkdf_place *place;
static uint64_t host[NR];

/* The kernel on the 8 bytes at value, and 5; the error. */
static int give(const char *entry, const void *value, uint32_t bytes)
{
	static const uint64_t by = 5;
	const struct lkdf_code code = { .device = "opencl",
					.image = text,
					.entry = entry };
	const struct lkdf_param param[] = {
		{ .from = LKDF_PARAM_VALUE, .bytes = bytes, .value = value },
		{ .from = LKDF_PARAM_VALUE, .bytes = sizeof(by), .value = &by },
	};
	struct lkdf_kind *k = NULL;
	struct lkdf_event done;
	int rc;

	must(lkdf_kind_create_kernel(
		rt,
		LKDF_KERNEL(.kind = LKDF_KIND(.name = "pointed"), .code = &code,
			    .nr_code = 1, .nr_param = 2, .param = param,
			    .range_from = LKDF_RANGE_VALUE,
			    .range = { NR, 1, 1 }),
		&k));
	must(lkdf_submit(rt, NULL, LKDF_TASK(.kind = k, .place = place),
			 &done));
	rc = lkdf_event_wait(done, -1);
	lkdf_kind_put(k);
	return rc;
}

static void fails(const char *entry, const void *p, const char *what)
{
	struct lkdf_kind *good = device_kind(rt, "add");
	struct lkdf_data *d = device_data(rt, NR, 1);
	uint64_t one = 1;
	char text_of[32];

	snprintf(text_of, sizeof(text_of), "value %p no cl_mem", p);
	is(give(entry, &p, sizeof(p)), -EINVAL, "%s is refused", what);
	has(lkdf_errmsg(), "parameter 0 is a pointer",
	    "%s: the text names the parameter", what);
	has(lkdf_errmsg(), "kernel pointed", "%s: the kernel", what);
	has(lkdf_errmsg(), text_of, "%s: what it was", what);
	has(lkdf_errmsg(), "lkdf_block()", "%s: and what to do", what);
	is(device_call(rt, good, place, d, &one), 0, "%s: the next kernel runs",
	   what);
	is(device_first_wrong(d, NR, 2), -1, "%s: and is right", what);
	lkdf_data_put(d);
	lkdf_kind_put(good);
}

static void what_is_no_memory_of_the_device_is_refused(void)
{
	uint64_t here[NR] = { 0 }, *heap = calloc(NR, sizeof(*heap));

	fails("to", host, "an array");
	fails("to", here, "the stack");
	fails("to", heap, "the heap");
	fails("to", (char *)host + 3, "an odd address");
	fails("to", (void *)(uintptr_t)5, "a number");
	fails("to", (void *)~(uintptr_t)0, "the last address");
	fails("from", host, "an array for a constant pointer");
	is(give("to", host, 4), -EINVAL, "a value of 4 bytes");
	has(lkdf_errmsg(), "parameter 0 is not of 4 bytes", "by name");
	free(heap);
}

static void a_block_has_its_name_there(void)
{
	struct lkdf_block_info b = { .size = sizeof(b) };
	void *at = memory_alloc(place, LKDF_MEM_OWN, BYTES);
	uint64_t back[NR];
	unsigned i;

	fails("to", at, "an address of LKDF_MEM_OWN");
	fails("to", (char *)at + 8, "one inside");
	for (i = 0; i < NR; i++)
		host[i] = i;
	must(lkdf_copy(rt, NULL, at, host, BYTES, NULL));
	must(lkdf_block(rt, at, &b));
	is(give("to", &b.device_ptr, sizeof(b.device_ptr)), 0,
	   "what lkdf_block() has");
	must(lkdf_copy(rt, NULL, back, at, BYTES, NULL));
	is(memory_first_wrong(back, NR, 5), -1, "the kernel wrote there");
	is(give("from", &b.device_ptr, sizeof(b.device_ptr)), 0,
	   "and for a constant pointer");
	lkdf_free(rt, at);
}

static void managed_memory_has_its_address(void)
{
	uint64_t *x, *end;
	unsigned i;
	void *at;

	if (lkdf_alloc(place, LKDF_MEM_MANAGED, 2 * BYTES, 0, "m", &at)) {
		skip("an address of managed memory", lkdf_errmsg());
		return;
	}
	x = at;
	for (i = 0; i < 2 * NR; i++)
		x[i] = i;
	end = x + NR;
	is(give("to", &at, sizeof(at)), 0, "an address of managed memory");
	is(memory_first_wrong(x, NR, 5), -1, "the kernel wrote there");
	is(give("to", &end, sizeof(end)), 0, "one inside");
	is(memory_first_wrong(x, 2 * NR, 5), -1, "the kernel wrote there, too");
	lkdf_free(rt, at);
	fails("to", at, "an address that is free again");
}

static void null_is_a_pointer(void)
{
	void *none = NULL;

	is(give("to", &none, sizeof(none)), 0, "NULL");
}

/* ---- a cl_mem of the program's own -------------------------------------- */

static int say_queue(struct lkdf_ctx *c, void *arg, void *queue)
{
	(void)c;
	**(void ***)arg = queue;
	return 0;
}

static void *get_queue(void)
{
	void *queue = NULL, **to = &queue;
	struct lkdf_kind *k = NULL;
	struct lkdf_event done;

	must(lkdf_kind_create_kernel(
		rt,
		LKDF_KERNEL(.kind = LKDF_KIND(.name = "q",
					      .arg_size = sizeof(to)),
			    .enqueue = say_queue),
		&k));
	must(lkdf_submit(rt, NULL,
			 LKDF_TASK(.kind = k, .arg = &to, .place = place),
			 &done));
	must(lkdf_event_wait(done, -1));
	lkdf_kind_put(k);
	return queue;
}

static void a_buffer_of_the_program_passes(void)
{
	void *lib = dlopen("libOpenCL.so.1", RTLD_NOW);
	void *(*make)(void *context, uint64_t flags, size_t bytes, void *from,
		      int32_t *error);
	int32_t (*tell)(void *queue, uint32_t what, size_t size, void *to,
			size_t *out);
	int32_t (*read)(void *queue, void *mem, uint32_t waits, size_t offset,
			size_t bytes, void *to, uint32_t nr, const void *v,
			void *out);
	int32_t (*write)(void *queue, void *mem, uint32_t waits, size_t offset,
			 size_t bytes, const void *from, uint32_t nr,
			 const void *v, void *out);
	int32_t (*drop)(void *mem);
	void *queue = get_queue(), *context = NULL, *mem;
	uint64_t back[NR];
	int32_t error;
	unsigned i;

	*(void **)&make = dlsym(lib, "clCreateBuffer");
	*(void **)&tell = dlsym(lib, "clGetCommandQueueInfo");
	*(void **)&read = dlsym(lib, "clEnqueueReadBuffer");
	*(void **)&write = dlsym(lib, "clEnqueueWriteBuffer");
	*(void **)&drop = dlsym(lib, "clReleaseMemObject");
	for (i = 0; i < NR; i++)
		host[i] = i;
	must(tell(queue, CL_QUEUE_CONTEXT, sizeof(context), &context, NULL));
	mem = make(context, CL_MEM_READ_WRITE, BYTES, NULL, &error);
	must(error);
	must(write(queue, mem, 1, 0, BYTES, host, 0, NULL, NULL));
	is(give("to", &mem, sizeof(mem)), 0, "a cl_mem that the program made");
	must(read(queue, mem, 1, 0, BYTES, back, 0, NULL, NULL));
	is(memory_first_wrong(back, NR, 5), -1, "the kernel wrote there");
	drop(mem);
}

int main(void)
{
	tap_start(120);
	opencl_env("pthread");
	rt = api_open("workers=2,devices=opencl");
	if (lkdf_places(rt, LKDF_PLACE_GPU, &place, 1) < 1) {
		skip("values for pointers of OpenCL", lkdf_errmsg());
		lkdf_close(rt);
		return tap_end();
	}
	device_is_real = true;
	what_is_no_memory_of_the_device_is_refused();
	a_block_has_its_name_there();
	managed_memory_has_its_address();
	null_is_a_pointer();
	a_buffer_of_the_program_passes();
	is(device_close(rt), 0, "the runtime closes");
	return tap_end();
}
