/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Mutexes that spin, for sources that lock one under the checker. */
#ifndef MUTEX_BELOW_H
#define MUTEX_BELOW_H

#include "mc.h"

#include <pthread.h>

int pthread_mutex_lock(pthread_mutex_t *m)
{
	_Atomic(uint32_t) *word = (_Atomic(uint32_t) *)(void *)m;
	uint32_t zero = 0;

	while (!a_cas(word, &zero, 1, acquire, relaxed)) {
		zero = 0;
		a_pause();
	}
	return 0;
}

int pthread_mutex_unlock(pthread_mutex_t *m)
{
	a_store((_Atomic(uint32_t) *)(void *)m, 0, release);
	return 0;
}

#endif
