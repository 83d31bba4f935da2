/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * SAXPY in one function: a kernel is the body of a loop, bytes travel by
 * themselves. The text is for a card of CUDA or a device of OpenCL, the first
 * that is there; without one the function runs on a CPU. Prints:
 *
 *   y[0] is 1.0, y[999999] is 1999999.0
 */
#include <lkdf/lkdf.h>
#include <stdio.h>

#define NR 1000000

static float x[NR], y[NR];

static int saxpy_on_cpu(struct lkdf_ctx *c, void *arg)
{
	const float *a = arg, *from = lkdf_ptr(c, 0);
	float *to = lkdf_ptr(c, 1);

	for (int i = 0; i < NR; i++)
		to[i] += *a * from[i];
	return 0;
}

int main(void)
{
	const char *types[] = { "GLOBAL const float *", "GLOBAL float *",
				"float" };
	const char *text = "p1[i] += p2 * p0[i];";
	const struct lkdf_code code[] = {
		{ .device = "cuda", .image = text },
		{ .device = "opencl", .image = text },
	};
	struct lkdf *rt = NULL;
	struct lkdf_kind *saxpy = NULL;
	struct lkdf_use use[2] = { { .mode = LKDF_READ }, { .mode = LKDF_RW } };
	float a = 2;
	int rc, i;

	for (i = 0; i < NR; i++)
		x[i] = (float)i, y[i] = 1;
	rc = lkdf_open("devices=\"cuda,opencl\"", &rt) ||
	     lkdf_data_create(rt,
			      LKDF_ATTR(lkdf_data_attr, .bytes = sizeof(x),
					.wrap = x),
			      &use[0].data) ||
	     lkdf_data_create(rt,
			      LKDF_ATTR(lkdf_data_attr, .bytes = sizeof(y),
					.wrap = y),
			      &use[1].data) ||
	     lkdf_kind_create_kernel(
		     rt,
		     LKDF_KERNEL(.flags = LKDF_KERNEL_LOOP,
				 .kind = LKDF_KIND(.name = "saxpy",
						   .fn = saxpy_on_cpu,
						   .arg_size = sizeof(a)),
				 .code = code, .nr_code = 2, .type = types,
				 .nr_type = 3, .range = { NR, 1, 1 },
				 .range_from = LKDF_RANGE_VALUE),
		     &saxpy) ||
	     lkdf_submit(rt, NULL,
			 LKDF_TASK(.kind = saxpy, .arg = &a, .use = use,
				   .nr_use = 2),
			 NULL) ||
	     lkdf_scope_wait(rt, NULL, -1);
	if (rc)
		fprintf(stderr, "saxpy_loop: %s\n", lkdf_errmsg());
	else
		printf("y[0] is %.1f, y[%d] is %.1f\n", y[0], NR - 1,
		       y[NR - 1]);
	lkdf_kind_put(saxpy);
	lkdf_data_put(use[0].data);
	lkdf_data_put(use[1].data);
	lkdf_close(rt);
	return rc;
}
