/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Each record of the chunk KERNEL, for test_trace_read.c. */
#ifndef TESTS_UNIT_TRACE_KERNEL_H
#define TESTS_UNIT_TRACE_KERNEL_H

static void write_kernel(struct trace_file *f)
{
	int i;

	/* A record of a version to come. */
	chunk_begin(f, LKDF_CHUNK_KERNEL);
	numbers(f, 3, N(0), N(1), N(2));
	chunk_end(f);
	chunk_begin(f, LKDF_CHUNK_KERNEL);
	numbers(f, 4, N(LKDF_PROBED_PROBE), N(890), N(3), N(250));
	chunk_end(f);
	chunk_begin(f, LKDF_CHUNK_KERNEL);
	numbers(f, 6, N(LKDF_PROBED_THREAD), N(1), N(900), N(4), N(777),
		N(0x7f0040));
	for (i = 0; i < LKDF_PROBED_COUNTS; i++)
		chunk_number(f, N(1) << 3 * i);
	/* A count of a version to come. */
	chunk_number(f, 5);
	chunk_end(f);
	chunk_begin(f, LKDF_CHUNK_KERNEL);
	numbers(f, 2, N(LKDF_PROBED_PLACE), N(0x7f0040));
	chunk_text(f, "/lib/libc.so");
	chunk_number(f, 0x40);
	chunk_text(f, "c0de");
	chunk_text(f, "");
	chunk_number(f, 0);
	chunk_text(f, "tab\xff"
		      "le");
	numbers(f, 2, N(64), N(4096));
	chunk_end(f);
	chunk_begin(f, LKDF_CHUNK_KERNEL);
	numbers(f, 10, N(LKDF_PROBED_WORD), N(900), N(0x7f0040), N(3), N(9),
		N(1) << 33, N(20), N(19), N(5), N(2));
	chunk_end(f);
	chunk_begin(f, LKDF_CHUNK_KERNEL);
	numbers(f, 10, N(LKDF_PROBED_WORD), N(900), N(0x7f0080), N(0), N(1),
		N(2), N(3), N(3), N(1), N(0));
	chunk_end(f);
	chunk_begin(f, LKDF_CHUNK_KERNEL);
	numbers(f, 9, N(LKDF_PROBED_STACK), N(901), N(1), N(3), N(0x7f0040),
		N(7), N(2), N(0x200), N(31)); /* 0x100, and 16 before it */
	chunk_end(f);
	chunk_begin(f, LKDF_CHUNK_KERNEL);
	numbers(f, 8, N(LKDF_PROBED_WAKER), N(902), N(0x7f0040), N(3), N(4711),
		N(2), N(0), N(5));
	chunk_end(f);
}

#endif
