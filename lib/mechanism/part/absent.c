/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "mechanism/part/part.h"

#include "base/err.h"

#include <errno.h>

int part_get(struct sched *s, int first, int nr, struct part **out)
{
	(void)s;
	(void)first;
	(void)out;
	return err(
		-EOPNOTSUPP,
		"place: a part of %d workers: this library was built without "
		"the mechanism part",
		nr);
}
