/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "tests/oracle/data_kernel.h"

#include "tests/emu/emu.h"

#include <string.h>

#define MAX_RUNTIMES 16

/* Four uses of the largest data fit, and little more. */
static const struct {
	unsigned flags;
	uint64_t memory;
} sorts[D_DEVICES] = {
	{ EMU_OWN | EMU_WILD | EMU_COPIES, 4 * EMU_GRAIN },
	{ EMU_OWN | EMU_ORDERED | EMU_WILD | EMU_COPIES, 6 * EMU_GRAIN },
	{ EMU_WILD, 0 },
	{ EMU_OWN | EMU_POLLS | EMU_ARMS, 5 * EMU_GRAIN },
};

/* Until the program ends. */
static struct {
	struct lkdf *rt;
	struct lkdf_place *place[D_DEVICES];
	struct emu emu[D_DEVICES];
	struct d_opencl *opencl; /* or NULL */
} opened[MAX_RUNTIMES];
static uint32_t nr_opened;

/* ---- what a kernel does ------------------------------------------------- */

void d_find_kernel(struct d_kernel *k, const void *arg, const struct d_run *run)
{
	struct d_world *w = d_world_now();
	const struct d_task *t = arg;
	const struct d_cell *cell = arg;

	memset(k, 0, sizeof(*k));
	k->w = w;
	k->is_of_graph = t >= w->p->node && t < w->p->node + D_NODES;
	if (k->is_of_graph) {
		k->node = (uint32_t)(t - w->p->node);
	} else {
		k->node = cell->node;
		k->op = cell->op;
	}
	if (run) {
		k->op = (uint32_t)(run - w->run);
		k->rep = run->rep;
	}
	k->t = &w->p->node[k->node];
	if (run || !k->is_of_graph)
		k->cell = d_cell_of(w, k->op, k->rep, k->node);
}

static uint64_t hash_all(const struct d_kernel *k, const struct d_bytes *b)
{
	const struct d_use *u;
	uint64_t h = 0;
	uint32_t i, j, nr;

	for (i = 0; i < k->t->nr_uses; i++) {
		u = &k->t->use[i];
		nr = d_nr_words(&k->w->p->var[u->var], u->part);
		for (j = 0; b->word[i] && j < nr; j++)
			h = mix(h + b->word[i][j]);
	}
	return h;
}

/* Nobody else changes what it uses; of the host's bytes nobody may look. */
static void look_again(const struct d_kernel *k, const struct d_bytes *b)
{
	uint64_t before = hash_all(k, b);

	if (before % 8 == 0)
		sched_yield();
	if (hash_all(k, b) != before)
		d_wrong(k->w, "kernel %u: its data is changed", k->node);
}

static void note_seen(const struct d_kernel *k, uint64_t seen)
{
	if (!k->cell) {
		atomic_fetch_add(&k->w->nr_kernels[k->node], 1);
		return;
	}
	if (atomic_fetch_add(&k->cell->nr_started, 1))
		d_wrong(k->w, "op %u: kernel %u runs twice", k->op, k->node);
	k->cell->seen = seen;
	atomic_fetch_add(&k->cell->nr_ended, 1);
}

int d_run_kernel(const struct d_kernel *k, struct d_bytes *b)
{
	const struct d_result *r;
	uint32_t i;

	for (i = 0; i < k->t->nr_uses && k->cell; i++) {
		r = d_expected(k->w, k->op, k->rep, k->node);
		if (r->input_errors[i])
			b->word[i] = NULL;
	}
	note_seen(k, d_touch(k->w->p, k->t, b,
			     d_begin_task(k->w->p, k->op, k->rep, k->node,
					  k->is_of_graph),
			     false));
	look_again(k, b);
	return d_kernel_error(k);
}

/* The uses, and where the argument points. */
static void call_code(struct emu *e, const struct lkdf_launch *l)
{
	struct d_bytes b;
	struct d_kernel k;
	const void *arg;
	uint32_t i;

	memcpy(&arg, l->arg[l->nr_arg - 1].value, sizeof(arg));
	d_find_kernel(&k, arg, NULL);
	for (i = 0; i < k.t->nr_uses; i++)
		b.word[i] = emu_at(e, l, i);
	emu_error = d_run_kernel(&k, &b);
}

static const struct emu_kernel kernels[] = {
	{ "touch", call_code },
	{ NULL, NULL },
};

/* ---- work for a queue --------------------------------------------------- */

static void run_command(struct emu *e, struct emu_command *c)
{
	struct d_kernel k;
	struct d_bytes b;

	(void)e;
	d_find_kernel(&k, c->to, c->from);
	memcpy(&b, c->value, sizeof(b));
	d_run_kernel(&k, &b);
}

static char *alias_of(const struct emu *e, char *at)
{
	return at >= e->base && at < e->base + e->memory
		       ? e->alias + (at - e->base)
		       : at;
}

/* It fails with what it has given to the queue under way. */
static int enqueue(struct lkdf_ctx *c, void *arg, void *queue)
{
	struct emu_command *command = calloc(1, sizeof(*command));
	const struct d_run *run = lkdf_run_arg(c);
	struct emu_queue *q = queue;
	struct emu *e = q->e;
	struct d_kernel k;
	struct d_bytes b;
	uint32_t i;

	d_find_kernel(&k, *(void **)arg, run);
	for (i = 0; i < k.t->nr_uses; i++)
		b.word[i] = (uint64_t *)(void *)alias_of(e, lkdf_ptr(c, i));
	command->run = run_command;
	command->to = *(void **)arg;
	command->from = run;
	memcpy(command->value, &b, sizeof(b));
	emu_push(e, (unsigned)(q - e->queue), command);
	return d_kernel_error(&k);
}

static uint32_t find_opened(const struct lkdf *rt)
{
	uint32_t i = 0;

	while (opened[i].rt != rt)
		i++;
	return i;
}

int d_device_kind(struct d_world *w, const struct d_task *t, uint32_t flags,
		  struct lkdf_kind **out)
{
	struct d_opencl *x = opened[find_opened(w->rt)].opencl;
	const struct lkdf_code code = { .device = "emu", .image = "touch" };
	const struct lkdf_kind_attr a = {
		.size = sizeof(a),
		.name = t->is_code ? "code" : "enqueue",
		.flags = flags,
		.arg_size = sizeof(void *),
	};

	if (x)
		return d_opencl_kind(x, t, flags, out);
	return lkdf_kind_create_kernel(
		w->rt,
		LKDF_KERNEL(.kind = &a, .code = t->is_code ? &code : NULL,
			    .nr_code = t->is_code,
			    .enqueue = t->is_code ? NULL : enqueue),
		out);
}

void d_device_kind_put(struct d_world *w, struct lkdf_kind *k)
{
	if (w->p->devices != D_OPENCL)
		lkdf_kind_put(k);
}

/* ---- devices ------------------------------------------------------------ */

static bool open_opencl(struct lkdf *rt)
{
	struct d_opencl *x = calloc(1, sizeof(*x));

	if (!x)
		abort();
	if (!d_opencl_open(x, rt)) {
		free(x);
		return false;
	}
	opened[nr_opened].opencl = x;
	memcpy(opened[nr_opened++].place, x->place, sizeof(x->place));
	return true;
}

/* In every other runtime ordered queues take copies and tell few ends. */
static unsigned flags_of(uint32_t i)
{
	unsigned more = nr_opened % 2 ? 0 : EMU_QUIET | EMU_TOGETHER;

	return sorts[i].flags | (sorts[i].flags & EMU_ORDERED ? more : 0);
}

bool d_devices_open(struct lkdf *rt, enum d_devices sort)
{
	struct lkdf_device_ops ops;
	struct emu *e;
	uint32_t i;

	if (nr_opened == MAX_RUNTIMES)
		abort();
	opened[nr_opened].rt = rt;
	if (sort == D_OPENCL)
		return open_opencl(rt);
	for (i = 0; i < D_DEVICES; i++) {
		e = &opened[nr_opened].emu[i];
		emu_init(e, flags_of(i), kernels);
		e->memory = sorts[i].memory;
		e->seed = 17 * nr_opened + i;
		ops = emu_ops(e);
		if (lkdf_place_register(rt, &ops, e,
					&opened[nr_opened].place[i]))
			abort();
	}
	nr_opened++;
	return true;
}

void d_devices_leave(void)
{
	uint32_t i;

	for (i = 0; i < nr_opened; i++) {
		if (!opened[i].opencl)
			continue;
		d_opencl_close(opened[i].opencl);
		free(opened[i].opencl);
		opened[i].opencl = NULL;
	}
}

static void check_one(uint32_t i)
{
	const struct emu *e;
	uint32_t j;

	for (j = 0; j < D_DEVICES; j++) {
		e = &opened[i].emu[j];
		if (e->nr_blocks || atomic_load(&e->nr_overlaps) ||
		    atomic_load(&e->nr_stale))
			wrong(NULL,
			      "device %u: %u blocks left, %d calls at a time, "
			      "%d ops done twice",
			      j, e->nr_blocks, atomic_load(&e->nr_overlaps),
			      atomic_load(&e->nr_stale));
	}
}

void d_devices_check(void)
{
	uint32_t i;

	for (i = 0; i < nr_opened; i++)
		check_one(i);
}

void d_devices_close(void)
{
	check_one(--nr_opened);
	memset(&opened[nr_opened], 0, sizeof(opened[nr_opened]));
}

struct lkdf_place *d_device_place(struct lkdf *rt, uint32_t device)
{
	return opened[find_opened(rt)].place[device - 1];
}

void d_prefetch_some(struct d_world *w, uint32_t op)
{
	uint64_t drawn = mix(w->p->seed ^ (op << 8));
	uint32_t var = (uint32_t)(drawn >> 8) % w->p->nr_vars;
	int rc;

	if (!w->p->devices || drawn % 4 || w->p->var[var].is_once)
		return;
	rc = lkdf_data_prefetch(
		w->data[var],
		d_device_place(w->rt, 1 + (uint32_t)(drawn >> 40) % D_DEVICES),
		NULL);
	if (rc && rc != -ENODATA)
		d_wrong(w, "prefetch: %d %s", rc, lkdf_errmsg());
}
