/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Logs of compilers: places that NVIDIA's compiler names by the lines of the
 * whole text are named as its directives say; other logs stay as they are.
 */
#include "opencl/log.h"

#include "tests/tap.h"

#include <string.h>

static const char text[] = "#line 1 \"step.top\"\n"
			   "int f(int x);\n"
			   "#line 10 \"step\"\n"
			   "kernel void step(global int *x)\n"
			   "{\n oops; }\n";

static void becomes(const char *log, const char *want)
{
	char to[200];

	opencl_map_log(text, log, to, sizeof(to));
	ok(!strcmp(to, want), "\"%s\" becomes \"%s\", it is \"%s\"", log, want,
	   to);
}

int main(void)
{
	char small[12];

	tap_start(10);
	becomes("step:12:2: error: oops", "step:12:2: error: oops");
	becomes("<kernel>:6:2: error: oops", "step:12:2: error: oops");
	becomes("<kernel>:2:5: note: f\n<kernel>:4:1: note: step\n",
		"step.top:1:5: note: f\nstep:10:1: note: step\n");
	becomes("<kernel>:1:1: no line", "<kernel>:1:1: no line");
	becomes("", "");
	opencl_map_log(text, "<kernel>:6:2: error: oops", small, sizeof(small));
	ok(!strcmp(small, "step:12:2: "), "a log that is too long is cut");
	opencl_map_log("no directive\n", "<kernel>:1:2: x", small,
		       sizeof(small));
	ok(!strcmp(small, "<kernel>:1:"), "a text without directives");
	return tap_end();
}
