/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Architectures that the compiler for tests knows: FAKE_NVRTC_ARCHS=75,80 has
 * these, and without it there is sm_90 alone.
 */
#include "tests/cuda/fake/nvrtc_arch.h"

#include "tests/cuda/fake/nvrtc.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ARCHS 16
#define MAX_TARGET 32
#define SUCCESS 0

/* Of the last program. Threads that compile write it under the lock; a test
 * reads it when none does. */
static char target[MAX_TARGET];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool has_taken_ptx;
static atomic_int nr_compiled;

API const char *fake_nvrtc_target(void)
{
	return target;
}

API int fake_nvrtc_took_ptx(void)
{
	return atomic_load(&has_taken_ptx);
}

API int fake_nvrtc_compiled(void)
{
	return atomic_load(&nr_compiled);
}

/* Numbers of FAKE_NVRTC_ARCHS; how many. */
static int list_archs(int v[MAX_ARCHS])
{
	const char *s = getenv("FAKE_NVRTC_ARCHS");
	char *end;
	int nr;

	if (!s || !s[0])
		s = "90";
	for (nr = 0; nr < MAX_ARCHS && *s; nr++) {
		v[nr] = (int)strtol(s, &end, 10);
		s = *end ? end + 1 : end;
	}
	return nr;
}

bool arch_is_known(const char *name)
{
	int v[MAX_ARCHS], nr = list_archs(v), i;
	const char *number = strchr(name, '_');

	pthread_mutex_lock(&lock);
	snprintf(target, sizeof(target), "%s", name);
	pthread_mutex_unlock(&lock);
	for (i = 0; i < nr; i++)
		if (number && atoi(number + 1) == v[i])
			return true;
	return false;
}

void arch_note_compiled(void)
{
	atomic_fetch_add(&nr_compiled, 1);
}

void arch_note_ptx(void)
{
	atomic_store(&has_taken_ptx, true);
}

API int nvrtcGetNumSupportedArchs(int *nr)
{
	int v[MAX_ARCHS];

	*nr = list_archs(v);
	return SUCCESS;
}

API int nvrtcGetSupportedArchs(int *v)
{
	list_archs(v);
	return SUCCESS;
}
