/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A kernel on an emulated device and a body on the host that touch the bytes of
 * one data, see test_check.sh. check_device 0: the body does not say so.
 */
#include "tests/emu/emu.h"

#define NR 256

static bool is_right;
static int64_t x[NR], y[NR];

/* y += x */
static void sum(struct emu *e, const struct lkdf_launch *l)
{
	const int64_t *from = emu_at(e, l, 0);
	int64_t *to = emu_at(e, l, 1);
	int i;

	for (i = 0; i < NR; i++)
		to[i] += from[i];
}

static const struct emu_kernel kernels[] = { { "sum", sum }, { NULL, NULL } };

static struct emu emu;

static int sets(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	y[3] = 7;
	return 0;
}

static struct lkdf_kind *body_kind(struct lkdf *rt)
{
	struct lkdf_kind *k;

	must(lkdf_kind_create(
		rt, LKDF_ATTR(lkdf_kind_attr, .name = "set", .fn = sets), &k));
	return k;
}

static struct lkdf_kind *kernel_kind(struct lkdf *rt)
{
	const struct lkdf_code code = { .device = "emu",
					.image = "sum",
					.entry = "sum" };
	struct lkdf_kind *k;

	must(lkdf_kind_create_kernel(
		rt,
		LKDF_KERNEL(.kind = LKDF_ATTR(lkdf_kind_attr, .name = "sum"),
			    .code = &code, .nr_code = 1),
		&k));
	return k;
}

static struct lkdf_data *data_of(struct lkdf *rt, int64_t *bytes)
{
	struct lkdf_data *d;

	must(lkdf_data_create(rt,
			      LKDF_ATTR(lkdf_data_attr, .bytes = sizeof(x),
					.wrap = bytes),
			      &d));
	return d;
}

int main(int argc, char **argv)
{
	struct lkdf_use use[2];
	struct lkdf_task body = { .size = sizeof(body) }, kernel = body;
	struct lkdf *rt;

	is_right = argc > 1 && argv[1][0] == '1';
	must(lkdf_open(NULL, &rt));
	emu_init(&emu, EMU_OWN, kernels);
	if (!emu_register(rt, &emu))
		return 3;
	use[0] = (struct lkdf_use){ data_of(rt, x), LKDF_READ, 0 };
	use[1] = (struct lkdf_use){ data_of(rt, y), LKDF_READ | LKDF_WRITE, 0 };
	kernel.kind = kernel_kind(rt);
	kernel.use = use;
	kernel.nr_use = 2;
	must(lkdf_submit(rt, NULL, &kernel, NULL));
	body.kind = body_kind(rt);
	body.use = &use[1];
	body.nr_use = is_right;
	must(lkdf_submit(rt, NULL, &body, NULL));
	must(lkdf_submit(rt, NULL, &kernel, NULL));
	must(lkdf_scope_wait(rt, NULL, -1));
	lkdf_data_put(use[0].data);
	lkdf_data_put(use[1].data);
	lkdf_kind_put(kernel.kind);
	lkdf_kind_put(body.kind);
	return lkdf_close(rt) ? 3 : 0;
}
