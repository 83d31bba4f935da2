/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Images, functions, and what is asked of them. */
#include "tests/cuda/conformance/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void mod_text(void)
{
	cu_mod m;

	say(cu.cuModuleLoadData(&m, "this is no code of any sort at all ....."),
	    NULL);
}

static void mod_empty(void)
{
	cu_mod m;

	say(cu.cuModuleLoadData(&m, ""), NULL);
}

static void mod_null(void)
{
	cu_mod m;

	say(cu.cuModuleLoadData(&m, NULL), NULL);
}

static void mod_broken(void)
{
	cu_mod m;

	say(cu.cuModuleLoadData(&m, ".version 7.0\n.target sm_75\n"
				    ".address_size 64\n.entry x() { oops; }\n"),
	    NULL);
}

static void mod_log(void)
{
	char log[400] = "";
	unsigned option[] = { 5, 6 };
	void *value[] = { log, (void *)(uintptr_t)sizeof(log) };
	cu_mod m;
	cu_result r = cu.cuModuleLoadDataEx(
		&m,
		".version 7.0\n.target sm_75\n.address_size 64\n"
		".entry x() { oops; }\n",
		2, option, value);
	char *end = strchr(log, '\n');

	if (end)
		*end = 0;
	say(r, "log \"%.60s\"", log);
}

static void mod_new_version(void)
{
	cu_mod m;

	say(cu.cuModuleLoadData(&m, ".version 99.0\n.target sm_75\n"
				    ".address_size 64\n.entry x() { ret; }\n"),
	    NULL);
}

static void mod_new_target(void)
{
	cu_mod m;

	say(cu.cuModuleLoadData(&m, ".version 7.0\n.target sm_999\n"
				    ".address_size 64\n.entry x() { ret; }\n"),
	    NULL);
}

static void mod_elf(void)
{
	char *image = calloc(1, 4096);
	cu_mod m;

	memcpy(image, "\177ELF\2\1\1", 7);
	say(cu.cuModuleLoadData(&m, image), "an ELF of nothing");
}

static void mod_own_program(void)
{
	FILE *f = fopen("/proc/self/exe", "r");
	char *image = calloc(1, 1 << 20);
	cu_mod m;

	if (f && fread(image, 1, (1 << 20) - 1, f))
		say(cu.cuModuleLoadData(&m, image),
		    "the ELF of an x86 program");
}

static void mod_no_function(void)
{
	cu_func f;

	say(cu.cuModuleGetFunction(&f, mod, "missing"), NULL);
}

static void mod_no_global(void)
{
	cu_ptr at;
	size_t n;

	say(cu.cuModuleGetGlobal(&at, &n, mod, "missing"), NULL);
}

static void mod_global(void)
{
	cu_ptr at;
	size_t n = 0;
	cu_result r = cu.cuModuleGetGlobal(&at, &n, mod, "counter");

	say(r, "%zu bytes", n);
}

static void mod_unload_twice(void)
{
	if (failed(cu.cuModuleUnload(mod)))
		return;
	say(cu.cuModuleUnload(mod), NULL);
}

static void mod_launch_unloaded(void)
{
	if (failed(cu.cuModuleUnload(mod)))
		return;
	say(launch(f_empty, s1, NULL), NULL);
}

static void mod_unload_busy(void)
{
	cu_result r;
	bool waited;

	if (failed(gate(s1)))
		return;
	r = cu.cuModuleUnload(mod);
	waited = gate_is_done();
	open_gate();
	say(r, "with its kernel running: %s",
	    waited ? "waits for it" : "at once");
}

static void mod_load_busy(void)
{
	bool waited, waited_first;
	cu_func f;
	cu_result r;
	cu_mod m;

	if (failed(gate(s1)))
		return;
	if (failed(cu.cuModuleLoadData(&m, ptx_later)))
		return;
	waited = gate_is_done();
	if (failed(cu.cuModuleGetFunction(&f, m, "later")))
		return;
	if (failed(cu.cuStreamSynchronize(s1)))
		return;
	limit_gate(8000);
	if (failed(gate(s1)))
		return;
	r = launch(f, s2, NULL);
	waited_first = gate_is_done();
	open_gate();
	say(r, "beside a running kernel: load %s, first launch %s",
	    waited ? "waits" : "at once", waited_first ? "waits" : "at once");
}

static void mod_count(void)
{
	unsigned n = 0;

	if (!cu.cuModuleGetFunctionCount)
		say(NONE, "no cuModuleGetFunctionCount (driver)");
	else {
		cu_result r = cu.cuModuleGetFunctionCount(&n, mod);

		say(r, "%u functions", n);
	}
}

static void func_params(void)
{
	size_t at = 99, size = 99;
	cu_result r, end;

	if (!cu.cuFuncGetParamInfo) {
		say(NONE, "no cuFuncGetParamInfo (driver)");
		return;
	}
	r = cu.cuFuncGetParamInfo(f_store, 1, &at, &size);
	end = cu.cuFuncGetParamInfo(f_store, 2, NULL, NULL);
	say(r, "second: %zu bytes at %zu; third %u", size, at, end);
}

static void func_attribute(void)
{
	int v;

	say(cu.cuFuncGetAttribute(&v, 999, f_empty), NULL);
}

static void func_threads(void)
{
	int a = 0, b = 0;
	cu_result r = cu.cuFuncGetAttribute(&a, CU_FUNC_MAX_THREADS, f_empty);

	cu.cuFuncGetAttribute(&b, CU_FUNC_MAX_THREADS, f_bound);
	say(r, "max threads %d, with .maxntid 64 %d", a, b);
}

static void func_carveout(void)
{
	say(cu.cuFuncSetAttribute(f_empty, CU_FUNC_CARVEOUT, 101), NULL);
}

static void func_dynamic_most(void)
{
	int most = 0;
	cu_result r;

	if (failed(cu.cuDeviceGetAttribute(&most, CU_ATTR_SHARED_OPTIN, dev)))
		return;
	r = cu.cuFuncSetAttribute(f_empty, CU_FUNC_MAX_DYNAMIC_SHARED, most);
	say(r, "one more: %u",
	    cu.cuFuncSetAttribute(f_empty, CU_FUNC_MAX_DYNAMIC_SHARED,
				  most + 1));
}

static void func_occupancy(void)
{
	int n = -1;
	cu_result r = cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(
		&n, f_empty, 2048, 0);

	say(r, "blocks of 2048 threads: %d", n);
}

const struct check module_checks[] = {
	{ "mod_text", mod_text, 0 },
	{ "mod_empty", mod_empty, 0 },
	{ "mod_null", mod_null, OWN },
	{ "mod_broken", mod_broken, 0 },
	{ "mod_log", mod_log, 0 },
	{ "mod_new_version", mod_new_version, 0 },
	{ "mod_new_target", mod_new_target, 0 },
	{ "mod_elf", mod_elf, OWN },
	{ "mod_own_program", mod_own_program, OWN },
	{ "mod_no_function", mod_no_function, 0 },
	{ "mod_no_global", mod_no_global, 0 },
	{ "mod_global", mod_global, 0 },
	{ "mod_unload_twice", mod_unload_twice, OWN },
	{ "mod_launch_unloaded", mod_launch_unloaded, OWN },
	{ "mod_unload_busy", mod_unload_busy, OWN | BRIEF },
	{ "mod_load_busy", mod_load_busy, OWN | BRIEF },
	{ "mod_count", mod_count, 0 },
	{ "func_params", func_params, 0 },
	{ "func_attribute", func_attribute, 0 },
	{ "func_threads", func_threads, 0 },
	{ "func_carveout", func_carveout, 0 },
	{ "func_dynamic_most", func_dynamic_most, OWN },
	{ "func_occupancy", func_occupancy, 0 },
	{ NULL, NULL, 0 },
};
