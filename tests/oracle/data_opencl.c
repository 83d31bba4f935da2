/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Kernels on POCL, the OpenCL driver whose devices are the CPU, or on CUDA
 * (LKDF_TEST_DEVICE): those that are code are texts, which get by value what
 * the model knows of their task; those that enqueue give the queue a function
 * of ours, which OpenCL calls with the bytes of the buffers. The program holds
 * nearly all memory of the devices.
 */
#include "tests/oracle/data_kernel.h"

#include "tests/driver.h"

#include <dlfcn.h>
#include <errno.h>

#define MEMORY (1 << 20) /* the option device_memory */

/* Of the largest data, in each device. */
static const unsigned room[D_DEVICES] = { 4, 6, 5, 4 };

/* ---- texts -------------------------------------------------------------- */

enum text_use {
	TEXT_WORDS = 0xff,
	TEXT_READS = 0x100,
	TEXT_WRITES = 0x200,
	TEXT_ADDS = 0x400,
	TEXT_MULTIPLIES = 0x800,
};

/* As d_touch(), see data_model.c. */
static const char text[] =
	"typedef struct {\n\tulong begin, use[4];\n} task;\n"
	"ulong mix_bits(ulong x)\n{\n"
	"\tx = (x ^ x >> 30) * 0xbf58476d1ce4e5b9UL;\n"
	"\tx = (x ^ x >> 27) * 0x94d049bb133111ebUL;\n"
	"\treturn x ^ x >> 31;\n}\n"
	"ulong look(global const ulong *w, ulong use, ulong h)\n{\n"
	"\tfor (ulong j = 0; use & 0x100 && j < (use & 0xff); j++)\n"
	"\t\th = mix_bits(h + w[j]);\n"
	"\treturn h;\n}\n"
	"void change(global ulong *w, ulong use, ulong h)\n{\n"
	"\tfor (ulong j = 0; j < (use & 0xff); j++) {\n"
	"\t\tulong by = mix_bits(h + j);\n"
	"\t\tif (use & 0x800)\n\t\t\tw[j] *= by | 1;\n"
	"\t\telse if (use & 0x400)\n\t\t\tw[j] += by | 1;\n"
	"\t\telse if (use & 0x200)\n\t\t\tw[j] = by;\n"
	"\t}\n}\n"
	"void touch(global ulong **w, uint nr, task t)\n{\n"
	"\tulong h = t.begin;\n"
	"\tfor (uint i = 0; i < nr; i++)\n"
	"\t\th = look(w[i], t.use[i], h);\n"
	"\tfor (uint i = 0; i < nr; i++)\n"
	"\t\tchange(w[i], t.use[i], mix_bits(h + i));\n}\n"
	"#define U global ulong *\n"
	"kernel void touch1(U a, task t)\n"
	"{\n\tU w[] = { a };\n\ttouch(w, 1, t);\n}\n"
	"kernel void touch2(U a, U b, task t)\n"
	"{\n\tU w[] = { a, b };\n\ttouch(w, 2, t);\n}\n"
	"kernel void touch3(U a, U b, U c, task t)\n"
	"{\n\tU w[] = { a, b, c };\n\ttouch(w, 3, t);\n}\n"
	"kernel void touch4(U a, U b, U c, U d, task t)\n"
	"{\n\tU w[] = { a, b, c, d };\n\ttouch(w, 4, t);\n}\n";

static uint64_t text_use(const struct d_program *p, const struct d_use *u)
{
	const struct d_var *v = &p->var[u->var];
	uint64_t use = d_nr_words(v, u->part);

	if (u->mode & LKDF_COMMUTE)
		return use | (v->multiplies ? TEXT_MULTIPLIES : TEXT_ADDS);
	return use | (u->mode & LKDF_READ ? TEXT_READS : 0) |
	       (u->mode & LKDF_WRITE ? TEXT_WRITES : 0);
}

const struct d_text *d_text_of(struct d_world *w, uint32_t node,
			       struct d_cell *cell)
{
	struct d_text *to = cell ? &cell->text : &w->text[node];
	const struct d_task *t = &w->p->node[node];
	const struct d_result *r =
		cell ? d_expected(w, cell->op, 0, node) : NULL;
	uint32_t i;

	to->begin = d_begin_task(w->p, cell ? cell->op : 0, 0, node, !cell);
	for (i = 0; i < t->nr_uses; i++)
		to->use[i] = r && r->input_errors[i]
				     ? 0
				     : text_use(w->p, &t->use[i]);
	return to;
}

/* ---- work for a queue of OpenCL ----------------------------------------- */

#define CL_MAP 3 /* to read and to write */

/* Those after the sizes: events to wait for, and one that is made. */
static struct {
	void *(*map)(void *queue, void *mem, uint32_t blocks, uint64_t flags,
		     size_t at, size_t bytes, uint32_t nr_wait,
		     void *const *wait, void **event, int32_t *error);
	int32_t (*unmap)(void *queue, void *mem, void *at, uint32_t nr_wait,
			 void *const *wait, void **event);
	int32_t (*native)(void *queue, void (*fn)(void *args), void *args,
			  size_t args_size, uint32_t nr_mem, void *const *mem,
			  const void **at, uint32_t nr_wait, void *const *wait,
			  void **event);
} cl;

static const struct {
	void *to;
	const char *name;
} calls[] = {
	{ &cl.map, "clEnqueueMapBuffer" },
	{ &cl.unmap, "clEnqueueUnmapMemObject" },
	{ &cl.native, "clEnqueueNativeKernel" },
};

struct native {
	const void *arg;
	const struct d_run *run;
	struct d_bytes b;
};

static void run_native(void *args)
{
	struct native *n = args;
	struct d_kernel k;

	d_find_kernel(&k, n->arg, n->run);
	d_run_kernel(&k, &n->b);
}

/* The address is good for what comes behind in the queue. */
static int map_all(const struct d_kernel *k, void *queue, void *const *mem,
		   struct d_bytes *b)
{
	const struct d_var *v;
	int32_t error = 0;
	uint32_t i;

	for (i = 0; i < k->t->nr_uses && !error; i++) {
		v = &k->w->p->var[k->t->use[i].var];
		b->word[i] = cl.map(queue, mem[i], 0, CL_MAP, 0,
				    d_nr_words(v, k->t->use[i].part) *
					    sizeof(uint64_t),
				    0, NULL, NULL, &error);
	}
	return error;
}

static int enqueue_native(const struct d_kernel *k, struct native *n,
			  void *queue, void *const *mem)
{
	int error = map_all(k, queue, mem, &n->b);
	uint32_t i;

	if (!error)
		error = cl.native(queue, run_native, n, sizeof(*n), 0, NULL,
				  NULL, 0, NULL, NULL);
	for (i = 0; i < k->t->nr_uses && !error; i++)
		error = cl.unmap(queue, mem[i], n->b.word[i], 0, NULL, NULL);
	return error;
}

static int enqueue(struct lkdf_ctx *c, void *arg, void *queue)
{
	struct native n = { .arg = *(void **)arg, .run = lkdf_run_arg(c) };
	void *mem[D_USES];
	struct d_kernel k;
	uint32_t i;
	int error;

	d_find_kernel(&k, n.arg, n.run);
	for (i = 0; i < k.t->nr_uses; i++)
		mem[i] = lkdf_ptr(c, i);
	error = driver_is_opencl()
			? enqueue_native(&k, &n, queue, mem)
			: d_cuda_enqueue(&k, n.arg, n.run, queue, mem);
	if (error)
		return lkdf_fail(c, -EIO, "%s: %d", driver_name(), error);
	return d_kernel_error(&k);
}

int d_opencl_kind(struct d_opencl *x, const struct d_task *t, uint32_t flags,
		  struct lkdf_kind **out)
{
	uint32_t nr = t->is_code ? t->nr_uses : 0;
	char entry[16];
	const struct lkdf_code code = {
		.device = driver_name(),
		.image = driver_text(text),
		.entry = entry,
	};
	const struct lkdf_kind_attr a = {
		.size = sizeof(a),
		.name = t->is_code ? "code" : "enqueue",
		.flags = flags,
		.arg_size = t->is_code ? sizeof(struct d_text) : sizeof(void *),
	};
	struct lkdf_kind **kind = &x->kind[t->kind][t->is_code ? 1 + nr : 0];
	int rc = 0;

	snprintf(entry, sizeof(entry), "touch%u", nr);
	if (!*kind)
		rc = lkdf_kind_create_kernel(
			x->rt,
			LKDF_KERNEL(.kind = &a,
				    .code = t->is_code ? &code : NULL,
				    .nr_code = t->is_code,
				    .enqueue = t->is_code ? NULL : enqueue,
				    .range_from = t->is_code ? LKDF_RANGE_VALUE
							     : LKDF_RANGE_NONE,
				    .range = { t->is_code, 1, 1 }),
			kind);
	*out = *kind;
	return rc;
}

/* ---- devices ------------------------------------------------------------ */

/* Other drivers do not call functions of ours. */
static bool is_pocl(const struct lkdf_place *p)
{
	struct lkdf_device_info i = { .size = sizeof(i) };

	return !lkdf_place_info(p, &i) &&
	       (!strncmp(i.name, "pthread", 7) ||
		!strncmp(i.name, "basic", 5) || !strncmp(i.name, "cpu", 3));
}

static bool find_calls(void)
{
	void *lib = dlopen("libOpenCL.so.1", RTLD_NOW), *f;
	size_t i;

	for (i = 0; lib && i < sizeof(calls) / sizeof(calls[0]); i++) {
		f = dlsym(lib, calls[i].name);
		if (!f)
			return false;
		memcpy(calls[i].to, &f, sizeof(f));
	}
	return lib;
}

const char *d_driver_options(const char *options)
{
	char all[128];

	snprintf(all, sizeof(all), "%s,device_memory=1", options);
	return driver_options(all);
}

/* One card stands for all devices. */
static uint32_t find_cards(struct d_opencl *x, struct lkdf *rt)
{
	if (!d_cuda_open() || !driver_places(rt, x->place, D_DEVICES))
		return 0;
	return D_DEVICES;
}

static uint32_t find_pocl(struct d_opencl *x, struct lkdf *rt)
{
	struct lkdf_place *p[LKDF_MAX_DEVICES];
	int i, nr = lkdf_places(rt, LKDF_PLACE_GPU, p, LKDF_MAX_DEVICES);
	uint32_t found = 0;

	for (i = 0; i < nr && found < D_DEVICES; i++)
		if (is_pocl(p[i]))
			x->place[found++] = p[i];
	return find_calls() ? found : 0;
}

bool d_opencl_open(struct d_opencl *x, struct lkdf *rt)
{
	uint32_t i, found;

	found = driver_is_opencl() ? find_pocl(x, rt) : find_cards(x, rt);
	if (found < D_DEVICES)
		return false;
	x->rt = rt;
	for (i = 0; i < D_DEVICES; i++)
		if ((!i || x->place[i] != x->place[i - 1]) &&
		    lkdf_alloc(x->place[i], LKDF_MEM_OWN,
			       MEMORY - room[i] * D_WORDS * sizeof(uint64_t), 0,
			       "held", &x->held[i]))
			abort();
	return true;
}

void d_opencl_close(struct d_opencl *x)
{
	uint32_t i, j;

	for (i = 0; i < D_KINDS; i++)
		for (j = 0; j < D_USES + 2; j++)
			lkdf_kind_put(x->kind[i][j]);
	for (i = 0; i < D_DEVICES; i++)
		lkdf_free(x->rt, x->held[i]);
}

void d_opencl_begin(void)
{
	driver_env("pthread basic basic pthread");
	/* The driver for tests has as many cards. */
	setenv("FAKE_CUDA_CARDS", "4", 0);
}
