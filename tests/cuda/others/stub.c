/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A libcuda.so as the toolkit has it for programs that are linked where no
 * driver is: each call says that it is none.
 */
#include "tests/cuda/calls.h"

#define API __attribute__((visibility("default")))

API cu_result cuInit(unsigned flags);
API cu_result cuGetProcAddress_v2(const char *symbol, void **f, int version,
				  uint64_t flags, unsigned *status);

API cu_result cuInit(unsigned flags)
{
	(void)flags;
	return 34;
}

API cu_result cuGetProcAddress_v2(const char *symbol, void **f, int version,
				  uint64_t flags, unsigned *status)
{
	(void)symbol;
	(void)version;
	(void)flags;
	(void)status;
	*f = NULL;
	return 34;
}
