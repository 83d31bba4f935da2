/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * tests/driver.h, by which the tests of devices run on another driver: words of
 * OpenCL C are replaced where they are words, and the variable says which
 * driver it is.
 */
#include "tests/driver.h"

#include "tests/tap.h"

static void becomes(const char *from, const char *want)
{
	char *to = driver_cuda(from);

	ok(!strcmp(to + sizeof(driver_macros) - 1, want),
	   "\"%s\" is \"%s\" in CUDA C, it is \"%s\"", from, want,
	   to + sizeof(driver_macros) - 1);
	free(to);
}

int main(void)
{
	const char *text = "kernel void f() {}";

	tap_start(10);
	becomes("kernel void f(global ulong *x)",
		"extern \"C\" __global__ void f( ulong *x)");
	becomes("int kernels, my_global, x.local;",
		"int kernels, my_global, x.__shared__;");
	becomes("constant int c; local int l[2];",
		"const int c; __shared__ int l[2];");
	becomes("get_global_id(0)", "get_global_id(0)");
	becomes("", "");
	unsetenv("LKDF_TEST_DEVICE");
	ok(driver_is_opencl() && driver_text(text) == text,
	   "texts are OpenCL C by default");
	ok(!strcmp(driver_options("workers=2"), "workers=2,devices=opencl"),
	   "and so is the device");
	setenv("LKDF_TEST_DEVICE", "cuda", 1);
	ok(strstr(driver_text(text), "__global__") &&
		   driver_text(text) == driver_text(text),
	   "for CUDA a text is made once");
	ok(strstr(driver_options("serial=yes"), "serial=yes,devices=cuda,"),
	   "and the option names it");
	return tap_end();
}
