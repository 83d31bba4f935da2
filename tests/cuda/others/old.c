/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A driver of CUDA 11.4 as far as it is asked: it has cuGetProcAddress and no
 * cuGetProcAddress_v2.
 */
#include "tests/cuda/calls.h"

#define API __attribute__((visibility("default")))

API cu_result cuInit(unsigned flags);
API cu_result cuDriverGetVersion(int *version);
API cu_result cuGetProcAddress(const char *symbol, void **f, int version,
			       uint64_t flags);

API cu_result cuInit(unsigned flags)
{
	return flags ? 1 : 0;
}

API cu_result cuDriverGetVersion(int *version)
{
	*version = 11040;
	return 0;
}

API cu_result cuGetProcAddress(const char *symbol, void **f, int version,
			       uint64_t flags)
{
	(void)symbol;
	(void)version;
	(void)flags;
	*f = NULL;
	return 500;
}
