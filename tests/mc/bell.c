/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A bell as one word: the kernel's lock makes ringing and going to sleep one
 * step each, as it does for a futex. There is one bell in a scenario, and its
 * descriptor is a number.
 */
#include "base/bell.h"

#include "base/atomic.h"
#include "base/futex.h"
#include "mc.h"

static _Atomic(uint32_t) word;

static bool carries;

void mc_bell_init(void)
{
	carries = false;
	a_store(&word, 0, relaxed);
}

void mc_bell_carries(void)
{
	carries = true;
}

void bell_ring(int fd)
{
	(void)fd;
	if (carries)
		a_xchg(&word, 1, release);
	else
		a_store(&word, 1, relaxed);
	futex_wake(&word, 1);
}

int bell_wait(int fd, int64_t timeout_ns)
{
	int rc = 0;

	(void)fd;
	while (carries ? !a_xchg(&word, 0, acquire)
		       : !a_xchg(&word, 0, relaxed)) {
		rc = futex_wait(&word, 0, timeout_ns);
		if (rc)
			break;
	}
	return rc;
}
