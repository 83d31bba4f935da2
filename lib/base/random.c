/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "base/random.h"

#include <errno.h>
#include <sys/random.h>

int random_bits(uint64_t *bits)
{
	ssize_t n = getrandom(bits, sizeof(*bits), GRND_NONBLOCK);

	return n == (ssize_t)sizeof(*bits) ? 0 : n < 0 ? -errno : -EAGAIN;
}
