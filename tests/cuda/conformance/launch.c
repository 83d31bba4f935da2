/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Launches at and beyond each limit. */
#include "tests/cuda/conformance/check.h"

#include <stdio.h>
#include <stdlib.h>

/* Grids and blocks of three numbers each. */
static cu_result shape_of(cu_func f, const unsigned g[3], const unsigned b[3],
			  unsigned shared)
{
	cu_result r = cu.cuLaunchKernel(f, g[0], g[1], g[2], b[0], b[1], b[2],
					shared, s1, NULL, NULL);

	cu.cuStreamSynchronize(s1);
	return r;
}

#define SIZE(x, y, z) ((const unsigned[3]){ x, y, z })

static cu_result packed(size_t size)
{
	uint64_t p[8] = { mem, 9 };
	void *extra[] = { (void *)1, p, (void *)2, &size, NULL };

	return cu.cuLaunchKernel(f_store, 1, 1, 1, 1, 1, 1, 0, s1, NULL, extra);
}

static cu_result big(unsigned bytes, cu_result *loaded)
{
	char text[600];
	void *value = calloc(1, bytes), *p[] = { value };
	cu_func f;
	cu_mod m;
	cu_result r;

	snprintf(text, sizeof(text),
		 ".version 8.1\n.target sm_75\n.address_size 64\n"
		 ".visible .entry big(.param .align 4 .b8 p[%u])\n{\n"
		 " .reg .u32 %%v;\n .reg .u64 %%a;\n"
		 " ld.param.u32 %%v, [p+%u];\n mov.u64 %%a, 0;\n ret;\n}\n",
		 bytes, bytes - 4);
	*loaded = cu.cuModuleLoadData(&m, text);
	if (*loaded)
		return 0;
	r = cu.cuModuleGetFunction(&f, m, "big");
	if (!r)
		r = launch(f, s1, p);
	if (!r)
		r = cu.cuStreamSynchronize(s1);
	free(value);
	return r;
}

static void big_at(unsigned bytes)
{
	cu_result loaded, r = big(bytes, &loaded);

	say(loaded ? loaded : r, "%s, %u bytes", loaded ? "load" : "launch",
	    bytes);
}

static void launch_1024(void)
{
	say(shape_of(f_empty, SIZE(1, 1, 1), SIZE(1024, 1, 1), 0), NULL);
}

static void launch_1025(void)
{
	say(shape_of(f_empty, SIZE(1, 1, 1), SIZE(1025, 1, 1), 0), NULL);
}

static void launch_product(void)
{
	say(shape_of(f_empty, SIZE(1, 1, 1), SIZE(32, 32, 2), 0),
	    "32 x 32 x 2");
}

static void launch_z(void)
{
	say(shape_of(f_empty, SIZE(1, 1, 1), SIZE(1, 1, 65), 0), NULL);
}

static void launch_block_0(void)
{
	say(shape_of(f_empty, SIZE(1, 1, 1), SIZE(0, 1, 1), 0), NULL);
}

static void launch_grid_0(void)
{
	say(shape_of(f_empty, SIZE(0, 1, 1), SIZE(1, 1, 1), 0), NULL);
}

static void launch_grid_x(void)
{
	say(shape_of(f_empty, SIZE(1u << 31, 1, 1), SIZE(1, 1, 1), 0),
	    "2^31 blocks");
}

static void launch_grid_y(void)
{
	say(shape_of(f_empty, SIZE(1, 65536, 1), SIZE(1, 1, 1), 0), NULL);
}

static void launch_grid_y_most(void)
{
	say(shape_of(f_empty, SIZE(1, 65535, 1), SIZE(1, 1, 1), 0), NULL);
}

static void launch_bound(void)
{
	say(shape_of(f_bound, SIZE(1, 1, 1), SIZE(65, 1, 1), 0),
	    "65 threads, .maxntid 64");
}

static void launch_shared_48k(void)
{
	say(shape_of(f_bound, SIZE(1, 1, 1), SIZE(1, 1, 1), 49152), NULL);
}

static void launch_shared_more(void)
{
	say(shape_of(f_bound, SIZE(1, 1, 1), SIZE(1, 1, 1), 49153), NULL);
}

static void launch_shared_static(void)
{
	say(shape_of(f_shared, SIZE(1, 1, 1), SIZE(1, 1, 1), 49152),
	    "beside 1 KiB of its own");
}

static void launch_shared_raised(void)
{
	int most = 0;

	if (failed(cu.cuDeviceGetAttribute(&most, CU_ATTR_SHARED_OPTIN, dev)))
		return;
	if (failed(cu.cuFuncSetAttribute(f_bound, CU_FUNC_MAX_DYNAMIC_SHARED,
					 most)))
		return;
	say(shape_of(f_bound, SIZE(1, 1, 1), SIZE(1, 1, 1), (unsigned)most),
	    "after cuFuncSetAttribute");
}

static void launch_null(void)
{
	say(launch(NULL, s1, NULL), NULL);
}

static void launch_no_params(void)
{
	say(launch(f_store, s1, NULL), "a kernel with parameters, none given");
}

static void launch_both(void)
{
	uint64_t p[2] = { mem, 1 };
	size_t size = 12;
	void *params[] = { &p[0], &p[1] };
	void *extra[] = { (void *)1, p, (void *)2, &size, NULL };

	say(cu.cuLaunchKernel(f_store, 1, 1, 1, 1, 1, 1, 0, s1, params, extra),
	    "kernelParams and extra");
}

static void launch_packed(void)
{
	cu_result r = packed(12);

	cu.cuStreamSynchronize(s1);
	say(r, "12 bytes packed: %u", word(mem));
}

static void launch_packed_short(void)
{
	say(packed(8), "8 of 12 bytes");
}

static void launch_packed_long(void)
{
	say(packed(24), "24 of 12 bytes");
}

static void launch_copied(void)
{
	uint32_t v = 11;
	void *p[] = { &mem, &v };

	if (failed(cu.cuMemsetD8Async(mem, 0, 4, s1)))
		return;
	if (failed(cu.cuStreamSynchronize(s1)))
		return;
	if (failed(gate(s1)))
		return;
	if (failed(launch(f_step, s1, p)))
		return;
	v = 99;
	open_gate();
	if (failed(cu.cuStreamSynchronize(s1)))
		return;
	say(0, "a value changed after the call: %u", word(mem));
}

/* The first launch that comes back when the kernel before all has ended. */
static void launch_deep(void)
{
	cu_result r = 0;
	int i, first = 0;

	limit_gate(2000);
	if (failed(gate(s1)))
		return;
	for (i = 0; i < 3000 && !r; i++) {
		r = launch(f_empty, s1, NULL);
		if (!first && gate_is_done())
			first = i;
	}
	open_gate();
	cu.cuStreamSynchronize(s1);
	say(r, "3000 behind a running kernel: %s at %d (card)",
	    first ? "the call waits" : "no call waits", first);
}

static void param_4096(void)
{
	big_at(4096);
}

static void param_4352(void)
{
	big_at(4352);
}

static void param_4356(void)
{
	big_at(4356);
}

static void param_32764(void)
{
	big_at(32764);
}

static void param_32768(void)
{
	big_at(32768);
}

const struct check launch_checks[] = {
	{ "launch_1024", launch_1024, 0 },
	{ "launch_1025", launch_1025, 0 },
	{ "launch_product", launch_product, 0 },
	{ "launch_z", launch_z, 0 },
	{ "launch_block_0", launch_block_0, 0 },
	{ "launch_grid_0", launch_grid_0, 0 },
	{ "launch_grid_x", launch_grid_x, 0 },
	{ "launch_grid_y", launch_grid_y, 0 },
	{ "launch_grid_y_most", launch_grid_y_most, 0 },
	{ "launch_bound", launch_bound, 0 },
	{ "launch_shared_48k", launch_shared_48k, 0 },
	{ "launch_shared_more", launch_shared_more, 0 },
	{ "launch_shared_static", launch_shared_static, 0 },
	{ "launch_shared_raised", launch_shared_raised, OWN },
	{ "launch_null", launch_null, OWN },
	{ "launch_no_params", launch_no_params, OWN },
	{ "launch_both", launch_both, OWN },
	{ "launch_packed", launch_packed, OWN },
	{ "launch_packed_short", launch_packed_short, OWN },
	{ "launch_packed_long", launch_packed_long, OWN },
	{ "launch_copied", launch_copied, 0 },
	{ "launch_deep", launch_deep, OWN },
	{ "param_4096", param_4096, 0 },
	{ "param_4352", param_4352, 0 },
	{ "param_4356", param_4356, 0 },
	{ "param_32764", param_32764, 0 },
	{ "param_32768", param_32768, 0 },
	{ NULL, NULL, 0 },
};
