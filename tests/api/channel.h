/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* What the tests of channels share. */
#ifndef TESTS_API_CHANNEL_H
#define TESTS_API_CHANNEL_H

#include "tests/api/api.h"

#include <pthread.h>

__attribute__((unused)) static struct lkdf_channel *
channel_of(struct lkdf *rt, uint32_t value_size, uint32_t depth, uint32_t flags)
{
	struct lkdf_channel *ch = NULL;

	must(lkdf_channel_create(rt,
				 LKDF_CHANNEL(.name = "a channel",
					      .value_size = value_size,
					      .depth = depth, .flags = flags),
				 &ch));
	return ch;
}

#endif
