/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Parameters that are memory: constants larger than a launch takes go to a
 * device once, those of a task each time; memory for the time of a task is the
 * task's own, and zero where that is asked for.
 */
#include "tests/api/device/device.h"

#define NR DEVICE_NR

/* x[i] += table[i] + big[i] + zeroes[i] + nr; both sorts of scratch change. */
static void mix(struct emu *e, const struct lkdf_launch *l)
{
	uint64_t *x = emu_at(e, l, 0), *table = emu_at(e, l, 1);
	uint64_t *big = emu_at(e, l, 2), *scratch = emu_at(e, l, 3);
	uint64_t *zeroes = emu_at(e, l, 4), nr, i;

	memcpy(&nr, l->arg[5].value, sizeof(nr));
	for (i = 0; i < NR; i++)
		scratch[i] = table[i] + big[i];
	for (i = 0; i < NR; i++) {
		x[i] += scratch[i] + zeroes[i] + nr;
		zeroes[i] = 5;
	}
}

static const struct emu_kernel kernels[] = {
	{ "mix", mix },
	{ NULL, NULL },
};

static const char text[] =
	"kernel void do_mix(global ulong *x, global const ulong *table,\n"
	"\t\t global const ulong *big, global ulong *scratch,\n"
	"\t\t global ulong *zeroes, ulong nr)\n"
	"{\n"
	"\tsize_t i = get_global_id(0);\n"
	"\tscratch[i] = table[i] + big[i];\n"
	"\tx[i] += scratch[i] + zeroes[i] + nr;\n"
	"\tzeroes[i] = 5;\n"
	"}\n";

struct arg {
	uint64_t nr, big[NR];
};

static struct lkdf_kind *mix_kind(struct lkdf *rt)
{
	const struct lkdf_code code[] = {
		{ .device = "emu", .image = "mix" },
		{ .device = driver_name(),
		  .image = driver_text(text),
		  .entry = "do_mix" },
	};
	static uint64_t table[NR];
	const struct lkdf_param param[] = {
		{ .from = LKDF_PARAM_USE },
		{ .from = LKDF_PARAM_MEMORY,
		  .bytes = sizeof(table),
		  .value = table },
		{ .from = LKDF_PARAM_TASK_MEMORY,
		  .first = offsetof(struct arg, big),
		  .bytes = NR * sizeof(uint64_t) },
		{ .from = LKDF_PARAM_SCRATCH, .bytes = NR * sizeof(uint64_t) },
		{ .from = LKDF_PARAM_ZEROED, .bytes = NR * sizeof(uint64_t) },
		{ .from = LKDF_PARAM_TASK, .bytes = sizeof(uint64_t) },
	};
	struct lkdf_kind *k = NULL;
	uint64_t i;

	for (i = 0; i < NR; i++)
		table[i] = 1000 * i;
	must(lkdf_kind_create_kernel(
		rt,
		LKDF_KERNEL(.kind = LKDF_KIND(.name = "mix",
					      .arg_size = sizeof(struct arg)),
			    .code = code, .nr_code = 2, .param = param,
			    .nr_param = 6, .range_from = LKDF_RANGE_VALUE,
			    .range = { NR, 1, 1 }),
		&k));
	memset(table, 0, sizeof(table));
	return k;
}

/* Tasks of three data, so that several are under way. */
static void memory_is_the_tasks_own(struct lkdf *rt, struct lkdf_place *p,
				    const char *how)
{
	struct lkdf_kind *k = mix_kind(rt);
	struct lkdf_data *d[3];
	uint64_t i, t, wrong = 0, *x;
	struct lkdf_event done;
	struct arg arg;
	void *bytes;
	int rc = 0;

	for (i = 0; i < 3; i++)
		d[i] = device_data(rt, NR, i);
	for (t = 0; t < 30; t++) {
		arg.nr = t;
		for (i = 0; i < NR; i++)
			arg.big[i] = 7 * i * t;
		done = device_submit(rt, k, p, d[t % 3], &arg);
		if (t < 27)
			lkdf_event_put(done);
		else
			rc |= lkdf_event_wait(done, -1);
	}
	is(rc, 0, "%s: 30 tasks with memory end well", how);
	for (t = 0; t < 3; t++) {
		must(lkdf_data_acquire(d[t], LKDF_READ, -1, &bytes));
		for (i = 0, x = bytes; i < NR; i++)
			wrong += x[i] != t + 10 * 1000 * i +
						 (7 * i + 1) * (135 + 10 * t);
		must(lkdf_data_release(d[t]));
		lkdf_data_put(d[t]);
	}
	is(wrong, 0, "%s: constants, arguments, scratch and zeroes are right",
	   how);
	lkdf_kind_put(k);
}

static void on_emulated_devices(void)
{
	static const unsigned flags[] = { 0, EMU_OWN, EMU_OWN | EMU_WILD,
					  EMU_WILD };
	static const char *const how[] = { "host", "own", "own wild",
					   "host wild" };
	uint64_t per_task = 3 * NR * sizeof(uint64_t), once;
	struct lkdf_place *p;
	struct lkdf *rt;
	struct emu e;
	size_t i;

	for (i = 0; i < 4; i++) {
		emu_init(&e, flags[i], kernels);
		/* Too few for what is memory here. */
		e.info.max_value_bytes = 64;
		rt = api_open(i % 2 ? "workers=2" : "serial=yes");
		p = emu_register(rt, &e);
		memory_is_the_tasks_own(rt, p, how[i]);
		once = 4 * NR * sizeof(uint64_t);
		per_task = 2 * NR * sizeof(uint64_t);
		if (flags[i] & EMU_OWN)
			is((long)atomic_load(&e.bytes_up),
			   (long)(once + 30 * per_task),
			   "%s: the constant and three data go there once",
			   how[i]);
		is(device_close(rt), 0, "%s: close", how[i]);
		emu_check(&e, how[i]);
	}
}

static void refused(struct lkdf *rt, struct lkdf_param param, const char *part)
{
	const struct lkdf_code code = { .device = "emu", .image = "mix" };
	struct lkdf_kind *k = NULL;

	is(lkdf_kind_create_kernel(
		   rt,
		   LKDF_KERNEL(.kind = LKDF_KIND(.name = "k", .arg_size = 8),
			       .code = &code, .nr_code = 1, .param = &param,
			       .nr_param = 1),
		   &k),
	   -EINVAL, "refused: %s", part);
	has(lkdf_errmsg(), part, "by name");
}

int main(void)
{
	struct lkdf *rt;

	tap_start(120);
	rt = api_open("workers=1");
	refused(rt,
		(struct lkdf_param){ .from = LKDF_PARAM_MEMORY, .bytes = 8 },
		"MEMORY");
	refused(rt, (struct lkdf_param){ .from = LKDF_PARAM_SCRATCH },
		"0 bytes");
	refused(rt, (struct lkdf_param){ .from = LKDF_PARAM_ZEROED },
		"0 bytes");
	refused(rt,
		(struct lkdf_param){ .from = LKDF_PARAM_TASK_MEMORY,
				     .first = 4,
				     .bytes = 8 },
		"arg_size 8");
	lkdf_close(rt);
	on_emulated_devices();
	device_driver(memory_is_the_tasks_own, "workers=2", 0);
	device_driver(memory_is_the_tasks_own, "serial=yes", 2);
	return tap_end();
}
