/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "base/rights.h"

#include <stddef.h>
#include <sys/auxv.h>
#include <sys/prctl.h>

/* PR_GET_DUMPABLE tells 2 where only root may read a core. */
static bool is_dumpable(void)
{
	return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 1;
}

const char *rights_raised(void)
{
	if (getauxval(AT_SECURE))
		return "this program has the rights of somebody else";
	if (!is_dumpable())
		return "this process is not dumpable";
	return NULL;
}
